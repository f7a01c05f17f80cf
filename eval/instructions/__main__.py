"""`python -m eval.instructions`: what is understood, and what is recovered from in the fast home."""

from eval.common.command import run
from eval.instructions.command import InstructionsConfig, measure

if __name__ == "__main__":
    run("instructions", InstructionsConfig, measure)

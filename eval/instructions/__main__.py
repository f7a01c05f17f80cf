"""`python -m eval.instructions`: what is understood, and what is recovered from in the fast home."""

from eval.common.runner import run
from eval.instructions.command import MEASUREMENT

if __name__ == "__main__":
    run(MEASUREMENT)

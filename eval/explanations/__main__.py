"""`python -m eval.explanations`: accuracy of explanations, parsed from the text alone."""

from eval.common.command import run
from eval.explanations.command import ExplanationsConfig, measure

if __name__ == "__main__":
    run("explanations", ExplanationsConfig, measure, resumable=True)

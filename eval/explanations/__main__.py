"""`python -m eval.explanations`: accuracy of explanations, parsed from the text alone."""

from eval.common.runner import run
from eval.explanations.command import MEASUREMENT

if __name__ == "__main__":
    run(MEASUREMENT)

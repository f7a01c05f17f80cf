"""`python -m eval.language`: accuracy of explanations of stored error states that a language model words."""

from eval.common.runner import run
from eval.language.command import MEASUREMENT

if __name__ == "__main__":
    run(MEASUREMENT)

"""`python -m eval.arms`: the library, the library with rules in place of its learned parts, and baselines."""

from eval.arms.command import MEASUREMENT
from eval.common.runner import run

if __name__ == "__main__":
    run(MEASUREMENT)

"""`python -m eval.arms`: the library, the library with rules in place of its learned parts, and baselines."""

from eval.arms.command import ArmsConfig, measure
from eval.common.command import run

if __name__ == "__main__":
    run("arms", ArmsConfig, measure)

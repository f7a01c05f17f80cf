"""`python -m eval.household`: household tasks monitored at the level of facts, without cameras."""

from eval.common.runner import run
from eval.household.command import MEASUREMENT

if __name__ == "__main__":
    run(MEASUREMENT)

"""`python -m eval.preconditions`: how often the monitor says rightly whether an action can be done."""

from eval.common.runner import run
from eval.preconditions.command import MEASUREMENT

if __name__ == "__main__":
    run(MEASUREMENT)

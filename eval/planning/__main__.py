"""`python -m eval.planning`: length and time of recovery plans on stored error states."""

from eval.common.runner import run
from eval.planning.command import MEASUREMENT

if __name__ == "__main__":
    run(MEASUREMENT)

"""`python -m eval.changes`: what the monitor notices that place alone does not show, against rules by hand."""

from eval.changes.command import MEASUREMENT
from eval.common.runner import run

if __name__ == "__main__":
    run(MEASUREMENT)

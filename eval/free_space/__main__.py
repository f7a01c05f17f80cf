"""`python -m eval.free_space`: share of free proposals, their distance and their time."""

from eval.common.runner import run
from eval.free_space.command import MEASUREMENT

if __name__ == "__main__":
    run(MEASUREMENT)

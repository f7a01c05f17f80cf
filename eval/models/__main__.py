"""`python -m eval.models`: how well the learned parts see, imagine and notice, on error datasets."""

from eval.common.runner import run
from eval.models.command import MEASUREMENT

if __name__ == "__main__":
    run(MEASUREMENT)

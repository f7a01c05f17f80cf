"""`python -m eval.logs`: accuracy of explained logs that are generated."""

from eval.common.runner import run
from eval.logs.command import MEASUREMENT

if __name__ == "__main__":
    run(MEASUREMENT)

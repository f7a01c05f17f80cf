"""`python -m eval.displacement`: how far an object must move to be noticed, for each sensor."""

from eval.common.runner import run
from eval.displacement.command import MEASUREMENT

if __name__ == "__main__":
    run(MEASUREMENT)

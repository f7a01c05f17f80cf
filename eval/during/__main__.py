"""`python -m eval.during`: what is noticed while an action runs, and what that saves."""

from eval.common.runner import run
from eval.during.command import MEASUREMENT

if __name__ == "__main__":
    run(MEASUREMENT)

"""`python -m eval.own_operators`: own operators from 20 to 1,000 demonstrations against a rule and the truth."""

from eval.common.runner import run
from eval.own_operators.command import MEASUREMENT

if __name__ == "__main__":
    run(MEASUREMENT)

"""`python -m eval.anytime`: share of recoveries found, their cost and proofs, at budgets of 1 to 200 ms."""

from eval.anytime.command import MEASUREMENT
from eval.common.runner import run

if __name__ == "__main__":
    run(MEASUREMENT)

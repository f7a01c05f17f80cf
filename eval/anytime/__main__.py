"""`python -m eval.anytime`: share of recoveries found, their cost and proofs, at budgets of 1 to 50 ms."""

from eval.anytime.command import AnytimeConfig, measure
from eval.common.command import run

if __name__ == "__main__":
    run("anytime", AnytimeConfig, measure)

"""`python -m eval.symbolic`: repair of symbolic plans, judged by an independent validator and an optimal planner."""

from eval.common.command import run
from eval.symbolic.command import SymbolicConfig, measure

if __name__ == "__main__":
    run("symbolic", SymbolicConfig, measure)

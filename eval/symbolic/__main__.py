"""`python -m eval.symbolic`: repair of symbolic plans, judged by an independent validator and an optimal planner."""

from eval.common.runner import run
from eval.symbolic.command import MEASUREMENT

if __name__ == "__main__":
    run(MEASUREMENT)

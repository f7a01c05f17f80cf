"""`python -m eval.preconditions`: how often the monitor says rightly whether an action can be done."""

from eval.common.command import run
from eval.preconditions.command import PreconditionsConfig, measure

if __name__ == "__main__":
    run("preconditions", PreconditionsConfig, measure)

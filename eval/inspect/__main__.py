"""`python -m eval.inspect`: episodes of a policy without a plan, labelled from its successes alone."""

from eval.common.runner import run
from eval.inspect.command import MEASUREMENT

if __name__ == "__main__":
    run(MEASUREMENT)

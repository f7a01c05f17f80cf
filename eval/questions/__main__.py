"""`python -m eval.questions`: one person answers the questions of many robots, in several orders."""

from eval.common.runner import run
from eval.questions.command import MEASUREMENT

if __name__ == "__main__":
    run(MEASUREMENT)

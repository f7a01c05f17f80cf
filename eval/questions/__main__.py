"""`python -m eval.questions`: one person answers the questions of many robots, in several orders."""

from eval.common.command import run
from eval.questions.command import QuestionsConfig, measure

if __name__ == "__main__":
    run("questions", QuestionsConfig, measure)

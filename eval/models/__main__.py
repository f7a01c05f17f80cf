"""`python -m eval.models`: how well the learned parts see, imagine and notice, on error datasets."""

from eval.common.command import run
from eval.models.command import ModelsConfig, measure

if __name__ == "__main__":
    run("models", ModelsConfig, measure, resumable=True)

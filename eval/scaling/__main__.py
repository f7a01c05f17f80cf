"""`python -m eval.scaling`: how the time of planning grows with objects and errors, and what planning many gains."""

from eval.common.command import run
from eval.scaling.command import ScalingConfig, measure

if __name__ == "__main__":
    run("scaling", ScalingConfig, measure, resumable=True)

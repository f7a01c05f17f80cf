"""`python -m eval.shapes`: what the monitor says of other shapes, and which of them the arm grasps."""

from eval.common.command import run
from eval.shapes.command import ShapesConfig, measure

if __name__ == "__main__":
    run("shapes", ShapesConfig, measure, resumable=True)

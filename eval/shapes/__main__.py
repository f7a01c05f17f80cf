"""`python -m eval.shapes`: what the monitor says of other shapes, and which of them the arm grasps."""

from eval.common.runner import run
from eval.shapes.command import MEASUREMENT

if __name__ == "__main__":
    run(MEASUREMENT)

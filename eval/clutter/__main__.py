"""`python -m eval.clutter`: free places among outlines that boxes hide, by boxes, outlines and grids."""

from eval.clutter.command import MEASUREMENT
from eval.common.runner import run

if __name__ == "__main__":
    run(MEASUREMENT)

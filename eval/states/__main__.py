"""`python -m eval.states`: how well the states of household objects are read from images, in layouts held out."""

from eval.common.runner import run
from eval.states.command import MEASUREMENT

if __name__ == "__main__":
    run(MEASUREMENT)

"""`python -m eval.states`: how well the states of household objects are read from images, in layouts held out."""

from eval.common.command import run
from eval.states.command import StatesConfig, measure

if __name__ == "__main__":
    run("states", StatesConfig, measure, resumable=True)

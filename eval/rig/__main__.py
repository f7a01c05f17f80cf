"""`python -m eval.rig`: what training on own runs gains on a rig that the shipped checkpoint does not know."""

from eval.common.command import run
from eval.rig.command import RigConfig, measure

if __name__ == "__main__":
    run("rig", RigConfig, measure, resumable=True)

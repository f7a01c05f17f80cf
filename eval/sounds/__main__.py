"""`python -m eval.sounds`: how well sounds are recognised, and unknown ones called unknown."""

from eval.common.command import run
from eval.sounds.command import SoundsConfig, measure

if __name__ == "__main__":
    run("sounds", SoundsConfig, measure)

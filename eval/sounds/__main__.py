"""`python -m eval.sounds`: how well sounds are recognised, and unknown ones called unknown."""

from eval.common.runner import run
from eval.sounds.command import MEASUREMENT

if __name__ == "__main__":
    run(MEASUREMENT)

"""`python -m eval.sound_facts`: how well the sounds of an episode are told as events with an object and a time."""

from eval.common.runner import run
from eval.sound_facts.command import MEASUREMENT

if __name__ == "__main__":
    run(MEASUREMENT)

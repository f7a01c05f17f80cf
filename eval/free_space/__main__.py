"""`python -m eval.free_space`: whether proposed places are free, how near they are, and how long they take."""

from eval.common.command import run
from eval.free_space.command import FreeSpaceConfig, measure

if __name__ == "__main__":
    run("free_space", FreeSpaceConfig, measure)

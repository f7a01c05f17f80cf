"""`python -m eval.free_space`: share of free proposals, their distance and their time."""

from eval.common.command import run
from eval.free_space.command import FreeSpaceConfig, measure

if __name__ == "__main__":
    run("free_space", FreeSpaceConfig, measure)

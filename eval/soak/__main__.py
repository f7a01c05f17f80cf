"""`python -m eval.soak`: a thousand episodes in one process, in which robots, sensors and people fail."""

from eval.common.command import run
from eval.soak.command import SoakConfig, measure

if __name__ == "__main__":
    run("soak", SoakConfig, measure, resumable=True)

"""`python -m eval.timing`: what the monitor costs in your own loop, from images to discrepancy, without rendering."""

from eval.common.command import run
from eval.timing.command import TimingConfig, measure

if __name__ == "__main__":
    run("timing", TimingConfig, measure)

"""`python -m eval.timing`: time of a monitor step, from images to discrepancy, without rendering."""

from eval.common.command import run
from eval.timing.command import TimingConfig, measure

if __name__ == "__main__":
    run("timing", TimingConfig, measure)

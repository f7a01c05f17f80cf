"""`python -m eval.detectors`: compare failure detectors on the same recorded episodes."""

from eval.common.runner import run
from eval.detectors.compare import MEASUREMENT

if __name__ == "__main__":
    run(MEASUREMENT)

"""`python -m eval.sensing`: false alarms, recall and boxes of the monitor behind realistic sensors."""

from eval.common.runner import run
from eval.sensing.command import MEASUREMENT

if __name__ == "__main__":
    run(MEASUREMENT)

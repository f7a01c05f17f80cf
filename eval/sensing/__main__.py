"""`python -m eval.sensing`: false alarms, recall and boxes of the monitor behind realistic sensors."""

from eval.common.command import run
from eval.sensing.command import SensingConfig, measure

if __name__ == "__main__":
    run("sensing", SensingConfig, measure, resumable=True)

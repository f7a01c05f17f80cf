"""`python -m eval.panda_gym`: detection of disturbances in panda-gym's stacking task, from boxes alone."""

from eval.common.runner import run
from eval.panda_gym.command import MEASUREMENT

if __name__ == "__main__":
    run(MEASUREMENT)

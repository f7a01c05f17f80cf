"""`python -m eval`: whole episodes in the simulator under planners, judged by ground truth."""

from eval.run import run
from eval.sweep.command import MEASUREMENT

if __name__ == "__main__":
    run(MEASUREMENT)

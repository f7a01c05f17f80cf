"""`python -m eval.panda_gym`: detection of disturbances in panda-gym's stacking task, from boxes alone."""

from eval.common.command import run
from eval.panda_gym.command import PandaGymConfig, measure

if __name__ == "__main__":
    run("panda_gym", PandaGymConfig, measure)

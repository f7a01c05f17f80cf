"""`python -m eval.train_sac`: soft actor-critic with hindsight replay on scenes of the kinematic simulator."""

from eval.common.command import run
from eval.train_sac.command import TrainSacConfig, train

if __name__ == "__main__":
    run("train_sac", TrainSacConfig, train, resumable=True)

"""`python -m train.motions`: what happens while an action runs, learned from successful demonstrations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from conf.command import run
from nsrecover.core.glances import Glance
from nsrecover.monitoring.motion import FILE, MotionModel, fit_motions
from train.watched_actions import watched_actions

TENTH = 10


@dataclass
class MotionsConfig:
    """Learn what happens while an action runs, so that it can be interrupted when it goes wrong.

      python -m sim.glances && python -m train.motions         a model like the shipped one
      python -m train.motions demos=DIR checkpoint=DIR          from other demonstrations, for another checkpoint

    A tenth of the demonstrations gives the limits, the others the threshold.

    Attributes:
        demos: folder that `python -m sim.glances` wrote.
        checkpoint: folder of the checkpoint that gets the model.
        alpha: share of good actions that may be interrupted.
    """

    demos: str = "data/glances"
    checkpoint: str = "nsrecover/checkpoints/tabletop_sensors"
    alpha: float = 0.01


def learn(config: MotionsConfig) -> MotionModel:
    """Learn, calibrate and write the model.

    Raises:
        InvalidRecording: there are no demonstrations, one is damaged, or they are too few.
    """
    episodes = watched_actions(config.demos, "python -m sim.glances", Glance.from_dict)
    first = max(1, len(episodes) // TENTH)
    training, calibration = (
        [action for episode in part for action in episode] for part in (episodes[:first], episodes[first:])
    )
    model = fit_motions(training).calibrated(calibration, config.alpha)
    model.save(config.checkpoint)
    return model


def main(config: MotionsConfig) -> None:
    """Learn, and print what was learned."""
    model = learn(config)
    training, calibration = model.actions
    print(
        f"{training} actions for the limits, {calibration} for the threshold {model.threshold:.2f}; written to "
        f"{Path(config.checkpoint) / FILE}"
    )


if __name__ == "__main__":
    run("motions", MotionsConfig, main)

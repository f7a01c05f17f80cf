"""`python -m eval.preconditions`: accuracy of the verdict whether the preconditions of an action hold.

Kalithasan et al. (section VII-D) report 94.2 %. Here every scene of an episode, after each step with its errors and
without them, is judged for every action of the plan: most scenes after errors do not allow some of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from eval.common.episodes import episodes_of
from eval.common.perceived_steps import PerceivedStep, perceived_steps
from eval.common.recordings import RecordedEpisode
from eval.common.systems import check_checkpoint, system_of
from eval.metrics import comparison, share
from eval.run import Settings, run
from nsrecover.domains.tabletop.operators import TABLETOP
from sim.common.cameras import DEFAULT_RIG
from sim.datasets.replay import ReplayedStep, replay
from sim.datasets.spec import ErrorEpisode
from sim.sensors.presets import sensor as preset
from sim.tabletop.placing import true_graph
from sim.tabletop.poses import poses_of
from sim.tabletop.truth import Truth

WHENS = {"good step": "after a good step", "error": "after an error"}


@dataclass
class PreconditionsConfig(Settings):
    """Ask the monitor in every scene of some error episodes whether each action of the plan can be done.

      python -m eval.preconditions                            46 episodes; about five minutes on 2 cores
      python -m eval.preconditions seed=7 'episodes={I: 10}' sensors=[clean] out=DIR

    The answers are judged by the true poses. Intervals take the questions as independent.

    Attributes:
        episodes: number of episodes of each error dataset.
        errors: folder of the datasets; one that depends on the seed if null.
        checkpoint: folder of a checkpoint; the shipped one if null.
        sensors: that every scene is seen through.
    """

    episodes: dict[str, int] = field(default_factory=lambda: {"I": 20, "II": 16, "III": 10})
    errors: str | None = None
    checkpoint: str | None = None
    sensors: list[str] = field(default_factory=lambda: ["clean", "d435"])


@dataclass(frozen=True)
class Asked:
    """One question to the monitor: whether the preconditions of an action hold in a scene.

    Attributes:
        sensor: that the scene was seen through.
        dataset: of the episode.
        episode: its number.
        when: whether the scene is that after a good step or after an error.
        holds: whether they hold, by the true poses.
        said: whether the monitor says so.
    """

    sensor: str
    dataset: str
    episode: int
    when: str
    holds: bool
    said: bool


def filmed(episode: ErrorEpisode, steps: Sequence[ReplayedStep]) -> RecordedEpisode:
    """The images of a replay."""
    seen = [steps[0].seen_before, *(step.seen_fault_free for step in steps)]
    failures = {step.step: step.seen_after for step in steps if step.error is not None and step.seen_after is not None}
    places = np.array([steps[0].before.positions, *(step.fault_free.positions for step in steps)])
    return RecordedEpisode(episode, tuple(each for each in seen if each is not None), failures, places)


def ask(episode: ErrorEpisode, sensors: Sequence[str], checkpoint: str | None) -> list[Asked]:
    """The monitor's answers on an episode, through every sensor."""
    steps = list(replay(episode, DEFAULT_RIG, with_images=True))
    recorded, answers = filmed(episode, steps), list[Asked]()
    for sensor in sensors:
        seen = recorded.sensed(preset(sensor))
        if seen.exact is None or not seen.unseen:
            for step in perceived_steps(seen, system_of(checkpoint)):
                truth = steps[0].before if step.step < 0 else _truth(steps[step.step], step)
                answers += _answers(sensor, episode, step, truth)
    return answers


def _truth(replayed: ReplayedStep, perceived: PerceivedStep) -> Truth:
    return replayed.truth if perceived.failed else replayed.fault_free


def _answers(sensor: str, episode: ErrorEpisode, step: PerceivedStep, truth: Truth) -> Iterator[Asked]:
    exact = true_graph(poses_of(truth, episode.scene))
    for action in episode.plan:
        holds = set(action.arguments) <= set(exact.names) and not TABLETOP.operator_of(action).violated(exact, action)
        said = not TABLETOP.operator_of(action).violated(step.graph, action)
        yield Asked(sensor, episode.dataset, episode.number, "error" if step.failed else "good step", holds, said)


def judge(episode: ErrorEpisode, config: PreconditionsConfig) -> list[Asked]:
    """The answers on an episode, through every sensor."""
    return ask(episode, config.sensors, config.checkpoint)


def check(config: PreconditionsConfig) -> None:
    """Refuse sensors and checkpoints that do not exist."""
    check_checkpoint(config)
    for sensor in config.sensors:
        preset(sensor)


def _right(each: Asked) -> bool:
    return each.holds == each.said


def _after(when: str, each: Asked) -> bool:
    return each.when == when


METRICS = (
    share("all", "right", _right, digits=2, counted=True),
    *(share(text, text, _right, partial(_after, when), digits=2) for when, text in WHENS.items()),
    share("preconditions hold", "where they hold", _right, lambda each: each.holds, digits=2),
    share("preconditions do not hold", "where they do not", _right, lambda each: not each.holds, digits=2),
)
MEASUREMENT = comparison(
    PreconditionsConfig, judge, lambda config, run: run.episodes, METRICS, {"sensor": lambda each: each.sensor},
    unit="episode", key=lambda each: f"{each.dataset} {each.number}", name="sensors", check=check,
    episodes=lambda config: episodes_of(config.episodes, config.seed, config.errors, config.workers),
    adds=("episodes",),
)  # fmt: skip

if __name__ == "__main__":
    run(MEASUREMENT)

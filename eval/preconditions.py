"""`python -m eval.preconditions`: accuracy of the verdict whether the preconditions of an action hold.

Kalithasan et al. (section VII-D) report 94.2 %. Here every scene of an episode, after each step with its errors and
without them, is judged for every action of the plan: most scenes after errors do not allow some of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from eval.common.episodes import episodes_of
from eval.common.recordings import RecordedEpisode
from eval.common.statistics import Share, grouped, share_of
from eval.common.step_verdicts import MonitorSetting, PerceivedStep, perceived_steps
from eval.common.systems import system_of
from eval.common.tables import document, markdown_table, percent_of
from eval.run import Measurement, Run, Settings, run
from nsrecover.domains.tabletop.operators import TABLETOP
from sim.common.cameras import DEFAULT_RIG
from sim.datasets.replay import ReplayedStep, replay
from sim.datasets.spec import ErrorEpisode
from sim.sensors.presets import sensor as preset
from sim.tabletop.placing import true_graph
from sim.tabletop.poses import poses_of
from sim.tabletop.truth import Truth

WHENS = ("good step", "error")


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
    out: str = "outputs/preconditions"


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
            for step in perceived_steps(seen, system_of(checkpoint), MonitorSetting()):
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
        yield Asked(sensor, episode.dataset, episode.number, WHENS[step.failed], holds, said)


def name_of(episode: ErrorEpisode) -> str:
    """Name of an episode."""
    return f"{episode.dataset} {episode.number}"


def measure(config: PreconditionsConfig, run: Run) -> dict[str, Any]:
    """Ask the monitor in every scene."""
    task = partial(ask, sensors=tuple(config.sensors), checkpoint=config.checkpoint)
    found = [each for part in run.each(task, run.episodes, "episode", name_of) for each in part]
    return {
        "seed": config.seed,
        "sensors": {
            sensor: {name: _accuracy(chosen) for name, chosen in _parts(group)}
            for sensor, group in grouped(found, lambda each: each.sensor).items()
        },
    }


def check(config: PreconditionsConfig) -> None:
    """Refuse sensors and checkpoints that do not exist."""
    system_of(config.checkpoint)
    for sensor in config.sensors:
        preset(sensor)


def _parts(asked: Sequence[Asked]) -> Iterator[tuple[str, list[Asked]]]:
    yield "all", list(asked)
    for when in WHENS:
        yield f"after a{'n' if when == 'error' else ''} {when}", [each for each in asked if each.when == when]
    yield "preconditions hold", [each for each in asked if each.holds]
    yield "preconditions do not hold", [each for each in asked if not each.holds]
    yield from grouped(asked, lambda each: f"dataset {each.dataset}").items()


def _accuracy(asked: Sequence[Asked]) -> Share:
    """Share of right answers."""
    return share_of(each.holds == each.said for each in asked)


def table(metrics: dict[str, Any]) -> str:
    """Table of the shares of right answers."""
    rows = [
        [sensor, part, percent_of(found), found["of"]]
        for sensor, parts in metrics["sensors"].items()
        for part, found in parts.items()
    ]
    return document(
        "Right answers to whether the preconditions of an action hold (Kalithasan et al.: 94.2 %)",
        markdown_table(["sensor", "scenes", "right", "questions"], rows),
    )


MEASUREMENT = Measurement(
    PreconditionsConfig,
    measure,
    table,
    check=check,
    episodes=lambda config: episodes_of(config.episodes, config.seed, config.errors, config.workers),
    adds=("episodes",),
)

if __name__ == "__main__":
    run(MEASUREMENT)

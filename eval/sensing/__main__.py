"""`python -m eval.sensing`: the monitor on recorded episodes behind realistic sensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from conf.command import options
from eval.common.episodes import EpisodesConfig, episodes_of
from eval.common.statistics import grouped
from eval.common.systems import system_of
from eval.common.tables import columns_table, document, figure
from eval.metrics import columns, levels, share, total
from eval.metrics import summary as numbers
from eval.run import Measurement, Run, run
from eval.sensing.judge import REFUSED, Condition, SensedStep, judge
from nsrecover.core.discrepancy import Verdict
from nsrecover.errors import InvalidConfiguration
from sim.common.groups import group_settings
from sim.datasets.spec import ErrorEpisode


def begun(step: SensedStep) -> bool:
    """Whether the monitor could begin with the episode."""
    return step.step >= 0


def good(step: SensedStep) -> bool:
    """Whether the step went well."""
    return begun(step) and not step.wrong


def bad(step: SensedStep) -> bool:
    """Whether an object truly deviates after the step."""
    return begun(step) and bool(step.wrong)


def _quiet(step: SensedStep) -> bool:
    return begun(step) and not step.during_event


METRICS = (
    share("false_alarms", "false alarms per step", lambda s: bool(s.blamed), good),
    share("recall", "recall", lambda s: bool(s.blamed), bad),
    share("accuracy", "", lambda s: bool(s.blamed) == bool(s.wrong), begun),
    share("culprits_exact", "culprits exact", lambda s: {*s.blamed} == {*s.wrong}, lambda s: bad(s) and s.blamed),
    levels("box_error_mm", "box error median / p95, mm", lambda s: s.errors_mm if _quiet(s) else ()),
    share("association", "masks matched", lambda s: [True] * s.matched + [False] * (s.shown - s.matched), _quiet),
    share("cannot_tell", "cannot tell, good steps", lambda s: s.verdict == Verdict.CANNOT_TELL,
          lambda s: good(s) and _quiet(s)),
    replace(levels("looks", "observations per step", lambda s: [s.looks] if begun(s) and s.verdict != REFUSED else (),
                   mean=np.mean), cell=figure("looks", "mean", digits=2)),
    share("sensor_named", "sensor named during events",
          lambda s: bool(s.note) or s.verdict not in ("as_expected", "deviating"),
          lambda s: good(s) and s.during_event),
    share("refused", "observations refused", lambda s: s.verdict == REFUSED, begun),
    total("episodes_not_begun", "", lambda s: not begun(s)),
    levels("step_ms", "ms per step, median / p95", lambda s: [1000 * s.seconds] if begun(s) and s.seconds else (), 1),
)  # fmt: skip


def summary(steps: Sequence[SensedStep]) -> dict[str, Any]:
    """Metrics of the steps of one condition, together and by dataset."""
    datasets = grouped(steps, lambda step: step.dataset)
    return numbers(steps, METRICS) | {"datasets": {name: numbers(group, METRICS) for name, group in datasets.items()}}


def markdown(conditions: Mapping[str, Mapping[str, Any]]) -> str:
    """The table of all conditions."""
    return document("The monitor behind realistic sensors", columns_table(["condition"], conditions, columns(METRICS)))


Episodes = Mapping[str | None, Sequence[ErrorEpisode]]
"""Scenes of conditions -> the episodes with them."""


@dataclass
class SensingConfig(EpisodesConfig):
    """Measure the monitor behind realistic sensors.

    False alarms, recall, exact culprits and box errors, and whether a failing camera is named.

      python -m eval.sensing                                  the sensor presets; an hour on 2 cores
      python -m eval.sensing conditions=table                 one error of cameras or segmenters at a time
      python -m eval.sensing looks=1 out=DIR                  without looking again
      python -m eval.sensing 'views=[front]' out=DIR          one camera
      python -m eval.sensing seed=7 'episodes={I: 20, II: 10, III: 10, IV: 10}' out=DIR     fewer, fresh ones
      python -m eval.sensing conditions=none '+conditions.mine={sensor: {name: d435, masks: {merged: 0.1}}}'
                                                                a condition of your own

    Writes metrics.json, table.md and every step (rows.jsonl) to out=DIR.

    Attributes:
        seed: another seed gives other episodes; 0 are those of `python -m sim.datasets`.
        episodes: number of episodes of each error dataset; episodes.I=0 leaves one out.
        errors: folder of the datasets; data/errors, or data/errors_SEED for another seed, if null.
        footage: folder for exact camera images of the episodes, which every condition sees through its sensor; can be
            deleted.
        checkpoint: folder of a checkpoint; the shipped one if null.
        looks: largest number of observations of one step; the monitor looks again if the verdict is not "as expected".
        views: names of the cameras: left, right, front.
        conditions: an option of conf/conditions.
    """

    conditions: dict[str, Any] = options("presets")
    views: list[str] = field(default_factory=lambda: ["left", "right"])
    looks: int = 3
    episodes: dict[str, int] = field(default_factory=lambda: {"I": 100, "II": 60, "III": 60, "IV": 60})


class Judged(Protocol):
    """Settings of a measurement that judges episodes behind sensors."""

    looks: int
    footage: str
    checkpoint: str | None


def _conditions(config: SensingConfig) -> dict[str, Condition]:
    return conditions_of(config, config.conditions, config.views)


def episodes_by_scene(config: SensingConfig) -> dict[str | None, list[ErrorEpisode]]:
    """The episodes with the scenes of each condition."""
    return {scene: _episodes(config, scene) for scene in {each.scene: None for each in _conditions(config).values()}}


def measure(config: SensingConfig, run: Run) -> dict[str, Any]:
    """Judge every episode in every condition."""
    conditions = _conditions(config)
    steps = all_steps(config, run, conditions, episodes_by_scene(config))
    found = {each.name or key: summary(steps[key]) for key, each in conditions.items()}
    return {"seed": config.seed, "episodes": dict(config.episodes), "conditions": found}


def conditions_of(config: Judged, given: dict[str, Any], views: list[str]) -> dict[str, Condition]:
    """The conditions of a measurement that can be made; its settings are checked before the work begins.

    Args:
        config: of the command.
        given: settings of every condition.
        views: names of the cameras of conditions without ones of their own.

    Raises:
        NsrecoverError: a setting or the checkpoint cannot be used.
    """
    if not given:
        raise InvalidConfiguration("expected at least one condition, found none; choose a group: conditions=table")
    system_of(config.checkpoint)
    conditions = {key: _condition(key, values, views) for key, values in given.items()}
    for each in conditions.values():
        each.drawn(1, np.random.default_rng(0))
    return conditions


def _condition(key: str, values: Any, views: list[str]) -> Condition:
    """A condition from its settings.

    Raises:
        InvalidConfiguration: one of them does not exist, or has the wrong type.
    """
    try:
        merged = OmegaConf.merge(OmegaConf.structured(Condition), values or {})
    except OmegaConfBaseException as problem:
        raise InvalidConfiguration(
            f"expected conditions.{key} with settings among {', '.join(Condition.__dataclass_fields__)}, "
            f"found {str(problem).splitlines()[0]}"
        ) from problem
    condition = cast(Condition, OmegaConf.to_object(merged))
    return replace(condition, views=condition.views or list(views))


def _episodes(config: SensingConfig, scene: str | None) -> list[ErrorEpisode]:
    """The episodes with the scenes of some conditions."""
    if scene is None:
        return episodes_of(config.episodes, config.seed, config.errors, config.workers)
    folder = None if config.errors is None else f"{config.errors}_{scene}"
    return episodes_of(config.episodes, config.seed, folder, config.workers, group_settings("scene", scene))


def all_steps(
    config: Judged, run: Run, conditions: dict[str, Condition], episodes: Episodes
) -> dict[str, list[SensedStep]]:
    """The verdicts of all conditions.

    Args:
        config: of the measurement.
        run: of it.
        conditions: key -> condition.
        episodes: what is judged in the conditions, as many in each.

    Returns:
        Key -> the verdicts on all steps, in the order of the episodes.
    """
    Path(config.footage).mkdir(parents=True, exist_ok=True)
    numbers = range(max(map(len, episodes.values())))
    every = [(name, number) for number in numbers for name in conditions]
    task = partial(_judge, conditions=conditions, episodes=episodes, config=config)
    done = dict(zip(every, run.each(task, every, "episode"), strict=True))
    return {name: [row for number in numbers for row in done[name, number]] for name in conditions}


def _judge(
    task: tuple[str, int], conditions: dict[str, Condition], episodes: Episodes, config: Judged
) -> list[SensedStep]:
    condition = conditions[task[0]]
    return judge(episodes[condition.scene][task[1]], condition, config.looks, config.footage, config.checkpoint)


MEASUREMENT = Measurement(
    SensingConfig,
    measure,
    lambda metrics: markdown(metrics["conditions"]),
    check=_conditions,
    least={"looks": 1},
    episodes=lambda config: [episode for group in episodes_by_scene(config).values() for episode in group],
)


if __name__ == "__main__":
    run(MEASUREMENT)

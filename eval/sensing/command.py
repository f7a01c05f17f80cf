"""`python -m eval.sensing`: the monitor on recorded episodes behind realistic sensors."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from eval.common.episodes import EpisodesConfig, episodes_of
from eval.common.identity import identity
from eval.common.output import in_workers, write_results
from eval.common.systems import system_of
from eval.sensing import tables
from eval.sensing.conditions import Condition
from eval.sensing.judge import SensedStep, judge
from nsrecover.errors import InvalidConfiguration
from sim.common.folder import claim_folder, read_ledger
from sim.common.groups import group_settings
from sim.datasets.spec import ErrorEpisode

FORMAT = 3
"""Version of the ledger of steps."""

Episodes = Mapping[str | None, Sequence[ErrorEpisode]]
"""Scenes of conditions -> the episodes with them."""


@dataclass
class SensingConfig(EpisodesConfig):
    """Top level of conf/sensing.yaml."""

    conditions: dict[str, Any] = field(default_factory=dict)
    views: list[str] = field(default_factory=lambda: ["left", "right"])
    looks: int = 3
    out: str = "outputs/sensing"


class Measurement(Protocol):
    """Settings of a command that judges episodes behind sensors."""

    looks: int
    out: str
    footage: str
    checkpoint: str | None
    workers: int


@dataclass(frozen=True)
class _Task:
    condition: str
    number: int


def measure(config: SensingConfig) -> dict[str, Any]:
    """Judge every episode in every condition, and write metrics and table.

    Args:
        config: see conf/sensing.yaml.

    Returns:
        The contents of metrics.json.

    Raises:
        NsrecoverError: a setting or a checkpoint cannot be used, or the folder holds other results.
    """
    conditions = conditions_of(config, config.conditions, config.views)
    out = Path(config.out)
    episodes = {each.scene: _episodes(config, each.scene) for each in conditions.values()}
    with claim_folder(out, manifest_of(config, conditions, episodes), "the steps of a measurement"):
        steps = all_steps(config, conditions, episodes)
        found = {each.name or key: tables.summary(steps[key]) for key, each in conditions.items()}
        metrics = {"seed": config.seed, "episodes": dict(config.episodes), "conditions": found}
        write_results(out, metrics, tables.markdown(found), config)
    return metrics


def conditions_of(config: Measurement, given: dict[str, Any], views: list[str]) -> dict[str, Condition]:
    """The conditions of a measurement that can be made; its settings are checked before the work begins.

    Args:
        config: of the command.
        given: settings of every condition.
        views: names of the cameras of conditions without ones of their own.

    Raises:
        NsrecoverError: a setting or the checkpoint cannot be used.
    """
    if config.looks < 1:
        raise InvalidConfiguration(f"expected looks of at least 1, found {config.looks}")
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


def all_steps(config: Measurement, conditions: dict[str, Condition], episodes: Episodes) -> dict[str, list[SensedStep]]:
    """The verdicts of all conditions, those from disk included; new ones are written as soon as they are there.

    Args:
        config: of the command, which has claimed its folder.
        conditions: key -> condition.
        episodes: what is judged in the conditions, as many in each.

    Returns:
        Key -> the verdicts on all steps, in the order of the episodes.
    """
    Path(config.footage).mkdir(parents=True, exist_ok=True)
    ledger = Path(config.out) / "steps.jsonl"
    done = dict(read_ledger(ledger, _parsed, None))
    numbers = range(max(map(len, episodes.values())))
    every = [_Task(name, number) for number in numbers for name in conditions]
    left = [each for each in every if each not in done]
    task = partial(
        _judge,
        conditions=conditions,
        episodes=episodes,
        looks=config.looks,
        folder=config.footage,
        checkpoint=config.checkpoint,
    )
    with ledger.open("a", encoding="utf-8") as file, closing(_in_order(task, left, config.workers)) as results:
        for each, rows in results:
            done[each] = rows
            line = {"condition": each.condition, "number": each.number, "steps": [asdict(row) for row in rows]}
            file.write(json.dumps(line) + "\n")
            file.flush()
    return {name: [row for number in numbers for row in done[_Task(name, number)]] for name in conditions}


def _in_order(
    task: partial[list[SensedStep]], left: list[_Task], workers: int
) -> Generator[tuple[_Task, list[SensedStep]]]:
    yield from zip(left, in_workers(task, left, workers, "episode", "judging"), strict=True)


def _judge(
    task: _Task,
    conditions: dict[str, Condition],
    episodes: Episodes,
    looks: int,
    folder: str,
    checkpoint: str | None,
) -> list[SensedStep]:
    condition = conditions[task.condition]
    return judge(episodes[condition.scene][task.number], condition, looks, folder, checkpoint)


def _parsed(line: str) -> tuple[_Task, list[SensedStep]]:
    data = json.loads(line)
    return _Task(data["condition"], data["number"]), [SensedStep(**row) for row in data["steps"]]


def manifest_of(config: Measurement, conditions: dict[str, Condition], episodes: Episodes) -> dict[str, Any]:
    """What decides the verdicts: a folder of results belongs to one of these."""
    settings = {
        "format": FORMAT,
        "looks": config.looks,
        "conditions": json.loads(json.dumps({name: asdict(each) for name, each in conditions.items()})),
    }
    every = [episode for group in episodes.values() for episode in group]
    return identity("eval.sensing.command", settings, [config.checkpoint], every)

"""`python -m eval.shapes`: the monitor and the arm with objects of other shapes."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from eval.common.output import in_workers, write_results
from eval.sensing.command import all_steps, conditions_of, manifest_of
from eval.shapes import tables
from eval.shapes.grasps import GraspOutcome, GraspTry, grasp
from nsrecover.errors import InvalidConfiguration
from sim.common.folder import claim_folder, read_ledger
from sim.datasets.kinds import generate
from sim.datasets.shapes import family_of
from sim.datasets.spec import EPISODES, ErrorEpisode


@dataclass
class ShapesConfig:
    """Top level of conf/shapes.yaml."""

    seed: int = 0
    episodes: dict[str, int] = field(default_factory=dict)
    tries: int = 40
    conditions: dict[str, Any] = field(default_factory=dict)
    views: list[str] = field(default_factory=lambda: ["left", "right"])
    looks: int = 3
    footage: str = "data/footage"
    checkpoint: str | None = None
    workers: int = 2
    out: str = "outputs/shapes"


@dataclass(frozen=True)
class _Number:
    family: str
    number: int


def measure(config: ShapesConfig) -> dict[str, Any]:
    """Judge every episode behind every sensor, let the arm try every family, and write metrics and tables.

    Args:
        config: see conf/shapes.yaml.

    Returns:
        The contents of metrics.json.

    Raises:
        NsrecoverError: a setting or a checkpoint cannot be used, or the folder holds other results.
    """
    families = [name for name, count in config.episodes.items() if family_of(name) and count > 0]
    if not families or config.tries < 0 or config.workers < 1 or config.seed < 0:
        raise InvalidConfiguration(
            "expected episodes of at least one family, at least 0 tries and as seed, and at least 1 worker, found "
            f"episodes={dict(config.episodes)}, tries={config.tries}, seed={config.seed}, workers={config.workers}"
        )
    conditions = conditions_of(config, config.conditions, config.views)
    out = Path(config.out)
    counts = {name: config.episodes[name] for name in families}
    manifest = {**manifest_of(config, conditions, {}), "seed": config.seed, "families": counts}
    with claim_folder(out, manifest, "a measurement of shapes"):
        episodes = _episodes(config, counts, out / EPISODES)
        steps = all_steps(config, conditions, {None: episodes})
        tries = _tries(config, families, out / "grasps.jsonl")
        found = {each.name or key: tables.summary(steps[key]) for key, each in conditions.items()}
        grasps = tables.grasp_summary(tries)
        metrics = {"seed": config.seed, "episodes": counts, "sensors": found, "grasps": grasps}
        write_results(out, metrics, tables.markdown(found, grasps), config)
    return metrics


def _episodes(config: ShapesConfig, counts: Mapping[str, int], ledger: Path) -> list[ErrorEpisode]:
    """The episodes of all families, those from disk included."""
    found = {_Number(each.dataset, each.number): each for each in read_ledger(ledger, ErrorEpisode.from_json, None)}
    every = [_Number(name, number) for name, count in counts.items() for number in range(count)]
    left = [each for each in every if each not in found]
    task = partial(_generated, seed=config.seed)
    results = _in_order(task, left, config.workers, "episode", "simulating")
    with ledger.open("a", encoding="utf-8") as file, closing(results):
        for each, episode in results:
            found[each] = episode
            file.write(episode.to_json() + "\n")
            file.flush()
    return [found[each] for each in every]


def _tries(config: ShapesConfig, families: list[str], ledger: Path) -> list[GraspTry]:
    """What came of all tries, those from disk included."""
    found = {_Number(each.family, each.number): each for each in read_ledger(ledger, _parsed, None)}
    every = [_Number(name, number) for name in families for number in range(config.tries)]
    left = [each for each in every if each not in found]
    task = partial(_grasped, seed=config.seed)
    results = _in_order(task, left, config.workers, "try", "grasping")
    with ledger.open("a", encoding="utf-8") as file, closing(results):
        for each, tried in results:
            found[each] = tried
            file.write(json.dumps(asdict(tried)) + "\n")
            file.flush()
    return [found[each] for each in every]


def _in_order(task: Any, left: list[_Number], workers: int, unit: str, label: str) -> Generator[tuple[_Number, Any]]:
    yield from zip(left, in_workers(task, left, workers, unit, label), strict=True)


def _generated(each: _Number, seed: int) -> ErrorEpisode:
    return generate(family_of(each.family), seed, each.number).episode


def _grasped(each: _Number, seed: int) -> GraspTry:
    return grasp(each.family, each.number, seed)


def _parsed(line: str) -> GraspTry:
    data = json.loads(line)
    return GraspTry(**{**data, "outcome": GraspOutcome(data["outcome"])})

"""Read finished sweeps from their folders."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf
from yaml import YAMLError

from eval.common.command import CONFIG, METRICS
from eval.sweep.metrics import summary
from eval.sweep.records import EpisodeRecord
from eval.sweep.run import read_records, records_in
from nsrecover.errors import InvalidConfiguration

ORDER = (
    "ours", "ours_anytime_k5", "ours_anytime_k3", "ours_anytime_k1", "original", "relations", "oracle", "replan",
    "nofree", "retry", "none",
)  # fmt: skip
"""Planners in the order of the tables; others follow by name."""


@dataclass(frozen=True, eq=False)
class Sweep:
    """One planner on one dataset.

    Attributes:
        folder: of the sweep.
        planner: name.
        dataset: name.
        records: the episodes, in order.
        metrics: contents of metrics.json, updated with the metrics of the records.
        config: the settings.
    """

    folder: Path
    planner: str
    dataset: str
    records: Sequence[EpisodeRecord]
    metrics: dict[str, Any]
    config: DictConfig

    @property
    def sensor(self) -> str:
        """Name of the sensor; older sweeps have exact images."""
        return str(self.metrics.get("sensor", "clean"))


def load(folders: Iterable[Path]) -> list[Sweep]:
    """Read finished sweeps; each folder is one, or contains some.

    Args:
        folders: of the sweeps.

    Returns:
        Sweeps by dataset and planner.

    Raises:
        InvalidConfiguration: a folder has no sweep, a sweep is unfinished or damaged, two are of the same planner and
            dataset, or the sweeps of a dataset have different episodes or sensors.
    """
    found = list[Sweep]()
    for folder in folders:
        inside = sorted(place for place in folder.glob("*") if records_in(place)) if folder.is_dir() else []
        places = [folder] if records_in(folder) else inside
        if not places:
            raise InvalidConfiguration(
                f"expected the results of `python -m eval` in {folder} or in the folders in it, found none; name their "
                "folder, or run a sweep first, for example `python -m eval dataset=I episodes=20`"
            )
        for place in places:
            for name in (METRICS, CONFIG):
                if not (place / name).is_file():
                    raise InvalidConfiguration(
                        f"expected a finished sweep in {place}, found one without {name}; start its command again"
                    )
            found.append(_read(place))
    _check_alike(found)
    cells = [(sweep.planner, sweep.dataset) for sweep in found]
    twice = sorted({cell for cell in cells if cells.count(cell) > 1})
    if twice:
        raise InvalidConfiguration(
            f"expected one sweep of each planner and dataset, found several of {twice[0][0]} on {twice[0][1]}; name "
            "only one of their folders"
        )
    return sorted(found, key=lambda sweep: (sweep.dataset, _rank(sweep.planner)))


def _read(place: Path) -> Sweep:
    try:
        kept = json.loads((place / METRICS).read_text(encoding="utf-8"))
        config = OmegaConf.load(place / CONFIG)
        episodes, planner, dataset = int(kept["episodes"]), str(kept["planner"]), str(kept["dataset"])
        assert isinstance(config, DictConfig)
    except (OSError, ValueError, KeyError, TypeError, AssertionError, YAMLError) as problem:
        raise InvalidConfiguration(
            f"expected {METRICS} and {CONFIG} in {place} as `python -m eval` leaves them, found: {problem}; start its "
            "command again"
        ) from None
    records = sorted(read_records(place), key=lambda record: record.index)[:episodes]
    if [record.index for record in records] != list(range(episodes)):
        raise InvalidConfiguration(
            f"expected the {episodes} episodes of {METRICS} in {records_in(place)}, found {len(records)}, or others; "
            "start its command again"
        )
    # an older version may have computed other metrics
    return Sweep(place, planner, dataset, records, kept | summary(records), config)


def _check_alike(sweeps: Sequence[Sweep]) -> None:
    """Check that all planners ran on the same episodes of a dataset."""
    first = dict[str, Sweep]()
    for sweep in sweeps:
        other = first.setdefault(sweep.dataset, sweep)
        for name in ("seed", "errors", "during_recovery"):
            mine, theirs = sweep.config.get(name), other.config.get(name)
            if mine != theirs:
                raise InvalidConfiguration(
                    f"expected sweeps of dataset {sweep.dataset} over the same episodes, found {name}={theirs} in "
                    f"{other.folder} and {name}={mine} in {sweep.folder}; make tables of them one after the other"
                )
        if sweep.sensor != other.sensor:
            raise InvalidConfiguration(
                f"expected sweeps of dataset {sweep.dataset} with the same sensor, found sensor={other.sensor} in "
                f"{other.folder} and sensor={sweep.sensor} in {sweep.folder}; make tables of them one after the other"
            )


def _rank(planner: str) -> tuple[int, str]:
    return (ORDER.index(planner) if planner in ORDER else len(ORDER), planner)

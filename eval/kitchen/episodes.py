"""Episodes of the kitchen's error datasets, only those in layouts that no training sees if that is asked for."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import partial
from pathlib import Path

from eval.common.output import in_workers
from nsrecover.errors import InvalidConfiguration
from nsrecover.util.atomic_write import atomic_write_bytes
from sim.datasets.household import HOUSEHOLD_DATASETS, HouseholdEpisode, generate
from sim.datasets.household.drawing import HouseholdDataset
from sim.datasets.household.spec import SCHEMA
from sim.kitchen.scenes import HELD_OUT_LAYOUTS, NUM_LAYOUTS

PER_KITCHEN = 2
"""Episodes of one kitchen at most: each needs the kitchen's fault-free run, and those of one kitchen are alike."""


def episodes_of(
    dataset: str, count: int, seed: int, held_out: bool, folder: str | Path, workers: int
) -> list[HouseholdEpisode]:
    """The first episodes of a dataset; kitchens that are not in the folder yet are drawn.

    Args:
        dataset: its name.
        count: number of episodes.
        seed: of the dataset.
        held_out: whether only layouts count that are held out from training.
        folder: for what was drawn.
        workers: processes that draw.
    """
    made = _few(dataset)
    place = Path(folder) / f"{dataset}_{seed}_{SCHEMA}_{made.per_kitchen}"
    task = partial(_kitchen, dataset=dataset, seed=seed, place=place)
    chosen = (
        kitchen for kitchen in itertools.count() if not held_out or _layout(made, kitchen, seed) in HELD_OUT_LAYOUTS
    )
    found: list[HouseholdEpisode] = []
    while len(found) < count:
        some = list(itertools.islice(chosen, -(-(count - len(found)) // made.per_kitchen)))
        for path in in_workers(task, some, workers, "kitchen", f"drawing {dataset}"):
            episodes = map(HouseholdEpisode.from_json, path.read_text().splitlines())
            found += [each for each in episodes if each.held_out or not held_out]
    return found[:count]


def _few(dataset: str) -> HouseholdDataset:
    """A dataset with at most `PER_KITCHEN` episodes of each kitchen."""
    made = HOUSEHOLD_DATASETS[dataset]
    return replace(made, per_kitchen=min(made.per_kitchen, PER_KITCHEN))


def _layout(dataset: HouseholdDataset, kitchen: int, seed: int) -> int:
    """The layout that is tried first for a kitchen, see `sim.datasets.household.drawing.generate`."""
    tasks = len(dataset.tasks)
    return (kitchen // tasks + 7 * (kitchen % tasks) + seed) % NUM_LAYOUTS


def _kitchen(kitchen: int, dataset: str, seed: int, place: Path) -> Path:
    """The file with the episodes of a kitchen; empty if none could be drawn."""
    path = place / f"{kitchen:05d}.jsonl"
    if not path.is_file():
        try:
            lines = [episode.to_json() for episode in generate(_few(dataset), seed, kitchen).episodes]
        except InvalidConfiguration:
            lines = []
        place.mkdir(parents=True, exist_ok=True)
        atomic_write_bytes(path, "".join(f"{line}\n" for line in lines).encode())
    return path

"""`python -m train.reliance`: how far readings of states can be relied on, by size, and how alike their errors are.

What is read in views of kitchens that were not learned from is compared with what is true there. From that follow, for
each variable and size of the object in the image, a factor and a shift of the log-odds with which readings are
calibrated (Platt 1999; both values of a variable count the same), and the correlation of the errors of two readings of
one unchanged state, by how far apart the cameras were.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from scipy.optimize import minimize
from tqdm import tqdm

from conf.command import run_function
from nsrecover.models.states import SHIPPED, StateConfig, StateModel, relied_on
from nsrecover.perception.states import Alike, read_states, state_masks
from nsrecover.records.archive import Archive
from nsrecover.records.recording import Recording
from train.state_labels import shown_in, states_of, values_of, visible_variables

SIZES = (150.0, 600.0, 2500.0)
"""Limits of the size classes, pixels."""
APART_M = (0.0, 0.15, 0.3, 0.6, 1.0, 1.6, 10.0)
"""Limits of the classes of distance between two cameras; the first class is that of equal places."""
ENOUGH = 100
"""Summed variance of errors from which on a class of distances counts in full."""
PRIOR = 2.0
"""Objects that count as much as what is assumed: that a size class is as all sizes, and these as readings say."""


@dataclass(frozen=True, eq=False)
class SeenState:
    """One reading.

    Attributes:
        kitchen: in which it was made.
        name: of the object.
        variable: that was read.
        true: its value, from the simulator.
        chances: of the values.
        pixels: of the largest mask of the object.
        place: of the first camera, (3,) metres.
    """

    kitchen: str
    name: str
    variable: str
    true: str
    chances: Mapping[str, float]
    pixels: float
    place: tuple[float, ...]

    @property
    def right(self) -> bool:
        """Whether the most probable value is true."""
        return max(self.chances, key=self.chances.__getitem__) == self.true

    @property
    def size(self) -> int:
        """Number of its size class."""
        return int(np.searchsorted(SIZES, self.pixels, side="right"))


def learn(
    data: Annotated[list[Path], typer.Option(help="demonstrations.h5 of python -m sim.views --held-out")],
    states: Path = SHIPPED,
    out: Path = SHIPPED,
) -> None:
    """Learn from views how far readings can be relied on, and write it into a state model.

    Args:
        data: files of views, in layouts that were not learned from.
        states: folder of the model whose readings are compared with what is true.
        out: folder of the model that relies on them as far as was measured.
    """
    model = StateModel.load(states)
    model.config = replace(model.config, reliance={})
    model.config = fit(model.config, [each for path in data for each in readings_in(path, model)])
    model.save(out)
    print(json.dumps(model.config.metrics["reliance"], indent=1), f"written to {out}", sep="\n")


def fit(config: StateConfig, found: Sequence[SeenState]) -> StateConfig:
    """The configuration of a model that relies on readings as far as they were measured to be right."""
    by = {variable: own for (variable,), own in _grouped(found, "variable").items()}
    reliance = {variable: fitted(own) for variable, own in by.items()}
    pairs = {variable: correlations(own) for variable, own in by.items()}
    sizes = {variable: _by_size(own, reliance[variable]) for variable, own in by.items()}
    kitchens = len({each.kitchen for each in found})
    measured = {"readings": len(found), "kitchens": kitchens, "sizes": sizes, "pairs": pairs}
    objects = {variable: len({(each.kitchen, each.name) for each in own}) for variable, own in by.items()}
    curves = {variable: alike(each, objects[variable]) for variable, each in pairs.items()}
    metrics = {**config.metrics, "reliance": measured}
    return replace(config, sizes=SIZES, reliance=reliance, alike=curves, metrics=metrics)


def readings_in(path: Path, model: StateModel) -> Iterator[SeenState]:
    """The readings in a file of demonstrations.

    Raises:
        InvalidRecording: the file is not one of household demonstrations.
    """
    with Archive(path, trusted=True) as archive:
        for episode in tqdm(archive.episodes, desc=f"reading {path}", unit="episode"):
            yield from readings_of(archive[episode], model)


def readings_of(recording: Recording, model: StateModel) -> Iterator[SeenState]:
    """The readings in a demonstration."""
    kitchen = f"{recording.notes.get('seed')}:{recording.notes.get('episode')}"
    for seen, state in zip(recording.observations, states_of(recording), strict=True):
        truth = values_of(state, shown_in(seen), visible_variables().values())
        masks = state_masks(seen, truth)
        place = tuple(np.asarray(seen.cameras[0].world_from_camera)[:3, 3].tolist())
        for name, found in read_states(model, seen, masks, certain=False).items():
            pixels = max(int((view == number).sum()) for view in seen.instances for number in masks[name])
            for variable, chances in found.items():
                if chances:
                    yield SeenState(kitchen, name, variable, truth[name][variable], chances, pixels, place)


def _by_size(readings: Sequence[SeenState], reliance: Sequence[tuple[float, float]]) -> list[dict[str, Any]]:
    """What was measured of a variable, for each size class."""
    rows = []
    for size, (factor, shift) in enumerate(reliance):
        own = [each for each in readings if each.size == size]
        claimed = [max(each.chances.values()) for each in own]
        after = [relied_on(np.array(list(each.chances.values())), factor, shift).max() for each in own]
        rows.append({
            "from_pixels": (0.0, *SIZES)[size], "readings": len(own), "right": _mean([each.right for each in own]),
            "claimed": _mean(claimed), "claimed_after": _mean(after), "factor": factor, "shift": shift,
        })  # fmt: skip
    return rows


def fitted(readings: Sequence[SeenState]) -> tuple[tuple[float, float], ...]:
    """Factor and shift for each size class, by which readings of one variable are best calibrated."""
    whole = _fit(readings, (1.0, 0.0))
    classes = ([each for each in readings if each.size == size] for size in range(len(SIZES) + 1))
    return tuple(_fit(own, whole) for own in classes)


def _fit(readings: Sequence[SeenState], prior: tuple[float, float]) -> tuple[float, float]:
    """The most likely factor and shift; every object counts the same, and so does every true value of those seen."""
    if len({each.true for each in readings}) < 2:
        return prior
    logs = np.log(np.maximum([list(each.chances.values()) for each in readings], 1e-6))
    true = np.array([list(each.chances).index(each.true) for each in readings])
    objects = Counter((each.kitchen, each.name) for each in readings)
    weights = np.array([1.0 / objects[each.kitchen, each.name] for each in readings])
    for value in np.unique(true):
        weights[true == value] /= weights[true == value].sum()
    weights *= len(objects) / weights.sum()
    two, rows = logs.shape[1] == 2, np.arange(len(true))

    def loss(found: Any) -> float:
        factor, shift = found
        raised = factor * logs + np.where(np.arange(logs.shape[1]), shift * two, 0.0)
        raised -= raised.max(axis=1, keepdims=True)
        wrong = np.log(np.exp(raised).sum(axis=1)) - raised[rows, true]
        return float(weights @ wrong + PRIOR * ((factor - prior[0]) ** 2 + (shift - prior[1]) ** 2))

    best = minimize(loss, prior, bounds=((0.0, 1.2), (-2.0, 2.0)))
    return round(float(best.x[0]), 3), round(float(best.x[1]), 3)


def correlations(readings: Sequence[SeenState]) -> list[dict[str, float]]:
    """Correlation of the errors of two readings of one state, by how far apart the cameras were."""
    rates = {
        value: _mean([not each.right for each in own]) or 0.0 for (value,), own in _grouped(readings, "true").items()
    }
    sums = np.zeros((len(APART_M), 3))
    for (_, _, value), own in _grouped(readings, "kitchen", "name", "true").items():
        rate = rates[value]
        for one, other in combinations(own, 2):
            number = int(np.searchsorted(APART_M, round(math.dist(one.place, other.place), 4)))
            both = ((not one.right) - rate) * ((not other.right) - rate)
            sums[number] += (1, both, rate * (1 - rate))
    return [
        {
            "to_m": limit,
            "pairs": int(pairs),
            "expected": round(spread, 1),
            "correlation": round(both / max(spread, 1e-9), 3),
        }
        for limit, (pairs, both, spread) in zip(APART_M, sums, strict=True)
    ]


def alike(found: Sequence[Mapping[str, float]], objects: int) -> Alike:
    """The curve that fits correlations best; that of readings of few objects is much like the default."""
    limits = [each["to_m"] for each in found]
    middles = np.array([0.0, *((low + high) / 2 for low, high in pairwise(limits[:-1])), limits[-2] + 0.4])
    weights = np.array([min(each["expected"], ENOUGH) / ENOUGH for each in found])
    measured = np.array([each["correlation"] for each in found])

    start = np.array(list(asdict(Alike()).values()))

    def loss(curve: Any) -> float:
        fits = curve[1] + (curve[0] - curve[1]) * np.exp(-middles / curve[2])
        return float(weights @ (fits - measured) ** 2 + 5 * PRIOR / objects * ((curve - start) ** 2).sum())

    best = minimize(loss, start, bounds=((0.0, 0.95), (0.0, 0.95), (0.1, 2.0)))
    return Alike(*(round(float(each), 3) for each in best.x))


def _grouped(readings: Sequence[SeenState], *fields: str) -> dict[tuple[str, ...], list[SeenState]]:
    groups: dict[tuple[str, ...], list[SeenState]] = {}
    for each in readings:
        groups.setdefault(tuple(getattr(each, name) for name in fields), []).append(each)
    return dict(sorted(groups.items()))


def _mean(values: Sequence[float]) -> float | None:
    return round(float(np.mean(values)), 3) if values else None


if __name__ == "__main__":
    run_function(learn)

"""Temperatures, thresholds and shares of mistakes of a state model, on layouts that it did not learn from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from copy import copy
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from nsrecover.core.scene import FloatArray
from nsrecover.domains.household.names import noun
from nsrecover.models.states import StateModel
from nsrecover.perception.states import StateCrops
from train.state_labels import visible_variables

WRONG = 0.01
"""Readings of held-out episodes that are given are wrong at most this often, if that leaves any."""
ENOUGH = 20
"""Held-out frames with a kind that are enough for a threshold of its own."""
_CERTAIN = np.round(np.arange(0.5, 0.991, 0.01), 2)


class Labelled(Protocol):
    """A frame with labels, see `train.states.Example`."""

    @property
    def crops(self) -> StateCrops:
        """Of the objects that have states."""
        ...

    @property
    def labels(self) -> npt.NDArray[np.int64]:
        """(N, variables) index of the value of each variable; -1: none."""
        ...


def calibrated(model: StateModel, examples: Iterable[Labelled]) -> StateModel:
    """The model with temperatures and thresholds, and what was measured on these frames.

    A kind with at least `ENOUGH` of these frames has a threshold of its own; the others share that of the variable.
    """
    every = list(visible_variables())
    found: dict[str, list[tuple[FloatArray, int, str]]] = defaultdict(list)
    for example in tqdm(examples, desc="calibrating", unit="frame"):
        crops = example.crops
        logits = model.logits(crops)
        for row, name in enumerate(crops.names):
            own = np.flatnonzero(crops.owners == row)
            for variable in model.variables_of(name):
                shown = model.showing(variable, crops, own)
                if len(shown):
                    mean = logits[shown][:, model.columns[variable]].mean(axis=0)
                    found[variable].append((mean, int(example.labels[row, every.index(variable)]), noun(name)))
    temperatures: dict[str, float] = {}
    certain: dict[str, float] = {}
    mistakes: dict[str, float] = {}
    shares: dict[str, tuple[float, ...]] = {}
    metrics: dict[str, Any] = {}
    for variable, rows in found.items():
        truth, kinds = np.array([value for _, value, _ in rows]), np.array([kind for _, _, kind in rows])
        known = np.isin(model.config.variables[variable], model.config.values[variable])
        logits = np.where(known, np.stack([mean for mean, _, _ in rows]), -1e9)
        # no temperature makes a value likely that is never read
        can_be_read = known[truth]
        temperatures[variable] = _temperature(logits[can_be_read], truth[can_be_read])
        chances = np.exp(_log_softmax(logits / temperatures[variable]))
        right, sure = chances.argmax(axis=1) == truth, chances.max(axis=1)
        certain[variable] = _certain_from(sure, right)
        limits = np.full(len(truth), certain[variable])
        mistakes[variable] = _mistaken(right[sure >= limits])
        shares[variable] = _mean(chances)
        for kind in model.config.read[variable]:
            own_kind = kinds == kind
            if own_kind.sum() >= ENOUGH:
                certain[f"{variable} {kind}"] = _certain_from(sure[own_kind], right[own_kind])
                limits[own_kind] = certain[f"{variable} {kind}"]
                mistakes[f"{variable} {kind}"] = _mistaken(right[own_kind & (sure >= limits)])
                shares[f"{variable} {kind}"] = _mean(chances[own_kind])
        given = sure >= limits
        metrics[variable] = {
            "frames": len(truth),
            "accuracy": round(float(right.mean()), 4),
            "given": round(float(given.mean()), 4),
            "accuracy_of_given": round(float(right[given].mean()), 4) if given.any() else None,
        }
    other = copy(model)
    other.config = replace(
        model.config,
        temperatures=temperatures,
        certain_from=certain,
        mistakes=mistakes,
        shares=shares,
        metrics={"held_out": metrics},
    )
    return other


def _mean(chances: npt.NDArray[Any]) -> tuple[float, ...]:
    return tuple(round(float(share), 4) for share in chances.mean(axis=0))


def _log_softmax(logits: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    shifted = logits.astype(np.float64) - logits.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def _temperature(logits: npt.NDArray[Any], truth: npt.NDArray[Any]) -> float:
    """The divisor of the logits with the highest likelihood, among 30 from 1 to 10.

    None is below 1: few held-out frames, all of them read rightly, would make every reading look certain.
    """
    rows = np.arange(len(truth))
    options = np.geomspace(1.0, 10.0, 30)
    return round(float(max(options, key=lambda each: _log_softmax(logits / each)[rows, truth].mean())), 3)


def _mistaken(right: npt.NDArray[Any]) -> float:
    """Share of readings that are wrong; a few that are right are no certainty (Laplace)."""
    return round((float((~right).sum()) + 1) / (len(right) + 2), 4)


def _certain_from(sure: npt.NDArray[Any], right: npt.NDArray[Any]) -> float:
    """The lowest probability from which on at most `WRONG` of the readings are wrong; the highest option if none."""
    for option in _CERTAIN:
        given = sure >= option
        if given.any() and (~right[given]).mean() <= WRONG:
            return float(option)
    return float(_CERTAIN[-1])

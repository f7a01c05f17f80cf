"""Split-conformal calibration by class: how rare a surprise is among objects of the same class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nsrecover.models.outcomes.scene import Array

KEPT = 0.25
"""Share of the highest surprises of a class that is kept."""
_TAIL = 0.05
"""Share above which the distribution of surprises is continued as an exponential one."""
_LEAST = 200
"""A class with fewer objects, of which not 10 make its tail, is judged as those of all operators with the same
probability to be affected."""
_EDGES = (0.02, 0.1, 0.5, 0.9)
EVERYTHING = "all"


def classes_of(
    affected: Array, is_target: npt.NDArray[np.bool_], rolls: npt.NDArray[np.bool_], operator: str
) -> list[str]:
    """The class of every object: the operator; the target, or its P(affected) and whether it rolls."""
    bins = np.digitize(affected, _EDGES)
    return [
        f"{operator} target" if target else f"{operator} {'rolling' if roll else 'other'} {number}"
        for target, roll, number in zip(is_target, rolls, bins, strict=True)
    ]


@dataclass(frozen=True)
class ClassCalibration:
    """Surprises of objects in good episodes, by class.

    Attributes:
        highest: class -> the highest surprises, ascending.
        counts: class -> how many there were.
    """

    highest: Mapping[str, tuple[float, ...]]
    counts: Mapping[str, int]

    @classmethod
    def of(cls, surprises: Array, classes: npt.NDArray[np.str_]) -> ClassCalibration:
        """The calibration of some objects (M,) with their classes (M,)."""
        coarse = np.array([_coarse(str(each)) for each in classes])
        groups = {EVERYTHING: surprises}
        for names in (coarse, classes):
            groups |= {str(each): surprises[names == each] for each in np.unique(names)}
        groups = {name: np.sort(found) for name, found in groups.items() if len(found) >= _LEAST or name == EVERYTHING}
        return cls(
            {
                name: tuple(np.round(found[-max(1, int(KEPT * len(found))) :], 4).tolist())
                for name, found in groups.items()
            },
            {name: len(found) for name, found in groups.items()},
        )

    def rarity(self, surprises: Array, classes: npt.NDArray[np.str_]) -> Array:
        """-log P(a good object of the class surprises as much), (M,); at least -log(`KEPT`)."""
        found = np.empty(len(surprises))
        for name in np.unique(classes):
            rows = classes == name
            key = next(each for each in (str(name), _coarse(str(name)), EVERYTHING) if each in self.highest)
            found[rows] = _rarity(np.asarray(self.highest[key]), self.counts[key], surprises[rows])
        return found


def _coarse(name: str) -> str:
    """The class of the objects of all operators, rolling or not."""
    return name.rsplit(" ", 1)[-1]


def _rarity(highest: Array, count: int, surprises: Array) -> Array:
    above = len(highest) - np.searchsorted(highest, surprises, side="left")
    within = -np.log((above + 1) / (count + 1))
    tail = highest[-max(2, int(_TAIL * count)) :]
    scale = max(float((tail - tail[0]).mean()), 1e-6)
    beyond = -np.log(len(tail) / (count + 1)) + (surprises - tail[0]) / scale
    return np.asarray(np.maximum(np.where(surprises > tail[0], beyond, within), -np.log(KEPT)))

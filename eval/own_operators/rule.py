"""The strongest rule by hand: a person looks at the demonstrations and writes down what explains them best.

The person tries every recipe that fits into an afternoon: mean offsets in the table's and in the reference's frame, for
each kind, absolute places, a regression on sizes and places, sides with a gap, and the nearest demonstration; and keeps
the recipe with the smallest error in cross-validation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sim.datasets.own_operators.conventions import Array, Boxes, kind_of
from sim.datasets.own_operators.scenes import Demonstration

PARTS, MOST_M = 5, 0.05
RIDGE = 1e-4


@dataclass(frozen=True)
class Case:
    """Arguments with their boxes before an action."""

    names: tuple[str, ...]
    boxes: Array

    @classmethod
    def of(cls, boxes: Boxes, arguments: Sequence[str]) -> Case:
        """From a scene."""
        return cls(tuple(arguments), np.array([boxes[name] for name in arguments]))

    @property
    def base(self) -> Array:
        """Centre (2,) of what the place is relative to: the second argument, or the object itself."""
        return self.boxes[min(1, len(self.boxes) - 1), :2]

    @property
    def long(self) -> bool:
        """Whether the reference is longer in y."""
        other = self.boxes[min(1, len(self.boxes) - 1)]
        return bool(other[4] > other[3])


Place = Callable[[Case], Array]
"""Case -> centre (2,) afterwards."""
Recipe = Callable[[Sequence[Case], Array, int], Place]
"""Cases, centres (N, 2) afterwards, and number of the variant -> what the person writes."""


def _groups(variant: int, case: Case) -> str:
    names = case.names
    return ("", kind_of(names[0]), kind_of(names[min(1, len(names) - 1)]))[variant]


def _mean_by(cases: Sequence[Case], values: Array, variant: int) -> Callable[[Case], Array]:
    whole, parts = np.median(values, axis=0), dict[str, Array]()
    keys = np.array([_groups(variant, case) for case in cases])
    for key in np.unique(keys):
        parts[str(key)] = np.median(values[keys == key], axis=0)
    return lambda case: parts.get(_groups(variant, case), whole)


def offset(cases: Sequence[Case], after: Array, variant: int) -> Place:
    """The middle offset from the reference, in the table's frame."""
    mean = _mean_by(cases, after - np.array([case.base for case in cases]), variant)
    return lambda case: case.base + mean(case)


def absolute(cases: Sequence[Case], after: Array, variant: int) -> Place:
    """The middle place on the table."""
    return _mean_by(cases, after, variant)


def along(cases: Sequence[Case], after: Array, variant: int) -> Place:
    """The middle offset along and across the reference."""
    away = after - np.array([case.base for case in cases])
    turned = np.array([row[::-1] if case.long else row for row, case in zip(away, cases, strict=True)])
    mean = _mean_by(cases, turned, variant)
    return lambda case: case.base + (mean(case)[::-1] if case.long else mean(case))


def beside(cases: Sequence[Case], after: Array, variant: int) -> Place:
    """On the usual side, face to face with the middle gap, in line with it."""

    def sides(case: Case) -> Array:
        return np.asarray(case.boxes[:2, 3:5].sum(axis=0) / 2)

    away = after - np.array([case.base for case in cases])
    gaps = np.abs(away) - np.array([sides(case) for case in cases])
    axis = np.where(gaps[:, 0] > gaps[:, 1], 0, 1)
    rows = np.arange(len(cases))
    way = 2 * axis + (away[rows, axis] > 0)
    keys = np.array([_groups(variant, case) for case in cases])
    usual = {str(key): int(np.bincount(way[keys == key]).argmax()) for key in np.unique(keys)}
    most = int(np.bincount(way).argmax())
    chosen = np.array([usual[str(key)] for key in keys]) == way
    gap = _mean_by(
        [c for c, good in zip(cases, chosen, strict=True) if good], gaps[rows, axis][chosen][:, None], variant
    )

    def place(case: Case) -> Array:
        number = usual.get(_groups(variant, case), most)
        found, side = case.base.copy(), number // 2
        found[side] += (1 if number % 2 else -1) * (sides(case)[side] + float(gap(case)[0]))
        return found

    return place


def regression(cases: Sequence[Case], after: Array, variant: int) -> Place:
    """Linear regression of the offset on sides, kinds and, as a variant, places."""
    kinds = sorted({kind_of(name) for case in cases for name in case.names[:2]})

    def features(case: Case) -> Array:
        found = [np.ones(1), case.boxes[:, 3:].ravel()]
        if variant:
            found.append((case.boxes[:, :2] - case.base).ravel())
            found.append(np.array([float(kind_of(n) == k) for n in case.names[:2] for k in kinds]))
        if variant == 2:
            found.append(case.boxes[:, :2].ravel())
        return np.concatenate(found)

    design = np.array([features(case) for case in cases])
    target = after - np.array([case.base for case in cases])
    weights = np.linalg.solve(design.T @ design + RIDGE * np.eye(design.shape[1]), design.T @ target)
    return lambda case: case.base + features(case) @ weights


def nearest(cases: Sequence[Case], after: Array, variant: int) -> Place:
    """The offsets of the one, three or seven most similar demonstrations."""
    count = (1, 3, 7)[variant]

    def features(case: Case) -> Array:
        return np.concatenate([case.boxes[:, 3:].ravel() * 10, (case.boxes[:, :2] - case.base).ravel() * 3, case.base])

    known = np.array([features(case) for case in cases])
    away = after - np.array([case.base for case in cases])
    kinds = np.array([[kind_of(name) for name in case.names] for case in cases])

    def place(case: Case) -> Array:
        other = (kinds != np.array([kind_of(name) for name in case.names])).sum(axis=1)
        order = np.argsort(np.linalg.norm(known - features(case), axis=1) + other)
        return np.asarray(case.base + away[order[:count]].mean(axis=0))

    return place


RECIPES: dict[str, Recipe] = {
    "offset": offset, "absolute": absolute, "along": along, "beside": beside, "regression": regression,
    "nearest": nearest,
}  # fmt: skip


@dataclass(frozen=True)
class Rule:
    """What the person wrote: name of the recipe, place, height of the underside, and how the object is turned."""

    name: str
    place: Place
    floor: int
    above_m: float
    turn: int

    def __call__(self, boxes: Boxes, arguments: Sequence[str]) -> Array:
        """The moved object's box (6,) afterwards."""
        case = Case.of(boxes, arguments)
        found: Array = case.boxes[0].copy()
        if _turned(case, self.turn):
            found[3:5] = found[4:2:-1]
        found[:2] = self.place(case)
        found[2] = _floors(case)[self.floor] + self.above_m + found[5] / 2
        return np.asarray(found)


def _floors(case: Case) -> Array:
    other = case.boxes[min(1, len(case.boxes) - 1)]
    return np.array([0.0, other[2] - other[5] / 2, other[2] + other[5] / 2])


def _turned(case: Case, rule: int) -> bool:
    long = bool(case.boxes[0, 4] > case.boxes[0, 3])
    return (False, True, long, not long, long != case.long, long == case.long)[rule]


def write_rule(demonstrations: Sequence[Demonstration]) -> Rule:
    """The recipe with the smallest error in cross-validation."""
    cases = [Case.of(each.before, each.arguments) for each in demonstrations]
    boxes = np.array([each.after[each.arguments[0]] for each in demonstrations])
    after, best = boxes[:, :2], (np.inf, "", 0)
    for name, recipe in RECIPES.items():
        for variant in range(3):
            errors = np.zeros(len(cases))
            for part in range(PARTS):
                held = np.arange(len(cases)) % PARTS == part
                place = recipe([c for c, h in zip(cases, held, strict=True) if not h], after[~held], variant)
                errors[held] = [np.linalg.norm(place(cases[i]) - after[i]) for i in np.flatnonzero(held)]
            best = min(best, (float(np.minimum(errors, MOST_M).mean()), name, variant))
    floors = np.array([_floors(case) for case in cases])
    above = boxes[:, 2, None] - boxes[:, 5, None] / 2 - floors
    floor = int(above.std(axis=0).argmin())
    slender = [i for i, box in enumerate(boxes) if abs(box[3] - box[4]) > 0.01]
    right = [sum(_turned(cases[i], t) == ((boxes[i][4] > boxes[i][3]) != (cases[i].boxes[0, 4] > cases[i].boxes[0, 3]))
             for i in slender) for t in range(6)]  # fmt: skip
    _, name, variant = best
    place = RECIPES[name](cases, after, variant)
    return Rule(f"{name} {variant}", place, floor, float(np.median(above[:, floor])), int(np.argmax(right)))

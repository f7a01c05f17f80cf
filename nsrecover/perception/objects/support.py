"""The place of each visible object from depth and masks: in, on, on top of, or in the gripper.

The relations are those of the household domain: `at`, `atop`, `holding`. They are read off the points of one
observation; what is out of view has no relation here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nsrecover.core import FloatArray, Observation
from nsrecover.domains.household.kinds import Trait, traits_of
from nsrecover.perception.cameras.visibility import readings
from nsrecover.perception.lifting import RULES as LIFTING
from nsrecover.perception.lifting import lift_points
from nsrecover.perception.objects.detections import detected_numbers

AROUND_M = 0.04
"""How far around the footprint of an object the points of what carries it are looked for."""

BELOW_M, ABOVE_M = 0.04, 0.03
"""How far below and above its underside these points lie."""

RIM_M = 0.03
"""How far above the rim of a vessel the underside of what is in it can be seen: only its top may be visible."""

SMALL_M, THIN_M = 0.25, 0.03
"""Places that are smaller and thinner than this, such as burners, are hidden by what stands on them."""

CARRIED_M = 0.10
"""What the fingers should hold is held if they hold something and it has moved so far since it was last seen."""

POINTS = 300
"""Points of an object that are remembered about where it stood."""

EMPTY = 0.5
"""A place is empty if at more than this share of the points that an object had there a camera sees something farther
away, or the place itself: a pan is thin."""

FLOOR = "floor"
"""Place of what lies at z = 0 and has no other place."""


@dataclass(frozen=True, eq=False)
class _Seen:
    """The trimmed points of an object."""

    points: FloatArray
    low: FloatArray
    high: FloatArray

    @property
    def middle(self) -> FloatArray:
        return np.asarray((self.low + self.high) / 2, dtype=np.float32)

    @property
    def size(self) -> FloatArray:
        return self.high - self.low

    @property
    def area(self) -> float:
        return float(np.prod(self.size[:2]))


class SupportRelations:
    """Finds what visible objects are in, on or on top of; remembers where places are that things hide.

    Args:
        traits: name of an object -> its traits, as in the household domain.
    """

    def __init__(self, traits: Callable[[str], Collection[str]] = traits_of) -> None:
        self._traits = traits
        self._small: dict[str, _Seen] = {}
        self._last: dict[str, FloatArray] = {}
        self._carried: str | None = None
        self._stood: dict[str, tuple[str, FloatArray]] = {}

    def fork(self) -> SupportRelations:
        """An independent copy."""
        other = SupportRelations(self._traits)
        other._small, other._last, other._stood = dict(self._small), dict(self._last), dict(self._stood)
        other._carried = self._carried
        return other

    def step(
        self, observation: Observation, expected: Mapping[str, str] | None = None, held: str | None = None
    ) -> dict[str, tuple[str, ...]]:
        """The relation of every visible portable object for which the images show one.

        Args:
            observation: the views; labels are names.
            expected: object -> the place where it should be. It decides only where it has room for one thing and was
                never seen: the object may hide it.
            held: the object that the gripper should hold, or has held; of several that float it is assumed to be the
                one. What is carried along an open cupboard seems to stand in it; that it has moved says that it is
                held.

        Returns:
            Name -> the fact that holds: `("at", name, place)`, `("atop", name, place)` or `("holding", name)`.
        """
        seen = _objects(observation, lambda name: Trait.PORTABLE in self._traits(name))
        carried = [name for name in seen if Trait.PORTABLE in self._traits(name)]
        dishes = [name for name in carried if Trait.DISH in self._traits(name)]
        fixed = [name for name in seen if name not in carried]
        places = [name for name in fixed if {Trait.FLAT, Trait.HOLLOW} & set(self._traits(name))]
        self._small.update({name: seen[name] for name in places if _is_small(seen[name], self._small.get(name))})
        found, floating, grips = dict[str, tuple[str, ...]](), list[str](), observation.holding
        for name in carried:
            moved = name in self._last and float(np.linalg.norm(seen[name].middle - self._last[name])) > CARRIED_M
            stayed, self._last[name] = name in self._last and not moved, seen[name].middle
            if name == held and grips and (moved or name == self._carried):
                floating.append(name)
                continue
            dish = _dish_around(seen, name, [other for other in dishes if other != name])
            # what nothing is put on, such as a stove, is below only if nothing else is
            below = _place_below(seen, name, places) or _place_below(seen, name, fixed, 2 * AROUND_M)
            place = dish or self._hidden_place(seen[name]) or below
            should = (expected or {}).get(name)
            if dish is None and place is not None and should is not None and self._may_be_hidden(should, seen):
                place = should
            if place is None and seen[name].low[2] < BELOW_M:
                place = FLOOR
            if place is None and not grips:
                place = _place_around(seen, name, places)
            if place is None:
                if moved or name == self._carried or not stayed:
                    floating.append(name)
            elif (
                dish is None
                and place in seen
                and Trait.SLOT in self._traits(place)
                and _is_on_top(seen[name], seen[place])
            ):
                found[name] = ("atop", name, place)
            else:
                found[name] = ("at", name, place)
            if place is not None and dish is None:
                self._stood[name] = place, seen[name].points[:: 1 + len(seen[name].points) // POINTS]
        self._carried = None
        if floating and grips:
            self._carried = held if held in floating else floating[0]
            found[self._carried] = ("holding", self._carried)
        return found

    def absent(self, observation: Observation, expected: Mapping[str, str]) -> frozenset[str]:
        """The objects that should be where they were seen last, while their place is in view and empty.

        Args:
            observation: the views; it shows none of the objects.
            expected: object -> the place where it should be.
        """
        return frozenset(
            name
            for name, (place, points) in self._stood.items()
            if expected.get(name) == place and _uncovered(observation, place, points).mean() > EMPTY
        )

    def _may_be_hidden(self, place: str, seen: Mapping[str, _Seen]) -> bool:
        can = self._traits(place)
        return Trait.ONE_PLACE in can and Trait.SLOT not in can and place not in self._small and place not in seen

    def _hidden_place(self, own: _Seen) -> str | None:
        """The small place over which an object stands, which hides it; the nearest to most of its points."""
        under = {
            name: float(np.linalg.norm((np.median(own.points, axis=0) - place.middle)[:2]))
            for name, place in self._small.items()
            if ((place.middle > own.low) & (place.middle < own.high))[:2].all()
            and abs(own.low[2] - place.high[2]) < ABOVE_M
        }
        return min(under, key=lambda name: under[name], default=None)


def _objects(observation: Observation, compact: Callable[[str], bool]) -> dict[str, _Seen]:
    """The objects with enough points, by name; of compact ones only what is connected counts."""
    whole = [number for number, name in observation.labels.items() if compact(name)]
    parts = [lift_points(observation, view, whole) for view in range(len(observation.cameras))]
    points, owners = (np.concatenate([part[field] for part in parts]) for field in (0, 1))
    found = {}
    for number in detected_numbers(observation):
        own = points[owners == number]
        if len(own) >= LIFTING.min_pixels:
            low, high = np.quantile(own, [LIFTING.trim, 1 - LIFTING.trim], axis=0)
            found[observation.labels[number]] = _Seen(own, low.astype(np.float32), high.astype(np.float32))
    return found


def _uncovered(observation: Observation, place: str, points: FloatArray) -> npt.NDArray[np.bool_]:
    """Whether a camera sees through each of some points (M, 3), or the place itself there: (M,)."""
    numbers = [number for number, name in observation.labels.items() if name == place]
    found = np.zeros(len(points), np.bool_)
    for view in range(len(observation.cameras)):
        seen = readings(observation, view, points)
        found |= seen.through | (seen.fits & np.isin(seen.instances, numbers))
    return found


def _is_small(now: _Seen, before: _Seen | None) -> bool:
    """Whether a place is flat and as small as a dish, and is seen at least as well as before."""
    as_well = before is None or len(now.points) >= len(before.points)
    return bool(now.size[2] < THIN_M and now.size[:2].max() < SMALL_M and as_well)


def _is_on_top(own: _Seen, place: _Seen) -> bool:
    """Whether an object merely lies on top of a place: above it, and not on edge, as what sticks in a slit."""
    on_edge = own.size[:2].min() < min(own.size[2], THIN_M)
    return bool(own.middle[2] > place.high[2]) and not on_edge


def _dish_around(seen: Mapping[str, _Seen], name: str, dishes: Collection[str]) -> str | None:
    """The smallest dish whose outline surrounds an object, and whose inside it reaches."""
    own = seen[name]
    around = [
        dish
        for dish in dishes
        if (np.abs(own.middle - seen[dish].middle)[:2] < seen[dish].size[:2] / 2).all()
        and seen[dish].low[2] - BELOW_M < own.low[2] < seen[dish].high[2] + RIM_M
        and own.area < seen[dish].area
    ]
    return min(around, key=lambda dish: seen[dish].area, default=None)


def _place_around(seen: Mapping[str, _Seen], name: str, places: Collection[str]) -> str | None:
    """The smallest place over which an object seems to float: it stands there on something that it hides."""
    middle = seen[name].middle
    around = [
        place
        for place in places
        if (np.abs(middle - seen[place].middle)[:2] < seen[place].size[:2] / 2).all()
        and seen[place].low[2] < seen[name].low[2]
    ]
    return min(around, key=lambda place: seen[place].area, default=None)


def _place_below(
    seen: Mapping[str, _Seen], name: str, places: Collection[str], around_m: float = AROUND_M
) -> str | None:
    """The place of which most points lie around the foot of an object."""
    own = seen[name]
    low = own.low - [around_m, around_m, BELOW_M]
    high = np.append(own.high[:2] + around_m, own.low[2] + ABOVE_M)
    votes = {
        place: np.count_nonzero(((seen[place].points >= low) & (seen[place].points <= high)).all(axis=1))
        for place in places
    }
    place = max(votes, key=lambda each: votes[each], default=None)
    return place if place is not None and votes[place] >= LIFTING.min_pixels else None

"""Scene graphs: names, boxes and appearance of the objects of a scene."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from nsrecover.core.names import problem_of
from nsrecover.errors import InvalidObservation, UnknownObject, did_you_mean
from nsrecover.util.python310 import StrEnum

FloatArray = npt.NDArray[np.float32]
Box = tuple[float, float, float, float, float, float]
"""Axis-aligned box: centre x, y, z and size x, y, z, in metres."""
ObjectStates = Mapping[str, Mapping[str, float]]
"""State variable -> probability of each value, the normal value first; no values: it cannot be seen now."""


class Visibility(StrEnum):
    """Whether an object is visible, and if not, what is known of its place."""

    SEEN = "seen"
    """It is visible."""
    OCCLUDED = "occluded"
    """It is not visible; something stands in front of its place."""
    UNKNOWN = "unknown"
    """It is not visible although its place is in view and not empty: its mask may be missing."""
    MISSING = "missing"
    """It is not visible, and its place is empty."""


@lru_cache(maxsize=1024)
def check_names(names: tuple[str, ...]) -> None:
    """Check the names of the objects of a scene.

    Raises:
        InvalidObservation: two are equal, or one cannot be used, see `nsrecover.core.names`.
    """
    if len(set(names)) != len(names):
        raise InvalidObservation(f"expected different object names, found {list(names)}")
    for name in names:
        if problem := problem_of(name):
            raise InvalidObservation(
                f"expected object names of {problem}, found {name!r}; rename the object, for instance with "
                "nsrecover.core.names.plain_name"
            )


@dataclass(frozen=True, eq=False)
class SceneGraph:
    """A complete directed graph over the objects of a scene (Kalithasan et al., section IV-A).

    Attributes:
        names: N object names; the order of every other field.
        visual: (N, D) appearance features, unit length.
        boxes: (N, 6) centre and size, metres.
        seen: (N,) whether the object was visible; a remembered object is not.
        occluded: (N,) whether an invisible object may be in its remembered place, behind another object.
        held: index of the object in the gripper, if any.
        states: object name -> probabilities of the values of its state variables, for objects that have some.
        unknown: (N,) whether an invisible object may be in its remembered place, in view, without a mask.
        oriented: (N, 7) quaternion x, y, z, w and size along the object's own axes, metres; NaN for those that are not
            known.
    """

    names: tuple[str, ...]
    visual: FloatArray
    boxes: FloatArray
    seen: npt.NDArray[np.bool_]
    occluded: npt.NDArray[np.bool_] | None = None
    held: int | None = None
    states: Mapping[str, ObjectStates] = field(default_factory=dict)
    unknown: npt.NDArray[np.bool_] | None = None
    oriented: FloatArray | None = None

    def __post_init__(self) -> None:
        n = len(self.names)
        check_names(self.names)
        for label, flags in (("occluded", self.occluded), ("unknown", self.unknown)):
            if flags is not None and np.shape(flags) != (n,):
                raise InvalidObservation(f"expected {label} ({n},) for {n} names, found {np.shape(flags)}")
        if self.oriented is not None and np.shape(self.oriented) != (n, 7):
            raise InvalidObservation(f"expected oriented ({n}, 7) for {n} names, found {np.shape(self.oriented)}")
        if self.visual.ndim != 2 or len(self.visual) != n or self.boxes.shape != (n, 6) or self.seen.shape != (n,):
            raise InvalidObservation(
                f"expected visual ({n}, D), boxes ({n}, 6) and seen ({n},) for {n} names, found "
                f"{self.visual.shape}, {self.boxes.shape} and {self.seen.shape}"
            )

    def __len__(self) -> int:
        return len(self.names)

    def index(self, name: str) -> int:
        """Position of an object.

        Raises:
            UnknownObject: the name is not in the scene.
        """
        try:
            return self.names.index(name)
        except ValueError:
            raise UnknownObject(
                f"expected an object of the scene, found {name!r}.{did_you_mean(name, self.names)}"
            ) from None

    @property
    def missing(self) -> npt.NDArray[np.bool_]:
        """(N,) objects that are not visible and not in their remembered places, which are visibly empty."""
        gone = ~self.seen
        for may_be_there in (self.occluded, self.unknown):
            if may_be_there is not None:
                gone = gone & ~may_be_there
        return gone

    def visibility(self, index: int) -> Visibility:
        """Whether an object is visible, and if not, what is known of its place."""
        if self.seen[index]:
            return Visibility.SEEN
        if self.missing[index]:
            return Visibility.MISSING
        in_view = self.unknown is not None and bool(self.unknown[index])
        return Visibility.UNKNOWN if in_view else Visibility.OCCLUDED

    def value(self, name: str, variable: str, at_least: float = 0.5) -> str | None:
        """The value of an object's state variable that has at least this probability; None if it is not known."""
        chances = self.states.get(name, {}).get(variable, {})
        best = max(chances, key=lambda value: chances[value], default=None)
        return best if best is not None and chances[best] >= at_least else None

    def unusual(self, name: str) -> tuple[str, ...]:
        """The values of an object's state variables that are known and differ from the normal ones."""
        found = ((self.value(name, variable), chances) for variable, chances in self.states.get(name, {}).items())
        return tuple(value for value, chances in found if value is not None and value != next(iter(chances)))

    def with_objects_of(self, other: SceneGraph) -> SceneGraph:
        """A copy with the objects that only another scene has, as they are there."""
        new = [i for i, name in enumerate(other.names) if name not in self.names]
        if not new:
            return self
        return replace(
            self,
            names=self.names + tuple(other.names[i] for i in new),
            visual=np.concatenate([self.visual, other.visual[new]]),
            boxes=np.concatenate([self.boxes, other.boxes[new]]),
            seen=np.concatenate([self.seen, other.seen[new]]),
            occluded=np.concatenate([_flags(self.occluded, self), _flags(other.occluded, other)[new]]),
            unknown=np.concatenate([_flags(self.unknown, self), _flags(other.unknown, other)[new]]),
            states={**{name: other.states[name] for name in other.states if name not in self.names}, **self.states},
            oriented=_both_oriented(self, other, new),
        )

    def without(self, names: Collection[str]) -> SceneGraph:
        """A copy without some objects."""
        return self.chosen([name for name in self.names if name not in names])

    def chosen(self, names: Sequence[str]) -> SceneGraph:
        """A copy with some objects, in a given order.

        Raises:
            UnknownObject: a name is not in the scene.
        """
        if tuple(names) == self.names:
            return self
        rows = [self.index(name) for name in names]
        return replace(
            self,
            names=tuple(names),
            visual=self.visual[rows],
            boxes=self.boxes[rows],
            seen=self.seen[rows],
            occluded=None if self.occluded is None else self.occluded[rows],
            unknown=None if self.unknown is None else self.unknown[rows],
            held=None if self.held not in rows else rows.index(self.held),
            states={name: state for name, state in self.states.items() if name in names},
            oriented=None if self.oriented is None else self.oriented[rows],
        )

    def with_node(self, index: int, box: npt.ArrayLike, visual: npt.ArrayLike | None = None) -> SceneGraph:
        """A copy in which one object has another box, and another appearance if one is given."""
        boxes = self.boxes.copy()
        boxes[index] = box
        features = self.visual
        if visual is not None:
            features = self.visual.copy()
            features[index] = visual
        return replace(self, boxes=boxes, visual=features)

    def doubted(self, names: Collection[str]) -> SceneGraph:
        """A copy in which some objects count as not seen, and may be in their places."""
        doubtful = np.array([name in names for name in self.names], np.bool_)
        occluded, unknown = _flags(self.occluded, self), _flags(self.unknown, self)
        return replace(self, seen=self.seen & ~doubtful, occluded=occluded & ~doubtful, unknown=unknown | doubtful)

    def with_nodes_of(self, other: SceneGraph, names: Collection[str]) -> SceneGraph:
        """A copy in which some objects are as in another scene: place, appearance and visibility.

        Objects that one of the two scenes does not have stay as they are.
        """
        pairs = [
            (row, other.index(name)) for row, name in enumerate(self.names) if name in names and name in other.names
        ]
        if not pairs:
            return self
        rows, theirs = (list(column) for column in zip(*pairs, strict=True))
        visual, boxes, seen = self.visual.copy(), self.boxes.copy(), self.seen.copy()
        visual[rows], boxes[rows], seen[rows] = other.visual[theirs], other.boxes[theirs], other.seen[theirs]
        occluded, unknown = _flags(self.occluded, self).copy(), _flags(self.unknown, self).copy()
        occluded[rows] = _flags(other.occluded, other)[theirs]
        unknown[rows] = _flags(other.unknown, other)[theirs]
        return replace(self, visual=visual, boxes=boxes, seen=seen, occluded=occluded, unknown=unknown)


def _both_oriented(graph: SceneGraph, other: SceneGraph, rows: Sequence[int]) -> FloatArray | None:
    """Orientations of the objects of a scene and of some rows of another one; None if neither has any."""
    if graph.oriented is None and other.oriented is None:
        return None
    own, theirs = (
        np.full((len(each), 7), np.nan, np.float32) if each.oriented is None else each.oriented
        for each in (graph, other)
    )
    return np.concatenate([own, theirs[list(rows)]])


def _flags(flags: npt.NDArray[np.bool_] | None, graph: SceneGraph) -> npt.NDArray[np.bool_]:
    """Flags (N,) of a scene's objects; none of them set if there are none."""
    return np.zeros(len(graph), np.bool_) if flags is None else flags


if TYPE_CHECKING:
    from typing_extensions import TypeVar

    SceneT = TypeVar("SceneT", default=SceneGraph)
    SceneT_co = TypeVar("SceneT_co", covariant=True, default=SceneGraph)
else:
    from typing import TypeVar

    SceneT = TypeVar("SceneT")
    SceneT_co = TypeVar("SceneT_co", covariant=True)

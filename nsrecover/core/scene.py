"""Scene graphs: names, boxes and appearance of the objects of a scene."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from nsrecover.errors import InvalidObservation, UnknownObject, did_you_mean

FloatArray = npt.NDArray[np.float32]
Box = tuple[float, float, float, float, float, float]
"""Axis-aligned box: centre x, y, z and size x, y, z, in metres."""


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
        states: object name -> state, for objects that have one.
    """

    names: tuple[str, ...]
    visual: FloatArray
    boxes: FloatArray
    seen: npt.NDArray[np.bool_]
    occluded: npt.NDArray[np.bool_] | None = None
    held: int | None = None
    states: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n = len(self.names)
        if len(set(self.names)) != n:
            raise InvalidObservation(f"expected different object names, found {list(self.names)}")
        if self.occluded is not None and np.shape(self.occluded) != (n,):
            raise InvalidObservation(f"expected occluded ({n},) for {n} names, found {np.shape(self.occluded)}")
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
        """(N,) objects that are neither visible nor occluded in their place; their places are unknown."""
        gone = ~self.seen
        return gone if self.occluded is None else gone & ~self.occluded

    def with_objects_of(self, other: SceneGraph) -> SceneGraph:
        """A copy with the objects that only another scene has, as they are there."""
        new = [i for i, name in enumerate(other.names) if name not in self.names]
        if not new:
            return self
        occluded = [
            np.zeros(len(graph), np.bool_) if graph.occluded is None else graph.occluded for graph in (self, other)
        ]
        return replace(
            self,
            names=self.names + tuple(other.names[i] for i in new),
            visual=np.concatenate([self.visual, other.visual[new]]),
            boxes=np.concatenate([self.boxes, other.boxes[new]]),
            seen=np.concatenate([self.seen, other.seen[new]]),
            occluded=np.concatenate([occluded[0], occluded[1][new]]),
            states={**{name: other.states[name] for name in other.states if name not in self.names}, **self.states},
        )

    def without(self, names: Collection[str]) -> SceneGraph:
        """A copy without some objects."""
        kept = [i for i, name in enumerate(self.names) if name not in names]
        if len(kept) == len(self.names):
            return self
        return replace(
            self,
            names=tuple(self.names[i] for i in kept),
            visual=self.visual[kept],
            boxes=self.boxes[kept],
            seen=self.seen[kept],
            occluded=None if self.occluded is None else self.occluded[kept],
            held=None if self.held not in kept else kept.index(self.held),
            states={name: state for name, state in self.states.items() if name not in names},
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

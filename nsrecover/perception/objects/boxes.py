"""Perceiver for boxes by name, or whole scene graphs, from an external perception system."""

from __future__ import annotations

import copy
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from nsrecover.core.entrance import check_frame, check_kind
from nsrecover.core.protocols import NOTHING_REPORTED, Reported
from nsrecover.core.scene import SceneGraph, Visibility
from nsrecover.errors import InvalidObservation

Boxes = Mapping[str, npt.ArrayLike | None]
"""Name -> box (6,), centre and size in metres; None: not visible, but possibly still in its place."""

Given = SceneGraph | Boxes
"""What an external perception system hands in."""


def scene_of_boxes(boxes: Boxes) -> SceneGraph:
    """A scene graph without appearance.

    Args:
        boxes: name -> centre x, y, z and size x, y, z, metres (robot's frame, z up, the table's top at z = 0), or None.

    Raises:
        InvalidObservation: there is no object, or a box is not six finite numbers with sizes that are not negative.
    """
    check_kind(boxes, Mapping, "boxes by name or a scene graph")
    if not boxes:
        raise InvalidObservation("expected a box for at least one object, found none; check the detector")
    rows = np.zeros((len(boxes), 6), dtype=np.float32)
    there = np.array([box is not None for box in boxes.values()])
    for row, (name, box) in enumerate(boxes.items()):
        if box is None:
            continue
        try:
            array = np.asarray([] if _no_numbers(box) else box, dtype=np.float32)
        except (TypeError, ValueError):
            array = np.zeros(0, dtype=np.float32)
        if array.shape != (6,) or not np.isfinite(array).all() or (array[3:] < 0).any():
            raise InvalidObservation(
                f"expected a box of {name!r} as centre x, y, z and size x, y, z in metres, found {box!r}; "
                "for an object that cannot be seen now give None"
            )
        rows[row] = array
    return SceneGraph(tuple(boxes), np.zeros((len(boxes), 0), np.float32), rows, there, ~there)


def _no_numbers(box: npt.ArrayLike) -> bool:
    """Whether a box has truth values or texts, which NumPy takes for numbers."""
    given = np.asarray(box)
    return given.dtype.kind not in "iuf" or (isinstance(box, list | tuple) and any(isinstance(v, bool) for v in box))


class BoxesPerceiver:
    """Brings external scenes into one order of objects and keeps occluded objects (protocol `Perceiver`).

    Names are trusted. A known object that is not mentioned is missing. An object whose box is None, or that is occluded
    in a scene graph, is assumed to be where it is expected. One perceiver belongs to one episode.
    """

    def __init__(self) -> None:
        self._last: SceneGraph | None = None

    @property
    def reported(self) -> Reported:
        """Nothing."""
        return NOTHING_REPORTED

    def fork(self) -> BoxesPerceiver:
        """An independent copy of the perceiver with the same memory."""
        return copy.copy(self)

    def reset(self, observation: Given) -> SceneGraph:
        """The first scene of an episode; arguments and errors as for `step`."""
        self._last = None
        first = self.step(observation)
        check_frame(first)
        return first

    def step(self, observation: Given, expected: SceneGraph | None = None) -> SceneGraph:
        """The scene as it is now: the known objects in the order in which they were first seen, then the new ones.

        Args:
            observation: boxes by name, or a scene graph with objects in any order.
            expected: how the scene should be; says where an occluded object is assumed to be.

        Raises:
            InvalidObservation: a box is malformed, or appearance features have another length than before.
        """
        return self(observation, expected)

    def __call__(self, observation: Given, expected: SceneGraph | None = None) -> SceneGraph:
        """Same as `step`."""
        now = observation if isinstance(observation, SceneGraph) else scene_of_boxes(observation)
        if self._last is not None:
            now = _continued(self._last, now, expected)
        self._last = now
        return now


def _continued(last: SceneGraph, now: SceneGraph, expected: SceneGraph | None) -> SceneGraph:
    """What is seen now, for all objects that are known and then those that are new."""
    if now.visual.shape[1] != last.visual.shape[1]:
        raise InvalidObservation(
            f"expected appearance features of length {last.visual.shape[1]}, as at first, found {now.visual.shape[1]}"
        )
    known = last.with_objects_of(now)
    boxes, visual = known.boxes.copy(), known.visual.copy()
    seen, occluded, unknown = np.zeros((3, len(known)), np.bool_)
    for row, name in enumerate(known.names):
        if name not in now.names:
            continue
        i = now.index(name)
        seen[row] = now.seen[i]
        occluded[row] = now.visibility(i) is Visibility.OCCLUDED
        unknown[row] = now.visibility(i) is Visibility.UNKNOWN
        may_be_there = occluded[row] or unknown[row]
        if seen[row] or (may_be_there and now.boxes[i, 3:].any()):
            boxes[row], visual[row] = now.boxes[i], now.visual[i]
        elif may_be_there and expected is not None and name in expected.names:
            boxes[row] = expected.boxes[expected.index(name)]
    held = None if now.held is None else known.index(now.names[now.held])
    return SceneGraph(known.names, visual, boxes, seen, occluded, held, {**known.states, **now.states}, unknown)

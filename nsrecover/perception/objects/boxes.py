"""Perceiver for boxes by name, or whole scene graphs, from an external perception system."""

from __future__ import annotations

import copy
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from nsrecover.core.discrepancy import Cause
from nsrecover.core.entrance import check_frame, check_kind
from nsrecover.core.protocols import Reported
from nsrecover.core.scene import FloatArray, SceneGraph, Visibility
from nsrecover.errors import InvalidObservation
from nsrecover.perception.objects.orientations import changed_stance, rotation_of

Boxes = Mapping[str, npt.ArrayLike | None]
"""Name -> centre and size (6,), metres; with the turn about the vertical (7,), radians; or with a quaternion
x, y, z, w (10,), and then with the size along its own axes. None: not visible, but possibly still in its place."""

MOVED_M = 0.01
"""An object that is expected this far from where it was is moved by the action."""

Given = SceneGraph | Boxes
"""What an external perception system hands in."""


def scene_of_boxes(boxes: Boxes) -> SceneGraph:
    """A scene graph without appearance.

    Args:
        boxes: name -> centre x, y, z and size x, y, z, metres (robot's frame, z up, the table's top at z = 0), if it is
            known with the turn about the vertical, radians, or a quaternion x, y, z, w; or None. The box in the graph
            encloses one with an orientation.

    Raises:
        InvalidObservation: there is no object, or a box is not six, seven or ten finite numbers with sizes that are not
            negative.
    """
    check_kind(boxes, Mapping, "boxes by name or a scene graph")
    if not boxes:
        raise InvalidObservation("expected a box for at least one object, found none; check the detector")
    rows = np.zeros((len(boxes), 6), dtype=np.float32)
    oriented = np.full((len(boxes), 7), np.nan, np.float32)
    there = np.array([box is not None for box in boxes.values()])
    for row, (name, box) in enumerate(boxes.items()):
        if box is not None:
            rows[row], oriented[row] = oriented_box(name, box)
    appearance = np.zeros((len(boxes), 0), np.float32)
    known = None if np.isnan(oriented).all() else oriented
    names = tuple(str(name) if isinstance(name, str) else name for name in boxes)  # no np.str_ in messages
    return SceneGraph(names, appearance, rows, there, ~there, oriented=known)


def oriented_box(name: str, box: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """The axis-aligned box (6,) around a given one of 6, 7 or 10 numbers, and its quaternion and size (7,), NaN for 6.

    Raises:
        InvalidObservation: the box is not as `scene_of_boxes` takes it.
    """
    try:
        given = np.asarray([] if _no_numbers(box) else box, dtype=np.float32)
    except (TypeError, ValueError):
        given = np.zeros(0, dtype=np.float32)
    shaped = given.shape in ((6,), (7,), (10,)) and np.isfinite(given).all() and not (given[3:6] < 0).any()
    if not shaped or (len(given) == 10 and np.linalg.norm(given[6:]) < 1e-3):
        raise InvalidObservation(
            f"expected a box of {name!r} as centre x, y, z and size x, y, z in metres, then its turn about the "
            f"vertical in radians or its quaternion x, y, z, w if one is known, found {box!r}; for an object that "
            "cannot be seen now give None"
        )
    if len(given) == 6:
        return given, np.full(7, np.nan, np.float32)
    quaternion = (0.0, 0.0, np.sin(given[6] / 2), np.cos(given[6] / 2)) if len(given) == 7 else given[6:]
    around = np.concatenate([given[:3], np.abs(rotation_of(np.array(quaternion))) @ given[3:6]]).astype(np.float32)
    return around, np.concatenate([quaternion, given[3:6]]).astype(np.float32)


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
        self._stood: Mapping[str, tuple[FloatArray, FloatArray]] = {}
        """Name -> orientation and size at first, and as it was last put down."""
        self._posed: Mapping[str, Cause] = {}

    @property
    def reported(self) -> Reported:
        """Objects that do not stand as they did, where boxes have orientations."""
        return Reported(posed=self._posed)

    def fork(self) -> BoxesPerceiver:
        """An independent copy of the perceiver with the same memory."""
        return copy.copy(self)

    def reset(self, observation: Given) -> SceneGraph:
        """The first scene of an episode; arguments and errors as for `step`."""
        self._last, self._stood = None, {}
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
            check_frame(now, first=False)
            now = _continued(self._last, now, expected)
        self._judge_orientations(now, expected)
        self._last = now
        return now

    def _judge_orientations(self, now: SceneGraph, expected: SceneGraph | None) -> None:
        """Note which objects do not stand as they did, and how they stand."""
        posed, stood = dict[str, Cause](), dict(self._stood)
        for row, oriented in enumerate(now.oriented if now.oriented is not None else ()):
            if not now.seen[row] or np.isnan(oriented).any():
                continue
            name = now.names[row]
            first, last = self._stood.get(name, (oriented, oriented))
            placed = self._last is not None and _moves(name, self._last, expected)
            # an action may set upright what had fallen: what it has put down is to stand as at first
            cause = changed_stance(first if placed else last, oriented, placed)
            posed |= {} if cause is None else {name: cause}
            stood[name] = first, oriented if placed or cause is not None else last
        self._posed, self._stood = posed, stood


def _moves(name: str, last: SceneGraph, expected: SceneGraph | None) -> bool:
    """Whether an object is expected elsewhere than it was."""
    if expected is None or name not in last.names or name not in expected.names:
        return False
    way = expected.boxes[expected.index(name), :3] - last.boxes[last.index(name), :3]
    return bool(np.linalg.norm(way) > MOVED_M)


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
    oriented = None
    if now.oriented is not None:
        oriented = np.full((len(known), 7), np.nan, np.float32)
        oriented[[known.index(name) for name in now.names]] = now.oriented
    states = {**known.states, **now.states}
    return SceneGraph(known.names, visual, boxes, seen, occluded, held, states, unknown, oriented)

"""Observations with their objects lifted to boxes, and the differences between two of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from nsrecover.core import FloatArray, Observation, SceneGraph
from nsrecover.perception.cameras.visibility import seen_through
from nsrecover.perception.lifting import RULES as LIFTING
from nsrecover.perception.objects.detections import lift_boxes
from nsrecover.perception.objects.memory import Memory, inside


@dataclass(frozen=True, eq=False)
class LiftedObservation:
    """An observation and the boxes of its objects.

    Attributes:
        observation: the observation of the world.
        boxes: name of every visible object -> box (6,).
        digest: hash of the observation, to notice later changes.
    """

    observation: Observation
    boxes: dict[str, FloatArray]
    digest: str

    @property
    def names(self) -> tuple[str, ...]:
        """The visible objects."""
        return tuple(self.boxes)

    def only(self, kept: Callable[[str], bool]) -> LiftedObservation:
        """The same with some of the objects only; the others are background."""
        if all(map(kept, self.observation.labels.values())):
            return self
        labels = {number: name for number, name in self.observation.labels.items() if kept(name)}
        instances = np.where(np.isin(self.observation.instances, list(labels)), self.observation.instances, 0)
        boxes = {name: box for name, box in self.boxes.items() if kept(name)}
        return LiftedObservation(replace(self.observation, labels=labels, instances=instances), boxes, self.digest)

    def mask(self, view: int, name: str) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """Return the mask (H, W) of an object in a view; empty if it has no label."""
        numbers = [number for number, label in self.observation.labels.items() if label == name]
        return np.isin(self.observation.instances[view], numbers)


def lift(observation: Observation) -> LiftedObservation:
    """Lift the objects of an observation to boxes."""
    numbers = sorted(observation.labels)
    boxes, seen = lift_boxes(observation, numbers)
    found = {observation.labels[number]: boxes[i] for i, number in enumerate(numbers) if seen[i]}
    return LiftedObservation(observation, found, digest(observation))


def digest(observation: Observation) -> str:
    """Return a hash of the images, audio, labels and cameras of an observation."""
    hashed = hashlib.sha256()
    arrays = [observation.rgb, observation.depth_m, observation.instances]
    arrays += [part for camera in observation.cameras for part in (camera.intrinsics, camera.world_from_camera)]
    arrays += [] if observation.audio is None else [observation.audio]
    for array in arrays:
        hashed.update(np.ascontiguousarray(array).tobytes())
    hashed.update(repr((sorted(observation.labels.items()), observation.time_s)).encode())
    return hashed.hexdigest()


def graph_of(lifted: LiftedObservation, before: LiftedObservation | None = None) -> SceneGraph:
    """Return a scene graph without appearance; occluded objects keep their earlier box, if `before` is given."""
    known = lifted if before is None else before
    memory = Memory.empty(0).add(known.names, *_detections(known))
    if before is not None:
        rows = [lifted.names.index(name) if name in lifted.names else -1 for name in memory.names]
        visibility = partial(seen_through, lifted.observation)
        memory = memory.look(*_detections(lifted), np.array(rows, dtype=np.intp), visibility)
    return memory.graph()


def _detections(lifted: LiftedObservation) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return boxes (N, 6), features (N, 0) and weights (N,) of the visible objects."""
    count, boxes = len(lifted.names), [lifted.boxes[name] for name in lifted.names]
    stacked = np.asarray(boxes, dtype=np.float32).reshape(-1, 6)
    return stacked, np.zeros((count, 0), np.float32), np.ones(count, np.float32)


def renamed(before: LiftedObservation, after: LiftedObservation, tolerance_m: float, but: Collection[str] = ()) -> str:
    """Return which object now has the name of another one; empty if none has."""
    for name, box in before.boxes.items():
        if name in but or (name in after.boxes and _apart(box, after.boxes[name]) <= tolerance_m):
            continue
        for other, now in after.boxes.items():
            came = other not in before.boxes or _apart(before.boxes[other], now) > tolerance_m
            same_size = float(np.abs(box[3:] - now[3:]).max()) <= tolerance_m
            if other != name and came and same_size and _apart(box, now) <= tolerance_m:
                return f"{name!r} called {other!r} afterwards"
    return ""


def lost(before: LiftedObservation, after: LiftedObservation, but: Collection[str] = ()) -> list[str]:
    """Return the objects that were visible and no longer are."""
    return [name for name in before.boxes if name not in after.boxes and name not in but]


def shifted(
    before: LiftedObservation, after: LiftedObservation, tolerance_m: float, but: Collection[str] = ()
) -> list[str]:
    """Return descriptions of the objects that are at another place; partial occlusion does not count."""
    names = [name for name in before.boxes if name in after.boxes and name not in but]
    if not names:
        return []
    then, now = (np.stack([each.boxes[name] for name in names]) for each in (before, after))
    # A partly occluded object is unmoved if its visible part lies inside its whole box.
    same = [inside(a, b) or inside(b, a) for a, b in zip(then, now, strict=True)]
    apart = np.where(same, 0.0, np.linalg.norm(now[:, :3] - then[:, :3], axis=1))
    return [f"{name!r} {1000 * off:.0f} mm off" for name, off in zip(names, apart, strict=True) if off > tolerance_m]


def displaced(
    before: LiftedObservation, after: LiftedObservation, tolerance_m: float, but: Collection[str] = ()
) -> list[str]:
    """Like `shifted`, if the cameras moved in between: other sides of an object are seen, which overlap at least."""
    found = []
    for name, box in before.boxes.items():
        if name in but or name not in after.boxes:
            continue
        now = after.boxes[name]
        apart = np.abs(now[:3] - box[:3]) - (box[3:] + now[3:]) / 4
        if float(apart.max()) > tolerance_m:
            found.append(f"{name!r} {1000 * _apart(box, now):.0f} mm off")
    return found


def covered(before: LiftedObservation, after: LiftedObservation, but: Collection[str] = ()) -> dict[str, float]:
    """Return the share of each object's pixels that something other than an object occludes, in the worst view."""
    shares: dict[str, float] = {}
    for view in range(len(before.observation.cameras)):
        depth, now = before.observation.depth_m[view], after.observation.depth_m[view]
        nearer = (after.observation.instances[view] == 0) & (now > 0) & (now < depth - 0.02)
        for name in before.boxes:
            mask = before.mask(view, name)
            if name not in but and mask.sum() >= LIFTING.min_pixels:
                shares[name] = max(shares.get(name, 0.0), float((nearer & mask).sum() / mask.sum()))
    return shares


def _apart(first: FloatArray, second: FloatArray) -> float:
    return float(np.linalg.norm(first[:3] - second[:3]))

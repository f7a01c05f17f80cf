"""Whether the cameras see through a place, or something is there, or stands in front of it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nsrecover.core import FloatArray, Observation, Unseen, UnseenReason


@dataclass(frozen=True)
class VisibilityRules:
    """When a camera shows that a place is empty, or not.

    Attributes:
        depth_slack_m: minimum distance of a reading behind a surface that proves the surface absent.
        tolerated: share of a box's surface that may be seen through by mistake, at its edges.
        in_view: share of the samples of a surface that must have the right depth, or no reading, to count as in view.
        uncertain_m: how far the centres of objects may be off along the line of sight, metres, if all cameras look from
            one side, as far sides have no depth.
        uncertain_share: the same as a share of the longer horizontal side, which is added.
    """

    depth_slack_m: float = 0.012
    tolerated: float = 0.15
    in_view: float = 0.25
    uncertain_m: float = 0.006
    uncertain_share: float = 0.1


RULES = VisibilityRules()


_INSET = 0.8
"""The samples lie on a box that is smaller by this factor: near an edge, rays pass by an object that is slightly turned
or measured slightly too large."""

_GRID = 6


def _face_samples() -> FloatArray:
    """Points (5 * _GRID^2, 3) on the top and the four sides of a box a little smaller than that from -1/2 to 1/2."""
    line = np.linspace(-_INSET / 2, _INSET / 2, _GRID)
    a, b = (part.ravel() for part in np.meshgrid(line, line, indexing="ij"))
    half = np.full_like(a, _INSET / 2)
    faces = [(a, b, half), (half, a, b), (-half, a, b), (a, half, b), (a, -half, b)]
    return np.concatenate([np.stack(face, axis=1) for face in faces]).astype(np.float32)


_SAMPLES = _face_samples()
_NORMALS = np.array([[0, 0, 1], [1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]], dtype=np.float32)
"""(5, 3) outward normal of each face that the samples lie on."""


def seen_through(observation: Observation, boxes: FloatArray) -> FloatArray:
    """Share of the surface of each box at which a camera sees something farther away, so that no such object is there.

    A surface point behind something nearer, or outside every image, counts as not seen through.

    Args:
        observation: the views.
        boxes: (C, 6).

    Returns:
        (C,) in 0..1; 0 where no camera contradicts a box.
    """
    points = boxes[:, None, :3] + _SAMPLES * boxes[:, None, 3:]  # (C, S, 3)
    return np.asarray(sees_through(observation, points).mean(axis=1), dtype=np.float32)


def sees_through(observation: Observation, points: FloatArray) -> npt.NDArray[np.bool_]:
    """Whether a camera sees something farther away at each of some points (..., 3): (...,)."""
    empty = np.zeros(points.shape[:-1], dtype=np.bool_)
    for view in range(len(observation.cameras)):
        empty |= readings(observation, view, points).through
    return empty


def one_sided(observation: Observation) -> bool:
    """Whether all cameras look in nearly the same horizontal direction, less than a right angle apart."""
    ahead = np.array([camera.world_from_camera[:2, 2] for camera in observation.cameras])
    return bool((ahead @ ahead.T).min() > 0)


def uncertain_m(boxes: FloatArray) -> FloatArray:
    """How far the centres of boxes (N, 6) of objects that are seen from one side may be off along it: (N,), metres."""
    return np.asarray(RULES.uncertain_m + RULES.uncertain_share * boxes[:, 3:5].max(axis=1), np.float32)


def visibly_empty(observation: Observation, boxes: FloatArray) -> npt.NDArray[np.bool_]:
    """Whether the cameras show that no object is in each of some places (C, 6) where none is detected: (C,).

    They do if they see through the surface that an object would have there, and do not see as much of that surface:
    of an object that is mostly occluded little is seen, and its box is a little wrong.
    """
    empty = seen_through(observation, boxes) >= RULES.tolerated
    for row in np.flatnonzero(empty):
        faces = faces_in_view(observation, boxes[row])
        empty[row] = sum(int(each.through.sum() - each.fits.sum()) for each in faces) > 0
    return np.asarray(empty)


def why_unseen(observation: Observation, name: str, box: FloatArray, masks: Mapping[int, str]) -> Unseen:
    """Why an object that may be in a place is not seen there.

    Args:
        observation: the views.
        name: the object.
        box: (6,) its place.
        masks: number of each mask -> the object that it is assumed to show.
    """
    shows = Counter[UnseenReason]()
    others = Counter[str]()
    for seen in faces_in_view(observation, box):
        others.update(masks[number] for number in seen.instances[seen.fits].tolist() if number in masks)
        shows[UnseenReason.NO_MASK] += int(seen.fits.sum())
        shows[UnseenReason.NO_DEPTH] += int((seen.inside & (seen.depth_m <= 0)).sum())
        shows[UnseenReason.OCCLUDED] += int((seen.inside & (seen.depth_m > 0) & ~seen.fits).sum())
    if shows[UnseenReason.NO_MASK] > RULES.in_view * shows.total():
        other, pixels = next(iter(others.most_common(1)), ("", 0))
        if 2 * pixels > shows[UnseenReason.NO_MASK]:
            return Unseen(name, UnseenReason.MERGED_MASKS, other)
        return Unseen(name, UnseenReason.NO_MASK)
    no_depth = shows[UnseenReason.NO_DEPTH] > max(RULES.in_view * shows.total(), shows[UnseenReason.OCCLUDED])
    return Unseen(name, UnseenReason.NO_DEPTH if no_depth else UnseenReason.OCCLUDED)


@dataclass(frozen=True, eq=False)
class Readings:
    """What one view shows where points would be.

    Attributes:
        inside: (...,) whether a point is in front of the camera and inside the image.
        expected_m: (...,) depth of the point.
        depth_m: (...,) reading there; 0 outside the image and where there is none.
        instances: (...,) mask there; 0 outside the image and on the background.
    """

    inside: npt.NDArray[np.bool_]
    expected_m: FloatArray
    depth_m: FloatArray
    instances: npt.NDArray[np.int32]

    @property
    def fits(self) -> npt.NDArray[np.bool_]:
        """(...,) whether something is at the point."""
        return np.asarray(self.inside & (np.abs(self.depth_m - self.expected_m) <= RULES.depth_slack_m))

    @property
    def through(self) -> npt.NDArray[np.bool_]:
        """(...,) whether the camera sees something farther away."""
        return np.asarray(self.inside & (self.depth_m > self.expected_m + RULES.depth_slack_m))


def faces_in_view(observation: Observation, box: FloatArray) -> list[Readings]:
    """What each view shows where the faces of a box (6,) that are turned to it would be."""
    faces, found = _SAMPLES.reshape(5, -1, 3), []
    for view, camera in enumerate(observation.cameras):
        away = camera.world_from_camera[:3, 3] - (box[:3] + faces.mean(axis=1) * box[3:])
        points = box[:3] + faces[(away * _NORMALS).sum(axis=1) > 0].reshape(-1, 3) * box[3:]
        found.append(readings(observation, view, points))
    return found


def readings(observation: Observation, view: int, points: FloatArray) -> Readings:
    """What a view shows where points (..., 3) would be."""
    camera, depth_m = observation.cameras[view], observation.depth_m[view]
    rotation, origin = camera.world_from_camera[:3, :3], camera.world_from_camera[:3, 3]
    x, y, z = np.moveaxis((points - origin) @ rotation, -1, 0)
    k, (height, width) = camera.intrinsics, depth_m.shape
    ahead = np.maximum(z, 1e-6)
    column = np.floor(k[0, 0] * x / ahead + k[0, 2]).astype(int)
    row = np.floor(k[1, 1] * y / ahead + k[1, 2]).astype(int)
    inside = (z > 0) & (column >= 0) & (column < width) & (row >= 0) & (row < height)
    pixel = np.clip(row, 0, height - 1), np.clip(column, 0, width - 1)
    instances = observation.instances[view][pixel]
    return Readings(inside, z, np.where(inside, depth_m[pixel], 0.0), np.where(inside, instances, 0))

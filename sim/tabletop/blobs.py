"""The 1,000 `random_urdfs` of pybullet_data as objects that stand on their best face."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pybullet_data
from scipy.spatial import ConvexHull, QhullError

from sim.common.rotations import rotation_about
from sim.tabletop.scenes import LONGEST_M, NUM_BLOBS, SIDE_RANGE_M

Array = npt.NDArray[np.float64]

TRAINING = range(800)
"""Models for development and training."""
HELD_OUT = range(800, NUM_BLOBS)
"""Models that nothing is trained or tuned on."""
MASS_KG = 0.1
"""The mass of every model, from its URDF."""
USUAL_M = 0.09
"""The longest side of a model is scaled down to this, unless that makes it too thin: at their own scale most do not fit
into the gripper."""
STEADY_RAD = math.radians(12.0)
"""A model must be tilted at least this far before it falls over."""

_SCALE_M = 0.015
_SAME_FACE = 1e-4


@dataclass(frozen=True, eq=False)
class BlobModel:
    """A model that stands on its best face; the origin is the centre of its box.

    Attributes:
        vertices: (P, 3) metres, at the scale of its URDF.
        parts: triangles of each convex part, (T, 3) rows of `vertices`.
        size: (3,) sides of its box, metres; the first one is the longer horizontal one.
        mass_centre: (3,) of a body of even density.
        tilt: angle up to which it does not fall over, radians.
    """

    vertices: Array
    parts: tuple[npt.NDArray[np.intp], ...]
    size: Array
    mass_centre: Array
    tilt: float


@lru_cache(maxsize=64)
def blob_model(number: int) -> BlobModel | None:
    """A model; None if its file has no valid mesh (168 has none), or it stands on no face.

    Args:
        number: 0 to `NUM_BLOBS` - 1.
    """
    name = f"{number:03d}"
    path = Path(pybullet_data.getDataPath()) / "random_urdfs" / name / f"{name}.obj"
    points, parts = _read(path)
    if not np.isfinite(points).all():
        return None
    centre = _mass_centre(points, parts)
    face = _best_face(points, centre)
    if face is None:
        return None
    down, tilt = face
    turned = (points - centre) @ _standing(points, down).T
    low, high = turned.min(axis=0), turned.max(axis=0)
    middle = (low + high) / 2
    return BlobModel(turned - middle, parts, high - low, -middle, tilt)


def blob_size(number: int) -> tuple[float, float, float] | None:
    """Sides of a model as an object on the table, metres; None if it does not stand, or is too thin for the gripper."""
    model = blob_model(number)
    if model is None or model.tilt < STEADY_RAD:
        return None
    low, high = SIDE_RANGE_M
    least = low / float(model.size.min())
    most = min(LONGEST_M / float(model.size.max()), high / float(model.size[:2].min()))
    if least > most:
        return None
    scale = min(max(min(1.0, USUAL_M / float(model.size.max())), least), most)
    size = np.clip(model.size * scale, low, LONGEST_M)
    x, y, z = (round(float(side), 5) for side in size)
    return x, y, z


def _read(path: Path) -> tuple[Array, tuple[npt.NDArray[np.intp], ...]]:
    """Vertices, metres, and the triangles of every part."""
    vertices: list[list[float]] = []
    parts: list[list[list[int]]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] == "o":
            parts.append([])
        elif words[0] == "v":
            vertices.append([float(word) for word in words[1:4]])
        elif words[0] == "f":
            parts[-1].append([int(word.split("/")[0]) - 1 for word in words[1:4]])
    return np.array(vertices) * _SCALE_M, tuple(np.array(part, dtype=np.intp) for part in parts if part)


def _mass_centre(points: Array, parts: tuple[npt.NDArray[np.intp], ...]) -> Array:
    """Centre of mass (3,) of closed parts of even density, from the tetrahedra between their triangles and a point."""
    reference = points.mean(axis=0)
    triangles = np.concatenate([points[part] for part in parts]) - reference
    volumes = np.linalg.det(triangles) / 6.0
    total = float(volumes.sum())
    if abs(total) < 1e-9:
        return np.asarray(reference)
    return np.asarray(reference + volumes @ (triangles.sum(axis=1) / 4.0) / total)


def _best_face(points: Array, centre: Array) -> tuple[Array, float] | None:
    """Outward normal (3,) of the face on which a body stands best, and how far it can be tilted; None if on no face."""
    try:
        hull = ConvexHull(points)
    except QhullError:
        return None
    best: tuple[Array, float] | None = None
    for plane in np.unique(hull.equations.round(4), axis=0):
        normal, offset = plane[:3], plane[3]
        height = -float(centre @ normal + offset)
        face = points[np.abs(points @ normal + offset) < _SAME_FACE * 5]
        if height <= 0.0 or len(face) < 3:
            continue
        margin = _margin(face - centre, normal)
        tilt = math.atan2(margin, height)
        if margin > 0.0 and (best is None or tilt > best[1]):
            best = np.asarray(normal), tilt
    return best


def _margin(face: Array, normal: Array) -> float:
    """Distance of the origin's projection from the edge of a face (K, 3); negative if it is outside."""
    first = np.cross(normal, [1.0, 0.0, 0.0] if abs(normal[0]) < 0.9 else [0.0, 1.0, 0.0])
    first /= np.linalg.norm(first)
    flat = face @ np.stack([first, np.cross(normal, first)], axis=1)
    try:
        edges = ConvexHull(flat).equations
    except QhullError:
        return -1.0
    return -float(edges[:, 2].max())


def _standing(points: Array, down: Array) -> Array:
    """Rotation (3, 3) that turns a face to the table, and the narrowest footprint along the axes."""
    axis = np.cross(down, [0.0, 0.0, -1.0])
    sine = float(np.linalg.norm(axis))
    if sine < 1e-9:
        flat = np.eye(3) if down[2] < 0 else np.diag([1.0, -1.0, -1.0])
    else:
        flat = rotation_about(axis / sine, math.atan2(sine, -float(down[2])))
    level = (points @ flat.T)[:, :2]
    turns = np.radians(np.arange(0.0, 180.0, 1.0))
    along = level @ np.stack([np.cos(turns), np.sin(turns)])
    sides = np.ptp(along, axis=0)
    # the turn whose x side is the longer one of the smallest rectangle
    across = np.roll(sides, -90)
    best = int(np.where(sides >= across, sides * across, np.inf).argmin())
    return np.asarray(rotation_about((0.0, 0.0, 1.0), -turns[best]) @ flat)

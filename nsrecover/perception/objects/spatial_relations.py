"""The eight spatial relations of a scene as a camera sees it, read off the objects' point clouds.

Source: Liu et al., REFLECT: Summarizing Robot Experiences for Failure Explanation and Correction, appendix A.1.

These relations describe a scene in words; no plan uses them. Left, right, above and below are directions in the image,
so they change with the camera. The planner has relations of its own (`nsrecover.domains.tabletop.relations`), in the
robot's directions and from boxes.

Where the appendix is open or contradicts itself:

- It ends "object B is considered occluding object A" where A is the nearer one. Here the nearer object A occludes B,
  and the overlap is the share of B's image that A covers.
- Near holds for a pair that has no other relation in either direction. Like all relations of its list it needs at
  least 5 cm. Objects closer than that, neither inside nor on top of the other, have no relation.
- A distance of exactly 5 cm counts as the larger one.
- Points on the upper side of an object count as above it and within it, with a slack for the noise of depth cameras.
  For a thin object, on top of takes precedence over inside.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial import ConvexHull, QhullError, cKDTree

from nsrecover.core import Camera, FloatArray, SceneGraph
from nsrecover.errors import InvalidConfiguration, InvalidObservation
from nsrecover.util.python310 import StrEnum

CONTACT_BELOW_M = 0.05
"""Clouds nearer than this are in contact: inside and on top of are asked for, the other relations are not."""

REACH_M = 0.40
"""Clouds this far apart, or farther, have no relation."""

NEAR_BELOW_M = 0.10
"""Clouds nearer than this are near one another, if nothing else can be said."""

INSIDE_SHARE = 0.5
"""More than this share of the points lies in the other's convex hull: inside."""

ON_TOP_SHARE = 0.7
"""More than this share of the points lies over the other's box, and more than this share above it: on top of."""

VERTICAL_COMPONENT = 0.9
"""Least vertical part of the direction between two box centres, in the picture, for above and below."""

SIDEWAYS_COMPONENT = 0.8
"""Least horizontal part of the direction between two box centres, in the picture, for left and right."""

NEARER_SHARE = 0.9
"""At least this share of the points is nearer to the camera than the whole other object: occluding."""

COVERED_SHARE = 0.5
"""More than this share of the other's box in the picture is covered: occluding."""

NOISE_SLACK_M = 0.005
"""Noise of the depth cameras, allowed for on top of: the undersides of what stands on an object touch its top."""

IN_FRONT_M = 1e-3
"""Points nearer to the camera's plane than this, or behind it, are in no picture."""

Points = npt.NDArray[np.float64]


class SpatialRelation(StrEnum):
    """A directed relation between two objects, in the words of Liu et al., appendix A.1."""

    INSIDE = "inside"
    ON_TOP_OF = "on top of"
    ON_THE_LEFT = "on the left"
    ON_THE_RIGHT = "on the right"
    ABOVE = "above"
    BELOW = "below"
    OCCLUDING = "occluding"
    NEAR = "near"


class SpatialEdge(NamedTuple):
    """`subject relation object`, both names: ("cup", on the left, "pot") says that the cup is left of the pot."""

    subject: str
    relation: SpatialRelation
    object: str


@dataclass(frozen=True, eq=False)
class _Body:
    """An object: its points (P, 3) in the world, P > 0, their box, and the same points in the camera's coordinates."""

    name: str
    points: Points
    low: Points
    high: Points
    in_camera: Points
    intrinsics: Points

    @cached_property
    def tree(self) -> Any:
        return cKDTree(self.points)

    @cached_property
    def hull(self) -> Points | None:
        """Outward normals and offsets (F, 4) of the convex hull's facets; None if it is flat and holds nothing."""
        try:
            return np.asarray(ConvexHull(self.points).equations)
        except (QhullError, ValueError):  # Qhull reports flat clouds by the one, too few points by either
            return None

    @cached_property
    def picture(self) -> tuple[Points, Points] | None:
        """Lower and upper corner (2,) of the box in the image, pixels; None if nothing is in front of the camera."""
        visible = self.in_camera[self.in_camera[:, 2] > IN_FRONT_M]
        if len(visible) == 0:
            return None
        pixels = (visible @ self.intrinsics.T)[:, :2] / visible[:, 2:]
        return pixels.min(axis=0), pixels.max(axis=0)


def spatial_relations(
    names: Sequence[str], clouds: Sequence[npt.NDArray[np.floating]], camera: Camera
) -> frozenset[SpatialEdge]:
    """The spatial relations of a scene (Liu et al., appendix A.1; readings of its open points: see the module).

    Clouds less than 5 cm apart: *inside*, *on top of*. From 5 to 40 cm: *above*, *below*, *on the left*, *on the
    right* by the direction between the centres of the axis-aligned boxes, up and right being the picture's; also
    *occluding*; and *near* under 10 cm if there is nothing else to say.

    Args:
        names: N different object names.
        clouds: one point cloud (P_i, 3) for each object, world coordinates, metres; an object whose cloud is empty
            was not seen and has no relations.
        camera: the camera that defines directions and occlusions.

    Returns:
        All edges; `A above B` and `B below A` are both in it, and so are both directions of `near`.

    Raises:
        InvalidObservation: clouds and names do not fit, or a cloud is no finite (P, 3) array.
    """
    edges: set[SpatialEdge] = set()
    for pair in combinations(_bodies(names, clouds, camera), 2):
        distance_m = _distance_m(*pair)
        both_ways = (pair, pair[::-1])
        if distance_m < CONTACT_BELOW_M:
            found = [(a, _contact(a, b), b) for a, b in both_ways]
        elif distance_m < REACH_M:
            found = [(a, _direction(a, b, camera), b) for a, b in both_ways]
            found += [(a, SpatialRelation.OCCLUDING, b) for a, b in both_ways if _occludes(a, b)]
            if distance_m < NEAR_BELOW_M and all(relation is None for _, relation, _ in found):
                found = [(a, SpatialRelation.NEAR, b) for a, b in both_ways]
        else:
            continue
        edges.update(SpatialEdge(a.name, relation, b.name) for a, relation, b in found if relation is not None)
    return frozenset(edges)


def spatial_relations_of(graph: SceneGraph, camera: Camera) -> frozenset[SpatialEdge]:
    """The spatial relations of a scene of which only the boxes are known, such as an imagined one.

    Args:
        graph: the scene; an object without a box (of size zero: it never was seen) has no relations.
        camera: as in `spatial_relations`.

    Returns:
        The relations between solid boxes.
    """
    return spatial_relations(
        graph.names,
        [box_cloud(box) if np.any(box[3:] > 0) else np.zeros((0, 3), dtype=np.float32) for box in graph.boxes],
        camera,
    )


def box_cloud(box: npt.ArrayLike, spacing_m: float = 0.01) -> FloatArray:
    """Points on the surface of an axis-aligned box, evenly spread, corners included.

    Args:
        box: (6,) centre and size, metres.
        spacing_m: largest distance between neighbours along an edge.

    Returns:
        (P, 3) different points. A side of length zero makes a rectangle, an edge or a point.

    Raises:
        InvalidObservation: the box is not six finite numbers, or a size is negative.
        InvalidConfiguration: the spacing is not positive.
    """
    values = np.asarray(box, dtype=np.float64)
    if values.shape != (6,) or not np.all(np.isfinite(values)) or np.any(values[3:] < 0):
        raise InvalidObservation(f"expected a box of centre and size, six finite numbers, sizes >= 0, found {box!r}")
    if not spacing_m > 0:
        raise InvalidConfiguration(f"expected a spacing above 0 m, found {spacing_m}; the default is 0.01")
    # rounded first: the side of a float32 box may be a hair over a whole number of spacings
    counts = [1 + max(int(np.ceil(np.round(size / spacing_m, 3))), int(size > 0)) for size in values[3:]]
    grid = np.indices(counts).reshape(3, -1).T
    last = np.array(counts) - 1
    surface = grid[np.any((grid == 0) | (grid == last), axis=1)]
    points = values[:3] + values[3:] * (surface / np.maximum(last, 1) - 0.5)
    return np.asarray(points, dtype=np.float32)


def _bodies(names: Sequence[str], clouds: Sequence[npt.NDArray[np.floating]], camera: Camera) -> tuple[_Body, ...]:
    """The objects that have points, checked."""
    if len(names) != len(clouds) or len(set(names)) != len(names):
        raise InvalidObservation(
            f"expected different names and one point cloud for each, found {len(clouds)} clouds for {list(names)}"
        )
    pose = np.asarray(camera.world_from_camera, dtype=np.float64)
    intrinsics = np.asarray(camera.intrinsics, dtype=np.float64)
    bodies = []
    for name, cloud in zip(names, clouds, strict=True):
        points = np.asarray(cloud, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != 3 or not np.all(np.isfinite(points)):
            raise InvalidObservation(
                f"expected a finite point cloud (P, 3) for {name!r}, found shape {points.shape}"
                f"{'' if np.all(np.isfinite(points)) else ' with NaN or infinite values'}; leave out missing points"
            )
        if len(points):
            in_camera = (points - pose[:3, 3]) @ pose[:3, :3]
            bodies.append(_Body(name, points, points.min(axis=0), points.max(axis=0), in_camera, intrinsics))
    return tuple(bodies)


def _distance_m(a: _Body, b: _Body) -> float:
    """Smallest distance between the points of two objects; inf if it is out of reach."""
    apart = np.maximum(np.maximum(a.low - b.high, b.low - a.high), 0.0)
    if np.linalg.norm(apart) >= REACH_M:
        return float("inf")
    few, many = sorted((a, b), key=lambda body: len(body.points))
    return float(many.tree.query(few.points, distance_upper_bound=REACH_M)[0].min())


def _contact(a: _Body, b: _Body) -> SpatialRelation | None:
    """How an object touches another one, if it is inside it or on top of it."""
    flat = a.points[:, :2]
    within = np.all((flat > b.low[:2] - NOISE_SLACK_M) & (flat < b.high[:2] + NOISE_SLACK_M), axis=1)
    higher = a.points[:, 2] > b.high[2] - NOISE_SLACK_M
    if within.mean() > ON_TOP_SHARE and higher.mean() > ON_TOP_SHARE:
        return SpatialRelation.ON_TOP_OF
    if b.hull is not None:
        enclosed = np.all(a.points @ b.hull[:, :3].T + b.hull[:, 3] < 0, axis=1)
        if enclosed.mean() > INSIDE_SHARE:
            return SpatialRelation.INSIDE
    return None


def _direction(a: _Body, b: _Body, camera: Camera) -> SpatialRelation | None:
    """Where an object is as seen from another one, in the picture; None if it is neither clearly beside nor above."""
    between = (a.low + a.high - b.low - b.high) / 2
    length = float(np.linalg.norm(between))
    if length == 0:
        return None
    right, down, _ = between @ np.asarray(camera.world_from_camera, dtype=np.float64)[:3, :3] / length
    up = -down  # the paper's camera has y up, ours has it down
    if up > VERTICAL_COMPONENT:
        return SpatialRelation.ABOVE
    if up < -VERTICAL_COMPONENT:
        return SpatialRelation.BELOW
    if right > SIDEWAYS_COMPONENT:
        return SpatialRelation.ON_THE_RIGHT
    if right < -SIDEWAYS_COMPONENT:
        return SpatialRelation.ON_THE_LEFT
    return None


def _occludes(a: _Body, b: _Body) -> bool:
    """Whether an object stands in front of another one and covers more than half of its box in the picture."""
    nearer = (a.in_camera[:, 2] < b.in_camera[:, 2].min()).mean()
    if nearer < NEARER_SHARE or a.picture is None or b.picture is None:
        return False
    (low_a, high_a), (low_b, high_b) = a.picture, b.picture
    shared = np.clip(np.minimum(high_a, high_b) - np.maximum(low_a, low_b), 0.0, None)
    return bool(shared.prod() > COVERED_SHARE * (high_b - low_b).prod())

"""Points on objects and boxes around them, from depth and masks as real sensors deliver them.

A mask bleeds over the edge of its object, depth is noisy, and along edges it is wrong or absent. Therefore points count
only if they are above the support, connected in depth with most of their mask, and not among the outermost few. Views
are first shifted in height so that the table, where they see it, is at z = 0.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from nsrecover.core import Camera, FloatArray, Observation


@dataclass(frozen=True)
class LiftingRules:
    """Which points of a mask count.

    Attributes:
        min_pixels: an object with fewer depth pixels over all views counts as not seen.
        support_m: points below this height belong to the table.
        stands_m: an object whose lowest point is below this height stands on the table: its side faces reach down to z
            = 0.
        gap_m: neighbouring pixels whose depths differ by more than this, and more than the noise explains, are not
            connected.
        noise_gap: the gap in standard deviations of the depth noise.
        bent_m: second difference of depth between neighbouring pixels from which on they are not of one surface.
        part: a connected part of a mask that is smaller than this share of the largest part does not belong to the
            object.
        most_doubtful: pixels next to other masks are left out unless they are more than this share of a mask.
        trim: share of the points that is cut off at each end of every axis.
        level_m: distance from z = 0 within which the table is searched.
    """

    min_pixels: int = 12
    support_m: float = 0.006
    stands_m: float = 0.015
    gap_m: float = 0.008
    noise_gap: float = 6.0
    bent_m: float = 0.02
    part: float = 0.3
    most_doubtful: float = 0.4
    trim: float = 0.02
    level_m: float = 0.02


RULES = LiftingRules()


_Pixels = npt.NDArray[np.intp] | npt.NDArray[np.float64]

ViewPixels = tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], FloatArray, npt.NDArray[np.int32]]
"""Rows and columns (M,) of the pixels of one view that show objects, their points (M, 3), and instances (M,)."""


def lift_views(observation: Observation) -> list[ViewPixels]:
    """The pixels of every view that show objects."""
    return [view_pixels(observation, view) for view in range(len(observation.cameras))]


def view_points(observation: Observation, view: int) -> tuple[FloatArray, npt.NDArray[np.int32]]:
    """Points (M, 3) on objects in the world, from one view, and the instance of each (M,)."""
    return view_pixels(observation, view)[2:]


def view_pixels(observation: Observation, view: int) -> ViewPixels:
    """The pixels of one view that show objects."""
    depth, instances = observation.depth_m[view], observation.instances[view]
    kept = (depth > 0) & (instances > 0)
    kept &= ~_doubtful(instances)
    rows, columns = np.nonzero(kept)
    points = to_world(observation, view, rows, columns)
    points[:, 2] -= table_height(observation, view)
    above = points[:, 2] > RULES.support_m
    kept[rows[~above], columns[~above]] = False
    rows, columns, points = rows[above], columns[above], points[above]
    solid = _in_large_parts(depth, instances, kept, rows, columns)
    rows, columns = rows[solid], columns[solid]
    return rows, columns, points[solid], instances[rows, columns]


def lift_points(
    observation: Observation, view: int, compact: Collection[int] = ()
) -> tuple[FloatArray, npt.NDArray[np.int32]]:
    """Points (M, 3) in the world for the pixels of one view that lie on a surface of an instance, and instances (M,).

    Next to an edge in depth, masks bleed and readings lie between two surfaces.

    Args:
        observation: the views.
        view: which of them.
        compact: instances of which only what is connected in depth counts.
    """
    depth, instances = observation.depth_m[view], observation.instances[view]
    kept = (instances > 0) & (depth > 0) & ~_bent(depth)
    rows, columns = np.nonzero(kept)
    solid = _in_large_parts(depth, instances, kept, rows, columns)
    solid |= ~np.isin(instances[rows, columns], list(compact))
    rows, columns = rows[solid], columns[solid]
    return to_world(observation, view, rows, columns), instances[rows, columns]


def _bent(depth: FloatArray) -> npt.NDArray[np.bool_]:
    """(H, W) pixels at which depth bends too much for one surface: 1 / depth of a plane is linear in the image."""
    valid = depth > 0
    inverse = np.divide(1.0, depth, out=np.zeros_like(depth), where=valid)
    bent = np.zeros(depth.shape, dtype=np.bool_)
    for axis in (0, 1):
        inner: list[slice] = [slice(None)] * 2
        inner[axis] = slice(1, -1)
        here = tuple(inner)
        known = valid & np.roll(valid, 1, axis) & np.roll(valid, -1, axis)
        curve = np.abs(np.roll(inverse, 1, axis) - 2 * inverse + np.roll(inverse, -1, axis)) * depth**2
        bent[here] |= (known & (curve > RULES.bent_m))[here]
    return bent


def mask_pixels(observation: Observation, view: int) -> dict[int, tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """Instance number -> rows and columns of its pixels with depth in one view, for the instances that have some."""
    instances = observation.instances[view]
    rows, columns = np.nonzero((instances > 0) & (observation.depth_m[view] > 0))
    shown = instances[rows, columns]
    order = np.argsort(shown, kind="stable")
    numbers, first = np.unique(shown[order], return_index=True)
    parts = np.split(order, first)[1:]  # before the first number there is nothing
    return {number: (rows[own], columns[own]) for number, own in zip(numbers.tolist(), parts, strict=True)}


def to_world(
    observation: Observation, view: int, rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp]
) -> FloatArray:
    """World coordinates (M, 3) of pixels of one view."""
    camera, z = observation.cameras[view], observation.depth_m[view][rows, columns]
    points = (rays(camera, rows, columns) * z[:, None]) @ camera.world_from_camera[:3, :3].T
    return np.asarray(points + camera.world_from_camera[:3, 3], dtype=np.float32)


def rays(camera: Camera, rows: _Pixels, columns: _Pixels) -> npt.NDArray[np.float64]:
    """Directions (..., 3) of pixels in the camera's frame, 1 m long along its axis."""
    k = camera.intrinsics
    x, y = (columns + 0.5 - k[0, 2]) / k[0, 0], (rows + 0.5 - k[1, 2]) / k[1, 1]
    return np.asarray(np.stack([x, y, np.ones_like(x)], axis=-1), np.float64)


def table_height(observation: Observation, view: int) -> float:
    """Height of the table as one view sees it, metres; 0 if it does not see enough of it."""
    free = (observation.instances[view] == 0) & (observation.depth_m[view] > 0)
    rows, columns = np.nonzero(free[::4, ::4])
    if len(rows) < 100:
        return 0.0
    heights = to_world(observation, view, 4 * rows, 4 * columns)[:, 2]
    near = heights[np.abs(heights) < RULES.level_m]
    return float(np.median(near)) if len(near) >= 100 else 0.0


def depth_noise(depth: FloatArray, valid: npt.NDArray[np.bool_]) -> float:
    """Standard deviation of the noise of a depth image (H, W), from second differences; metres."""
    middle = depth[:, 1:-1]
    usable = valid[:, 1:-1] & valid[:, :-2] & valid[:, 2:]
    bend = (depth[:, :-2] - 2 * middle + depth[:, 2:])[usable]
    return float(np.median(np.abs(bend)) / 0.6745 / np.sqrt(6)) if len(bend) else 0.0


def box_around(points: FloatArray) -> FloatArray:
    """Axis-aligned box (6,) around points (M, 3) without the outermost few of each axis."""
    cut = int(RULES.trim * (len(points) - 1))
    ordered = np.partition(points, (cut, len(points) - 1 - cut), axis=0)
    low, high = ordered[cut].copy(), ordered[len(points) - 1 - cut]
    if low[2] < RULES.stands_m:
        low[2] = 0.0
    return np.concatenate([(low + high) / 2, high - low]).astype(np.float32)


def shifted(down: int, right: int) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
    """Parts of an image that show pixels, and the pixels so many rows below and columns to the right of them."""
    return (
        (slice(None, -down or None), slice(None, -right or None)),
        (slice(down, None), slice(right, None)),
    )


def _doubtful(instances: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """(H, W) pixels next to the mask of another object, which may show that one, unless too few would be left."""
    border = np.zeros(instances.shape, dtype=np.bool_)
    for down, right in ((1, 0), (0, 1)):
        one, other = shifted(down, right)
        first, second = instances[one], instances[other]
        meet = (first > 0) & (second > 0) & (first != second)
        border[one] |= meet
        border[other] |= meet
    whole, doubtful = (np.bincount(instances[part], minlength=1) for part in (instances > 0, border))
    few = np.flatnonzero(doubtful > RULES.most_doubtful * whole[: len(doubtful)])
    border[border] = ~np.isin(instances[border], few)
    return border


def _in_large_parts(
    depth: FloatArray,
    instances: npt.NDArray[np.int32],
    kept: npt.NDArray[np.bool_],
    rows: npt.NDArray[np.intp],
    columns: npt.NDArray[np.intp],
) -> npt.NDArray[np.bool_]:
    """(M,) whether pixels belong to a large connected part of their mask."""
    if not len(rows):
        return np.zeros(0, dtype=np.bool_)
    gap = max(RULES.gap_m, RULES.noise_gap * depth_noise(depth, kept))
    window = np.s_[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    number = np.full(depth.shape, -1, np.int32)
    number[rows, columns] = np.arange(len(rows), dtype=np.int32)
    number, own, z = number[window], instances[window], depth[window]
    shown = number >= 0
    pairs = []
    for down, right in ((0, 1), (1, 0), (0, 2), (2, 0)):  # two apart: across single pixels without a reading
        one, other = shifted(down, right)
        near = shown[one] & shown[other] & (own[one] == own[other])
        near &= np.abs(z[one] - z[other]) < gap * (down + right)
        pairs.append(np.stack([number[one][near], number[other][near]]))
    ends = np.ones(len(rows), dtype=np.bool_)
    ends[pairs[0][0]] = False
    run: npt.NDArray[np.intp] = np.cumsum(ends) - ends  # pixels that are connected along a row are one node
    edges: npt.NDArray[np.intp] = run[np.concatenate(pairs[1:], axis=1)]
    edges = edges[:, (edges[0] != edges[1]) & np.diff(edges, axis=1, prepend=-1).any(axis=0)]
    graph = coo_matrix((np.ones(edges.shape[1], dtype=np.int32), edges), shape=(run[-1] + 1, run[-1] + 1))
    part = connected_components(graph, directed=False)[1][run]
    size = np.bincount(part)[part]
    largest = np.zeros(int(instances.max()) + 1, dtype=np.int64)
    owner = instances[rows, columns]
    np.maximum.at(largest, owner, size)
    return np.asarray(size >= RULES.part * largest[owner])

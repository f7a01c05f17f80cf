"""Smooth surfaces of a depth image, and the objects that they bound: surfaces that meet convexly belong together.

In inverse depth a plane is linear in the pixels. Each pixel takes the best fitting plane of the windows around it, so
that planes do not reach over edges. Neighbours with like planes are one surface. Two surfaces whose common edge is
convex are sides of one object; at a concave edge, or where one covers the other, two objects meet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import ndimage
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class SurfaceRules:
    """When neighbouring pixels and surfaces belong together.

    Attributes:
        window_px: side of the windows whose planes are fitted.
        shift_px: how far from its pixel a window may lie.
        least_filled: share of a window that must have readings of objects.
        smooth_deg: neighbouring pixels whose normals differ by less lie on one surface.
        gap_m: neighbouring surfaces touch if they are closer than this,
        gap_growth: and growth with the squared depth.
        small_px: a surface with fewer pixels has no reliable edges: it joins a neighbour.
        least_contact: share of the pixel pairs along a common edge that must touch.
        least_contact_px: number of them.
        merging: median angles along edges, degrees (negative: concave), whose surfaces are merged, and rounds: flat
            ones first.
    """

    window_px: int = 7
    shift_px: int = 3
    least_filled: float = 0.35
    smooth_deg: float = 12.0
    gap_m: float = 0.004
    gap_growth: float = 0.0035
    small_px: int = 25
    least_contact: float = 0.3
    least_contact_px: int = 4
    merging: tuple[tuple[float, float, int], ...] = ((-8.0, 12.0, 3), (-10.0, 35.0, 2), (-14.0, 180.0, 4))


RULES = SurfaceRules()


@dataclass(frozen=True)
class Pinhole:
    """Focal lengths and principal point of an image, pixels; pixel centres are at whole numbers."""

    fx: float
    fy: float
    cx: float
    cy: float


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Pairs of neighbouring pixels: places (M,) in the flattened image.

    Attributes:
        one: the first pixel of each pair.
        other: the second.
        angle: between their planes, degrees; negative where concave.
        touch: whether their planes meet between them.
    """

    one: Labels
    other: Labels
    angle: Floats
    touch: Mask


@dataclass(frozen=True, eq=False)
class Surfaces:
    """Smooth surfaces of an image (H, W).

    Attributes:
        valid: (H, W) pixels with a plane.
        labels: (H * W,) number of the surface of each.
        normals: (H * W, 3) unit normals towards the camera.
        neighbours: pairs of pixels.
    """

    valid: Mask
    labels: Labels
    normals: Floats
    neighbours: Neighbours


def find_surfaces(depth_m: Floats, shown: Mask, lens: Pinhole) -> Surfaces:
    """Smooth surfaces among some pixels.

    Args:
        depth_m: (H, W).
        shown: (H, W) the pixels; they have depth.
        lens: of the image.
    """
    inverse = np.where(shown, 1 / np.where(shown, depth_m, 1.0), 0.0)
    valid, planes, centres = _local_planes(inverse, shown)
    u, v = (axis.ravel() for axis in _pixels(shown.shape))
    a, b, c = (each.ravel() for each in planes)
    normals = np.stack([a * lens.fx, b * lens.fy, c + a * lens.cx + b * lens.cy], axis=-1)
    normals /= -np.maximum(np.linalg.norm(normals, axis=-1, keepdims=True), 1e-9)
    mu, mv, mq = (each.ravel() for each in centres)
    far = 1 / np.maximum(mq, 1e-3)
    points = np.stack([(mu - lens.cx) / lens.fx * far, (mv - lens.cy) / lens.fy * far, far], axis=-1)
    one, other = _pairs(valid)
    angle = np.degrees(np.arccos(np.clip((normals[one] * normals[other]).sum(axis=1), -1, 1)))
    concave = ((normals[one] - normals[other]) * (points[one] - points[other])).sum(axis=1) < 0
    between = [(axis[one] + axis[other]) / 2 for axis in (u, v)]
    ends = [1 / np.maximum(a[k] * between[0] + b[k] * between[1] + c[k], 1e-3) for k in (one, other)]
    rays = np.stack([(u - lens.cx) / lens.fx, (v - lens.cy) / lens.fy, np.ones_like(u)], axis=-1)
    facing = np.abs((normals * rays).sum(axis=1)) / np.linalg.norm(rays, axis=1)
    steep = np.maximum(np.minimum(facing[one], facing[other]), 0.15)  # a gap is measured across the surface
    z = np.where(shown, depth_m, 1.0).ravel()
    near = RULES.gap_m + RULES.gap_growth * z[one] ** 2
    touch = (np.abs(ends[0] - ends[1]) * steep < near) & (np.abs(z[one] - z[other]) * steep < 2.5 * near)
    neighbours = Neighbours(one, other, np.where(concave, -angle, angle), touch)
    smooth = touch & (angle < RULES.smooth_deg)
    labels = _joined(shown.size, np.stack([one[smooth], other[smooth]], axis=1))
    return Surfaces(valid, labels, normals, neighbours)


def merge_convex(surfaces: Surfaces) -> Labels:
    """Number (H * W,) of the convex object of each pixel."""
    labels = np.unique(surfaces.labels, return_inverse=True)[1]
    valid, neighbours = surfaces.valid.ravel(), surfaces.neighbours
    for _ in range(3):
        joins = _of_small(np.bincount(labels[valid], minlength=labels.max() + 1), labels, neighbours)
        if not joins:
            break
        labels = _joined(labels.max() + 1, np.array(joins))[labels]
    for low, high, rounds in RULES.merging:
        for _ in range(rounds):
            joins = [
                (one, other)
                for one, other, length, contact, angle in _edges(labels, neighbours)
                if contact >= max(RULES.least_contact_px, RULES.least_contact * length) and low < angle < high
            ]
            if not joins:
                break
            labels = _joined(labels.max() + 1, np.array(joins))[labels]
    return labels


def _of_small(sizes: Labels, labels: Labels, neighbours: Neighbours) -> list[tuple[int, int]]:
    """Small surfaces, and the neighbour that each joins."""
    best = dict[int, tuple[float, int]]()
    for one, other, _, contact, angle in _edges(labels, neighbours):
        fit = contact / (1 + abs(angle) / 10)
        for small, large in ((one, other), (other, one)):
            if sizes[small] < min(RULES.small_px, sizes[large] + 1) and fit > best.get(small, (0.0, 0))[0]:
                best[small] = fit, large
    return [(small, large) for small, (_, large) in best.items()]


def _edges(labels: Labels, neighbours: Neighbours) -> Iterator[tuple[int, int, int, int, float]]:
    """Two surfaces, length of their common edge, how much of it touches, and the median angle there."""
    one, other = labels[neighbours.one], labels[neighbours.other]
    apart = one != other
    count = int(labels.max()) + 1
    keys = np.minimum(one, other)[apart] * count + np.maximum(one, other)[apart]
    if not len(keys):
        return
    angle, touch = neighbours.angle[apart], neighbours.touch[apart]
    order = np.lexsort((angle, keys))
    keys, angle, touch = keys[order], angle[order], touch[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(keys)], strict=True):
        touching = angle[start:end][touch[start:end]]
        if len(touching):  # sorted by angle
            middle = float(touching[len(touching) // 2])
            yield int(keys[start] // count), int(keys[start] % count), end - start, len(touching), middle


def _joined(count: int, joins: npt.NDArray[np.intp]) -> Labels:
    """Number (count,) of the group of each of some things that are joined in pairs (J, 2)."""
    graph = coo_matrix((np.ones(len(joins)), (joins[:, 0], joins[:, 1])), shape=(count, count))
    return np.asarray(connected_components(graph, directed=False)[1], np.intp)


def _pairs(valid: Mask) -> tuple[Labels, Labels]:
    places = np.arange(valid.size).reshape(valid.shape)
    ends = [(places[:, :-1], places[:, 1:]), (places[:-1], places[1:])]
    one, other = (np.concatenate([each[side].ravel() for each in ends]) for side in (0, 1))
    both = valid.ravel()[one] & valid.ravel()[other]
    return one[both], other[both]


def _pixels(shape: tuple[int, ...]) -> tuple[Floats, Floats]:
    v, u = np.mgrid[: shape[0], : shape[1]].astype(np.float64)
    return u, v


def _local_planes(inverse: Floats, shown: Mask) -> tuple[Mask, Floats, Floats]:
    """Whether a pixel has a plane (H, W), its inverse depth a u + b v + c (3, H, W), and the middle of its window."""
    (height, width), (u, v) = inverse.shape, _pixels(inverse.shape)
    u0, v0 = width / 2, height / 2
    u, v, weight = u - u0, v - v0, shown.astype(np.float64)

    def mean(image: Floats) -> Floats:
        return np.asarray(ndimage.uniform_filter(image, RULES.window_px, mode="constant"))

    filled = mean(weight)
    good = filled > RULES.least_filled
    safe = np.where(good, filled, 1.0)
    mu, mv, mq = mean(weight * u) / safe, mean(weight * v) / safe, mean(inverse) / safe
    uu, vv = mean(weight * u * u) / safe - mu * mu, mean(weight * v * v) / safe - mv * mv
    uv, qq = mean(weight * u * v) / safe - mu * mv, mean(inverse * inverse) / safe - mq * mq
    uq, vq = mean(inverse * u) / safe - mu * mq, mean(inverse * v) / safe - mv * mq
    determinant = uu * vv - uv * uv
    good &= determinant > 1e-3
    determinant = np.where(good, determinant, 1.0)
    a, b = (uq * vv - vq * uv) / determinant, (vq * uu - uq * uv) / determinant
    rest = np.where(good, np.maximum(qq - a * uq - b * vq, 0.0), np.inf)
    planes = np.stack([a, b, mq - a * mu - b * mv, mu, mv, mq])
    padded = np.pad(planes, ((0, 0), (RULES.shift_px, RULES.shift_px), (RULES.shift_px, RULES.shift_px)))
    rests = np.pad(rest, RULES.shift_px, constant_values=np.inf)
    best, chosen = np.full(inverse.shape, np.inf), np.zeros_like(planes)
    for down in (0, -RULES.shift_px, RULES.shift_px):
        for right in (0, -RULES.shift_px, RULES.shift_px):
            rows, columns = (
                slice(RULES.shift_px + by, RULES.shift_px + by + n) for by, n in ((down, height), (right, width))
            )
            plane = padded[:, rows, columns]
            own = (plane[0] * u + plane[1] * v + plane[2] - inverse) ** 2
            error = (rests[rows, columns] + 0.5 * own) * (1.0 if down or right else 0.8)
            better = error < best
            best[better] = error[better]
            chosen[:, better] = plane[:, better]
    valid = shown & np.isfinite(best)
    chosen = np.where(valid, chosen, 0.0)
    chosen[2] -= chosen[0] * u0 + chosen[1] * v0
    chosen[3:5] += np.array([u0, v0])[:, None, None]
    return valid, chosen[:3], chosen[3:]

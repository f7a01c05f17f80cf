"""Changes of real frames whose truth is known: an object removed, moved by 30 mm, or replaced."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nsrecover.core import Observation
from nsrecover.perception.masks.table import Table

SHIFT_M = 0.03
"""How far an object is moved, along the table and across the line of sight."""


def removed(seen: Observation, number: int, table: Table) -> Observation:
    """The observation of one camera without an object: the table shows where it was.

    Args:
        seen: masks and images.
        number: of the object's mask.
        table: as the camera sees it.
    """
    own = seen.instances[0] == number
    rgb, depth, instances = seen.rgb.copy(), seen.depth_m.copy(), seen.instances.copy()
    bare = (instances[0] == 0) & (depth[0] > 0)
    rng = np.random.default_rng(0)
    rays = _rays(seen)
    plane = -table.distance_m / np.minimum(rays @ table.normal, -1e-6)
    noise = rng.standard_normal(int(own.sum())) * (0.001 + 0.001 * plane[own] ** 2)
    depth[0][own] = np.clip(plane[own] + noise, 0.0, 5.0)
    texture = rgb[0][bare]
    rgb[0][own] = texture[rng.integers(0, len(texture), int(own.sum()))]
    instances[0][own] = 0
    labels = {n: name for n, name in seen.labels.items() if n != number}
    return replace(seen, rgb=rgb, depth_m=depth, instances=instances, labels=labels)


def moved(seen: Observation, number: int, table: Table) -> Observation:
    """The observation with an object moved to the left; what is behind it is the table."""
    own = seen.instances[0] == number
    shown = own & (seen.depth_m[0] > 0)
    bare = removed(seen, number, table)
    rgb, depth, instances = bare.rgb.copy(), bare.depth_m.copy(), bare.instances.copy()
    k = np.asarray(seen.cameras[0].intrinsics, np.float64)
    points = _rays(seen)[shown] * seen.depth_m[0][shown, None] + SHIFT_M * table.across[1]
    rows, columns = np.nonzero(shown)
    pixels = points @ k.T
    u, v = (np.floor(pixels[:, axis] / pixels[:, 2]).astype(int) for axis in (0, 1))
    for by in (0, 1):  # gaps between shifted pixels are closed
        at_u, at_v = np.clip(u + by, 0, depth.shape[2] - 1), np.clip(v, 0, depth.shape[1] - 1)
        nearer = (depth[0][at_v, at_u] == 0) | (points[:, 2] < depth[0][at_v, at_u])
        at_u, at_v = at_u[nearer], at_v[nearer]
        depth[0][at_v, at_u], instances[0][at_v, at_u] = points[nearer, 2], number
        rgb[0][at_v, at_u] = seen.rgb[0][rows[nearer], columns[nearer]]
    return replace(seen, rgb=rgb, depth_m=depth, instances=instances)


def replaced(seen: Observation, number: int, other: Observation) -> Observation:
    """The observation with an object that has the shape of this one, and the looks of one of another scene."""
    own = seen.instances[0] == number
    numbers, sizes = np.unique(other.instances[0][other.instances[0] > 0], return_counts=True)
    theirs = other.instances[0] == numbers[sizes.argmax()]
    source, target = (np.nonzero(mask) for mask in (theirs, own))
    places = []
    for axis in (0, 1):  # the other object's picture is stretched over this one
        low, high = target[axis].min(), target[axis].max() + 1
        start, end = source[axis].min(), source[axis].max() + 1
        places.append((start + (target[axis] - low) * (end - start) / (high - low)).astype(int))
    rgb = seen.rgb.copy()
    rgb[0][own] = other.rgb[0][places[0], places[1]]
    return replace(seen, rgb=rgb)


def again(seen: Observation) -> Observation:
    """The observation as a second image shows it: colours and depth (0.3 mm) differ a little everywhere."""
    rng = np.random.default_rng(0)
    rgb = np.clip(seen.rgb + rng.integers(-1, 2, seen.rgb.shape), 0, 255).astype(np.uint8)
    noise = rng.normal(0, 0.0003, seen.depth_m.shape)
    depth = np.where(seen.depth_m > 0, np.maximum(seen.depth_m + noise, 0), 0).astype(np.float32)
    return replace(seen, rgb=rgb, depth_m=depth)


def _rays(seen: Observation) -> np.ndarray:
    """Directions (H, W, 3) through all pixels in the camera's frame, 1 m long along the optical axis."""
    k = seen.cameras[0].intrinsics
    v, u = np.indices(seen.depth_m.shape[1:]) + 0.5
    return np.stack([(u - k[0, 2]) / k[0, 0], (v - k[1, 2]) / k[1, 1], np.ones(u.shape)], axis=-1)

"""Edits of real frames, whose outcome is known: objects that are gone, elsewhere or others, and second looks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import ndimage

from nsrecover.core import FloatArray, Observation
from nsrecover.perception.masks.table import SeenTable
from sim.sensors.presets import sensor

SHIFT_M = 0.03
"""How far an object is moved, along the table and across the line of sight."""

DISPARITY_STEP_PX = 1 / 32
"""Of a D435 in images of 640 x 480 (data sheet of the D400 series)."""


def removed(seen: Observation, number: int, table: SeenTable) -> Observation:
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


def moved(seen: Observation, number: int, table: SeenTable, way: FloatArray | None = None) -> Observation:
    """The observation with an object moved by a way (3,) in the camera's frame, `SHIFT_M` to the left if None.

    What is behind it is the table.
    """
    way = SHIFT_M * table.across[1] if way is None else way
    own = seen.instances[0] == number
    shown = own & (seen.depth_m[0] > 0)
    bare = removed(seen, number, table)
    rgb, depth, instances = bare.rgb.copy(), bare.depth_m.copy(), bare.instances.copy()
    k = np.asarray(seen.cameras[0].intrinsics, np.float64)
    points = _rays(seen)[shown] * seen.depth_m[0][shown, None] + way
    rows, columns = np.nonzero(shown)
    pixels = points @ k.T
    u, v = (np.floor(pixels[:, axis] / pixels[:, 2]).astype(int) for axis in (0, 1))
    near = _stretch(points[:, 2], seen.depth_m[0][shown])
    for right, down in np.ndindex(near, near):  # gaps between shifted pixels are closed
        at_u, at_v = u + right, v + down
        inside = (at_u >= 0) & (at_u < depth.shape[2]) & (at_v >= 0) & (at_v < depth.shape[1])
        at_u, at_v, z = at_u[inside], at_v[inside], points[inside, 2]
        nearer = (depth[0][at_v, at_u] == 0) | (z < depth[0][at_v, at_u])
        at_u, at_v = at_u[nearer], at_v[nearer]
        depth[0][at_v, at_u], instances[0][at_v, at_u] = z[nearer], number
        rgb[0][at_v, at_u] = seen.rgb[0][rows[inside][nearer], columns[inside][nearer]]
    return replace(seen, rgb=rgb, depth_m=depth, instances=instances, labels=dict(seen.labels))


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


def noisy(seen: Observation, seed: int) -> Observation:
    """The observation of one camera behind the colour and depth errors of a D435.

    Holes of materials and shadows are in the frame already.
    """
    preset, rng = sensor("d435"), np.random.default_rng(seed)
    errors = replace(preset.depth, material_holes=0.0, bright_holes=0.0, shadow=False, quantum_px=DISPARITY_STEP_PX)
    focal, phase = float(seen.cameras[0].intrinsics[0, 0]), rng.uniform(0, 2 * np.pi)
    depth = errors.apply(seen.depth_m[0], seen.rgb[0], focal, 0.0, phase, rng)
    return replace(seen, rgb=preset.colour.apply(seen.rgb[0], rng)[None], depth_m=depth[None])


def flickering(seen: Observation, number: int, seed: int) -> Observation:
    """The observation with other numbers, outlines that differ by a pixel or two, and one mask in two parts.

    Args:
        seen: masks of one camera.
        number: of the mask that is split.
        seed: draws numbers and outlines.
    """
    rng = np.random.default_rng(seed)
    image, fresh = seen.instances[0], np.zeros_like(seen.instances[0])
    numbers = np.unique(image[image > 0]).tolist()
    names = rng.permutation(np.arange(1, len(numbers) + 2)).tolist()
    field = ndimage.gaussian_filter(rng.standard_normal(image.shape), 2.0)
    for own, new in zip(numbers, names, strict=False):
        mask = image == own
        edge = np.where(mask, ndimage.distance_transform_edt(mask), 1 - ndimage.distance_transform_edt(~mask))
        fresh[(edge + 1.5 * field / field.std() > 0.5) & ((image == 0) | mask)] = new
        if own == number:
            middle = np.median(np.nonzero(mask)[1])
            half = (fresh == new) & (np.arange(image.shape[1]) > middle)
            fresh[half] = names[-1]
    labels = {n: f"thing {n}" for n in np.unique(fresh[fresh > 0]).tolist()}
    return replace(seen, instances=fresh[None], labels=labels)


def _stretch(now: FloatArray, before: FloatArray) -> int:
    """Pixels that a pixel covers once it is nearer: at least 2."""
    return 1 + int(np.ceil(float(np.median(before)) / max(float(np.median(now)), 1e-3)))


def _rays(seen: Observation) -> FloatArray:
    """Directions (H, W, 3) through all pixels in the camera's frame, 1 m long along the optical axis."""
    k = seen.cameras[0].intrinsics
    v, u = np.indices(seen.depth_m.shape[1:]) + 0.5
    return np.stack([(u - k[0, 2]) / k[0, 0], (v - k[1, 2]) / k[1, 1], np.ones(u.shape)], axis=-1)

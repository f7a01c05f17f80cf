"""Pieces that belong to one object although they do not meet convexly: insides of containers, and what is divided.

The inner wall of a bowl is a concave piece behind the rim of the outer wall, as high as it. A box behind a narrower one
shows two pieces that lie in one plane, with something nearer between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from nsrecover.perception.masks.surfaces import Floats, Labels


@dataclass(frozen=True)
class PieceRules:
    """When pieces belong to one object although they do not meet convexly.

    Attributes:
        reach_px: pieces that are this far apart still border on each other.
        shadow_px: the same across pixels without a reading: along edges there may be none.
        covers_m: what is nearer by more covers what is behind it.
        least_border_px: number of pixel pairs along which one piece covers another.
        hollow_per_m: mean curvature of an inner wall, 1/m; negative is concave, and -4 a radius of 25 cm.
        least_surface_px: surfaces with fewer pixels show no plane.
        alike_cos: cosine between normals of one plane.
        along_m: distance across it,
        along_growth: and growth per metre between the pieces.
    """

    reach_px: int = 3
    shadow_px: int = 10
    covers_m: float = 0.01
    least_border_px: int = 6
    hollow_per_m: float = -4.0
    least_surface_px: int = 30
    alike_cos: float = 0.94
    along_m: float = 0.012
    along_growth: float = 0.03


RULES = PieceRules()


@dataclass(frozen=True, eq=False)
class DepthScene:
    """Pixels (H, W), flattened.

    Attributes:
        width: W.
        surfaces: (H * W,) number of the smooth surface of each pixel.
        normals: (H * W, 3).
        points: (H * W, 3) in the camera's frame; zeros without a reading.
        heights: (H * W,) above the table.
    """

    width: int
    surfaces: Labels
    normals: Floats
    points: Floats
    heights: Floats


def join_pieces(pieces: Labels, scene: DepthScene) -> Labels:
    """The pieces (H * W,), 0 where there is none, with those of one object under one number."""
    for _ in range(2):
        covers = _covers(pieces, scene)
        pixels = {number: np.flatnonzero(pieces == number) for number in {n for pair in covers for n in pair}}
        joins = _containers(covers, pixels, scene)
        taken = {number for join in joins for number in join}
        for front in pixels:
            behind = [back for (f, back), length in covers.items() if f == front and length >= RULES.least_border_px]
            for one, other in combinations(behind, 2):
                if not {one, other} & taken and _divided(pieces, (one, other), pixels, scene):
                    joins.append((one, other))
                    taken |= {one, other}
        if not joins:
            break
        names = np.arange(pieces.max() + 1)
        for one, other in joins:
            names[names == names[other]] = names[one]
        pieces = names[pieces]
    return pieces


def _covers(pieces: Labels, scene: DepthScene) -> dict[tuple[int, int], int]:
    """(front, back) -> length of the border along which the one covers the other, pixel pairs."""
    image, depth = pieces.reshape(-1, scene.width), scene.points[:, 2].reshape(-1, scene.width)
    away, (rows, columns) = ndimage.distance_transform_edt(image == 0, return_indices=True)
    shadow = (depth == 0) & (away < RULES.shadow_px)
    image, depth = (np.where(shadow, each[rows, columns], each) for each in (image, depth))
    keys = []
    for reach in range(1, RULES.reach_px + 1):
        for one, other in (
            (np.s_[:, :-reach], np.s_[:, reach:]),
            (np.s_[:-reach], np.s_[reach:]),
        ):
            nearer = depth[other] - depth[one]
            apart = (
                (image[one] != image[other]) & (image[one] > 0) & (image[other] > 0) & (abs(nearer) > RULES.covers_m)
            )
            first, second, sign = image[one][apart], image[other][apart], nearer[apart] > 0
            keys.append(np.stack([np.where(sign, first, second), np.where(sign, second, first)], axis=1))
    pairs, lengths = np.unique(np.concatenate(keys), axis=0, return_counts=True)
    return {(int(front), int(back)): int(n) for (front, back), n in zip(pairs, lengths, strict=True)}


def _containers(
    covers: dict[tuple[int, int], int], pixels: dict[int, npt.NDArray[np.intp]], scene: DepthScene
) -> list[tuple[int, int]]:
    """Outer walls, and pieces of the inner wall behind each."""
    top = {number: float(np.quantile(scene.heights[own], 0.97)) for number, own in pixels.items()}
    sides = {number: np.quantile(own % scene.width, (0.02, 0.98)) for number, own in pixels.items()}
    joins = list[tuple[int, int]]()
    for front in pixels:
        inner = [
            back
            for (f, back), length in covers.items()
            if f == front
            and length >= max(RULES.least_border_px, 0.5 * sum(n for (_, b), n in covers.items() if b == back))
            and abs(top[back] - top[front]) < 0.02 + 0.1 * top[front]
            and sides[back][0] > sides[front][0] - 4
            and sides[back][1] < sides[front][1] + 4
        ]
        if inner:
            own = np.concatenate([pixels[back] for back in inner])
            points, normals = (each[own] - each[own].mean(axis=0) for each in (scene.points, scene.normals))
            if (points * normals).sum() / np.maximum((points**2).sum(), 1e-9) < RULES.hollow_per_m:
                joins += [(front, back) for back in inner]
    return joins


def _divided(pieces: Labels, pair: tuple[int, int], pixels: dict[int, npt.NDArray[np.intp]], scene: DepthScene) -> bool:
    """Whether two pieces show parts of one plane, with something nearer between them."""
    parts = [
        [
            own
            for n in np.unique(scene.surfaces[all_])
            if len(own := all_[scene.surfaces[all_] == n]) > RULES.least_surface_px
        ]
        for all_ in (pixels[number] for number in pair)
    ]
    for one in parts[0]:
        for other in parts[1]:
            normals = [scene.normals[own].mean(axis=0) for own in (one, other)]
            normals = [each / np.linalg.norm(each) for each in normals]
            way = scene.points[one].mean(axis=0) - scene.points[other].mean(axis=0)
            off = abs(float((normals[0] + normals[1]) @ way) / 2)
            if (
                normals[0] @ normals[1] > RULES.alike_cos
                and off < RULES.along_m + RULES.along_growth * np.linalg.norm(way)
                and _hidden_between(pieces, pair, (one, other), scene)
            ):
                return True
    return False


def _hidden_between(
    pieces: Labels,
    pair: tuple[int, int],
    surfaces: tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]],
    scene: DepthScene,
) -> bool:
    """Whether everything on the way from one surface to the other is nearer than both."""
    (v0, u0), (v1, u1) = ((np.median(own // scene.width), np.median(own % scene.width)) for own in surfaces)
    z0, z1 = (np.median(scene.points[own, 2]) for own in surfaces)
    part = np.linspace(0, 1, 40)
    on_way = (np.round(v0 + part * (v1 - v0)) * scene.width + np.round(u0 + part * (u1 - u0))).astype(int)
    own = np.isin(pieces[on_way], pair)
    depth = scene.points[on_way, 2]
    nearer = (depth < 1 / ((1 - part) / z0 + part / z1) - RULES.covers_m / 2)[~own]
    return bool(len(nearer) and nearer.mean() > 0.9)

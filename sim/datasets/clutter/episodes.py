"""Scenes of dataset IX and what is to be placed in them."""

from __future__ import annotations

import colorsys
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from nsrecover.core.observation import Observation
from sim.common.cameras import Light
from sim.datasets.changes.things import Table
from sim.datasets.clutter.outlines import Form, Solid, barriers, clearance
from sim.sensors.presets import sensor
from sim.tabletop.scenes import TableSpec

Array = npt.NDArray[np.float64]

WORKSPACE = (0.25, -0.40, 0.85, 0.40)
"""x_min, y_min, x_max, y_max, metres; outlines stay inside."""
COVER = (0.60, 0.80)
"""Share of the table that the boxes around the objects cover."""
APART_M, ROOM_M = 0.010, 0.008
"""Gap of the objects; gap with which the object that is placed has room in every episode."""
HEIGHT_M, WALL_M = (0.02, 0.05), (0.010, 0.016)
MOVED_M, LARGEST_M, LEAST_M = (0.05, 0.10), 0.30, 0.10
"""Longest side of the object that is placed, of the first other one, and of the last one."""
CELL_M = 0.004
TRIES = 600


@dataclass(frozen=True, eq=False)
class Placing:
    """An episode.

    Attributes:
        solids: what stands on the table; the first one is to be placed, at the yaw that it has.
        aside: whether it is set aside, so that its own place counts as taken; it is nearest to it that it should be.
            Otherwise it is to stand as near as possible to the wish.
        wish: (2,) of its centre.
        cover: share of the table that the boxes around the others cover.
        seen: the scene through the sensor; only the object to be placed has a label, "moved", in one camera.
    """

    solids: tuple[Solid, ...]
    aside: bool
    wish: Array
    cover: float
    seen: Observation


def free(placing: Placing, at: npt.ArrayLike) -> bool:
    """Whether the object would stand on the table at a place (2,) of its centre and touch nothing."""
    return bool(_free(placing.solids, placing.aside, np.asarray(at, float)[None], 0.0)[0])


def _free(solids: Sequence[Solid], aside: bool, places: Array, gap_m: float) -> npt.NDArray[np.bool_]:
    """Whether the first object keeps a gap at places (P, 2): to the others, and to its own place if it must go."""
    moved = solids[0].outline((0.0, 0.0))
    points = np.concatenate(moved)
    low, high = places + points.min(axis=0), places + points.max(axis=0)
    good = np.asarray(np.all(low >= WORKSPACE[:2], axis=1) & np.all(high <= WORKSPACE[2:], axis=1))
    middle, half = (low + high).mean(axis=0) / 2, (high.max(axis=0) - low.min(axis=0)) / 2
    boxes = [s.box for s in (solids if aside else solids[1:])]
    near = [
        s.outline() for s, box in zip(solids if aside else solids[1:], boxes, strict=True)
        if len(places) > 1 or bool(np.all(np.abs(box[:2] - middle) < half + box[3:5] / 2 + gap_m))
    ]  # fmt: skip
    if near and good.any():
        good[good] = clearance(places[good], barriers(moved, [part for each in near for part in each])) > gap_m
    return good


def _solid(rng: np.random.Generator, longest_m: float) -> Solid:
    form = Form(str(rng.choice(list(Form))))
    length = float(rng.uniform(0.6, 1.0)) * longest_m
    width = length * float(rng.uniform(0.5, 1.0))
    wall = float(rng.uniform(*WALL_M))
    if form is Form.BAR:
        width = length * float(rng.uniform(0.2, 0.5))
    if form is Form.CUP:
        length = min(length, 0.14)
        width = 0.7 * length
    colour = colorsys.hsv_to_rgb(rng.uniform(), rng.uniform(0.4, 1.0), rng.uniform(0.35, 0.95))
    return Solid(form, (length, max(width, 0.018)), float(rng.uniform(*HEIGHT_M)), wall, colour)


def _cover(solids: list[Solid]) -> float:
    xs, ys = (np.arange(WORKSPACE[i] + CELL_M / 2, WORKSPACE[i + 2], CELL_M) for i in (0, 1))
    taken = np.zeros((len(xs), len(ys)), bool)
    for solid in solids:
        x, y, _, a, b, _ = solid.box
        taken |= (np.abs(xs - x) <= a / 2)[:, None] & (np.abs(ys - y) <= b / 2)[None, :]
    return float(taken.mean())


def _scene(rng: np.random.Generator) -> tuple[list[Solid], float]:
    wanted, solids, cover = rng.uniform(*COVER), list[Solid](), 0.0
    for attempt in range(TRIES):
        # first what is placed, then large things, then what fits between
        longest = max(LEAST_M, LARGEST_M * (1 - attempt / TRIES)) if solids else float(rng.uniform(*MOVED_M))
        x, y, yaw = rng.uniform((*WORKSPACE[:2], 0.0), (*WORKSPACE[2:], 2 * math.pi))
        solid = replace(_solid(rng, longest), place=(float(x), float(y), float(yaw)))
        if _free((solid, *solids), False, np.array([[x, y]]), APART_M)[0]:
            solids.append(solid)
            cover = _cover(solids[1:])
            if cover >= wanted:
                break
    return solids, cover


def episode(seed: int, index: int, preset: str = "d435") -> Placing:
    """An episode; seeds 0 to 9 are for development."""
    rng = np.random.default_rng([seed, index, 9])
    while True:
        solids, cover = _scene(rng)
        aside = bool(rng.integers(2))
        wish = np.array(solids[0].place[:2])
        if not aside:
            wish = rng.uniform(WORKSPACE[:2], WORKSPACE[2:])
        xs, ys = (np.arange(WORKSPACE[i], WORKSPACE[i + 2], 0.01) for i in (0, 1))
        places = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
        if cover >= COVER[0] and _free(solids, aside, places, ROOM_M).any():
            break
    low, high = WORKSPACE[:2], WORKSPACE[2:]
    table = TableSpec(x_m=(low[0], high[0]), y_m=(low[1], high[1]), colour=tuple(rng.uniform(0.35, 0.85, 3)))
    seed_ = int(rng.integers(2**31))
    with Table(solids, table, Light(), seed_) as lit:
        seen = sensor(preset).stream(2, seed_).observe(
            lambda offsets: replace(lit.observe(offsets), labels={1: "moved"})
        )  # fmt: skip
    return Placing(tuple(solids), aside, wish, cover, seen)

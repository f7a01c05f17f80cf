"""Crowded tables: dataset VI, in which free space is scarce and objects stand at any yaw."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from nsrecover.errors import InvalidConfiguration
from sim.datasets.drawing import injected, undisturbed
from sim.datasets.spec import ErrorEpisode
from sim.tabletop.sampling import Margins, Structure, sample_plan
from sim.tabletop.scene_mix import DEFAULT_MIX, SceneMix
from sim.tabletop.scenes import ObjectKind, ObjectSpec, SceneSpec, TableSpec, footprint_gaps

CROWDED = replace(
    DEFAULT_MIX,
    kinds=(ObjectKind.CUBE, ObjectKind.LEGO),
    cube_m=(0.036, 0.048),
    lego_length_m=(0.060, 0.068),
    lego_width_m=(0.030, 0.036),
    gap_m=0.018,
    yaw_jitter=math.pi / 4,
)
"""Cubes and slim bricks at any yaw; one finger fits between neighbours, but not both fingers of two hands."""

SHARE = 0.5
"""Share of the table that objects with half their gap cover when no further one fits (0.49 to 0.50, mean of 36)."""
OVERHANG_M = 0.02
"""Objects reach about this much beyond the workspace, which holds their centres."""
DEPTH_M = (0.22, 0.34)
"""Least and greatest extent of the table along x."""
MIDDLE_M = 0.52
"""Middle of the table along x."""
OFTEN = {"turned": 0.2, "wrong_yaw": 0.1, "swap": 0.5}
"""Kinds of faults that are drawn first, and how likely; the others are drawn as in all datasets."""
PLACES = 400
"""Random places that are tried for an object before the table counts as full."""
TABLES = 40
"""Tables that are filled until one holds the wanted number of objects."""
PLANS = 10
"""Plans that are begun in a scene; where these find no room, another scene is drawn."""
TIGHT = Margins(max_height_m=0.25, edge_m=0.0, clearance_m=0.012, hand_half_m=(0.10, 0.032), finger_m=(0.018, 0.011))
"""Margins of plans: no more room than the fingers need."""


@dataclass(frozen=True)
class CrowdedTables:
    """Faults in scenes in which no further object fits on the table with the gap of the others.

    Where neighbours are close, the room that an object takes counts, and what is to change places with another object
    needs a free place in between. Most faults are of these two kinds.

    Attributes:
        name: of the dataset.
        episodes: default number.
        objects: numbers of objects, equally often.
        lengths: numbers of actions, equally often.
        mix: distribution of scenes; the table is fitted to the objects.
    """

    name: str
    episodes: int
    objects: tuple[int, ...]
    lengths: tuple[int, ...]
    mix: SceneMix = CROWDED

    def draw(self, rng: np.random.Generator, number: int) -> tuple[ErrorEpisode, int] | None:
        """A full table, a plan that succeeds without faults, and a fault with an effect at every step."""
        length = self.lengths[number % len(self.lengths)]
        scene = full_table(rng, self.objects[number % len(self.objects)], self.mix, number)
        structure = Structure(str(rng.choice([Structure.TOWER, Structure.MIXED])))
        plan = sample_plan(rng, scene, structure, length, TIGHT, PLANS)
        episode = replace(undisturbed(self.name, number, scene, plan, self.mix, rng), drawn_in_place=True)
        return injected(episode, range(length), 1, rng, OFTEN)


def full_table(rng: np.random.Generator, count: int, mix: SceneMix = CROWDED, seed: int = 0) -> SceneSpec:
    """A random scene on a table on which no further object fits.

    Args:
        rng: the source of randomness.
        count: number of objects.
        mix: distribution of scenes; `table` and `counts` are not used.
        seed: seed of the textures.

    Raises:
        InvalidConfiguration: no table holds so many objects.
    """
    known = sorted(product(mix.colours, mix.kinds))
    most = len(known)
    if not 1 <= count <= most:
        raise InvalidConfiguration(f"expected 1 to {most} objects, one of each colour and kind, found {count}")
    for _ in range(TABLES):
        table = _table_for(rng, count, mix)
        objects = list[ObjectSpec]()
        for choice in rng.permutation(most)[: count + 1]:
            colour, kind = known[choice]
            placed = _somewhere(rng, colour, kind, mix, table, objects)
            if placed is None:
                break
            objects.append(placed)
        if len(objects) == count:
            return SceneSpec(tuple(objects), seed, table, room_counts=True)
    raise InvalidConfiguration(f"expected a table that {count} objects fill, found none in {TABLES} tries")


def _table_for(rng: np.random.Generator, count: int, mix: SceneMix) -> TableSpec:
    """A table whose area is that of some objects with half their gap on every side, divided by `SHARE`."""
    cube, length, width = (
        (low + high) / 2 + mix.gap_m for low, high in (mix.cube_m, mix.lego_length_m, mix.lego_width_m)
    )
    area = count * (cube**2 + length * width) / 2 / SHARE
    depth = float(rng.uniform(*DEPTH_M)) + 2 * OVERHANG_M
    half_x, half_y = depth / 2 - OVERHANG_M, area / depth / 2 - OVERHANG_M
    x_m = (round(MIDDLE_M - half_x, 3), round(MIDDLE_M + half_x, 3))
    y_m = (round(-half_y, 3), round(half_y, 3))
    return TableSpec(x_m=x_m, y_m=y_m, start_x_m=x_m, start_y_m=y_m, colour=mix.table.colour, texture=mix.table.texture)


def _somewhere(
    rng: np.random.Generator, colour: str, kind: ObjectKind, mix: SceneMix, table: TableSpec, others: list[ObjectSpec]
) -> ObjectSpec | None:
    """An object at a random free place of a table; None if the table counts as full."""
    item = ObjectSpec(f"{colour} {kind}", kind, colour, mix.sample_size(rng, kind), (0.0, 0.0))
    corners = np.array([other.corners() for other in others]).reshape(-1, 4, 2)
    yaws = np.array([other.yaw for other in others])
    for _ in range(PLACES):
        x, y = (round(float(rng.uniform(*span)), 4) for span in (table.x_m, table.y_m))
        yaw = float(rng.integers(2) * math.pi / 2 + rng.uniform(-mix.yaw_jitter, mix.yaw_jitter))
        item = replace(item, position=(x, y), yaw=yaw)
        if bool(np.all(footprint_gaps(item, corners, yaws) >= mix.gap_m)):
            return item
    return None

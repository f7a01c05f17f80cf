"""`python -m sim.views`: what filled, empty, dirty and clean vessels look like, as demonstrations without an action.

The tasks need two liquids only. Here vessels hold all of them; each view is a recording with an empty plan whose facts
at the start are noted, so that training takes it like the start of any demonstration.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from tqdm import tqdm

from conf.command import run_function
from nsrecover.core.actions import Plan
from nsrecover.core.observation import Observation
from nsrecover.domains.household.kinds import LIQUIDS, Trait, traits_of
from nsrecover.errors import InvalidConfiguration
from nsrecover.records.archive import write_archive
from nsrecover.records.recording import Recording
from sim.kitchen.cameras import MAST_RIG
from sim.kitchen.observing import observe
from sim.kitchen.robot import BasePose
from sim.kitchen.scenes import HELD_OUT_LAYOUTS, NUM_LAYOUTS, KitchenSpec, sample_kitchen
from sim.kitchen.skills.motion import Motion
from sim.kitchen.skills.whereabouts import front_of, where
from sim.kitchen.truth import FILLED_L, start_state
from sim.kitchen.world import KitchenWorld

VESSELS = ("pot", "pan", "mug", "cup", "glass", "bowl", "plate")
FILLED, DIRTY = 0.7, 0.3
"""Shares of the vessels that are filled, and dirty."""
_DISTANCE_M, _SIDE_RAD = (0.6, 0.9), math.radians(40)


def record(kitchens: int = 30, seed: int = 0, out: Path = Path("data/views")) -> None:
    """Record views of vessels in kitchens whose layouts are not held out.

    Args:
        kitchens: how many.
        seed: the same seed gives the same views.
        out: folder for demonstrations.h5.
    """
    if kitchens < 1 or seed < 0:
        raise InvalidConfiguration(
            f"expected at least one kitchen and a seed of at least 0, found kitchens={kitchens}, seed={seed}"
        )
    out.mkdir(parents=True, exist_ok=True)
    made = [view for number in tqdm(range(kitchens), unit="kitchen") for view in views_of(seed, number)]
    write_archive(out / "demonstrations.h5", made)
    print(f"{len(made)} views of {kitchens} kitchens, written to {out / 'demonstrations.h5'}")


def views_of(seed: int, number: int) -> Iterator[Recording]:
    """A view of every vessel of a kitchen, from where the robot would stand in front of it."""
    rng = np.random.default_rng([seed, number, 31])
    layouts = [layout for layout in range(NUM_LAYOUTS) if layout not in HELD_OUT_LAYOUTS]
    spec = varied(sample_kitchen(int(rng.integers(2**31)), int(rng.choice(layouts)), list(VESSELS)), rng)
    notes = {
        "source": "sim.views",
        "domain": "household",
        "seed": seed,
        "episode": number,
        "layout": spec.layout,
        "goal": [],
        "start": sorted(list(fact) for fact in start_state(spec)),
    }
    with KitchenWorld(spec) as world:
        for thing in spec.things:
            if thing.kind.capacity_l > 0:
                yield Recording(Plan(()), (_seen(world, thing.name, rng),), notes)


def varied(spec: KitchenSpec, rng: np.random.Generator) -> KitchenSpec:
    """A kitchen in which vessels are filled with any liquid, or dirty."""
    things = []
    for thing in spec.things:
        capacity, state = thing.kind.capacity_l, thing.state
        if capacity > 0:
            state = replace(state, dirty=bool(rng.uniform() < DIRTY))
            volume = max(1.5 * FILLED_L, float(rng.uniform(0.3, 0.85)) * capacity)
            if rng.uniform() < FILLED and Trait.VESSEL in traits_of(thing.name) and volume <= capacity:
                state = replace(state, liquid=str(rng.choice(LIQUIDS)), volume_l=volume)
        things.append(replace(thing, state=state))
    return replace(spec, things=tuple(things))


def _seen(world: KitchenWorld, name: str, rng: np.random.Generator) -> Observation:
    """What the robot's cameras see in front of a thing."""
    cell, motion = world.cell, Motion(world.cell)
    point, stands = cell.pose(name)[0], where(motion, name)
    away = front_of(motion, stands[0] if stands is not None else None, point) + float(
        rng.uniform(-_SIDE_RAD, _SIDE_RAD)
    )
    distance = float(rng.uniform(*_DISTANCE_M))
    base = BasePose(float(point[0]) - distance * math.cos(away), float(point[1]) - distance * math.sin(away), away)
    cell.visuals.update(cell.states)
    owners = cell.visuals.owners
    return observe(
        cell.client, MAST_RIG, base, cell.bodies(), owners, cell.robot.opening_m(), cell.robot.feels(), cell.time_s
    )


if __name__ == "__main__":
    run_function(record)

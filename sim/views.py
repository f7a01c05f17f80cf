"""`python -m sim.views`: what vessels, food and appliances look like from all sides, in states that tasks rarely show.

The tasks need two liquids only, and the robot sees doors and lamps from where it operates them. Here vessels hold all
liquids, lie on their sides or in shards, eggs are cracked, cooked, burnt and broken, doors are open, ajar and closed,
appliances run or not, and the robot stands at random places in front of them or holds a vessel. Each view is a
recording with an empty plan whose facts at the start are noted, so that training takes it like the start of any
demonstration.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from conf.command import run_function
from nsrecover.core import Action, Observation, Plan
from nsrecover.domains.household.kinds import LIQUIDS, Trait, traits_of
from nsrecover.domains.household.names import noun
from nsrecover.errors import InvalidConfiguration
from nsrecover.records.archive import write_archive
from nsrecover.records.recording import Recording
from sim.kitchen.fixtures import Fixture
from sim.kitchen.person import Person
from sim.kitchen.robot import BasePose
from sim.kitchen.scenes import HELD_OUT_LAYOUTS, TRAINING_LAYOUTS, KitchenSpec, ThingSpec, sample_kitchen
from sim.kitchen.skills.motion import Motion
from sim.kitchen.skills.whereabouts import front_of, looked_at
from sim.kitchen.states import ObjectState
from sim.kitchen.things import FRAGILE, KINDS, Material
from sim.kitchen.truth import FILLED_L, true_state
from sim.kitchen.world import KitchenWorld
from sim.sensors.presets import sensor as preset
from sim.sensors.sensor import EXACT, Sensor, SensorStream
from sim.tabletop.demonstrations import for_demonstrations

THINGS = ("pot", "pan", "mug", "cup", "glass", "bowl", "plate", "egg", "laptop")
TELEVISION, PLANT = "television", "house plant"
FILLED, DIRTY = 0.7, 0.3
"""Shares of the vessels that are filled, and dirty."""
TOPPLED, BROKEN = 0.2, 0.15
"""Shares of the dishes that lie on their sides, and of what breaks that lies in shards."""
ROUNDS = 2
"""Times that doors and switches of a kitchen are set anew and looked at."""
IN_HAND = 4
"""Liquids with which a vessel is seen in the hand, besides empty."""
SEVERAL = 4
"""Times as often as that if only one kind is looked at."""
_DISTANCE_M, _SIDE_RAD = (0.6, 1.6), math.radians(85)
_TRIES = 12
"""Places in front of something that are tried until one is free."""
_AJAR = (0.02, 0.35)
"""Shares of its travel by which a door that was not closed properly may be open."""


def record(
    kitchens: int = 30,
    seed: int = 0,
    out: Path = Path("data/views"),
    sensor: str = "clean",
    only: str = "",
    held: bool = True,
    held_out: bool = False,
) -> None:
    """Record views of vessels, food and appliances in kitchens.

    Args:
        kitchens: how many.
        seed: the same seed gives the same views.
        out: folder for demonstrations.h5.
        sensor: name of the sensor through which the robot sees.
        only: kind of what is looked at, several times as often; empty: everything that has states.
        held: whether vessels are looked at in the hand, too, which takes most of the time.
        held_out: whether their layouts are those that no training sees, and there are two observations from each place:
            for `python -m train.reliance`.
    """
    if kitchens < 1 or seed < 0:
        raise InvalidConfiguration(
            f"expected at least one kitchen and a seed of at least 0, found kitchens={kitchens}, seed={seed}"
        )
    out.mkdir(parents=True, exist_ok=True)
    by, layouts = for_demonstrations(preset(sensor)), HELD_OUT_LAYOUTS if held_out else TRAINING_LAYOUTS
    made = (
        view
        for number in tqdm(range(kitchens), unit="kitchen")
        for view in views_of(seed, number, by, only, held, layouts, 1 + held_out)
    )
    write_archive(out / "demonstrations.h5", made)
    print(f"views of {kitchens} kitchens, written to {out / 'demonstrations.h5'}")


def views_of(
    seed: int,
    number: int,
    sensor: Sensor = EXACT,
    only: str = "",
    held: bool = True,
    layouts: Sequence[int] = TRAINING_LAYOUTS,
    times: int = 1,
) -> Iterator[Recording]:
    """Views of what has states in a kitchen, or of one kind of it, in front of the robot and in its hand."""
    rng = np.random.default_rng([seed, number, 31])
    things = list(dict.fromkeys((*THINGS, only) if only in KINDS else THINGS))
    spec = varied(sample_kitchen(int(rng.integers(2**31)), int(rng.choice(layouts)), things), rng)
    notes = {"source": "sim.views", "domain": "household", "seed": seed, "episode": number, "layout": spec.layout}
    with KitchenWorld(spec) as world:
        cell = world.cell
        stream = sensor.stream(len(world.rig.views), seed + number)
        lay_out(world, rng)
        operated = operated_in(world)
        names = [*(fixture.name for fixture in operated), *(thing.name for thing in spec.things)]
        names = [name for name in names if only in ("", noun(name))]
        for _ in range(SEVERAL * ROUNDS if only else ROUNDS):
            for fixture in operated:
                if only in ("", fixture.kind):
                    operate(world, fixture, rng)
            for name in names:
                for seen in _seen(world, name, stream, rng, times):
                    yield _recording(world, seen, notes)
        for name in names if held else ():
            if name in cell.things and (Trait.VESSEL in traits_of(name) or only):
                for seen in _in_hand(world, name, stream, rng):
                    yield _recording(world, seen, notes)


def _recording(world: KitchenWorld, seen: Observation, notes: dict[str, Any]) -> Recording:
    """A recording without actions, with what is true."""
    facts = sorted(list(fact) for fact in true_state(world.cell))
    return Recording(Plan(()), (seen,), {**notes, "goal": [], "start": facts})


def varied(spec: KitchenSpec, rng: np.random.Generator) -> KitchenSpec:
    """A kitchen in which vessels are filled with any liquid, or dirty, eggs cracked or cooked, and lids ajar."""
    return replace(spec, things=tuple(_varied(thing, rng) for thing in spec.things))


def _varied(thing: ThingSpec, rng: np.random.Generator) -> ThingSpec:
    capacity, state = thing.kind.capacity_l, thing.state
    traits = traits_of(thing.name)
    if thing.kind.material in FRAGILE and rng.uniform() < BROKEN:
        state = ObjectState(broken=True, cracked=thing.kind.material is Material.SHELL)
    elif capacity > 0:
        state = replace(state, dirty=bool(rng.uniform() < DIRTY))
        volume = max(1.5 * FILLED_L, float(rng.uniform(0.3, 0.85)) * capacity)
        if rng.uniform() < FILLED and Trait.VESSEL in traits and volume <= capacity:
            state = replace(state, liquid=str(rng.choice(LIQUIDS)), volume_l=volume)
    elif Trait.CRACKABLE in traits:
        cooked = float(rng.choice([0.0, 0.0, rng.uniform(0.0, 0.9), rng.uniform(1.05, 1.5), 2.0]))
        state = replace(state, cracked=bool(rng.uniform() < 0.6), cooked=cooked)
    elif Trait.LID in traits:
        opened = float(rng.choice([0.0, rng.uniform(*_AJAR), rng.uniform(0.3, 1.0)]))
        state = ObjectState(open=opened > 0.0, opened=opened, on=bool(rng.uniform() < 0.5))
    return replace(thing, state=state)


def lay_out(world: KitchenWorld, rng: np.random.Generator) -> None:
    """Have an egg lie in a pan, and dishes on their sides."""
    cell, person = world.cell, Person(world.cell)
    if rng.uniform() < 0.7 and {"egg", "pan"} <= cell.things.keys():
        person.carry("egg", np.add(cell.bottom("pan"), (0.0, 0.0, 0.01)).tolist())
    for thing in world.spec.things:
        if Trait.DISH in traits_of(thing.name) and not thing.state.broken and rng.uniform() < TOPPLED:
            person.topple(thing.name, float(rng.uniform(-math.pi, math.pi)))


def operated_in(world: KitchenWorld) -> list[Fixture]:
    """The fixtures that have states."""
    fixtures = world.cell.fixtures.values()
    return [one for one in fixtures if one.door or one.switch or one.kind in (TELEVISION, PLANT)]


def operate(world: KitchenWorld, fixture: Fixture, rng: np.random.Generator) -> None:
    """Set the door of a fixture, and switch it on or off; what heats something stays off."""
    person = Person(world.cell)
    if fixture.door is not None:
        person.swing(fixture.name, float(rng.choice([0.0, 0.0, rng.uniform(*_AJAR), rng.uniform(0.3, 1.0)])))
    if fixture.kind == PLANT:
        liquid = str(rng.choice(["", *LIQUIDS]))
        person.fill(fixture.name, liquid, 0.2 if liquid else 0.0)
    elif fixture.kind == TELEVISION:
        person.power(fixture.name, bool(rng.uniform() < 0.5))
    elif fixture.switch is not None:
        name = fixture.operates or fixture.name
        person.switch(name, bool(rng.uniform() < 0.5) and not world.cell.standing_on(name))


def _seen(
    world: KitchenWorld, name: str, stream: SensorStream, rng: np.random.Generator, times: int
) -> Iterator[Observation]:
    """What the robot's cameras see in front of a thing or fixture, some times; nothing if no place there is free."""
    cell, motion = world.cell, Motion(world.cell)
    point, fixture = looked_at(motion, name)
    front, plan = front_of(motion, fixture, point), cell.floor_plan()
    for _ in range(_TRIES):
        away = front + float(rng.uniform(-_SIDE_RAD, _SIDE_RAD))
        distance = float(rng.uniform(*_DISTANCE_M))
        base = BasePose(float(point[0]) - distance * math.cos(away), float(point[1]) - distance * math.sin(away), away)
        if plan.free(np.array([[base.x, base.y]]))[0]:
            cell.robot.place(base, ())
            yield from (stream.observe(world.observe_from) for _ in range(times))
            return


def _in_hand(world: KitchenWorld, name: str, stream: SensorStream, rng: np.random.Generator) -> Iterator[Observation]:
    """What is seen of a thing in the hand, with several liquids, in front of fixtures; nothing if it is not held."""
    cell, person = world.cell, Person(world.cell)
    if cell.states[name].broken:
        return
    world.execute(Action("pick_up", (name,)))
    capacity = cell.things[name].kind.capacity_l
    liquids = rng.permutation(LIQUIDS)[:IN_HAND].tolist() if Trait.VESSEL in traits_of(name) else [""] * IN_HAND
    for liquid in ("", *liquids, ""):
        if cell.robot.held != name:
            return
        person.fill(name, liquid, max(1.5 * FILLED_L, float(rng.uniform(0.3, 0.85)) * capacity) if liquid else 0.0)
        world.execute(Action("look_at", (str(rng.choice(sorted(cell.fixtures))),)))
        yield stream.observe(world.observe_from)
    world.execute(Action("put_on", (name, "dining table")))


if __name__ == "__main__":
    run_function(record)

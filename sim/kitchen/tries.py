"""`python -m sim.kitchen.tries`: how often each skill succeeds without faults, and what it costs."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from tqdm import tqdm

from conf.command import run_function
from nsrecover.core.actions import Action
from sim.common.statistics import wilson_interval
from sim.kitchen.scenes import KitchenSpec, sample_kitchen
from sim.kitchen.states import ObjectState
from sim.kitchen.world import KitchenWorld

_UPRIGHT = 0.98


@dataclass(frozen=True)
class Try:
    """One action and how it ended.

    Attributes:
        skill: its operator.
        objects: kinds of its arguments.
        failure: why it failed; "" if the simulator's truth shows what the action promises.
        cpu_s: processor time.
    """

    skill: str
    objects: str
    failure: str
    cpu_s: float


def tries(spec: KitchenSpec) -> Iterator[Try]:
    """Try every skill with everything in a kitchen; each thing in a kitchen of its own."""
    top = max((one for one in spec.fixtures if one.kind == "countertop"), key=lambda one: one.places[0].half[1]).name
    for thing in spec.things:
        with KitchenWorld(spec) as world:
            place = spec.fixture(thing.place)
            if place.door is not None:
                world.execute(Action("open_obj", (place.name,)))
                if world.failures[-1]:
                    continue
            yield (picked := _try(world, "pick_up", thing.name))
            if not picked.failure:
                yield _try(world, "put_on", thing.name, top)
    yield from _pouring(spec)
    with KitchenWorld(replace(spec, things=())) as world:
        for fixture in spec.fixtures:
            if fixture.door is not None:
                yield from (_try(world, skill, fixture.name) for skill in ("open_obj", "close_obj"))
            if fixture.switch is not None:
                name = fixture.operates or fixture.name
                yield from (_try(world, skill, name) for skill in ("toggle_on", "toggle_off"))


def _pouring(spec: KitchenSpec) -> Iterator[Try]:
    full = tuple(
        replace(thing, state=ObjectState(liquid="water", volume_l=0.15)) if thing.name in ("mug", "cup") else thing
        for thing in spec.things
    )
    names = [thing.name for thing in spec.things]
    for source in ("mug", "cup"):
        for target in ("bowl", "pot", "house plant"):
            if source not in names or (target not in names and target != "house plant"):
                continue
            with KitchenWorld(replace(spec, things=full)) as world:
                world.execute(Action("pick_up", (source,)))
                if not world.failures[-1]:
                    yield _try(world, "pour", source, target)


def _try(world: KitchenWorld, skill: str, *names: str) -> Try:
    started = time.process_time()
    world.execute(Action(skill, names))
    spent = time.process_time() - started
    kinds = [world.cell.things[n].kind.name if n in world.cell.things else world.cell.fixtures[n].kind for n in names]
    return Try(skill, ", ".join(kinds), world.failures[-1] or _broken_promise(world, skill, names), spent)


def _broken_promise(world: KitchenWorld, skill: str, names: tuple[str, ...]) -> str:
    """What the simulator's truth lacks after an action that has not failed; "" for nothing."""
    cell, name = world.cell, names[0]
    state = cell.states[name]
    if skill == "pick_up":
        return "" if cell.robot.held == name else "it is not held"
    if skill == "put_on":
        if name not in cell.standing_on(names[1]):
            return "it does not stand there"
        upright = cell.things[name].kind.form == "body" or cell.pose(name)[1][2, 2] > _UPRIGHT
        return "" if upright else "it does not stand upright"
    if skill == "pour":
        return "" if cell.states[names[1]].volume_l > 0.8 * 0.15 and not state.volume_l else "liquid was spilt"
    promised = {
        "open_obj": state.open,
        "close_obj": not state.open,
        "toggle_on": state.on,
        "toggle_off": not state.on,
    }
    return "" if promised[skill] else "its state is not as promised"


def main(
    kitchens: Annotated[
        int, typer.Option(help="number of kitchens; about 80 tries and 45 s of processor time each")
    ] = 3,
    seed: Annotated[int, typer.Option(help="of the first kitchen; the others follow")] = 0,
    failures: Annotated[bool, typer.Option(help="list every failure")] = False,
) -> None:
    """Try every skill with everything in sampled kitchens, without faults, and print how often each succeeds.

    For example `python -m sim.kitchen.tries --kitchens 12 --seed 100 --failures`.
    """
    found: dict[tuple[str, str], list[Try]] = defaultdict(list)
    console = Console()
    for number in tqdm(range(seed, seed + kitchens), desc="kitchens"):
        for one in tries(sample_kitchen(number)):
            found[one.skill, ""].append(one)
            found[one.skill, one.objects.split(", ")[0]].append(one)
            if failures and one.failure:
                console.print(f"seed {number}: {one.skill}({one.objects}): {one.failure}", soft_wrap=True)
    table = Table("skill", "of", "succeeded", "tries", "95 %", "median s")
    for (skill, kind), ended in sorted(found.items()):
        good = sum(not one.failure for one in ended)
        low, high = wilson_interval(good, len(ended))
        cost = float(np.median([one.cpu_s for one in ended]))
        share = f"{100 * good / len(ended):.0f} %"
        table.add_row(
            skill, kind or "all", share, str(len(ended)), f"{100 * low:.0f}-{100 * high:.0f} %", f"{cost:.2f}"
        )
    console.print(table)


if __name__ == "__main__":
    run_function(main)

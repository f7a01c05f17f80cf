"""`python -m sim.kitchen.tries`: how often each skill succeeds without faults, and what it costs."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from tqdm import tqdm

from conf.command import run_function
from nsrecover.core.actions import Action, Plan
from nsrecover.domains.household.names import noun
from nsrecover.errors import require_known
from sim.common.folder import write_json
from sim.common.origin import write_run
from sim.common.parallel import run_parallel
from sim.common.statistics import wilson_interval
from sim.common.tables import document, markdown_table
from sim.kitchen.scenes import NUM_LAYOUTS, KitchenSpec, ThingSpec, sample_kitchen
from sim.kitchen.skills.motion import Motion
from sim.kitchen.skills.spots import spots
from sim.kitchen.states import ObjectState
from sim.kitchen.world import KitchenWorld

_UPRIGHT = 0.98
OPERATORS = (
    "pick_up", "put_on", "put_in", "open_obj", "close_obj", "toggle_on", "toggle_off", "slice_obj", "crack_obj", "pour",
    "wipe",
)  # fmt: skip
"""The skills that are tried."""


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


def tries(
    spec: KitchenSpec,
    plans: Sequence[tuple[tuple[str, ...], str]] | None = None,
    skills: Collection[str] = (),
) -> Iterator[Try]:
    """Try every skill in a kitchen and its variants.

    Args:
        spec: every thing in it is moved, and every door and switch is operated.
        plans: things of further kitchens of its layout, and a plan in each; None: what the ten tasks need.
        skills: only tries of these, and only what leads to them; empty: of all.
    """
    wanted = set(skills or OPERATORS)
    for things, text in _PLANS if plans is None else plans:
        plan = list(Plan.parse(text))
        while plan and plan[-1].operator not in wanted:
            plan.pop()
        if plan:
            yield from _only(wanted, _carried_out(sample_kitchen(spec.seed, spec.layout, things), plan))
    if wanted & {"open_obj", "close_obj", "toggle_on", "toggle_off"}:
        yield from _only(wanted, _operated(spec))
    if wanted & {"pick_up", "put_on"}:
        for thing in spec.things:
            yield from _only(wanted, _moved(spec, thing))


def _only(skills: Collection[str], found: Iterable[Try]) -> Iterator[Try]:
    return (one for one in found if one.skill in skills)


def _in_kitchen(every_layout: bool, skills: Collection[str], number: int) -> list[Try]:
    layout = number % NUM_LAYOUTS if every_layout else None
    return list(tries(sample_kitchen(number, layout), skills=skills))


_PLANS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("mug", "bowl"), "pick_up(mug); put_in(mug, sink); toggle_on(faucet); toggle_off(faucet); pick_up(mug); "
                      "pour(mug, house plant)"),
    (("mug", "bowl"), "pick_up(mug); put_in(mug, coffee machine); toggle_on(coffee machine); "
                      "toggle_off(coffee machine); pick_up(mug); pour(mug, bowl)"),
    (("cup", "pot"), "pick_up(cup); put_in(cup, sink); toggle_on(faucet); toggle_off(faucet); pick_up(cup); "
                     "pour(cup, pot); put_on(cup, dining table); pick_up(pot); pour(pot, sink)"),
    (("pot",), "pick_up(pot); put_in(pot, sink); toggle_on(faucet); toggle_off(faucet); pick_up(pot); "
               "put_on(pot, first stove burner); toggle_on(first stove burner)"),
    (("egg", "pan"), "pick_up(egg); crack_obj(egg); put_in(egg, pan)"),
    (("egg", "glass"), "pick_up(egg); crack_obj(egg)"),
    (("bread", "knife"), "pick_up(knife); slice_obj(bread); put_on(knife, dining table); pick_up(bread slice); "
                         "put_in(bread slice, toaster); toggle_on(toaster); toggle_off(toaster)"),
    (("tomato", "knife", "bowl"), "pick_up(knife); slice_obj(tomato); put_on(knife, dining table); "
                                  "pick_up(tomato slice); put_in(tomato slice, bowl)"),
    (("potato", "knife", "plate"), "pick_up(knife); slice_obj(potato); put_on(knife, dining table); "
                                   "pick_up(potato slice); put_on(potato slice, plate)"),
    (("apple", "knife"), "pick_up(knife); slice_obj(apple)"),
    (("lettuce", "knife"), "pick_up(knife); slice_obj(lettuce)"),
    (("potato", "plate"), "pick_up(potato); put_on(potato, plate); open_obj(microwave); pick_up(plate); "
                          "put_in(plate, microwave); close_obj(microwave); toggle_on(microwave)"),
    (("apple", "bowl"), "pick_up(apple); put_in(apple, bowl); open_obj(fridge); pick_up(bowl); "
                        "put_in(bowl, fridge); close_obj(fridge)"),
    (("sponge", "plate", "pan"), "pick_up(sponge); wipe(plate); wipe(pan)"),
    (("laptop", "remote control"), "open_obj(laptop); toggle_on(laptop); toggle_off(laptop); close_obj(laptop); "
                                   "pick_up(laptop); put_on(laptop, tv stand); pick_up(remote control); "
                                   "toggle_on(television); toggle_off(television); "
                                   "put_on(remote control, dining table)"),
)  # fmt: skip
"""Things of a kitchen and a plan in it; every action is a try, up to the first that fails."""


def _carried_out(spec: KitchenSpec, plan: Sequence[Action]) -> Iterator[Try]:
    dirty = any(action.operator == "wipe" for action in plan)
    things = tuple(replace(thing, state=replace(thing.state, dirty=dirty)) for thing in spec.things)
    with KitchenWorld(replace(spec, things=things)) as world:
        for thing in spec.things:
            place = spec.fixture(thing.place)
            if place.door is not None:
                yield _try(world, "open_obj", place.name)
        for action in plan:
            yield (ended := _try(world, action.operator, *action.arguments))
            if ended.failure:
                return


def _moved(spec: KitchenSpec, thing: ThingSpec) -> Iterator[Try]:
    """Pick a thing up and put it where there is room."""
    with KitchenWorld(spec) as world:
        place = spec.fixture(thing.place)
        if place.door is not None:
            yield (opened := _try(world, "open_obj", place.name))
            if opened.failure:
                return
        yield (picked := _try(world, "pick_up", thing.name))
        if picked.failure:
            return
        surfaces = [one for one in spec.fixtures if one.kind in ("countertop", "dining table")]
        roomy = sorted(surfaces, key=lambda one: -one.places[0].half[1])
        motion = Motion(world.cell)
        target = next((one.name for one in roomy if any(spots(motion, thing.name, one.name))), None)
        if target is not None:
            yield _try(world, "put_on", thing.name, target)


def _operated(spec: KitchenSpec) -> Iterator[Try]:
    """Open and close every door, and turn everything on and off, in a kitchen without things."""
    with KitchenWorld(replace(spec, things=())) as world:
        for fixture in spec.fixtures:
            if fixture.door is not None:
                yield from (_try(world, skill, fixture.name) for skill in ("open_obj", "close_obj"))
            if fixture.switch is not None:
                name = fixture.operates or fixture.name
                yield from (_try(world, skill, name) for skill in ("toggle_on", "toggle_off"))


def _try(world: KitchenWorld, skill: str, *names: str) -> Try:
    before = dict(world.cell.states)
    started = time.process_time()
    world.execute(Action(skill, names))
    spent = time.process_time() - started
    kinds = [_kind(world, name) for name in names]
    failure = world.failures[-1] or _broken_promise(world, skill, names, before)
    return Try(skill, ", ".join(kinds), failure, spent)


def _kind(world: KitchenWorld, name: str) -> str:
    if name in world.cell.fixtures:
        return world.cell.fixtures[name].kind
    return noun(name)


def _broken_promise(world: KitchenWorld, skill: str, names: tuple[str, ...], before: Mapping[str, ObjectState]) -> str:
    """What the simulator's truth lacks after an action that has not failed; "" for nothing."""
    cell = world.cell
    name = cell.meant_by(names[0])[0]
    state = cell.states[name]
    if skill == "pick_up":
        return "" if cell.robot.held == name else "it is not held"
    if skill in ("put_on", "put_in"):
        options = cell.meant_by(names[0])
        there = cell.contents(names[1]) if names[1] in cell.things else cell.standing_on(names[1])
        if not set(options) & set(there):
            return "it is not there"
        kind = cell.things[name].kind
        upright = kind.form in ("body", "slice") or cell.pose(name)[1][2, 2] > _UPRIGHT
        return "" if upright else "it does not stand upright"
    if skill == "pour":
        poured = before[names[0]].volume_l
        received = cell.states[names[1]].volume_l if names[1] != "sink" else poured
        return "" if received > 0.8 * poured and not state.volume_l else "liquid was spilt"
    promised = {
        "open_obj": state.open,
        "close_obj": not state.open,
        "toggle_on": state.on,
        "toggle_off": not state.on,
        "slice_obj": state.sliced,
        "crack_obj": state.cracked,
        "wipe": not state.dirty,
    }
    return "" if promised[skill] else "its state is not as promised"


def main(
    kitchens: Annotated[
        int, typer.Option(help="number of kitchens; about 170 tries and 2 minutes of processor time each", min=1)
    ] = 2,
    seed: Annotated[int, typer.Option(help="of the first kitchen; the others follow", min=0)] = 0,
    skills: Annotated[str, typer.Option(help="only these, separated by commas; all by default")] = "",
    every_layout: Annotated[
        bool, typer.Option(help="take one layout after the other, held-out ones, too; otherwise any that is not")
    ] = False,
    workers: Annotated[int, typer.Option(help="number of processes", min=1)] = 1,
    failures: Annotated[bool, typer.Option(help="list every failure")] = False,
    out: Annotated[Path | None, typer.Option(help="folder for metrics.json and run.json")] = None,
) -> None:
    """Try every skill in sampled kitchens, without faults, and print how often each succeeds.

    For example `python -m sim.kitchen.tries --kitchens 12 --seed 100 --failures`.
    """
    chosen = tuple(name.strip() for name in skills.split(",") if name.strip())
    for name in chosen:
        require_known(name, OPERATORS, "a skill")
    found: list[Try] = []
    console = Console()
    numbers = range(seed, seed + kitchens)
    made = run_parallel(partial(_in_kitchen, every_layout, chosen), numbers, workers)
    for number, ended in zip(numbers, tqdm(made, total=kitchens, desc="kitchens"), strict=True):
        found += ended
        for one in ended:
            if failures and one.failure:
                console.print(f"seed {number}: {one.skill}({one.objects}): {one.failure}", soft_wrap=True)
        if out is not None:
            _write(found, number - seed + 1, seed, out)
    console.print(_table(found))


def _groups(found: Sequence[Try]) -> dict[tuple[str, str], list[Try]]:
    groups: dict[tuple[str, str], list[Try]] = defaultdict(list)
    for one in found:
        groups[one.skill, ""].append(one)
        groups[one.skill, one.objects.split(", ")[0]].append(one)
    return dict(sorted(groups.items()))


_HEADERS = ("skill", "of", "succeeded", "tries", "95 %", "median s")


def _rows(found: Sequence[Try]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for (skill, kind), ended in _groups(found).items():
        good = sum(not one.failure for one in ended)
        low, high = wilson_interval(good, len(ended))
        cost = float(np.median([one.cpu_s for one in ended]))
        share, interval = f"{100 * good / len(ended):.1f} %", f"{100 * low:.1f}-{100 * high:.1f} %"
        rows.append((skill, kind or "all", share, str(len(ended)), interval, f"{cost:.2f}"))
    return rows


def _table(found: Sequence[Try]) -> Table:
    table = Table(*_HEADERS)
    for row in _rows(found):
        table.add_row(*row)
    return table


def _write(found: Sequence[Try], kitchens: int, seed: int, out: Path) -> None:
    """Write what was measured so far."""
    skills: dict[str, dict[str, object]] = {}
    for (skill, kind), ended in _groups(found).items():
        if kind:
            continue
        good = sum(not one.failure for one in ended)
        low, high = wilson_interval(good, len(ended))
        skills[skill] = {
            "value": round(good / len(ended), 4),
            "low": round(low, 4),
            "high": round(high, 4),
            "of": len(ended),
            "median_cpu_s": round(float(np.median([one.cpu_s for one in ended])), 3),
        }
    reasons = Counter(f"{one.skill}({one.objects}): {one.failure}" for one in found if one.failure)
    write_json(
        out / "metrics.json",
        {"seed": seed, "kitchens": kitchens, **skills, "failures": dict(reasons.most_common())},
    )
    (out / "table.md").write_text(document(markdown_table(_HEADERS, _rows(found))), encoding="utf-8")
    write_run(out, "sim.kitchen.tries")


if __name__ == "__main__":
    run_function(main)

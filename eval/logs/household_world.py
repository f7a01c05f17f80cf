"""The household at the end of a log of another robot, and whether a correction leads from there to success.

The household is that of `sim.logs.world`, which shares no code with the domain that the diagnosis uses. It is put
together here from what was observed, and the condition read from its wording.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import yaml

from nsrecover.core.actions import Action
from nsrecover.domains.household.names import normal, noun
from nsrecover.logs.trace import RawTrace, TraceEvent
from sim.logs.things import carried
from sim.logs.world import World

_OPEN_TOPPED = {"bowl", "plate", "pot", "pan", "mug", "cup", "glass"}
_IN_EVERY_HOME = ("sink", "faucet", "countertop")


def world_at_the_end(log: RawTrace) -> World:
    """Return the household at the end of a log: its final state, and the last observation of other objects."""
    world, final = World(), log.final or log.events[-1]
    last: dict[str, TraceEvent] = {}
    for event in (*log.events, final):
        for name in event.seen:
            last[name] = event
    for name, event in last.items():
        for fact, holds in _facts(event):
            if holds and fact[1] == name:
                _note(world, fact)
    world.held = _held(final) or None
    world.where = _last_places(log, final)
    for name in last:
        if name.endswith(" slice"):
            world.cut.add(name.removesuffix(" slice"))
    _look_behind(log, world)
    # Everything that is named exists, wherever it is.
    wanted = conditions_of(log.goal if isinstance(log.goal, str) else "", log.plan) or []
    goal = [each[1:2] if each[0] == "filled" else each[1:] for each in wanted]
    seen = [name for event in (*log.events, final) for name in event.seen]
    seen += [
        name for event in (*log.events, final) for fact, _ in _facts(event) for name in fact[1:] if fact[0] != "filled"
    ]
    seen = [name for name in seen if name != "*"]
    planned = chain.from_iterable(step.arguments for step in log.plan)
    for name in chain(_IN_EVERY_HOME, seen, planned, *goal):
        if not name.endswith(" slice") and name not in world.cut:
            world.where.setdefault(name, set())
    return world


def _facts(event: TraceEvent) -> list[tuple[tuple[str, ...], bool]]:
    return [(claim.facts[0], claim.holds) for claim in event.claims]


def _held(event: TraceEvent) -> str:
    return next((fact[1] for fact, holds in _facts(event) if fact[0] == "holding" and holds), "")


def _last_places(log: RawTrace, final: TraceEvent) -> dict[str, set[str]]:
    """Return the last observed places; an object that falls out of the gripper loses its contents."""
    where: dict[str, set[str]] = {}
    held = ""
    for event in log.events:
        now = _held(event)
        if held and not now and (event.action is None or event.action.operator not in ("put_in", "put_on")):
            for thing in [thing for thing, places in where.items() if held in places]:
                where.pop(thing)
        elif held and not now and event.action is not None:
            where[held] = {event.action.arguments[1]}
        held = now
        where.pop(held, None)
        _look(where, event, held)
    for name in final.seen:
        if name.endswith(" slice") or not any(place in where for place in where.get(name, ())):
            where.pop(name, None)
    where.pop(_held(final), None)
    _look(where, final, _held(final))
    return where


def _look(where: dict[str, set[str]], event: TraceEvent, held: str) -> None:
    fresh: dict[str, set[str]] = {}
    for fact, _ in _facts(event):
        if fact[0] not in ("at", "atop"):
            continue
        _, subject, place = fact
        carried_before = place in where.get(subject, ())
        behind = place == held and not carried_before
        if carried(subject) and subject != held and not behind:
            fresh.setdefault(subject, set()).add(place)
    for subject, places in fresh.items():
        carriers = {place for place in where.get(subject, set()) if noun(place) in _OPEN_TOPPED}
        where[subject] = places | {carrier for carrier in carriers if fresh.get(carrier, set()) & places}


def _look_behind(log: RawTrace, world: World) -> None:
    """Objects that covered an object that the robot failed to grasp are still there."""
    for event in log.events:
        if event.action is not None and event.action.operator == "pick_up" and not _held(event):
            for fact, _ in _facts(event):
                if fact[0] == "covers" and fact[2] == event.action.arguments[0] and carried(fact[1]):
                    world.cover[fact[2]] = fact[1]


def _note(world: World, fact: tuple[str, ...]) -> None:
    sets = {"open": world.open, "running": world.on, "dirty": world.dirty, "cracked": world.cracked}
    if fact[0] in sets:
        sets[fact[0]].add(fact[1])
    elif fact[0] == "filled":
        world.liquid[fact[1]] = fact[2]


Wanted = tuple[str, ...]
"""`(in, thing, place)`, `(filled, vessel, liquid)`, `(on | closed | clean | cracked | hot, thing)`."""

_SENTENCES: Sequence[Mapping[str, Any]] = yaml.safe_load(Path(__file__).with_name("conditions.yaml").read_text("utf-8"))
"""Wordings of success conditions, and their predicates; `+` means slices if the plan slices the object."""


def conditions_of(text: str, plan: tuple[Action, ...]) -> list[Wanted] | None:
    """Return the predicates of a success condition; None for an unknown wording."""
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text).lower().strip().rstrip(".")
    cut = {step.arguments[0] for step in plan if step.operator == "slice_obj"}
    for each in _SENTENCES:
        found = re.fullmatch(each["words"], plain)
        if found:
            wanted = []
            for line in each["want"]:
                predicate, *numbers = line.split()
                names = [normal(found.group(int(number.rstrip("+")))) for number in numbers]
                if numbers[0].endswith("+") and names[0] in cut:
                    names[0] += " slice"
                wanted.append((predicate, *names))
            return wanted
    return None


def _places(world: World) -> list[str]:
    """Everything that something is in or on."""
    return list(dict.fromkeys(chain.from_iterable(map(sorted, world.where.values()))))


def satisfied(world: World, wanted: Wanted) -> bool:
    """Whether a condition holds in a household."""
    match wanted:
        case ("in", thing, place):
            return any(world.inside(thing, one) for one in _places(world) if place in (one, noun(one)))
        case ("filled", vessel, what):
            return world.liquid.get(vessel) == what
        case ("running", thing, place):
            return any(world.inside(thing, one) for one in world.on if noun(one) == place)
        case ("on", thing):
            return thing in world.on
        case ("closed", thing):
            return thing not in world.open
        case ("clean", thing):
            return thing not in world.dirty
        case ("cracked", thing):
            return thing in world.cracked
        case ("hot", thing):
            return thing in world.hot
    raise ValueError(wanted)


def judge(world: World, correction: tuple[Action, ...], wanted: list[Wanted]) -> str | None:
    """Execute a correction; return its problem, None if it succeeds."""
    world = world.copy()
    for step in correction:
        refused = world.do(step)
        if refused is not None:
            return f"{step}: {refused}"
    missing = [condition for condition in wanted if not satisfied(world, condition)]
    return f"not so in the end: {missing[0]}" if missing else None

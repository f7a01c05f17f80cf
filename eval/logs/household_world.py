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
from nsrecover.logs.reading.records import HouseholdLog, LogObservation
from nsrecover.logs.reading.things import named
from sim.logs.things import carried
from sim.logs.world import World

_OPEN_TOPPED = {"bowl", "plate", "pot", "pan", "mug", "cup", "glass"}
_IN_EVERY_HOME = ("sink", "faucet", "countertop")


def world_at_the_end(log: HouseholdLog) -> World:
    """Return the household at the end of a log: its final state, and the last observation of other objects."""
    world = World()
    seen: dict[str, LogObservation] = {}
    for observation in [*(frame.observation for frame in log.events), log.final]:
        for name in observation.states():
            seen[name] = observation
    for name, observation in seen.items():
        for state in observation.states()[name]:
            _note(world, name, state)
    world.held = log.final.held or None
    world.where = _last_places(log)
    for name in seen:
        if name.endswith(" slice"):
            world.cut.add(name.removesuffix(" slice"))
    if log.events:
        _look_behind(log, world)
    # Everything that is named exists, wherever it is.
    wanted = conditions_of(log.success_state, log.plan) or []
    goal = [each[1:2] if each[0] == "filled" else each[1:] for each in wanted]
    for name in chain(_IN_EVERY_HOME, named(log), *goal):
        if not name.endswith(" slice") and name not in world.cut:
            world.where.setdefault(name, set())
    return world


def _last_places(log: HouseholdLog) -> dict[str, set[str]]:
    """Return the last observed places; an object that falls out of the gripper loses its contents."""
    where: dict[str, set[str]] = {}
    held = ""
    for frame in log.events:
        now = frame.observation.held or ""
        if held and not now and frame.step.operator not in ("put_in", "put_on"):
            for thing in [thing for thing, places in where.items() if held in places]:
                where.pop(thing)
        elif held and not now:
            where[held] = {frame.step.arguments[1]}
        held = now
        where.pop(held, None)
        _look(where, frame.observation, held)
    for name in log.final.states():
        if name.endswith(" slice") or not any(place in where for place in where.get(name, ())):
            where.pop(name, None)
    where.pop(log.final.held or "", None)
    _look(where, log.final, log.final.held or "")
    return where


def _look(where: dict[str, set[str]], observation: LogObservation, held: str) -> None:
    fresh: dict[str, set[str]] = {}
    for subject, relation, place in observation.relations():
        carried_before = place in where.get(subject, ())
        behind = place == held and not carried_before
        if relation in ("inside", "on top of") and carried(subject) and subject != held and not behind:
            fresh.setdefault(subject, set()).add(place)
    for subject, places in fresh.items():
        carriers = {place for place in where.get(subject, set()) if noun(place) in _OPEN_TOPPED}
        where[subject] = places | {carrier for carrier in carriers if fresh.get(carrier, set()) & places}


def _look_behind(log: HouseholdLog, world: World) -> None:
    """Objects that covered an object that the robot failed to grasp are still there."""
    for frame in log.events:
        if frame.step.operator == "pick_up" and not frame.observation.held:
            thing = frame.step.arguments[0]
            for subject, relation, other in frame.observation.relations():
                if subject == thing and relation in ("below", "under", "occluded by") and carried(other):
                    world.cover[thing] = other


def _note(world: World, name: str, state: str) -> None:
    if state == "open":
        world.open.add(name)
    elif state == "turned on":
        world.on.add(name)
    elif state == "dirty":
        world.dirty.add(name)
    elif state == "cracked":
        world.cracked.add(name)
    elif state == "sliced":
        world.cut.add(name)
    elif state.startswith("filled with "):
        world.liquid[name] = state.removeprefix("filled with ")


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

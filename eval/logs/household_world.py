"""Symbolic household simulator that judges corrections; it shares no code with the planner.

It is stricter than most robots: one object in the gripper, doors must be open before objects pass, appliances run only
with closed doors, a burner holds one object, and food is cut on flat surfaces.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, field

from nsrecover.domains.household.names import normal, noun
from nsrecover.explanation.logs.records import HouseholdLog, Observation, Step

_DOORS = {"fridge", "microwave", "cabinet", "drawer", "oven"}
_FLAT = {"countertop", "dining table", "coffee table", "tv stand", "side table", "desk", "shelf", "sofa", "armchair"}
_FULL_WITH_ONE = {"microwave", "stove burner", "toaster", "coffee machine"}
_BOLTED = _DOORS | _FLAT | _FULL_WITH_ONE | {"sink", "faucet", "television", "house plant", "garbage can"}
_HOLD_LIQUID = {"pot", "mug", "cup", "bowl", "kettle", "house plant", "vase", "jug", "glass", "wine bottle", "bottle"}
_OPEN_TOPPED = {"bowl", "plate", "pot", "pan", "mug", "cup", "glass"}


@dataclass
class HouseholdWorld:
    """True state of a household.

    Attributes:
        holding: object in the gripper.
        where: object -> the objects it is in or on (several only for slices).
        open: open objects.
        on: objects that are turned on.
        liquid: vessel -> liquid.
        dirty: dirty objects.
        cracked: cracked objects.
        cut: sliced objects.
        hot: heated objects.
        covered: object -> object in front of it.
        needs_remote: whether the television needs the remote control in the gripper.
    """

    holding: str | None = None
    where: dict[str, set[str]] = field(default_factory=dict)
    open: set[str] = field(default_factory=set)
    on: set[str] = field(default_factory=set)
    liquid: dict[str, str] = field(default_factory=dict)
    dirty: set[str] = field(default_factory=set)
    cracked: set[str] = field(default_factory=set)
    cut: set[str] = field(default_factory=set)
    hot: set[str] = field(default_factory=set)
    covered: dict[str, str] = field(default_factory=dict)
    needs_remote: bool = False

    def copy(self) -> HouseholdWorld:
        """Return an independent copy."""
        return copy.deepcopy(self)

    def do(self, step: Step) -> str | None:
        """Execute a step; return why it is impossible, in which case nothing changes."""
        action = getattr(self, f"_{step.operator}", None)
        if action is None:
            return f"no such action: {step}"
        refused: str | None = action(*step.arguments)
        if refused is None:
            self._let_happen()
        return refused

    def behind_a_door(self, thing: str) -> bool:
        """Whether an object is behind a closed door."""
        places = self.where.get(thing, set())
        return bool(places) and all((noun(p) in _DOORS and p not in self.open) or self.behind_a_door(p) for p in places)

    def inside(self, thing: str, place: str) -> bool:
        """Whether an object is in or on a place, directly or inside another object; ordinals may be omitted."""
        return any(p == place or noun(p) == place or self.inside(p, place) for p in self.where.get(thing, set()))

    def on_top(self, place: str) -> list[str]:
        """Return the objects directly in or on a place."""
        return sorted(thing for thing, places in self.where.items() if place in places)

    def _pick_up(self, thing: str) -> str | None:
        if self.holding:
            return f"the gripper holds the {self.holding}"
        whole = thing.removesuffix(" slice")
        if (thing != whole and whole not in self.cut) or (thing == whole and thing in self.cut):
            return f"there is no {thing}"
        if noun(thing) in _BOLTED:
            return f"the {thing} cannot be carried"
        if self.behind_a_door(thing):
            return f"the {thing} is behind a closed door"
        if thing in self.covered:
            return f"the {self.covered[thing]} is in the way"
        self.holding = thing
        if thing == whole:
            self.where.pop(thing, None)
        self.covered = {one: other for one, other in self.covered.items() if other != thing}
        return None

    def _put_in(self, thing: str, place: str) -> str | None:
        if self.holding != thing:
            return f"the gripper does not hold the {thing}"
        if noun(place) in _DOORS and place not in self.open:
            return f"the {place} is closed"
        if self.behind_a_door(place):
            return f"the {place} is behind a closed door"
        others = [
            o for o in self.on_top(place) if o != thing and o.removesuffix(" slice") != thing.removesuffix(" slice")
        ]
        others = [o for o in others if not any(carrier in others for carrier in self.where[o])]
        if noun(place) in _FULL_WITH_ONE and others:
            return f"the {others[0]} is in the {place}"
        self.holding = None
        self.where.setdefault(thing, set()).add(place)
        return None

    _put_on = _put_in

    def _open_obj(self, thing: str) -> str | None:
        if noun(thing) == "microwave" and thing in self.on:
            return f"the {thing} is running"
        self.open.add(thing)
        return None

    def _close_obj(self, thing: str) -> str | None:
        self.open.discard(thing)
        return None

    def _toggle_on(self, thing: str) -> str | None:
        if noun(thing) == "microwave" and thing in self.open:
            return f"the {thing} is open"
        if noun(thing) == "television" and self.needs_remote and self.holding != "remote control":
            return "the remote control is not in the gripper"
        self.on.add(thing)
        return None

    def _toggle_off(self, thing: str) -> str | None:
        self.on.discard(thing)
        return None

    def _slice_obj(self, thing: str) -> str | None:
        if self.holding is None or "knife" not in self.holding:
            return "no knife in the gripper"
        if thing in self.cut:
            return f"the {thing} is sliced already"
        if not all(noun(place) in _FLAT | {"sink"} for place in self.where.get(thing, set())):
            return f"the {thing} does not lie on something flat"
        self.cut.add(thing)
        self.where[f"{thing} slice"] = set(self.where.pop(thing, set()))
        return None

    def _crack_obj(self, thing: str) -> str | None:
        if self.holding != thing:
            return f"the gripper does not hold the {thing}"
        self.cracked.add(thing)
        return None

    def _pour(self, source: str, target: str) -> str | None:
        if self.holding != source:
            return f"the gripper does not hold the {source}"
        if source not in self.liquid:
            return f"the {source} is empty"
        poured = self.liquid.pop(source)
        if noun(target) in _HOLD_LIQUID:
            self.liquid[target] = poured
        return None

    def _let_happen(self) -> None:
        for machine in self.on:
            here = [t for t in self.where if t != machine and self.inside(t, machine)]
            match noun(machine):
                case "faucet":
                    for thing in self.on_top("sink"):
                        self.dirty.discard(thing)
                        if noun(thing) in _HOLD_LIQUID and thing not in self.liquid:
                            self.liquid[thing] = "water"
                            self.hot.discard(thing)
                case "coffee machine":
                    for thing in self.on_top(machine):
                        if noun(thing) in _HOLD_LIQUID:
                            self.liquid.setdefault(thing, "coffee")
                case "microwave" if machine not in self.open:
                    self.hot.update(here)
                case "stove burner" | "toaster" | "oven":
                    self.hot.update(here)


def world_at_the_end(log: HouseholdLog) -> HouseholdWorld:
    """Return the household at the end of a log: its final state, and the last observation of other objects."""
    world = HouseholdWorld()
    seen: dict[str, Observation] = {}
    for observation in [*(frame.observation for frame in log.events), log.final]:
        for name in observation.states():
            seen[name] = observation
    for name, observation in seen.items():
        for state in observation.states()[name]:
            _note(world, name, state)
    world.holding = log.final.held or None
    world.where = _last_places(log)
    for name in seen:
        if name.endswith(" slice"):
            world.cut.add(name.removesuffix(" slice"))
    if log.events:
        _look_behind(log, world)
    world.needs_remote = any("remote control" in step.arguments for step in log.plan)
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


def _look(where: dict[str, set[str]], observation: Observation, held: str) -> None:
    fresh: dict[str, set[str]] = {}
    for subject, relation, place in observation.relations():
        carried_before = place in where.get(subject, ())
        behind = place == held and not carried_before
        if relation in ("inside", "on top of") and noun(subject) not in _BOLTED and subject != held and not behind:
            fresh.setdefault(subject, set()).add(place)
    for subject, places in fresh.items():
        carriers = {place for place in where.get(subject, set()) if noun(place) in _OPEN_TOPPED}
        where[subject] = places | {carrier for carrier in carriers if fresh.get(carrier, set()) & places}


def _look_behind(log: HouseholdLog, world: HouseholdWorld) -> None:
    """Objects that covered an object that the robot failed to grasp are still there."""
    for frame in log.events:
        if frame.step.operator == "pick_up" and not frame.observation.held:
            thing = frame.step.arguments[0]
            for subject, relation, other in frame.observation.relations():
                if subject == thing and relation in ("below", "under", "occluded by") and noun(other) not in _BOLTED:
                    world.covered[thing] = other


def _note(world: HouseholdWorld, name: str, state: str) -> None:
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

_SENTENCES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"an? (\w+) is filled with (\w+), the \1 is on top of an? (stove burner) that is turned on",
     ("filled 1 2", "in 1 3", "running 1 3")),
    (r"(\w+ slice) is inside (?:a|the) (\w+)(?: that is| and \2 is) turned on", ("in 1 2", "on 2")),
    (r"an (egg) is cracked and in a (pan|pot), the \2 is on top (?:of )?a (stove burner) that is turned on",
     ("cracked 1", "in 1 2", "in 2 3", "running 2 3")),
    (r"an? (\w+) is on an? (\w+) and inside an? (\w+) that is turned on", ("in 1 2", "in 1 3", "on 3")),
    (r"an? clean (\w+) is filled with (\w+) and on top of the (\w+)", ("clean 1", "filled 1 2", "in 1 3")),
    (r"a (\w+) with an (\w+) is stored inside the (\w+)", ("in 2 1", "in 1 3")),
    (r"a (\w+) of (?:sliced )?(\w+), (\w+) and (\w+) is stored inside the (\w+)",
     ("in 2+ 1", "in 3+ 1", "in 4+ 1", "in 1 5")),
    (r"the ([\w ]+) is filled with (\w+)", ("filled 1 2",)),
    (r"an? closed (\w+) is on the ([\w ]+?) and ([\w ]+) is turned on", ("closed 1", "in 1 2", "on 3")),
    (r"an? (\w+) of warm (\w+) is on the ([\w ]+)", ("filled 1 2", "hot 1", "in 1 3")),
)  # fmt: skip
"""Wordings of success conditions, and their predicates; `+` means slices if the plan slices the object."""


def conditions_of(text: str, plan: tuple[Step, ...]) -> list[Wanted] | None:
    """Return the predicates of a success condition; None for an unknown wording."""
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text).lower().strip().rstrip(".")
    cut = {step.arguments[0] for step in plan if step.operator == "slice_obj"}
    for pattern, asked in _SENTENCES:
        found = re.fullmatch(pattern, plain)
        if found:
            wanted = []
            for line in asked:
                predicate, *numbers = line.split()
                names = [normal(found.group(int(number.rstrip("+")))) for number in numbers]
                if numbers[0].endswith("+") and names[0] in cut:
                    names[0] += " slice"
                wanted.append((predicate, *names))
            return wanted
    return None


def satisfied(world: HouseholdWorld, wanted: Wanted) -> bool:
    """Whether a condition holds in a household."""
    match wanted:
        case ("in", thing, place):
            return world.inside(thing, place)
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


def judge(world: HouseholdWorld, correction: tuple[Step, ...], wanted: list[Wanted]) -> str | None:
    """Execute a correction; return its problem, None if it succeeds."""
    world = world.copy()
    for step in correction:
        refused = world.do(step)
        if refused is not None:
            return f"{step}: {refused}"
    missing = [condition for condition in wanted if not satisfied(world, condition)]
    return f"not so in the end: {missing[0]}" if missing else None

"""Makes logs of household tasks with one injected failure each, in the text format, with what was injected."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from nsrecover.core.actions import Action
from nsrecover.domains.household.names import noun
from sim.logs.world import World

_VERBS = {
    "pick_up": "Pick up {}", "put_in": "Put {} in {}", "put_on": "Put {} on {}", "open_obj": "Open {}",
    "close_obj": "Close {}", "toggle_on": "Toggle on {}", "toggle_off": "Toggle off {}", "slice_obj": "Slice {}",
    "crack_obj": "Crack {}", "pour": "Pour liquid from {} into {}",
}  # fmt: skip
_SOUNDS = ("object drops or cracks on hard surface", "water runs in sink", "stove burner turns on", "slice bread")
_OPENS = {"fridge", "microwave", "laptop", "cabinet", "drawer"}
_TURNS = {"microwave", "faucet", "stove burner", "toaster", "coffee machine", "television", "laptop"}
_FILLS = {"pot", "mug", "cup", "bowl", "kettle", "house plant", "jug"}
_HOLLOW = {"bowl", "fridge", "microwave", "coffee machine", "toaster", "sink", "cabinet", "drawer", "mug"}
_PLAIN = {"countertop", "dining table", "coffee table"}
_DIRTIES = {"pot", "mug", "cup", "plate", "pan", "jug", "kettle"}


@dataclass(frozen=True)
class Task:
    """A household task that succeeds if nothing goes wrong."""

    name: str
    plan: tuple[str, ...]
    success: str
    sites: dict[str, str]
    """Every furniture or fixture -> the part of the room from which it is seen."""
    where: dict[str, str]
    filled: dict[str, str] = field(default_factory=dict)
    dirty: tuple[str, ...] = ()
    opened: tuple[str, ...] = ()
    on: tuple[str, ...] = ()


@dataclass(frozen=True)
class Injected:
    """What was made to go wrong: acceptable causes, the objects that have to be named, and the times that count."""

    causes: tuple[str, ...]
    objects: tuple[str, ...]
    first: int
    """Index of the first step whose time counts (its moves included)."""
    last: int
    subgoals: bool = True
    """Whether some subgoal fails."""


@dataclass
class Story:
    """A log with what is true about it."""

    document: dict[str, Any]
    injected: Injected
    times: tuple[str, ...]
    """The times that count as right."""
    world: World
    held: list[bool]
    """For every subgoal, whether it truly was done."""


def steps_of(lines: tuple[str, ...]) -> list[Action]:
    return [Action(*(lambda parts: (parts[0], tuple(parts[1:])))(line.split(", "))) for line in lines]


class Robot:
    """Carries a plan out in a household, with hooks for things to go wrong, and writes down what it notices."""

    def __init__(self, task: Task, world: World, seed: int, noise: float) -> None:
        self.task, self.world, self.noise = task, world, noise
        self.random = random.Random(seed)
        self.clock, self.site = self.random.randint(1, 9), "start"
        self.events: list[str] = []
        self.subgoals: list[str] = []
        self.done: list[bool] = []
        self.spans: list[tuple[int, list[str]]] = []
        self.ever: set[str] = set()
        self.neighbours = {"cup", "apple", "spatula", "book"}

    def time(self) -> str:
        return f"{self.clock // 60:02d}:{self.clock % 60:02d}"

    def site_of(self, name: str) -> str:
        seen = name
        for _ in range(6):
            if seen in self.task.sites:
                return self.task.sites[seen]
            places = sorted(self.world.where.get(seen, ()))
            if not places:
                return "lost" if name != self.world.held else self.site
            seen = places[0]
        return "lost"

    def states(self, name: str) -> str:
        w, kind, said = self.world, noun(name), []
        if kind == "laptop" or kind in _OPENS:
            said.append("open" if name in w.open else "closed")
        if kind in _TURNS:
            said.append("turned on" if name in w.on else "turned off")
        if kind in _FILLS:
            said.append(f"filled with {w.liquid[name]}" if name in w.liquid else "empty")
        if kind in _DIRTIES:
            said.append("dirty" if name in w.dirty else "clean")
        if kind == "egg":
            said += ["not sliced", "cracked" if name in w.cracked else "not cracked"]
        if kind == "bread":
            said.append("not sliced")
        return f"{name} ({' and '.join(said)})" if said else name

    def relations(self, name: str) -> list[str]:
        told = []
        for place in sorted(self.world.where.get(name, ())):
            told.append(f"{name} is {'inside' if noun(place) in _HOLLOW else 'on top of'} {place}")
            # A bowl on a table: what is in it is often seen on the table, too.
            for below in self.world.where.get(place, ()):
                if self.random.random() < 0.2:
                    told.append(f"{name} is {'inside' if noun(below) in _HOLLOW else 'on top of'} {below}")
        if name in self.world.cover:
            told.append(f"{name} is below {self.world.cover[name]}")
        if told and self.random.random() < 0.4:
            side = self.random.choice(["left", "right"])
            other = self.random.choice(["spoon", "salt shaker", "soap bottle"])
            told.append(f"{name} is on the {side} of {other}")
        return told

    def exists(self, name: str) -> bool:
        return name not in self.world.cut

    def visible(self) -> list[str]:
        names = dict.fromkeys([*self.task.sites, *self.world.where])
        near = [n for n in names if self.site_of(n) == self.site and noun(n) not in _PLAIN]
        here = [n for n in near if n != self.world.held and self.exists(n) and not self.world.shut_in(n)]
        here = [n for n in here if self.random.random() >= self.noise]
        self.random.shuffle(here)
        return here

    def note(self, text: str, end: bool = False) -> None:
        seen = self.visible()
        if self.world.held:
            seen.append(self.world.held)
        self.ever |= set(seen)
        relevant = [n for n in seen if n not in self.neighbours or n == self.world.held]
        told = [r for n in seen for r in self.relations(n) if n != self.world.held]
        held = self.world.held or "nothing"
        if self.random.random() < self.noise:
            told += [f"{n} is inside {held}" for n in seen[:1] if held not in ("nothing", n)]
            told += [f"garbage can is inside {n}" for n in seen if noun(n) == "fridge"]
        held = held.removesuffix(" slice") if self.random.random() < self.noise else held
        told.append(f"{held} is inside robot gripper")
        line = f"{self.time()}. Action: {text}. Visual observation: "
        listed = ", ".join(self.states(n) for n in relevant)
        line += (f"{listed}. " if listed else "") + ". ".join(told) + "."
        if self.random.random() < 0.25:
            line += f" Auditory observation: {self.random.choice(_SOUNDS)}."
        self.events.append(line)
        self.spans[-1][1].append(self.time())
        if end:
            self.subgoals.append(line.replace(". Action: ", ". Goal: ", 1))
        self.clock += self.random.randint(1, 4)

    def go(self, name: str, mishap: Callable[[], None] | None) -> None:
        target = self.site_of(name)
        self.note(f"Move to {name}")
        if mishap is not None:
            mishap()
            self.note(f"Move to {name}")
        self.site = target if target != "lost" else self.site
        self.note(f"Move to {name}")

    def perform(self, number: int, step: Action, fault: Fault) -> None:
        self.spans.append((number, []))
        name = step.arguments[-1] if step.operator in ("put_in", "put_on", "pour") else step.arguments[0]
        mishap = None
        if fault.drop == number and self.world.held:
            mishap = self.drop
        if self.site_of(name) != self.site or mishap or self.random.random() < 0.3:
            self.go(name, mishap)
        really = fault.instead.get(number, step)
        failed = fault.fails == number or self.world.do(really) is not None
        self.done.append(self.achieved(step) if failed or really != step else True)
        self.note(_VERBS[step.operator].format(*fault.words.get(number, step).arguments), end=True)

    def achieved(self, step: Action) -> bool:
        """Whether what a step is for is so, whoever brought it about."""
        w, (first, *others) = self.world, step.arguments
        match step.operator:
            case "pick_up":
                return w.held == first
            case "put_in" | "put_on":
                return w.held != first and others[0] in w.where.get(first, ())
            case "open_obj" | "close_obj":
                return (first in w.open) == (step.operator == "open_obj")
            case "toggle_on" | "toggle_off":
                return (first in w.on) == (step.operator == "toggle_on")
            case "slice_obj":
                return first in w.cut
            case "crack_obj":
                return first in w.cracked
        return w.held == first and first not in w.liquid and (others[0] == "sink" or others[0] in w.liquid)

    def drop(self) -> None:
        assert self.world.held is not None
        thing, self.world.held = self.world.held, None
        self.clock += 1
        for other in [o for o, places in self.world.where.items() if thing in places]:
            self.world.where[other] = set()
        self.world.liquid.pop(thing, None)
        lying = [site for site, part in self.task.sites.items() if part == self.site and "countertop" in site]
        self.world.where[thing] = {lying[0]} if lying and self.random.random() < 0.5 else set()


@dataclass(frozen=True)
class Fault:
    """How a run is made to fail, besides changes of the plan and the scene."""

    drop: int = -1
    fails: int = -1
    instead: dict[int, Action] = field(default_factory=dict)
    words: dict[int, Action] = field(default_factory=dict)


def world_of(task: Task) -> World:
    world = World(
        where={site: set() for site in task.sites} | {thing: {place} for thing, place in task.where.items()},
        liquid=dict(task.filled),
        dirty=set(task.dirty),
        open=set(task.opened),
        on=set(task.on),
    )
    return world


def story(
    task: Task, plan: list[Action], world: World, fault: Fault, injected: Injected, seed: int, noise: float = 0.0
) -> Story:
    """Carry a plan out and write the log.

    Args:
        noise: how often a thing in view goes unnoticed, a slice is taken for what it was cut from, or something that is
            merely behind a thing is said to be in it.
    """
    robot = Robot(task, world, seed, noise)
    for number, step in enumerate(plan):
        robot.perform(number, step, fault)
    told = [n for n in sorted(robot.ever) if robot.exists(n) and noun(n) not in _PLAIN]
    told += [n for n in world.where if robot.exists(n) and n not in told and not world.shut_in(n)
             and robot.site_of(n) == robot.site]  # fmt: skip
    told = [n for n in told if robot.site_of(n) != "lost"]
    world_relations = [
        f"{n} is {'inside' if noun(p) in _HOLLOW else 'on top of'} {p}"
        for n in told
        if n != world.held
        for p in sorted(world.where.get(n, ()))
    ]
    final = ", ".join(robot.states(n) for n in told) + ". "
    final += ". ".join([*world_relations, f"{world.held or 'nothing'} is inside robot gripper"]) + "."
    times = [t for number, span in robot.spans for t in span if injected.first <= number <= injected.last]
    document = {
        "task": task.name,
        "plan": [str(fault.words.get(n, step)) for n, step in enumerate(plan)],
        "success_state": task.success,
        "event_summary": robot.events,
        "subgoal_summary": robot.subgoals,
        "final_state": final,
    }
    return Story(document, injected, tuple(times), world, robot.done)


def changed(task: Task, **fields: Any) -> Task:
    return replace(task, **fields)

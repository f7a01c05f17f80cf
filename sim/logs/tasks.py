"""Household tasks as initial states and goals; plans are found by the common search."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains.base import State
from nsrecover.domains.household.scene import household
from sim.kitchen.tasks import plan_for
from sim.logs.things import is_a
from sim.logs.world import World

ROOM: Mapping[str, str] = {
    "first countertop": "stove", "first stove burner": "stove", "second stove burner": "stove",
    "third stove burner": "stove", "oven": "stove", "second countertop": "sink", "sink": "sink", "faucet": "sink",
    "cabinet": "sink", "third countertop": "machines", "coffee machine": "machines", "toaster": "machines",
    "microwave": "corner", "fridge": "fridge", "dining table": "table", "house plant": "table", "shelf": "hall",
    "garbage can": "hall", "tv stand": "parlour", "television": "parlour", "coffee table": "sofa", "sofa": "sofa",
    "desk": "study", "drawer": "study", "floor lamp": "study",
}  # fmt: skip
"""Fixture -> the part of the home from which it is seen."""

TABLES = ("first countertop", "second countertop", "third countertop", "dining table", "shelf", "coffee table", "desk")
_SPARE = ("spoon", "salt shaker", "apple", "book", "cell phone", "spatula", "lemon", "box", "candle", "plate", "cup")


@dataclass(frozen=True)
class Task:
    """A task in one home.

    Attributes:
        family: which task it is, in words.
        goal: what has to hold in the end, as the task says it.
        implied: what has to hold besides without being said: what food and drink is in is clean.
        world: the home at the start.
        plan: steps that lead from the start to the goal.
        twins: thing -> a similar one that can be mistaken for it.
    """

    family: str
    goal: tuple[StateFact, ...]
    implied: tuple[StateFact, ...]
    world: World
    plan: tuple[Action, ...]
    twins: Mapping[str, str]


@dataclass(frozen=True)
class Sketch:
    """What distinguishes a task from others: where its things are at the start and what holds in the end."""

    goal: tuple[StateFact, ...]
    where: tuple[tuple[str, str], ...]
    filled: tuple[tuple[str, str], ...] = ()
    dirty: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    on: tuple[str, ...] = ()


Drawing = Callable[[random.Random], Sketch]


def _boil(chance: random.Random) -> Sketch:
    vessel, burner = chance.choice(("pot", "kettle")), chance.choice(("second stove burner", "third stove burner"))
    goal = (("filled", vessel, "water"), ("at", vessel, burner), ("running", burner))
    return Sketch(goal, ((vessel, "third countertop"),))


def _toast(chance: random.Random) -> Sketch:
    return Sketch(
        (("at", "bread slice", "toaster"), ("running", "toaster")),
        (("bread", "second countertop"), ("knife", chance.choice(("first countertop", "dining table")))),
    )


def _fry(chance: random.Random) -> Sketch:
    burner = chance.choice(("first stove burner", "second stove burner"))
    goal = (("cracked", "egg"), ("at", "egg", "pan"), ("at", "pan", burner), ("running", burner))
    return Sketch(goal, (("egg", chance.choice(("fridge", "second countertop"))), ("pan", "first countertop")))


def _heat(chance: random.Random) -> Sketch:
    food, dish = chance.choice(("tomato", "potato", "carrot")), chance.choice(("plate", "bowl"))
    goal = (("at", food, dish), ("at", dish, "microwave"), ("running", "microwave"))
    return Sketch(goal, ((food, "first countertop"), (dish, "dining table")))


def _coffee(chance: random.Random) -> Sketch:
    vessel, place = chance.choice(("mug", "cup")), chance.choice(("dining table", "third countertop"))
    dirty = (vessel,) if chance.random() < 0.4 else ()
    goal = (("clean", vessel), ("filled", vessel, "coffee"), ("at", vessel, place))
    return Sketch(goal, ((vessel, "second countertop"),), dirty=dirty)


def _store(chance: random.Random) -> Sketch:
    food, dish = chance.choice(("apple", "egg", "pear", "lettuce")), chance.choice(("bowl", "box"))
    goal = (("at", food, dish), ("at", dish, "fridge"), ("closed", "fridge"))
    return Sketch(goal, ((food, "first countertop"), (dish, "dining table")))


def _salad(chance: random.Random) -> Sketch:
    one, two = chance.sample(("tomato", "lettuce", "cucumber", "onion", "carrot"), 2)
    goal = (("at", f"{one} slice", "bowl"), ("at", f"{two} slice", "bowl"), ("at", "bowl", "dining table"))
    where = ((one, "first countertop"), (two, "first countertop"), ("knife", "second countertop"))
    return Sketch(goal, (*where, ("bowl", "first countertop")))


def _water(chance: random.Random) -> Sketch:
    vessel = chance.choice(("jug", "watering can", "mug"))
    return Sketch((("filled", "house plant", "water"),), ((vessel, "third countertop"),))


def _devices(chance: random.Random) -> Sketch:
    goal = (
        ("closed", "laptop"),
        ("at", "laptop", chance.choice(("tv stand", "coffee table"))),
        ("running", "television"),
    )
    return Sketch(goal, (("laptop", "desk"), ("remote control", chance.choice(("sofa", "shelf")))), open=("laptop",))


def _warm(chance: random.Random) -> Sketch:
    vessel = chance.choice(("mug", "cup", "bowl"))
    goal = (("filled", vessel, "water"), ("hot", vessel), ("at", vessel, "dining table"))
    return Sketch(goal, ((vessel, "second countertop"),))


def _juice(chance: random.Random) -> Sketch:
    drink, vessel = chance.choice(("juice", "milk")), chance.choice(("glass", "mug"))
    source, where = chance.choice((("bottle", "fridge"), ("jug", "second countertop"), ("bottle", "shelf")))
    goal = (("filled", vessel, drink), ("at", vessel, chance.choice(("dining table", "coffee table"))))
    return Sketch(goal, ((source, where), (vessel, "third countertop")), filled=((source, drink),))


def _dishes(chance: random.Random) -> Sketch:
    dish = chance.choice(("plate", "pan", "cup"))
    goal = (("clean", dish), ("at", dish, "cabinet"), ("closed", "cabinet"))
    return Sketch(goal, ((dish, chance.choice(("dining table", "coffee table"))),), dirty=(dish,))


def _bake(chance: random.Random) -> Sketch:
    food = chance.choice(("potato", "bread", "onion"))
    goal = (("at", food, "tray"), ("at", "tray", "oven"), ("closed", "oven"), ("running", "oven"))
    return Sketch(goal, ((food, chance.choice(("fridge", "second countertop"))), ("tray", "first countertop")))


def _lunch(chance: random.Random) -> Sketch:
    food = chance.choice(("pear", "cheese", "lemon"))
    goal = (("at", f"{food} slice", "box"), ("at", "box", "desk"))
    return Sketch(goal, ((food, "second countertop"), ("knife", "first countertop"), ("box", "third countertop")))


def _study(chance: random.Random) -> Sketch:
    thing = chance.choice(("book", "cell phone", "candle"))
    goal = (("at", thing, "drawer"), ("closed", "drawer"), ("off", "floor lamp"))
    return Sketch(goal, ((thing, chance.choice(("sofa", "dining table"))),), on=("floor lamp",))


def _flowers(chance: random.Random) -> Sketch:
    goal = (("filled", "vase", "water"), ("at", "vase", chance.choice(("coffee table", "desk", "shelf"))))
    return Sketch(goal, (("vase", chance.choice(("dining table", "tv stand"))),))


DEVELOPMENT: Mapping[str, Drawing] = {
    "boil water": _boil, "toast bread": _toast, "fry an egg": _fry, "heat food": _heat, "make coffee": _coffee,
    "store food in the fridge": _store, "make a salad": _salad, "water the plant": _water,
    "put the laptop away and switch the television on": _devices, "serve warm water": _warm,
}  # fmt: skip
"""Tasks to develop and calibrate with."""

HELD_OUT: Mapping[str, Drawing] = {
    "serve a drink": _juice, "wash up": _dishes, "bake": _bake, "pack lunch": _lunch, "tidy the study": _study,
    "put out a vase": _flowers,
}  # fmt: skip
"""Tasks to measure with."""

_TOOLS = {"water": {"sink", "faucet"}, "clean": {"sink", "faucet"}, "coffee": {"coffee machine"}, "hot": {"microwave"}}

_TWINS = {
    "pot": "pan", "kettle": "pot", "pan": "pot", "mug": "cup", "cup": "mug", "glass": "cup", "plate": "bowl",
    "bowl": "plate", "box": "bowl", "jug": "vase", "bottle": "jug", "vase": "jug", "watering can": "bucket",
    "tray": "plate", "tomato": "apple", "potato": "onion", "carrot": "cucumber", "apple": "tomato", "pear": "apple",
    "lettuce": "cucumber", "egg": "lemon", "onion": "potato", "cucumber": "carrot", "bread": "cheese",
    "cheese": "bread", "lemon": "pear", "book": "box", "cell phone": "remote control", "candle": "vase",
    "knife": "spoon", "laptop": "book", "remote control": "cell phone",
}  # fmt: skip


def draw(family: str, chance: random.Random) -> Task:
    """A task of a family in a home drawn at random.

    Args:
        family: a key of `DEVELOPMENT` or `HELD_OUT`.
        chance: source of randomness.
    """
    sketch = {**DEVELOPMENT, **HELD_OUT}[family](chance)
    plan = _plan(sketch)
    named = {name for name, _ in sketch.where}
    world = _world(sketch)
    doors = [place for _, place in sketch.where if is_a(place, "door")]
    twins = {}
    for name in sorted(named):
        twin = _TWINS[name]
        if twin not in named and twin not in world.where:
            place = next(iter(world.where[name]))
            world.where[twin] = {place if place not in doors and chance.random() < 0.5 else chance.choice(TABLES)}
            twins[name] = twin
    for name in chance.sample(_SPARE, 4):
        if name not in world.where:
            world.where[name] = {chance.choice(TABLES)}
    world.where["tomato" if "tomato" not in world.where else "milk carton"] = {"fridge"}
    implied = tuple(
        ("clean", dish)
        for dish in dict.fromkeys(
            [fact[2] for fact in sketch.goal if fact[0] == "at" and is_a(fact[2], "dish") and is_a(fact[1], "food")]
            + [fact[1] for fact in sketch.goal if fact[0] == "filled" and is_a(fact[1], "dish")]
        )
        if ("clean", dish) not in sketch.goal
    )
    return Task(family, sketch.goal, implied, world, plan, twins)


def _world(sketch: Sketch) -> World:
    where: dict[str, set[str]] = {name: set() for name in ROOM} | {name: {place} for name, place in sketch.where}
    where["house plant"] = {"dining table"}
    where["television"] = {"tv stand"}
    where.setdefault("remote control", {"coffee table"})
    return World(
        where=where, liquid=dict(sketch.filled), dirty=set(sketch.dirty), open=set(sketch.open), on=set(sketch.on)
    )


@cache
def _plan(sketch: Sketch) -> tuple[Action, ...]:
    """A plan of the common search, checked in the household."""
    world = _world(sketch)
    kept = {name for name, _ in sketch.where} | {name for fact in sketch.goal for name in fact[1:]}
    kept |= {place for _, place in sketch.where} | {"second countertop"}
    for fact in sketch.goal:
        kept |= _TOOLS.get(fact[0], set()) | _TOOLS.get(fact[-1], set())
    kept -= {"water", "coffee", "juice", "milk"}
    kept |= {"remote control"} if any(fact == ("running", "television") for fact in sketch.goal) else set()
    home = household(sorted(name.removesuffix(" slice") for name in kept), complete=True)
    plan = plan_for(home, facts_of(world, kept), sketch.goal)
    now = world.copy()
    steps = tuple(plan or ())
    refused = [reason for step in steps if (reason := now.do(step)) is not None]
    if not steps or refused or not all(map(now.holds, sketch.goal)):
        raise AssertionError(f"expected a plan for {sketch.goal}, found {plan}: {refused}")
    return steps


def facts_of(world: World, names: set[str]) -> State:
    """A household as facts of the household domain, for the search for plans."""
    facts: set[StateFact] = {("at", name, place) for name in names for place in world.where.get(name, ())}
    for predicate, those in (("open", world.open), ("running", world.on), ("dirty", world.dirty)):
        facts |= {(predicate, name) for name in those & names}
    facts |= {("filled", name, what) for name, what in world.liquid.items() if name in names}
    return frozenset(facts)


def with_world(task: Task, world: World, plan: tuple[Action, ...] | None = None) -> Task:
    """A task in another home, or with another plan."""
    return replace(task, world=world, plan=task.plan if plan is None else plan)

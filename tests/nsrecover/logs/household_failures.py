"""Household tasks and every kind of failure that can be injected into them."""

import random
from collections.abc import Iterator

from eval.logs.household_world import conditions_of, satisfied
from nsrecover.core.actions import Action
from nsrecover.domains.household.names import noun
from tests.nsrecover.logs.household_runs import (
    Fault,
    Injected,
    Story,
    Task,
    changed,
    steps_of,
    story,
    world_of,
)

_ROOM = {
    "first countertop": "stove", "first stove burner": "stove", "second stove burner": "stove",
    "third stove burner": "stove", "second countertop": "sink", "sink": "sink", "faucet": "sink",
    "third countertop": "machines", "coffee machine": "machines", "toaster": "machines", "microwave": "oven corner",
    "fridge": "fridge", "dining table": "table",
}  # fmt: skip
_PARLOUR = {"tv stand": "screen", "television": "screen", "coffee table": "sofa", "sofa": "sofa", "desk": "desk"}

TASKS = (
    Task(
        "boil water",
        ("pick_up, kettle", "put_in, kettle, sink", "toggle_on, faucet", "toggle_off, faucet", "pick_up, kettle",
         "put_on, kettle, third stove burner", "toggle_on, third stove burner"),
        "a kettle is filled with water, the kettle is on top of a stove burner that is turned on.",
        _ROOM,
        {"kettle": "third countertop", "jug": "third countertop"},
    ),
    Task(
        "toast bread",
        ("pick_up, knife", "slice_obj, bread", "put_on, knife, second countertop", "pick_up, bread slice",
         "put_in, bread slice, toaster", "toggle_on, toaster"),
        "bread slice is inside a toaster that is turned on.",
        _ROOM,
        {"knife": "first countertop", "bread": "second countertop", "spatula": "first countertop"},
    ),
    Task(
        "fry an egg",
        ("open_obj, fridge", "pick_up, egg", "close_obj, fridge", "toggle_on, second stove burner",
         "put_on, egg, first countertop", "pick_up, pan", "put_on, pan, second stove burner", "pick_up, egg",
         "crack_obj, egg", "put_in, egg, pan"),
        "an egg is cracked and in a pan, the pan is on top a stove burner that is turned on.",
        _ROOM,
        {"egg": "fridge", "pan": "first countertop", "tomato": "fridge"},
    ),
    Task(
        "heat tomato",
        ("pick_up, tomato", "put_on, tomato, plate", "pick_up, plate", "put_on, plate, third countertop",
         "open_obj, microwave", "pick_up, plate", "put_in, plate, microwave", "close_obj, microwave",
         "toggle_on, microwave"),
        "a tomato is on a plate and inside a microwave that is turned on.",
        _ROOM,
        {"tomato": "first countertop", "plate": "dining table", "apple": "first countertop"},
    ),
    Task(
        "make coffee",
        ("pick_up, jug", "put_in, jug, sink", "toggle_on, faucet", "toggle_off, faucet", "pick_up, jug",
         "pour, jug, sink", "put_in, jug, coffee machine", "toggle_on, coffee machine", "toggle_off, coffee machine",
         "pick_up, jug", "put_on, jug, third countertop"),
        "A clean jug is filled with coffee and on top of the countertop.",
        _ROOM,
        {"jug": "dining table", "bowl": "dining table"},
        dirty=("jug",),
    ),
    Task(
        "store an apple",
        ("pick_up, apple", "put_in, apple, bowl", "open_obj, fridge", "pick_up, bowl", "put_in, bowl, fridge",
         "close_obj, fridge"),
        "A bowl with an apple is stored inside the fridge.",
        _ROOM,
        {"apple": "first countertop", "bowl": "dining table", "tomato": "first countertop", "pan": "dining table"},
    ),
    Task(
        "make a salad",
        ("pick_up, carrot", "put_on, carrot, first countertop", "pick_up, knife", "slice_obj, carrot",
         "slice_obj, onion", "slice_obj, tomato", "put_on, knife, first countertop", "pick_up, carrot slice",
         "put_in, carrot slice, bowl", "pick_up, onion slice", "put_in, onion slice, bowl", "pick_up, tomato slice",
         "put_in, tomato slice, bowl", "open_obj, fridge", "pick_up, bowl", "put_in, bowl, fridge",
         "close_obj, fridge"),
        "a bowl of carrot, onion and tomato is stored inside the fridge.",
        _ROOM,
        {"carrot": "second countertop", "onion": "first countertop", "tomato": "first countertop",
         "knife": "first countertop", "bowl": "first countertop", "apple": "second countertop"},
    ),
    Task(
        "water the plant",
        ("pick_up, jug", "put_in, jug, sink", "toggle_on, faucet", "toggle_off, faucet", "pick_up, jug",
         "pour, jug, house plant"),
        "the house plant is filled with water.",
        {**_ROOM, "house plant": "table"},
        {"jug": "first countertop", "house plant": "dining table", "bowl": "first countertop"},
    ),
    Task(
        "close the laptop and switch the television on",
        ("close_obj, laptop", "pick_up, laptop", "put_on, laptop, tv stand", "pick_up, remote control",
         "toggle_on, television", "put_on, remote control, tv stand"),
        "A closed Laptop is on the TVStand and television is turned on.",
        _PARLOUR,
        {"laptop": "desk", "remote control": "coffee table", "television": "tv stand", "book": "coffee table",
         "cell phone": "coffee table"},
        opened=("laptop",),
    ),
    Task(
        "serve warm water",
        ("pick_up, mug", "put_in, mug, sink", "toggle_on, faucet", "toggle_off, faucet", "pick_up, mug",
         "put_on, mug, third countertop", "open_obj, microwave", "pick_up, mug", "put_in, mug, microwave",
         "close_obj, microwave", "toggle_on, microwave", "toggle_off, microwave", "open_obj, microwave",
         "pick_up, mug", "put_on, mug, dining table"),
        "a mug of warm water is on the dining table.",
        _ROOM,
        {"mug": "first countertop", "cup": "first countertop"},
    ),
)  # fmt: skip


def success(task: Task, seed: int, noise: float = 0.0) -> Story:
    plan = steps_of(task.plan)
    return story(task, plan, world_of(task), Fault(), Injected(("none",), (), -1, -1, False), seed, noise)


def failures(task: Task, seed: int, noise: float = 0.0) -> Iterator[tuple[str, Story]]:
    """Every failure that a task can have, each once."""
    plan = steps_of(task.plan)
    chance = random.Random(seed)
    yield from _dropped(task, plan, seed, noise)
    yield from _without_effect(task, plan, seed, noise)
    yield from _mistaken(task, plan, seed, noise, chance)
    yield from _blocked_and_occupied(task, plan, seed, noise)
    yield from _left_out(task, plan, seed, noise)
    yield from _swapped(task, plan, seed, noise)
    yield from _wrong_in_the_plan(task, plan, seed, noise)


def _run(task: Task, plan: list[Action], fault: Fault, injected: Injected, seed: int, noise: float) -> Story:
    return story(task, plan, world_of(task), fault, injected, seed, noise)


def _dropped(task: Task, plan: list[Action], seed: int, noise: float) -> Iterator[tuple[str, Story]]:
    for number, step in enumerate(plan):
        if step.operator in ("put_in", "put_on", "pour"):
            injected = Injected(("dropped",), step.arguments[:1], number, number)
            yield f"drop before {number}", _run(task, plan, Fault(drop=number), injected, seed + number, noise)


def _without_effect(task: Task, plan: list[Action], seed: int, noise: float) -> Iterator[tuple[str, Story]]:
    for number, step in enumerate(plan):
        if step.operator == "toggle_off":
            continue
        causes = ("missed_grasp",) if step.operator == "pick_up" else ("action_failed",)
        injected = Injected(causes, step.arguments[:1], number, number)
        yield f"no effect {number}", _run(task, plan, Fault(fails=number), injected, seed + number, noise)


def _mistaken(
    task: Task, plan: list[Action], seed: int, noise: float, chance: random.Random
) -> Iterator[tuple[str, Story]]:
    named = {name for step in plan for name in step.arguments}
    for number, step in enumerate(plan):
        spare = [n for n in task.where if n not in named and n not in task.sites
                 and task.where[n] == task.where.get(step.arguments[0])]  # fmt: skip
        if step.operator == "pick_up" and spare and not any(s.arguments[:1] == step.arguments for s in plan[:number]):
            other = chance.choice(spare)
            injected = Injected(("mistaken_object",), (step.arguments[0], other), number, number)
            fault = Fault(instead={number: Action("pick_up", (other,))})
            yield f"mistaken {number}", _run(task, plan, fault, injected, seed + number, noise)


def _blocked_and_occupied(task: Task, plan: list[Action], seed: int, noise: float) -> Iterator[tuple[str, Story]]:
    for number, step in enumerate(plan):
        if step.operator == "pick_up" and task.where.get(step.arguments[0]) not in (None, "fridge") and not any(
            s.arguments[:1] == step.arguments for s in plan[:number]
        ):  # fmt: skip
            world = world_of(task)
            other = "tray"
            world.where[other] = set(world.where[step.arguments[0]])
            world.cover[step.arguments[0]] = other
            injected = Injected(("blocked",), (step.arguments[0], other), number, number)
            yield f"blocked {number}", story(task, plan, world, Fault(), injected, seed + number, noise)
        if step.operator in ("put_in", "put_on") and noun(step.arguments[1]) in (
            "microwave", "coffee machine", "toaster", "stove burner"
        ):  # fmt: skip
            world = world_of(task)
            # A cup on a burner that is turned on would be a failure of its own.
            spare = ("kettle", "pot", "pan") if "burner" in step.arguments[1] else ("cup", "bowl", "mug")
            other = next(n for n in spare if n not in task.where)
            world.where[other] = {step.arguments[1]}
            injected = Injected(("occupied",), (step.arguments[1], other), number, number)
            yield f"occupied {number}", story(task, plan, world, Fault(), injected, seed + number, noise)


def _left_out(task: Task, plan: list[Action], seed: int, noise: float) -> Iterator[tuple[str, Story]]:
    """Leaving out a step: what it brings about is missed by the next step that needs it, or at the end."""
    for number, step in enumerate(plan):
        rest = plan[:number] + plan[number + 1 :]
        if step.operator == "toggle_off" or _harmless(task, rest):
            continue
        if step.operator in ("put_in", "put_on") and any(s.operator == "pick_up" for s in rest[number:]):
            causes = ("missing_step", "wrong_order", "wrong_object")
        else:
            causes = ("missing_step",)
        if step.operator == "open_obj":
            causes = ("never_opened", "missing_step", "wrong_order")
        if step.operator == "pick_up" and step.arguments[0] == "knife":
            causes = ("missing_step",)
        if step.operator == "close_obj":
            causes = ("missing_step", "wrong_order")
        yield (
            f"left out {number}",
            _run(task, rest, Fault(), Injected(causes, (), max(number - 1, 0), len(plan)), seed + number, noise),
        )


def _swapped(task: Task, plan: list[Action], seed: int, noise: float) -> Iterator[tuple[str, Story]]:
    """Two neighbours in the wrong order, where that matters."""
    for number in range(len(plan) - 1):
        order = [*plan[:number], plan[number + 1], plan[number], *plan[number + 2 :]]
        if _harmless(task, order) or plan[number] == plan[number + 1]:
            continue
        causes = ("wrong_order", "missing_step", "wrong_object", "never_opened", "undone_by_plan")
        injected = Injected(causes, (), number, len(plan))
        yield f"swapped {number}", _run(task, order, Fault(), injected, seed + number, noise)


def _wrong_in_the_plan(task: Task, plan: list[Action], seed: int, noise: float) -> Iterator[tuple[str, Story]]:
    last = plan[-1]
    for number, step in enumerate(plan):
        if step.operator == "toggle_on" and noun(step.arguments[0]) == "stove burner":
            wrong = [*plan[:number], Action("toggle_on", ("first stove burner",)), *plan[number + 1 :]]
            on = next(n for n, s in enumerate(plan) if s.operator == "put_on" and s.arguments[1] == step.arguments[0])
            span = sorted((on, number))
            injected = Injected(("wrong_object",), (step.arguments[0], "first stove burner"), span[0], span[1], False)
            yield "wrong burner", _run(task, wrong, Fault(), injected, seed, noise)
            vague = {n: Action(s.operator, tuple("stove burner" if "burner" in a else a for a in s.arguments))
                     for n, s in enumerate(wrong) if any("burner" in a for a in s.arguments)}  # fmt: skip
            injected = Injected(("ambiguous_name",), ("first stove burner",), span[0], span[1], False)
            yield "some burner", _run(task, wrong, Fault(words=vague), injected, seed, noise)
        if step.operator in ("toggle_on", "close_obj") and step.arguments[0] in ("television", "laptop"):
            opposite = {"toggle_on": "toggle_off", "close_obj": "toggle_on"}[step.operator]
            wrong = [*plan[:number], Action(opposite, step.arguments), *plan[number + 1 :]]
            injected = Injected(("wrong_action",), step.arguments, number, number, False)
            yield f"wrong action {number}", _run(task, wrong, Fault(), injected, seed, noise)
    if last.operator == "toggle_on":
        wrong = [*plan, Action("toggle_off", last.arguments)]
        injected = Injected(("undone_by_plan",), last.arguments, len(plan), len(plan), False)
        yield "undone", _run(task, wrong, Fault(), injected, seed, noise)
    picked = [n for n, s in enumerate(plan) if s.operator == "pick_up" and s.arguments[0] == "bowl"]
    if picked and "pan" in task.where:
        number = picked[0]
        wrong = [Action(s.operator, tuple("pan" if a == "bowl" else a for a in s.arguments)) if n >= number else s
                 for n, s in enumerate(plan)]  # fmt: skip
        injected = Injected(("wrong_object",), ("bowl", "pan"), number, number + 1, False)
        yield "pan for bowl", _run(task, wrong, Fault(), injected, seed, noise)
    if Action("toggle_on", ("faucet",)) in plan and not task.dirty:
        vessel = plan[0].arguments[0]
        filled = changed(task, filled={vessel: "juice"})
        injected = Injected(("already_filled",), (vessel,), 0, len(plan), False)
        if vessel in ("jug", "mug", "kettle"):
            yield "filled with juice", _run(filled, plan, Fault(), injected, seed, noise)


def _harmless(task: Task, plan: list[Action]) -> bool:
    """Whether a plan reaches the goal all the same."""
    wanted = conditions_of(task.success, tuple(steps_of(task.plan)))
    assert wanted is not None
    world = world_of(task)
    for step in plan:
        world.do(step)
    return all(satisfied(world, condition) for condition in wanted)

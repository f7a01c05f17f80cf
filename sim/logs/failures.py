"""Failures of household runs: changes of the plan, of the home at the start, or of what the robot does."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from sim.logs.tasks import TABLES, Task
from sim.logs.things import is_a
from sim.logs.world import World


@dataclass(frozen=True)
class Failure:
    """What is made to go wrong in one run, and what counts as its right diagnosis.

    Attributes:
        kind: kind of failure; `none` if nothing goes wrong.
        objects: what an explanation has to name; any one of those in a group.
        steps: indices of the steps (of the given plan) that count as the failing one.
        plan: the given plan.
        world: the home at the start.
        goal: conditions with the names of this run.
        fails: index of a step without effect.
        dropped: index of the step before which the held thing falls.
        instead: index of a step -> what the robot does in its place.
    """

    kind: str
    objects: tuple[tuple[str, ...], ...]
    steps: tuple[int, ...]
    plan: tuple[Action, ...]
    world: World
    goal: tuple[StateFact, ...]
    fails: int = -1
    dropped: int = -1
    instead: Mapping[int, Action] = field(default_factory=dict)


def runs(world: World, plan: tuple[Action, ...]) -> tuple[World, list[str | None]]:
    """The home after a plan, and for each step why it was refused."""
    now = world.copy()
    return now, [now.do(step) for step in plan]


def succeeds(world: World, plan: tuple[Action, ...], goal: tuple[StateFact, ...]) -> bool:
    """Whether every step of a plan is possible and the goal holds in the end."""
    end, refused = runs(world, plan)
    return not any(refused) and all(map(end.holds, goal))


def _reaches(world: World, plan: tuple[Action, ...], goal: tuple[StateFact, ...]) -> bool:
    return all(map(runs(world, plan)[0].holds, goal))


def _first(world: World, plan: tuple[Action, ...]) -> list[int]:
    """The first step that is refused, if one is."""
    return [number for number, reason in enumerate(runs(world, plan)[1]) if reason][:1]


def _full(task: Task) -> tuple[StateFact, ...]:
    return (*task.goal, *task.implied)


def no_failure(task: Task, chance: random.Random) -> Iterator[Failure]:
    """Nothing goes wrong."""
    yield Failure("none", (), (), task.plan, task.world, _full(task))


def missing_step(task: Task, chance: random.Random) -> Iterator[Failure]:
    """The plan lacks a step."""
    goal, world = _full(task), task.world
    for number, step in _shuffled(task, chance):
        plan = task.plan[:number] + task.plan[number + 1 :]
        fits = [i for i in range(len(plan) + 1) if succeeds(world, (*plan[:i], step, *plan[i:]), goal)]
        places = sorted({min(i, len(plan) - 1) for i in fits} | set(_first(world, plan)))
        yield Failure("missing_step", ((step.arguments[0],),), tuple(places), plan, world, goal)


def wrong_order(task: Task, chance: random.Random) -> Iterator[Failure]:
    """Two steps of the plan are exchanged."""
    goal, world = _full(task), task.world
    for number, step in _shuffled(task, chance):
        if number + 1 < len(task.plan) and task.plan[number + 1] != step:
            other = task.plan[number + 1]
            plan = (*task.plan[:number], other, step, *task.plan[number + 2 :])
            names = (*step.arguments, *other.arguments)
            steps = sorted({number, number + 1, *_first(world, plan)})
            yield Failure("wrong_order", (names,), tuple(steps), plan, world, goal)


def wrong_object(task: Task, chance: random.Random) -> Iterator[Failure]:
    """The plan names a similar thing, or the robot takes one."""
    goal, world = _full(task), task.world
    for number, step in _shuffled(task, chance):
        thing = step.arguments[0]
        twin = task.twins.get(thing)
        if step.operator == "pick_up" and twin and all(s.arguments[0] != thing for s in task.plan[:number]):
            if chance.random() < 0.5:
                instead = {number: Action("pick_up", (twin,))}
                yield Failure("wrong_object", ((thing,), (twin,)), (number,), task.plan, world, goal, instead=instead)
            else:
                plan = tuple(
                    Action(s.operator, tuple(twin if a == thing else a for a in s.arguments)) if i >= number else s
                    for i, s in enumerate(task.plan)
                )
                yield Failure("wrong_object", ((thing,), (twin,)), (number,), plan, world, goal)


def wrong_place(task: Task, chance: random.Random) -> Iterator[Failure]:
    """The plan names another place, or the robot puts a thing somewhere else."""
    goal, world = _full(task), task.world
    for number, step in _shuffled(task, chance):
        if step.operator in ("put_in", "put_on"):
            thing, place = step.arguments
            other = chance.choice([name for name in (*TABLES, "sofa") if name != place])
            wrong = Action("put_on", (thing, other))
            objects = ((thing, place), (other,))
            if chance.random() < 0.5:
                yield Failure("wrong_place", objects, (number,), task.plan, world, goal, instead={number: wrong})
            else:
                plan = (*task.plan[:number], wrong, *task.plan[number + 1 :])
                yield Failure("wrong_place", objects, tuple({number, *_first(world, plan)}), plan, world, goal)


def failed_execution(task: Task, chance: random.Random) -> Iterator[Failure]:
    """A step has no effect."""
    for number, step in _shuffled(task, chance):
        yield Failure(
            "failed_execution", ((step.arguments[0],),), (number,), task.plan, task.world, _full(task), fails=number
        )


def dropped(task: Task, chance: random.Random) -> Iterator[Failure]:
    """The held thing falls on the way to where it is needed."""
    for number, step in _shuffled(task, chance):
        if step.operator in ("put_in", "put_on", "pour") and step.arguments[0] not in ("egg", "glass"):
            if step.arguments[0] in task.world.liquid:
                # What is spilt cannot be had again.
                continue
            yield Failure(
                "dropped", (step.arguments[:1],), (number,), task.plan, task.world, _full(task), dropped=number
            )


def obstructed(task: Task, chance: random.Random) -> Iterator[Failure]:
    """Something is in front of a thing, or takes the only room of a place."""
    for number, step in _shuffled(task, chance):
        other = chance.choice(
            [n for n in ("tray", "basket", "toy", "watering can", "cup") if n not in task.world.where]
        )
        world = task.world.copy()
        if step.operator == "pick_up" and all(s.arguments[0] != step.arguments[0] for s in task.plan[:number]):
            thing = step.arguments[0].removesuffix(" slice")
            if thing != step.arguments[0] or not all(is_a(place, "flat") for place in world.where[thing]):
                continue
            world.where[other] = set(world.where[thing])
            world.cover[thing] = other
        elif step.operator in ("put_in", "put_on") and is_a(step.arguments[1], "single"):
            thing = step.arguments[1]
            other = chance.choice([n for n in ("cup", "bread", "pot") if n not in task.world.where] or ["toy"])
            world.where[other] = {thing}
        else:
            continue
        yield Failure("obstructed", ((thing,), (other,)), (number,), task.plan, world, _full(task))


def unsuitable(task: Task, chance: random.Random) -> Iterator[Failure]:
    """The chosen thing is dirty, full, too large, or does not stand heat; a suitable one is there."""
    for number, step in _shuffled(task, chance):
        thing = step.arguments[0]
        if step.operator != "pick_up" or any(thing in s.arguments for s in task.plan[:number]):
            continue
        used = {s.arguments[1] for s in task.plan if s.operator in ("put_in", "put_on") and s.arguments[0] == thing}
        reasons = [
            *(("dirty",) if ("clean", thing) in task.implied else ()),
            *(("full",) if is_a(thing, "vessel") and thing not in task.world.liquid else ()),
            *(("large",) if used & {"coffee machine", "microwave"} else ()),
            *(("metal",) if "microwave" in used else ()),
            *(("plastic",) if any("stove burner" in place for place in used) else ()),
        ]
        if not reasons:
            continue
        reason, world, plan, goal = chance.choice(reasons), task.world.copy(), task.plan, _full(task)
        steps = [number]
        if reason == "dirty":
            world.dirty.add(thing)
        elif reason == "full":
            world.liquid[thing] = "wine"
            steps += [
                i for i, s in enumerate(plan)
                if s.operator == "toggle_on" or (s.operator == "pour" and s.arguments[-1] == thing)
            ][:1]  # fmt: skip
            steps = list(range(number, max(steps) + 1))
        if reason in ("dirty", "full"):
            yield Failure("unsuitable", ((thing,),), tuple(steps), plan, world, goal)
            continue
        # The goal asks for any such thing; the plan has chosen an unsuitable one.
        wrong = f"{reason} {thing}"
        world.where[wrong] = set(world.where[thing])
        plan = tuple(Action(s.operator, tuple(wrong if a == thing else a for a in s.arguments)) for s in plan)
        yield Failure("unsuitable", ((wrong,),), tuple({number, *_first(world, plan)}), plan, world, goal)


def start_differs(task: Task, chance: random.Random) -> Iterator[Failure]:
    """A machine that is to be opened or filled is running when the plan begins."""
    for number, step in _shuffled(task, chance):
        thing = step.arguments[-1]
        if step.operator in ("open_obj", "put_in") and is_a(thing, "machine") and not any(
            thing in s.arguments for s in task.plan[:number]
        ):  # fmt: skip
            world = task.world.copy()
            world.on.add(thing)
            yield Failure("start_differs", ((thing,),), (number,), task.plan, world, _full(task))


KINDS: Mapping[str, Callable[[Task, random.Random], Iterator[Failure]]] = {
    "none": no_failure, "missing_step": missing_step, "wrong_object": wrong_object, "wrong_place": wrong_place,
    "wrong_order": wrong_order, "failed_execution": failed_execution, "dropped": dropped, "obstructed": obstructed,
    "unsuitable": unsuitable, "start_differs": start_differs,
}  # fmt: skip
"""Kind of failure -> the ways to have it in a task."""


def fail(task: Task, kind: str, chance: random.Random) -> Failure | None:
    """A failure of a kind that prevents the goal; None if the task has none."""
    for failure in KINDS[kind](task, chance):
        if kind == "none" or failure.instead or failure.fails >= 0 or failure.dropped >= 0:
            if kind == "none" or not _harmless(failure):
                return failure
        elif not _reaches(failure.world, failure.plan, failure.goal):
            return failure
    return None


def _harmless(failure: Failure) -> bool:
    """Whether the goal is reached in spite of a failed execution."""
    now = failure.world.copy()
    for number, step in enumerate(failure.plan):
        if failure.dropped == number:
            now.drop(None)
        if failure.fails != number:
            now.do(failure.instead.get(number, step))
    return all(map(now.holds, failure.goal))


def _shuffled(task: Task, chance: random.Random) -> list[tuple[int, Action]]:
    numbered = list(enumerate(task.plan))
    chance.shuffle(numbered)
    return numbered

"""Household tasks in sampled kitchens, with their plans.

`draw_task` samples a kitchen for a task, chooses which of several burners or worktops its goal means, and finds the
plan with the common search.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from nsrecover.core.actions import Action, Plan
from nsrecover.core.facts import StateFact
from nsrecover.core.recovery import RecoveryStatus
from nsrecover.domains.base import State
from nsrecover.domains.entrances import check_goal
from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.household.names import noun, slice_of
from nsrecover.domains.household.scene import HouseholdScene, formula_of, holds
from nsrecover.errors import InvalidConfiguration
from nsrecover.planning.symbolic.solving import Limits, solve
from sim.kitchen.scenes import DEFAULT_THINGS, NUM_LAYOUTS, TRAINING_LAYOUTS, KitchenSpec, ThingSpec, sample_kitchen
from sim.kitchen.task_list import Task, task_of
from sim.kitchen.truth import household_of, start_state

BUDGETS = (60, 100, 200)
"""States that a search for a plan expands at most."""
_MOST_DRAWS = 12
"""Kitchens that are drawn for a task until one is found in which it can be done."""
_CUT_FROM = math.radians(40.0)
"""Greatest angle between the longer side of food that is to be sliced and the front of its worktop."""
_EXTRAS = (2, 3, 4, 5)
"""Numbers of things that a task does not need."""


@dataclass(frozen=True)
class TaskSpec:
    """A task in one kitchen.

    Attributes:
        task: what is to be done.
        seed: of the draw.
        kitchen: at the start.
        goal: the task's goal with names of this kitchen.
        plan: actions that reach it.
    """

    task: Task
    seed: int
    kitchen: KitchenSpec
    goal: tuple[StateFact, ...]
    plan: Plan

    @cached_property
    def home(self) -> HouseholdScene:
        """The household domain over the objects of the kitchen."""
        return household_of(self.kitchen)

    @property
    def start(self) -> State:
        """The facts that hold at the start."""
        return self.home.settle(start_state(self.kitchen))

    def expected(self) -> list[State]:
        """The states that the plan is expected to lead through: before the first action, and after each of the T."""
        states = [self.start]
        for action in self.plan:
            states.append(self.home.apply(states[-1], action.operator, action.arguments))
        return states


def draw_task(name: str, seed: int, layout: int | None = None) -> TaskSpec:
    """A task in a kitchen that depends on the arguments only; kitchens in which it cannot be done are drawn again.

    Args:
        name: of the task, or its code.
        seed: of everything that varies.
        layout: number of the layout; None: any that is not held out.

    Raises:
        InvalidConfiguration: there is no such task or layout, or it cannot be done in any kitchen that was drawn.
    """
    task = task_of(name)
    if layout is not None and not 0 <= layout < NUM_LAYOUTS:
        raise InvalidConfiguration(f"expected a layout of 0 to {NUM_LAYOUTS - 1}, found {layout}")
    reason = ""
    for attempt in range(_MOST_DRAWS):
        rng = np.random.default_rng([seed, int(task.code[1:]), attempt])
        try:
            return _drawn(task, rng, seed, layout)
        except _Infeasible as found:
            reason = str(found)
    where = "the layouts" if layout is None else f"layout {layout}"
    raise InvalidConfiguration(
        f"expected a kitchen in which the task {task.name!r} can be done, found none among {_MOST_DRAWS} of {where} "
        f"with seed {seed} ({reason}); choose another layout or seed"
    )


class _Infeasible(Exception):
    """The task cannot be done in a drawn kitchen; the message is the reason."""


def _drawn(task: Task, rng: np.random.Generator, seed: int, layout: int | None) -> TaskSpec:
    number = int(rng.choice(TRAINING_LAYOUTS)) if layout is None else layout
    others = [kind for kind in DEFAULT_THINGS if kind not in task.things]
    extras = rng.permutation(others)[: int(rng.choice(_EXTRAS))]
    try:
        kitchen = sample_kitchen(int(rng.integers(2**31)), number, (*task.things, *map(str, extras)))
    except InvalidConfiguration as problem:
        raise _Infeasible(str(problem)) from problem
    kitchen = replace(kitchen, things=tuple(_prepared(task, thing, kitchen, rng) for thing in kitchen.things))
    home = household_of(kitchen)
    goal = _bound_goal(task, kitchen, rng)
    plan = plan_for(home, start_state(kitchen), goal, usable(task, home, goal))
    if plan is None:
        raise _Infeasible(f"no plan reaches the goal in layout {number}")
    return TaskSpec(task, seed, kitchen, goal, plan)


def _prepared(task: Task, thing: ThingSpec, kitchen: KitchenSpec, rng: np.random.Generator) -> ThingSpec:
    """A thing as the task finds it: in its state, and lying so that the robot can cut it if it is to be sliced."""
    noun_of = thing.kind.name
    if noun_of in task.states:
        thing = replace(thing, state=task.states[noun_of])
    if noun_of in task.cut or any(slice_of(noun_of) in condition for condition in task.goal):
        # the blade goes across the longer side, and the hand that holds it cannot come from the side
        turn = float(rng.uniform(-_CUT_FROM, _CUT_FROM)) + float(rng.choice([0.0, math.pi]))
        thing = replace(thing, yaw=math.remainder(kitchen.fixture(thing.place).yaw + turn, 2 * math.pi))
    return thing


def _bound_goal(task: Task, kitchen: KitchenSpec, rng: np.random.Generator) -> tuple[StateFact, ...]:
    """The goal with one of the fixtures of each noun."""
    nouns = dict.fromkeys(term for condition in task.goal for term in condition[1:])
    names: dict[str, str] = {}
    for each in nouns:
        found = [fixture.name for fixture in kitchen.fixtures if fixture.kind == each]
        if found:
            names[each] = str(rng.choice(found))
    return tuple((condition[0], *(names.get(term, term) for term in condition[1:])) for condition in task.goal)


def usable(task: Task, home: HouseholdScene, goal: Sequence[StateFact]) -> frozenset[str]:
    """The objects with which a plan for a task is made.

    They are what the task and its goal name, where things can be set down, and liquids. Of several fixtures of a noun,
    only the one in the goal counts.
    """
    wanted = {term for condition in goal for term in condition[1:]}
    taken = {noun(term) for term in wanted} - {"countertop", "dining table"}
    found = set(wanted)
    for name, traits in home.objects.items():
        kind = noun(name)
        if kind in taken and name not in wanted:
            continue
        named = kind in ("countertop", "dining table", *task.fixtures, *task.things)
        cut = Trait.SLICE in traits and any(slice_of(thing) == name for thing in task.things)
        if named or cut or name in ("water", "coffee"):
            found.add(name)
    return frozenset(found)


def plan_for(
    home: HouseholdScene, start: State, goal: Sequence[StateFact], objects: frozenset[str] | None = None
) -> Plan | None:
    """A plan of the household domain from a state to a goal, by the common search; None if there is none.

    What is closed or off at the start is so in the end, unless the goal says otherwise. Doors are opened and switches
    turned on as late as possible, and closed and turned off as early as possible.

    Args:
        home: the domain over the objects of a kitchen.
        start: the facts that hold.
        goal: conditions.
        objects: what the plan may use, with what these objects are in or on; all if None.

    Raises:
        InvalidConfiguration: the domain cannot express a condition of the goal.
        UnknownObject: the goal names an object that is not there.
    """
    check_goal(home, goal)
    start = home.settle(start)
    used = set(home.objects if objects is None else objects)
    for _ in range(3):
        used |= {fact[2] for fact in start if fact[0] in ("at", "atop") and fact[1] in used}
    used |= {fact[1] for fact in start if fact[0] in ("covers", "at", "atop") and _in_the_way(fact, used, home)}
    wanted = [*goal, *_restored(home, start, goal, used)]
    names = tuple(name for name in home.objects if name in used)
    for conditions in (wanted, list(goal)):
        steps = _shortest(home, start, conditions, names, _nesting(home, names, goal))
        if steps is not None:
            ordered = _well_ordered(home, start, steps, conditions)
            return Plan(tuple(ordered))
    return None


def _nesting(home: HouseholdScene, names: Sequence[str], goal: Sequence[StateFact]) -> frozenset[Action]:
    """Steps that put something on a dish or into a vessel although the goal does not say so: a pan into a pot."""
    return frozenset(
        Action(operator, (thing, dish))
        for dish in names
        if home.traits(dish) & {Trait.DISH, Trait.VESSEL}
        for thing in names
        if ("at", thing, dish) not in goal
        for operator in ("put_in", "put_on")
    )


def _shortest(
    home: HouseholdScene, start: State, goal: Sequence[StateFact], names: tuple[str, ...], forbidden: frozenset[Action]
) -> Sequence[Action] | None:
    """The shortest plan of several searches: a larger budget is spent in another order, which is not always better."""
    best: Sequence[Action] | None = None
    for budget in BUDGETS:
        formulas = [formula_of(condition) for condition in goal]
        found = solve(home, start, formulas, familiar=names, forbidden=forbidden, objects=names, limits=Limits(budget))
        if found.found and (best is None or len(found.steps) < len(best)):
            best = found.steps
        if found.proven_optimal or found.status is RecoveryStatus.IMPOSSIBLE:
            break
    return best


def _well_ordered(
    home: HouseholdScene, start: State, steps: Sequence[Action], goal: Sequence[StateFact]
) -> Sequence[Action]:
    """The same steps with doors opened and switches turned on late, and closed and turned off early."""
    kept = list(steps)
    for step in reversed(steps):
        if step.operator in ("open_obj", "toggle_on"):
            kept = _moved(home, start, kept, step, goal, late=True)
    for step in steps:
        if step.operator in ("close_obj", "toggle_off"):
            kept = _moved(home, start, kept, step, goal, late=False)
    return kept


def _moved(
    home: HouseholdScene, start: State, steps: list[Action], step: Action, goal: Sequence[StateFact], late: bool
) -> list[Action]:
    """Steps with one of them as late, or as early, as the goal is still reached."""
    at = steps.index(step)
    rest = steps[:at] + steps[at + 1 :]
    for position in range(len(rest), at, -1) if late else range(at):
        candidate = [*rest[:position], step, *rest[position:]]
        if reaches(home, start, candidate, goal):
            return candidate
    return steps


def reaches(home: HouseholdScene, start: State, steps: Sequence[Action], goal: Sequence[StateFact]) -> bool:
    """Whether steps can be carried out one after the other and achieve a goal, in the domain."""
    state = start
    for step in steps:
        if not home.applicable(state, step.operator, step.arguments):
            return False
        state = home.apply(state, step.operator, step.arguments)
    return all(holds(state, condition, home) for condition in goal)


def _in_the_way(fact: StateFact, used: set[str], home: HouseholdScene) -> bool:
    return fact[2] in used and not home.has(fact[2], Trait.SURFACE)


def _restored(home: HouseholdScene, start: State, goal: Sequence[StateFact], used: set[str]) -> Iterator[StateFact]:
    """Conditions that doors are closed and switches off in the end that are so at the start."""
    mentioned = {condition[:2] for condition in goal}
    for name in home.objects:
        for traits, rest, active in (({Trait.DOOR}, "closed", "open"), ({Trait.SWITCH}, "off", "running")):
            if (
                name in used
                and traits & home.traits(name)
                and (active, name) not in start
                and not {(rest, name), (active, name)} & mentioned
            ):
                yield rest, name

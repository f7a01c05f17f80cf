"""Plans from the state at the end of a log to its success condition."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Sequence

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.core.recovery import RecoveryStatus
from nsrecover.domains.base import State
from nsrecover.domains.household.kinds import IMPLIED
from nsrecover.domains.household.names import is_slice, noun, whole
from nsrecover.domains.instance import Instance
from nsrecover.domains.properties import literal
from nsrecover.logs.roles import RoledScene
from nsrecover.planning.symbolic.solving import Limits, solve

MAX_EXPANSIONS, MOST_EXPANSIONS = 150, 600
"""States that a search expands at most, first and last; plans rarely get shorter beyond the first."""


def correct(
    start: State,
    conditions: Sequence[StateFact],
    home: Instance,
    plan: Sequence[Action] = (),
    forbidden: Collection[Action] = (),
    order: Sequence[Action] = (),
    until: float = math.inf,
) -> tuple[Action, ...] | None:
    """A plan from a state to a goal.

    First only objects of the plan and the goal are used, then any. Doors and switches that are closed or off in the
    beginning are so in the end, unless the goal requires otherwise or that is impossible. Nothing is put on a dish or
    into a vessel unless the goal or the plan says so.

    Args:
        start: the state to start from.
        conditions: what has to hold in the end, with objects for names.
        home: the domain and its objects.
        plan: the original plan, whose objects are preferred.
        forbidden: actions that may not be used.
        order: steps in the order in which they are preferred; that of the plan if empty.
        until: when the search has to end, seconds of `time.thread_time`.

    Returns:
        The actions; None if no plan was found.
    """
    scene = RoledScene(home)
    familiar = _familiar(conditions, home, plan)
    usable = _usable(start, familiar, home)
    relevant = _relevant(start, familiar, scene)
    rounds = ((familiar, relevant, MAX_EXPANSIONS), (usable, usable, MAX_EXPANSIONS),
              (familiar, relevant, MOST_EXPANSIONS))  # fmt: skip
    odd = frozenset(home.unwanted(conditions)) - set(plan)
    hopeless = set[tuple[bool, bool]]()
    for known, objects, most in rounds:
        for tidy in (_tidy(start, conditions, scene, objects), []):
            task = (objects is relevant, bool(tidy))
            # What is impossible stays so with further states to expand, and with fewer objects.
            if task in hopeless or (False, False) in hopeless:
                continue
            wanted = [*conditions, *tidy]
            found = solve(
                home, start, [scene.formula(condition) for condition in wanted], familiar=known, prefer=plan,
                forbidden={*forbidden, *odd}, objects=objects,
                limits=Limits(most, cancelled=lambda: time.thread_time() > until),
            )  # fmt: skip
            if found.found:
                return _in_order(start, found.steps, wanted, scene, order or plan)
            if found.status is RecoveryStatus.IMPOSSIBLE:
                hopeless.add(task)
    return None


def _familiar(conditions: Sequence[StateFact], home: Instance, plan: Sequence[Action]) -> tuple[str, ...]:
    """Objects of the plan and the goal, and the appliances that a household has for them."""
    found = dict.fromkeys(name for step in plan for name in step.arguments)
    found |= dict.fromkeys(name for condition in conditions for name in condition[1:])
    words = " ".join((*found, *(condition[0] for condition in conditions)))
    needed = {name for word, names in IMPLIED.items() if word in words for name in names}
    return tuple(name for name in (*found, *(n for n in home.objects if noun(n) in needed)) if name in home.objects)


def _relevant(start: State, familiar: Collection[str], scene: RoledScene) -> frozenset[str]:
    """Familiar objects, what is held, what any plan may use, the places of all these and what is in their way."""
    home = scene.instance
    found = {*familiar, *filter(None, [scene.held(start)])}
    found |= (
        {name for name in home.means() if not is_slice(name)}
        if len(home.means()) < len(home.objects)
        else set(home.objects)
    )
    surfaces = set(scene.surfaces())
    for _ in range(3):
        found |= {place for name in found for place in scene.places(start, name)}
        for fact in start:
            inside = fact[0] in scene.locations and fact[-1] not in surfaces
            if (inside or fact[0] in scene.covers) and fact[-1] in found:
                found.add(fact[1])
    return frozenset(found & home.objects.keys())


def _usable(start: State, familiar: Collection[str], home: Instance) -> list[str]:
    """Objects that a plan may need: no slices of what is not sliced, no liquids that are nowhere."""
    present = {*familiar, *(name for fact in start for name in fact[1:])}
    present |= {name for law in home.domain.laws for fact in law.effect.adds for name in fact[2:]}
    return [
        name for name, traits in home.objects.items()
        if name in present
        or not ("liquid" in traits or (is_slice(name) and "sliceable" not in home.objects.get(whole(name), ())))
    ]  # fmt: skip


def _in_order(
    start: State, steps: Sequence[Action], conditions: Sequence[StateFact], scene: RoledScene, plan: Sequence[Action]
) -> tuple[Action, ...]:
    """The same steps in the order of the original plan, where possible.

    Doors are closed and switches turned off early; doors are opened before a hand is full.
    """
    rank = {step: number for number, step in reversed(list(enumerate(plan)))}
    # Something is put on or into a place as the plan does it.
    meant = {step.arguments: step for step in plan if scene.puts(step)}
    alike = [meant.get(step.arguments, step) if scene.puts(step) else step for step in steps]
    kept = alike if reaches(start, alike, conditions, scene) else list(steps)
    for _ in steps:
        for i in range(len(kept) - 1):
            first, second = kept[i : i + 2]
            restoring = [not scene.switches.get(step.operator, ("", True))[1] for step in (first, second)]
            takes = [step.operator in scene.grasping for step in (first, second)]
            opens = [scene.switches.get(step.operator) == ("open", True) for step in (first, second)]
            earlier = rank.get(second, len(plan)) < rank.get(first, -1) and not restoring[0]
            earlier = earlier and not (opens[0] and takes[1])
            if restoring == [False, True] or earlier or (takes[0] and opens[1]):
                swapped = [*kept[:i], second, first, *kept[i + 2 :]]
                kept = swapped if reaches(start, swapped, conditions, scene) else kept
    return tuple(kept)


def _tidy(
    start: State, conditions: Sequence[StateFact], scene: RoledScene, objects: Collection[str]
) -> list[StateFact]:
    """Conditions that objects that are closed or off are so in the end, too."""
    told = {literal(condition, scene.instance.domain)[0] for condition in conditions}
    found = list[StateFact]()
    for state in sorted({state for state, _ in scene.switches.values()}):
        operator = scene.instance.domain.operators[str(scene.setter(state, value=True))]
        variable = scene.instance.domain.variables[state]
        for name in sorted(objects):
            able = {operator.parameters[0].trait, variable.trait} <= {"", *scene.instance.objects.get(name, ())}
            switched = {"door", "lid"} if state == "open" else {"switch"} if state == "running" else set[str]()
            fits = able and (not switched or bool(switched & scene.instance.objects.get(name, frozenset())))
            if fits and (state, name) not in start and (state, name) not in told:
                found.append(("not", state, name))
    return found


def reaches(start: State, steps: Sequence[Action], conditions: Sequence[StateFact], scene: RoledScene) -> bool:
    """Whether steps can be executed one after the other and achieve the conditions."""
    state = start
    for step in steps:
        if not scene.opaque(step):
            if not scene.instance.applicable(state, step.operator, step.arguments):
                return False
            state = scene.instance.apply(state, step.operator, step.arguments)
    return all(scene.holds(state, condition) for condition in conditions)

"""Plans from the state at the end of a log to its success condition."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.core.recovery import RecoveryStatus
from nsrecover.domains.base import State
from nsrecover.domains.household.kinds import IMPLIED, Trait
from nsrecover.domains.household.names import is_slice, noun, whole
from nsrecover.domains.household.scene import HouseholdScene, formula_of, holds, places
from nsrecover.logs.effects import SWITCHES
from nsrecover.logs.reading.things import state_after
from nsrecover.planning.symbolic.solving import Limits, solve

PLACING = ("at", "atop")
"""The relations of an object to where it is."""

MAX_EXPANSIONS, MOST_EXPANSIONS = 150, 600
"""States that a search expands at most, first and last; plans rarely get shorter beyond the first."""


def correct(
    start: State,
    conditions: Sequence[StateFact],
    home: HouseholdScene,
    plan: Sequence[Action] = (),
    forbidden: Collection[Action] = (),
    order: Sequence[Action] = (),
) -> tuple[Action, ...] | None:
    """A plan from a state to a goal.

    First only objects of the plan and the goal are used, then any. Doors and switches that are closed or off in the
    beginning are so in the end, unless the goal requires otherwise or that is impossible.

    Args:
        start: the state to start from.
        conditions: what has to hold in the end, with objects for names.
        home: the objects of the log.
        plan: the original plan, whose objects are preferred.
        forbidden: actions that may not be used.
        order: steps in the order in which they are preferred; that of the plan if empty.

    Returns:
        The actions; None if no plan was found.
    """
    familiar = _familiar(conditions, home, plan)
    usable = _usable(start, familiar, home)
    relevant = _relevant(start, familiar, usable, home)
    rounds = ((familiar, relevant, MAX_EXPANSIONS), (usable, usable, MAX_EXPANSIONS),
              (familiar, relevant, MOST_EXPANSIONS))  # fmt: skip
    hopeless = set[tuple[bool, bool]]()
    for known, objects, most in rounds:
        for tidy in (_tidy(start, conditions, home, objects), []):
            task = (objects is relevant, bool(tidy))
            # What is impossible stays so with further states to expand, and with fewer objects.
            if task in hopeless or (False, False) in hopeless:
                continue
            wanted = [*conditions, *tidy]
            goal = [formula_of(condition) for condition in wanted]
            found = solve(
                home, start, goal, familiar=known, prefer=plan, forbidden=forbidden, objects=objects,
                limits=Limits(most),
            )  # fmt: skip
            if found.found:
                return _in_order(start, found.steps, wanted, home, order or plan)
            if found.status is RecoveryStatus.IMPOSSIBLE:
                hopeless.add(task)
    return None


def _familiar(conditions: Sequence[StateFact], home: HouseholdScene, plan: Sequence[Action]) -> tuple[str, ...]:
    """Objects of the plan and the goal, and the appliances that a household has for them."""
    found = dict.fromkeys(name for step in plan for name in step.arguments)
    found |= dict.fromkeys(name for condition in conditions for name in condition[1:])
    words = " ".join((*found, *(condition[0] for condition in conditions)))
    needed = {name for word, names in IMPLIED.items() if word in words for name in names}
    return tuple(name for name in (*found, *(n for n in home.objects if noun(n) in needed)) if name in home.objects)


def _relevant(start: State, familiar: Collection[str], usable: Collection[str], home: HouseholdScene) -> frozenset[str]:
    """Familiar objects, what is held, liquids, surfaces, the places of all these and what is in their way."""
    found = {*familiar, *(fact[1] for fact in start if fact[0] == "holding")}
    found |= {name for name in usable if home.traits(name) & {Trait.LIQUID, Trait.SURFACE}}
    for _ in range(3):
        found |= {place for name in found for place in places(start, name)}
        for fact in start:
            inside = fact[0] in PLACING and not home.has(fact[2], Trait.SURFACE)
            if (inside or fact[0] == "covers") and fact[2] in found:
                found.add(fact[1])
    return frozenset(found & home.objects.keys())


def _usable(start: State, familiar: Collection[str], home: HouseholdScene) -> list[str]:
    """Objects that a plan may need: no slices of what is not sliced, no liquids that are nowhere."""
    present = {*familiar, *(name for fact in start for name in fact[1:])}
    present |= {name for law in home.domain.laws for fact in law.effect.adds for name in fact[2:]}
    return [
        name
        for name in home.objects
        if name in present
        or not (home.has(name, Trait.LIQUID) or (is_slice(name) and not home.has(whole(name), Trait.SLICEABLE)))
    ]


def _in_order(
    start: State, steps: Sequence[Action], conditions: Sequence[StateFact], home: HouseholdScene, plan: Sequence[Action]
) -> tuple[Action, ...]:
    """The same steps in the order of the original plan, doors closed and switches turned off early, where possible."""
    rank = {step: number for number, step in reversed(list(enumerate(plan)))}
    kept = list(steps)
    for _ in steps:
        for i in range(len(kept) - 1):
            first, second = kept[i : i + 2]
            restoring = [not SWITCHES.get(step.operator, ("", True))[1] for step in (first, second)]
            earlier = rank.get(second, len(plan)) < rank.get(first, -1) and not restoring[0]
            if restoring == [False, True] or earlier:
                swapped = [*kept[:i], second, first, *kept[i + 2 :]]
                kept = swapped if reaches(start, swapped, conditions, home) else kept
    return tuple(kept)


def _tidy(
    start: State, conditions: Sequence[StateFact], home: HouseholdScene, objects: Collection[str]
) -> list[StateFact]:
    """Conditions that objects that are closed or off are so in the end, too."""
    wanted = {condition[:2] for condition in conditions}
    return [
        (at_rest, name)
        for name in sorted(objects)
        for traits, at_rest, other in (
            ({Trait.DOOR, Trait.LID}, "closed", "open"),
            ({Trait.SWITCH}, "off", "running"),
        )
        if traits & home.traits(name) and (other, name) not in start and not {(at_rest, name), (other, name)} & wanted
    ]


def reaches(start: State, steps: Sequence[Action], conditions: Sequence[StateFact], home: HouseholdScene) -> bool:
    """Whether steps can be executed one after the other and achieve the conditions."""
    state = state_after(home, start, tuple(steps))
    return state is not None and all(holds(state, condition, home) for condition in conditions)

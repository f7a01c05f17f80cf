"""Ground truth of the kitchen: what deviates from the fault-free run, why, and whether the goal is within reach."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nsrecover.core import Action, RecoveryStatus, StateFact
from nsrecover.domains.base import State
from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.household.names import noun, slice_of
from nsrecover.domains.household.scene import HouseholdScene, formula_of
from nsrecover.planning.symbolic.solving import Limits, solve
from sim.kitchen.faults import Fault, Snapshot
from sim.kitchen.tasks import TaskSpec, plan_for, usable
from sim.kitchen.truth import FLOOR

TOLERANCE_M = 0.05
"""A thing that stands farther than this from where it stands in the fault-free run deviates."""
CONSEQUENCE = "consequence"
"""Cause of what no fault touches directly."""
NATURAL = "natural"
"""Cause of what deviates without a fault."""
PURPOSES: Mapping[str, tuple[StateFact, ...]] = {
    "T3": (("unburnt", "egg"),),
    "T4": (("unburnt", "potato"),),
    "T6": (("raw", "egg"),),
}
"""What else the result of a task must be to be of use; without it, food could be spoilt and the task be done."""
_EXPANSIONS = 400
_CLEANING = ("sink", "faucet", "garbage can")


@dataclass(frozen=True)
class HouseholdError:
    """What is wrong after a step, by the ground truth.

    Attributes:
        step: number of the action, from 0; -1: before the first.
        deviations: thing or fixture -> how it differs from the fault-free run, in words.
        causes: the same -> the fault that touched it, `CONSEQUENCE` or `NATURAL`.
        missing: facts that should hold and do not, in words.
        excess: facts that hold and should not.
        failure: why the robot's action failed, by its own account; empty if it noticed nothing.
        reachable: whether the goal can still be reached, by the common search.
    """

    step: int
    deviations: Mapping[str, str]
    causes: Mapping[str, str]
    missing: tuple[str, ...]
    excess: tuple[str, ...]
    failure: str
    reachable: bool


def goal_of(spec: TaskSpec) -> tuple[StateFact, ...]:
    """The goal by which episodes are judged: that of the task, and its purpose."""
    return (*spec.goal, *PURPOSES.get(spec.task.code, ()))


def deviations(actual: Snapshot, expected: Snapshot) -> dict[str, str]:
    """What differs between two kitchens: facts, and places of things.

    Returns:
        Thing or fixture -> the difference in words.
    """
    found: dict[str, list[str]] = {}
    for fact in sorted(expected.facts - actual.facts):
        found.setdefault(fact[1], []).append(f"not {in_words(fact)}")
    for fact in sorted(actual.facts - expected.facts):
        found.setdefault(fact[1], []).append(in_words(fact))
    for name in actual.things.keys() & expected.things.keys():
        if {name, actual.things[name].place, expected.things[name].place} & {actual.held, expected.held} - {""}:
            # what is in the hand is where the robot is
            continue
        distance = float(np.linalg.norm(actual.positions[name] - expected.positions[name]))
        if distance > TOLERANCE_M:
            found.setdefault(name, []).append(f"{100 * distance:.0f} cm away")
    return {name: "; ".join(words) for name, words in sorted(found.items())}


def in_words(fact: StateFact) -> str:
    """`("at", "mug", "sink")` -> `at mug, sink`."""
    return f"{fact[0]} {', '.join(fact[1:])}"


def judged(
    step: int,
    action: Action,
    faults: Sequence[Fault],
    actual: Snapshot,
    expected: Snapshot,
    failure: str,
    reachable: bool,
) -> HouseholdError | None:
    """The error after a step and its causes; None if nothing deviates."""
    wrong = deviations(actual, expected)
    if not wrong:
        return None
    causes = dict.fromkeys(wrong, CONSEQUENCE if faults else NATURAL)
    for fault in reversed(faults):
        causes.update(dict.fromkeys(fault.touched(action) & wrong.keys(), fault.kind))
    missing = tuple(map(in_words, sorted(expected.facts - actual.facts)))
    excess = tuple(map(in_words, sorted(actual.facts - expected.facts)))
    return HouseholdError(step, wrong, causes, missing, excess, failure, reachable)


def reachable(spec: TaskSpec, now: Snapshot, involved: Collection[str] = ()) -> bool | None:
    """Whether the goal can be reached from a state, by the common search over the household domain.

    What lies on the floor is out of the arm's reach; a cracked egg cannot be taken out of where it is; what has been
    poured on a plant stays there.

    Args:
        spec: the task.
        now: the state.
        involved: names of what the faults have touched, which plans may use besides what the task needs.

    Returns:
        None if the search gave up.
    """
    home = replace(spec.home, objects=_limited(spec.home, now))
    goal = (*goal_of(spec), *_direct(home, goal_of(spec), now.facts))
    objects = usable(spec.task, home, goal) | {name for name in involved if name in home.objects}
    objects |= {name for name in home.objects if noun(name) in _CLEANING}
    if plan_for(home, now.facts, goal, objects) is not None:
        return True
    names = tuple(name for name in home.objects if name in objects | _places(now.facts, objects))
    formulas = [formula_of(condition) for condition in goal]
    found = solve(home, home.settle(now.facts), formulas, familiar=names, objects=names, limits=Limits(_EXPANSIONS))
    if found.found:
        return True
    return False if found.status is RecoveryStatus.IMPOSSIBLE else None


def _limited(home: HouseholdScene, now: Snapshot) -> dict[str, frozenset[str]]:
    """The objects of a household without the traits that what has happened takes from them."""
    objects = dict(home.objects)
    for name, traits in home.objects.items():
        fixed = (
            ("at", name, FLOOR) in now.facts
            or (Trait.CRACKABLE in traits and ("cracked", name) in now.facts and name != now.held)
            or (Trait.SLICEABLE in traits and ("sliced", slice_of(name)) in now.facts)
        )
        if fixed:
            objects[name] = traits - {Trait.PORTABLE}
        elif noun(name) == "house plant" and any(fact[:2] == ("filled", name) for fact in now.facts):
            objects[name] = traits - {Trait.VESSEL}
    return objects


def _direct(home: HouseholdScene, goal: Sequence[StateFact], state: State) -> list[StateFact]:
    """A cracked egg must be in the vessel of the goal itself, not in another one that is put into it."""
    wanted = {fact[1:] for fact in goal if fact[0] == "at"}
    return [
        ("away_from", *fact[1:])
        for fact in state
        if fact[0] == "at"
        and ("cracked", fact[1]) in state
        and Trait.PORTABLE in home.traits(fact[2])
        and fact[1:] not in wanted
        and any(thing == fact[1] for thing, _ in wanted)
    ]


def _places(state: State, objects: Collection[str]) -> frozenset[str]:
    """What objects are in or on, and what is in or on them."""
    pairs = [fact[1:] for fact in state if fact[0] in ("at", "atop", "covers")]
    return frozenset(name for pair in pairs if set(pair) & set(objects) for name in pair)

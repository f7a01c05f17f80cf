"""The ten cases of table A2 of Yu et al., "Scene graph-guided proactive replanning": tasks, and what is wrong."""

from __future__ import annotations

from collections.abc import Callable

from nsrecover.core.facts import StateFact
from nsrecover.domains.household.names import noun
from sim.kitchen.faults import START, Fault
from sim.kitchen.faults.initial import DirtyAtStart, FilledAtStart, OccupiedAtStart
from sim.kitchen.faults.planning import AddedSteps, WrongInPlan
from sim.kitchen.tasks import TaskSpec, plan_for

_POT_L = 0.8
"""Of another liquid in the pot."""


def _wrong_pan(spec: TaskSpec) -> Fault:
    """The plan has the cracked egg put into the pot."""
    step = next(i for i, action in enumerate(spec.plan) if action.arguments == ("egg", "pan"))
    return WrongInPlan(step, "pan", "pot")


def _cooked(spec: TaskSpec) -> Fault:
    """The plan cooks the egg in the pan first."""
    burner = next(name for name in spec.home.objects if noun(name) == "stove burner")
    return _spoiling(spec, "egg", ("cooked", "egg"), ("at", "egg", "pan"), ("at", "pan", burner))


def _spoiling(spec: TaskSpec, food: str, *facts: StateFact) -> Fault:
    """The plan begins with steps that bring something else about than the task asks for."""
    names = {name for fact in facts for name in fact[1:]} | set(spec.task.things)
    names |= {name for name in spec.home.objects if noun(name) in (*spec.task.fixtures, "countertop")}
    found = plan_for(spec.home, spec.start, [*facts, ("hand_free",)], frozenset(names))
    return AddedSteps(0, food, tuple(map(str, found or ())))


CASES: tuple[tuple[str, Callable[[TaskSpec], Fault]], ...] = (
    ("T11", lambda spec: FilledAtStart(START, "pot", "wine", _POT_L)),
    ("T11", lambda spec: FilledAtStart(START, "pot", "coffee", _POT_L)),
    ("T12", lambda spec: DirtyAtStart(START, "pan")),
    ("T12", lambda spec: OccupiedAtStart(START, "potato", "pan")),
    ("T12", _wrong_pan),
    ("T5", lambda spec: DirtyAtStart(START, "mug")),
    ("T13", _cooked),
    ("T14", lambda spec: _spoiling(spec, "tomato", ("sliced", "tomato slice"))),
    ("T15", lambda spec: _spoiling(spec, "apple", ("sliced", "apple slice"))),
    ("T16", lambda spec: DirtyAtStart(START, "mug")),
)
"""Code of the task and failure of each row of table A2 of Yu et al., in their order."""

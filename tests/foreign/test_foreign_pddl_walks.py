"""Random walks through PDDL: the same actions and facts as in the simulator of unified-planning."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from typing import Any

import pytest

from nsrecover.bridges.pddl import domain_from_pddl, scene_from_pddl
from tests.foreign.test_foreign_pddl import CASES, TABLE, WAYS, domain_in

THEIR_READER_LACKS = (
    "predicates before constants and types", "empty lists", "either in a parameter",
    "either for an object and for a type", "a variable twice in a declaration",
    "a predicate that follows from itself", "two rules for one predicate", "a parent type that is not declared",
    "constants that are objects, too", "comments, tabs and a byte order mark", "hyphens and digits everywhere",
)  # fmt: skip
WALKS = [
    (domain_in(row), row.get("init", ""), row["goal"], row.get("objects", ""))
    for case, row in CASES["read"].items()
    if case not in THEIR_READER_LACKS
]
WALKS += [(WAYS.format(cost="3"), TABLE, "(at l)", "k h l - place")]


@pytest.mark.parametrize("walk", range(len(WALKS)))
def test_random_walks_agree_with_the_simulator_of_unified_planning(walk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("unified_planning", reason="the other reader: pip install 'nsrecover[up]'")
    from unified_planning.engines import UPSequentialSimulator
    from unified_planning.environment import get_environment
    from unified_planning.io import PDDLReader

    domain, init, goal, objects = WALKS[walk]
    problem = f"(define (problem p) (:domain d) (:objects {objects}) (:init {init}) (:goal {goal}))"
    monkeypatch.setattr(get_environment(), "error_used_name", False)
    theirs = PDDLReader().parse_problem_string(domain, problem)
    instance, state, wanted = scene_from_pddl(domain_from_pddl(domain), domain, problem)
    rng, thing = random.Random(walk), get_environment().expression_manager.ObjectExp
    with UPSequentialSimulator(theirs, error_on_failed_checks=False) as simulator:
        there = simulator.get_initial_state()
        for _ in range(10):
            for fluent in theirs.fluents:
                for names in itertools.product(instance.objects, repeat=fluent.arity):
                    if fluent.type.is_bool_type() and fits(theirs, fluent.signature, names):
                        value = there.get_value(fluent(*map(theirs.object, names))).is_true()
                        assert value is ((fluent.name, *names) in state | instance.static), (fluent.name, names)
            every = [
                (action, names)
                for action in theirs.actions
                for names in itertools.product(instance.objects, repeat=len(action.parameters))
                if fits(theirs, action.parameters, names)
            ]
            given = {pair: (pair[0], [thing(theirs.object(name)) for name in pair[1]]) for pair in every}
            usable = [pair for pair in every if simulator.is_applicable(there, *given[pair])]
            assert usable == [pair for pair in every if instance.applicable(state, pair[0].name, pair[1])]
            reached = all(instance.holds(state, instance.condition(fact)) for fact in wanted)
            assert simulator.is_goal(there) is reached
            if not usable:
                break
            action, names = rng.choice(usable)
            there = simulator.apply(there, *given[action, names])
            state = instance.apply(state, action.name, names)


def fits(problem: Any, places: Sequence[Any], names: Sequence[str]) -> bool:
    """Whether objects have the types of parameters."""
    return all(place.type.is_compatible(problem.object(name).type) for place, name in zip(places, names, strict=True))

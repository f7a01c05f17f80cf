"""What is read from PDDL is a domain like any: values, roles, goals; `test_laboratory.py` runs sessions in it."""

from pathlib import Path

import pytest

import nsrecover
from nsrecover import Plan
from nsrecover.bridges.pddl import domain_from_pddl, scene_from_pddl
from nsrecover.core import StateFact
from nsrecover.domains.base import Role, State
from nsrecover.domains.domain import Domain
from nsrecover.domains.instance import Instance
from nsrecover.errors import InvalidAction, InvalidConfiguration, InvalidObservation

LABORATORY, SPINNING = (
    (Path(__file__).parent / "pddl" / f"{name}.pddl").read_text() for name in ("laboratory", "spinning")
)
ROLES = {"in": Role.LOCATION, "holding": Role.HELD}
PLAN = Plan.parse(
    "open-lid(cf); take-from-rack(t1, r1); put-in(t1, cf); close-lid(cf); spin(t1, cf); open-lid(cf); "
    "take-out(t1, cf); put-on-rack(t1, r1); close-lid(cf)"
)


def laboratory() -> tuple[Domain, Instance, State, tuple[StateFact, ...]]:
    domain = domain_from_pddl(LABORATORY, roles=ROLES)
    return domain, *scene_from_pddl(domain, LABORATORY, SPINNING)


def test_predicates_become_variables_relations_and_static_facts() -> None:
    domain, instance, state, goal = laboratory()
    assert set(domain.variables) == {"lid-open", "spun"}
    assert domain.relations == ROLES | {"hand-empty": Role.PLAIN, "fits": Role.STATIC}
    assert instance.static == {("fits", "t1", "cf"), ("fits", "t2", "cf")}
    assert state == {("in", "t1", "r1"), ("in", "t2", "r1"), ("hand-empty",)}
    assert goal == (("spun", "t1"), ("in", "t1", "r1"), ("not-lid-open", "cf"))
    assert instance.domain.text(goal[2]) == "the cf is not lid open"


def test_a_goal_that_is_no_fact_is_a_predicate_of_its_own() -> None:
    domain = domain_from_pddl(LABORATORY, roles=ROLES)
    either = SPINNING.replace("(spun t1)", "(or (spun t1) (spun t2))")
    instance, state, goal = scene_from_pddl(domain, LABORATORY, either)
    assert len(goal[0]) == 1
    assert not instance.atom(state, goal[0])
    assert instance.atom(state | {("spun", "t2")}, goal[0])


def test_mistakes_are_one_line() -> None:
    _, instance, state, goal = laboratory()
    system = nsrecover.symbolic(instance, goal)
    with pytest.raises(InvalidAction, match="expected an object with 'tube'"):
        system.monitor(Plan.parse("spin(cf, t1)"), state)
    with pytest.raises(InvalidObservation, match="static"):
        system.monitor(PLAN, state | {("fits", "t1", "r1")})
    with pytest.raises(InvalidConfiguration, match="Did you mean 'in'"):
        domain_from_pddl(LABORATORY, roles={"inn": Role.LOCATION})
    with pytest.raises(InvalidConfiguration, match="terms of the relation 'hand-empty'"):
        domain_from_pddl(LABORATORY, roles={"hand-empty": Role.HELD})

"""A domain in PDDL with a table of words: read, planned in, recovered in by the common search, and put into words."""

import json
from pathlib import Path

import pytest

from nsrecover.core import Action, Plan, RecoveryStatus
from nsrecover.errors import InvalidConfiguration
from nsrecover.explanation.phrases import instruction

pytest.importorskip("unified_planning")
from nsrecover.bridges.pddl import domain_from_pddl, scene_from_pddl
from nsrecover.bridges.unified_planning import repair
from nsrecover.bridges.unified_planning.export import plan_of, steps_of, to_unified_planning

DEPOT, DELIVERY = ((Path(__file__).parent / "pddl" / f"{name}.pddl").read_text() for name in ("depot", "delivery"))
WORDS = {"load": "load {p} into {t}", "drive": {"imperative": "drive {t} to {b}"}, "at": "the {0} is at the {1}"}
PLAN = Plan.parse("load(box, van, depot); drive(van, depot, home); drive(van, home, shop); unload(box, van, shop)")


def test_a_disturbed_plan_is_repaired_and_put_into_words() -> None:
    domain = domain_from_pddl(DEPOT, WORDS)
    instance, state, goal = scene_from_pddl(domain, DEPOT, DELIVERY)
    for step in PLAN.actions[:2]:
        assert instance.unmet(state, step.operator, step.arguments) == []
        state = instance.apply(state, step.operator, step.arguments)
    # the box fell off the van when it left the depot
    state = (state - {("in", "box", "van")}) | {("at", "box", "depot")}
    problem = to_unified_planning(instance, state, goal)
    found = repair(problem, plan_of(problem, PLAN), {})
    assert found.status is RecoveryStatus.RECOVERED
    assert found.proven_optimal
    assert found.cost == 19.0
    assert found.plan is not None
    steps = steps_of(domain, found.plan)
    assert steps == [Action.parse("drive(van, home, depot)"), *PLAN]
    for step in steps:
        assert instance.unmet(state, step.operator, step.arguments) == []
        state = instance.apply(state, step.operator, step.arguments)
    assert all(instance.atom(state, fact) for fact in goal)
    told = [instruction(step, domain=domain) for step in steps[:2]]
    assert told == ["drive the van to the depot", "load the box into the van"]
    assert domain.text(("at", "box", "shop")) == "the box is at the shop"


def test_files_are_read_as_well(tmp_path: Path) -> None:
    (tmp_path / "depot.pddl").write_text(DEPOT)
    (tmp_path / "words.json").write_text(json.dumps(WORDS))
    domain = domain_from_pddl(tmp_path / "depot.pddl", tmp_path / "words.json")
    assert domain == domain_from_pddl(DEPOT, WORDS)
    assert {name: operator.cost for name, operator in domain.operators.items()} == {"load": 2, "unload": 2, "drive": 5}
    assert domain.kinds["truck"].traits >= {"truck", "movable"}


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfiguration, match="Did you mean 'load'"):
        domain_from_pddl(DEPOT, {"loud": "load {p}"})
    with pytest.raises(InvalidConfiguration, match="a closing bracket for each"):
        domain_from_pddl("(define (domain half)")
    with pytest.raises(InvalidConfiguration, match="expected a file with PDDL"):
        domain_from_pddl(tmp_path / "none.pddl")

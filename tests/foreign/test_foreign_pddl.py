"""PDDL as others write it: read with the right meaning, or refused by the name of the construct and its line."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from unified_planning.plans import SequentialPlan

import nsrecover
from nsrecover import Act, Action, Done, FactScene, Look, Plan
from nsrecover.bridges.pddl import domain_from_pddl, scene_from_pddl
from nsrecover.bridges.plansys2 import read_plan, sequential, translate
from nsrecover.bridges.unified_planning.export import steps_of, to_unified_planning
from nsrecover.bridges.unified_planning.reduction import instance_of
from nsrecover.domains.base import Role, State
from nsrecover.domains.instance import Instance
from nsrecover.errors import InvalidConfiguration, InvalidPlan
from nsrecover.planning.symbolic.solving import Solution, solve
from tests.case_files import cases_of

CASES = cases_of(__file__)
PUSH = "(:action push :parameters (?b - box) :precondition () :effect (done ?b))"
"""A harmless action."""


def of(parts: str, types: str = "(:types box place)", predicates: str = "(:predicates (done ?b - box))") -> str:
    """A domain; what is added begins in line 2."""
    return f"(define (domain d) {types} {predicates}\n{parts}\n)"


def domain_in(row: Mapping[str, Any]) -> str:
    """The domain of a case."""
    parts = {name: row[name] for name in ("parts", "types", "predicates") if name in row}
    return of(**parts) if parts else row["text"]


def scene(
    domain: str, init: str, goal: str, objects: str = "a b - box", more: str = ""
) -> tuple[Instance, State, Solution]:
    """The scene of a problem, its initial state, and a plan for its goal."""
    problem = f"(define (problem p) (:domain d) (:objects {objects}) (:init {init}) (:goal {goal}) {more})"
    instance, state, wanted = scene_from_pddl(domain_from_pddl(domain), domain, problem)
    return instance, state, solve(instance, state, [instance.condition(fact) for fact in wanted])


def steps(found: Solution) -> list[str]:
    return list(map(str, found.steps))


WAYS = """(define (domain ways) (:types place) (:predicates (at ?p - place))
  (:functions (total-cost) - number (dist ?a ?b - place) - number)
  (:action go :parameters (?a ?b - place) :precondition (at ?a)
    :effect (and (at ?b) (not (at ?a)) (increase (total-cost) {cost}))))"""
TABLE = "(at k) (= (total-cost) 0) (= (dist k l) 9) (= (dist k h) 1) (= (dist h l) 1)"
MINIMISE = "(:metric minimize (total-cost))"


@pytest.mark.parametrize(
    ("cost", "more", "way", "total"),
    [
        ("(dist ?a ?b)", MINIMISE, ["go(k, h)", "go(h, l)"], 2.0),
        ("(dist ?a ?b)", "", ["go(k, h)", "go(h, l)"], 2.0),
        ("(+ (dist ?a ?b) 10)", MINIMISE, ["go(k, l)"], 19.0),
        ("3", MINIMISE, ["go(k, l)"], 3.0),
        ("0", MINIMISE, ["go(k, l)"], 0.0),
        ("(dist ?a ?b)", "(:metric minimize (total-time))", ["go(k, l)"], 1.0),
    ],
)
def test_costs_are_those_of_the_table(cost: str, more: str, way: list[str], total: float) -> None:
    instance, _, found = scene(WAYS.format(cost=cost), TABLE, "(at l)", "k h l - place", more)
    assert (steps(found), found.proven_optimal) == (way, True)
    assert sum(instance.domain.operators["go"].cost_of(step.arguments) for step in found.steps) == total


def derived(instance: Instance, state: State, found: Solution) -> bool:
    return instance.atom(state, ("above", "c", "a")) and not instance.atom(state, ("above", "a", "c"))


Check = Callable[[Instance, State, Solution], bool]
MORE: dict[str, Check] = {
    "predicates before constants and types": lambda i, s, f: "red" in i.objects,
    "either in a parameter": lambda i, s, f: len(f.steps) == 2 and "box or place" in i.objects["h"] - i.objects["c"],
    "either for an object and for a type": (
        lambda i, s, f: len(f.steps) == 2 and i.objects["c"] >= {"crate", "box", "place", "object"}
    ),
    "a type with the name of a predicate and an action": lambda i, s, f: ("box", "a") in s,
    "a variable twice in a declaration": lambda i, s, f: i.domain.arities["in"] == 2,
    "a conditional effect": lambda i, s, f: i.apply(s, "paint", ("b",)) == s,
    "a universal effect that hides a parameter": (
        lambda i, s, f: i.apply(s, "clear", ("c",)) == s | {("done", "a"), ("done", "b")}
    ),
    "a predicate that follows from itself": derived,
    "a parent type that is not declared": lambda i, s, f: "thing" in i.objects["a"],
    "constants that are objects, too": lambda i, s, f: list(i.objects) == ["a", "b"],
    "an action that is nothing but a name": lambda i, s, f: i.apply(s, "wait", ()) == s,
    "what is added and deleted holds": lambda i, s, f: i.apply(s, "go", ("a", "a")) == s,
}
"""What else is right about some of the cases."""


@pytest.mark.parametrize("case", CASES["read"])
def test_what_classical_planning_has_is_read(case: str) -> None:
    row = CASES["read"][case]
    instance, state, found = scene(domain_in(row), row.get("init", ""), row["goal"], row.get("objects", ""))
    assert found.found
    assert "steps" not in row or steps(found) == row["steps"]
    assert "steps" in row or case in MORE
    assert MORE.get(case, lambda *_: True)(instance, state, found)


ACT = "(:action go :parameters (?b - box) :precondition {} :effect {})"
VARIABLES = " ".join(f"?p{n}" for n in range(20_000))
REFUSED = [*CASES["refused"].values(), {"parts": f"(:action go :parameters ({VARIABLES}))", "said": ["at most 100"]}]


@pytest.mark.parametrize("row", REFUSED, ids=[*CASES["refused"], "more variables than an action can have"])
def test_what_is_not_read_is_refused_by_its_name_and_line(row: Mapping[str, Any]) -> None:
    with pytest.raises(InvalidConfiguration) as refused:
        domain_from_pddl(domain_in(row))
    text = str(refused.value)
    assert all(word in text for word in row["said"]), text
    assert " in line " in text
    assert "\n" not in text
    assert "validator" not in text


@pytest.mark.parametrize(("init", "goal", "more", "said"), CASES["problems"])
def test_what_is_not_read_in_a_problem_is_refused_too(init: str, goal: str, more: str, said: list[str]) -> None:
    with pytest.raises(InvalidConfiguration) as refused:
        scene(of(PUSH), init, goal, more=more)
    assert all(word in str(refused.value) for word in said), refused.value
    assert " in line " in str(refused.value)


@pytest.mark.parametrize("name", ["push", "done", "box"])
def test_an_object_may_have_the_name_of_something_else(name: str) -> None:
    problem = f"(define (problem p) (:domain d) (:objects {name} - box) (:init) (:goal (done {name})))"
    instance, state, goal = scene_from_pddl(domain_from_pddl(of(PUSH)), of(PUSH), problem)
    session = nsrecover.symbolic(instance, goal).session(Plan((Action("push", (name,)),)), FactScene(state))
    assert session.request.action.arguments == (name,)
    while not session.request.final:
        session.observed(FactScene(frozenset({("done", name)})))
    assert isinstance(session.request, Done)
    up = to_unified_planning(instance, state, goal)
    said = next(each.name for each in up.all_objects if each.name.startswith(name))
    (step,) = steps_of(instance.domain, SequentialPlan([instance_of(up, "push", (said,))]))
    assert step == Action("push", (name,))


def test_a_domain_may_use_the_objects_of_its_problem() -> None:
    text = of("(:action open :parameters () :precondition (not (done boot)) :effect (done boot))")
    problem = "(define (problem p) (:domain d) (:objects boot - box) (:init) (:goal (done boot)))"
    with pytest.raises(InvalidConfiguration, match="give one as problem="):
        domain_from_pddl(text)
    instance, state, _ = scene_from_pddl(domain_from_pddl(text, problem=problem), text, problem)
    assert instance.apply(state, "open", ()) == {("done", "boot")}


@pytest.mark.parametrize("given", ["- box a - box", "a - box - box", "- box - box a - box"])
def test_a_list_of_objects_may_have_empty_parts(given: str) -> None:
    assert set(scene(of(PUSH), "", "(done a)", objects=given)[0].objects) == {"a"}


def test_durative_actions_can_be_read_in_sequence() -> None:
    text = of(
        "(:functions (speed ?b - box)) (:durative-action go :parameters (?b - box) :duration (= ?duration (speed ?b)) "
        ":condition (and (at start (free)) (over all (not (free))) (at end (wet ?b))) "
        ":effect (and (at start (not (free))) (at end (free)) (at end (done ?b))))",
        predicates="(:predicates (done ?b - box) (free) (wet ?b - box))",
    )
    domain = domain_from_pddl(text, in_sequence=True)
    problem = ("(define (problem p) (:domain d) (:objects a - box) (:init (free) (wet a) (= (speed a) 4)) "
               "(:goal (done a)) (:metric minimize (total-time)))")  # fmt: skip
    instance, state, _ = scene_from_pddl(domain, text, problem)
    assert instance.unmet(state, "go", ("a",)) == []
    assert instance.apply(state, "go", ("a",)) == state | {("done", "a")}
    assert instance.unmet(state - {("wet", "a")}, "go", ("a",))
    assert instance.domain.operators["go"].cost_of(("a",)) == 4


MATCH = """(:durative-action light :parameters (?b - box) :duration (at start (= ?duration 8)) :condition ()
  :effect (and (at start (lit ?b)) (at end (not (lit ?b)))))
(:durative-action mend :parameters (?b - box) :duration (= ?duration 5) :condition (over all (lit ?b))
  :effect (at end (done ?b)))"""
LIT = "(:predicates (done ?b - box) (lit ?b - box))"
LAMP = "(:action switch :parameters (?b - box) :precondition () :effect (lit ?b))"


def test_actions_that_have_to_overlap_are_said_to() -> None:
    with pytest.raises(InvalidConfiguration, match="mend, which needs lit and overlaps light"):
        domain_from_pddl(of(MATCH, predicates=LIT), in_sequence=True)
    assert domain_from_pddl(of(MATCH + LAMP, predicates=LIT), in_sequence=True).operators["light"].cost == 8


GATE = """(:durative-action pass :parameters (?b - box ?p ?q - place) :duration (= ?duration 10)
  :condition (and (at start (at ?b ?p)) (at start (empty ?q)))
  :effect (and (at start (not (at ?b ?p))) (at start (empty ?p)) (at start (not (empty ?q))) (at end (at ?b ?q))))"""


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        ("0: (pass a p q) [10]\n0.1: (pass b o p) [5]\n", "pass(a, p, q); pass(b, o, p)"),
        ("0: (pass a p q) [10]\n10: (pass b o p) [5]\n", "pass(a, p, q); pass(b, o, p)"),
        (
            "0: (pass a p q) [10]\n0.1: (pass b o p) [9]\n0.2: (pass a q o) [3]\n",
            "pass(a, p, q); pass(b, o, p); pass(a, q, o)",
        ),
        ("0: (pass b o p) [10]\n", ""),
    ],
)
def test_what_overlaps_comes_in_an_order_that_works(text: str, plan: str) -> None:
    """What the first frees at its start the second one enters before the first has ended."""
    domain = of(GATE, predicates="(:predicates (at ?b - box ?p - place) (empty ?p - place) (done ?b - box))")
    problem = """(define (problem r) (:domain d) (:objects a b - box o p q - place)
      (:init (at a p) (at b o) (empty q)) (:goal (at b p)))"""
    instance, state, _ = scene_from_pddl(domain_from_pddl(domain, in_sequence=True), domain, problem)
    if plan:
        assert str(translate(sequential(read_plan(text), instance, state)).plan) == plan
        return
    with pytest.raises(InvalidPlan, match=r"\(pass b o p\): what one of them needs does not hold"):
        sequential(read_plan(text), instance, state)


def test_a_match_that_burns_while_the_fuse_is_mended_is_said_to_overlap() -> None:
    text = of(MATCH + LAMP, predicates=LIT)
    problem = "(define (problem r) (:domain d) (:objects a - box) (:init) (:goal (done a)))"
    instance, state, _ = scene_from_pddl(domain_from_pddl(text, in_sequence=True), text, problem)
    with pytest.raises(InvalidPlan, match="only while another one runs"):
        sequential(read_plan("0: (light a) [8]\n0.1: (mend a) [5]\n"), instance, state)


@pytest.mark.parametrize(
    ("cost", "price"),
    [("(* (weight ?b) 0.5)", 3), ("(/ (weight ?b) (pace))", 2), ("(+ (* (weight ?b) (pace)) 1)", 19),
     ("(- (weight ?b) (pace))", 3), ("(* (weight ?b) (/ 1 (pace)))", 2)],
)  # fmt: skip
def test_costs_may_be_products_and_quotients(cost: str, price: float) -> None:
    text = of(
        "(:functions (total-cost) (weight ?b - box) (pace))"
        + ACT.format("()", f"(and (done ?b) (increase (total-cost) {cost}))")
    )
    instance, *_ = scene(text, "(= (weight a) 6) (= (weight b) 6) (= (pace) 3)", "(done a)",
                         more="(:metric minimize (total-cost))")  # fmt: skip
    (operator,) = instance.domain.operators.values()
    assert operator.cost_of(("a",)) == pytest.approx(price)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_file_in_utf_16_is_named(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "domain.pddl").write_bytes(of(PUSH).encode(encoding))
    with pytest.raises(InvalidConfiguration, match=r"found UTF-16 .* save it as UTF-8"):
        domain_from_pddl(tmp_path / "domain.pddl")


@pytest.mark.parametrize("cost", ["(/ (weight ?b) 0)", "(/ (weight ?b) (pace))", "(* (weight ?b) (heavy))"])
@pytest.mark.parametrize("given", ["(= (pace) 0) (= (weight a) 6)", ""])
def test_costs_without_a_value_are_refused_with_their_line(cost: str, given: str) -> None:
    text = of("(:functions (total-cost) (weight ?b - box) (pace) (heavy))"
              + ACT.format("()", f"(and (done ?b) (increase (total-cost) {cost}))"))  # fmt: skip
    with pytest.raises(InvalidConfiguration, match=r"actions cost, found none.* in line "):
        scene(text, given, "(done a)", more="(:metric minimize (total-cost))")
    scene(text, given, "(done a)")  # without a metric each action costs 1


LONG = {
    "types": (f"(:types {' '.join(f't{i} - t{i + 1}' for i in range(20_000))} t20000 - object)", "at most 200 types"),
    "predicates": (f"(:predicates {' '.join(f'(p{i} ?a)' for i in range(20_000))})", ""),
}


@pytest.mark.parametrize(("part", "said"), LONG.values(), ids=LONG)
def test_long_lists_take_seconds_at_most(part: str, said: str) -> None:
    began = time.process_time()
    if said:
        with pytest.raises(InvalidConfiguration, match=said):
            domain_from_pddl(f"(define (domain d) {part})")
    else:
        assert len(domain_from_pddl(f"(define (domain d) {part})").predicates) == 20_000
    assert time.process_time() - began < 5


def test_large_problems_are_read_at_once() -> None:
    """As many facts as the largest public problems have, 1.4 MB; seconds of a slow machine."""
    count = 30_000
    objects = " ".join(f"place-number-{i}" for i in range(count))
    roads = " ".join(f"(road place-number-{i} place-number-{i + 1})" for i in range(count - 1))
    domain = of("(:action go :parameters (?a ?b - place) :precondition (and (at ?a) (road ?a ?b)) "
                ":effect (and (at ?b) (not (at ?a))))",
                predicates="(:predicates (at ?p - place) (road ?a ?b - place))")  # fmt: skip
    problem = (f"(define (problem p) (:domain d) (:objects {objects} - place) (:init (at place-number-0) {roads}) "
               "(:goal (at place-number-9)))")  # fmt: skip
    began = time.process_time()
    instance, _, _ = scene_from_pddl(domain_from_pddl(domain), domain, problem)
    assert time.process_time() - began < 5.0
    assert len(instance.static) == count - 1


DELIVERY, ROUND = (Path(__file__).with_name(f"{name}.pddl").read_text() for name in ("delivery", "round"))


def test_what_is_read_is_monitored_and_recovered_by_a_session() -> None:
    domain = domain_from_pddl(DELIVERY, roles={"lies-at": Role.LOCATION})
    instance, state, goal = scene_from_pddl(domain, DELIVERY, ROUND)
    plan = nsrecover.Plan(solve(instance, state, [instance.condition(fact) for fact in goal]).steps)
    assert Action("drive", ("v-1", "s-1", "s-3")) in plan.actions  # 2 and 2, not 9
    session, lost = nsrecover.symbolic(instance, goal).session(plan, state), True
    for _ in range(100):
        match session.request:
            case Act(action):
                assert instance.unmet(state, action.operator, action.arguments) == []
                state = instance.apply(state, action.operator, action.arguments)
                if action.operator == "drive" and lost:  # the parcel falls off where the van was
                    state, lost = state - {("loaded", "p-1", "v-1")} | {("lies-at", "p-1", "s-1")}, False
                session.observed(state)
            case Look():
                session.observed(state)
            case _:
                break
    assert isinstance(session.request, Done)
    assert not lost
    assert all(instance.atom(state, fact) for fact in goal)

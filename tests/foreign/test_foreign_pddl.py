"""PDDL as others write it: read with the right meaning, or refused by the name of the construct and its line."""

from __future__ import annotations

import time
from collections.abc import Callable

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

PUSH = "(:action push :parameters (?b - box) :precondition () :effect (done ?b))"
"""A harmless action."""


def of(parts: str, types: str = "(:types box place)", predicates: str = "(:predicates (done ?b - box))") -> str:
    """A domain; what is added begins in line 2."""
    return f"(define (domain d) {types} {predicates}\n{parts}\n)"


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
READ: dict[str, tuple[str, str, str, str, Check]] = {
    "predicates before constants and types": (
        "(define (domain d) (:predicates (done ?b - box)) (:constants red - box) (:types box)" + PUSH + ")",
        "", "(done red)", "a - box", lambda i, s, f: steps(f) == ["push(red)"] and "red" in i.objects,
    ),
    "empty lists": (
        "(define (domain d) (:requirements ) (:types ) (:constants ) (:functions ) (:predicates (on))"
        "(:action go :parameters () :precondition () :effect (and (on))))",
        "", "(and (on))", "", lambda i, s, f: steps(f) == ["go()"],
    ),
    "no types at all": (
        "(define (domain d) (:predicates (p ?x) (q ?x ?y)) (:action go :parameters (?x ?y) :effect (q ?x ?y)))",
        "(p a)", "(q a a)", "a b", lambda i, s, f: steps(f) == ["go(a, a)"],
    ),
    "either in a parameter": (
        of("(:action see :parameters (?x - (either box place)) :effect (seen ?x))",
           predicates="(:predicates (seen ?x - (either box place)))"),
        "", "(and (seen a) (seen h))", "a - box h - place c - object",
        lambda i, s, f: len(f.steps) == 2 and "box or place" in i.objects["h"] - i.objects["c"],
    ),
    "either for an object and for a type": (
        of("(:action see :parameters (?x - box) :effect (seen ?x))",
           "(:types box place - object crate - (either box place))",
           "(:predicates (seen ?x - box))"),
        "", "(and (seen c) (seen d))", "c - crate d - (either box place)",
        lambda i, s, f: len(f.steps) == 2 and i.objects["c"] >= {"crate", "box", "place", "object"},
    ),
    "a type with the name of a predicate and an action": (
        of("(:action box :parameters (?b - box) :effect (done ?b))",
           predicates="(:predicates (done ?b - box) (box ?b - box))"),
        "(box a)", "(done a)", "a - box", lambda i, s, f: steps(f) == ["box(a)"] and ("box", "a") in s,
    ),
    "a variable twice in a declaration": (
        of("(:action put :parameters (?a ?b - box) :effect (in ?a ?b))", predicates="(:predicates (in ?x ?x - box))"),
        "", "(in a b)", "a b - box", lambda i, s, f: i.domain.arities["in"] == 2,
    ),
    "a conditional effect": (
        of("(:action paint :parameters (?b - box) :effect (when (wet ?b) (done ?b)))",
           predicates="(:predicates (done ?b - box) (wet ?b - box))"),
        "(wet a)", "(done a)", "a b - box",
        lambda i, s, f: steps(f) == ["paint(a)"] and i.apply(s, "paint", ("b",)) == s,
    ),
    "a universal effect that hides a parameter": (
        of("(:action clear :parameters (?b - box) :effect (forall (?b - box) (when (not (wet ?b)) (done ?b))))",
           predicates="(:predicates (done ?b - box) (wet ?b - box))"),
        "(wet c)", "(done a)", "a b c - box",
        lambda i, s, f: i.apply(s, "clear", ("c",)) == s | {("done", "a"), ("done", "b")},
    ),
    "quantifiers, implications and disjunctions": (
        of("(:action end :parameters () :precondition (and (forall (?b - box) (imply (wet ?b) (done ?b)))"
           "(exists (?b ?c - box) (and (not (= ?b ?c)) (or (done ?b) (wet ?c))))) :effect (over))" + PUSH,
           predicates="(:predicates (done ?b - box) (wet ?b - box) (over))"),
        "(wet a)", "(over)", "a b - box", lambda i, s, f: steps(f) == ["push(a)", "end()"],
    ),
    "negative preconditions and goals": (
        of("(:action dry :parameters (?b - box) :precondition (not (done ?b)) :effect (not (wet ?b)))",
           predicates="(:predicates (done ?b - box) (wet ?b - box))"),
        "(wet a) (not (done a))", "(and (not (wet a)) (not (done b)))", "a b - box",
        lambda i, s, f: steps(f) == ["dry(a)"],
    ),
    "a predicate that follows from itself": (
        of("(:derived (above ?x ?y - box) (or (on ?x ?y) (exists (?z - box) (and (on ?x ?z) (above ?z ?y)))))" + PUSH,
           predicates="(:predicates (done ?b - box) (on ?x ?y - box) (above ?x ?y - box))"),
        "(on c b) (on b a)", "(above c a)", "a b c - box", derived,
    ),
    "two rules for one predicate": (
        of("(:derived (ok ?x - box) (done ?x)) (:derived (ok ?y - box) (wet ?y))" + PUSH,
           predicates="(:predicates (done ?b - box) (wet ?b - box) (ok ?b - box))"),
        "(wet b)", "(and (ok a) (ok b))", "a b - box", lambda i, s, f: steps(f) == ["push(a)"],
    ),
    "capitals": (
        of("(:ACTION Push :Parameters (?B - Box) :Effect (Done ?b))"),
        "", "(DONE A)", "A b - BOX", lambda i, s, f: steps(f) == ["push(a)"],
    ),
    "comments, tabs and a byte order mark": (
        "\ufeff;; (( \n" + of(f"\t{PUSH} ; :-)\r"), "", "(done a)", "a - box", lambda i, s, f: steps(f) == ["push(a)"],
    ),
    "hyphens and digits everywhere": (
        of("(:action put-in-2 :parameters (?big-box - big-box) :effect (is-in ?big-box))", "(:types big-box)",
           "(:predicates (is-in ?b - big-box))"),
        "", "(is-in box-1)", "box-1 2nd - big-box", lambda i, s, f: steps(f) == ["put-in-2(box-1)"],
    ),
    "a type without a blank": (
        of("(:action push :parameters (?b -box) :effect (done ?b))"), "", "(done a)", "a -box",
        lambda i, s, f: steps(f) == ["push(a)"],
    ),
    "a parent type that is not declared": (
        of(PUSH, "(:types box - thing place)"), "", "(done a)", "a - box", lambda i, s, f: "thing" in i.objects["a"],
    ),
    "constants that are objects, too": (
        of("(:constants a - box)" + PUSH), "", "(done a)", "a b - box", lambda i, s, f: list(i.objects) == ["a", "b"],
    ),
    "an action that is nothing but a name": (
        of(PUSH + "(:action wait :parameters () :effect ())"), "", "(done a)", "a - box",
        lambda i, s, f: i.apply(s, "wait", ()) == s,
    ),
    "what is added and deleted holds": (
        of("(:action go :parameters (?x ?y - box) :precondition (done ?x) :effect (and (not (done ?x)) (done ?y)))"),
        "(done a)", "(done b)", "a b - box", lambda i, s, f: i.apply(s, "go", ("a", "a")) == s,
    ),
    "numbers that nothing uses": (
        of("(:functions (weight ?b - box))" + PUSH), "(= (weight a) -3)", "(done a)", "a - box",
        lambda i, s, f: steps(f) == ["push(a)"],
    ),
}  # fmt: skip
"""What is written -> domain, initial state, goal, objects, and a check."""


@pytest.mark.parametrize("case", READ)
def test_what_classical_planning_has_is_read(case: str) -> None:
    domain, init, goal, objects, right = READ[case]
    instance, state, found = scene(domain, init, goal, objects)
    assert found.found
    assert right(instance, state, found)


ACT = "(:action go :parameters (?b - box) :precondition {} :effect {})"
FLUENT = "(:predicates (done ?b - box)) (:functions (fuel ?b - box) (total-cost))"
REFUSED: dict[str, tuple[str, list[str]]] = {
    "durations": (
        of("(:durative-action w :parameters () :duration (= ?duration 3) :condition () :effect ())"), ["durat"]),
    "numeric conditions": (of(ACT.format("(> (fuel ?b) 3)", "(done ?b)"), predicates=FLUENT), ["number", "(>)"]),
    "numeric effects": (of(ACT.format("()", "(decrease (fuel ?b) 1)"), predicates=FLUENT), ["number", "decrease"]),
    "equal numbers": (of(ACT.format("(= (fuel ?b) 3)", "(done ?b)"), predicates=FLUENT), ["number", "fuel"]),
    "costs that depend on a condition": (
        of(ACT.format("()", "(when (done ?b) (increase (total-cost) 1))"), predicates=FLUENT), ["cost", "conditional"]),
    "costs that fall": (of(ACT.format("()", "(increase (total-cost) -1)"), predicates=FLUENT), ["at least 0"]),
    "costs that are a power": (
        of(ACT.format("()", "(increase (total-cost) (^ 2 (fuel ?b)))"), predicates=FLUENT), ["sum", "(^ 2"]),
    "objects as values": (
        of("(:functions (place-of ?b - box) - place)" + PUSH), ["place-of"]),
    "oneof": (of(ACT.format("()", "(oneof (done ?b) (not (done ?b)))")), ["nondeterministic", "oneof"]),
    "probabilities": (of(ACT.format("()", "(probabilistic 0.5 (done ?b))")), ["nondeterministic", "probabilistic"]),
    "observations": (of("(:action look :parameters (?b - box) :observe (done ?b))"), ["observe"]),
    "processes": (of("(:process fall :parameters () :precondition () :effect ())"), ["continuous", ":process"]),
    "constraints": (of("(:constraints (always (forall (?b - box) (done ?b))))"), ["constraints"]),
    "preferences": (of(ACT.format("(preference p (done ?b))", "(done ?b)")), ["preference"]),
    "methods": (of("(:method m :parameters ())"), ["hierarchical", ":method"]),
    "an unknown section": (of("(:goals (done))"), ["':goals'"]),
    "an unknown predicate": (of(ACT.format("(dona ?b)", "(done ?b)")), ["Did you mean 'done'"]),
    "a wrong number of terms": (of(ACT.format("(done ?b ?b)", "(done ?b)")), ["1 terms of done"]),
    "an unknown variable": (of(ACT.format("(done ?c)", "(done ?b)")), ["'?c'"]),
    "an unknown type": (of("(:action go :parameters (?b - bax) :effect (done ?b))"), ["Did you mean 'box'"]),
    "an object of another type": (
        of("(:constants h - place) (:action go :parameters () :effect (done h))"), ["h, a 'place'"]),
    "more variables than an action can have": (
        of(f"(:action go :parameters ({' '.join(f'?p{n}' for n in range(20_000))}) :effect ())"), ["at most 100"]),
    "an action twice": (of(f"{PUSH.replace('push', 'go')}(:action go :parameters () :effect ())"), ["go twice"]),
    "a parameter twice": (of("(:action go :parameters (?b ?b - box) :effect (done ?b))"), ["?b twice"]),
    "a predicate of two sizes": (of(PUSH + "(:predicates (done))"), ["one declaration of done"]),
    "an effect on what is derived": (
        of("(:derived (done ?b - box) (and))" + ACT.format("()", "(done ?b)")), ["derived"]),
    "no closing bracket": (of("(:action go :parameters (?b - box)"), ["closing bracket"]),
    "a closing bracket too many": (of(f"{PUSH}))"), ["closing one"]),
    "two effects without and": (
        of("(:action go :parameters (?b - box) :effect (not (done ?b) (done ?b)))"), ["(and …)"]),
    "a fact without brackets": (of(ACT.format("(and done)", "(done ?b)")), ["brackets", "(done)"]),
}  # fmt: skip
"""What is written -> a domain with it in line 2, and what the error says."""


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_read_is_refused_by_its_name_and_line(case: str) -> None:
    domain, said = REFUSED[case]
    with pytest.raises(InvalidConfiguration) as refused:
        domain_from_pddl(domain)
    text = str(refused.value)
    assert all(word in text for word in said), text
    assert " in line " in text
    assert "\n" not in text
    assert "validator" not in text


@pytest.mark.parametrize(
    ("init", "goal", "more", "said"),
    [
        ("(oneof (done a) (done b))", "(done a)", "", ["nondeterministic", "oneof"]),
        ("(unknown (done a))", "(done a)", "", ["unknown"]),
        ("(at 5 (done a))", "(done a)", "", ["timed"]),
        ("(done c)", "(done a)", "", ["'c'"]),
        ("(done a) (not (done a))", "(done a)", "", ["negation"]),
        ("", "(preference p (done a))", "", ["preference"]),
        ("", "(done a)", "(:metric maximize (total-cost))", ["minimise"]),
        ("", "(done a)", "(:metric minimize (+ (total-cost) 1))", ["number"]),
        ("", "(done a)", "(:constraints (always (done a)))", [":constraints"]),
        ("(= (wight a) 1)", "(done a)", "", ["'wight'"]),
    ],
)
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


DELIVERY = """(define (domain delivery) (:types van parcel shop)
  (:predicates (van-at ?v - van ?s - shop) (lies-at ?p - parcel ?s - shop) (loaded ?p - parcel ?v - van)
               (sealed ?p - parcel) (ready ?v - van))
  (:functions (total-cost) (way ?a ?b - shop))
  (:derived (ready ?v - van) (forall (?p - parcel) (imply (loaded ?p ?v) (sealed ?p))))
  (:action load-up :parameters (?p - parcel ?v - van ?s - shop) :precondition (and (van-at ?v ?s) (lies-at ?p ?s))
    :effect (and (loaded ?p ?v) (not (lies-at ?p ?s)) (increase (total-cost) 1)))
  (:action unload :parameters (?p - parcel ?v - van ?s - shop) :precondition (and (van-at ?v ?s) (loaded ?p ?v))
    :effect (and (lies-at ?p ?s) (not (loaded ?p ?v)) (increase (total-cost) 1)))
  (:action seal :parameters (?p - parcel) :precondition (not (sealed ?p))
    :effect (and (sealed ?p) (increase (total-cost) 1)))
  (:action drive :parameters (?v - van ?a ?b - shop) :precondition (and (van-at ?v ?a) (ready ?v))
    :effect (and (van-at ?v ?b) (not (van-at ?v ?a)) (increase (total-cost) (way ?a ?b))
                 (forall (?p - parcel) (when (not (loaded ?p ?v)) (not (sealed ?p)))))))"""
ROUND = """(define (problem round) (:domain delivery) (:objects v-1 - van p-1 - parcel s-1 s-2 s-3 - shop)
  (:init (van-at v-1 s-1) (lies-at p-1 s-1) (= (way s-1 s-2) 9) (= (way s-1 s-3) 2) (= (way s-3 s-2) 2)
         (= (way s-2 s-1) 1) (= (way s-2 s-3) 1) (= (way s-3 s-1) 2))
  (:goal (and (lies-at p-1 s-2) (not (van-at v-1 s-2)))) (:metric minimize (total-cost)))"""


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

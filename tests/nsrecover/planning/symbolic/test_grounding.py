"""Grounded actions: which are made, which are dropped, in what order parameters are filled, and when it stops."""

import itertools
from dataclasses import replace

import pytest

from nsrecover.core.actions import Action
from nsrecover.domains.base import And, Effect, Not, Operator, Parameter, Price, Same, State, absent, fact
from nsrecover.planning.symbolic.grounding import Grounding, Interrupted, ground
from nsrecover.planning.symbolic.joining import Choices, Theory

PLACES = tuple(f"p{i}" for i in range(5))
HERE, THERE = Parameter("?a"), Parameter("?b")
MOVED = (Effect(adds=(("at", "?b"),), deletes=(("at", "?a"),)),)
GO = Operator("go", (HERE, THERE), (fact("at", "?a"), fact("road", "?a", "?b")), MOVED)


def theory(*operators: Operator, objects: tuple[str, ...] = PLACES) -> Theory:
    return Theory({each.name: each for each in operators}, dict.fromkeys(objects, frozenset()))


def roads(*pairs: tuple[int, int], at: int = 0) -> State:
    return frozenset({("at", f"p{at}"), *(("road", f"p{a}", f"p{b}") for a, b in pairs)})


def names(grounding: Grounding) -> list[str]:
    return sorted(str(action) for action in grounding.task.actions)


def test_only_what_can_be_reached_and_helps_is_made() -> None:
    wave = Operator("wave", (HERE,), (fact("at", "?a"),), (Effect(adds=(("waved", "?a"),)),))
    found = ground(theory(GO, wave), roads((0, 1), (1, 2), (3, 2)), [fact("at", "p2")])
    assert found.exact
    assert names(found) == ["go(p0, p1)", "go(p1, p2)"]
    task = found.task
    assert task.named(task.initial & ~task.goal.needs) != []
    first = next(action for action in task.actions if action.arguments == ("p0", "p1"))
    assert [text for text in task.named(first.apply(task.initial)) if text.startswith("at")] == ["at(p1)"]
    assert task.named(task.goal.needs) == ["at(p2)"]


def test_an_action_without_a_price_is_not_made() -> None:
    toll = replace(GO, prices=(Price("toll", ("?b",), {("p1",): 2.0, ("p2",): 1.0}),))
    start = roads((0, 1), (1, 2), (0, 3), (3, 2))
    assert {a.arguments: a.cost for a in ground(theory(toll), start, [fact("at", "p2")]).task.actions} == {
        ("p0", "p1"): 3.0,
        ("p1", "p2"): 2.0,
    }


def test_steps_of_a_plan_are_made_whether_they_can_be_run_or_not() -> None:
    found = ground(theory(GO), roads((0, 1)), [fact("at", "p1")], [Action("go", ("p2", "p3"))])
    (step,) = found.steps
    assert names(found) == ["go(p0, p1)"]
    assert found.task.named(step.precondition.needs) == ["at(p2)", "road(p2, p3)"]
    assert not step.precondition.holds(found.task.initial)


def test_equalities_negations_and_conditions_on_objects() -> None:
    swap = Operator(
        "swap",
        (HERE, THERE, Parameter("?c")),
        (
            fact("at", "?a"), absent("broken", "?b"), absent("seen", "?b"), Same("?c", "p3"), Not(Same("?a", "?b")),
        ),
        (*MOVED, Effect(adds=(("seen", "?b"),), when=Not(Same("?b", "p2")))),
        repeats=True,
    )  # fmt: skip
    start = frozenset({("at", "p0"), ("broken", "p1")})
    found = ground(theory(swap), start, [fact("at", "p4"), fact("seen", "p4"), absent("seen", "p2")])
    assert found.exact
    made = {action.arguments: action for action in found.task.actions}
    assert {third for _, _, third in made} == {"p3"}
    assert all(first != second != "p1" for first, second, _ in made)
    added = {second: [found.task.facts[f] for f in made["p0", second, "p3"].adds] for second in ("p2", "p4")}
    assert sorted(added["p4"]) == ["at(p4)", "seen(p4)"]
    assert added["p2"] == ["at(p2)"]


def test_a_deleted_fact_with_any_object_is_every_such_fact() -> None:
    leap = Operator("leap", (THERE,), (), (Effect(adds=(("at", "?b"),), deletes=(("at", "*"),)),))
    found = ground(theory(leap), roads(), [fact("at", "p1"), absent("at", "p0")])
    (made,) = (action for action in found.task.actions if action.arguments == ("p1",))
    assert found.task.named(made.apply(found.task.initial)) == ["at(p1)"]


def test_what_is_more_than_strips_is_a_relaxation() -> None:
    push = Operator("push", (HERE,), (), (Effect(adds=(("open", "?a"),), when=fact("unlocked", "?a")),))
    turn = Operator("turn", (HERE,), (), (Effect(adds=(("unlocked", "?a"),)),))
    found = ground(theory(push, turn), frozenset(), [fact("open", "p1")])
    assert not found.exact
    assert names(found) == ["push(p1)", "turn(p1)"]
    assert len(found.task.rules) == 1


def chain(length: int) -> tuple[Theory, State]:
    """An operator with five parameters along a chain of facts that never change."""
    variables = [f"?{letter}" for letter in "abcde"]
    joined = (fact("road", one, other) for one, other in itertools.pairwise(variables))
    flush = Operator(
        "flush", tuple(map(Parameter, variables)), (fact("at", "?a"), *joined), (Effect(adds=(("wet", "?e"),)),)
    )
    own = tuple(f"p{i}" for i in range(length))
    return theory(flush, objects=own), roads(*((i, i + 1) for i in range(length - 1)))


def test_parameters_are_joined_on_facts_that_never_change() -> None:
    tried = list[int]()

    def stop() -> bool:
        tried.append(1)
        return False

    known, start = chain(60)
    found = ground(known, start, [fact("wet", "p4")], stop=stop)
    assert names(found) == ["flush(p0, p1, p2, p3, p4)"]
    assert len(tried) < 5, "all combinations of 60 objects would be 13 million"


def test_it_stops_when_it_is_asked_to() -> None:
    free = Operator("free", tuple(Parameter(f"?{i}") for i in range(6)), (), (Effect(adds=(("done",),)),))
    with pytest.raises(Interrupted):
        ground(theory(free), frozenset(), [fact("done")], stop=lambda: True)


def test_forbidden_actions_and_other_objects_are_left_out() -> None:
    start, goal = roads((0, 1), (1, 2), (0, 2)), [And((fact("at", "p2"),))]
    usable = Choices(("p0", "p1", "p2"), frozenset({Action("go", ("p0", "p2"))}))
    assert names(ground(theory(GO), start, goal, choices=usable)) == ["go(p0, p1)", "go(p1, p2)"]
    assert names(ground(theory(GO), start, goal, choices=Choices(("p0", "p2")))) == ["go(p0, p2)"]

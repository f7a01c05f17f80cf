"""Grounded actions: which are made, which are dropped, in what order parameters are filled, and when it stops."""

import itertools

from nsrecover.domains.base import Effect, Operator, Parameter, State, fact
from nsrecover.planning.symbolic.grounding import Grounding, ground
from nsrecover.planning.symbolic.joining import Theory

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

"""Instances of operators with parameters: what is kept, what is dropped, what is too much."""

import pytest

from nsrecover.errors import InvalidConfiguration
from nsrecover.planning.symbolic import grounding as module
from nsrecover.planning.symbolic.grounding import LiftedAtom, LiftedEffect, LiftedOperator, LiftedTask, instantiate

PLACES = tuple(f"p{i}" for i in range(5))
EVERY = tuple(range(5))


def at(place: int) -> LiftedAtom:
    return LiftedAtom("at", (place,))


def road(a: int, b: int) -> LiftedAtom:
    return LiftedAtom("road", (a, b))


GO = LiftedOperator(
    "go", (EVERY, EVERY), needs=(at(0), road(0, 1)), adds=(LiftedEffect(at(1)),), deletes=(LiftedEffect(at(0)),),
    cost=lambda names: float(names[1][1:]),
)  # fmt: skip


def line(*roads: tuple[int, int], goal: int = 4) -> LiftedTask:
    return LiftedTask(PLACES, (GO,), (at(~0), *(road(~a, ~b) for a, b in roads)), (at(~goal),))


def test_only_what_can_be_reached_is_made() -> None:
    task, steps = instantiate(line((0, 1), (1, 2), (3, 4)))
    assert [str(action) for action in task.actions] == ["go(p0, p1)", "go(p1, p2)"]
    assert [action.cost for action in task.actions] == [1.0, 2.0]
    assert steps == ()
    assert "at(p0)" in task.named(task.initial)
    assert task.named(task.actions[0].apply(task.initial)) == ["at(p1)", "road(p0, p1)", "road(p1, p2)"]
    assert task.named(task.goal.needs) == ["at(p4)"]


def test_an_operator_may_have_no_instance_at_all() -> None:
    fly = LiftedOperator(
        "fly",
        (EVERY,),
        needs=(LiftedAtom("wings"),),
        adds=(LiftedEffect(at(0)),),
        deletes=(LiftedEffect(LiftedAtom("wings")),),
    )
    ground = line((0, 1))
    task, _ = instantiate(LiftedTask(PLACES, (GO, fly), ground.initial, ground.goal_needs))
    assert [action.name for action in task.actions] == ["go"]


def test_steps_of_a_plan_are_made_whether_they_can_be_run_or_not() -> None:
    task, (step,) = instantiate(line((0, 1)), [("go", (2, 3))])
    assert len(task.actions) == 1
    assert task.named(step.precondition.needs) == ["at(p2)", "road(p2, p3)"]
    assert not step.precondition.holds(task.initial)


def test_equalities_negations_and_conditions_on_objects() -> None:
    swap = LiftedOperator(
        "swap",
        (EVERY, EVERY, EVERY),
        needs=(at(0),),
        forbids=(LiftedAtom("broken", (1,)), LiftedAtom("seen", (1,))),
        adds=(LiftedEffect(at(1)), LiftedEffect(LiftedAtom("seen", (1,)), different=((1, ~2),))),
        deletes=(LiftedEffect(at(0)),),
        equal=((2, ~3),),
        different=((0, 1),),
    )
    start = (at(~0), LiftedAtom("broken", (~1,)))
    task, _ = instantiate(LiftedTask(PLACES, (swap,), start, (at(~4),)))
    made = {action.arguments for action in task.actions}
    assert {third for _, _, third in made} == {"p3"}
    assert all(first != second and second != "p1" for first, second, _ in made)
    assert ("p0", "p4", "p3") in made
    added = {action.arguments[1]: [task.facts[fact] for fact in action.adds] for action in task.actions}
    assert added["p4"] == ["at(p4)", "seen(p4)"]
    assert added["p2"] == ["at(p2)"]


def test_operators_and_facts_without_parameters() -> None:
    press = LiftedOperator("press", (), forbids=(LiftedAtom("on"),), adds=(LiftedEffect(LiftedAtom("on")),))
    task, _ = instantiate(LiftedTask((), (press,), (), (LiftedAtom("on"),)))
    assert (task.facts, [str(a) for a in task.actions], task.initial) == (("on",), ["press()"], 0)


def test_too_many_instances_are_refused(monkeypatch) -> None:
    monkeypatch.setattr(module, "MOST_INSTANCES", 20)
    free = LiftedOperator("free", (EVERY, EVERY), adds=(LiftedEffect(at(0)),))
    with pytest.raises(InvalidConfiguration, match="25 of free"):
        instantiate(LiftedTask(PLACES, (free,), (), (at(~0),)))

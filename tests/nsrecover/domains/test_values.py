"""Variables with several values: one value at a time, and no fact for the normal one."""

import pytest

import nsrecover
from nsrecover.core import Cause, FactScene
from nsrecover.domains.base import And, Atom, Not, State, absent
from nsrecover.domains.values import plain
from nsrecover.errors import InvalidObservation
from nsrecover.perception.facts import FactsPerceiver
from tests.nsrecover.laboratory import LABORATORY, SCENE

FULL: State = frozenset({("in", "tube 1", "rack")})


def test_the_normal_value_is_absent_if_another_one_holds() -> None:
    others = tuple(Not(Atom("level", ("?b", value))) for value in ("low", "empty"))
    assert plain(absent("level", "?b", "full"), LABORATORY.variables) == Not(And(others))


def test_an_effect_ends_the_other_values() -> None:
    levels = [FULL]
    for _ in range(2):
        levels.append(SCENE.apply(levels[-1], "dispense", ("buffer", "tube 1")))
    assert [[each[2] for each in state if each[0] == "level"] for state in levels] == [[], ["low"], ["empty"]]
    assert SCENE.unmet(levels[2], "dispense", ("buffer", "tube 1")) == [absent("level", "buffer", "empty")]
    assert SCENE.apply(levels[2], "refill", ("buffer",)) == levels[2] - {("level", "buffer", "empty")}


@pytest.mark.parametrize(
    ("given", "facts"),
    [
        ([("level", "buffer", "empty")], {("level", "buffer", "empty")}),
        ([("level", "buffer", "full"), ("open", "cf", "closed")], set()),
        ([("open", "cf", "open"), ("in", "tube 1", "floor")], {("open", "cf"), ("in", "tube 1", "floor")}),
        ({("level", "buffer", "full"): 0.2, ("level", "buffer", "low"): 0.7}, {("level", "buffer", "low")}),
        ({("level", "buffer", "full"): 0.7, ("level", "buffer", "low"): 0.2}, set()),
    ],
)
def test_facts_with_values_are_taken(given: object, facts: set[tuple[str, ...]]) -> None:
    assert FactsPerceiver(SCENE)(given).facts == facts  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ([("level", "buffer", "emty")], "Did you mean 'empty'"),
        ([("level", "buffer")], "expected 2 terms of 'level'"),
        ([("levle", "buffer", "low")], "Did you mean 'level'"),
        ([("level", "bufer", "low")], "Did you mean 'buffer'"),
        ([("open", "cf", "opn")], "Did you mean 'open'"),
        ([("level", "buffer", "low"), ("level", "buffer", "empty")], "expected one value of level of buffer"),
        ([("hand_free",)], "follows from other facts"),
        ([("held", "tube 1", "cf", "cf")], "expected 1 terms of 'held'"),
        (["open(cf)"], "found 'open(cf)'"),
        ([()], "found ()"),
        ({("level", "buffer", "low"): 1.2}, "from 0 to 1"),
    ],
)
def test_facts_that_cannot_be_are_refused_in_one_line(given: object, text: str) -> None:
    with pytest.raises(InvalidObservation) as refused:
        FactsPerceiver(SCENE)(given)  # type: ignore[arg-type]
    assert text in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_value_deviates_is_said_and_put_right() -> None:
    system = nsrecover.symbolic(SCENE, [("buffered", "tube 1")])
    plan = nsrecover.Plan.parse("open-lid(cf); dispense(buffer, tube 1)")
    monitor = system.monitor(plan, FULL)
    assert monitor.check().as_expected
    spilt = SCENE.apply(FULL, "open-lid", ("cf",)) | {("level", "buffer", "empty")}
    found = monitor.step(plan[0], FactScene(spilt))
    assert [(each.name, each.cause) for each in found.deviations] == [("buffer", Cause.CHANGED)]
    recovery = system.planner.recover(found.observed, monitor.trace, found)
    assert [str(action) for action in recovery.actions] == ["refill(buffer)"]
    assert recovery.cost == 2.0 + 1.0  # and the rest of the plan
    text = system.explainer(found, recovery).text
    assert "level of the buffer is empty" in text
    assert "refill the buffer" in text

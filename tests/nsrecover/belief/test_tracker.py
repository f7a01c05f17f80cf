"""The tracker of facts: what actions and observations make it believe."""

import pytest

from nsrecover import Action, FactScene
from nsrecover.belief.courses import IncidentKind
from nsrecover.belief.tracker import Tracker
from nsrecover.core.facts import PLACE, Property
from nsrecover.domains import Domain, Effect, Kind, Operator, Parameter, StateVariable, fact, scene_of
from nsrecover.domains.base import Role, State

CUP, SPOT = Parameter("?cup", "cup"), Parameter("?spot", "spot")
CAFE = Domain.of(
    "cafe",
    Kind("cup"),
    Kind("spot"),
    StateVariable("full", ("empty", "full"), "cup"),
    StateVariable("warm", ("cool", "warm"), "cup"),
    StateVariable("hot", ("cold", "hot"), "cup", drifts=True, visible=False),
    Operator("move", (CUP, SPOT), (), (Effect(adds=(("at", "?cup", "?spot"),), deletes=(("at", "?cup", "*"),)),)),
    Operator("brew", (CUP,), (fact("at", "?cup", "machine"),), (Effect(adds=(("full", "?cup"), ("warm", "?cup"))),)),
    Operator("warm_up", (CUP,), (), (Effect(adds=(("warm", "?cup"),)),)),
    Operator("take", (CUP,), (), (Effect(adds=(("held", "?cup"), ("busy",)), deletes=(("at", "?cup", "*"),)),)),
    relations={"at": Role.LOCATION, "held": Role.HELD, "busy": Role.PLAIN},
)
SCENE = scene_of(CAFE, {"a": "cup", "b": "cup", **dict.fromkeys(("shelf", "machine", "table"), "spot")})
START: State = frozenset({("at", "a", "shelf"), ("at", "b", "shelf")})
MOVE, BREW = Action("move", ("a", "machine")), Action("brew", ("a",))
A_PLACE: Property = (PLACE, "a")


def certainty(of: Tracker, prop: Property) -> float:
    """The probability that a property is as in the most likely course."""
    return of.scene().certainty.get(prop, 1.0)


def tracker() -> Tracker:
    """One that has seen the scene once."""
    found = Tracker(SCENE, START)
    found.saw(FactScene(START))
    return found


def test_one_lie_about_a_fact_that_is_absent_changes_nothing() -> None:
    found = tracker()
    for _ in range(3):
        found.saw(FactScene(START))
    found.saw(FactScene(START | {("full", "b")}))
    assert found.best.state == START
    assert certainty(found, ("full", "b")) > 0.98
    found.saw(FactScene(START))
    assert certainty(found, ("full", "b")) > 0.9995


@pytest.mark.parametrize(("sure", "believed"), [(0.58, True), (0.5, False), (0.4, False)])
def test_evidence_accumulates_however_weak_each_reading_is(sure: float, believed: bool) -> None:
    found, full = tracker(), START | {("full", "a")}
    for _ in range(40):
        found.saw(FactScene(full, {("full", "a"): sure}))
    assert (("full", "a") in found.best.state) == believed
    if not believed:  # a reading that says nothing changes nothing
        assert certainty(found, ("full", "a")) == pytest.approx(certainty(tracker(), ("full", "a")))


def test_readings_that_add_little_to_earlier_ones_tell_that_nothing_has_changed_since() -> None:
    full, weak = ("full", "a"), {("full", "a"): 0.52}
    told, untold = tracker(), tracker()
    for one, anew in ((told, {full: 0.999}), (untold, {})):
        one.saw(FactScene(START))
        for _ in range(4):
            one.acted(Action("move", ("b", "table")))
            one.saw(FactScene(START - {("at", "b", "shelf")} | {("at", "b", "table")}, weak, anew))
    assert told.unseen(full) < 0.001 < 0.01 < untold.unseen(full)


def test_a_reading_speaks_against_each_of_many_other_values() -> None:
    many, one = tracker(), tracker()
    for found, prop in ((many, A_PLACE), (one, ("warm", "a"))):
        before = found.unseen(prop)
        found.saw(FactScene(START, {prop: 0.6}))
        assert found.unseen(prop) == pytest.approx(before / 1.5 / (3 if prop is A_PLACE else 1), rel=0.02)


def test_that_what_was_never_seen_is_absent_is_a_reading_once_an_action_should_have_changed_it() -> None:
    found = tracker()
    found.acted(Action("take", ("a",)))
    for _ in range(2):
        found.saw(FactScene(START))
    assert found.best.state == START
    assert certainty(found, ("busy", "busy")) > 0.98


def test_an_action_may_be_done_to_another_object() -> None:
    found = tracker()
    found.acted(MOVE)
    other = frozenset({("at", "a", "shelf"), ("at", "b", "machine")})
    for _ in range(2):
        found.saw(FactScene(other))
    assert found.best.state == other
    assert [each.action for each in found.best.incidents] == [Action("move", ("b", "machine"))]


def test_an_action_that_cannot_be_done_changes_nothing_and_says_nothing_of_its_rate() -> None:
    found = tracker()
    before = found.failures.of("brew").mean
    found.acted(BREW)
    found.saw(FactScene(START))
    found.acted(MOVE)
    assert IncidentKind.REFUSED in {each.kind for each in found.best.incidents}
    assert found.failures.of("brew").mean == pytest.approx(before, abs=1e-3)


def test_a_reading_that_never_changes_is_taken_to_be_stuck_until_readings_are_trusted() -> None:
    found, warm = tracker(), Action("warm_up", ("a",))
    for _ in range(3):
        found.acted(warm)
        for _ in range(2):
            found.saw(FactScene(START))
    assert ("warm", "a") in found.best.state
    assert found.best.stuck == ((("warm", "a"), frozenset()),)
    # another look shows the same in either case
    assert found.disputed(found.best, predicted=True).get(("warm", "a"), 1.0) > 0.98
    found.trust_readings()
    assert ("warm", "a") not in found.best.state
    found.acted(warm)
    found.saw(FactScene(START))
    assert ("warm", "a") not in found.best.state


def test_after_a_success_the_rate_from_before_earlier_failures_counts_no_more() -> None:
    found, warm, warmed = tracker(), Action("warm_up", ("a",)), START | {("warm", "a")}
    for _ in range(3):
        for seen in (START, warmed):
            found.acted(warm)
            found.saw(FactScene(seen))
        found.acted(BREW)
        found.saw(FactScene(START))
    found.learn()
    assert found.streak(warm).rate.mean == found.failures.of("warm_up").mean > 0.2


def test_an_action_that_has_failed_in_a_row_is_less_certain_to_have_worked_in_the_end() -> None:
    found, warm = tracker(), Action("warm_up", ("a",))
    for seen in (START, START, START | {("warm", "a")}):
        found.acted(warm)
        found.saw(FactScene(seen))
    (best, usually), *_ = found.shares()
    (same, at_the_end), *_ = found.shares(streaks=True)
    assert best is same
    assert ("warm", "a") in best.state
    assert at_the_end < usually


def test_what_an_action_that_failed_needs_is_doubted_until_it_is_seen() -> None:
    found, prop = tracker(), ("full", "a")
    found.saw(FactScene(START))
    before = found.unseen(prop)
    found.doubt([prop], 10.0)
    doubted = found.unseen(prop)
    assert doubted > 9 * before
    found.saw(FactScene(START))
    assert found.unseen(prop) < doubted / 20

"""The session: what it asks for, beyond the scenarios that every driver shares."""

import pickle
from dataclasses import replace
from typing import Any

from nsrecover import Act, Ask, Done, Look, Plan, Stopped, geometric, symbolic
from nsrecover.core import ReasonCode, StopCode
from nsrecover.core.sessions.supervision import Listener
from nsrecover.session import Session, SessionSettings
from tests.nsrecover.kitchen_facts import HOME, WATER, WATERED, FactWorld
from tests.scenarios import Facts

SIDE = 0.05
PLAN = Plan.parse("top(green, red); top(blue, green)")


def box(x: float, y: float, row: float = 0) -> tuple[float, ...]:
    return (x, y, (row + 0.5) * SIDE, SIDE, SIDE, SIDE)


def blocks(**others: tuple[float, ...]) -> dict[str, Any]:
    rows = (("red", 0.2), ("green", 0.1), ("blue", 0.0), ("grey", -0.1))
    return {name: box(0.45, y) for name, y in rows} | others


class Impatient(Listener):
    """Cancels a search as long as it is in a hurry."""

    hurry = True

    def cancels(self) -> bool:
        return self.hurry


def fallen(session: Session[Any], **others: tuple[float, ...]) -> None:
    """Report twice that the green block fell."""
    for _ in range(2):
        session.observed(blocks(green=box(0.6, 0.2), **others))


def test_a_search_that_was_cut_short_proves_nothing() -> None:
    listener = Impatient()
    session = geometric().session(PLAN, blocks(), listener=listener)
    fallen(session, grey=box(0.6, 0.2, 1))
    assert isinstance(session.request, Look)
    assert session.records == ()
    listener.hurry = False
    session.observed(blocks(green=box(0.6, 0.2), grey=box(0.6, 0.2, 1)))
    assert isinstance(session.request, Look)
    session.observed(blocks(green=box(0.6, 0.2), grey=box(0.6, 0.2, 1)))
    assert isinstance(session.request, Act)


def test_after_a_veto_a_search_that_was_cut_short_proves_nothing_either() -> None:
    listener = Impatient()
    listener.hurry = False
    session = geometric().session(PLAN, blocks(), SessionSettings(budget_s=None, approve=True), listener=listener)
    fallen(session, grey=box(0.6, 0.2, 1))
    assert isinstance(session.request, Ask)
    listener.hurry = True
    session.answered(False)
    assert isinstance(session.request, Look)
    assert session.records == ()


def test_searches_over_facts_can_be_cancelled() -> None:
    world, told = Facts({0: "fails"}), Facts.plan()
    monitor, planner = world.system().monitor(told, world.observe()), world.system().planner
    found = monitor.step(told[0], world.observe())
    seen, trace = found.observed, monitor.trace
    assert planner.otherwise(seen, trace, found) is not None
    assert planner.otherwise(seen, trace, found, budget_s=0) is None
    assert planner.otherwise(seen, trace, found, cancelled=lambda: True) is None
    dropped = replace(seen, facts=frozenset({("at", "tube", "floor"), ("at", "flask", "centrifuge")}))
    rest = replace(trace, plan=Plan(told.actions[1:]), graphs=trace.graphs[1:])
    assert planner.recover(dropped, rest).found
    assert planner.recover(dropped, rest, cancelled=lambda: True).reason_code is ReasonCode.CANCELLED


def test_the_rest_of_a_recovery_that_is_mended_still_belongs_to_it() -> None:
    session = geometric().session(PLAN, blocks())
    fallen(session, grey=box(0.6, 0.2, 1))
    assert (session.num_inserted, str(session.plan[1])) == (2, "top(green, red)")
    fallen(session, grey=box(0.6, 0.2, 1))  # the grey block was not lifted
    first = session.request.action  # type: ignore[union-attr]
    session.observed(blocks(green=box(0.6, 0.2), grey=first.target or blocks()["grey"]))
    assert isinstance(session.request, Act)
    assert str(session.request.action) == "top(green, red)"
    assert session.num_inserted == 2
    session.observed(blocks(green=box(0.45, 0.2, 1), grey=first.target or blocks()["grey"]))
    assert [each.recovering for each in session.records] == [False, True, True, True]


def test_a_plan_that_a_helper_has_finished_has_no_comparison() -> None:
    session = geometric().session(PLAN, blocks())
    while not session.request.final:
        session.observed(blocks(green=box(0.45, 0.2, 1), blue=box(0.45, 0.2, 2)))
    assert isinstance(session.request, Done)
    assert session.discrepancy is None


def test_a_frame_that_is_delivered_again_is_no_second_look() -> None:
    session = geometric().session(PLAN)
    session.observed(blocks(), time_s=1.0)
    wrong = blocks(green=(*box(0.45, 0.2, 1),), grey=box(0.3, -0.1))
    for _ in range(4):
        if not session.request.final:
            session.observed(wrong, time_s=2.0)
    assert isinstance(session.request, Stopped)
    assert session.request.why is StopCode.NO_OBSERVATION
    assert "the scene after top(green, red) cannot be judged" in session.request.reason
    assert "later than 2.000 s" in session.request.reason


def test_after_a_restart_it_looks_before_it_acts() -> None:
    session = pickle.loads(pickle.dumps(geometric().session(PLAN, blocks())))
    assert session.request == Look()
    session.observed(blocks(green=box(0.6, 0.2)))  # an external agent moved it
    assert session.request == Look()
    session.observed(blocks(green=box(0.6, 0.2)))
    assert isinstance(session.request, Act)


def test_a_question_is_asked_again_after_a_restart_once_the_scene_was_seen() -> None:
    session = geometric().session(PLAN, blocks(), SessionSettings(budget_s=None, approve=True))
    fallen(session, grey=box(0.6, 0.2, 1))
    assert isinstance(session.request, Ask)
    session = pickle.loads(pickle.dumps(session))
    assert session.request == Look()
    fallen(session, grey=box(0.6, 0.2, 1))
    assert isinstance(session.request, Ask)


def test_a_stop_keeps_what_was_seen_of_an_action_whose_end_is_not_sure() -> None:
    session = geometric().session(PLAN, blocks())
    session.observed(blocks(green=box(0.6, 0.2)))  # once
    assert isinstance(session.request, Look)
    session.stop()
    (record,) = session.records
    assert str(record.action) == "top(green, red)"
    assert record.discrepancy.deviating == ("green",)
    assert "top(green, red) has ended" in session.episode.reason


def test_no_recovery_that_was_vetoed_is_proposed_again() -> None:
    world = FactWorld()
    session = symbolic(HOME, WATERED).session(WATER, world.observe(), SessionSettings(budget_s=None, approve=True))
    world.execute(WATER[0])
    world.state = frozenset(fact for fact in world.state if "pot" not in fact) | {("at", "pot", "floor")}
    session.observed(world.observe())
    proposed = list[tuple[Any, ...]]()
    while not session.request.final:
        if isinstance(session.request, Ask):
            recovery = session.request.decision.recovery
            assert recovery is not None
            proposed.append(recovery.actions)
            session.answered(False)
        else:
            session.observed(world.observe())
    assert len(set(proposed)) == len(proposed) == 2
    assert isinstance(session.request, Stopped)
    assert "vetoed two recoveries" in session.request.reason

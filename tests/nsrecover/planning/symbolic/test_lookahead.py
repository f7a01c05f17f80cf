"""Checks before actions: what can be undone, what is wrong with a plan, and what has to be known."""

import pytest

from nsrecover.core import Action, FactScene, Plan, PlanFault, RecoveryStatus, Trace, Unknown
from nsrecover.domains.base import State
from nsrecover.loading import symbolic
from nsrecover.monitoring.outlook import imagine, imagined_trace
from nsrecover.planning.symbolic.fact_planner import FactPlanner
from nsrecover.planning.symbolic.lookahead import FactLookahead
from tests.nsrecover.kitchen_facts import FRIED, FRY, HOME, START, WATER, WATERED, WINE

PLANNER = FactPlanner(HOME)
AHEAD = FactLookahead(PLANNER)


def state_after(plan: Plan, steps: int, start: State = START) -> State:
    for action in plan.actions[:steps]:
        start = imagine(HOME, start, action)
    return start


POUR = Action("pour", ("pot", "sink"))
HELD = state_after(WATER, 1)


@pytest.mark.parametrize(
    ("state", "action", "irreversible"),
    [
        *((state_after(WATER, step), WATER[step], step == 5) for step in (0, 1, 2, 5)),
        *((state_after(FRY, step), FRY[step], step > 1) for step in range(4)),
        (HELD | {WINE}, POUR, True),  # water comes from the tap, wine does not
        (HELD | {("filled", "pot", "water")}, POUR, False),
    ],
)
def test_whether_an_action_can_be_undone_is_found_by_search(state: State, action: Action, irreversible: bool) -> None:
    assert AHEAD.irreversible(state, action) is irreversible


def changed(plan: Plan, text: str) -> Plan:
    """A plan with steps by number, and others as text."""
    return Plan(tuple(plan[int(p)] if p.isdigit() else Action.parse(p) for p in text.split("; ")))


@pytest.mark.parametrize(
    ("steps", "fault", "step"),
    [
        ("0; 1; 3; 2; 4; 5", None, None),
        ("0; 1; 2; 3; 5; 4", PlanFault.WRONG_ORDER, 4),
        ("0; 1; 2; 3; 5", PlanFault.MISSING_STEP, 4),
        ("1; 2; 3; 4; 5", PlanFault.MISSING_STEP, 0),
        ("0; 1; 2; 3; 4; pour(pot, pan)", PlanFault.WRONG_OBJECT, 5),
    ],
)
def test_what_is_wrong_with_a_plan_is_named(steps: str, fault: PlanFault | None, step: int | None) -> None:
    found = AHEAD.problem(START, changed(WATER, steps).actions, WATERED, 0)
    assert (None if found is None else (found.fault, found.step)) == (None if fault is None else (fault, step))


def test_a_step_that_destroys_what_the_goal_needs_is_named_before_it_is_done() -> None:
    plan = changed(FRY, "0; 1; 2; put_in(egg, pot); 4; 5; 6; 7")
    found = AHEAD.problem(START, plan.actions, FRIED, 0)
    assert found is not None
    assert (found.fault, found.step) == (PlanFault.DESTROYS, 3)
    gone = frozenset(START | {("filled", "house plant", "wine")})
    lost = AHEAD.problem(gone, WATER.actions, WATERED, 0)
    assert lost is not None
    assert lost.fault is PlanFault.UNREACHABLE


def test_only_what_an_irreversible_action_could_spoil_has_to_be_known() -> None:
    before = state_after(WATER, 5)
    scene = FactScene(before, {("filled", "pot"): 0.0, ("open", "fridge"): 0.0, ("dirty", "mug"): 0.0})
    assert AHEAD.needed(scene, WATER.actions[5:], WATERED) == (Unknown("pot", "filled"),)
    assert AHEAD.needed(scene, WATER.actions[4:], WATERED) == (), "picking up can be undone"


def recovered(state: State, planner: FactPlanner = PLANNER, goal: tuple = WATERED):  # type: ignore[no-untyped-def]
    trace: Trace[FactScene] = imagined_trace(HOME, FactScene(START), WATER, goal)
    return planner.recover(FactScene(state), trace)


def test_a_scene_of_the_trace_needs_nothing() -> None:
    for step in range(len(WATER) + 1):
        found = recovered(state_after(WATER, step))
        assert found.status is RecoveryStatus.ALREADY_AT_SUBGOAL
        assert found.subgoal >= step, "taps that ran may be left out"


def test_the_way_back_rejoins_the_plan_and_tidies_up() -> None:
    found = recovered(state_after(WATER, 1) | {WINE})
    assert (found.status, [str(a) for a in found.actions]) == (RecoveryStatus.RECOVERED, ["pour(pot, sink)"])
    assert found.subgoal == 1
    assert found.proven_optimal


def test_durations_are_costs() -> None:
    slow = symbolic(HOME, WATERED, durations={"pour": 30.0, "pick_up": 4.0}).planner
    assert recovered(state_after(WATER, 1) | {WINE}, slow).cost == 30.0 + 3.0 + 4.0 + 30.0


def test_impossible_names_what_is_lost_and_the_closest_goal() -> None:
    gone = frozenset(START | {("filled", "house plant", "wine")})
    found = recovered(gone, goal=(*WATERED, ("at", "mug", "sink")))
    assert found.status is RecoveryStatus.IMPOSSIBLE
    assert found.lost == WATERED
    assert found.blamed == ("house plant",)
    assert found.closest is not None
    assert [str(action) for action in found.closest.actions] == ["pick_up(mug)", "put_in(mug, sink)"]

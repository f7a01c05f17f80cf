"""Recovery on hand-made scenes, with exact geometry in place of the networks."""

import numpy as np
import pytest

from nsrecover.core import ReasonCode, Recovery, RecoveryStatus, Trace
from nsrecover.errors import InvalidConfiguration, InvalidPlan
from nsrecover.explanation import reason_text
from nsrecover.planning.planner import RecoveryPlanner
from nsrecover.planning.setting_aside import PlacementSampler, ProposedPlace, nearest_place
from tests.nsrecover.models.test_free_place import WIDE
from tests.nsrecover.planning.geometric import (
    FIVE,
    MODELS,
    SIDE,
    H,
    compare,
    imagine,
    moved,
    plan,
    recovered,
    table,
    unseen,
)

TOWER = "top green red; top blue green; top yellow blue; top white yellow"


def words(recovery: Recovery) -> list[str]:
    return [str(action).replace(" cube", "") for action in recovery.actions]


@pytest.mark.parametrize("sampler", [nearest_place, ProposedPlace(WIDE)], ids=["nearest", "wrong"])
def test_what_is_in_the_way_goes_to_a_free_place(sampler: PlacementSampler) -> None:
    trace = imagine(table(*FIVE), plan("left yellow red"))
    a, b = trace.graphs[1].boxes[2, :3], trace.graphs[1].boxes[4, :3]
    swapped = moved(trace.graphs[1], blue=tuple(b), white=tuple(a))
    planner = RecoveryPlanner(MODELS, placement_sampler=sampler)
    recovery = planner.recover(swapped, trace, compare(swapped, trace, 0))
    assert sorted(action.operator for action in recovery.actions) == ["free", "restore", "restore"]
    target = np.array(next(action.target for action in recovery.actions if action.operator == "free"))
    others = np.concatenate([graph.boxes for graph in trace.graphs])
    reach = (target[3:5] + others[:, 3:5]) / 2 + 0.0299
    assert not (np.abs(target[:2] - others[:, :2]) < reach).all(axis=1).any()


def test_the_base_was_pushed_a_little_and_the_tower_follows_it() -> None:
    trace = imagine(table(*FIVE), plan("top green red; top blue green"))
    # red is 12 mm off, which counts as right; green fell
    graph = moved(trace.graphs[1], red=(0.512, 0.0, H), green=(0.6, 0.05, H))
    recovery = recovered(graph, trace, 0)
    assert words(recovery) == ["top(green, red)"]
    assert recovery.graphs[-1].boxes[1, 0] == pytest.approx(0.512)


@pytest.mark.parametrize(
    ("place", "code"),
    [
        (None, ReasonCode.MISSING_OBJECTS),
        ((1.1, 0.0, H), ReasonCode.OUT_OF_REACH),
        ((0.5, 0.9, H), ReasonCode.OUT_OF_REACH),
        ((0.76, 0.0, -0.3), ReasonCode.OUT_OF_REACH),
    ],
)
def test_a_block_that_is_missing_or_out_of_reach_is_blamed(
    place: tuple[float, float, float] | None, code: ReasonCode
) -> None:
    trace = imagine(table(*FIVE), plan(TOWER))
    graph = unseen(trace.graphs[1], "green") if place is None else moved(trace.graphs[1], green=place)
    recovery = recovered(graph, trace, 0)
    assert recovery.status is RecoveryStatus.IMPOSSIBLE
    assert (recovery.reason_code, recovery.blamed) == (code, ("green cube",))
    assert "the green cube" in reason_text(recovery)


def test_no_room_for_a_swap_is_said() -> None:
    planner = RecoveryPlanner(MODELS.with_table((0.46, -0.06, 0.54, 0.06)))
    trace = imagine(table((0.5, 0.03), (0.5, -0.03)), plan("right green red"))
    start = trace.graphs[0]
    swapped = moved(start, red=(0.5, -0.03, H), green=(0.5, 0.03, H))
    trace = Trace(trace.plan, (start, start))
    recovery = planner.recover(swapped, trace, compare(swapped, trace, 0))
    assert recovery.status is RecoveryStatus.IMPOSSIBLE
    assert recovery.reason_code is ReasonCode.NO_ROOM
    assert "no room" in reason_text(recovery)
    assert set(recovery.blamed) <= {"red cube", "green cube"}
    assert recovery.blamed


def test_only_the_nearest_subgoals_if_asked() -> None:
    trace = imagine(table(*FIVE), plan("left green red; right blue red; front yellow red; behind white red"))
    graph = moved(trace.graphs[3], green=(0.62, -0.05, H))
    assert recovered(graph, trace, 0, subgoals=1).subgoal == 3
    with pytest.raises(InvalidConfiguration, match="subgoals"):
        recovered(graph, trace, 0, subgoals=0)


def test_improvements_arrive_as_recoveries_and_a_budget_is_kept() -> None:
    trace = imagine(table(*FIVE), plan(TOWER))
    fallen = moved(trace.graphs[3], green=(0.56, 0.04, H), blue=(0.42, 0.05, H), yellow=(0.5, -0.1, H))
    found: list[Recovery] = []
    recovery = recovered(fallen, trace, 2, on_improvement=found.append)
    assert found
    assert found[-1].cost == recovery.cost
    costs = [better.cost for better in recovery.improvements]
    assert costs == sorted({each.cost for each in found}, reverse=True)
    assert len(costs) > 1  # the first way is not the best one
    assert costs[-1] == recovery.cost
    assert {better.expansions for better in recovery.improvements} <= {each.expansions for each in found}
    assert all(0 < better.seconds <= recovery.seconds for better in recovery.improvements)
    stopped = recovered(fallen, trace, 2, max_expansions=1)
    assert stopped.status is RecoveryStatus.BUDGET_EXHAUSTED
    assert stopped.improvements == ()


def test_imagined_boxes_that_overlap_do_not_lock_the_search() -> None:
    """A learned prediction may sink 8 mm into its neighbour or hover 15 mm; the plan says they stand there together."""
    trace = imagine(table(*FIVE), plan("top green red; left blue red"))
    graphs = [
        graph if t == 0 else graph.with_node(1, graph.boxes[1] + np.array([0, 0, 0.015, 0, 0, 0], dtype=np.float32))
        for t, graph in enumerate(trace.graphs)
    ]
    graphs[2] = graphs[2].with_node(2, [0.5, 0.042, H, SIDE, SIDE, SIDE])
    trace = Trace(trace.plan, tuple(graphs))
    fallen = moved(graphs[2], green=(0.6, 0.05, H), blue=(0.6, -0.05, H), red=(0.5, 0.0, H))
    recovery = RecoveryPlanner(MODELS).recover(fallen, trace, compare(fallen, trace, 1))
    assert recovery.status is RecoveryStatus.RECOVERED
    assert recovery.cost == 2


def test_a_trace_over_other_objects_is_refused() -> None:
    trace = imagine(table(*FIVE), plan(TOWER))
    wrong = compare(trace.graphs[1], trace, 0)
    with pytest.raises(InvalidPlan, match="expected a trace over"):
        RecoveryPlanner(MODELS).recover(table(*FIVE[:4]), trace, wrong)


def test_what_stands_on_its_end_is_not_built_upon_as_far_as_that_can_be_helped() -> None:
    """A gripper cannot lay it flat again, and all above it would be too high; the way back ends before that."""
    graph = table(*FIVE)
    brick = graph.index("green cube")
    graph = graph.with_node(brick, [0.4, 0.2, 0.02, 0.06, 0.04, 0.035])
    trace = imagine(graph, plan("top green red; top blue green"))
    upright = trace.graphs[1].with_node(brick, [0.6, 0.05, 0.03, 0.04, 0.035, 0.06])
    recovery = RecoveryPlanner(MODELS).recover(upright, trace, compare(upright, trace, 0))
    assert recovery.found
    assert recovery.subgoal is not None
    assert recovery.subgoal < 2
    as_it_was = moved(trace.graphs[1], green=(0.6, 0.05, 0.02))
    assert RecoveryPlanner(MODELS).recover(as_it_was, trace, compare(as_it_was, trace, 0)).found


def test_after_a_veto_what_does_no_harm_stays_and_what_is_needed_has_no_other_way() -> None:
    planner, trace = RecoveryPlanner(MODELS), imagine(table(*FIVE), plan("top green red; top blue green"))
    graph = moved(trace.graphs[1], green=(0.6, 0.05, H), white=(0.7, -0.1, H))
    found = compare(graph, trace, 0)
    both = planner.recover(graph, trace, found)
    assert sorted(words(both)) == ["restore(white)", "top(green, red)"]
    one = planner.instead(graph, trace, found, [both])
    assert one is not None
    assert words(one) == ["top(green, red)"]
    assert not one.proven_optimal
    assert planner.instead(graph, trace, found, [both, one]) is None
    assert planner.instead(graph, trace, found, [both], cancelled=lambda: True) is None

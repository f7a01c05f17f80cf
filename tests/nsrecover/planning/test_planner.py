"""Recovery on hand-made scenes, with exact geometry in place of the networks."""

import numpy as np
import pytest

from nsrecover.core import ReasonCode, Recovery, RecoveryStatus, SceneGraph, Trace
from nsrecover.domains.tabletop.operators import operator_of
from nsrecover.errors import InvalidConfiguration, InvalidPlan
from nsrecover.explanation import reason_text
from nsrecover.planning.planner import RecoveryPlanner
from nsrecover.planning.setting_aside import PlacementSampler, ProposedPlace, nearest_place
from tests.nsrecover.planning.geometric import (
    SIDE,
    GeometricModels,
    compare,
    imagine,
    moved,
    plan,
    step,
    table,
    unseen,
)

H = SIDE / 2
TOWER = "top green red; top blue green; top yellow blue; top white yellow"
FIVE = ((0.5, 0.0), (0.4, 0.2), (0.4, -0.2), (0.6, 0.2), (0.6, -0.2))


def run(models: GeometricModels, graph: SceneGraph, trace: Trace, number: int, **settings: object) -> Recovery:
    """Plan, and check that what comes back is sound: runnable, in step with its graphs, ending at the subgoal."""
    recovery = RecoveryPlanner(models).recover(graph, trace, compare(models, graph, trace, number), **settings)
    if not recovery.found:
        assert recovery.actions == ()
        assert reason_text(recovery)
        return recovery
    now = graph
    for action, imagined in zip(recovery.actions, recovery.graphs, strict=True):
        assert operator_of(action).violated(now, action) == (), str(action)
        if action.operator in ("free", "restore"):
            assert action.target is not None
        now = step(models, now, action)
        np.testing.assert_allclose(now.boxes, imagined.boxes, atol=1e-5)
    goal = trace.graphs[recovery.subgoal]
    assert (models.same(goal.visual, goal.boxes, now.visual, now.boxes) >= models.threshold).all()
    assert recovery.cost == len(recovery.actions) + len(trace.plan) - recovery.subgoal
    return recovery


def words(recovery: Recovery) -> list[str]:
    return [str(action).replace(" cube", "") for action in recovery.actions]


def test_a_tower_falls_in_the_middle_of_the_plan(models: GeometricModels) -> None:
    trace = imagine(models, table(*FIVE), plan(TOWER))
    # after step 3 the whole tower lies around; white has not been touched yet
    fallen = moved(trace.graphs[3], green=(0.56, 0.04, H), blue=(0.42, 0.05, H), yellow=(0.5, -0.1, H))
    recovery = run(models, fallen, trace, 2)
    assert (recovery.cost, recovery.subgoal) == (4, 3)
    assert words(recovery) == ["top(green, red)", "top(blue, green)", "top(yellow, blue)"]


@pytest.mark.parametrize("sampler", [nearest_place, ProposedPlace(GeometricModels())], ids=["nearest", "wrong"])
def test_what_is_in_the_way_goes_to_a_free_place(models: GeometricModels, sampler: PlacementSampler) -> None:
    trace = imagine(models, table(*FIVE), plan("left yellow red"))
    a, b = trace.graphs[1].boxes[2, :3], trace.graphs[1].boxes[4, :3]
    swapped = moved(trace.graphs[1], blue=tuple(b), white=tuple(a))
    planner = RecoveryPlanner(models, placement_sampler=sampler)
    recovery = planner.recover(swapped, trace, compare(models, swapped, trace, 0))
    assert sorted(action.operator for action in recovery.actions) == ["free", "restore", "restore"]
    target = np.array(next(action.target for action in recovery.actions if action.operator == "free"))
    others = np.concatenate([graph.boxes for graph in trace.graphs])
    reach = (target[3:5] + others[:, 3:5]) / 2 + 0.0299
    assert not (np.abs(target[:2] - others[:, :2]) < reach).all(axis=1).any()


def test_helper_did_the_next_steps(models: GeometricModels) -> None:
    trace = imagine(models, table(*FIVE), plan(TOWER))
    recovery = run(models, trace.graphs[3], trace, 0)
    assert recovery.status is RecoveryStatus.ALREADY_AT_SUBGOAL
    assert (recovery.actions, recovery.subgoal, recovery.cost) == ((), 3, 1)


def test_skips_ahead_when_one_action_makes_a_helpers_work_fit(models: GeometricModels) -> None:
    trace = imagine(models, table(*FIVE), plan("left green red; right blue red; front yellow red; behind white red"))
    # the robot's own step 1 failed (green lies elsewhere), but a helper did steps 2 and 3
    graph = moved(trace.graphs[3], green=(0.62, -0.05, H))
    recovery = run(models, graph, trace, 0)
    assert (len(recovery.actions), recovery.subgoal, recovery.cost) == (1, 3, 2)
    assert words(recovery) == ["left(green, red)"]


def test_a_block_on_top_of_a_culprit_moves_first(models: GeometricModels) -> None:
    trace = imagine(models, table(*FIVE), plan("top green red; left white yellow"))
    # red was pushed, with green on it: both are wrong; green has to come off before red can go back
    graph = moved(trace.graphs[1], red=(0.5, 0.06, H), green=(0.5, 0.06, 3 * H))
    recovery = run(models, graph, trace, 0)
    assert words(recovery)[0] in ("free(green)", "restore(green)")
    assert words(recovery)[1:] == ["restore(red)", "top(green, red)"]
    assert recovery.cost == 4
    assert recovery.proven_optimal


def test_the_base_was_pushed_a_little_and_the_tower_follows_it(models: GeometricModels) -> None:
    trace = imagine(models, table(*FIVE), plan("top green red; top blue green"))
    # red is 12 mm off, which counts as right; green fell
    graph = moved(trace.graphs[1], red=(0.512, 0.0, H), green=(0.6, 0.05, H))
    recovery = run(models, graph, trace, 0)
    assert words(recovery) == ["top(green, red)"]
    assert recovery.graphs[-1].boxes[1, 0] == pytest.approx(0.512)


def test_missing_block_is_blamed(models: GeometricModels) -> None:
    trace = imagine(models, table(*FIVE), plan(TOWER))
    recovery = run(models, unseen(trace.graphs[1], "blue"), trace, 0)
    assert recovery.status is RecoveryStatus.IMPOSSIBLE
    assert recovery.blamed == ("blue cube",)
    assert recovery.reason_code is ReasonCode.MISSING_OBJECTS
    assert reason_text(recovery).startswith("the blue cube cannot be found")


def test_a_missing_block_that_the_plan_does_not_need_is_no_obstacle(models: GeometricModels) -> None:
    trace = imagine(models, table(*FIVE), plan("top green red; top blue green"))
    graph = unseen(moved(trace.graphs[1], green=(0.6, 0.05, H)), "white")
    recovery = RecoveryPlanner(models).recover(graph, trace, compare(models, graph, trace, 0))
    assert recovery.status is RecoveryStatus.RECOVERED
    assert words(recovery) == ["top(green, red)"]


@pytest.mark.parametrize("place", [(1.1, 0.0, H), (0.5, 0.9, H), (0.76, 0.0, -0.3)])
def test_block_out_of_reach_is_blamed(models: GeometricModels, place: tuple[float, float, float]) -> None:
    trace = imagine(models, table(*FIVE), plan(TOWER))
    recovery = run(models, moved(trace.graphs[2], green=place), trace, 1)
    assert recovery.status is RecoveryStatus.IMPOSSIBLE
    assert recovery.blamed == ("green cube",)
    assert recovery.reason_code is ReasonCode.OUT_OF_REACH
    assert "the green cube is out of" in reason_text(recovery)


def test_no_room_for_a_swap_is_said() -> None:
    models = GeometricModels(workspace=(0.46, -0.06, 0.54, 0.06))
    trace = imagine(models, table((0.5, 0.03), (0.5, -0.03)), plan("right green red"))
    start = trace.graphs[0]
    swapped = moved(start, red=(0.5, -0.03, H), green=(0.5, 0.03, H))
    trace = Trace(trace.plan, (start, start))
    recovery = run(models, swapped, trace, 0)
    assert recovery.status is RecoveryStatus.IMPOSSIBLE
    assert recovery.reason_code is ReasonCode.NO_ROOM
    assert "no room" in reason_text(recovery)
    assert set(recovery.blamed) <= {"red cube", "green cube"}
    assert recovery.blamed


def test_only_the_nearest_subgoals_if_asked(models: GeometricModels) -> None:
    trace = imagine(models, table(*FIVE), plan("left green red; right blue red; front yellow red; behind white red"))
    graph = moved(trace.graphs[3], green=(0.62, -0.05, H))
    assert run(models, graph, trace, 0, subgoals=1).subgoal == 3
    with pytest.raises(InvalidConfiguration, match="subgoals"):
        run(models, graph, trace, 0, subgoals=0)


def test_improvements_arrive_as_recoveries_and_a_budget_is_kept(models: GeometricModels) -> None:
    trace = imagine(models, table(*FIVE), plan(TOWER))
    fallen = moved(trace.graphs[3], green=(0.56, 0.04, H), blue=(0.42, 0.05, H), yellow=(0.5, -0.1, H))
    found: list[Recovery] = []
    recovery = run(models, fallen, trace, 2, on_improvement=found.append)
    assert found
    assert found[-1].cost == recovery.cost
    costs = [better.cost for better in recovery.improvements]
    assert costs == sorted({each.cost for each in found}, reverse=True)
    assert len(costs) > 1  # the first way is not the best one
    assert costs[-1] == recovery.cost
    assert {better.expansions for better in recovery.improvements} <= {each.expansions for each in found}
    assert all(0 < better.seconds <= recovery.seconds for better in recovery.improvements)
    stopped = run(models, fallen, trace, 2, max_expansions=1)
    assert stopped.status is RecoveryStatus.BUDGET_EXHAUSTED
    assert stopped.improvements == ()


def test_imagined_boxes_that_overlap_do_not_lock_the_search(models: GeometricModels) -> None:
    """A learned prediction may sink 8 mm into its neighbour or hover 15 mm; the plan says they stand there together."""
    trace = imagine(models, table(*FIVE), plan("top green red; left blue red"))
    graphs = [
        graph if t == 0 else graph.with_node(1, graph.boxes[1] + np.array([0, 0, 0.015, 0, 0, 0], dtype=np.float32))
        for t, graph in enumerate(trace.graphs)
    ]
    graphs[2] = graphs[2].with_node(2, [0.5, 0.042, H, SIDE, SIDE, SIDE])
    trace = Trace(trace.plan, tuple(graphs))
    fallen = moved(graphs[2], green=(0.6, 0.05, H), blue=(0.6, -0.05, H), red=(0.5, 0.0, H))
    recovery = RecoveryPlanner(models).recover(fallen, trace, compare(models, fallen, trace, 1))
    assert recovery.status is RecoveryStatus.RECOVERED
    assert recovery.cost == 2


def test_a_trace_over_other_objects_is_refused(models: GeometricModels) -> None:
    trace = imagine(models, table(*FIVE), plan(TOWER))
    wrong = compare(models, trace.graphs[1], trace, 0)
    with pytest.raises(InvalidPlan, match="expected a trace over"):
        RecoveryPlanner(models).recover(table(*FIVE[:4]), trace, wrong)


def test_what_stands_on_its_end_is_not_built_upon_as_far_as_that_can_be_helped(models: GeometricModels) -> None:
    """A gripper cannot lay it flat again, and all above it would be too high; the way back ends before that."""
    graph = table(*FIVE)
    brick = graph.index("green cube")
    graph = graph.with_node(brick, [0.4, 0.2, 0.02, 0.06, 0.04, 0.035])
    trace = imagine(models, graph, plan("top green red; top blue green"))
    upright = trace.graphs[1].with_node(brick, [0.6, 0.05, 0.03, 0.04, 0.035, 0.06])
    models.same = lambda *nodes: GeometricModels.same(models, *(_without_size(node) for node in nodes))  # type: ignore
    recovery = RecoveryPlanner(models).recover(upright, trace, compare(models, upright, trace, 0))
    assert recovery.found
    assert recovery.subgoal is not None
    assert recovery.subgoal < 2
    as_it_was = moved(trace.graphs[1], green=(0.6, 0.05, 0.02))
    assert RecoveryPlanner(models).recover(as_it_was, trace, compare(models, as_it_was, trace, 0)).found


def _without_size(node: np.ndarray) -> np.ndarray:
    """Boxes as if all were of one size, since the discriminator is lenient about it."""
    if node.shape[-1] != 6:
        return node
    return np.concatenate([node[:, :3], np.full_like(node[:, 3:], SIDE)], axis=1)


def test_after_a_veto_what_does_no_harm_stays_and_what_is_needed_has_no_other_way(models: GeometricModels) -> None:
    planner, trace = RecoveryPlanner(models), imagine(models, table(*FIVE), plan("top green red; top blue green"))
    graph = moved(trace.graphs[1], green=(0.6, 0.05, H), white=(0.7, -0.1, H))
    found = compare(models, graph, trace, 0)
    both = planner.recover(graph, trace, found)
    assert sorted(words(both)) == ["restore(white)", "top(green, red)"]
    one = planner.instead(graph, trace, found, [both])
    assert one is not None
    assert words(one) == ["top(green, red)"]
    assert not one.proven_optimal
    assert planner.instead(graph, trace, found, [both, one]) is None
    assert planner.instead(graph, trace, found, [both], cancelled=lambda: True) is None

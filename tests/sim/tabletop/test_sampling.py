"""Sampled scenes fit the table; sampled plans can be carried out, at least on paper."""

from itertools import combinations

import numpy as np
import pytest

from nsrecover.core.actions import Action
from nsrecover.core.geometry import intersects
from nsrecover.domains.tabletop.operators import check_plan, operator_of
from nsrecover.errors import InvalidConfiguration
from sim.tabletop.sampling import (
    BESIDE_GAP_M,
    RISKY,
    Structure,
    is_feasible,
    nominal_box,
    nominal_graph,
    sample_plan,
    sample_scene,
)
from sim.tabletop.scene_mix import DEFAULT_MIX, SceneMix
from sim.tabletop.scenes import WORKSPACE_X_M, WORKSPACE_Y_M, ObjectKind, ObjectSpec, SceneSpec, footprint_gap


@pytest.mark.parametrize("count", [1, 3, 6, 10])
def test_scenes_fit_the_table_with_room_for_fingers(count):
    for seed in range(10):
        scene = sample_scene(np.random.default_rng(seed), count)
        scene.check()
        assert len(scene.objects) == count
        assert len(set(scene.names)) == count
        for first, second in combinations(scene.objects, 2):
            assert footprint_gap(first, second) >= DEFAULT_MIX.gap_m


def test_scenes_vary_with_the_generator_and_repeat_with_it():
    scenes = [sample_scene(np.random.default_rng(seed), 4) for seed in (1, 1, 2)]
    assert scenes[0] == scenes[1]
    assert scenes[0] != scenes[2]


def test_only_the_kinds_asked_for_are_sampled():
    scene = sample_scene(np.random.default_rng(0), 5, SceneMix(kinds=(ObjectKind.DIE,)))
    assert {item.kind for item in scene.objects} == {ObjectKind.DIE}


@pytest.mark.parametrize(
    ("count", "message"),
    [(0, "1 to 50"), (51, "1 to 50"), (50, r"50 objects .* found places for at most (1|2)\d in")],
)
def test_scenes_that_do_not_fit_say_so(count, message):
    with pytest.raises(InvalidConfiguration, match=message):
        sample_scene(np.random.default_rng(0), count)


@pytest.mark.parametrize("structure", list(Structure))
def test_plans_hold_on_paper(structure):
    for seed in range(25):
        rng = np.random.default_rng(seed)
        scene = sample_scene(rng, 5)
        plan = sample_plan(rng, scene, structure, 4)
        assert len(plan) == 4
        graph = nominal_graph(scene)
        check_plan(plan, graph)
        for action in plan:
            operator, moved = operator_of(action), graph.index(action.arguments[0])
            assert operator.violated(graph, action) == ()
            before = graph.boxes
            graph = graph.with_node(moved, nominal_box(graph, action))
            assert operator.achieved(graph, graph, action)
            assert not np.allclose(before[moved, :3], graph.boxes[moved, :3], atol=0.005)
            assert not intersects(graph.boxes[moved], np.delete(graph.boxes, moved, axis=0)).any()
            assert WORKSPACE_X_M[0] <= graph.boxes[moved, 0] <= WORKSPACE_X_M[1]
            assert WORKSPACE_Y_M[0] <= graph.boxes[moved, 1] <= WORKSPACE_Y_M[1]


def test_a_tower_grows_on_one_object_that_stays():
    rng = np.random.default_rng(5)
    plan = sample_plan(rng, sample_scene(rng, 5), Structure.TOWER, 4)
    assert {action.operator for action in plan} == {"top"}
    for lower, upper in zip(plan.actions, plan.actions[1:], strict=False):
        assert upper.arguments[1] == lower.arguments[0]


def test_a_row_stays_on_the_table():
    rng = np.random.default_rng(5)
    plan = sample_plan(rng, sample_scene(rng, 5), Structure.ROW, 4)
    assert {action.operator for action in plan} <= {"left", "right", "front", "behind"}


def test_mixed_plans_use_every_operator_and_give_free_a_place_on_the_table():
    seen = set()
    for seed in range(40):
        rng = np.random.default_rng(seed)
        for action in sample_plan(rng, sample_scene(rng, 5), Structure.MIXED, 5):
            seen.add(action.operator)
            assert (action.target is not None) == (action.operator == "free")
            if action.target is not None:
                assert action.target[2] == pytest.approx(action.target[5] / 2)
    assert seen == {"top", "left", "right", "front", "behind", "free"}


def test_plans_longer_than_the_objects_go_on_with_other_moves():
    rng = np.random.default_rng(2)
    assert len(sample_plan(rng, sample_scene(rng, 3), Structure.TOWER, 8)) == 8


def test_nominal_places():
    cube = ObjectSpec("red cube", ObjectKind.CUBE, "red", (0.04, 0.04, 0.04), (0.5, 0.0))
    die = ObjectSpec("blue die", ObjectKind.DIE, "blue", (0.05, 0.05, 0.05), (0.5, 0.2))
    scene = SceneSpec((cube, die))
    graph = nominal_graph(scene)
    on_top = nominal_box(graph, Action("top", ("red cube", "blue die")))
    assert on_top == pytest.approx((0.5, 0.2, 0.07, 0.04, 0.04, 0.04))
    left = nominal_box(graph, Action("left", ("red cube", "blue die")))
    assert left == pytest.approx((0.5, 0.2 + 0.045 + BESIDE_GAP_M, 0.02, 0.04, 0.04, 0.04))
    front = nominal_box(graph, Action("front", ("blue die", "red cube")))
    assert front == pytest.approx((0.5 - 0.045 - BESIDE_GAP_M, 0.0, 0.025, 0.05, 0.05, 0.05))


@pytest.mark.parametrize("length", [0, 41])
def test_plan_lengths_out_of_range_are_refused(length):
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidConfiguration, match="1 to 40"):
        sample_plan(rng, sample_scene(rng, 3), Structure.TOWER, length)


def test_one_object_is_too_few_for_a_plan():
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidConfiguration, match="at least 2 objects"):
        sample_plan(rng, sample_scene(rng, 1), Structure.MIXED, 1)


def test_the_default_scene_of_a_seed_stays_what_it_is():
    """A shipped checkpoint and the scenarios rest on it."""
    scene = sample_scene(np.random.default_rng(7), 3)
    assert [(item.name, item.size[0], item.position) for item in scene.objects] == [
        ("red cube", 0.0493, (0.6765, -0.1537)),
        ("cyan die", 0.0421, (0.3741, -0.2507)),
        ("white cube", 0.0538, (0.5614, 0.0076)),
    ]


def test_what_fits_is_told_truly():
    with pytest.raises(InvalidConfiguration) as problem:
        sample_scene(np.random.default_rng(0), 50)
    most = int(str(problem.value).split("ask for at most ")[1].split(",")[0])
    assert len(sample_scene(np.random.default_rng(0), most - 2).objects) == most - 2


def test_risky_plans_keep_less_room():
    risky = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        scene = sample_scene(rng, 9)
        plan = sample_plan(rng, scene, Structure.TOWER, 8, RISKY)
        assert is_feasible(scene, plan, RISKY)
        risky += not is_feasible(scene, plan)
    assert risky >= 3

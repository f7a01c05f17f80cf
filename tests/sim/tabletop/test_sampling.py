"""Sampled scenes fit the table; sampled plans can be carried out, at least on paper."""

from itertools import combinations

import numpy as np
import pytest

from nsrecover.core.geometry import intersects
from nsrecover.domains.tabletop.operators import check_plan, operator_of
from nsrecover.errors import InvalidConfiguration
from sim.tabletop.sampling import (
    Structure,
    nominal_box,
    nominal_graph,
    sample_plan,
    sample_scene,
)
from sim.tabletop.scene_mix import DEFAULT_MIX
from sim.tabletop.scenes import WORKSPACE_X_M, WORKSPACE_Y_M, footprint_gap


@pytest.mark.parametrize("count", [1, 3, 6, 10])
def test_scenes_fit_the_table_with_room_for_fingers(count):
    for seed in range(10):
        scene = sample_scene(np.random.default_rng(seed), count)
        scene.check()
        assert len(scene.objects) == count
        assert len(set(scene.names)) == count
        for first, second in combinations(scene.objects, 2):
            assert footprint_gap(first, second) >= DEFAULT_MIX.gap_m


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


@pytest.mark.parametrize("length", [0, 41])
def test_plan_lengths_out_of_range_are_refused(length):
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidConfiguration, match="1 to 40"):
        sample_plan(rng, sample_scene(rng, 3), Structure.TOWER, length)


def test_the_default_scene_of_a_seed_stays_what_it_is():
    """A shipped checkpoint and the scenarios rest on it."""
    scene = sample_scene(np.random.default_rng(7), 3)
    assert [(item.name, item.size[0], item.position) for item in scene.objects] == [
        ("red cube", 0.0493, (0.6765, -0.1537)),
        ("cyan die", 0.0421, (0.3741, -0.2507)),
        ("white cube", 0.0538, (0.5614, 0.0076)),
    ]

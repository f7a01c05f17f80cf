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

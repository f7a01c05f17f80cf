"""Imagined scenes: what an action changes, what it leaves alone, and what is blamed for not being so."""

from dataclasses import replace

import numpy as np
import pytest

from nsrecover import Plan, SceneGraph, System
from nsrecover.core.geometry import gaps
from nsrecover.monitoring.imagination import as_expected

SIDE = 0.042


@pytest.fixture
def graph() -> SceneGraph:
    boxes = np.array([[0.5, 0.12 * i - 0.2, SIDE / 2, SIDE, SIDE, SIDE] for i in range(4)], np.float32)
    looks = np.random.default_rng(0).normal(size=(4, 64)).astype(np.float32)
    looks /= np.linalg.norm(looks, axis=1, keepdims=True)
    return SceneGraph(("a", "b", "c", "d"), looks, boxes, np.ones(4, bool))


def test_free_is_given_a_place_that_is_free_so_that_robot_and_imagination_agree(
    system: System, graph: SceneGraph
) -> None:
    trace = system.imagination.trace(graph, Plan.parse("free(b)"))
    target = trace.plan[0].target
    assert target is not None
    np.testing.assert_allclose(trace.graphs[1].boxes[1], target, atol=1e-6)
    assert (gaps(target, graph.boxes)[:, :2].max(axis=1) > 0).all()


def test_rebasing_starts_from_what_was_observed_and_keeps_targets(system: System, graph: SceneGraph) -> None:
    trace = system.imagination.trace(graph, Plan.parse("top(a, b); free(d); top(c, a)"))
    shifted = trace.graphs[1].boxes[0].copy()
    shifted[:2] += 0.008
    observed = trace.graphs[1].with_node(0, shifted)
    rebased = system.imagination.rebase(trace, 1, observed)
    assert rebased.graphs[0] is trace.graphs[0]
    assert rebased.graphs[1] is observed
    assert rebased.plan[1].target == trace.plan[1].target
    np.testing.assert_allclose(rebased.graphs[3].boxes[2, :2] - trace.graphs[3].boxes[2, :2], [0.008, 0.008], atol=1e-4)


@pytest.mark.parametrize("shift_m", [0.04, 0.06, 0.1])
@pytest.mark.parametrize("index", [0, 2, 3])
def test_a_displaced_object_and_only_that_one_is_blamed(
    system: System, graph: SceneGraph, index: int, shift_m: float
) -> None:
    trace = system.imagination.trace(graph, Plan.parse("top(a, b); top(c, a)"))
    box = trace.graphs[1].boxes[index].copy()
    box[1] += shift_m
    found = system.comparison.after(trace.graphs[1].with_node(index, box), trace, 0)
    assert found.deviating == (graph.names[index],)


def test_another_object_in_its_place_is_noticed_by_its_looks(system: System, graph: SceneGraph) -> None:
    trace = system.imagination.trace(graph, Plan.parse("top(a, b)"))
    impostor = trace.graphs[1].with_node(3, graph.boxes[3], graph.visual[2])
    assert "d" in system.comparison.after(impostor, trace, 0).deviating


def test_an_object_that_looks_like_itself_may_be_turned_but_not_displaced(system: System, graph: SceneGraph) -> None:
    looks = np.zeros((4, 64), np.float32)
    looks[:, :4] = np.eye(4)
    graph = replace(graph, visual=looks)
    turned, like_another = looks.copy(), looks.copy()
    turned[0, :6] = [0.75, 0, 0, 0, np.sqrt(1 - 0.75**2), 0]
    like_another[0, :4] = [0.65, np.sqrt(1 - 0.65**2), 0, 0]
    assert as_expected(system.model.models, graph, replace(graph, visual=turned))[0] > 0.9
    swapped = as_expected(system.model.models, graph, replace(graph, visual=like_another))[0]
    alone = system.model.models.same(looks[:1], graph.boxes[:1], like_another[:1], graph.boxes[:1])[0]
    assert swapped == pytest.approx(alone), "it looks more like another one: appearance counts"
    boxes = graph.boxes.copy()
    boxes[0, 0] += 0.05
    assert as_expected(system.model.models, graph, replace(graph, visual=turned, boxes=boxes))[0] < 0.1

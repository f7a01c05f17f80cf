"""Scene-graph similarity worked by hand from the formulae of Yu et al., appendix B."""

from dataclasses import replace

import numpy as np
import pytest

from eval.detectors.base import Moment
from eval.detectors.graph import (
    GraphSimilarity,
    Relations,
    edge_similarity,
    found,
    node_similarity,
    structural_similarity,
)
from nsrecover.core import Observation, Plan, SceneGraph, Trace

SIDE = 0.05
PLAN = Plan.parse("top(a, b)")


def scene(**places: tuple[float, float, float]) -> SceneGraph:
    """Cubes of 5 cm with different appearances."""
    boxes = np.array([[*place, SIDE, SIDE, SIDE] for place in places.values()], dtype=np.float32)
    visual = np.eye(4, dtype=np.float32)[["abcd".index(name) for name in places]]
    return SceneGraph(tuple(places), visual, boxes, np.ones(len(places), np.bool_))


# the edges: a on b, b on the table, c on the table
EXPECTED = scene(a=(0.5, 0.0, 0.075), b=(0.5, 0.0, 0.025), c=(0.5, 0.3, 0.025))


def moment(seen: SceneGraph) -> Moment:
    empty = np.zeros((0, 2, 2), dtype=np.int32)
    nothing = Observation(np.zeros((0, 2, 2, 3), np.uint8), empty.astype(np.float32), empty, (), {})
    return Moment(0, EXPECTED, Trace(PLAN, (EXPECTED, EXPECTED)), seen, nothing)


def test_a_cube_that_fell_off() -> None:
    """Edges: a, b and c on the table; 2 of 4 different ones are in both. Degrees: 1, 1, 1 instead of 1, 2, 1."""
    fallen = scene(a=(0.5, -0.3, 0.025), b=(0.5, 0.0, 0.025), c=(0.5, 0.3, 0.025))
    assert node_similarity(EXPECTED, fallen) == pytest.approx(1.0)
    assert edge_similarity(EXPECTED, fallen) == pytest.approx(2 / 4)
    assert structural_similarity(EXPECTED, fallen) == pytest.approx(1 - (1 / 3) * (1 / 2))
    similarity = (1 + 1 / 2 + 5 / 6) / 3
    assert GraphSimilarity().score(moment(fallen), {}) == pytest.approx(similarity)
    assert GraphSimilarity(edge=False).score(moment(fallen), {}) == pytest.approx((1 + 5 / 6) / 2)
    assert GraphSimilarity(node=False).score(moment(fallen), {}) == pytest.approx((1 / 2 + 5 / 6) / 2)
    assert GraphSimilarity(structure=False).score(moment(fallen), {}) == pytest.approx((1 + 1 / 2) / 2)
    assert Relations().score(moment(fallen), {}) == -2


def test_a_cube_that_is_gone() -> None:
    """Two of three nodes and two of three edges are left; the degrees of those two are as expected."""
    gone = replace(EXPECTED, seen=np.array([True, True, False]))
    assert found(gone).names == ("a", "b")
    assert node_similarity(EXPECTED, found(gone)) == pytest.approx(2 / 3)
    assert edge_similarity(EXPECTED, found(gone)) == pytest.approx(2 / 3)
    assert structural_similarity(EXPECTED, found(gone)) == 1.0
    assert GraphSimilarity().score(moment(gone), {}) == pytest.approx((2 / 3 + 2 / 3 + 1) / 3)

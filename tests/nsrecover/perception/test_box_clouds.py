"""Points on the surface of boxes, and the relations of boxes."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsrecover.core.scene import SceneGraph
from nsrecover.errors import InvalidConfiguration, InvalidObservation
from nsrecover.perception.objects.spatial_relations import box_cloud, spatial_relations_of
from tests.nsrecover.perception.test_spatial_relations import ROBOT, SIDE


@settings(max_examples=60, deadline=None, derandomize=True)
@given(sizes=st.tuples(*[st.floats(0.001, 0.15)] * 3), spacing=st.floats(0.006, 0.05))
def test_box_clouds_cover_the_surface(sizes: tuple[float, float, float], spacing: float) -> None:
    centre = np.array([0.4, -0.1, 0.2])
    cloud = box_cloud((*centre, *sizes), spacing).astype(float)
    offsets = np.abs(cloud - centre) - np.array(sizes) / 2
    assert np.allclose(offsets.max(axis=1), 0, atol=1e-6)
    assert np.allclose(
        [cloud.min(axis=0), cloud.max(axis=0)], [centre - np.divide(sizes, 2), centre + np.divide(sizes, 2)]
    )
    for axis in range(3):
        ticks = np.unique(np.round(cloud[:, axis], 7))
        assert all(b - a <= spacing * 1.001 + 1e-6 for a, b in pairwise(ticks))
    assert len(np.unique(cloud, axis=0)) == len(cloud)


@pytest.mark.parametrize(
    ("sizes", "points"), [((0.04, 0.04, 0.04), 98), ((0.04, 0.02, 0), 15), ((0, 0, 0.04), 5), ((0, 0, 0), 1)]
)
def test_number_of_points_of_a_box(sizes: tuple[float, float, float], points: int) -> None:
    assert box_cloud(np.array([0.5, 0, 0.02, *sizes], np.float32)).shape == (points, 3)


def test_boxes_that_are_none_are_refused() -> None:
    with pytest.raises(InvalidObservation, match="six finite numbers"):
        box_cloud((0, 0, 0, 1, 1))
    with pytest.raises(InvalidObservation, match="sizes >= 0"):
        box_cloud((0, 0, 0, 1, 1, -1))
    with pytest.raises(InvalidConfiguration, match="above 0 m"):
        box_cloud((0, 0, 0, 1, 1, 1), 0.0)


def test_a_graph_of_boxes_has_the_relations_of_solid_boxes() -> None:
    names = ("red", "blue", "green", "lost")
    boxes = np.array([(0.5, 0, 0.02), (0.5, 0, 0.06), (0.5, 0.2, 0.02), (0, 0, 0)])
    graph = SceneGraph(
        names=names,
        visual=np.zeros((4, 2), np.float32),
        boxes=np.array(
            [[*box, *[SIDE * (name != "lost")] * 3] for name, box in zip(names, boxes, strict=True)], np.float32
        ),
        seen=np.array([True, True, True, False]),
    )
    assert {" ".join(edge) for edge in spatial_relations_of(graph, ROBOT)} == {
        "blue on top of red",
        "green on the left red", "red on the right green",
        "green on the left blue", "blue on the right green",
    }  # fmt: skip

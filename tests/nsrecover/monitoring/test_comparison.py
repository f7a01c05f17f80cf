"""The monitor with the shipped checkpoint, on scenes seen by the cameras and changed by hand."""

import numpy as np
import pytest

from nsrecover import System
from nsrecover.core import Phase, Plan, SceneGraph, Trace
from sim.tabletop.sampling import sample_scene
from sim.tabletop.world import TabletopWorld


@pytest.fixture(scope="module")
def start(system: System) -> SceneGraph:
    with TabletopWorld(sample_scene(np.random.default_rng(21), 5)) as world:
        return system.perceiver()(world.observe())


@pytest.fixture(scope="module")
def trace(system: System, start: SceneGraph) -> Trace:
    a, b, c = start.names[:3]
    return system.imagination.trace(start, Plan.parse(f"top({a}, {b}); top({c}, {a})"))


@pytest.mark.parametrize("millimetres", [40, 60, 100])
@pytest.mark.parametrize("index", [0, 3, 4])
def test_a_displaced_object_and_only_that_one_is_blamed(
    system: System, trace: Trace, millimetres: int, index: int
) -> None:
    expected = trace.graphs[1]
    box = expected.boxes[index].copy()
    box[1] += millimetres / 1000
    found = system.comparison.after(expected.with_node(index, box), trace, 0)
    assert found.deviating == (expected.names[index],)
    assert found.total > 0.5
    assert found.phase is Phase.AFTER


def test_another_object_in_its_place_is_noticed_by_its_looks(system: System, trace: Trace) -> None:
    expected = trace.graphs[1]
    impostor = expected.with_node(3, expected.boxes[3], expected.visual[4])
    assert expected.names[3] in system.comparison.after(impostor, trace, 0).deviating

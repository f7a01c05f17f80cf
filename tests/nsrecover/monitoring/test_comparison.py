"""The monitor with the shipped checkpoint, on scenes seen by the cameras and changed by hand."""

import numpy as np
import pytest

from nsrecover import load
from nsrecover.core import Cause, Fact, Phase, Plan, SceneGraph, Trace
from nsrecover.system import System
from sim.tabletop.sampling import sample_scene
from sim.tabletop.world import TabletopWorld


@pytest.fixture(scope="module")
def system() -> System:
    return load()


@pytest.fixture(scope="module")
def start(system: System) -> SceneGraph:
    with TabletopWorld(sample_scene(np.random.default_rng(21), 5)) as world:
        return system.perceiver()(world.observe())


@pytest.fixture(scope="module")
def trace(system: System, start: SceneGraph) -> Trace:
    a, b, c = start.names[:3]
    return system.imagination.trace(start, Plan.parse(f"top({a}, {b}); top({c}, {a})"))


def test_imagined_places_are_where_the_operators_promise(trace: Trace) -> None:
    for step, action in enumerate(trace.plan):
        moved, support = (trace.graphs[0].index(name) for name in action.arguments)
        box, below = trace.graphs[step + 1].boxes[moved], trace.graphs[step + 1].boxes[support]
        assert np.linalg.norm(box[:2] - below[:2]) < 0.006
        assert abs(box[2] - below[2] - (box[5] + below[5]) / 2) < 0.006


def test_the_imagined_scene_itself_raises_no_alarm(system: System, trace: Trace) -> None:
    for step in range(len(trace.plan)):
        assert not system.comparison.before(trace.graphs[step], trace, step).deviates
        assert not system.comparison.after(trace.graphs[step + 1], trace, step).deviates


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


def test_a_missing_object_is_a_culprit_and_says_so(system: System, trace: Trace) -> None:
    expected = trace.graphs[1]
    seen = expected.seen.copy()
    seen[4] = False
    observed = SceneGraph(expected.names, expected.visual, expected.boxes, seen)
    found = system.comparison.after(observed, trace, 0)
    assert [(culprit.name, culprit.cause) for culprit in found.deviations] == [(expected.names[4], Cause.MISSING)]


def test_preconditions_are_checked_before_the_action_is_run(system: System, start: SceneGraph, trace: Trace) -> None:
    a, b = start.names[0], start.names[3]
    index = start.index(b)
    on_top = trace.graphs[0].boxes[start.index(a)].copy()
    on_top[2] += (on_top[5] + start.boxes[index, 5]) / 2
    on_top[3:] = start.boxes[index, 3:]
    blocked = start.with_node(index, on_top)
    found = system.comparison.before(blocked, trace, 0)
    assert found.phase is Phase.BEFORE
    assert found.unmet == (Fact("covered", (b, a)),)
    assert b in found.deviating

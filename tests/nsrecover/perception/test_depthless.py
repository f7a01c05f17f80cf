"""Objects with masks and without depth: nothing is told of their places, and it is noticed when they are gone."""

from dataclasses import replace

import numpy as np
import pytest

import nsrecover
from nsrecover.core import Action, Cause, Observation, Plan, UnseenReason, Verdict, Visibility
from nsrecover.perception.lifting import to_world
from nsrecover.records.recording import example

GLASS = 2


@pytest.fixture(scope="module")
def seen() -> Observation:
    return example().observations[0]


def watching(name: str, start: Observation) -> nsrecover.Monitor:
    """A monitor of a plan that puts an object onto another one."""
    other = next(each for each in start.labels.values() if each != name)
    return nsrecover.load().monitor(Plan((Action("top", (name, other)),)), start)


def of_glass(seen: Observation, holes: float) -> Observation:
    """The depth of one object is that of the table, with so many holes."""
    depth, rng = seen.depth_m.copy(), np.random.default_rng(0)
    for view, (image, camera) in enumerate(zip(seen.instances, seen.cameras, strict=True)):
        rows, columns = np.nonzero(image == GLASS)
        points = to_world(replace(seen, depth_m=np.ones_like(depth)), view, rows, columns)
        eye = camera.world_from_camera[2, 3]
        depth[view][rows, columns] = np.where(rng.random(len(rows)) < holes, 0, eye / (eye - points[:, 2]))
    return replace(seen, depth_m=depth)


def without(seen: Observation) -> Observation:
    """The object taken away: the table has its depth already."""
    instances = np.where(seen.instances == GLASS, 0, seen.instances)
    return replace(
        of_glass(seen, 0.0), instances=instances, labels={n: a for n, a in seen.labels.items() if n != GLASS}
    )


@pytest.mark.parametrize("holes", [0.0, 0.2, 0.6, 1.0])
@pytest.mark.parametrize("before", ["glass", "solid"])
def test_the_place_of_glass_cannot_be_told(seen: Observation, holes: float, before: str) -> None:
    name, glass = seen.labels[GLASS], of_glass(seen, holes)
    monitor = watching(name, glass if before == "glass" else seen)
    true = nsrecover.load().monitor(Plan(()), seen).graph
    found = monitor.check(glass)
    row = monitor.graph.index(name)
    assert monitor.graph.visibility(row) is Visibility.UNKNOWN
    np.testing.assert_allclose(monitor.graph.boxes[row, :3], true.boxes[true.index(name), :3], atol=0.02)
    assert found.verdict is Verdict.CANNOT_TELL
    assert [(each.name, each.reason) for each in found.unseen] == [(name, UnseenReason.NO_DEPTH)]
    gone = monitor.check(without(seen))
    assert [(each.name, each.cause) for each in gone.deviations] == [(name, Cause.MISSING)]


def test_glass_that_no_action_uses_keeps_nobody_from_going_on(seen: Observation) -> None:
    one, two = (name for number, name in list(seen.labels.items())[:3] if number != GLASS)
    monitor = nsrecover.load().monitor(Plan((Action("top", (one, two)),)), of_glass(seen, 0.2))
    assert monitor.check(of_glass(seen, 0.2)).verdict is Verdict.AS_EXPECTED


def elsewhere(seen: Observation, right: int, holes: float) -> Observation:
    """The glass so many pixels to the right in every view; where it was, the table is seen."""
    glass, bare = of_glass(seen, holes), without(seen)
    depth, instances = bare.depth_m.copy(), bare.instances.copy()
    for view, image in enumerate(seen.instances):
        rows, columns = np.nonzero(image == GLASS)
        inside = columns + right < image.shape[1]
        rows, columns = rows[inside], columns[inside]
        hole = glass.depth_m[view][rows, columns] == 0
        depth[view][rows[hole], columns[hole] + right] = 0
        instances[view][rows, columns + right] = GLASS
    return replace(bare, depth_m=depth, instances=instances, labels=dict(seen.labels))


@pytest.mark.parametrize("right", [12, 25, 60])
@pytest.mark.parametrize("holes", [0.2, 0.6, 1.0])
def test_glass_whose_outline_is_elsewhere_has_moved(seen: Observation, right: int, holes: float) -> None:
    name = seen.labels[GLASS]
    found = watching(name, of_glass(seen, holes)).check(elsewhere(seen, right, holes))
    assert [(each.name, each.cause) for each in found.deviations] == [(name, Cause.MOVED)]

"""Bad input: one clear error each, saying what was expected and what was found."""

from dataclasses import replace

import numpy as np
import pytest

from nsrecover.core import Action, Plan, SceneGraph, Trace
from nsrecover.errors import InvalidObservation


def graph(*names: str) -> SceneGraph:
    count = len(names)
    boxes = np.tile(np.array([0.5, 0, 0.02, 0.04, 0.04, 0.04], np.float32), (count, 1))
    boxes[:, 1] = 0.1 * np.arange(count)
    return SceneGraph(names, np.zeros((count, 4), np.float32), boxes, np.ones(count, bool))


def test_plans_are_read_from_text_and_printed_the_same() -> None:
    plan = Plan.parse("top(red cube, blue cube); free(red cube)")
    assert plan[0] == Action("top", ("red cube", "blue cube"))
    assert Plan.parse(str(plan)) == plan
    assert Plan.parse(["top(red cube,blue cube)", " free( red cube )"]) == plan
    assert Action.parse("top(red cube, blue cube,)") == plan[0]
    assert Action.parse("wait()").arguments == ()


def test_objects_that_appear_join_every_scene_of_a_course() -> None:
    expected = replace(graph(*"ab"), seen=np.array([True, False]))
    observed = replace(graph(*"cab"), seen=np.array([True, True, False]))
    trace = Trace(Plan.parse("top(a, b)"), (expected, expected)).with_objects_of(observed)
    for each in trace.graphs:
        assert each.names == ("a", "b", "c")
        np.testing.assert_array_equal(each.boxes[2], observed.boxes[0])
        np.testing.assert_array_equal(each.boxes[:2], expected.boxes)
        assert each.missing.tolist() == [False, True, False]
    assert trace.with_objects_of(observed) is trace


def test_the_visibility_of_an_object_is_one_of_four() -> None:
    flags = {name: np.array([name == each for each in ("seen", "occluded", "unknown", "gone")]) for name in
             ("seen", "occluded", "unknown")}  # fmt: skip
    scene = replace(graph("a", "b", "c", "d"), **flags)
    assert [str(scene.visibility(i)) for i in range(4)] == ["seen", "occluded", "unknown", "missing"]
    assert scene.missing.tolist() == [False, False, False, True]
    assert [str(scene.chosen(["d", "c"]).visibility(i)) for i in range(2)] == ["missing", "unknown"]
    assert [str(scene.doubted(["a"]).visibility(i)) for i in range(2)] == ["unknown", "occluded"]
    with pytest.raises(InvalidObservation, match=r"expected unknown \(4,\)"):
        replace(scene, unknown=np.zeros(3, np.bool_))

"""Cameras that freeze, fail, are exchanged, move or change their scale are named; what happens in the scene is not."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import nsrecover
from nsrecover.core import Observation, SensorProblem, UnseenReason, Verdict
from nsrecover.errors import InvalidObservation
from nsrecover.perception.cameras.watch import CameraWatch
from nsrecover.records.recording import example
from sim.sensors.presets import presets, sensor
from sim.sensors.sensor import SensorStream, recorded
from tests.nsrecover.perception.test_table_masks import seen as rendered
from tests.observations import SHAPE, front_camera, one_view

START = 2
"""Number of the first observation that an event affects."""

SENSORS = ["clean", "d435"]


def stream_of(name: str, seed: int = 0, events: Sequence[dict[str, Any]] = ()) -> SensorStream:
    return sensor(name, events=events).stream(2, seed)


def seen_through(name: str, seed: int = 0, events: Sequence[dict[str, Any]] = ()) -> list[Observation]:
    """The shipped episode, in which objects are moved and fall, through a sensor."""
    stream = stream_of(name, seed, events)
    return [stream.observe(recorded(observation)) for observation in example().observations]


def watched(seen: Sequence[Observation]) -> list[tuple[Observation | None, list[tuple[SensorProblem, str, bool]]]]:
    """What is left of every later observation, and what is named: problem, camera, whether it is corrected."""
    watch, results = CameraWatch.begin(seen[0]), []
    for observation in seen[1:]:
        watch, usable, findings = watch.look(observation)
        results.append((usable, [(each.problem, each.camera, each.compensated) for each in findings]))
    return results


@pytest.mark.parametrize("name", presets())
def test_what_happens_in_the_scene_is_no_fault_of_a_camera(name: str) -> None:
    for seed in range(2):
        assert all(not findings for _, findings in watched(seen_through(name, seed)))


@pytest.mark.parametrize("gain", [0.6, 1.0, 1.4])
@pytest.mark.parametrize("name", SENSORS)
def test_a_passing_hand_and_other_lighting_are_no_fault_of_a_camera(name: str, gain: float) -> None:
    passing = {"kind": "passing", "start": START, "end": START + 1, "size": 0.08}
    seen = seen_through(name, events=[passing] if gain == 1.0 else [])
    later = [replace(each, rgb=np.clip(gain * each.rgb, 0, 255).astype(np.uint8)) for each in seen[1:]]
    assert all(not findings for _, findings in watched([seen[0], *later]))


EVENTS: list[tuple[dict[str, Any], tuple[SensorProblem, str, bool], int]] = [
    ({"kind": "frozen", "view": 1}, (SensorProblem.FROZEN, "right", False), 1),
    ({"kind": "dropped", "view": 0}, (SensorProblem.NO_DEPTH, "left", False), 1),
    ({"kind": "swapped"}, (SensorProblem.EXCHANGED_CAMERAS, "left and right", True), 2),
    ({"kind": "bumped", "view": 0, "size": 0.05}, (SensorProblem.MOVED, "left", False), 1),
    ({"kind": "rescaled", "view": 1, "size": 0.02}, (SensorProblem.RESCALED, "right", True), 2),
]


@pytest.mark.parametrize(
    ("event", "named", "views"), EVENTS, ids=[f"{e['kind']}-{e.get('size')}" for e, _, _ in EVENTS]
)
@pytest.mark.parametrize("name", SENSORS)
def test_a_failing_camera_is_named(
    name: str, event: dict[str, Any], named: tuple[SensorProblem, str, bool], views: int
) -> None:
    results = watched(seen_through(name, events=[{"start": START, **event}]))
    for number, (usable, findings) in enumerate(results, start=1):
        assert findings == ([named] if number >= START else [])
        assert usable is not None
        assert len(usable.cameras) == (views if number >= START else 2)


def test_a_camera_that_recovers_is_used_again() -> None:
    events = [{"kind": "frozen", "view": 1, "start": 1, "end": 2}, {"kind": "dropped", "view": 0, "start": 3, "end": 4}]
    results = watched(seen_through("d435", events=events))
    assert [len(findings) for _, findings in results] == [1, 0, 1, 0]
    assert [len(usable.cameras) if usable else 0 for usable, _ in results] == [1, 2, 1, 2]


@pytest.mark.parametrize(("name", "within_mm"), [("clean", 3.0), ("d435", 5.0)])
def test_the_pose_of_a_bumped_camera_is_corrected(name: str, within_mm: float) -> None:
    for seed in range(3):
        right = seen_through(name, seed)
        bumped = seen_through(name, seed, [{"kind": "bumped", "view": 1, "size": 0.01, "start": START}])
        (usable, _), expected = watched(bumped)[START], right[START + 1]
        assert usable is not None
        before, after = (
            _displacement_mm(each.cameras[1].world_from_camera, expected.cameras[1].world_from_camera)
            for each in (bumped[START + 1], usable)
        )
        assert before > 10.0
        assert after < within_mm, (before, after)


def _displacement_mm(pose: np.ndarray, true_pose: np.ndarray) -> float:
    """How far points on the table in front of the camera seem displaced."""
    points = np.array([(x, y, 0.0, 1.0) for x in (0.4, 0.5, 0.6) for y in (-0.2, 0.0, 0.2)])
    seen = points @ np.linalg.inv(true_pose).T @ pose.T
    return 1000 * float(np.median(np.linalg.norm((seen - points)[:, :3], axis=1)))


def test_the_scale_of_depth_is_corrected() -> None:
    rescaled = seen_through("d435", events=[{"kind": "rescaled", "view": 1, "size": 0.03, "start": START}])
    usable = watched(rescaled)[START][0]
    assert usable is not None
    both = (usable.depth_m[1] > 0) & (rescaled[0].depth_m[1] > 0)
    assert np.median(usable.depth_m[1][both] / rescaled[0].depth_m[1][both]) == pytest.approx(1.0, abs=0.004)


def test_a_covered_camera_is_left_out() -> None:
    seen = seen_through("d435")
    depth = seen[1].depth_m.copy()
    depth[0] = np.where(depth[0] > 0, 0.3, 0.0)
    usable, findings = watched([seen[0], replace(seen[1], depth_m=depth)])[0]
    assert findings == [(SensorProblem.COVERED, "left", False)]
    assert usable is not None
    assert [camera.name for camera in usable.cameras] == ["right"]


def test_the_perceiver_says_what_is_wrong_with_its_cameras() -> None:
    seen = seen_through("d435", events=[{"kind": "frozen", "view": 1, "start": START, "end": START + 1}])
    perceiver = nsrecover.load().perceiver()
    perceiver.reset(seen[0])
    named = []
    for observation in seen[1:]:
        perceiver.fork().step(observation)
        perceiver.step(observation)
        named.append([each.problem for each in perceiver.reported.findings])
    assert named == [[], [SensorProblem.FROZEN], [], []]
    perceiver.reset(seen[0])
    assert perceiver.reported.findings == ()


def test_without_any_working_camera_the_observation_is_refused_and_can_be_tried_again() -> None:
    seen = seen_through("d435", events=[{"kind": "dropped", "view": view, "start": 1, "end": 2} for view in (0, 1)])
    perceiver = nsrecover.load().perceiver()
    graph = perceiver.reset(seen[0])
    with pytest.raises(InvalidObservation, match=r"one working camera, found left: 0 depth readings.*right"):
        perceiver.step(seen[1])
    assert perceiver.step(seen[2]).names == graph.names


def test_a_single_camera_that_was_moved_cannot_tell() -> None:
    seen = [one_view(each) for each in seen_through("d435", events=[{"kind": "bumped", "size": 0.06, "start": 2}])]
    monitor = nsrecover.load().monitor(example().plan, seen[0])
    assert monitor.check(seen[1]).sensors == ()
    found = monitor.check(seen[2])
    assert found.verdict is Verdict.CANNOT_TELL
    assert [each.problem for each in found.sensors] == [SensorProblem.MOVED]
    assert {each.reason for each in found.unseen} == {UnseenReason.NO_CAMERA}
    assert len(found.unseen) == len(monitor.graph)


@pytest.mark.parametrize("exposure", [0.7, 1.0, 1.4])
def test_shadows_that_move_over_a_bare_table_are_no_motion(exposure: float) -> None:
    camera, (rows, columns) = front_camera(), np.indices(SHAPE)
    table_m, instances = rendered({}, camera)[1], np.zeros((1, *SHAPE), np.int32)

    def shaded(seed: int, moved_px: int, gain: float) -> Observation:
        """The table under soft shadows, such as of a blind."""
        light = gain * (1 - 0.3 * np.sin((columns + 0.5 * rows - moved_px) / 12.0))
        rgb = np.clip(120 * light, 0, 255).astype(np.uint8)
        noise = np.random.default_rng(seed).normal(0, 0.002, SHAPE).astype(np.float32)
        depth = np.where(table_m > 0, table_m + noise, 0)
        return Observation(np.repeat(rgb[None, ..., None], 3, axis=-1), depth[None], instances, (camera,), {})

    assert watched([shaded(0, 0, 1.0), shaded(1, 10, exposure)])[0][1] == []


@pytest.mark.parametrize("name", presets())
def test_every_bump_of_ten_millimetres_and_a_degree_is_named(name: str) -> None:
    for seed in range(3):
        event = {"kind": "bumped", "view": seed % 2, "size": 0.01, "start": 1}
        stream = stream_of(name, 100 + seed, [event])
        seen = [stream.observe(recorded(observation)) for observation in example().observations[:2]]
        ((_, findings),) = watched(seen)
        assert findings == [(SensorProblem.MOVED, ("left", "right")[seed % 2], True)]

"""Implausible observations are refused with the likely fix, plausible ones are not."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import nsrecover
from nsrecover.core import Observation, Plan, SensorProblem
from nsrecover.errors import InvalidObservation
from nsrecover.perception.cameras.checks import RULES as VIEWS
from nsrecover.perception.cameras.checks import check_observation
from nsrecover.perception.lifting import to_world
from nsrecover.records.recording import Recording, example
from sim.sensors.presets import presets, sensor
from sim.sensors.sensor import recorded
from tests.observations import one_view, posed, shifted

FLIP = np.diag([1.0, -1.0, -1.0, 1.0])


@pytest.fixture(scope="module")
def seen() -> Observation:
    return example().observations[0]


def turned(degrees: float, axis: int, shift_m: float = 0.0) -> np.ndarray:
    pose = shifted(shift_m, shift_m, shift_m)
    pose[:3, :3] = Rotation.from_euler("xyz"[axis], degrees, degrees=True).as_matrix()
    return pose


def with_image_of(seen: Observation, other: Observation, view: int) -> Observation:
    images = {name: getattr(seen, name).copy() for name in ("rgb", "depth_m", "instances")}
    for name, stack in images.items():
        stack[view] = getattr(other, name)[view]
    return replace(seen, **images)


def without(seen: Observation, name: str, views: tuple[int, ...]) -> Observation:
    stack = getattr(seen, name).copy()
    stack[list(views)] = 0
    return replace(seen, **{name: stack})


def coloured(seen: Observation, colours: np.ndarray) -> Observation:
    """The second camera shows these colours over and over, whatever is in front of it."""
    rgb = seen.rgb.copy()
    rgb[1] = np.resize(colours, rgb[1].shape).astype(np.uint8)
    return replace(seen, rgb=rgb)


def along_rays(seen: Observation) -> Observation:
    """Distances along the rays instead of depth."""
    rows, columns = np.indices(seen.depth_m.shape[1:])
    depth = [
        image * np.sqrt(1 + ((columns + 0.5 - k[0, 2]) / k[0, 0]) ** 2 + ((rows + 0.5 - k[1, 2]) / k[1, 1]) ** 2)
        for image, k in zip(seen.depth_m, (camera.intrinsics for camera in seen.cameras), strict=True)
    ]
    return replace(seen, depth_m=np.array(depth, dtype=np.float32))


def with_intrinsics(seen: Observation, factor: float, size: bool) -> Observation:
    """Intrinsics of another size, or with another focal length."""
    scale = np.array([[factor, 1, factor if size else 1], [1, factor, factor if size else 1], [1, 1, 1]])
    cameras = [replace(each, intrinsics=(each.intrinsics * scale).astype(np.float32)) for each in seen.cameras]
    return replace(seen, cameras=tuple(cameras))


def above_floor(seen: Observation, half_side_m: float) -> Observation:
    """The table ends so far from its middle; beyond it the floor is seen, 0.7 m lower."""
    depth = seen.depth_m.copy()
    rows, columns = np.indices(depth.shape[1:])
    for view, (image, camera) in enumerate(zip(seen.depth_m, seen.cameras, strict=True)):
        points = to_world(seen, view, rows.ravel(), columns.ravel())
        beyond = np.abs(points[:, :2] - (0.525, 0.0)).max(axis=1).reshape(image.shape) > half_side_m
        k, pose = camera.intrinsics, camera.world_from_camera
        rays = np.stack([(columns + 0.5 - k[0, 2]) / k[0, 0], (rows + 0.5 - k[1, 2]) / k[1, 1], np.ones(image.shape)])
        floor = (-0.7 - pose[2, 3]) / np.einsum("i,ihw->hw", pose[2, :3], rays)
        depth[view] = np.where(beyond & (seen.instances[view] == 0), floor, image)
    return replace(seen, depth_m=depth)


MISTAKES: list[tuple[str, SensorProblem, Callable[[Observation], Observation]]] = [
    ("millimetres", SensorProblem.DEPTH_UNIT, lambda seen: replace(seen, depth_m=1000 * seen.depth_m)),
    ("centimetres", SensorProblem.DEPTH_UNIT, lambda seen: replace(seen, depth_m=100 * seen.depth_m)),
    ("opengl", SensorProblem.CAMERA_CONVENTION, lambda seen: posed(seen, lambda pose: pose @ FLIP)),
    ("inverted", SensorProblem.INVERTED_POSE, lambda seen: posed(seen, np.linalg.inv)),
    ("along rays", SensorProblem.RAY_DEPTH, along_rays),
    ("intrinsics of half the size", SensorProblem.INTRINSICS, lambda seen: with_intrinsics(seen, 0.5, True)),
    ("intrinsics of twice the size", SensorProblem.INTRINSICS, lambda seen: with_intrinsics(seen, 2.0, True)),
    ("focal length too long", SensorProblem.INTRINSICS, lambda seen: with_intrinsics(seen, 1.1, False)),
    ("focal length too short", SensorProblem.INTRINSICS, lambda seen: with_intrinsics(seen, 0.9, False)),
    ("little table", SensorProblem.LITTLE_TABLE, lambda seen: above_floor(seen, 0.2)),
    ("exchanged", SensorProblem.EXCHANGED_CAMERAS, lambda seen: replace(seen, cameras=seen.cameras[::-1])),
    ("no depth", SensorProblem.NO_DEPTH, lambda seen: without(seen, "depth_m", (0, 1))),
    ("no depth in one view", SensorProblem.NO_DEPTH, lambda seen: without(seen, "depth_m", (1,))),
    ("black", SensorProblem.COVERED, lambda seen: without(seen, "rgb", (1,))),
    ("dark noise", SensorProblem.COVERED, lambda seen: coloured(seen, np.arange(12))),
    ("white", SensorProblem.COVERED, lambda seen: coloured(seen, np.array([255]))),
    ("the green of an empty buffer", SensorProblem.COVERED, lambda seen: coloured(seen, np.array([[0, 135, 0]]))),
    ("no lower half", SensorProblem.COVERED, lambda seen: coloured(seen, np.repeat([90, 0], seen.rgb[1].size // 2))),
    ("one image twice", SensorProblem.VIEWS_DISAGREE, lambda seen: replace(seen, rgb=seen.rgb[[0, 0]])),
    ("no masks", SensorProblem.NO_MASKS, lambda seen: without(seen, "instances", (0, 1))),
    ("no masks in one view", SensorProblem.NO_MASKS, lambda seen: without(seen, "instances", (1,))),
    ("table below", SensorProblem.TABLE_PLANE, lambda seen: posed(seen, lambda p: turned(0, 0, -0.05) @ p)),
    ("tilted", SensorProblem.TABLE_PLANE, lambda seen: posed(seen, lambda p: p @ turned(4, 0), (1,))),
    ("turned", SensorProblem.VIEWS_DISAGREE, lambda seen: posed(seen, lambda p: turned(15, 2) @ p, (1,))),
    (
        "not of this moment",
        SensorProblem.VIEWS_DISAGREE,
        lambda seen: with_image_of(seen, example().observations[2], 1),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("problem", "change"), [case[1:] for case in MISTAKES], ids=[case[0] for case in MISTAKES])
def test_a_mistake_is_named(
    seen: Observation, problem: SensorProblem, change: Callable[[Observation], Observation]
) -> None:
    findings = check_observation(change(seen))
    assert problem in {each.problem for each in findings}, findings


def test_a_turned_camera_is_no_other_order_while_the_robot_is_in_view(seen: Observation) -> None:
    """About the middle of the objects, as a mistake of 12 degrees in the calibration does."""
    middle = np.eye(4)
    middle[0, 3] = 0.525
    moved = posed(seen, lambda p: middle @ turned(12, 2) @ np.linalg.inv(middle) @ p, (1,))
    for apart in (VIEWS.agree_m, VIEWS.setup_agree_m):
        assert [each.problem for each in check_observation(moved, apart)] == [SensorProblem.VIEWS_DISAGREE]


@pytest.mark.parametrize("shift", [(0.04, 0.0), (0.0, 0.04), (-0.04, 0.0), (0.0, -0.04), (0.03, 0.03)])
def test_cameras_that_disagree_by_4_cm_are_named_at_setup(seen: Observation, shift: tuple[float, float]) -> None:
    moved = posed(seen, lambda p: shifted(*shift) @ p, (0,))
    assert check_observation(seen, VIEWS.setup_agree_m) == ()
    (found,) = check_observation(moved, VIEWS.setup_agree_m)
    assert found.problem is SensorProblem.VIEWS_DISAGREE


@pytest.mark.parametrize("preset", presets())
def test_what_sensors_deliver_is_plausible(seen: Observation, preset: str) -> None:
    for seed in range(3):
        observed = sensor(preset).stream(2, seed).observe(recorded(seen))
        assert check_observation(observed) == ()
        assert check_observation(one_view(observed, seed % 2)) == ()


@pytest.mark.parametrize("preset", ["clean", "harsh"])
@pytest.mark.parametrize(
    ("how", "change"),
    [
        ("mirrored from left", lambda masks: masks[:, :, ::-1]),
        ("mirrored from top", lambda masks: masks[:, ::-1]),
        ("turned", lambda masks: masks[:, ::-1, ::-1]),
        ("shifted by -20 pixels", lambda masks: np.roll(masks, 20, axis=2)),
    ],
    ids=["left and right", "top and bottom", "turned", "shifted"],
)
def test_masks_in_other_pixels_are_named(
    seen: Observation, preset: str, how: str, change: Callable[[np.ndarray], np.ndarray]
) -> None:
    observed = sensor(preset).stream(2, 0).observe(recorded(seen))
    findings = check_observation(replace(observed, instances=np.ascontiguousarray(change(observed.instances))))
    assert {each.problem for each in findings} == {SensorProblem.MISPLACED_MASKS}, findings
    assert any(how in each.found for each in findings)


@pytest.mark.parametrize("preset", presets())
def test_depth_along_rays_is_named_through_every_sensor(seen: Observation, preset: str) -> None:
    observed = along_rays(sensor(preset).stream(2, 0).observe(recorded(seen)))
    assert {each.problem for each in check_observation(observed)} == {SensorProblem.RAY_DEPTH}


def test_small_calibration_errors_are_accepted(seen: Observation) -> None:
    assert check_observation(posed(seen, lambda pose: turned(1.0, 1, 0.008) @ pose, (0,))) == ()


def test_an_object_that_one_view_does_not_segment_is_no_fault(seen: Observation) -> None:
    instances = seen.instances.copy()
    instances[1][instances[1] > 2] = 0
    assert check_observation(replace(seen, instances=instances)) == ()


def test_nothing_moves_before_the_sensors_are_plausible(seen: Observation) -> None:
    system, flipped = nsrecover.load(), posed(seen, lambda pose: pose @ FLIP)
    world = SimpleNamespace(observe=lambda: flipped, execute=pytest.fail)
    with pytest.raises(InvalidObservation, match="OpenGL"):
        nsrecover.RecoveryAgent(system, world).run(example().plan)
    with pytest.raises(InvalidObservation, match="OpenGL"):
        system.monitor(example().plan, flipped)
    with pytest.raises(InvalidObservation, match="OpenGL"):
        system.calibrated([(Plan(()), [flipped])], 0.1)


def test_the_check_can_be_left_out(seen: Observation) -> None:
    odd = posed(seen, lambda pose: turned(0, 0, -0.05) @ pose)
    with pytest.raises(InvalidObservation, match="calibrate"):
        nsrecover.load().monitor(example().plan, odd)
    assert nsrecover.load().monitor(example().plan, odd, check_sensors=False).graph.names
    world = SimpleNamespace(observe=lambda: odd, execute=pytest.fail)
    episode = nsrecover.RecoveryAgent(nsrecover.load(), world, check_sensors=False).run(Plan(()))
    assert not episode.records


def test_an_implausible_recording_is_not_written(seen: Observation, tmp_path: object) -> None:
    path = f"{tmp_path}/odd.npz"
    odd = Recording(Plan(()), (replace(seen, depth_m=seen.depth_m / 100),))
    with pytest.raises(InvalidObservation, match="expected a plausible observation"):
        odd.save(path)
    odd.save(path, check_sensors=False)
    assert Recording.load(path).observations[0].labels == seen.labels


@pytest.mark.parametrize(("background_m", "refused"), [(1.4, True), (50.0, False)])
def test_rows_of_a_picture_may_be_missing_only_where_nothing_is_near(
    seen: Observation, background_m: float, refused: bool
) -> None:
    rgb, depth = seen.rgb.copy(), seen.depth_m.copy()
    rgb[1, :40], depth[1, :40] = 0, background_m
    found = check_observation(replace(seen, rgb=rgb, depth_m=depth))
    assert (SensorProblem.COVERED in {each.problem for each in found}) is refused

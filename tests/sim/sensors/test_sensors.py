"""Every error of a sensor does what its setting says, follows from the seed, and is off at zero."""

from dataclasses import replace

import numpy as np
import pytest

from nsrecover.core.observation import Camera, Observation
from sim.sensors.colour import ColourErrors
from sim.sensors.depth import DepthErrors, depth_edges, shadowed
from sim.sensors.events import CameraEvent, EventKind
from sim.sensors.masks import MaskErrors, touching
from sim.sensors.presets import sensor
from sim.sensors.sensor import Sensor, recorded

SHAPE = (60, 80)
FOCAL = 100.0


def a_camera(height: float = 1.0, name: str = "above") -> Camera:
    """A camera that looks straight down."""
    pose = np.diag([1.0, -1.0, -1.0, 1.0]).astype(np.float32)
    pose[:3, 3] = 0.5, 0.0, height
    k = np.array([[FOCAL, 0, 40], [0, FOCAL, 30], [0, 0, 1]], dtype=np.float32)
    return Camera(k, pose, name)


@pytest.fixture
def exact() -> Observation:
    """Two views of a table with two boxes that touch in the image."""
    depth = np.full((2, *SHAPE), 1.0, dtype=np.float32)
    instances = np.zeros((2, *SHAPE), dtype=np.int32)
    for number, columns in ((1, slice(20, 35)), (2, slice(35, 50))):
        depth[:, 20:40, columns], instances[:, 20:40, columns] = 0.9, number
    rgb = np.full((2, *SHAPE, 3), 120, dtype=np.uint8)
    rgb[instances == 1] = (200, 30, 30)
    cameras = (a_camera(name="one"), a_camera(name="two"))
    return Observation(rgb, depth, instances, cameras, {1: "red cube", 2: "grey cube"})


def noisy(errors: DepthErrors, depth: np.ndarray, seed: int = 0, time_s: float = 0.0, phase: float = 0.0) -> np.ndarray:
    rgb = np.full((*depth.shape, 3), 120, dtype=np.uint8)
    return errors.apply(depth, rgb, FOCAL, time_s, phase, np.random.default_rng(seed))


def flat(depth_m: float) -> np.ndarray:
    return np.full((200, 200), depth_m, dtype=np.float32)


@pytest.mark.parametrize("depth_m", [0.4, 1.0, 2.0])
@pytest.mark.parametrize("correlation_px", [0.0, 0.3, 0.6, 1.5])
def test_noise_has_the_size_that_the_settings_give(depth_m: float, correlation_px: float) -> None:
    errors = DepthErrors(noise_m=0.001, noise_growth=0.002, correlation_px=correlation_px)
    found = noisy(errors, flat(depth_m)) - depth_m
    assert found.std() == pytest.approx(0.001 + 0.002 * (depth_m - 0.4) ** 2, rel=0.1)
    assert abs(found.mean()) < 0.2 * found.std()


def test_readings_along_edges_are_missing_or_between(exact: Observation) -> None:
    depth = exact.depth_m[0]
    edges = depth_edges(depth.astype(np.float64))
    assert edges[19:21, 30].all()
    assert not edges[25, 27]
    holes = noisy(DepthErrors(edge_holes_px=2), depth) == 0
    assert holes[edges].all()
    assert holes.sum() > edges.sum()
    flying = noisy(DepthErrors(flying_px=2, flying_share=1.0), depth)
    between = (flying > 0.901) & (flying < 0.999)
    assert between.sum() > 20
    assert not between[~(holes | edges)].any()


def test_the_second_imager_does_not_see_behind_a_near_object() -> None:
    depth = np.full((10, 100), 2.0)
    depth[:, 50:60] = 0.5
    hidden = shadowed(depth, focal_baseline=10.0)  # disparity 5 px behind, 20 px in front
    assert hidden[:, 35:45].all()
    assert hidden.sum() == 10 * 10


def test_masks_grow_shrink_and_fray(exact: Observation) -> None:
    instances, rng = exact.instances[0], np.random.default_rng(0)
    size = {n: int((instances == n).sum()) for n in (1, 2)}
    grown = MaskErrors(grow_px=1.0).apply(instances, rng)
    shrunk = MaskErrors(grow_px=-1.0).apply(instances, rng)
    ragged = MaskErrors(ragged_px=1.0).apply(instances, rng)
    assert (grown > 0).sum() > sum(size.values()) + 2 * (20 + 30)
    assert (shrunk == 1).sum() == 13 * 18
    assert set(np.unique(ragged)) == {0, 1, 2}
    assert 10 < ((ragged > 0) != (instances > 0)).sum() < 150


def test_masks_are_merged_split_missing_and_made_up(exact: Observation) -> None:
    instances, rng = exact.instances[0], np.random.default_rng(1)
    assert touching(instances) == [(1, 2)]
    assert set(np.unique(MaskErrors(merged=1.0).apply(instances, rng))) == {0, 1}
    split = MaskErrors(split=1.0).apply(instances, rng)
    assert len(np.unique(split)) == 5
    assert ((split > 0) == (instances > 0)).all()
    assert not MaskErrors(missing=1.0).apply(instances, rng).any()
    more = MaskErrors(phantoms=5.0).apply(instances, rng)
    assert more.max() > 2
    assert (more[instances > 0] == instances[instances > 0]).all()
    shifted = MaskErrors(shift_px=1).apply(instances, rng)
    assert (shifted > 0).sum() == (instances > 0).sum()
    assert (shifted != instances).any()


def test_colour_errors_stay_within_their_size() -> None:
    image = np.full((40, 40, 3), 100, dtype=np.uint8)
    for seed in range(5):
        brighter = ColourErrors(exposure=0.1).apply(image, np.random.default_rng(seed))
        assert np.abs(brighter.astype(int) - 100).max() <= 10
    noise = ColourErrors(noise=4.0).apply(image, np.random.default_rng(0)).astype(float) - 100
    assert noise.std() == pytest.approx(4.0, rel=0.1)
    assert ColourErrors(jpeg_quality=80).apply(image, np.random.default_rng(0)).shape == image.shape


def test_every_view_numbers_its_own_masks_and_names_each_object_in_one_view(exact: Observation) -> None:
    stream = Sensor(masks=MaskErrors(ids_per_view=True)).stream(2, seed=0)
    first, second = (stream.observe(recorded(exact)) for _ in range(2))
    numbers = [set(np.unique(view)) - {0} for view in first.instances]
    assert not numbers[0] & numbers[1]
    assert not first.shared_ids
    assert sorted(first.labels.values()) == ["grey cube", "red cube"]
    assert set(first.labels) <= numbers[0]
    assert sorted(second.labels.values()) == ["grey cube", "red cube"]
    for each in (first, second):
        red = next(number for number, name in each.labels.items() if name == "red cube")
        assert (exact.instances[each.instances == red] == 1).all()


def test_calibration_errors_have_their_size_and_stay(exact: Observation) -> None:
    stream = sensor("clean", calibration={"position_m": 0.003, "rotation_deg": 0.3}).stream(2, seed=0)
    first, second = (stream.observe(recorded(exact)) for _ in range(2))
    for before, after, true in zip(first.cameras, second.cameras, exact.cameras, strict=True):
        assert (before.world_from_camera == after.world_from_camera).all()
        offset = np.linalg.inv(before.world_from_camera.astype(float)) @ true.world_from_camera
        assert np.linalg.norm(offset[:3, 3]) == pytest.approx(0.003, rel=0.01)
        angle = np.degrees(np.arccos((np.trace(offset[:3, :3]) - 1) / 2))
        assert angle == pytest.approx(0.3, rel=0.05)


def with_event(exact: Observation, event: CameraEvent, count: int = 4) -> list[Observation]:
    """Observations of a scene that gets darker every time."""
    stream = sensor("clean", [event]).stream(2, seed=0)
    dark = [replace(exact, rgb=(exact.rgb // (n + 1)).astype(np.uint8)) for n in range(count)]
    return [stream.observe(recorded(each)) for each in dark]


def test_cameras_freeze_lag_drop_out_and_are_swapped(exact: Observation) -> None:
    normal = with_event(exact, CameraEvent(EventKind.FROZEN, start=99))
    frozen = with_event(exact, CameraEvent(EventKind.FROZEN, start=2, view=1))
    assert (frozen[3].rgb[1] == normal[1].rgb[1]).all()
    assert (frozen[3].rgb[0] == normal[3].rgb[0]).all()
    late = with_event(exact, CameraEvent(EventKind.LATE, start=1, end=3))
    assert [(late[n].rgb[0] == normal[m].rgb[0]).all() for n, m in ((1, 0), (2, 1), (3, 3))] == [True] * 3
    dropped = with_event(exact, CameraEvent(EventKind.DROPPED, start=1, end=2))
    assert not dropped[1].depth_m[0].any()
    assert dropped[2].depth_m[0].any()
    exact.rgb[1] = 7
    swapped = with_event(exact, CameraEvent(EventKind.SWAPPED, start=0))
    assert (swapped[0].rgb[0] == 7).all()
    rescaled = with_event(exact, CameraEvent(EventKind.RESCALED, start=1, size=0.05))
    assert np.allclose(rescaled[1].depth_m[0], 1.05 * exact.depth_m[0])


def test_what_passes_is_nearer_than_the_objects_and_gone_again(exact: Observation) -> None:
    seen = with_event(exact, CameraEvent(EventKind.PASSING, start=1, end=2, size=0.1))
    assert seen[1].instances.max() == 3
    nearer = seen[1].instances == 3
    assert (seen[1].depth_m[nearer] < exact.depth_m[nearer]).all()
    assert seen[2].instances.max() == 2


def test_an_event_merges_two_touching_masks_of_one_camera(exact: Observation) -> None:
    shown = with_event(exact, CameraEvent(EventKind.MERGED, start=1))
    assert (shown[0].instances == exact.instances).all()
    assert np.unique(shown[1].instances[0]).tolist() == [0, 1]
    assert (shown[1].instances[1] == exact.instances[1]).all()

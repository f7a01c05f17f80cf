"""Boxes and cans that are turned, lean or lie in their places, behind one camera with the noise of a D435."""

import numpy as np
import numpy.typing as npt
import pytest
from scipy import ndimage
from scipy.spatial.transform import Rotation

from nsrecover.core import Cause, FloatArray, Observation
from nsrecover.perception.lifting import view_pixels
from nsrecover.perception.objects.stances import open_top, stance_change
from tests.observations import SHAPE, front_camera

SIZES = [(0.05, 0.09, 0.12), (0.07, 0.1, 0.05), (0.045, 0.08, 0.16)]
NOWHERE = np.zeros(3, np.float32)


def seen(turn: Rotation, size: tuple[float, ...], noise: float, seed: int, round_: bool = False) -> Observation:
    """A box, or a can with its diameter as the first size, that was turned about its middle and stands on the table."""
    camera = front_camera()
    rows, columns = np.indices(SHAPE) + 0.5
    pixels = np.stack([(columns - 320) / 525, (rows - 240) / 525, np.ones(SHAPE)], axis=-1)
    rays, start = pixels @ camera.world_from_camera[:3, :3].T.astype(np.float64), camera.world_from_camera[:3, 3]
    depth, half, rotation = -start[2] / rays[..., 2], np.array(size) / 2, turn.as_matrix()
    rest = np.abs(rotation[2]) @ half
    origin, ways = (start - (0.5, 0.05, rest)) @ rotation, rays @ rotation
    with np.errstate(all="ignore"):
        slabs = np.stack([(-half - origin) / ways, (half - origin) / ways])
        near, far = slabs.min(axis=0), slabs.max(axis=0)
        if round_:
            a, b = (ways[..., :2] ** 2).sum(axis=-1), ways[..., :2] @ origin[:2]
            root = np.sqrt(b**2 - a * ((origin[:2] ** 2).sum() - half[0] ** 2))
            near[..., 0], far[..., 0] = (-b - root) / a, (-b + root) / a
            near, far = near[..., [0, 2]], far[..., [0, 2]]
        hit = (near.max(axis=-1) < far.min(axis=-1)) & (near.max(axis=-1) < depth)
    depth[hit] = near.max(axis=-1)[hit]
    rng = np.random.default_rng(seed)
    field = ndimage.gaussian_filter(rng.standard_normal(SHAPE), 2.0)
    depth = depth + noise * field / field.std() * (0.0012 + 0.0019 * (depth - 0.4) ** 2)
    images = np.full((1, *SHAPE, 3), 150, np.uint8), depth[None].astype(np.float32), hit[None].astype(np.int32)
    return Observation(*images, (camera,), {1: "a"})


def points(observation: Observation) -> FloatArray:
    return view_pixels(observation, 0)[2][::3]


def about(axis: str, degrees: float) -> Rotation:
    return Rotation.from_euler(axis, degrees, degrees=True)


@pytest.mark.parametrize("noise", [0.0, 1.0])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("turn", "cause"),
    [
        (about("z", 0), None),
        (about("z", 30), Cause.TURNED),
        (about("z", 60), Cause.TURNED),
        (about("x", 20), Cause.LEANING),
        (about("y", 30), Cause.LEANING),
        (about("z", 40) * about("x", 90), Cause.LYING),
    ],
)
def test_a_box_that_no_longer_stands_as_it_did(
    turn: Rotation, cause: Cause | None, size: tuple[float, ...], noise: float
) -> None:
    first = about("z", 10)
    before, now = seen(first, size, noise, 1), seen(first * turn, size, noise, 2)
    assert stance_change(points(before), points(now), NOWHERE, now, placed=False) is cause
    if cause is Cause.TURNED:
        assert stance_change(points(before), points(now), NOWHERE, now, placed=True) is None


@pytest.mark.parametrize("width", [0.06, 0.09])
def test_a_can_never_turns(width: float) -> None:
    before, now = (seen(about("z", 20.0 * n), (width, width, 0.1), 1.0, n, round_=True) for n in range(2))
    assert stance_change(points(before), points(now), NOWHERE, now, placed=False) is None


def test_a_covered_top_says_nothing() -> None:
    before = seen(about("z", 0), SIZES[0], 1.0, 1)
    now = seen(about("z", 0), SIZES[0], 1.0, 2)
    high = view_pixels(now, 0)[2][:, 2] > 0.1
    hidden: npt.NDArray[np.float32] = now.depth_m.copy()
    rows, columns = (each[high] for each in view_pixels(now, 0)[:2])
    hidden[0, rows, columns] = 0.4
    covered = Observation(now.rgb, hidden, np.where(hidden == 0.4, 0, now.instances), now.cameras, now.labels)
    assert stance_change(points(before), points(covered), NOWHERE, covered, placed=False) is None


@pytest.mark.parametrize("strip_m", [0.008, 0.012])
def test_a_strip_of_a_level_top_and_the_side_below_it_are_no_tilted_top(strip_m: float) -> None:
    before, now = (seen(about("z", 0), SIZES[1], 0.0, seed) for seed in (1, 2))
    shown = points(now)
    top = shown[:, 2] > 0.045
    part = shown[~top | (shown[:, 0] < shown[top, 0].min() + strip_m)]
    assert stance_change(points(before), part, NOWHERE, before, placed=False) is None


def test_what_covers_a_top_and_is_taken_for_a_part_of_it_does_not_raise_it() -> None:
    before = seen(about("z", 0), SIZES[1], 0.0, 1)
    shown = points(before)
    rest = shown[shown[:, 2] < 0.04]
    above = np.concatenate([rest, rest[: len(rest) // 12] + np.array([0, 0, 0.03], np.float32)])
    assert stance_change(shown, above, NOWHERE, before, placed=False) is None


def test_an_edge_through_which_a_camera_always_saw_is_no_empty_place() -> None:
    before = seen(about("z", 0), SIZES[0], 0.0, 1)
    shown = points(before) + np.array([0, 0.06, 0], np.float32)
    share = open_top(shown, before)
    assert share > 0.35
    assert stance_change(shown, shown, NOWHERE, before, placed=False) is Cause.LEANING
    assert stance_change(shown, shown, NOWHERE, before, placed=False, open_share=share) is None

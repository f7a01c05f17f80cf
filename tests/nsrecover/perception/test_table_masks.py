"""The table, masks of what stands on it, and their numbers over time, on boxes that are rendered with noise."""

import numpy as np
import numpy.typing as npt
import pytest

from nsrecover.core import Camera
from nsrecover.errors import InvalidObservation
from nsrecover.perception.masks.table import TableMasks, camera_over_table, find_table, masks_on
from tests.observations import SHAPE, K, front_camera

Box = tuple[float, ...]
RED, GREEN, BLUE, GREY = (200, 40, 40), (40, 160, 60), (40, 60, 200), (150, 150, 150)


def seen(
    boxes: dict[Box, tuple[int, int, int]], eye: Camera, floor_m: float | None = None, half_m: float = 0.6
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float32], npt.NDArray[np.int32]]:
    """Colour, depth with the noise of a Kinect, and masks of boxes (centre, size) on a table over a floor."""
    rows, columns = np.indices(SHAPE, dtype=np.float64) + 0.5
    rays = np.stack([(columns - K[0, 2]) / K[0, 0], (rows - K[1, 2]) / K[1, 1], np.ones(SHAPE)], axis=-1)
    rays, start = rays @ eye.world_from_camera[:3, :3].T.astype(np.float64), eye.world_from_camera[:3, 3]
    depth = -start[2] / rays[..., 2]
    outside = np.abs((start + depth[..., None] * rays)[..., :2] - (0.5, 0.0)).max(axis=-1) > half_m
    depth[outside] = 0.0 if floor_m is None else ((-floor_m - start[2]) / rays[..., 2])[outside]
    masks, rgb = np.zeros(SHAPE, np.int32), np.full((*SHAPE, 3), 190, np.uint8)
    for number, (box, colour) in enumerate(boxes.items(), start=1):
        with np.errstate(divide="ignore"):
            ends = [(np.array(box[:3]) + sign * np.array(box[3:]) / 2 - start) / rays for sign in (-1, 1)]
        near, far = np.minimum(*ends).max(axis=-1), np.maximum(*ends).min(axis=-1)
        hit = (near < far) & ((near < depth) | (depth == 0))
        depth[hit], masks[hit], rgb[hit] = near[hit], number, colour
    rng = np.random.default_rng(0)
    noise = rng.standard_normal(SHAPE) * (0.0012 + 0.0019 * (depth - 0.4) ** 2)
    return rgb, np.where(depth > 0, depth + noise, 0).astype(np.float32), masks


def overlaps(found: npt.NDArray[np.int32], true: npt.NDArray[np.int32]) -> list[float]:
    """Intersection over union of every true mask with the found mask that fits it best."""
    shares = []
    for number in range(1, int(true.max()) + 1):
        own = true == number
        others = [found == n for n in np.unique(found[own]).tolist() if n]
        shares.append(max((float((own & each).sum() / (own | each).sum()) for each in others), default=0.0))
    return shares


APART = {(0.4, 0.15, 0.03, 0.06, 0.06, 0.06): RED, (0.5, -0.2, 0.1, 0.08, 0.15, 0.2): GREEN,
         (0.65, 0.1, 0.02, 0.04, 0.04, 0.04): BLUE}  # fmt: skip
STACKED = {(0.5, 0.0, 0.03, 0.2, 0.25, 0.06): RED, (0.5, 0.02, 0.1, 0.1, 0.1, 0.08): GREEN}
DIVIDED = {(0.6, 0.0, 0.1, 0.06, 0.34, 0.2): RED, (0.42, 0.0, 0.2, 0.05, 0.06, 0.4): GREEN}


@pytest.mark.parametrize("boxes", [APART, STACKED, DIVIDED], ids=["apart", "stacked", "divided by a nearer one"])
@pytest.mark.parametrize("side", [0.0, 35.0])
def test_every_object_has_one_mask(boxes: dict[Box, tuple[int, int, int]], side: float) -> None:
    eye = front_camera(side=side)
    _, depth, true = seen(boxes, eye)
    found = masks_on(find_table(depth, K), depth, K)
    assert found.max() == len(boxes)
    assert min(overlaps(found, true)) > 0.75


def test_the_table_gives_the_pose_of_its_camera() -> None:
    _, depth, _ = seen(APART, front_camera())
    found = camera_over_table(depth, K, "front")
    assert found.world_from_camera[2, 3] == pytest.approx(front_camera().world_from_camera[2, 3], abs=0.002)
    assert found.world_from_camera[2, :3] == pytest.approx(front_camera().world_from_camera[2, :3], abs=0.005)
    assert np.linalg.det(found.world_from_camera[:3, :3]) == pytest.approx(1.0)


def test_a_small_table_above_a_larger_floor_is_the_table() -> None:
    eye = front_camera()
    _, depth, true = seen(APART, eye, floor_m=0.5, half_m=0.3)
    assert (depth > 0).mean() > 0.9
    for known in (K, eye):
        table = find_table(depth, known)
        assert table.distance_m == pytest.approx(eye.world_from_camera[2, 3], abs=0.003)
        assert min(overlaps(masks_on(table, depth, known), true)) > 0.75


def test_equal_tops_of_boxes_around_the_middle_are_no_table() -> None:
    places = [(0.5 + x, y) for x in (-0.2, 0.2) for y in (-0.2, 0.2)]
    _, depth, true = seen({(x, y, 0.05, 0.2, 0.2, 0.1): RED for x, y in places}, front_camera(), half_m=0.35)
    table = find_table(depth, K)
    assert table.distance_m == pytest.approx(front_camera().world_from_camera[2, 3], abs=0.003)
    assert min(overlaps(masks_on(table, depth, K), true)) > 0.75


def test_an_empty_table_has_no_masks() -> None:
    _, depth, _ = seen({}, front_camera())
    assert not masks_on(find_table(depth, K), depth, K).any()


def test_numbers_stay_with_their_objects() -> None:
    eye, masks = front_camera(), TableMasks()
    moved = {(0.45, 0.3, 0.03, 0.06, 0.06, 0.06): RED, **dict(list(APART.items())[1:])}
    gone = dict(list(moved.items())[1:])
    back = {**gone, (0.4, 0.0, 0.03, 0.06, 0.06, 0.06): RED, (0.7, -0.05, 0.03, 0.06, 0.06, 0.06): GREY}
    numbers = []
    for boxes in (APART, moved, gone, back):
        rgb, depth, true = seen(boxes, eye)
        found = masks.look(rgb[None], depth[None], (eye,))
        by_colour = {
            colour: int(np.bincount(found.instances[0][true == number]).argmax())
            for number, colour in enumerate(boxes.values(), start=1)
        }
        assert len(set(by_colour.values())) == len(boxes)
        numbers.append(by_colour)
        assert {found.labels[n] for n in by_colour.values()} == {f"object {n}" for n in by_colour.values()}
    for later in numbers[1:]:
        assert {colour: n for colour, n in later.items() if colour != GREY} == {
            colour: n for colour, n in numbers[0].items() if colour in later
        }
    assert numbers[3][GREY] not in numbers[0].values()


def test_masks_stay_where_depth_has_not_changed() -> None:
    eye, masks, rng = front_camera(), TableMasks(), np.random.default_rng(1)
    arm = (0.45, 0.15, 0.2, 0.05, 0.3, 0.05)
    gone = dict(list(APART.items())[1:])

    def look(boxes: dict[Box, tuple[int, int, int]]) -> npt.NDArray[np.int32]:
        rgb, depth, _ = seen(boxes, eye)
        noise = rng.standard_normal(SHAPE) * (0.001 + 0.002 * depth**2)
        return masks.look(rgb[None], np.where(depth > 0, depth + noise, 0)[None].astype(np.float32), (eye,)).instances[
            0
        ]

    first = look(APART)
    assert (look(APART) == first).all(), "noise alone changes nothing"
    hidden = look({**APART, arm: GREY})
    assert (hidden != first).any()
    assert (look(APART) == first).mean() > 0.999, "what stands in front for one look destroys no mask"
    numbers = set(np.unique(first).tolist())
    left = look(gone)
    assert len(numbers - set(np.unique(left).tolist())) == 1
    assert set(np.unique(left).tolist()) < numbers
    for _ in range(4):
        stays = look({**gone, arm: GREY})
    assert len(set(np.unique(stays).tolist()) - numbers) == 1
    assert set(np.unique(look(APART)).tolist()) == numbers, "what comes back has its number"


def test_objects_are_named_after_their_places_in_every_view() -> None:
    eyes, masks = (
        (front_camera("left", 35.0), front_camera("right", -35.0)),
        TableMasks({"red": (0.4, 0.15), "blue": (0.65, 0.1)}),
    )
    images = [seen(APART, eye) for eye in eyes]
    found = masks.look(np.stack([i[0] for i in images]), np.stack([i[1] for i in images]), eyes)
    assert not found.shared_ids
    for view, (_, _, true) in enumerate(images):
        for name, number in (("red", 1), ("blue", 3)):
            own = np.bincount(found.instances[view][true == number]).argmax()
            assert found.labels[int(own)] == name


def test_without_a_table_there_is_an_error() -> None:
    scattered = np.random.default_rng(0).uniform(0.5, 2.0, SHAPE).astype(np.float32)
    for depth in (np.zeros(SHAPE, np.float32), scattered):
        with pytest.raises(InvalidObservation, match="table"):
            find_table(depth, K)

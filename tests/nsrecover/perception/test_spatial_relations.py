"""The eight spatial relations on hand-built scenes, at their thresholds, and under what must not change them."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from nsrecover.core.observation import Camera
from nsrecover.errors import InvalidObservation
from nsrecover.perception.objects.spatial_relations import SpatialRelation, box_cloud, spatial_relations

K = np.array([[300, 0, 160], [0, 300, 120], [0, 0, 1]], np.float32)
SIDE = 0.04
Cloud = npt.NDArray[np.float64]


def camera(right: tuple[int, ...], down: tuple[int, ...], forward: tuple[int, ...], at: tuple[float, ...]) -> Camera:
    pose = np.eye(4, dtype=np.float32)
    pose[:3, :3] = np.array([right, down, forward], np.float32).T
    pose[:3, 3] = at
    return Camera(K, pose)


ROBOT = camera((0, -1, 0), (0, 0, -1), (1, 0, 0), (-0.5, 0, 0.02))
"""Level, behind the robot's base, looking along +x: right is -y."""

OPPOSITE = camera((0, 1, 0), (0, 0, -1), (-1, 0, 0), (1.5, 0, 0.02))
OVERHEAD = camera((0, -1, 0), (-1, 0, 0), (0, 0, -1), (0.5, 0, 1.0))


def cube(x: float, y: float, z: float, side: float = SIDE) -> Cloud:
    return box_cloud((x, y, z, side, side, side)).astype(np.float64)


def told(a: Cloud, b: Cloud, seen_by: Camera = ROBOT) -> set[str]:
    """What is said of a and b, such as `a above b`."""
    return {" ".join(edge) for edge in spatial_relations(("a", "b"), (a, b), seen_by)}


HERE = cube(0.5, 0, 0.02)
LEFT = {"a on the left b", "b on the right a"}
RIGHT = {"a on the right b", "b on the left a"}
ABOVE = {"a above b", "b below a"}
BELOW = {"a below b", "b above a"}
NEAR = {"a near b", "b near a"}


def test_there_are_the_eight_relations_of_the_paper() -> None:
    assert {str(relation) for relation in SpatialRelation} == {
        "inside", "on top of", "on the left", "on the right", "above", "below", "occluding", "near"
    }  # fmt: skip


# --- in contact ------------------------------------------------------------------------------------------------------


def bowl() -> Cloud:
    """An open box, 20 cm wide and 10 cm high: floor and walls."""
    shell = box_cloud((0.5, 0, 0.05, 0.2, 0.2, 0.1)).astype(np.float64)
    return shell[(shell[:, 2] < 0.09) | (np.abs(shell[:, :2] - (0.5, 0)) > 0.09).any(axis=1)]


def test_what_lies_in_a_bowl_is_inside() -> None:
    assert told(cube(0.5, 0, 0.03), bowl()) == {"a inside b"}
    assert told(bowl(), cube(0.5, 0, 0.03)) == {"b inside a"}


@pytest.mark.parametrize(("share", "edges"), [(0.50, set()), (0.51, {"a inside b"})])
def test_inside_is_more_than_half_of_the_points_in_the_hull(share: float, edges: set[str]) -> None:
    inner = np.linspace((0.45, 0, 0.05), (0.55, 0, 0.05), round(100 * share))
    outer = np.linspace((0.61, 0, 0.05), (0.64, 0, 0.05), 100 - len(inner))
    assert told(np.concatenate([inner, outer]), bowl()) == edges


def test_a_hull_is_not_a_box() -> None:
    """A point in the corner of the bounding box of a pyramid is outside it."""
    pyramid = 0.08 * np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0.33, 0.33, 0.33)])
    assert told(np.full((5, 3), 0.02), pyramid) == {"a inside b"}
    assert told(np.array([(0.05, 0.05, 0.02), (0.05, 0.02, 0.05)]), pyramid) == set()


def test_a_stacked_cube_is_on_top() -> None:
    assert told(cube(0.5, 0, 0.06), HERE) == {"a on top of b"}
    assert told(HERE, cube(0.5, 0, 0.06)) == {"b on top of a"}


def test_a_noisy_stacked_cube_is_on_top() -> None:
    noise = np.random.default_rng(0).normal(0, 0.0015, (2, len(HERE), 3))
    assert told(cube(0.503, 0.002, 0.06) + noise[0], HERE + noise[1]) == {"a on top of b"}


@pytest.mark.parametrize(("share", "edges"), [(0.70, set()), (0.71, {"a on top of b"})])
@pytest.mark.parametrize("outside", [(0.50, 0.0, 0.034), (0.526, 0.0, 0.05), (0.50, -0.026, 0.05)])
def test_on_top_is_more_than_70_per_cent_over_the_box_and_above_it(
    share: float, edges: set[str], outside: tuple[float, float, float]
) -> None:
    over = np.tile((0.5, 0, 0.05), (round(100 * share), 1))
    assert told(np.concatenate([over, np.tile(outside, (100 - len(over), 1))]), HERE) == edges


def test_a_sheet_on_top_is_not_inside() -> None:
    sheet = box_cloud((0.5, 0, 0.04, SIDE, SIDE, 0)).astype(float)
    assert told(sheet, HERE) == {"a on top of b"}
    assert told(HERE, sheet) == {"b on top of a"}
    assert told(HERE, box_cloud((0.5, 0, 0, 0.2, 0.2, 0)).astype(float)) == {"a on top of b"}


def test_a_sheet_against_a_side_is_not_inside() -> None:
    assert told(box_cloud((0.5, 0.25, 0.25, 0.25, 0, 0.25)).astype(float), cube(0.5, 0.5, 0.25, side=0.5)) == set()


@pytest.mark.parametrize(("gap", "edges"), [(0.049, set()), (0.051, LEFT)])
def test_directions_start_where_contact_ends(gap: float, edges: set[str]) -> None:
    assert told(cube(0.5, SIDE + gap, 0.02), HERE) == edges


@pytest.mark.parametrize(("gap", "edges"), [(0.049, {"a on top of b"}), (0.051, ABOVE)])
def test_on_top_ends_where_contact_ends(gap: float, edges: set[str]) -> None:
    assert told(cube(0.5, 0, 0.02 + SIDE + gap), HERE) == edges


# --- directions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "seen_by", "edges"),
    [
        ((0, 0.2, 0), ROBOT, LEFT),
        ((0, -0.2, 0), ROBOT, RIGHT),
        ((0, 0.2, 0), OPPOSITE, RIGHT),
        ((0, -0.2, 0), OPPOSITE, LEFT),
        ((0, 0, 0.2), ROBOT, ABOVE),
        ((0, 0, -0.2), ROBOT, BELOW),
        ((0, 0, 0.2), OPPOSITE, ABOVE),
        ((0.2, 0, 0), OVERHEAD, ABOVE),  # farther from the robot is higher in a picture from above
        ((-0.2, 0, 0), OVERHEAD, BELOW),
        ((0, 0.2, 0), OVERHEAD, LEFT),
        ((0, 0.2, 0.2), ROBOT, set()),
        ((0.2, 0.2, 0), ROBOT, set()),
    ],
)
def test_directions_are_those_of_the_picture(step: tuple[int, ...], seen_by: Camera, edges: set[str]) -> None:
    assert told(HERE + step, HERE, seen_by) == edges


@pytest.mark.parametrize(
    ("main", "component", "edges"),
    [
        ((0, 0, 1), 0.91, ABOVE),
        ((0, 0, 1), 0.89, set()),
        ((0, 0, -1), 0.91, BELOW),
        ((0, 0, -1), 0.89, set()),
        ((0, 1, 0), 0.81, LEFT),
        ((0, 1, 0), 0.79, set()),
        ((0, -1, 0), 0.81, RIGHT),
        ((0, -1, 0), 0.79, set()),
    ],
)
def test_thresholds_of_directions(main: tuple[int, ...], component: float, edges: set[str]) -> None:
    aside = 0.25 * np.sqrt(1 - component**2)
    assert told(HERE + 0.25 * component * np.array(main) + (aside, 0, 0), HERE) == edges


@pytest.mark.parametrize(("gap", "edges"), [(0.399, LEFT), (0.401, set())])
def test_nothing_is_said_of_what_is_far_apart(gap: float, edges: set[str]) -> None:
    assert told(cube(0.5, SIDE + gap, 0.02), HERE) == edges


def test_coinciding_centres_have_no_direction() -> None:
    shell = box_cloud((0.5, 0, 0.5, 0.3, 0.3, 0.3)).astype(float)
    with np.errstate(invalid="raise"):
        assert told(np.array([[0.5, 0, 0.5]]), shell) == set()


# --- occluding and near ----------------------------------------------------------------------------------------------


def test_the_nearer_object_occludes() -> None:
    assert told(cube(0.3, 0, 0.02), HERE) == {"a occluding b"}
    assert told(cube(0.3, 0, 0.02), HERE, OPPOSITE) == {"b occluding a"}
    assert told(cube(0.3, 0, 0.02), HERE, OVERHEAD) == BELOW


@pytest.mark.parametrize(("shift", "edges"), [(0.018, {"a occluding b"}), (0.022, set())])
def test_occluding_is_more_than_half_of_the_hidden_ones_picture(shift: float, edges: set[str]) -> None:
    """A flat sheet before a flat sheet, seen so far from the side that half of the farther one is covered."""
    far = box_cloud((0.5, 0, 0.02, 0, SIDE, SIDE)).astype(float)
    near = box_cloud((0.3, 0, 0.02, 0, 0.8 * SIDE, SIDE)).astype(float)  # as wide in the picture as the one behind it
    assert told(near + np.array([0, 0.8 * shift, 0]), far) == edges


def test_a_small_thing_before_a_large_one_does_not_occlude_it() -> None:
    assert told(cube(0.3, 0, 0.02), cube(0.55, 0, 0.02, side=0.12)) == set()
    assert told(cube(0.3, 0, 0.02, side=0.12), cube(0.55, 0, 0.02)) == {"a occluding b"}


@pytest.mark.parametrize(("share", "edges"), [(0.89, set()), (0.91, {"a occluding b"})])
def test_occluding_is_90_per_cent_of_the_points_nearer(share: float, edges: set[str]) -> None:
    sheet = box_cloud((0.3, 0, 0.02, 0, 2 * SIDE, 2 * SIDE), spacing_m=0.008).astype(float)
    order = np.random.default_rng(0).permutation(len(sheet))
    sheet[order[round(share * len(sheet)) :], 0] = 0.85  # the rest is seen past the other object
    assert told(sheet, HERE) == edges


def test_an_occlusion_comes_on_top_of_a_direction() -> None:
    wide = box_cloud((0.45, 0.15, 0.02, 0.02, 0.4, 0.06)).astype(float)
    assert told(wide, cube(0.55, 0, 0.02)) == LEFT | {"a occluding b"}


def test_what_is_behind_the_camera_hides_nothing() -> None:
    inside = camera((0, -1, 0), (0, 0, -1), (1, 0, 0), (0.4, 0, 0.02))
    assert told(cube(0.3, 0, 0.02), HERE, inside) == set()
    assert told(cube(0.1, 0, 0.02), cube(0.3, 0, 0.02), inside) == set()


@pytest.mark.parametrize(("gap", "edges"), [(0.049, set()), (0.051, NEAR), (0.099, NEAR), (0.101, set())])
def test_near_is_under_10_centimetres(gap: float, edges: set[str]) -> None:
    """Behind one another, but too far from the middle of the picture to hide each other."""
    shifted = camera((0, -1, 0), (0, 0, -1), (1, 0, 0), (0.3, -0.4, 0.02))
    assert told(cube(0.5 + SIDE + gap, 0, 0.02), HERE, shifted) == edges


def test_near_is_only_said_if_nothing_else_is() -> None:
    assert told(cube(0.5, SIDE + 0.07, 0.02), HERE) == LEFT
    assert told(cube(0.5 - SIDE - 0.07, 0, 0.02), HERE) == {"a occluding b"}


# --- any scene -------------------------------------------------------------------------------------------------------


def random_scene(seed: int, objects: int) -> tuple[list[str], list[Cloud]]:
    """Clouds with the shape of ellipsoids, some of them touching; drawn at random, nothing lies on a threshold."""
    rng = np.random.default_rng(seed)
    clouds = []
    for _ in range(objects):
        directions = rng.normal(size=(60, 3))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        clouds.append(directions * rng.uniform(0.01, 0.08, 3) + rng.uniform((0.3, -0.2, 0), (0.7, 0.2, 0.2)))
    return [f"object {number}" for number in range(objects)], clouds


def random_camera(seed: int) -> Camera:
    rng = np.random.default_rng(seed)
    pose = np.eye(4)
    pose[:3, :3] = Rotation.random(random_state=seed).as_matrix()
    pose[:3, 3] = np.array([0.5, 0, 0.1]) - rng.uniform(0.6, 1.2) * pose[:3, 2]
    return Camera(K, pose.astype(np.float32))


SEEDS = st.integers(0, 10_000)


def test_random_scenes_show_all_relations() -> None:
    """Without this, the invariances below could hold for want of edges."""
    found = {
        edge.relation for seed in range(60) for edge in spatial_relations(*random_scene(seed, 6), random_camera(seed))
    }
    assert found == set(SpatialRelation)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(seed=SEEDS, order=st.permutations(range(6)))
def test_renamed_and_reordered_objects_have_renamed_relations(seed: int, order: list[int]) -> None:
    names, clouds = random_scene(seed, 6)
    seen_by = random_camera(seed)
    expected = {(a.upper(), relation, b.upper()) for a, relation, b in spatial_relations(names, clouds, seen_by)}
    found = spatial_relations([names[i].upper() for i in order], [clouds[i] for i in order], seen_by)
    assert {tuple(edge) for edge in found} == expected


@settings(max_examples=40, deadline=None, derandomize=True)
@given(seed=SEEDS, shift=st.tuples(*[st.floats(-2, 2)] * 3), quarters=st.integers(0, 3))
def test_moving_everything_and_the_camera_changes_nothing(
    seed: int, shift: tuple[float, float, float], quarters: int
) -> None:
    """Quarter turns about the vertical: boxes stay along the axes, and what is up stays up."""
    names, clouds = random_scene(seed, 6)
    before = random_camera(seed)
    motion = np.eye(4)
    motion[:3, :3] = np.round(Rotation.from_euler("z", 90 * quarters, degrees=True).as_matrix())
    motion[:3, 3] = shift
    after = replace(before, world_from_camera=motion @ before.world_from_camera.astype(float))
    moved = [cloud @ motion[:3, :3].T + motion[:3, 3] for cloud in clouds]
    assert spatial_relations(names, moved, after) == spatial_relations(names, clouds, before)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_any_rigid_motion_leaves_all_but_the_contacts_as_they_are(seed: int) -> None:
    """The centre of the box of a cloud that is symmetric about its middle moves with it, however it is turned."""
    names, halves = random_scene(seed, 6)
    middles = [cloud.mean(axis=0) for cloud in halves]
    clouds = [np.concatenate([cloud, 2 * middle - cloud]) for cloud, middle in zip(halves, middles, strict=True)]
    before = random_camera(seed)
    motion = random_camera(seed + 1).world_from_camera.astype(float)
    motion[:3, :3] = Rotation.random(random_state=seed + 1).as_matrix()
    after = replace(before, world_from_camera=motion @ before.world_from_camera.astype(float))
    moved = [cloud @ motion[:3, :3].T + motion[:3, 3] for cloud in clouds]
    upright = {SpatialRelation.ON_TOP_OF, SpatialRelation.INSIDE}
    expected, found = (
        {edge for edge in spatial_relations(names, scene, seen_by) if edge.relation not in upright}
        for scene, seen_by in ((clouds, before), (moved, after))
    )
    assert found == expected


@settings(max_examples=40, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_relations_have_their_converses(seed: int) -> None:
    edges = spatial_relations(*random_scene(seed, 6), random_camera(seed))
    converse = {"above": "below", "below": "above", "on the left": "on the right", "on the right": "on the left"}
    for subject, relation, other in edges:
        opposite = (other, converse.get(relation, relation), subject)
        symmetric = relation in converse or relation is SpatialRelation.NEAR
        assert (opposite in edges) == symmetric, (subject, relation, other)


@pytest.mark.parametrize(
    "points",
    [
        [(0.5, 0, 0.06)],
        [(0.5, 0, 0.06)] * 5,
        [(0.49, 0, 0.06), (0.51, 0, 0.06)],
        [(0.49, 0, 0.06), (0.51, 0, 0.06), (0.5, 0.01, 0.06)],
        [(0.49 + 0.005 * i, 0, 0.06) for i in range(6)],
        [(0.49 + 0.005 * i, 0.005 * j, 0.06) for i in range(5) for j in range(5)],
    ],
)
def test_flat_and_tiny_clouds(points: list[tuple[float, float, float]]) -> None:
    """They have no volume, so they hold nothing, but can be on something."""
    cloud = np.array(points)
    assert told(cloud, HERE) == {"a on top of b"}
    assert told(cloud + np.array([0, 0.2, 0]), HERE) == LEFT
    assert told(cloud, cloud) <= {"a on top of b", "b on top of a"}


def test_what_was_not_seen_has_no_relations() -> None:
    assert spatial_relations((), (), ROBOT) == frozenset()
    assert told(np.zeros((0, 3)), HERE) == set()


@pytest.mark.parametrize(
    ("names", "clouds", "words"),
    [
        (("a", "b"), [HERE], "one point cloud for each"),
        (("a", "a"), [HERE, HERE], "different names"),
        (("a",), [HERE[:, :2]], r"\(P, 3\) for 'a', found shape \(98, 2\)"),
        (("a",), [np.full((4, 3), np.nan)], "with NaN"),
    ],
)
def test_clouds_that_do_not_fit_are_refused(names: tuple[str, ...], clouds: list[Cloud], words: str) -> None:
    with pytest.raises(InvalidObservation, match=words):
        spatial_relations(names, clouds, ROBOT)

"""Objects that stay in their places are compared pixel by pixel, in the light of what surrounds them."""

from dataclasses import replace

import numpy as np
import pytest

from nsrecover.core import Camera, Observation
from nsrecover.perception.objects.differing_pixels import RULES as PIXELS
from nsrecover.perception.objects.looks import Compared, Looks

HEIGHT, WIDTH = 80, 120
CUP, COVER = 7, 9
FAR_M, TOP_M, NEAR_M = 1.0, 0.95, 0.7


def scene(column: int = 40, colour: tuple[int, int, int] = (150, 90, 60)) -> Observation:
    """A patterned cup, 30 pixels wide, on a grey table, seen from above."""
    rng = np.random.default_rng(0)
    rgb = np.full((1, HEIGHT, WIDTH, 3), 120.0) + rng.normal(0, 3, (1, HEIGHT, WIDTH, 3))
    depth, instances = np.full((1, HEIGHT, WIDTH), FAR_M, np.float32), np.zeros((1, HEIGHT, WIDTH), np.int32)
    pattern = (np.indices((30, 30)) // 6).sum(axis=0)[..., None] % 2
    rgb[0, 25:55, column : column + 30] = np.array(colour) * (1 - 0.3 * pattern)
    depth[0, 25:55, column : column + 30], instances[0, 25:55, column : column + 30] = TOP_M, CUP
    k = np.array([[100, 0, WIDTH / 2], [0, 100, HEIGHT / 2], [0, 0, 1]], np.float32)
    pose = np.array([[1, 0, 0, 0.5], [0, -1, 0, 0], [0, 0, -1, FAR_M], [0, 0, 0, 1]], np.float32)
    return Observation(rgb.astype(np.uint8), depth, instances, (Camera(k, pose),), {CUP: "cup"})


def compared(after: Observation, before: Observation | None = None) -> Compared:
    shown, _ = Looks().look(before or scene(), {"cup": (CUP,)})
    return shown.look(after, {"cup": (CUP,)})[1]


def times(seen: Observation, columns: slice, factor: float) -> Observation:
    rgb = seen.rgb.copy()
    rgb[:, :, columns] = rgb[:, :, columns] * factor
    return replace(seen, rgb=rgb)


def covered(seen: Observation) -> Observation:
    """Something green and nearer hides the left part of the cup."""
    rgb, depth, instances = seen.rgb.copy(), seen.depth_m.copy(), seen.instances.copy()
    rgb[0, :, 20:50], depth[0, :, 20:50], instances[0, :, 20:50] = (20, 160, 40), NEAR_M, COVER
    return replace(seen, rgb=rgb, depth_m=depth, instances=instances)


@pytest.mark.parametrize(
    "after",
    [scene(), times(scene(), slice(None), 0.7), times(scene(), slice(30, 80), 0.5), covered(scene())],
    ids=["the same", "less light", "a shadow", "covered"],
)
def test_light_shadow_and_cover_are_no_change(after: Observation) -> None:
    assert compared(after) == Compared({}, frozenset({"cup"}), frozenset({"cup"}))
    assert compared(scene(), after) == Compared({}, frozenset({"cup"}), frozenset({"cup"}))


def test_a_stain_is_another_state_and_other_colours_are_another_object() -> None:
    stained = scene()
    stained.rgb[0, 30:45, 45:60] = (40, 30, 20)
    assert 0.1 < compared(stained).changed["cup"] < PIXELS.other_share
    exchanged = compared(scene(colour=(150, 130, 60)))
    assert exchanged.changed["cup"] > PIXELS.other_share
    assert exchanged.still == {"cup"}


def views(*seen: Observation) -> Observation:
    """Several views of the same camera."""
    images = ("rgb", "depth_m", "instances")
    joined = {name: np.concatenate([getattr(each, name) for each in seen]) for name in images}
    return replace(seen[0], **joined, cameras=seen[0].cameras * len(seen))


def test_a_small_change_counts_if_two_views_show_it() -> None:
    def share(*stains: int) -> float | None:
        """The change that as many views show as there are stains, each so many pixels high."""
        seen = [scene() for _ in stains]
        for each, rows in zip(seen, stains, strict=True):
            each.rgb[0, 30 : 30 + rows, 45:60] = (40, 30, 20)
        return compared(views(*seen), views(*(scene() for _ in stains))).changed.get("cup")

    assert share(7) is None
    assert share(7, 0) is None
    assert share(7, 7) is not None
    assert share(3, 3) is None
    assert share(10, 0) is not None


def test_a_much_darker_object_is_another_one_if_two_views_show_it_and_no_shadow() -> None:
    darker, shadow = scene(colour=(80, 48, 32)), times(scene(), slice(30, 80), 0.53)
    assert compared(views(darker, darker), views(scene(), scene())).changed
    assert not compared(darker).changed
    assert not compared(views(darker, scene()), views(scene(), scene())).changed
    assert not compared(views(shadow, shadow), views(scene(), scene())).changed


def test_a_light_tint_of_the_whole_surface_may_be_another_object() -> None:
    share = compared(scene(colour=(150, 112, 60))).changed["cup"]
    assert PIXELS.maybe_other_share < share <= PIXELS.other_share


def test_a_change_is_reported_once() -> None:
    shown, _ = Looks().look(scene(), {"cup": (CUP,)})
    for expected in (True, False):
        shown, found = shown.look(scene(colour=(60, 90, 150)), {"cup": (CUP,)})
        assert ("cup" in found.changed) is expected


def test_what_moves_is_neither_still_nor_changed() -> None:
    assert compared(scene(column=48)) == Compared({}, frozenset())
    moved = replace(scene(), cameras=(replace(scene().cameras[0], name="other"),))
    assert compared(moved) == Compared()

"""Objects that are hidden, wholly or in part, are remembered; objects that moved, or are gone, are not."""

import numpy as np
import pytest

from nsrecover.core.scene import FloatArray
from nsrecover.perception.objects.memory import Memory, complete, supported

BOX = np.array([0.5, 0.0, 0.02, 0.04, 0.06, 0.04], np.float32)
ELSEWHERE = np.array([0.6, 0.2, 0.02, 0.04, 0.06, 0.04], np.float32)


def known() -> Memory:
    return Memory.empty(2).add(("a",), BOX[None], np.array([[1.0, 0.0]], np.float32), np.array([100.0], np.float32))


def nothing_empty(boxes: FloatArray) -> FloatArray:
    return np.zeros(len(boxes), np.float32)


@pytest.mark.parametrize(
    ("now", "kept"),
    [
        ([0.5, -0.025, 0.02, 0.04, 0.01, 0.04], True),  # only one end is seen, where it was
        ([0.5, 0.0, 0.03, 0.04, 0.06, 0.02], True),  # the lower half is hidden
        ([0.51, 0.0, 0.035, 0.065, 0.035, 0.012], True),  # a part bleeds onto something behind
        ([0.5, 0.03, 0.02, 0.04, 0.06, 0.04], False),  # moved, all of it seen
        ([0.501, 0.001, 0.021, 0.04, 0.06, 0.04], False),  # seen as well as before: the new measurement counts
    ],
)
def test_a_partly_hidden_object_keeps_its_box_only_if_nothing_speaks_against_it(now: list[float], kept: bool) -> None:
    box = complete(np.array(now, np.float32), BOX, BOX[None, 3:], nothing_empty, BOX)[0]
    np.testing.assert_allclose(box, BOX if kept else now, atol=1e-6)


def test_where_the_cameras_say_nothing_the_expectation_decides() -> None:
    visible = np.array([0.5, 0.105, 0.02, 0.04, 0.01, 0.04], np.float32)
    for y in (0.08, 0.105, 0.13):
        expected = np.array([0.5, y, 0.02, 0.04, 0.06, 0.04], np.float32)
        box = complete(visible, BOX, BOX[None, 3:], nothing_empty, expected)[0]
        assert abs(box[1] - y) < 0.005


def test_an_object_that_is_seen_where_it_should_be_is_as_large_as_expected() -> None:
    """It lay askew before, which made its box longer."""
    visible, expected = (np.array([*ELSEWHERE[:3], 0.032, y, 0.04], np.float32) for y in (0.045, 0.06))
    expected[3] = 0.04
    askew = np.array([[0.04, 0.06, 0.04], [0.033, 0.07, 0.04]], np.float32)
    box, sides = complete(visible, BOX, askew, nothing_empty, expected)
    np.testing.assert_array_equal(box, expected)
    np.testing.assert_array_equal(sides, expected[3:])
    seen_past = complete(visible, BOX, askew, lambda boxes: np.ones(len(boxes), np.float32), expected)[0]
    assert not (seen_past == expected).all()


def test_nothing_thin_is_added_to_a_box_where_the_cameras_see_past_it() -> None:
    """A cube that lay askew seemed larger; on a tower, with only its bottom hidden, it is as large as it looks."""
    visible = np.array([0.5, 0.0, 0.10, 0.044, 0.044, 0.044], np.float32)
    low, high = visible[:3] - visible[3:] / 2, visible[:3] + visible[3:] / 2

    def beside_is_empty(boxes: FloatArray) -> FloatArray:
        line = np.linspace(-0.4, 0.4, 9)  # samples lie a little inside, as those of the cameras
        points = boxes[:, None, :3] + np.stack(np.meshgrid(line, line, line), -1).reshape(-1, 3) * boxes[:, None, 3:]
        outside = ((points < low) | (points > high)).any(axis=2) & (points[..., 2] > low[2])
        return outside.mean(axis=1).astype(np.float32)

    askew = np.array([0.3, 0.0, 0.022, 0.060, 0.060, 0.044], np.float32)
    box, size = complete(visible, askew, askew[None, 3:], beside_is_empty, visible)
    np.testing.assert_allclose(box, visible)
    np.testing.assert_allclose(size, visible[3:])


def test_what_lay_askew_is_taken_for_as_large_as_it_was_before() -> None:
    """Its box was larger while it leaned; back on its side, with something on it, it is not."""
    lying, leaning = BOX[3:], np.array([0.04, 0.07, 0.062], np.float32)
    visible = np.array([0.5, -0.02, 0.02, 0.04, 0.02, 0.04], np.float32)  # the rest is hidden
    expected = np.array([0.5, 0.0, 0.02, *lying], np.float32)
    box, size = complete(visible, ELSEWHERE, np.stack([lying, leaning]), nothing_empty, expected)
    np.testing.assert_allclose(box, expected, atol=0.004)
    np.testing.assert_allclose(size, lying)


@pytest.mark.parametrize(
    ("seen_through", "expected", "box", "occluded"),
    [
        (nothing_empty, None, BOX, True),  # it is behind something
        (lambda boxes: np.ones(len(boxes), np.float32), None, BOX, False),  # its place is empty
        (lambda boxes: (boxes[:, 1] < 0.1).astype(np.float32), ELSEWHERE[None], ELSEWHERE, True),  # hidden at its goal
    ],
)
def test_an_unseen_object_keeps_its_looks_and_a_place_that_may_be_hidden(seen_through, expected, box, occluded) -> None:
    nothing = np.zeros((0, 6), np.float32), np.zeros((0, 2), np.float32), np.zeros(0, np.float32)
    after = known().look(*nothing, np.array([-1]), seen_through, expected)
    np.testing.assert_allclose(after.boxes[0], box)
    np.testing.assert_allclose(after.visual[0], [1.0, 0.0])
    assert (after.seen[0], after.occluded[0], after.graph().missing[0]) == (False, occluded, not occluded)


def test_looks_at_a_small_part_do_not_add_up() -> None:
    """Whatever is seen of an object that stays half hidden, once it is in sight it looks as it did."""
    memory = known()
    part = BOX[None].copy(), np.array([[0.0, 1.0]], np.float32), np.full(1, 50.0, np.float32)
    for _ in range(5):
        memory = memory.look(*part, np.array([0]), nothing_empty)
    np.testing.assert_allclose(memory.visual[0], [0.5**0.5, 0.5**0.5], atol=1e-6)


def test_a_first_look_reaches_down_to_what_supports_it() -> None:
    top = np.array([0.5, 0.0, 0.045, 0.04, 0.04, 0.01], np.float32)
    below = np.array([0.5, 0.0, 0.01, 0.06, 0.06, 0.02], np.float32)
    whole = supported(top[None], nothing_empty)
    np.testing.assert_allclose(whole[0, [2, 5]], [0.025, 0.05], atol=1e-6)
    whole = supported(np.stack([top, below]), nothing_empty)
    np.testing.assert_allclose(whole[0, [2, 5]], [0.035, 0.03], atol=1e-6)
    np.testing.assert_allclose(whole[1], below)
    everywhere = supported(top[None], lambda boxes: np.ones(len(boxes), np.float32))
    np.testing.assert_allclose(everywhere[0], top)


def test_a_small_part_in_its_old_place_does_not_turn_an_object_over() -> None:
    lying = np.array([0.5, 0.0, 0.02, 0.038, 0.066, 0.04], np.float32)
    part = np.array([0.5, 0.034, 0.018, 0.034, 0.011, 0.036], np.float32)  # 6.5 mm beyond its end

    def beside(boxes: FloatArray) -> FloatArray:
        return np.where(boxes[:, 4] > 0.05, 0.1, 0.0).astype(np.float32)

    box, _ = complete(part, lying, lying[None, 3:], beside, lying)
    np.testing.assert_allclose(box, lying)


def test_a_cube_that_was_turned_about_the_vertical_does_not_stand_on_another_side() -> None:
    """Its box was larger when it was turned by 45 degrees; now it stands on another cube that hides what is below."""
    known_sides = np.array([[0.061, 0.061, 0.048]], np.float32)
    expected = np.array([0.5, 0.0, 0.072, 0.061, 0.061, 0.048], np.float32)
    visible = np.array([0.5, 0.002, 0.072, 0.047, 0.048, 0.048], np.float32)
    box, _ = complete(visible, BOX, known_sides, nothing_empty, expected)
    assert box[5] == pytest.approx(0.048, abs=0.001)
    assert box[2] == pytest.approx(0.072, abs=0.001)
    assert abs(box[1]) < 0.01


def test_open_corners_that_were_always_seen_through_do_not_speak_against_a_box() -> None:
    def corners_open(boxes: FloatArray) -> FloatArray:
        return np.full(len(boxes), 0.2, np.float32)

    features, pixels = np.array([[1.0, 0.0]], np.float32), np.array([100.0], np.float32)
    part = np.array([[0.5, -0.02, 0.02, 0.04, 0.02, 0.04]], np.float32)  # the rest is behind something

    def seen_later(memory: Memory) -> FloatArray:
        return memory.look(part, features, pixels, np.array([0]), corners_open).boxes[0]

    round_one = Memory.empty(2).add(("a",), BOX[None], features, pixels, corners_open)
    assert round_one.open == pytest.approx([0.2])
    np.testing.assert_allclose(seen_later(round_one), BOX)
    np.testing.assert_allclose(seen_later(known()), part[0], err_msg="a full box would not be seen through")


def test_how_open_an_object_is_follows_from_what_is_seen_whole() -> None:
    def half_open(boxes: FloatArray) -> FloatArray:
        return np.full(len(boxes), 0.3, np.float32)

    now = known().look(BOX[None], np.array([[1.0, 0.0]], np.float32), np.array([100.0]), np.array([0]), half_open)
    assert now.open == pytest.approx([0.3])
    again = now.look(BOX[None], now.visual, now.pixels, np.array([0]), nothing_empty)
    assert again.open == pytest.approx([0.0])


def test_the_same_part_seen_elsewhere_moves_the_whole_object_as_far_as_itself() -> None:
    part = np.array([0.5, -0.02, 0.03, 0.04, 0.02, 0.02], np.float32)
    looks, pixels = np.array([[1.0, 0.0]], np.float32), np.array([30.0], np.float32)
    first = known().look(part[None], looks, pixels, np.array([0]), nothing_empty)
    np.testing.assert_allclose(first.boxes[0], BOX)
    moved = part + np.array([0.03, 0.05, 0.0, 0.004, -0.004, 0.0], np.float32)
    second = first.look(moved[None], looks, pixels, np.array([0]), nothing_empty, expected=ELSEWHERE[None])
    np.testing.assert_allclose(second.boxes[0], BOX + np.array([0.03, 0.05, 0, 0, 0, 0]), atol=1e-6)

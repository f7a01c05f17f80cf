"""Sightings of two or three cameras that number their masks independently are joined by object."""

import numpy as np

from nsrecover.perception.objects.views import Sighting, join_views

SIDE = 0.05
LEFT, RIGHT, FRONT = np.array([0, -0.7, -0.7]), np.array([0, 0.7, -0.7]), np.array([-0.7, 0, -0.7])
DIRECTIONS = (LEFT, RIGHT, FRONT)


def looks(number: int) -> np.ndarray:
    return np.eye(8, dtype=np.float32)[number]


def seen(view: int, x: float, y: float, number: int, name: str | None = None, thin: bool = False) -> Sighting:
    """A cube of which a view shows the top and the near face, or the near face alone if another one stands on it."""
    direction = DIRECTIONS[view].astype(np.float32)
    depth = 0.002 if thin else SIDE
    near = -np.sign(direction[:2]) * (SIDE - depth) / 2
    size = np.where(np.abs(direction[:2]) > 0, depth, SIDE)
    box = np.array([x + near[0], y + near[1], SIDE / 2, *size, SIDE], dtype=np.float32)
    return Sighting(view, box, looks(number), direction, name)


def test_near_and_far_face_of_an_object_under_another_one_are_joined() -> None:
    assert join_views([seen(0, 0.5, 0.0, 0, thin=True), seen(1, 0.5, 0.0, 0, thin=True)]) == [[0, 1]]


def test_faces_in_the_wrong_order_are_not_one_object() -> None:
    """The left camera sees the left face; a face further left that the right camera sees is another object's."""
    left, right = seen(0, 0.5, 0.0, 0, thin=True), seen(1, 0.5, 0.0, 0, thin=True)
    swapped = [
        Sighting(0, right.box, left.visual, left.direction),
        Sighting(1, left.box, right.visual, right.direction),
    ]
    assert join_views(swapped) == [[0], [1]]


def test_one_object_has_at_most_one_sighting_of_a_view() -> None:
    groups = join_views([seen(0, 0.5, 0.0, 0), seen(1, 0.5, 0.0, 0), seen(1, 0.5, 0.001, 0)])
    assert sorted(map(len, groups)) == [1, 2]


def test_names_decide() -> None:
    assert join_views([seen(0, 0.5, 0.0, 0, "a"), seen(1, 0.5, 0.0, 0, "b")]) == [[0], [1]]
    assert join_views([seen(0, 0.5, 0.0, 0, "a"), seen(1, 0.8, 0.0, 1, "a")]) == [[0, 1]]

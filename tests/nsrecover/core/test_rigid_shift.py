"""How far a box has moved, by both of its faces on every axis."""

import numpy as np
import pytest

from nsrecover.core.geometry import rigid_shift

BOX = np.array([0.5, 0.0, 0.02, 0.04, 0.04, 0.04], dtype=np.float32)


def _changed(**sides: tuple[float, float]) -> np.ndarray:
    """The box with other lower and upper faces, as differences in metres."""
    low, high = BOX[:3] - BOX[3:] / 2, BOX[:3] + BOX[3:] / 2
    for axis, (lower, upper) in sides.items():
        low["xyz".index(axis)] += lower
        high["xyz".index(axis)] += upper
    return np.concatenate([(low + high) / 2, high - low]).astype(np.float32)


@pytest.mark.parametrize(
    ("sides", "shift"),
    [
        ({"x": (0.03, 0.03)}, (0.03, 0.0, 0.0)),
        ({"x": (-0.03, -0.03), "y": (0.01, 0.01)}, (-0.03, 0.01, 0.0)),
        ({"x": (0.0, 0.008)}, (0.0, 0.0, 0.0)),
        ({"x": (-0.02, 0.02)}, (0.0, 0.0, 0.0)),
        ({"y": (0.02, 0.028)}, (0.0, 0.02, 0.0)),
        ({"y": (-0.028, -0.02)}, (0.0, -0.02, 0.0)),
        ({"x": (0.0, 0.06)}, (0.025, 0.0, 0.0)),  # too much for an error of a box
    ],
)
def test_the_face_counts_that_has_moved_less(
    sides: dict[str, tuple[float, float]], shift: tuple[float, float, float]
) -> None:
    np.testing.assert_allclose(rigid_shift(BOX, _changed(**sides)), shift, atol=1e-6)

"""Predictions for sizes beyond the training data: objects stand on surfaces, with the learned gap between them."""

import numpy as np
import pytest

import nsrecover
from nsrecover.models.bundle import Bundle
from nsrecover.models.protocols import SceneModels
from nsrecover.models.same_place import same_place

GAP_M = 0.03


@pytest.fixture(scope="module")
def models() -> SceneModels:
    return nsrecover.load(rules=False).model.models


def box(x: float, y: float, low: float, *sides: float) -> list[float]:
    """A box whose lower side is at a height."""
    return [x, y, low + sides[2] / 2, *sides]


def scene(*boxes: list[float]) -> np.ndarray:
    return np.array(boxes, dtype=np.float32)


def test_the_shipped_checkpoint_puts_things_beside_and_onto_tall_ones(models: SceneModels) -> None:
    assert isinstance(models, Bundle)
    boxes = scene(
        box(0.5, 0.0, 0.0, 0.05, 0.05, 0.12),
        box(0.5, 0.25, 0.0, 0.05, 0.05, 0.05),
        box(0.4, -0.2, 0.0, 0.05, 0.05, 0.09),
    )
    visual = np.eye(3, models.feature_size, dtype=np.float32)
    operators = [models.operators.index(name) for name in ("left", "top")]
    found, _ = models.predict(visual, boxes, operators, [1, 0], [0, 2])
    beside, onto = found
    assert beside[2] == pytest.approx(0.025, abs=0.002)
    assert beside[:2] == pytest.approx([0.5, 0.05 + GAP_M], abs=0.012)
    assert onto[:3] == pytest.approx([0.4, -0.2, 0.09 + 0.06], abs=0.012)


@pytest.mark.parametrize("longest_m", [0.01, 0.02, 0.05, 0.1, 0.12, 0.15, 0.2, 0.3, 0.5])
def test_objects_of_every_size_are_in_their_places_until_they_move(models: SceneModels, longest_m: float) -> None:
    """Objects with sides from a third of the longest one: identical nodes, 3 mm of noise, and shifts of 25 mm."""
    rng, count = np.random.default_rng(0), 300
    visual = rng.normal(size=(count, models.feature_size or 0)).astype(np.float32)
    visual /= np.linalg.norm(visual, axis=1, keepdims=True)
    sides = rng.uniform(longest_m / 3, longest_m, (count, 3))
    places = np.column_stack([rng.uniform((0.3, -0.3), (0.7, 0.3), (count, 2)), sides[:, 2] / 2])
    boxes = np.hstack([places, sides]).astype(np.float32)
    angle = rng.uniform(0, 2 * np.pi, count)
    ways = np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])

    def deviate(shift: np.ndarray) -> float:
        now = np.hstack([places + shift, sides]).astype(np.float32)
        return float((same_place(models, visual, boxes, visual, now) < models.threshold).mean())

    assert deviate(0 * ways) == 0.0
    assert deviate(rng.normal(0, 0.003, (count, 3)) * (1, 1, 0)) == 0.0
    assert deviate(0.025 * ways) > 0.99

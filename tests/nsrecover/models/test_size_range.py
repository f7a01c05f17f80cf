"""Predictions for sizes beyond the training data: objects stand on surfaces, with the learned gap between them."""

import numpy as np
import pytest

import nsrecover
from nsrecover.models.bundle import Bundle
from nsrecover.models.protocols import SceneModels
from nsrecover.models.same_place import same_place
from nsrecover.models.size_range import extended, limited

TRAINED, USUAL = (0.033, 0.072), (0.036, 0.055)
GAP_M = 0.03


@pytest.fixture(scope="module")
def models() -> SceneModels:
    return nsrecover.load(rules=False).model.models


def box(x: float, y: float, low: float, *sides: float) -> list[float]:
    """A box whose lower side is at a height."""
    return [x, y, low + sides[2] / 2, *sides]


def scene(*boxes: list[float]) -> np.ndarray:
    return np.array(boxes, dtype=np.float32)


@pytest.mark.parametrize("batched", [True, False])
def test_what_was_learned_of_usual_sides_holds_for_others(batched: bool) -> None:
    bottle, cube, plate = ([0.05, 0.05, 0.12], [0.05, 0.05, 0.05], [0.09, 0.07, 0.02])
    boxes = scene(box(0.4, 0.0, 0.0, *bottle), box(0.6, 0.1, 0.0, *cube), box(0.5, 0.3, 0.0, *plate))
    inside = limited(boxes, TRAINED, USUAL)
    moved, reference = np.array([2, 0, 1]), np.array([1, 1, 0])
    sides = inside[moved, 3:]
    learned = np.array(  # left of the cube; on the cube; in front of the bottle: nearer to the robot
        [
            [0.6, 0.1 + GAP_M + (0.05 + sides[0, 1]) / 2, sides[0, 2] / 2, *sides[0]],
            [0.6, 0.1, 0.05 + sides[1, 2] / 2, *sides[1]],
            [0.4 - GAP_M - 0.05, 0.0, sides[2, 2] / 2, *sides[2]],
        ],
        dtype=np.float32,
    )
    scenes = [np.stack([each] * 3) if batched else each for each in (boxes, inside)]
    found = extended(learned, *scenes, moved, reference)
    expected = scene(
        box(0.6, 0.1 + GAP_M + (0.05 + 0.07) / 2, 0.0, *plate),
        box(0.6, 0.1, 0.05, *bottle),
        box(0.4 - GAP_M - 0.05, 0.0, 0.0, *cube),
    )
    assert found == pytest.approx(expected, abs=1e-5)


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


@pytest.mark.parametrize("side_m", [0.01, 0.02, 0.05, 0.1, 0.15, 0.3, 0.5])
def test_an_object_of_any_size_is_where_it_is_and_not_where_it_is_not(side_m: float) -> None:
    models = Bundle.load()
    rng = np.random.default_rng(7)
    visual = rng.normal(size=(20, models.feature_size)).astype(np.float32)
    visual /= np.linalg.norm(visual, axis=1, keepdims=True)
    boxes = np.array([box(x, y, 0.0, *3 * [side_m]) for x, y in rng.uniform((0.35, -0.3), (0.7, 0.3), (20, 2))])
    assert (models.same(visual, boxes, visual, boxes) >= models.threshold).all()
    shifted = boxes + np.array([0.025, 0, 0, 0, 0, 0])
    assert (models.same(visual, boxes, visual, shifted) < models.threshold).all()


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

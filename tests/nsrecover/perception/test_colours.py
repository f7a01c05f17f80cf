"""Colours tell objects apart, whatever their part and light."""

import numpy as np

from nsrecover.models.bundle import Bundle, BundleConfig
from nsrecover.perception.objects.colours import SIZE, colour_features

SIDE = 48


def crop(colours: list[tuple[int, int, int]], patch: int, first_row: int = 4, gain: float = 1.0) -> np.ndarray:
    """A patterned square, black around it, from a row on, in brighter or darker light."""
    cells = (np.indices((SIDE, SIDE)) // patch).sum(axis=0) % len(colours)
    image = np.array(colours, np.float64)[cells] * gain
    image[:first_row] = image[-4:] = image[:, :4] = image[:, -4:] = 0
    return image.clip(0, 255).astype(np.uint8)


RED = [(180, 30, 40), (200, 60, 50)]
BLUE = [(30, 50, 170), (60, 70, 200)]
TEA = [(150, 160, 60), (120, 130, 40)]


def likeness(*crops: np.ndarray) -> np.ndarray:
    features = colour_features(np.stack(crops))
    assert features.shape == (len(crops), SIZE)
    np.testing.assert_allclose(np.linalg.norm(features, axis=1), 1, atol=1e-5)
    return features @ features.T


def test_parts_matter_less_than_other_colours() -> None:
    found = likeness(crop(RED, 6), crop(RED, 6, first_row=24), crop(BLUE, 6), crop(TEA, 6))
    assert found[0, 1] > 0.95
    assert found[0, 2:].max() < 0.6


def test_the_light_on_the_table_is_the_light_on_the_object() -> None:
    table = np.array([120.0, 110, 100])
    dark, warm = np.array([0.5, 0.5, 0.5]), np.array([1.15, 1.0, 0.8])
    lit = ((crop(RED, 6) * light).clip(0, 255).astype(np.uint8) for light in (dark, warm))
    crops = np.stack([crop(RED, 6), *lit])
    features = colour_features(crops, np.stack([table, table * dark, table * warm]))
    assert (features @ features[0]).min() > 0.97
    blind = colour_features(crops)
    assert (blind @ blind[0]).min() < 0.9


def test_an_action_keeps_the_colours_of_what_it_moves() -> None:
    bundle = Bundle(BundleConfig(feature_size=16, width=24, rounds=1))
    visual = bundle.embed(np.stack([crop(RED, 6), crop(BLUE, 6)]))
    boxes = np.array([[0.5, 0, 0.02, 0.04, 0.04, 0.04], [0.5, 0.2, 0.02, 0.04, 0.04, 0.04]], np.float32)
    assert visual.shape == (2, bundle.feature_size)
    _, looks = bundle.predict(visual[None], boxes[None], [0], [1], [0])
    np.testing.assert_array_equal(looks[0, 16:], visual[1, 16:])
    np.testing.assert_allclose(np.linalg.norm(looks), 1, atol=1e-5)

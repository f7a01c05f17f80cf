"""Statistics of the preset `d435` beside those of real depth images at 640 x 480: within 30 %."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import ndimage

from sim.sensors.presets import sensor

SHAPE, FOCAL = (240, 320), 300.0
PER_PIXEL = 2
"""Pixels of 640 x 480 for one of the simulator's."""

D435 = sensor("d435").depth


def seen(depth: np.ndarray, seed: int, grey: int = 120) -> np.ndarray:
    rgb = np.full((*depth.shape, 3), grey, np.uint8)
    return D435.apply(depth.astype(np.float32), rgb, FOCAL, 0.0, 0.0, np.random.default_rng(seed))


@pytest.mark.parametrize(("lag", "real"), [(2, 0.8), (4, 0.65)])
def test_neighbouring_noise_is_as_alike_as_in_reality(lag: int, real: float) -> None:
    errors = replace(D435, random_holes=0.0, quantum_px=0.0)
    flat = np.full(SHAPE, 0.9, np.float32)
    rgb = np.full((*SHAPE, 3), 120, np.uint8)
    noise = np.stack([errors.apply(flat, rgb, FOCAL, 0.0, 0.0, np.random.default_rng(s)) - 0.9 for s in range(20)])
    apart = lag // PER_PIXEL
    found = (noise[:, :, apart:] * noise[:, :, :-apart]).mean() / noise.var()
    assert found == pytest.approx(real, rel=0.1)
    assert 1000 * noise.std() == pytest.approx(1.7, rel=0.1)


def test_missing_readings_lie_in_blobs() -> None:
    shares = []
    for seed in range(5):
        depth = np.full(SHAPE, 1.0)
        for row, column in ((40, 60), (90, 200), (150, 100)):
            depth[row : row + 40, column : column + 35] = 0.9
        holes = seen(depth, seed) == 0
        parts, _ = ndimage.label(holes)
        sizes = np.bincount(parts[holes])
        shares.append(sizes[sizes >= 50 / PER_PIXEL**2].sum() / holes.sum())
    assert 0.34 <= np.mean(shares) <= 0.99


def test_bright_cloth_loses_its_readings() -> None:
    lost = np.mean([(seen(np.full(SHAPE, 1.0), seed, grey=240) == 0).mean() for seed in range(5)])
    assert lost == pytest.approx(0.45, rel=0.3)
    assert (seen(np.full(SHAPE, 1.0), 0) == 0).mean() < 0.02

"""Tolerance and sensor are settings: smaller displacements are detected, and a rate is promised for one sensor."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import nsrecover
from nsrecover.models.bundle import Bundle
from nsrecover.models.conformal import Calibration
from nsrecover.system import System


def displaced(system: System, distance_m: float) -> np.ndarray:
    """P(as expected) of cubes that are displaced along each axis."""
    boxes = np.array([[0.5, 0.0, 0.1, 0.04, 0.04, 0.04]] * 3, dtype=np.float32)
    looks = np.full((3, system.model.bundle.feature_size), system.model.bundle.feature_size**-0.5, dtype=np.float32)
    moved = boxes.copy()
    moved[:, :3] += distance_m * np.eye(3, dtype=np.float32)
    return system.model.models.same(looks, boxes, looks, moved)


@pytest.mark.parametrize("tolerance_m", [0.01, 0.02, 0.04])
def test_half_the_tolerance_is_accepted_and_twice_is_not(tolerance_m: float) -> None:
    system = nsrecover.load(tolerance_m=tolerance_m)
    assert system.model.models.tolerance_m == tolerance_m
    assert (displaced(system, tolerance_m / 2) > system.model.models.threshold).all()
    assert (displaced(system, 2 * tolerance_m) < system.model.models.threshold).all()


@pytest.mark.parametrize("tolerance_m", [0.005, 0.02])
def test_no_place_is_so_far_away_that_it_seems_the_same(tolerance_m: float) -> None:
    models = nsrecover.load(tolerance_m=tolerance_m).model.models
    rng = np.random.default_rng(0)
    count = 2000
    looks = rng.normal(size=(count, models.feature_size or 1)).astype(np.float32)
    looks /= np.linalg.norm(looks, axis=1, keepdims=True)
    boxes = np.concatenate([rng.uniform(0, 0.6, (count, 3)), rng.uniform(0.03, 0.06, (count, 3))], axis=1)
    ways = rng.normal(size=(count, 3))
    ways *= rng.uniform(0.1, 0.7, (count, 1)) / np.linalg.norm(ways, axis=1, keepdims=True)
    moved = boxes + np.concatenate([ways, np.zeros((count, 3))], axis=1)
    assert models.same(looks, boxes, looks, moved).max() < 0.1


def test_a_rate_is_promised_for_one_sensor(tmp_path: Path) -> None:
    bundle = Bundle.load()
    steps = {"quiet": Calibration((0.9, 0.95), 99), "noisy": Calibration((0.2, 0.3), 99)}
    bundle.config = replace(bundle.config, sensors=steps)
    folder = bundle.save(tmp_path / "mine")
    assert Bundle.load(folder).config.sensors == steps
    assert nsrecover.load(folder, alpha=0.01, sensor="quiet").model.models.threshold == 0.9
    assert nsrecover.load(folder, alpha=0.02, sensor="noisy").model.models.threshold == 0.3

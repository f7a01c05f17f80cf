"""The conformal threshold keeps its promise, and no more is promised than the data allows."""

from dataclasses import replace

import numpy as np
import pytest

import nsrecover
from nsrecover import load
from nsrecover.errors import InvalidCheckpoint, InvalidConfiguration
from nsrecover.models.bundle import Bundle
from nsrecover.models.conformal import Calibration, CalibrationWatch, conformal_threshold, lowest


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_the_false_alarm_rate_is_at_most_alpha_on_average(alpha: float) -> None:
    rng = np.random.default_rng(0)
    rates = []
    for _ in range(400):
        scores, fresh = rng.beta(8, 1, 300), rng.beta(8, 1, 300)
        rates.append((fresh < conformal_threshold(lowest(scores.tolist()), len(scores), alpha)).mean())
    assert np.mean(rates) <= alpha * 1.02
    assert np.mean(rates) > 0.5 * alpha


def test_load_takes_the_rate(tmp_path) -> None:
    bundle = Bundle()
    bundle.config = replace(bundle.config, calibration=lowest([i / 100 for i in range(100)]), calibration_steps=100)
    bundle.save(tmp_path)
    assert load(tmp_path).model.bundle.threshold == 0.5
    assert load(tmp_path, alpha=0.05).model.bundle.threshold == pytest.approx(0.04)
    with pytest.raises(InvalidCheckpoint, match="at least 999 successful steps"):
        load(tmp_path, alpha=0.001)


def scores(rng: np.random.Generator, count: int, shift: float = 0.0) -> list[float]:
    return (rng.random(count) - shift).tolist()


def test_a_change_of_good_steps_is_noticed_and_its_absence_is_not_reported() -> None:
    rng = np.random.default_rng(0)
    early = 0
    for _ in range(200):
        held_out = scores(rng, 500)
        watch = CalibrationWatch(Calibration(lowest(held_out), 500))
        early += sum(watch.update(score) for score in scores(rng, 50)) > 0
        while not watch.update(scores(rng, 1, shift=0.5)[0]):
            assert watch.steps < 150
        assert "do not look like" in str(watch)
    assert early <= 20  # one in 1000 steps, and 50 steps each: 10 are expected at most


def test_only_a_calibrated_system_can_be_watched() -> None:
    with pytest.raises(InvalidConfiguration, match="expected a calibrated system"):
        nsrecover.geometric().calibration_watch()
    assert nsrecover.load(alpha=0.05).calibration_watch().steps == 0


@pytest.mark.parametrize(("count", "alpha", "rank"), [(19, 0.05, 1), (18, 0.05, 0), (39, 0.05, 2), (99, 0.2, 20)])
def test_the_threshold_is_the_score_whose_rank_is_alpha_of_one_more_than_all(
    count: int, alpha: float, rank: int
) -> None:
    scores = lowest([(i + 1) / 100 for i in range(count)])
    assert conformal_threshold(scores, count, alpha) == pytest.approx(rank / 100)

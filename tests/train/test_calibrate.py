"""The conformal threshold keeps its promise, and no more is promised than the data allows."""

import numpy as np
import pytest

from train.calibrate import conformal_threshold


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_the_false_alarm_rate_is_at_most_alpha_on_average(alpha: float) -> None:
    rng = np.random.default_rng(0)
    rates = []
    for _ in range(400):
        scores, fresh = rng.beta(8, 1, 300), rng.beta(8, 1, 300)
        rates.append((fresh < conformal_threshold(scores, alpha)).mean())
    assert np.mean(rates) <= alpha * 1.02
    assert np.mean(rates) > 0.5 * alpha


def test_too_few_scores_promise_nothing_and_raise_no_alarm() -> None:
    assert conformal_threshold(np.array([0.2, 0.9], np.float32), 0.01) == 0.0

"""The share of a gap that training closes is that of the scores, and its interval comes from the runs."""

import numpy as np
import pytest

from eval.checks.rig import _closed, _judged, table
from nsrecover.core.discrepancy import Verdict
from nsrecover.onboarding.scoring import ScoredStep


def steps(detected: int, seed: int) -> list[ScoredStep]:
    """20 runs of 5 good steps with scores above 0.9; of 100 copies displaced by 12 mm so many are surely lower."""
    rng = np.random.default_rng(seed)
    lower = rng.permutation(100) < detected
    return [
        ScoredStep(
            run=number // 5, name="run", step=number % 5, action="top(a, b)", operator="top",
            score=0.9 + 0.001 * number, worst="a", placed_mm=(3.0, 4.0, 0.0), rested_mm=None,
            verdict=Verdict.AS_EXPECTED, gone=(), displaced={12.0: 0.1 if lower[number] else 0.9999, 25.0: 0.0},
        )
        for number in range(100)
    ]  # fmt: skip


def test_a_gap_of_eighty_of_which_sixty_are_closed() -> None:
    home, before, after = steps(90, 1), steps(10, 2), steps(70, 3)
    closed = _closed(home, before, after)
    assert list(closed) == ["12"], "all copies displaced by 25 mm are detected everywhere: there is no gap"
    assert closed["12"]["value"] == pytest.approx(60 / 80)
    assert closed["12"]["low"] < 60 / 80 < closed["12"]["high"]
    rigs = {"known": _judged(home), "shipped": _judged(before), "trained": _judged(after)}
    assert rigs["trained"]["detected"]["12"]["value"] == 0.7
    assert (rigs["known"]["false_alarms"], rigs["known"]["good_steps"]) == (5, 100)
    text = table({"runs": 50, "rigs": rigs, "closed": closed})
    assert "displaced by 12 mm" in text
    assert "75 %" in text
    assert "no gap" in text

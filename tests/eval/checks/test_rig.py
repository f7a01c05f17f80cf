"""What is detected on a rig is counted from the scores of its steps."""

import numpy as np

from eval.checks.rig import _judged, table
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


def test_detections_and_false_alarms_are_counted() -> None:
    rigs = {"known": _judged(steps(90, 1)), "trained": _judged(steps(70, 3))}
    assert rigs["trained"]["detected"]["12"]["value"] == 0.7
    assert (rigs["known"]["false_alarms"], rigs["known"]["good_steps"]) == (5, 100)
    text = table({"runs": 50, "rigs": rigs})
    assert "displaced by 12 mm" in text
    assert "70.0 %" in text

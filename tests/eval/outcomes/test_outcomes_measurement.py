"""The measurement of outcomes: the same episodes for all arms, promised false alarms, and errors that are noticed."""

from pathlib import Path

import numpy as np

from eval.alarms import expected_alarms
from eval.outcomes.__main__ import MEASUREMENT, OutcomesConfig
from nsrecover.models.conformal import Calibration, conformal_threshold, lowest


def test_arms_are_measured_on_the_same_exam(tmp_path: Path) -> None:
    config = OutcomesConfig(
        seed=51,
        arms=["fixed", "rigid", "perceptron"],
        shown=[40],
        trainings=1,
        views=["shapes"],
        alpha=0.1,
        demonstrations=160,
        calibration=160,
        exam=160,
        footage=str(tmp_path / "footage"),
        workers=1,
        out=str(tmp_path / "out"),
    )
    found = MEASUREMENT.run(config)
    fixed, rigid, ours = (found["arms"][f"{arm} 40 shapes"] for arm in config.arms)
    assert fixed["native"]["false"]["value"] > 0.3  # a tolerance of 2 cm is not kept by good pushes
    assert {arm["noticed"]["of"] for arm in (fixed, rigid, ours)} == {fixed["noticed"]["of"]}
    assert ours["noticed"]["value"] > fixed["noticed"]["value"]
    assert ours["false"]["value"] < 0.35
    assert (tmp_path / "out" / "table.md").read_text().count("|") > 50


def test_the_exact_interval_holds_the_alarms_of_good_steps() -> None:
    rng, within = np.random.default_rng(0), 0
    for _ in range(400):
        scores = rng.random(200)
        calibration = Calibration(lowest(scores.tolist()), 200)
        low, high = expected_alarms(calibration, 0.05, 300)
        threshold = conformal_threshold(calibration.scores, 200, 0.05)
        within += low <= (rng.random(300) < threshold).sum() <= high
    assert within >= 0.92 * 400

"""Detection against displacement: the arithmetic on known looks, and a small measurement."""

from pathlib import Path

import numpy as np
import pytest

from eval.displacement import MEASUREMENT, DisplacementConfig, Look, confirmed, summary
from nsrecover.errors import InvalidConfiguration


def test_tolerances_are_set_on_even_scenes_and_measured_on_odd_ones() -> None:
    looks = []
    for scene in range(40):
        noise = 5.0 if scene % 2 == 0 else 3.0
        for distance in (0.0, 4.0, 8.0, 16.0):
            looks.append(Look(scene, "mine", distance, ours_mm=noise + distance, rule_mm=distance))
    found = summary(looks, rate=0.05)
    ours = found["strict"]["ours"]
    assert ours["tolerance_mm"] == 5.0
    assert ours["false_alarms"] == {"value": 0.0, "low": 0.0, "high": pytest.approx(0.161, abs=1e-3), "of": 20}
    assert ours["detected"]["4"]["value"] == 1.0
    assert ours["d95_mm"] == 4.0
    assert found["default"]["rule"]["d95_mm"] is None
    assert found["default"]["ours"]["detected"]["16"]["value"] == 0.0  # 3 + 16 mm are less than 20


def test_an_object_that_counts_as_gone_is_an_alarm_at_any_tolerance() -> None:
    looks = [Look(scene, "mine", 0.0, np.inf if scene == 1 else 0.0, 0.0) for scene in range(4)]
    looks += [Look(scene, "mine", 25.0, 25.0, 25.0) for scene in range(4)]
    assert summary(looks, rate=0.4)["default"]["ours"]["false_alarms"]["value"] == 0.5


def test_an_alarm_needs_the_first_observation_and_most_of_those_that_show_the_object() -> None:
    gone, unseen = np.inf, np.nan
    assert confirmed(np.array([[5.0, 1.0]])) == 5.0
    assert confirmed(np.array([[30.0, 1.0], [8.0, 2.0], [9.0, 1.0]])) == 9.0
    assert confirmed(np.array([[5.0, 1.0], [8.0, 2.0], [9.0, 1.0]])) == 5.0, "the first is believed"
    assert confirmed(np.array([[gone, 1.0], [2.0, 1.0], [3.0, 1.0]])) == 3.0
    assert confirmed(np.array([[9.0], [unseen], [unseen]])) == 0.0, "a single vote"
    assert confirmed(np.array([[9.0], [unseen], [7.0]])) == 7.0, "both of two"


def test_it_measures_and_continues(tmp_path: Path) -> None:
    config = DisplacementConfig(
        seed=5, scenes=4, objects=2, distances_mm=[10.0, 60.0], repeats=1, sensors=["clean"], workers=1,
        out=str(tmp_path),
    )  # fmt: skip
    found = MEASUREMENT.run(config)
    assert found["sensors"]["clean"]["default"]["ours"]["detected"]["60"]["value"] == 1.0
    assert found["sensors"]["clean"]["default"]["ours"]["detected"]["10"]["value"] == 0.0
    lines = (tmp_path / "rows.jsonl").read_text()
    assert MEASUREMENT.run(config) == found
    assert (tmp_path / "rows.jsonl").read_text() == lines
    assert {path.name for path in tmp_path.iterdir()} >= {"metrics.json", "table.md", "displacement.png"}


def test_unusable_settings_are_refused() -> None:
    with pytest.raises(InvalidConfiguration, match="expected views, found"):
        MEASUREMENT.run(DisplacementConfig(distances_mm=[5.0], views=["top"]))

"""The measurement in another simulator, where it is installed."""

from pathlib import Path

import pytest

from eval.foreign_simulators import FAULTS, MEASUREMENT, SimulatorConfig

pytest.importorskip("mujoco", reason="MuJoCo is not installed")


def test_faults_in_mujoco_are_noticed_and_mended(tmp_path: Path) -> None:
    found = MEASUREMENT.run(SimulatorConfig(episodes=len(FAULTS), workers=1, out=str(tmp_path)))
    overall = found["overall"]
    assert overall["false_alarms"]["value"] == 0.0
    assert overall["noticed"]["value"] == overall["named"]["value"] == overall["reached"]["value"] == 1.0
    assert overall["false_completion"]["value"] == 0.0

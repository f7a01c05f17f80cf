"""Both fidelities are compared on the same episodes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from nsrecover.errors import InvalidConfiguration
from sim.fidelity import compare

ROOT = Path(__file__).parents[2]


def test_error_free_demonstrations_end_in_the_same_state_sooner():
    metrics = compare(2, 5, objects=3).metrics()
    assert metrics["episodes"] == 2
    assert metrics["same_state"] == 1.0
    assert metrics["times_faster"] > 8
    assert 0 < metrics["distance_mm"]["median"] < 5


def test_the_command_writes_its_numbers(tmp_path):
    command = [sys.executable, "-m", "sim.fidelity", "episodes=1", "objects=3", f"out={tmp_path}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "same end state" in done.stdout
    metrics = json.loads((tmp_path / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["seed"] == 0
    assert set(metrics["action_s"]) == {"physics", "kinematic"}


def test_scenes_out_of_range_are_refused():
    with pytest.raises(InvalidConfiguration, match=r"scenes of 40 objects.*fewer objects"):
        compare(1, 0, objects=40)

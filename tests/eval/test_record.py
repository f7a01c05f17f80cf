"""`python -m eval.record`: the same scenario, exact or seen through a sensor, as a file that the library reads."""

from pathlib import Path

import numpy as np

from nsrecover.records.recording import load
from tests.commands import run


def test_a_recording_keeps_what_the_sensor_delivered(tmp_path: Path) -> None:
    for name, options in {"exact": [], "noisy": ["--sensor", "d435"], "again": ["--sensor", "d435"]}.items():
        done = run("eval.record", "helper", str(tmp_path / f"{name}.npz"), *options)
        assert done.code == 0, done.err
    exact, noisy = load(tmp_path / "exact.npz"), load(tmp_path / "noisy.npz")
    assert (tmp_path / "noisy.npz").read_bytes() == (tmp_path / "again.npz").read_bytes()
    assert "sensor" not in exact.notes
    assert noisy.notes["sensor"]["name"] == "d435"
    for one, other in zip(exact.observations, noisy.observations, strict=True):
        assert one.shared_ids
        assert not other.shared_ids
        difference = (one.depth_m - other.depth_m)[(one.depth_m > 0) & (other.depth_m > 0)]
        assert 0 < np.median(np.abs(difference)) < 0.005

"""Sensors are configuration: every file of conf/sensor is a preset, and a wrong value is named."""

from dataclasses import replace
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir

from conf.command import register
from nsrecover.errors import InvalidConfiguration
from sim.collect import CollectConfig
from sim.sensors.events import CameraEvent, EventKind
from sim.sensors.presets import presets, sensor, sensor_of
from sim.sensors.sensor import EXACT, Sensor

CONF = Path(__file__).parents[3] / "conf"


def configured(*overrides: str) -> Sensor:
    """The sensor of sim.collect with some settings."""
    register("collect", CollectConfig)
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return sensor_of(compose("collect", list(overrides))["sensor"])


def test_the_files_are_the_presets() -> None:
    assert {"clean", "d435", "tof", "stereo", "harsh"} <= set(presets())
    assert sensor() == EXACT
    assert sensor_of(None) == EXACT
    assert EXACT.exact
    assert [name for name in presets() if sensor(name).exact] == ["clean"]


def test_values_and_events_can_be_set() -> None:
    found = configured("sensor=d435", "sensor.masks.merged=0.1", "sensor.events=[{kind: frozen, view: 1, start: 3}]")
    preset = sensor("d435")
    assert found.masks == replace(preset.masks, merged=0.1)
    assert found.events == (CameraEvent(EventKind.FROZEN, start=3, view=1),)
    assert found.depth == preset.depth
    assert found == sensor("d435", [{"kind": "frozen", "view": 1, "start": 3}], masks={"merged": 0.1})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"masks": {"missing": 1.5}}, "missing of MaskErrors between 0 and 1, found 1.5"),
        ({"masks": {"ids_per_view": "sometimes"}}, "ids_per_view of MaskErrors as true or false, found 'sometimes'"),
        ({"depth": {"noise_m": "much"}}, "noise_m of DepthErrors as a number, found 'much'"),
        ({"depth": {"shadow": True}}, "baseline_m above 0"),
        ({"events": [{"kind": "frozen", "veiw": 1}]}, "Did you mean 'view'"),
        ({"events": [{"kind": "frozen", "start": 3, "end": 1}]}, "an end after the start"),
    ],
)
def test_a_value_out_of_range_is_named(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidConfiguration, match=message):
        sensor("clean", **changes)  # type: ignore[arg-type]


def test_what_is_no_sensor_is_refused() -> None:
    with pytest.raises(InvalidConfiguration, match="settings of a sensor"):
        sensor_of({"_target_": "sim.sensors.masks.MaskErrors"})
    with pytest.raises(InvalidConfiguration, match="views 0 to 1, found frozen of view 2"):
        sensor("clean", [{"kind": "frozen", "view": 2}]).stream(2, seed=0)

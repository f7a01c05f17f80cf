"""The sensors of `conf/sensor`, by name or as settings of a command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from nsrecover.errors import InvalidConfiguration, did_you_mean
from sim.common.groups import group_names, group_settings, instantiate_group
from sim.sensors.events import CameraEvent
from sim.sensors.sensor import EXACT, Sensor


def presets() -> list[str]:
    """Names of the sensors; `conf/sensor/NAME.yaml` has the values and their sources."""
    return group_names("sensor")


def sensor(name: str = "clean", events: Sequence[CameraEvent | Mapping[str, Any]] = (), **changes: Any) -> Sensor:
    """A preset with some values changed.

    Args:
        name: of the preset.
        events: what happens to single cameras, in addition to those of the preset.
        changes: groups (`depth`, `colour`, `masks`, `calibration`), each a mapping of the values that differ.

    Raises:
        InvalidConfiguration: there is no such preset, group or value, or a value is out of range.
    """
    preset = _preset(name)
    for group, values in changes.items():
        errors: Any = getattr(preset, group, None)
        known = list(getattr(errors, "__dataclass_fields__", ()))
        wrong = [key for key in values if key not in known]
        if not known or wrong:
            raise InvalidConfiguration(
                f"expected values of {group} among {', '.join(known)}, found {', '.join(wrong)}."
                f"{did_you_mean(wrong[0], known)}"
                if known
                else f"expected depth, colour, masks or calibration, found {group!r}"
            )
        changed: Any = {group: replace(errors, **values)}
        preset = replace(preset, **changed)
    every: Any = (*preset.events, *events)
    return replace(preset, events=every)


def sensor_of(settings: Any) -> Sensor:
    """The sensor that the group `sensor` of a command describes; one without errors if it is None.

    Raises:
        InvalidConfiguration: a value is out of range, or it describes something else.
    """
    if settings is None:
        return EXACT
    found = instantiate_group("sensor", settings)
    if not isinstance(found, Sensor):
        raise InvalidConfiguration(f"expected settings of a sensor, as sensor=d435, found {settings!r}")
    return found


@cache
def _preset(name: str) -> Sensor:
    return sensor_of(group_settings("sensor", name))

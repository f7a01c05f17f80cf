"""`python -m eval.displacement`: the smallest displacement that is detected behind each sensor."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from eval.common.runner import Measurement, Run, Settings
from eval.common.systems import system_of
from eval.displacement import tables
from eval.displacement.looks import looks_at
from nsrecover.errors import InvalidConfiguration
from sim.common.cameras import FRONT, LEFT, RIGHT
from sim.sensors.presets import sensor

CAMERAS = {view.name: view for view in (LEFT, RIGHT, FRONT)}


@dataclass
class DisplacementConfig(Settings):
    """Measure the smallest displacement that is detected behind each sensor, by the learned comparison and by distance.

      python -m eval.displacement                                  all presets; half an hour on 2 cores
      python -m eval.displacement 'sensors=[d435]' 'views=[front]' out=DIR      one sensor, one camera
      python -m eval.displacement scenes=20 seed=7 out=DIR         fewer, fresh scenes

    Attributes:
        scenes: number; those with even numbers set the tolerance, those with odd numbers are measured.
        objects: how many are on the table.
        distances_mm: displacements of one object, millimetres, each from the same start.
        repeats: verdicts on every scene with nothing displaced: for the rate of false alarms.
        looks: largest number of observations behind a verdict: an alarm of one is confirmed by others.
        rate: false alarms per verdict at the strictest setting.
        sensors: names of sensor presets.
        views: names of the cameras: left, right, front.
        checkpoint: folder; the shipped one if null.
    """

    scenes: int = 200
    objects: int = 5
    distances_mm: list[float] = field(
        default_factory=lambda: [4.0, 6.0, 8.0, 10.0, 12.0, 15.0, 18.0, 20.0, 22.0, 25.0, 30.0, 40.0, 60.0]
    )
    repeats: int = 4
    looks: int = 3
    rate: float = 0.01
    sensors: list[str] = field(default_factory=lambda: ["clean", "d435", "tof", "stereo", "harsh"])
    views: list[str] = field(default_factory=lambda: ["left", "right"])
    checkpoint: str | None = None
    out: str = "outputs/displacement"


def measure(config: DisplacementConfig, run: Run) -> dict[str, Any]:
    """Displace one object in every scene; return the rates of each sensor."""
    task = partial(
        looks_at,
        seed=config.seed,
        objects=config.objects,
        distances_mm=tuple(config.distances_mm),
        repeats=config.repeats,
        sensors=tuple(config.sensors),
        views=tuple(CAMERAS[name] for name in config.views),
        checkpoint=config.checkpoint,
        observations=config.looks,
    )
    every = [look for looks in run.each(task, range(config.scenes), "scene") for look in looks]
    found = {
        name: tables.summary([look for look in every if look.sensor == name], config.rate) for name in config.sensors
    }
    return {"seed": config.seed, "scenes": config.scenes, "rate": config.rate, "sensors": found}


def check(config: DisplacementConfig) -> None:
    """Refuse settings that cannot be used."""
    system_of(config.checkpoint)
    for name in config.sensors:
        sensor(name)
    unknown = [name for name in config.views if name not in CAMERAS]
    if unknown or not config.views:
        raise InvalidConfiguration(f"expected views among {', '.join(CAMERAS)}, found {list(config.views)}")
    if (
        config.scenes < 4
        or min(config.repeats, config.looks) < 1
        or not 0 < config.rate < 0.5
        or min(config.distances_mm, default=0) <= 0
    ):
        raise InvalidConfiguration(
            "expected at least 4 scenes, 1 repeat, 1 look, a rate between 0 and 0.5 and distances above 0, found "
            f"scenes={config.scenes}, repeats={config.repeats}, looks={config.looks}, rate={config.rate}, "
            f"distances_mm={list(config.distances_mm)}"
        )


MEASUREMENT = Measurement(
    DisplacementConfig, measure, tables.markdown, check=check, draw=tables.draw, adds=("scenes", "rate")
)

"""`python -m eval.checks.sensor_checks`: the sensor checks on good and on faulty first observations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from eval.checks.sensor_checks.mistakes import MISTAKES, Mistake
from eval.common.recordings import through
from eval.common.runner import Measurement, Run, Settings, run
from eval.common.statistics import grouped, share_of
from eval.common.tables import document, markdown_table, percent_of
from nsrecover.core.observation import Observation
from nsrecover.core.sensing import SensorFinding
from nsrecover.errors import InvalidConfiguration
from nsrecover.perception.cameras.checks import check_observation
from nsrecover.perception.cameras.watch import CameraWatch
from sim.common.cameras import FRONT, LEFT, RIGHT, CameraRig
from sim.sensors.presets import sensor
from sim.sensors.sensor import recorded
from sim.tabletop.sampling import sample_scene
from sim.tabletop.world import TabletopWorld

RIG = CameraRig(views=(LEFT, RIGHT, FRONT))

VIEWS = (("left",), ("right",), ("front",), ("left", "right"), ("left", "front"), ("left", "right", "front"))
"""Cameras of good observations, in turn."""

MOST_OBJECTS = 10

LOOKS = 3
"""An observation without a single mask is repeated so often, as the agent does."""


@dataclass
class SensorChecksConfig(Settings):
    """Measure the checks of first observations: how many good ones are refused, and how many faulty ones.

      python -m eval.checks.sensor_checks                          2000 good observations, 20 mistakes in 10 scenes
      python -m eval.checks.sensor_checks good=50 scenes=2         a quick look
      python -m eval.checks.sensor_checks seed=7 sensors=[harsh]   other scenes, one sensor

    The mistakes are of units, poses, cameras, depth and masks. A camera that is frozen from the start cannot be
    told from one observation of it alone; there the next observation, in which an object has been moved, decides.
    Writes metrics.json and table.md to out=DIR.

    Attributes:
        good: number of good first observations, with 1 to 10 objects and 1 to 3 cameras.
        scenes: number of scenes in which each of the 20 mistakes is made.
        sensors: sensors of the good observations.
    """

    good: int = 2000
    scenes: int = 10
    sensors: list[str] = field(default_factory=lambda: ["clean", "d435", "tof", "stereo", "harsh"])
    out: str = "outputs/sensor_checks"


@dataclass(frozen=True)
class Checked:
    """The checks of one first observation.

    Attributes:
        case: number of the mistake; -1 for a good observation.
        sensor: name of the preset.
        views: number of cameras.
        objects: number of objects.
        findings: codes of what was found at once.
        later: codes of what was found in the next observation.
        text: the first finding.
    """

    case: int
    sensor: str
    views: int
    objects: int
    findings: tuple[str, ...]
    later: tuple[str, ...] = ()
    text: str = ""


def check(config: SensorChecksConfig) -> None:
    """Check the numbers and names.

    Raises:
        InvalidConfiguration: there is nothing to check, or no such sensor.
    """
    if config.good < 1 or config.scenes < 1 or not config.sensors:
        raise InvalidConfiguration(
            f"expected good and scenes of at least 1 and a sensor, found {config.good}, {config.scenes} and "
            f"{config.sensors}"
        )
    for name in config.sensors:
        sensor(name)


def measure(config: SensorChecksConfig, run: Run) -> dict[str, Any]:
    """Check good and faulty observations of fresh scenes."""
    good = run.each(partial(_good, config=config), range(-(-config.good // len(config.sensors))), "good scene")
    faulty = run.each(partial(_faulty, seed=config.seed), range(config.scenes), "faulty scene")
    return {"seed": config.seed, **_metrics([row for rows in (*good, *faulty) for row in rows])}


def _observed(seed: int, number: int, objects: int, moments: int = 1) -> list[Observation]:
    """What all cameras see of a random scene exactly; at later moments its first object stands elsewhere."""
    scene = sample_scene(np.random.default_rng([seed, number]), objects, seed=number)
    with TabletopWorld(scene, rig=RIG) as world:
        seen = [world.observe()]
        for _ in range(moments - 1):
            name = scene.objects[0].name
            x, y, z = world.pose(name)[0]
            world.external_agent.carry(name, (x, -y if abs(y) > 0.05 else y + 0.15, z + 0.1))
            seen.append(world.observe())
    return seen


def _good(number: int, config: SensorChecksConfig) -> list[Checked]:
    """One scene through several sensors, with different cameras."""
    objects = 1 + number % MOST_OBJECTS
    (exact,) = _observed(config.seed, number, objects)
    rows = []
    for each, name in enumerate(config.sensors[: config.good - number * len(config.sensors)]):
        views = VIEWS[(number // MOST_OBJECTS + number + each) % len(VIEWS)]
        stream = sensor(name).stream(len(views), number)
        render = recorded(through(exact, views))
        for _ in range(LOOKS):
            seen = stream.observe(render)
            if (seen.instances > 0).any():
                break
        rows.append(_row(-1, name, seen, objects, check_observation(seen)))
    return rows


def _faulty(number: int, seed: int) -> list[Checked]:
    """One scene with every mistake."""
    objects = 3 + number % (MOST_OBJECTS - 2)
    first, second = _observed(seed, 10_000 + number, objects, moments=2)
    (other,) = _observed(seed, 20_000 + number, objects)
    return [_checked(case, mistake, objects, number, (first, second), other) for case, mistake in enumerate(MISTAKES)]


def _checked(
    case: int, mistake: Mistake, objects: int, seed: int, moments: tuple[Observation, ...], other: Observation
) -> Checked:
    events = () if mistake.event is None else (mistake.event,)
    stream = sensor(mistake.sensor, events=events).stream(len(mistake.views), seed)
    first, second = (stream.observe(recorded(through(exact, mistake.views))) for exact in moments)
    if mistake.stale:
        stale = sensor(mistake.sensor).stream(len(mistake.views), seed).observe(recorded(through(other, mistake.views)))
        for image, old in zip(_images(first), _images(stale), strict=True):
            image[-1] = old[-1]
    if mistake.change is not None:
        first, second = mistake.change(first), mistake.change(second)
    findings = check_observation(first)
    later = () if findings else CameraWatch.begin(first).look(second)[2]
    return _row(case, mistake.sensor, first, objects, findings, later)


def _images(seen: Observation) -> Iterator[np.ndarray]:
    return iter((seen.rgb, seen.depth_m, seen.instances))


def _row(
    case: int,
    name: str,
    seen: Observation,
    objects: int,
    findings: tuple[SensorFinding, ...],
    later: tuple[SensorFinding, ...] = (),
) -> Checked:
    codes, more = (tuple(each.problem.value for each in part) for part in (findings, later))
    return Checked(case, name, len(seen.cameras), objects, codes, more, next(map(str, (*findings, *later)), ""))


def _metrics(rows: list[Checked]) -> dict[str, Any]:
    good = [row for row in rows if row.case < 0]
    cases = list[dict[str, Any]]()
    for case, mistake in enumerate(MISTAKES):
        own = [row for row in rows if row.case == case]
        cases.append(
            {
                "mistake": mistake.name,
                "sensor": mistake.sensor,
                "cameras": len(mistake.views),
                "refused": share_of(bool(row.findings) for row in own),
                "refused_or_named": share_of(bool(row.findings or row.later) for row in own),
                "right_name": share_of(bool({*row.findings, *row.later} & set(mistake.expected)) for row in own),
                "example": next((row.text for row in own if row.text), ""),
            }
        )
    return {
        "good": {
            "refused": share_of(bool(row.findings) for row in good),
            "sensors": {
                name: share_of(bool(row.findings) for row in part)
                for name, part in grouped(good, lambda row: row.sensor).items()
            },
            "cameras": {
                str(views): share_of(bool(row.findings) for row in part)
                for views, part in sorted(grouped(good, lambda row: row.views).items())
            },
            "texts": sorted({f"{row.sensor}, {row.objects} objects: {row.text}" for row in good if row.findings}),
        },
        "faulty": {
            "cases": len(cases),
            "always_refused_or_named": sum(each["refused_or_named"]["value"] == 1.0 for each in cases),
            "each": cases,
        },
    }


def _table(metrics: dict[str, Any]) -> str:
    good, faulty = metrics["good"], metrics["faulty"]
    first = [["all", percent_of(good["refused"])]]
    first += [[f"sensor {name}", percent_of(found)] for name, found in good["sensors"].items()]
    first += [[f"{views} cameras", percent_of(found)] for views, found in good["cameras"].items()]
    second = [
        [
            each["mistake"], each["sensor"], each["cameras"], percent_of(each["refused"], 0),
            percent_of(each["refused_or_named"], 0), percent_of(each["right_name"], 0), each["example"],
        ]
        for each in faulty["each"]
    ]  # fmt: skip
    header = ["mistake", "sensor", "cameras", "refused", "refused or named", "under the right name", "example"]
    return document(
        "First observations and the sensor checks",
        markdown_table(["good observations", "refused"], first),
        markdown_table(header, second),
    )


MEASUREMENT = Measurement(SensorChecksConfig, measure, _table, check, checkpoint=None)

if __name__ == "__main__":
    run(MEASUREMENT)

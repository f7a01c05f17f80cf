"""`python -m eval.displacement`: the smallest displacement that is detected behind each sensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.spatial.transform import Rotation

from eval.common.statistics import share_of
from eval.common.systems import check_checkpoint, system_of
from eval.common.tables import Columns, columns_table, document, figure, percent_of, rate
from eval.run import Measurement, Run, Settings, run
from nsrecover.core.geometry import intersects, same_side_up
from nsrecover.core.observation import Observation
from nsrecover.core.scene import FloatArray, SceneGraph
from nsrecover.errors import InvalidConfiguration, require_known
from nsrecover.models.bundle import Bundle
from nsrecover.models.same_place import rigidly_moved
from nsrecover.monitoring.imagination import surely_itself
from sim.common.cameras import FRONT, LEFT, RIGHT, CameraRig, View
from sim.sensors.presets import sensor
from sim.sensors.sensor import recorded
from sim.tabletop.kinematic import Fidelity
from sim.tabletop.sampling import sample_scene
from sim.tabletop.world import TabletopWorld

TOLERANCES_M = tuple(np.geomspace(0.002, 0.1, 80).round(5).tolist())
"""Tolerances that are tried."""

LOOKS_AT_START = 5
"""Observations of the start until one shows every object."""


@dataclass(frozen=True)
class Look:
    """What the observations of a scene say together.

    Attributes:
        scene: number of the scene.
        sensor: name of the preset.
        distance_mm: true displacement of one object; 0 if nothing has moved.
        ours_mm: largest tolerance at which an object deviates; 0 if none deviates at any, infinite if one is gone.
        rule_mm: the same by the distance of an object from where it was.
    """

    scene: int
    sensor: str
    distance_mm: float
    ours_mm: float
    rule_mm: float


def looks_at(
    scene: int,
    seed: int,
    objects: int,
    distances_mm: Sequence[float],
    repeats: int,
    sensors: Sequence[str],
    views: Sequence[View],
    checkpoint: str | None,
    observations: int = 3,
) -> list[Look]:
    """All looks at one scene.

    Args:
        scene: its number.
        seed: of all scenes.
        objects: how many are on the table.
        distances_mm: displacements of one object, each from the same start.
        repeats: looks at the scene as it was.
        sensors: names of presets.
        views: the cameras.
        checkpoint: folder; the shipped one if None.
        observations: how many a verdict may need.
    """
    bundle = system_of(checkpoint).model.bundle
    images = _images(scene, seed, objects, distances_mm, views)
    looks = []
    for name in sensors:
        stream = sensor(name, masks={"ids_per_view": True}).stream(len(views), seed=seed + scene)
        perceiver = system_of(checkpoint).perceiver()
        known = set(images[0.0].labels.values())
        for _ in range(LOOKS_AT_START):
            start = perceiver.reset(stream.observe(recorded(images[0.0])))
            start = start.without(set(start.names) - known)
            if len(start) == objects and start.seen.all():
                break
        else:
            continue  # a scene in which an object is hidden
        for distance, exact in [(0.0, images[0.0])] * repeats + [(d, images[d]) for d in distances_mm if d in images]:
            seen = [perceiver.fork().step(stream.observe(recorded(exact)), start) for _ in range(observations)]
            ours, rule = zip(*(_tolerances(bundle, start, graph) for graph in seen), strict=True)
            looks.append(Look(scene, name, distance, confirmed(np.array(ours)), confirmed(np.array(rule))))
    return looks


def confirmed(tolerances_mm: FloatArray) -> float:
    """The largest tolerance at which a verdict is an alarm, mm.

    Args:
        tolerances_mm: (K, N) largest tolerance at which each of N objects deviates in each of K observations; NaN where
            it is not seen.
    """
    most = []
    for cast in tolerances_mm.T:
        votes = np.sort(cast[~np.isnan(cast)])[::-1]
        needed = max(len(votes) // 2 + 1, min(len(tolerances_mm), 2))
        most.append(votes[needed - 1] if needed <= len(votes) else 0.0)
    return float(min(max(most), np.nanmax(np.append(tolerances_mm[0], 0.0))))


def _images(
    scene: int, seed: int, objects: int, distances_mm: Sequence[float], views: Sequence[View]
) -> dict[float, Observation]:
    """Displacement, mm -> exact images of it; without those for which the table has no room."""
    rng = np.random.default_rng([seed, scene])
    with TabletopWorld(
        sample_scene(rng, objects, seed=scene), rig=CameraRig(tuple(views)), fidelity=Fidelity.KINEMATIC
    ) as world:
        poses = world.estimates()
        sides = np.abs(Rotation.from_quat(poses.orientations).as_matrix()) @ poses.sizes[..., None]
        boxes = np.concatenate([poses.positions, sides[..., 0]], axis=1)
        moved = int(rng.integers(objects))
        place, attitude = world.pose(poses.names[moved])
        angle = rng.uniform(0, 2 * np.pi)
        images = {0.0: world.observe()}
        for distance in distances_mm:
            offset = distance / 1000 * np.array([np.cos(angle), np.sin(angle), 0.0])
            there = boxes[moved] + np.append(offset, np.zeros(3))
            if intersects(there, np.delete(boxes, moved, axis=0), slack_m=0.0).any():
                continue
            world.put(poses.names[moved], place + offset, attitude)
            images[float(distance)] = world.observe()
    return images


def _tolerances(bundle: Bundle, start: SceneGraph, seen: SceneGraph) -> tuple[FloatArray, FloatArray]:
    """Largest tolerance at which each object deviates in one observation, mm (N,): the learned one, and distance.

    The learned one is that of `nsrecover.monitoring.imagination.as_expected`, for all tolerances in one pass.
    """
    now = seen.without(set(seen.names) - set(start.names))
    times = (len(TOLERANCES_M), 1)
    before, after = np.tile(start.boxes, times), np.tile(rigidly_moved(start.boxes, now.boxes), times)
    tried = np.repeat(TOLERANCES_M, len(now))
    own = np.where(surely_itself(bundle, start, now)[:, None], now.visual, start.visual)
    same = np.maximum(
        *(
            bundle.same(np.tile(looks, times), before, np.tile(now.visual, times), after, tried).reshape(times[0], -1)
            for looks in (start.visual, own)
        )
    )
    deviates = np.minimum(same, same_side_up(start.boxes, now.boxes)) < bundle.threshold
    ours = 1000 * (deviates * np.array(TOLERANCES_M)[:, None]).max(axis=0)
    rule = 1000 * np.linalg.norm(now.boxes[:, :3] - start.boxes[:, :3], axis=1)
    for found in (ours, rule):
        found[~now.seen] = np.nan
        found[now.missing] = np.inf
    return ours, rule


# -- detection against displacement: shares, the displacement detected with 95 % probability, table and figure


RULE_MM = 20.0
"""Distance of the simple rule."""

BETWEEN_MM = (15.0, 30.0)
"""Displacements over which the methods are compared."""


def summary(looks: Sequence[Look], rate: float) -> dict[str, Any]:
    """Metrics of one sensor.

    Scenes with even numbers set the tolerances that keep the rate of false alarms; those with odd numbers are measured.

    Args:
        looks: of all scenes.
        rate: false alarms per look.
    """
    setting, measured = ([look for look in looks if look.scene % 2 == half] for half in (0, 1))
    strict = {name: _kept(setting, name, rate) for name in ("ours", "rule")}
    of_rule = float(np.mean([_value(look, "rule") > RULE_MM for look in setting if look.distance_mm == 0]))
    equal = {"ours": _kept(setting, "ours", of_rule), "rule": RULE_MM}
    return {
        "default": _at(measured, {"ours": RULE_MM, "rule": RULE_MM}),
        "strict": _at(measured, strict),
        "equal": _at(measured, equal),
    }


def _at(looks: Sequence[Look], tolerances_mm: Mapping[str, float]) -> dict[str, Any]:
    """Rates of both methods at their tolerances."""
    return {name: _rates(looks, name, tolerance) for name, tolerance in tolerances_mm.items()}


def _rates(looks: Sequence[Look], name: str, tolerance_mm: float) -> dict[str, Any]:
    distances = sorted({look.distance_mm for look in looks})
    detected = {
        distance: share_of(_value(look, name) > tolerance_mm for look in looks if look.distance_mm == distance)
        for distance in distances
    }
    low, high = BETWEEN_MM
    return {
        "tolerance_mm": round(tolerance_mm, 2),
        "false_alarms": detected.pop(0.0),
        "detected": {f"{distance:g}": found for distance, found in detected.items()},
        "detected_15_to_30_mm": share_of(
            _value(look, name) > tolerance_mm for look in looks if low <= look.distance_mm <= high
        ),
        "d95_mm": _reaches({distance: found["value"] for distance, found in detected.items()}, 0.95),
    }


def _value(look: Look, name: str) -> float:
    """Smallest tolerance at which a look gives no alarm, mm."""
    return look.ours_mm if name == "ours" else look.rule_mm


def _kept(looks: Sequence[Look], name: str, rate: float) -> float:
    """Smallest tolerance at which no more than a share of the looks at unchanged scenes is an alarm, mm."""
    values = np.sort([_value(look, name) for look in looks if look.distance_mm == 0])
    return float(values[min(int(np.ceil((1 - rate) * (len(values) + 1))), len(values)) - 1])


def _reaches(shares: Mapping[float, float], level: float) -> float | None:
    """Displacement from which on a share is detected, mm, interpolated; None if it is not reached."""
    distances = sorted(shares)
    for before, here in zip([None, *distances[:-1]], distances, strict=True):
        if all(shares[later] >= level for later in distances[distances.index(here) :]):
            if before is None:
                return round(here, 1)
            part = (level - shares[before]) / max(shares[here] - shares[before], 1e-9)
            return round(before + float(np.clip(part, 0.0, 1.0)) * (here - before), 1)
    return None


COLUMNS: Columns = (
    ("tolerance, mm", figure("tolerance_mm")),
    ("false alarms", rate("false_alarms")),
    ("25 mm detected", lambda found: percent_of(found["detected"]["25"], 1) if "25" in found["detected"] else "-"),
    ("15 to 30 mm detected", rate("detected_15_to_30_mm")),
    ("detected with 95 %, mm", figure("d95_mm", none="not reached")),
)


def markdown(metrics: Mapping[str, Any]) -> str:
    """The table of all sensors."""
    settings = {
        "default": f"{RULE_MM:g} mm",
        "strict": f"strictest with {100 * metrics['rate']:g} % false alarms",
        "equal": f"false alarms of the {RULE_MM:g} mm rule",
    }
    names = {"ours": "learned comparison", "rule": "distance"}
    rows = {
        (name, settings[setting], names[method]): found
        for name, summed in metrics["sensors"].items()
        for setting, methods in summed.items()
        for method, found in methods.items()
    }
    table = columns_table(["sensor", "setting", "method"], rows, COLUMNS)
    return document("The smallest displacement that is detected", table)


def draw(metrics: Mapping[str, Any], folder: Path) -> None:
    """Curves of the share detected at the strictest setting, of both methods: displacement.png."""
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axis = figure.subplots()
    for colour, (name, summed) in enumerate(metrics["sensors"].items()):
        for method, line in (("ours", "-"), ("rule", ":")):
            found = summed["strict"][method]["detected"]
            label = f"{name}, {'learned' if method == 'ours' else 'distance'}"
            shares = [100 * each["value"] for each in found.values()]
            axis.plot([float(key) for key in found], shares, line, color=f"C{colour}", label=label)
    axis.axhline(95, color="0.7", linewidth=0.8)
    axis.set(xlabel="displacement, mm", ylabel="detected, %")
    axis.grid(alpha=0.3)
    axis.legend(fontsize=8)
    figure.savefig(folder / "displacement.png", dpi=120)


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
    found = {name: summary([look for look in every if look.sensor == name], config.rate) for name in config.sensors}
    return {"seed": config.seed, "scenes": config.scenes, "rate": config.rate, "sensors": found}


def check(config: DisplacementConfig) -> None:
    """Refuse a checkpoint, sensors, cameras and a rate that cannot be used."""
    check_checkpoint(config)
    for name in config.sensors:
        sensor(name)
    for name in config.views or [""]:
        require_known(name, CAMERAS, "views")
    if not 0 < config.rate < 0.5:
        raise InvalidConfiguration(f"expected a rate between 0 and 0.5, found rate={config.rate}")


LEAST = {"scenes": 4, "repeats": 1, "looks": 1, "distances_mm": 1e-3}
MEASUREMENT = Measurement(
    DisplacementConfig, measure, markdown, check=check, least=LEAST, draw=draw, adds=("scenes", "rate")
)

if __name__ == "__main__":
    run(MEASUREMENT)

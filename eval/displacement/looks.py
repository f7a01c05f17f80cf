"""Scenes in which one object is displaced by a known distance, and what it takes to notice it.

A verdict is made as by `nsrecover.Monitor.confirm`: one observation without a deviation is believed; otherwise an
object deviates if most of the observations that show it say so, and two at least.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from eval.common.systems import system_of
from nsrecover.core.geometry import intersects, same_side_up
from nsrecover.core.observation import Observation
from nsrecover.core.scene import FloatArray, SceneGraph
from nsrecover.models.bundle import Bundle
from nsrecover.models.same_place import rigidly_moved
from nsrecover.monitoring.boxes.imagination import surely_itself
from sim.common.cameras import CameraRig, View
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
    bundle = system_of(checkpoint).bundle
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

    The learned one is that of `nsrecover.monitoring.boxes.imagination.as_expected`, for all tolerances in one pass.
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

"""Pictures of a successful run, for detectors that compare pictures: taken once, kept by content.

An unerring hand carries the same plan out, with an arm in the picture. In a `TWIN` the scene and the light are those of
the episode, to the last digit: more than anybody has outside a simulator. In a run `ANOTHER_DAY` the same objects were
laid out by hand, a few millimetres off, in another light.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

import numpy as np
import pybullet

from eval.common.recordings import RIG
from nsrecover.core.observation import Observation
from nsrecover.errors import InvalidConfiguration
from nsrecover.records.archive import Archive, write_archive
from nsrecover.records.recording import Recording
from sim.common.cameras import CameraRig
from sim.datasets.spec import ErrorEpisode
from sim.tabletop.kinematic import Fidelity
from sim.tabletop.scene_mix import LightMix
from sim.tabletop.scenes import SceneSpec
from sim.tabletop.world import TabletopWorld

LAID_OUT_M = 0.003
"""Standard deviation of where somebody puts an object that is to stand where it stood before, along each axis."""


class ReferenceRun(StrEnum):
    """How much a successful run is like the one that is watched."""

    TWIN = "twin"
    ANOTHER_DAY = "another_day"


References = Mapping[ReferenceRun, Observation]
"""The same moment in successful runs."""


def record_references(episode: ErrorEpisode, folder: Path, views: Sequence[str]) -> list[References]:
    """What successful runs of an episode's plan look like.

    Args:
        episode: which.
        folder: where the pictures are kept.
        views: names of the cameras.

    Returns:
        The references before the first action and after each.
    """
    every = {run: _film(*_setup(episode, run), episode, folder, views) for run in ReferenceRun}
    return [{run: every[run][step] for run in ReferenceRun} for step in range(len(episode.plan) + 1)]


def _setup(episode: ErrorEpisode, run: ReferenceRun) -> tuple[SceneSpec, CameraRig]:
    if run is ReferenceRun.TWIN:
        return episode.scene, replace(RIG, light=episode.light)
    rng = np.random.default_rng([episode.seed, 1])
    light = LightMix().sample(rng)
    return laid_out_again(episode.scene, rng), replace(RIG, light=light)


def laid_out_again(scene: SceneSpec, rng: np.random.Generator) -> SceneSpec:
    """The same scene, its objects a little elsewhere; less so where they would not fit."""
    shifts = rng.normal(0.0, LAID_OUT_M, (len(scene.objects), 2))
    while True:
        objects = tuple(
            replace(item, position=(item.position[0] + float(dx), item.position[1] + float(dy)))
            for item, (dx, dy) in zip(scene.objects, shifts, strict=True)
        )
        again = replace(scene, objects=objects)
        try:
            again.check()
        except InvalidConfiguration:
            shifts = shifts / 2
            continue
        return again


def _film(
    scene: SceneSpec, rig: CameraRig, episode: ErrorEpisode, folder: Path, views: Sequence[str]
) -> tuple[Observation, ...]:
    rig = replace(rig, views=tuple(view for view in rig.views if view.name in views))
    key = f"reference {scene.to_dict()} {episode.plan.actions} {rig}"
    path = folder / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.h5"
    if not path.is_file():
        with ExitStack() as stack:
            hand = stack.enter_context(TabletopWorld(scene, fidelity=Fidelity.KINEMATIC))
            stage = stack.enter_context(TabletopWorld(scene, rig=rig))
            pictures = [_picture(stage, hand)]
            for action in episode.plan:
                hand.execute(action)
                pictures.append(_picture(stage, hand))
        write_archive(path, [Recording(episode.plan, tuple(pictures))])
    with Archive(path) as archive:
        return archive[0].observations


def _picture(stage: TabletopWorld, hand: TabletopWorld) -> Observation:
    """The scene of one world in another one, which has an arm."""
    for item in stage.scene.objects:
        position, orientation = hand.pose(item.name)
        pybullet.resetBasePositionAndOrientation(
            stage.body(item.name), position.tolist(), orientation.tolist(), physicsClientId=stage.client
        )
    return stage.observe()

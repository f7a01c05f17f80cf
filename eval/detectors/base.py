"""Interface of failure detectors: a similarity of expected and observed scenes, with alarm thresholds."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pybullet

from eval.common.recordings import RIG
from nsrecover.core import Observation, SceneGraph, Trace
from nsrecover.errors import InvalidConfiguration
from nsrecover.records.archive import Archive, write_archive
from nsrecover.records.recording import Recording
from sim.common.cameras import CameraRig
from sim.datasets.spec import ErrorEpisode
from sim.sensors.sensor import EXACT, Sensor, recorded
from sim.tabletop.kinematic import Fidelity
from sim.tabletop.scene_mix import LightMix
from sim.tabletop.scenes import SceneSpec
from sim.tabletop.world import TabletopWorld

LAID_OUT_M = 0.003
"""Standard deviation along each axis of a person's placement at a given place."""


class ReferenceRun(StrEnum):
    """Similarity of a successful run to the monitored one."""

    TWIN = "twin"
    ANOTHER_DAY = "another_day"


References = Mapping[ReferenceRun, Observation]
"""The same moment in each successful run."""


def record_references(
    episode: ErrorEpisode, folder: Path, views: Sequence[str], sensor: Sensor = EXACT
) -> list[References]:
    """Return the images of successful runs of an episode's plan.

    Args:
        episode: of an error dataset.
        folder: of the stored images.
        views: names of the cameras.
        sensor: that the runs are seen through, without its events; other errors in each run.

    Returns:
        The references before the first action and after each action.
    """
    every = {
        run: _sensed(_render(*_setup(episode, run), episode, folder, views), sensor, episode.seed, number)
        for number, run in enumerate(ReferenceRun)
    }
    return [{run: every[run][step] for run in ReferenceRun} for step in range(len(episode.plan) + 1)]


def _sensed(exact: Sequence[Observation], sensor: Sensor, seed: int, run: int) -> Sequence[Observation]:
    if sensor.exact:
        return exact
    own = int(np.random.SeedSequence([seed], spawn_key=(run + 1,)).generate_state(1)[0])
    stream = replace(sensor, events=()).stream(len(exact[0].cameras), own)
    return [stream.observe(recorded(observation)) for observation in exact]


def _setup(episode: ErrorEpisode, run: ReferenceRun) -> tuple[SceneSpec, CameraRig]:
    if run is ReferenceRun.TWIN:
        return episode.scene, replace(RIG, light=episode.light)
    rng = np.random.default_rng([episode.seed, 1])
    light = LightMix().sample(rng)
    return laid_out_again(episode.scene, rng), replace(RIG, light=light)


def laid_out_again(scene: SceneSpec, rng: np.random.Generator) -> SceneSpec:
    """Return the scene with slightly displaced objects; less displaced if they would collide."""
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


def _render(
    scene: SceneSpec, rig: CameraRig, episode: ErrorEpisode, folder: Path, views: Sequence[str]
) -> tuple[Observation, ...]:
    rig = replace(rig, views=tuple(view for view in rig.views if view.name in views))
    key = f"reference {scene.to_dict()} {episode.plan.actions} {rig}"
    path = folder / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.h5"
    if not path.is_file():
        with ExitStack() as stack:
            executor = stack.enter_context(TabletopWorld(scene, fidelity=Fidelity.KINEMATIC))
            rendered = stack.enter_context(TabletopWorld(scene, rig=rig))
            pictures = [_picture(rendered, executor)]
            for action in episode.plan:
                executor.execute(action)
                pictures.append(_picture(rendered, executor))
        write_archive(path, [Recording(episode.plan, tuple(pictures))])
    with Archive(path, trusted=True) as archive:
        return archive[0].observations


def _picture(rendered: TabletopWorld, executor: TabletopWorld) -> Observation:
    """Return the state of one world rendered in another one, which has an arm."""
    for item in rendered.scene.objects:
        position, orientation = executor.pose(item.name)
        pybullet.resetBasePositionAndOrientation(
            rendered.body(item.name), position.tolist(), orientation.tolist(), physicsClientId=rendered.client
        )
    return rendered.observe()


@dataclass(frozen=True, eq=False)
class Moment:
    """Scene after an action, and before the next one.

    Attributes:
        step: number of the action, from 0.
        expected: the imagined scene.
        trace: the imagined plan, with objects that have appeared since.
        seen: the perceived scene.
        observation: the images.
    """

    step: int
    expected: SceneGraph
    trace: Trace
    seen: SceneGraph
    observation: Observation


class Detector(Protocol):
    """Comparison of a scene with its expectation."""

    @property
    def thresholds(self) -> tuple[float, ...]:
        """Scores below which the detector alarms, as its authors use it."""
        ...

    def score(self, moment: Moment, references: References) -> float:
        """Similarity of a moment with the expectation; low scores are suspicious.

        Args:
            moment: expected and perceived scene graph, the same for every detector, and the observation.
            references: the same moment in successful runs, for detectors that compare images.
        """
        ...


def part(graph: SceneGraph, rows: npt.NDArray[np.intp]) -> SceneGraph:
    """Return a scene graph with some of its objects."""
    return replace(graph.chosen([graph.names[row] for row in rows]), held=None)

"""`python -m train.motions`: what happens while an action runs, learned from successful demonstrations."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

import nsrecover
from conf.command import run
from nsrecover.core.glances import Glance
from nsrecover.core.sessions.requests import Act, Look
from nsrecover.errors import InvalidObservation
from nsrecover.models.motion import FILE, PHASES, fit_motions
from nsrecover.perception.objects.glances import ActionGlances
from nsrecover.session import AnySession
from nsrecover.util.atomic_write import atomic_write_bytes
from sim.common.parallel import run_parallel
from sim.sensors.presets import sensor
from sim.tabletop.demonstrations import DemonstrationMix, specify
from sim.tabletop.watched import WatchedWorld
from sim.tabletop.world import TabletopWorld


@dataclass
class MotionsConfig:
    """Learn what happens while an action runs, so that it can be interrupted when it goes wrong.

      python -m train.motions                                  the shipped model, again
      python -m train.motions checkpoint=DIR sensor=tof        for another checkpoint and sensor

    Actions of successful demonstrations are simulated and watched at a rate. Two thirds of the episodes give the phases
    and their limits, the others the threshold. Episodes that are done are not simulated again.

    Attributes:
        checkpoint: folder of the checkpoint that sees the scenes between the actions; it gets the file.
        episodes: number of demonstrations.
        seed: another seed gives other demonstrations.
        sensor: sensor of the cameras, see conf/sensor.
        rate_hz: frames a second.
        alpha: share of good actions that may be interrupted.
        phases: number of phases.
        workers: number of processes.
        out: folder for what was seen.
    """

    checkpoint: str = "nsrecover/checkpoints/tabletop_sensors"
    episodes: int = 120
    seed: int = 5301
    sensor: str = "d435"
    rate_hz: float = 5.0
    alpha: float = 0.01
    phases: int = PHASES
    workers: int = 2
    out: str = "data/motions"


def learn(config: MotionsConfig) -> tuple[int, int, float]:
    """Simulate, learn, calibrate and write the model.

    Returns:
        Number of actions for phases and limits and for the threshold, and the threshold.
    """
    out = Path(config.out)
    out.mkdir(parents=True, exist_ok=True)
    task = partial(_watched, config=config)
    with closing(run_parallel(task, list(range(config.episodes)), config.workers)) as seen:
        episodes = list(tqdm(seen, total=config.episodes, unit="episode", desc="watching"))
    first = config.episodes * 2 // 3
    training, calibration = (
        [action for episode in part for action in episode] for part in (episodes[:first], episodes[first:])
    )
    model = fit_motions(training, config.phases).calibrated(calibration, config.alpha)
    model.save(config.checkpoint)
    return len(training), len(calibration), model.threshold


def watch_action(session: AnySession, world: WatchedWorld) -> list[Glance]:
    """Carry out the action that a session asks for, and return what was seen meanwhile."""
    monitor, request = session.monitor, session.request
    assert isinstance(request, Act)
    expected, since = monitor.trace.graphs[monitor.num_executed + 1], world.tabletop.time_s
    looking, frames = ActionGlances(monitor.graph, expected, request.action.arguments[0], since), list[Glance]()

    def keep(observation: nsrecover.Observation, robot: nsrecover.RobotState) -> bool:
        frames.append(looking.look(observation, robot))
        return True

    world.execute_watched(request.action, keep)
    return frames


def _watched(episode: int, config: MotionsConfig) -> list[list[Glance]]:
    """The actions of a demonstration that end as expected."""
    path = Path(config.out) / f"{config.sensor}_{config.rate_hz:g}_{config.seed}_{episode:06d}.json"
    if not path.is_file():
        actions = [[_plain(frame) for frame in frames] for frames in _simulated(episode, config)]
        atomic_write_bytes(path, json.dumps(actions).encode())
    stored = json.loads(path.read_text(encoding="utf-8"))
    return [[_glance(frame) for frame in frames] for frames in stored]


def _simulated(episode: int, config: MotionsConfig) -> Iterator[list[Glance]]:
    spec = specify(DemonstrationMix(), config.seed, episode)
    system = nsrecover.load(config.checkpoint)
    with TabletopWorld(spec.scene, rig=spec.rig) as tabletop:
        stream = sensor(config.sensor).stream(len(spec.rig.views), config.seed + episode)
        world = WatchedWorld(tabletop, stream, config.rate_hz)
        try:
            session = system.session(spec.plan, world.observe())
        except InvalidObservation:  # an object of the plan is not seen at first
            return
        while isinstance(session.request, Act | Look):
            frames = watch_action(session, world) if isinstance(session.request, Act) else []
            session.observed(world.observe())
            while frames and isinstance(session.request, Look):
                session.observed(world.observe())
            if any(record.recovery is not None for record in session.records):
                return
            if frames:
                yield frames


def _plain(glance: Glance) -> dict[str, object]:
    values = vars(glance)
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}


def _glance(data: Mapping[str, Any]) -> Glance:
    return Glance(
        **{name: np.asarray(value, float) if isinstance(value, list) else value for name, value in data.items()}
    )


def main(config: MotionsConfig) -> None:
    """Learn, and print what was learned."""
    training, calibration, threshold = learn(config)
    print(
        f"{training} actions for phases and limits, {calibration} for the threshold {threshold:.2f}; written to "
        f"{Path(config.checkpoint) / FILE}"
    )


if __name__ == "__main__":
    run("motions", MotionsConfig, main)

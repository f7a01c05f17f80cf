"""`python -m sim.glances`: successful demonstrations, watched while their actions run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import nsrecover
from conf.command import run
from nsrecover.core.glances import Glance
from nsrecover.core.sessions.requests import Act, Look
from nsrecover.errors import InvalidObservation, UnknownObject
from nsrecover.perception.objects.glances import ActionGlances
from nsrecover.session import AnySession
from sim.common.watched_episodes import watch_episodes
from sim.sensors.presets import sensor
from sim.tabletop.demonstrations import DemonstrationMix, specify
from sim.tabletop.watched import WatchedWorld
from sim.tabletop.world import TabletopWorld


@dataclass
class GlancesConfig:
    """Simulate successful demonstrations, and keep what is seen while their actions run, for python -m train.motions.

      python -m sim.glances                          40 demonstrations behind d435; 10 minutes on 2 cores
      python -m sim.glances sensor=tof out=DIR       behind another sensor

    A demonstration counts until something in it deviates. What is there already is not simulated again.

    Attributes:
        episodes: number of demonstrations.
        seed: another seed gives other demonstrations.
        sensor: sensor of the cameras, see conf/sensor.
        rate_hz: frames a second.
        checkpoint: sees the scenes between the actions; the shipped one if null.
        workers: number of processes.
        out: output folder.
    """

    episodes: int = 40
    seed: int = 5301
    sensor: str = "d435"
    rate_hz: float = 10.0
    checkpoint: str | None = None
    workers: int = 2
    out: str = "data/glances"


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


def simulated(episode: int, config: GlancesConfig) -> list[list[dict[str, object]]]:
    """The frames of the actions of a demonstration."""
    return [[frame.to_dict() for frame in frames] for frames in _simulated(episode, config)]


def _simulated(episode: int, config: GlancesConfig) -> Iterator[list[Glance]]:
    spec = specify(DemonstrationMix(), config.seed, episode)
    system = nsrecover.load(config.checkpoint)
    with TabletopWorld(spec.scene, rig=spec.rig) as tabletop:
        stream = sensor(config.sensor).stream(len(spec.rig.views), config.seed + episode)
        world = WatchedWorld(tabletop, stream, config.rate_hz)
        try:
            session = system.session(spec.plan, world.observe())
        except (InvalidObservation, UnknownObject):  # an object of the plan is not seen at first
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


def main(config: GlancesConfig) -> None:
    """Simulate, and print how many actions there are."""
    preset = sensor(config.sensor)
    actions = watch_episodes(partial(simulated, config=config), config)
    print(f"{actions} actions behind {preset.name} in {config.out}")


if __name__ == "__main__":
    run("glances", GlancesConfig, main)

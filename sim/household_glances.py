"""`python -m sim.household_glances`: successful tasks of a household, watched while their actions run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from conf.command import run
from nsrecover.core import Action, Observation
from nsrecover.core.glances import RobotState
from nsrecover.core.sessions.requests import Act, Look
from nsrecover.domains.household import LASTING
from nsrecover.loading import HouseholdSystem
from nsrecover.models.household import HouseholdModels
from nsrecover.monitoring.fact_frames import ConditionModel, FactFrames, Frame
from sim.common.watched_episodes import watch_episodes
from sim.datasets.household.truth import goal_of
from sim.kitchen.scenes import TRAINING_LAYOUTS
from sim.kitchen.sounding import LISTENS_STEPS, microphone_in
from sim.kitchen.task_list import TASKS
from sim.kitchen.tasks import draw_task
from sim.kitchen.world import KitchenWorld
from sim.sensors.presets import sensor
from sim.sensors.watched import watch


@dataclass
class HouseholdGlancesConfig:
    """Simulate successful tasks of a household, and keep what looks wrong while their actions run.

      python -m sim.household_glances                          18 tasks behind d435; 12 minutes on 2 cores
      python -m sim.household_glances sensor=tof out=DIR       behind another sensor

    It is for python -m train.patience. A task counts until an action fails or something deviates. What is there
    already is not simulated again.

    Attributes:
        episodes: number of tasks, in layouts that training may see.
        seed: another seed gives other tasks.
        sensor: sensor of the cameras, see conf/sensor.
        rate_hz: frames a second.
        checkpoint: household checkpoint that sees the scenes.
        workers: number of processes.
        out: output folder.
    """

    episodes: int = 18
    seed: int = 5101
    sensor: str = "d435"
    rate_hz: float = 5.0
    checkpoint: str = "household"
    workers: int = 2
    out: str = "data/household_glances"


def simulated(episode: int, config: HouseholdGlancesConfig) -> list[list[tuple[float, list[tuple[str, str, float]]]]]:
    """How the frames of the good actions of a task weigh."""
    return [
        [(now_s, [(*key, round(weight, 3)) for key, weight in sorted(weights.items())]) for now_s, weights in frames]
        for frames in _simulated(episode, config)
    ]


def _keeper(judging: FactFrames, frames: list[Frame]) -> Callable[[Observation, RobotState], bool]:
    """Keeps how each frame weighs, and never interrupts."""

    def keep(seen: Observation, robot: RobotState) -> bool:
        frames.append((round(seen.time_s, 3), judging.weights(seen, robot)))
        return True

    return keep


def _simulated(episode: int, config: HouseholdGlancesConfig) -> Iterator[list[Frame]]:
    rng = np.random.default_rng([config.seed, episode])
    codes = [task.code for task in TASKS.values()]
    spec = draw_task(codes[episode % len(codes)], int(rng.integers(2**31)), int(rng.choice(TRAINING_LAYOUTS)))
    system = HouseholdSystem(HouseholdModels.load(config.checkpoint)).system(
        replace(spec.home, domain=LASTING), goal_of(spec), assumed=spec.start
    )
    hears = microphone_in(spec.kitchen, seed=spec.seed)
    with KitchenWorld(spec.kitchen, plan=spec.plan, microphone=hears) as world:
        stream = sensor(config.sensor).stream(len(world.rig.views), spec.seed)

        def observe() -> Observation:
            world.cell.settle(LISTENS_STEPS)
            return stream.observe(world.observe_from)

        session = system.session(spec.plan, observe())
        while not any(record.recovery is not None for record in session.records):
            match session.request:
                case Act(action):
                    frames = list[Frame]()
                    judging = ConditionModel().frames(session.monitor, action, world.time_s)
                    watch(world, action, stream, config.rate_hz, _keeper(judging, frames))
                    if world.failures[-1]:
                        return
                    yield frames
                case Look(names):
                    if (place := next((name for name in names if name in world.cell.fixtures), None)) is not None:
                        world.execute(Action("look_at", (place,)))
                case _:
                    return
            session.observed(observe())


def main(config: HouseholdGlancesConfig) -> None:
    """Simulate, and print how many actions there are."""
    preset = sensor(config.sensor)
    actions = watch_episodes(partial(simulated, config=config), config)
    print(f"{actions} good actions behind {preset.name} in {config.out}")


if __name__ == "__main__":
    run("household_glances", HouseholdGlancesConfig, main)

"""An episode of the simulated tabletop for the live page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from eval.checks.live.faults import FaultyWorld
from sim.common.cameras import DEFAULT_RIG
from sim.sensors.sensor import Sensor
from sim.sensors.world import SensedWorld
from sim.sound.microphone import Microphone
from sim.tabletop.scenarios import Scenario
from sim.tabletop.world import TabletopWorld


@contextmanager
def table(scenario: Scenario, sensor: Sensor, faults: bool = True, sound: bool = True) -> Iterator[FaultyWorld]:
    """A simulated scenario of the demo, in which further faults can be made to strike.

    Args:
        scenario: its scene, plan and faults.
        sensor: through which the robot sees.
        faults: whether the faults of the scenario strike.
        sound: whether there is a microphone.
    """
    rig = replace(DEFAULT_RIG, light=scenario.light)
    microphone = Microphone(seed=scenario.seed) if sound else None
    striking = scenario.faults if faults else ()
    with TabletopWorld(scenario.scene, striking, rig, scenario.plan, scenario.seed, microphone=microphone) as world:
        sensed = SensedWorld(world, sensor.stream(len(rig.views), scenario.seed))
        yield FaultyWorld(world, sensed, scenario.plan, scenario.seed)

"""An episode of the simulated tabletop for the live page."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from nsrecover.core import Action, Observation, Plan, World
from nsrecover.errors import InvalidConfiguration, did_you_mean, require_known
from nsrecover.util.english import the
from sim.common.cameras import DEFAULT_RIG
from sim.common.rotations import quaternion_of
from sim.sensors.sensor import Sensor
from sim.sensors.world import SensedWorld
from sim.sound.microphone import Microphone
from sim.tabletop.faults import FAULTS, Fault, Moment
from sim.tabletop.placing import place_for
from sim.tabletop.scenarios import Scenario
from sim.tabletop.world import TabletopWorld

TRIES = 50
"""Faults that are drawn until one acts on the object that was asked for."""


@dataclass(frozen=True)
class Wanted:
    """A fault that was asked for.

    Attributes:
        kind: name of the fault.
        name: the object that it is to act on; empty for any.
    """

    kind: str
    name: str


class FaultyWorld:
    """A world in which faults strike when they are asked for; an `nsrecover.serving.live.Injector`.

    A fault strikes at the next action. One that acts after an action and is asked for during one strikes at the end of
    that action. Its parameters are drawn as for the data sets. If the moment offers no object for it, it waits.

    Args:
        world: the simulator.
        sensed: the same world as the robot sees it.
        plan: the plan, for faults that depend on later actions.
        seed: of the faults' parameters.
    """

    def __init__(self, world: TabletopWorld, sensed: World[Observation], plan: Plan, seed: int) -> None:
        self._world, self._sensed, self._plan = world, sensed, plan
        self._rng = np.random.default_rng(seed)
        self._wanted: list[Wanted] = []
        self._lock = threading.Lock()
        self.struck: list[Fault] = []
        """Faults that struck, in their order."""

    @property
    def faults(self) -> Mapping[str, str]:
        """Name of each fault -> what it does."""
        first = {kind: (inspect.getdoc(fault) or "").partition("\n")[0] for kind, fault in FAULTS.items()}
        return {kind: f"{kind.replace('_', ' ')}: {text}" for kind, text in first.items()}

    @property
    def objects(self) -> Sequence[str]:
        """The objects on the table."""
        return tuple(self._world.scene.names)

    def inject(self, fault: str, name: str) -> str:
        """Let a fault strike as soon as it can."""
        require_known(fault, FAULTS, "a fault")
        if name and name not in self.objects:
            raise InvalidConfiguration(f"expected an object, found {name!r}.{did_you_mean(name, self.objects)}")
        with self._lock:
            self._wanted.append(Wanted(fault, name))
        on = f" on {the(name)}" if name else ""
        return f"{fault.replace('_', ' ')}{on} strikes at the next action that it fits."

    def observe(self) -> Observation:
        """What the robot's cameras see."""
        return self._sensed.observe()

    def execute(self, action: Action) -> None:
        """Carry out an action, with the faults that were asked for."""
        world, number = self._world, self._world.next_step(action)
        rest = self._plan.actions[number:] if number is not None else (action,)
        before = world.estimates()
        place = place_for(action, before)
        after = before if place is None else before.placed(action.arguments[0], place[0], quaternion_of(place[1]))
        striking = self._drawn(Moment(0, Plan(rest), before, after), list(FAULTS))
        at = world.step if number is None else number
        plan, faults = world.plan, world.faults
        added = tuple(replace(fault, at_step=at) for fault in striking)
        world.plan, world.faults = (None, added) if number is None else (plan, (*faults, *added))
        try:
            self._sensed.execute(action)
        finally:
            world.plan, world.faults = plan, faults
        now = world.estimates()
        later = [kind for kind, fault in FAULTS.items() if fault.after is not Fault.after]
        for fault in self._drawn(Moment(0, Plan(rest), now, now), later):
            fault.after(world.fault_context, action)

    def _drawn(self, moment: Moment, kinds: Sequence[str]) -> list[Fault]:
        """The faults of some kinds that were asked for, as far as the moment offers objects for them."""
        with self._lock:
            wanted, self._wanted = self._wanted, []
        found: list[Fault] = []
        for each in wanted:
            fault = self._one(each, moment) if each.kind in kinds else None
            if fault is None:
                with self._lock:
                    self._wanted.append(each)
            else:
                found.append(fault)
                moment = replace(moment, taken=moment.taken | fault.touched(moment.action))
        self.struck += found
        return found

    def _one(self, wanted: Wanted, moment: Moment) -> Fault | None:
        for _ in range(TRIES if wanted.name else 1):
            fault = FAULTS[wanted.kind].sample(moment, self._rng)
            if fault is None or not wanted.name or wanted.name in fault.touched(moment.action):
                return fault
        return None


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

"""What can be heard in a kitchen: contacts, doors and switches, liquids, heat, appliances, and the robot's motors.

Hearing only watches: it reads contacts, joints and states of a cell after every physics step and changes nothing.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from sim.common.arm import STEP_S
from sim.kitchen.appliance_sounds import ApplianceSounds
from sim.kitchen.cell import KitchenCell
from sim.kitchen.process_sounds import ProcessSounds
from sim.kitchen.processes import LAW_TICKS
from sim.kitchen.sounding import ARM, FINGER, FLOOR, body_of_fixture, body_of_thing
from sim.sound.bodies import Body, Vector, vector_of
from sim.sound.contacts import ContactRecorder
from sim.sound.events import SoundKind
from sim.sound.microphone import Microphone
from sim.sound.soundscape import SavedSound, Soundscape
from sim.sound.spells import Spells

_FINGERS = (9, 10)
_STILL_RAD_S = 0.02
_STILL_M_S = 0.01
_WHEEL_M = 0.3
"""From the middle of the base to its wheels: turning is heard like driving at this radius."""
_REFERENCE_M_S = 0.5


class KitchenHearing:
    """Listens to one kitchen.

    Attributes:
        soundscape: the events, and the microphone that hears them.
    """

    def __init__(self, cell: KitchenCell, microphone: Microphone) -> None:
        """Listen to a kitchen from now on.

        Args:
            cell: the kitchen, at rest.
            microphone: what listens; its position is in the frame of the base on the floor.
        """
        self._cell = cell
        self.soundscape = Soundscape(microphone, cell.time_s)
        self._spells = Spells(self.soundscape)
        self._known = cell.bodies()
        self._contacts = ContactRecorder(cell.client, self._sounding(), STEP_S)
        self._appliances = ApplianceSounds(cell, self.soundscape, self._spells)
        self._processes = ProcessSounds(cell, self.soundscape, self._spells)
        self._base = cell.robot.base

    def step(self) -> None:
        """Look at the kitchen; call it after every physics step."""
        cell = self._cell
        if cell.bodies() != self._known:
            self._known = cell.bodies()
            self._contacts.listen_to(self._sounding())
        self._contacts.step(cell.time_s)
        if cell.ticks % LAW_TICKS == 0:
            self._hear_motors()
            self._appliances.look()
            self._processes.look()
            self._spells.sweep(cell.time_s)

    def listen(self) -> tuple[npt.NDArray[np.float32], int]:
        """Samples (S,) since the last call, and their rate in hertz.

        The whole recording is made where the microphone is now: what the robot does after driving somewhere is heard
        from there.
        """
        self._spells.end()
        time_s = self._cell.time_s
        self.soundscape.add(*self._contacts.take(time_s))
        base = self._cell.robot.base
        local = np.asarray(self.soundscape.microphone.position_m)
        place = base.rotation() @ local + np.array([base.x, base.y, 0.0])
        return self.soundscape.listen(time_s, vector_of(place))

    def save(self) -> SavedSound:
        """Save what was heard; sliding, rolling, motors and liquids end here."""
        self._spells.end()
        self.soundscape.add(*self._contacts.take(self._cell.time_s))
        return self.soundscape.save()

    def restore(self, saved: SavedSound) -> None:
        """Return to a saved state; the cell has returned to it already."""
        self.soundscape.restore(saved)
        self._spells.forget()
        self._contacts.forget()

    def _sounding(self) -> dict[Any, Body]:
        """Body number, or body and link number, to what sounds."""
        cell = self._cell
        bodies: dict[Any, Body] = {cell.floor: FLOOR}
        bodies |= {cell.body(name): body_of_fixture(fixture) for name, fixture in cell.fixtures.items()}
        bodies |= {cell.body(name): body_of_thing(name, thing.kind) for name, thing in cell.things.items()}
        robot = cell.robot.arm.body
        return bodies | {robot: ARM} | {(robot, finger): FINGER for finger in _FINGERS}

    def _hear_motors(self) -> None:
        """The motors of the arm are heard while joints turn, those of the base while it drives."""
        cell, since = self._cell, LAW_TICKS * STEP_S
        robot, before = cell.robot, self._base
        base = self._base = robot.base
        place: Vector = (round(base.x, 3), round(base.y, 3), 0.9)
        turning = float(np.abs(robot.arm.measured_speeds()).mean())
        if turning > _STILL_RAD_S:
            self._spells.notice("arm", SoundKind.ARM_MOTOR, cell.time_s, cell.time_s - since, turning, place)
        way = math.hypot(base.x - before.x, base.y - before.y)
        way += _WHEEL_M * abs(math.remainder(base.yaw - before.yaw, 2 * math.pi))
        if way / since > _STILL_M_S:
            strength, low = way / since / _REFERENCE_M_S, (place[0], place[1], 0.1)
            self._spells.notice("base", SoundKind.BASE_MOTOR, cell.time_s, cell.time_s - since, strength, low)

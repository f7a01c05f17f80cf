"""Sounds of what is operated: switches, doors and drawers, and appliances that run."""

from __future__ import annotations

import math

import numpy as np

from sim.common.arm import STEP_S
from sim.kitchen.cell import KitchenCell
from sim.kitchen.fixtures import ControlKind, Fixture
from sim.kitchen.processes import LAW_TICKS
from sim.kitchen.shapes import JointKind
from sim.kitchen.sounding import body_of_fixture, door_of_fixture
from sim.sound.bodies import Vector, vector_of
from sim.sound.events import SoundEvent, SoundKind
from sim.sound.soundscape import Soundscape
from sim.sound.spells import Spells

RUNNING = {
    "faucet": SoundKind.RUNNING_WATER,
    "microwave": SoundKind.MICROWAVE_HUM,
    "coffee machine": SoundKind.COFFEE_MACHINE,
    "television": SoundKind.TV,
}
"""Kind of fixture -> what is heard while it runs."""
_SHUT = 0.03
"""Share of the travel below which a door is shut."""
_DRAWER_M_S, _REFERENCE_M_S = 0.03, 0.3
_ORDINARY_M_S = 0.25
"""Speed at the handle of a door that is pushed shut in an ordinary way."""
_FASTEST_M_S = 1.5
"""A door that moves faster was moved by a person, whose motion is not simulated; it counts as ordinary."""


class ApplianceSounds:
    """Watches joints and states of the furniture of one kitchen."""

    def __init__(self, cell: KitchenCell, soundscape: Soundscape, spells: Spells) -> None:
        self._cell, self._soundscape, self._spells = cell, soundscape, spells
        self._seconds = LAW_TICKS * STEP_S
        self._doors = {
            name: cell.position_of(fixture, fixture.door)
            for name, fixture in cell.fixtures.items()
            if fixture.door is not None
        }
        self._pressed = {name: self._is_pressed(fixture) for name, fixture in cell.fixtures.items() if fixture.switch}
        self._on = {name: state.on for name, state in cell.states.items()}
        self._bell = SoundKind.MICROWAVE_DING if cell.spec.seed % 2 else SoundKind.MICROWAVE_BEEP
        for name, fixture in cell.fixtures.items():
            if fixture.kind == "fridge":
                hum = SoundEvent(SoundKind.FRIDGE_HUM, cell.time_s, math.inf, position_m=_middle(fixture, 0.3))
                soundscape.begin(("runs", name), hum)

    def look(self) -> None:
        """Look at everything; call it whenever the laws have been applied."""
        cell = self._cell
        for fixture in cell.fixtures.values():
            if fixture.door is not None:
                self._hear_door(fixture)
            if fixture.switch is not None:
                self._hear_switch(fixture)
        # a program may have restored other states
        for name, state in cell.states.items():
            if state.on != self._on.get(name, False):
                self._on[name] = state.on
                self._hear_change(name, state.on)
        for name, fixture in cell.fixtures.items():
            kind = RUNNING.get(fixture.kind)
            if kind is not None:
                event = None
                if cell.states[name].on:
                    place = fixture.stream or _local_middle(fixture, 0.0)
                    event = SoundEvent(kind, cell.time_s, math.inf, position_m=vector_of(fixture.to_world(place)))
                self._soundscape.set(("runs", name), event, cell.time_s)

    def _hear_switch(self, fixture: Fixture) -> None:
        """Knobs click at both ends, buttons when they are pressed, levers when they are latched."""
        assert fixture.switch is not None
        pressed = self._is_pressed(fixture)
        if pressed == self._pressed[fixture.name]:
            return
        self._pressed[fixture.name] = pressed
        if pressed or fixture.switch.kind is ControlKind.KNOB:
            grip, _ = self._cell.grip_of(fixture, fixture.switch.joint, fixture.switch.grip)
            self._instant(SoundKind.CLICK, vector_of(grip))

    def _is_pressed(self, fixture: Fixture) -> bool:
        assert fixture.switch is not None
        return self._cell.position_of(fixture, fixture.switch) > fixture.switch.on_at

    def _hear_change(self, name: str, on: bool) -> None:
        """What something does when it is turned on or off."""
        cell = self._cell
        fixture = cell.fixtures.get(name)
        if fixture is None:
            self._instant(SoundKind.CLICK, vector_of(cell.pose(name)[0]))
        elif fixture.kind == "microwave" and not on and not cell.states[name].open:
            self._instant(self._bell, _middle(fixture, 0.2))
        elif fixture.kind == "toaster" and not on:
            self._instant(SoundKind.TOASTER_POP, _middle(fixture, 0.1))

    def _hear_door(self, fixture: Fixture) -> None:
        """A drawer runs on its rails; a door is heard when it falls shut, a microwave's latch both ways."""
        assert fixture.door is not None
        cell, door = self._cell, fixture.door
        joint = fixture.assembly.joints[door.joint]
        before = self._doors[fixture.name]
        now = self._doors[fixture.name] = cell.position_of(fixture, door)
        reach = 1.0 if joint.kind is JointKind.SLIDE else math.hypot(*door.grip[:2])
        speed = abs(now - before) * reach / self._seconds
        if now == before:
            return
        if speed > _FASTEST_M_S:
            speed = _ORDINARY_M_S
        grip, _ = cell.grip_of(fixture, door.joint, door.grip)
        place = vector_of(grip)
        if joint.kind is JointKind.SLIDE and speed > _DRAWER_M_S:
            strength = speed / _REFERENCE_M_S
            self._spells.notice(
                ("drawer", fixture.name), SoundKind.DRAWER, cell.time_s, cell.time_s - self._seconds, strength, place
            )
        shut = _SHUT * door.travel
        falls_shut, opens = before > shut >= now, before <= shut < now
        strength = min(1.5, max(0.3, speed / _ORDINARY_M_S))
        if fixture.kind == "fridge" and falls_shut:
            self._instant(SoundKind.FRIDGE_DOOR, place, strength)
        elif fixture.kind == "microwave" and (falls_shut or opens):
            self._instant(SoundKind.CLICK, place)
        if falls_shut and fixture.kind != "fridge":
            panel = door_of_fixture(fixture, joint.link.mass_kg)
            self._soundscape.add(
                SoundEvent(
                    SoundKind.IMPACT, cell.time_s, 0.0, joint.link.mass_kg / 3 * max(speed, 0.05),
                    (panel, body_of_fixture(fixture)), place,
                )
            )  # fmt: skip

    def _instant(self, kind: SoundKind, place: Vector, strength: float = 1.0) -> None:
        self._soundscape.add(SoundEvent(kind, self._cell.time_s, 0.0, strength, (), place))


def _local_middle(fixture: Fixture, up_m: float) -> Vector:
    """About the middle of a fixture, in its frame; above its lowest part by `up_m`."""
    parts = fixture.assembly.base.parts
    x, y, z = np.mean([part.at for part in parts], axis=0)
    return (float(x), float(y), float(z) + up_m)


def _middle(fixture: Fixture, up_m: float) -> Vector:
    x, y, _ = _local_middle(fixture, 0.0)
    low = min(part.at[2] - part.size[2] / 2 for part in fixture.assembly.base.parts)
    return vector_of(fixture.to_world((x, y, low + up_m)))

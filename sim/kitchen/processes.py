"""The laws at work: which vessel is under which stream, what stands on which burner, and what runs where."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from nsrecover.domains.household.names import whole
from sim.kitchen import laws
from sim.kitchen.assemblies import controls_of
from sim.kitchen.devices import LOWERED_M
from sim.kitchen.fixtures import ControlKind, Fixture
from sim.kitchen.scenes import ThingSpec
from sim.kitchen.shapes import JointKind
from sim.kitchen.states import ROOM_C, ObjectState
from sim.kitchen.things import Form, Material, half_extent

Array = npt.NDArray[np.float64]

LAW_TICKS = 10
"""Physics steps between two applications of the laws."""
_ON_PLATE_M = 0.06
"""A thing whose centre is this near to the axis of a burner stands on it."""
_SEAT_M = 0.02
"""Greatest height of a bottom over the place on which it stands."""
_CLOSED = 0.08
"""Doors that are open by less than this, radians or share of the travel, count as closed."""


class Kitchen(Protocol):
    """What the laws need to know about a kitchen."""

    fixtures: dict[str, Fixture]
    things: dict[str, ThingSpec]
    states: dict[str, ObjectState]

    def pose(self, name: str) -> tuple[Array, Array]:
        """Centre (3,) and rotation (3, 3) of a thing."""
        ...

    @property
    def time_s(self) -> float:
        """Simulated time."""
        ...

    def joint(self, name: str, number: int) -> float:
        """Position of a joint of a fixture or a thing."""
        ...

    def drive_joint(self, name: str, number: int, position: float) -> None:
        """Let the spring of a joint pull to a position."""
        ...

    def contents(self, name: str) -> list[str]:
        """Things directly inside a vessel."""
        ...

    def note(self, text: str) -> None:
        """Add a line to the log."""
        ...


class Process:
    """Applies the laws of `sim.kitchen.laws` to the states of a kitchen."""

    def __init__(self, kitchen: Kitchen) -> None:
        self._kitchen = kitchen
        self._pressed: dict[str, bool] = {}
        self._since: dict[str, float] = {}

    def run(self, seconds: float) -> None:
        """Let some simulated time pass."""
        self._operate()
        self._flow(seconds)
        self._heat(seconds)

    def _operate(self) -> None:
        """Read switches and doors."""
        kitchen = self._kitchen
        for name, thing in kitchen.things.items():
            parts = controls_of(thing.kind)
            if "door" in parts:
                position = kitchen.joint(name, parts["door"].joint)
                opened = min(1.0, max(0.0, position / parts["door"].travel))
                self._set(name, opened=round(opened, 3), open=position > parts["door"].on_at)
            if "switch" in parts:
                pressed = kitchen.joint(name, parts["switch"].joint) > parts["switch"].on_at
                if pressed and not self._pressed.get(name, False):
                    self._set(name, on=not kitchen.states[name].on)
                self._pressed[name] = pressed
        for name, fixture in kitchen.fixtures.items():
            if fixture.door is not None:
                position = kitchen.joint(name, fixture.door.joint)
                opened = min(1.0, max(0.0, position / fixture.door.travel))
                self._set(name, opened=round(opened, 3), open=opened > _CLOSED)
                if fixture.switch is not None and kitchen.states[name].on and opened > _CLOSED:
                    self._set(name, on=False)
            if fixture.switch is None:
                continue
            position = kitchen.joint(name, fixture.switch.joint)
            pressed = position > fixture.switch.on_at
            target = fixture.operates or name
            if fixture.switch.kind is ControlKind.KNOB:
                self._set(target, on=pressed)
            elif fixture.switch.kind is ControlKind.LEVER:
                self._toast(fixture, position)
            elif pressed and not self._pressed.get(name, False):
                running = kitchen.states[name].on
                if running or not kitchen.states[name].open:
                    self._set(name, on=not running)
            self._pressed[name] = pressed

    def _toast(self, fixture: Fixture, position: float) -> None:
        """A lever that is pressed down stays there until the bread is done, or until it is pressed again."""
        kitchen, name = self._kitchen, fixture.name
        assert fixture.switch is not None, f"the {name} has no lever"
        running = kitchen.states[name].on
        if (position > fixture.switch.on_at) > self._pressed.get(name, False):
            running = not running
            self._since[name] = kitchen.time_s
        elif running:
            bread = [one for one in self.standing_on(name) if whole(kitchen.things[one].kind.name) in laws.COOKING]
            done = [kitchen.states[one].cooked >= 1.0 for one in bread]
            running = not all(done) if done else kitchen.time_s - self._since[name] < laws.TOASTER_S
        if running != kitchen.states[name].on:
            kitchen.drive_joint(name, fixture.switch.joint, LOWERED_M if running else 0.0)
            self._set(name, on=running)
            if not running:
                kitchen.note(f"the {name} popped up")

    def _flow(self, seconds: float) -> None:
        kitchen = self._kitchen
        for name, fixture in kitchen.fixtures.items():
            if fixture.stream is None or not kitchen.states[name].on:
                continue
            spout = fixture.to_world(fixture.stream)
            below = self._under(spout, "")
            if fixture.kind == "faucet":
                for other in self._wetted(spout):
                    kitchen.states[other] = laws.rinsed(kitchen.states[other])
            if below is not None:
                water = fixture.kind == "faucet"
                litres = (laws.FAUCET_L_S if water else laws.COFFEE_L_S) * seconds
                warmth = ROOM_C if water else laws.COFFEE_C
                self._receive(below, "water" if water else "coffee", litres, warmth)
        for name, thing in kitchen.things.items():
            state = kitchen.states[name]
            if state.volume_l <= 0.0:
                continue
            position, rotation = kitchen.pose(name)
            tilt = math.acos(min(1.0, max(-1.0, rotation[2, 2])))
            kind = thing.kind
            holds = laws.held_volume_l(kind.size[0] - kind.wall_m, kind.height_m - kind.wall_m, tilt)
            after, out = laws.poured(state, holds, seconds)
            if out <= 0.0:
                continue
            kitchen.states[name] = after
            below = self._under(lip_of(kind.size[0], kind.height_m, position, rotation), name)
            if below is not None:
                self._receive(below, state.liquid, out, state.temperature_c)

    def _receive(self, name: str, liquid: str, litres: float, warmth: float) -> None:
        kitchen = self._kitchen
        # the soil of a plant takes what is poured on it
        capacity = kitchen.things[name].kind.capacity_l if name in kitchen.things else 1.0
        kitchen.states[name] = laws.received(kitchen.states[name], liquid, litres, warmth, capacity)

    def _under(self, point: Array, source: str) -> str | None:
        """The highest vessel, or plant, into whose opening a stream from a point falls."""
        kitchen, best, best_z = self._kitchen, None, -math.inf
        for name, thing in kitchen.things.items():
            if name == source or thing.kind.form is not Form.VESSEL:
                continue
            position, rotation = kitchen.pose(name)
            if rotation[2, 2] < 0.8:
                continue
            top = position + rotation[:, 2] * thing.kind.height_m / 2
            if math.dist(top[:2], point[:2]) < thing.kind.size[0] and best_z < top[2] < point[2] + 0.01:
                best, best_z = name, float(top[2])
        for name, fixture in kitchen.fixtures.items():
            if fixture.kind != "house plant":
                continue
            soil = fixture.to_world(fixture.places[0].centre)
            if math.dist(soil[:2], point[:2]) < 0.09 and best_z < soil[2] < point[2]:
                best, best_z = name, float(soil[2])
        return best

    def _wetted(self, spout: Array) -> list[str]:
        """Things that a stream from above meets."""
        kitchen = self._kitchen
        return [
            name
            for name, thing in kitchen.things.items()
            if math.dist(kitchen.pose(name)[0][:2], spout[:2]) < thing.kind.radius_m
            and kitchen.pose(name)[0][2] < spout[2]
        ]

    def _heat(self, seconds: float) -> None:
        kitchen = self._kitchen
        watts = dict.fromkeys(kitchen.things, 0.0)
        around = dict.fromkeys(kitchen.things, ROOM_C)
        for name, fixture in kitchen.fixtures.items():
            state = kitchen.states[name]
            if fixture.kind == "stove burner" and state.on:
                for heated in self.standing_on(name):
                    watts[heated] += laws.BURNER_W
            elif fixture.kind == "toaster" and state.on:
                for heated in self.standing_on(name):
                    watts[heated] += laws.TOASTER_W
            elif fixture.kind == "microwave" and state.on:
                inside = self.standing_on(name)
                inside += [inner for outer in inside for inner in kitchen.contents(outer)]
                for heated in inside:
                    watts[heated] += laws.MICROWAVE_W / len(inside)
            elif fixture.kind == "fridge" and not state.open:
                for cooled in self.standing_on(name):
                    around[cooled] = laws.cold_room(fixture.kind)
        for name, thing in kitchen.things.items():
            state, kind = kitchen.states[name], thing.kind
            idle = not watts[name] and abs(state.temperature_c - around[name]) < 0.05
            if not idle:
                mass = kind.mass_kg
                if kind.material in (Material.CERAMIC, Material.GLASS) and watts[name]:
                    # microwaves heat the contents; the vessel follows slowly
                    mass *= 0.3
                capacity = laws.heat_capacity(kind.material, mass, state.volume_l)
                loss = laws.loss_w_k(kind.radius_m, kind.height_m)
                state = laws.heated(state, watts[name], capacity, loss, seconds, around[name])
            kitchen.states[name] = laws.cooks(state, kind.name, seconds)
        for name, thing in kitchen.things.items():
            warm = kitchen.states[name]
            if not thing.kind.capacity_l or warm.temperature_c < ROOM_C + 1.0:
                continue
            for inner in kitchen.contents(name):
                kind = kitchen.things[inner].kind
                capacity = laws.heat_capacity(kind.material, kind.mass_kg, 0.0)
                kitchen.states[inner] = laws.in_contact(warm, kitchen.states[inner], capacity, seconds)

    def standing_on(self, name: str) -> list[str]:
        """Things in or on the places of a fixture, directly."""
        kitchen = self._kitchen
        fixture = kitchen.fixtures[name]
        found = []
        drawn = np.zeros(3)
        carrier = fixture.door if fixture.kind != "toaster" else fixture.switch
        if carrier is not None:
            joint = fixture.assembly.joints[carrier.joint]
            if joint.kind is JointKind.SLIDE:
                # what lies in a drawer or on the carriage of a toaster moves with it
                drawn = kitchen.joint(name, carrier.joint) * np.asarray(joint.axis)
        for thing, spec in kitchen.things.items():
            centre, rotation = kitchen.pose(thing)
            half = half_extent(spec.kind, rotation[2])
            for place in fixture.places:
                local = fixture.from_world(centre) - np.asarray(place.centre) - drawn
                slack = _ON_PLATE_M if place.single else 0.09
                if (
                    abs(local[0]) <= place.half[0] + slack
                    and abs(local[1]) <= place.half[1] + slack
                    and -0.01 < local[2] - half < _SEAT_M
                ):
                    found.append(thing)
                    break
        return found

    def _set(self, name: str, **changes: object) -> None:
        state = self._kitchen.states[name]
        after = replace(state, **changes)  # type: ignore[arg-type]
        if after != state:
            if after.on != state.on:
                self._kitchen.note(f"the {name} turned {'on' if after.on else 'off'}")
            self._kitchen.states[name] = after


def lip_of(radius_m: float, height_m: float, position: Array, rotation: Array) -> Array:
    """Lowest point of the upper edge of an open cylinder, (3,), metres."""
    top = position + rotation[:, 2] * height_m / 2
    down = np.array([0.0, 0.0, -1.0])
    along = down - rotation[:, 2] * float(down @ rotation[:, 2])
    length = float(np.linalg.norm(along))
    return np.asarray(top if length < 1e-6 else top + radius_m * along / length)

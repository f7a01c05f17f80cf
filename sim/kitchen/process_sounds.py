"""Sounds of what happens to things: liquids that flow, water that boils, food that fries, is cut or breaks."""

from __future__ import annotations

import math
from collections.abc import Hashable

import pybullet

from sim.common.arm import STEP_S
from sim.kitchen import laws
from sim.kitchen.cell import KitchenCell
from sim.kitchen.processes import LAW_TICKS
from sim.kitchen.sounding import FLOOR, body_of_thing
from sim.kitchen.states import ObjectState
from sim.kitchen.things import Material
from sim.sound.bodies import Body, Vector, vector_of
from sim.sound.events import SoundEvent, SoundKind
from sim.sound.soundscape import Soundscape
from sim.sound.spells import Spells

SIZZLES_C = 120.0
"""From here on food fries in a pan: its water boils where it touches the pan."""
_REFERENCE_L_S = 0.1
_FASTEST_L_S = 2 * laws.POUR_L_S
"""A volume that changes faster was set by a program."""
_DRIPS_L_S = 0.002
_ROLLING_BOIL_L = 0.5
_SLOWEST_BREAK_M_S = 1.0


class ProcessSounds:
    """Watches the states of the things of one kitchen."""

    def __init__(self, cell: KitchenCell, soundscape: Soundscape, spells: Spells) -> None:
        self._cell, self._soundscape, self._spells = cell, soundscape, spells
        self._seconds = LAW_TICKS * STEP_S
        self._before = dict(cell.states)
        self._speeds: dict[str, float] = {}

    def look(self) -> None:
        """Look at everything; call it whenever the laws have been applied."""
        cell = self._cell
        before, self._before = self._before, dict(cell.states)
        self._hear_flows(before)
        for name, thing in cell.things.items():
            state = cell.states[name]
            then = before.get(name, state)
            if state.broken and not then.broken:
                self._hear_break(name)
            elif state.cracked and not then.cracked:
                self._instant(SoundKind.EGG_CRACK, name)
            if thing.kind.material in (Material.GLASS, Material.CERAMIC):
                velocity, _ = pybullet.getBaseVelocity(cell.body(name), physicsClientId=cell.client)
                self._speeds[name] = math.hypot(*velocity)
        self._hear_heat()
        self._hear_knife()

    def _hear_flows(self, before: dict[str, ObjectState]) -> None:
        """A vessel that is filled is heard with its column of air, what is spilled without one."""
        cell, received, lost = self._cell, 0.0, []
        for name, state in cell.states.items():
            then = before.get(name, state)
            flow = (state.volume_l - then.volume_l) / self._seconds
            if then is state or abs(flow) < _DRIPS_L_S or abs(flow) > _FASTEST_L_S or state.broken:
                continue
            if flow < 0:
                lost.append((name, -flow))
                continue
            received += flow
            bodies = (body_of_thing(name, cell.things[name].kind),) if name in cell.things else ()
            self._notice(("fills", name), SoundKind.POURING, flow / _REFERENCE_L_S, self._place(name), bodies)
        if not received:
            for name, flow in lost:
                self._notice(("spills", name), SoundKind.POURING, flow / _REFERENCE_L_S, self._place(name))

    def _hear_heat(self) -> None:
        cell = self._cell
        heating = {
            thing
            for name, fixture in cell.fixtures.items()
            if fixture.kind in ("stove burner", "microwave") and cell.states[name].on
            for thing in cell.standing_on(name)
        }
        for name, thing in cell.things.items():
            state, boils, sizzles = cell.states[name], None, None
            if name in heating and laws.is_boiling(state):
                strength = round(min(1.5, max(0.4, state.volume_l / _ROLLING_BOIL_L)), 1)
                vessel = (body_of_thing(name, thing.kind),)
                boils = SoundEvent(SoundKind.BOILING, cell.time_s, math.inf, strength, vessel, self._place(name))
            self._keep(("boils", name), boils)
            metal = thing.kind.material is Material.METAL
            if metal and state.temperature_c > SIZZLES_C and thing.kind.capacity_l and not state.volume_l:
                food = [one for one in cell.contents(name) if self._fries(one)]
                if food:
                    strength = min(1.5, 0.7 + 0.3 * len(food))
                    sizzles = SoundEvent(SoundKind.SIZZLING, cell.time_s, math.inf, strength, (), self._place(name))
            self._keep(("sizzles", name), sizzles)

    def _keep(self, name: Hashable, event: SoundEvent | None) -> None:
        """Let a sound begin, go on as it began, or end."""
        if event is None:
            self._soundscape.end(name, self._cell.time_s)
        else:
            self._soundscape.begin(name, event)

    def _fries(self, name: str) -> bool:
        """Whether something wet touches the pan: food, but no egg in its shell; what is burnt is dry."""
        kind, state = self._cell.things[name].kind, self._cell.states[name]
        open_egg = kind.material is Material.SHELL and state.cracked
        return (kind.material is Material.FOOD or open_egg) and state.cooked < 2.0

    def _hear_knife(self) -> None:
        """A blade in food."""
        cell = self._cell
        if cell.cutting and cell.robot.held in cell.things:
            self._notice("knife", SoundKind.KNIFE, 1.0, self._place(cell.robot.held))

    def _hear_break(self, name: str) -> None:
        kind = self._cell.things[name].kind
        if kind.material is Material.SHELL:
            self._instant(SoundKind.EGG_CRACK, name)
            return
        speed = max(_SLOWEST_BREAK_M_S, self._speeds.get(name, 0.0))
        bodies = (body_of_thing(name, kind), FLOOR)
        self._soundscape.add(
            SoundEvent(SoundKind.SHATTER, self._cell.time_s, 0.0, kind.mass_kg * speed, bodies, self._place(name))
        )

    def _place(self, name: str) -> Vector:
        cell = self._cell
        if name in cell.things:
            return vector_of(cell.pose(name)[0])
        fixture = cell.fixtures[name]
        return vector_of(fixture.to_world(fixture.places[0].centre) if fixture.places else fixture.position)

    def _instant(self, kind: SoundKind, name: str) -> None:
        self._soundscape.add(SoundEvent(kind, self._cell.time_s, 0.0, 1.0, (), self._place(name)))

    def _notice(
        self, name: Hashable, kind: SoundKind, strength: float, place: Vector, bodies: tuple[Body, ...] = ()
    ) -> None:
        time_s = self._cell.time_s
        self._spells.notice(name, kind, time_s, time_s - self._seconds, strength, place, bodies)

"""What can be heard at the table: contacts of the objects, the arm's motors, and what falls on the floor."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pybullet

from sim.common.arm import STEP_S
from sim.sound.bodies import Body, Material, Shape
from sim.sound.contacts import ContactRecorder
from sim.sound.events import SoundEvent, SoundKind
from sim.sound.microphone import Microphone
from sim.sound.soundscape import SavedSound, Soundscape
from sim.sound.spells import Spells
from sim.tabletop.physics import PhysicsScene
from sim.tabletop.scenes import ObjectKind, ObjectSpec
from sim.tabletop.shapes import mass_of

TABLE = Body("table", Material.WOOD, Shape.PLATE, (1.24, 1.20, 0.04), thickness_m=0.04)
FLOOR = Body("floor", Material.WOOD, Shape.PLATE, (4.0, 4.0, 0.02), thickness_m=0.02)
FINGER = Body("finger", Material.RUBBER, Shape.SOLID, (0.02, 0.02, 0.04), 0.1)
ARM = Body("arm", Material.PLASTIC, Shape.SOLID, (0.1, 0.1, 0.2), 2.0)
FLOOR_M = -0.75
"""Height of the floor, on which objects are heard; the physics has none."""
MATERIALS = {
    ObjectKind.CUBE: Material.WOOD,
    ObjectKind.DIE: Material.PLASTIC,
    ObjectKind.LEGO: Material.PLASTIC,
    ObjectKind.CYLINDER: Material.WOOD,
    ObjectKind.MUG: Material.CERAMIC,
    ObjectKind.BOTTLE: Material.GLASS,
    ObjectKind.BLOB: Material.PLASTIC,
}
_HOLLOW = (ObjectKind.MUG, ObjectKind.BOTTLE)

_ARM_AT = (0.0, 0.0, 0.3)
_FINGERS = (9, 10)
_STRIDE = 10
_STILL_RAD_S = 0.02


@dataclass(frozen=True)
class SavedHearing:
    """A saved state: of the soundscape, and names of the objects on the floor."""

    sound: SavedSound
    fallen: frozenset[str]


class Hearing:
    """Listens to one physics scene.

    Attributes:
        soundscape: the events, and the microphone that hears them.
    """

    def __init__(self, scene: PhysicsScene, microphone: Microphone) -> None:
        """Listen to a scene from now on.

        Args:
            scene: with its bodies.
            microphone: what listens.
        """
        self._scene = scene
        self.soundscape = Soundscape(microphone, scene.time_s)
        self._bodies = {item.name: sounding(item) for item in scene.scene.objects}
        bodies: dict[Any, Body] = {scene.body(name): body for name, body in self._bodies.items()}
        bodies[scene.table] = TABLE
        if scene.arm is not None:
            bodies[scene.arm.body] = ARM
            bodies |= {(scene.arm.body, finger): FINGER for finger in _FINGERS}
        self._contacts = ContactRecorder(scene.client, bodies, STEP_S)
        self._fallen = frozenset[str]()
        self._spells = Spells(self.soundscape)

    def step(self) -> None:
        """Look at the scene; call it after every physics step."""
        time_s = self._scene.time_s
        self._contacts.step(time_s)
        if self._scene.ticks % _STRIDE == 0:
            self._hear_motors(time_s)
            self._hear_falls(time_s)

    def listen(self) -> tuple[npt.NDArray[np.float32], int]:
        """Samples (S,) since the last call, and their rate in hertz."""
        time_s = self._scene.time_s
        self._spells.end()
        self.soundscape.add(*self._contacts.take(time_s))
        return self.soundscape.listen(time_s)

    def save(self) -> SavedHearing:
        """Save what was heard; sounds that go on end here."""
        self._spells.end()
        self.soundscape.add(*self._contacts.take(self._scene.time_s))
        return SavedHearing(self.soundscape.save(), self._fallen)

    def restore(self, saved: SavedHearing) -> None:
        """Return to a saved state; the scene has returned to it already."""
        self.soundscape.restore(saved.sound)
        self._fallen = saved.fallen
        self._contacts.forget()
        self._spells.forget()

    def _hear_motors(self, time_s: float) -> None:
        """Motors are heard while the joints turn."""
        speed = 0.0 if self._scene.arm is None else float(np.abs(self._scene.arm.measured_speeds()).mean())
        if speed > _STILL_RAD_S:
            self._spells.notice("arm", SoundKind.ARM_MOTOR, time_s, time_s - _STRIDE * STEP_S, speed, _ARM_AT)
        self._spells.sweep(time_s)

    def _hear_falls(self, time_s: float) -> None:
        for name, body in self._bodies.items():
            if name in self._fallen:
                continue
            (x, y, z), _ = self._scene.pose(name)
            if z < FLOOR_M:
                self._fallen |= {name}
                if z < FLOOR_M - 2.0:
                    continue  # it was taken away
                velocity, _ = pybullet.getBaseVelocity(self._scene.body(name), physicsClientId=self._scene.client)
                impulse = body.mass_kg * math.hypot(*velocity)
                place = (round(float(x), 3), round(float(y), 3), FLOOR_M)
                self.soundscape.add(SoundEvent(SoundKind.IMPACT, time_s, 0.0, impulse, (body, FLOOR), place))


def sounding(item: ObjectSpec) -> Body:
    """How an object of the table sounds: cubes are wood, dice and lego bricks plastic, mugs and bottles hollow."""
    x, y, z = item.size
    shape = Shape.HOLLOW if item.kind in _HOLLOW else Shape.SOLID
    return Body(item.name, MATERIALS[item.kind], shape, (y, y, z) if item.kind in _HOLLOW else (x, y, z), mass_of(item))

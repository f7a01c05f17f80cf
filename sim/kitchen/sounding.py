"""How what is in a kitchen sounds: bodies of furniture, things and robot, and the room with a microphone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from sim.kitchen.fixtures import Fixture
from sim.kitchen.scenes import KitchenSpec
from sim.kitchen.things import Form, ThingKind
from sim.sound.bodies import Body, Material, Shape, Vector
from sim.sound.microphone import Microphone
from sim.sound.room import Room

MAST_M: Vector = (-0.10, 0.20, 1.50)
"""Where the microphone is, in the frame of the base on the floor: on the mast, below the cameras."""
LISTENS_STEPS = 480
"""Steps of the physics, two seconds, for which the robot with a microphone stands still before an observation: what it
hears while it drives drowns the rest."""
FLOOR = Body("floor", Material.CERAMIC, Shape.PLATE, (3.0, 3.0, 0.02), thickness_m=0.02)
FINGER = Body("finger", Material.RUBBER, Shape.SOLID, (0.02, 0.02, 0.04), 0.1)
ARM = Body("arm", Material.PLASTIC, Shape.SOLID, (0.1, 0.1, 0.2), 2.0)

_CEILING_M = 2.6
_FREE_M = 1.6
"""The room reaches at least so far from where the robot starts."""
_WALL_M = 0.05
"""From the back of the furniture to the wall."""
_THICKNESS_M: Mapping[Material, float] = {
    # walls of ordinary kitchenware; those in the physics are thicker where the solver needs it
    Material.METAL: 0.0015,
    Material.CERAMIC: 0.004,
    Material.GLASS: 0.003,
    Material.SHELL: 0.0004,
}
_FIXTURES: Mapping[str, tuple[Material, Shape, Vector, float]] = {
    # material, shape, size and thickness (metres) of what is hit
    "sink": (Material.METAL, Shape.PLATE, (0.40, 0.38, 0.001), 0.001),
    "faucet": (Material.METAL, Shape.SOLID, (0.03, 0.03, 0.30), 0.004),
    "stove": (Material.METAL, Shape.PLATE, (0.60, 0.60, 0.002), 0.002),
    "stove burner": (Material.METAL, Shape.PLATE, (0.17, 0.17, 0.004), 0.004),
    "stove knob": (Material.PLASTIC, Shape.SOLID, (0.04, 0.04, 0.03), 0.004),
    "fridge": (Material.PLASTIC, Shape.PLATE, (0.55, 0.50, 0.004), 0.004),
    "microwave": (Material.GLASS, Shape.PLATE, (0.28, 0.28, 0.006), 0.006),
    "coffee machine": (Material.PLASTIC, Shape.PLATE, (0.20, 0.26, 0.003), 0.003),
    "toaster": (Material.METAL, Shape.PLATE, (0.15, 0.20, 0.001), 0.001),
    "television": (Material.PLASTIC, Shape.PLATE, (0.66, 0.38, 0.004), 0.004),
    "house plant": (Material.CERAMIC, Shape.HOLLOW, (0.17, 0.17, 0.12), 0.008),
    "garbage can": (Material.PLASTIC, Shape.HOLLOW, (0.30, 0.30, 0.55), 0.003),
}
_WORKTOP = (Material.WOOD, Shape.PLATE, (1.2, 0.6, 0.04), 0.04)


def body_of_thing(name: str, kind: ThingKind) -> Body:
    """How a thing sounds when it is hit."""
    material = Material(kind.material.value)
    x, y, z = kind.size
    thickness = _THICKNESS_M.get(material, 0.004)
    if kind.form in (Form.VESSEL, Form.BOTTLE):
        if kind.height_m < kind.radius_m / 2:
            # a pan or a plate rings like its floor
            return Body(name, material, Shape.PLATE, (2 * x, 2 * y, z), kind.mass_kg, 1.5 * thickness)
        return Body(name, material, Shape.HOLLOW, (2 * x, 2 * y, z), kind.mass_kg, thickness)
    if kind.form is Form.BODY:
        shape = Shape.HOLLOW if material is Material.SHELL else Shape.SOLID
        return Body(name, material, shape, (2 * x, 2 * y, 2 * z), kind.mass_kg, thickness)
    if kind.form is Form.KNIFE:
        return Body(name, material, Shape.PLATE, (0.58 * y, z, 0.002), kind.mass_kg, 0.002)
    return Body(name, material, Shape.SOLID, (x, y, z), kind.mass_kg, thickness)


def body_of_fixture(fixture: Fixture) -> Body:
    """How a piece of furniture or an appliance sounds when something hits it; it does not move."""
    material, shape, size, thickness = _FIXTURES.get(fixture.kind, _WORKTOP)
    return Body(fixture.name, material, shape, size, math.inf, thickness)


def door_of_fixture(fixture: Fixture, mass_kg: float) -> Body:
    """How a door sounds when it falls shut."""
    material, _, _, _ = _FIXTURES.get(fixture.kind, _WORKTOP)
    thickness = 0.018 if material is Material.WOOD else 0.004
    return Body(f"{fixture.name} door", material, Shape.PLATE, (0.45, 0.50, thickness), mass_kg, thickness)


def room_of(spec: KitchenSpec, seed: int = 0) -> Room:
    """The room around the furniture of a kitchen, with tiles and half a second of reverberation."""
    points = [np.array([-_FREE_M, -_FREE_M]), np.array([_FREE_M, _FREE_M])]
    for fixture in spec.fixtures:
        if fixture.footprint is not None:
            x0, x1, y0, y1 = fixture.footprint
            points += [fixture.to_world([x, y, 0.0])[:2] for x in (x0, x1) for y in (y0, y1)]
    low, high = np.min(points, axis=0) - _WALL_M, np.max(points, axis=0) + _WALL_M
    return Room((float(low[0]), float(low[1]), -0.05), (float(high[0]), float(high[1]), _CEILING_M), 0.5, seed)


def microphone_in(spec: KitchenSpec, seed: int = 0, snr_db: float | None = None) -> Microphone:
    """A microphone on the mast of the robot in the room of a kitchen; `replace` changes the rest.

    Args:
        spec: the kitchen.
        seed: of noise, background and late reflections.
        snr_db: ratio of the events of each recording to noise and background; None: as it comes.
    """
    return replace(Microphone(position_m=MAST_M, snr_db=snr_db, seed=seed), room=room_of(spec, seed))

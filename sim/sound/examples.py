"""Random examples of every class of sound, with random bodies, strengths, rooms and microphones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from nsrecover.errors import require_known
from sim.common.entries import read_entries
from sim.sound.background import Background
from sim.sound.bodies import Body, Material, vector_of
from sim.sound.events import CONTACT, INSTANT, SoundEvent, SoundKind
from sim.sound.microphone import Microphone, record
from sim.sound.room import Room

Item = TypeVar("Item")

CLIP_S = 2.0
"""Length of an example."""

_FILE = Path(__file__).with_name("bodies.yaml")
BODIES: dict[Material, list[Body]] = {}
"""What hits, slides, rolls and breaks, by its material."""
for _body in read_entries(_FILE, Body, "bodies"):
    BODIES.setdefault(_body.material, []).append(_body)
SUPPORTS = read_entries(_FILE, Body, "supports")

CLASSES: tuple[str, ...] = (
    *(f"{SoundKind.IMPACT} {material}" for material in BODIES),
    *(str(kind) for kind in SoundKind if kind is not SoundKind.IMPACT),
)
"""The classes, as `SoundEvent.label` names them."""


def example_event(label: str, rng: np.random.Generator) -> SoundEvent:
    """A random event of a class at the origin, which begins within the first half second.

    Raises:
        InvalidConfiguration: there is no such class.
    """
    require_known(label, CLASSES, "a class of sounds")
    kind = SoundKind(label.split(" ")[0])
    start = float(rng.uniform(0.1, 0.5))
    duration = 0.0 if kind in INSTANT else float(rng.uniform(1.0, 4.0))
    if kind not in CONTACT:
        vessels = (BODIES[Material.GLASS][0], BODIES[Material.CERAMIC][0], BODIES[Material.METAL][0])
        vessel = (_scaled(_one(vessels, rng), rng),) if kind in (SoundKind.POURING, SoundKind.BOILING) else ()
        return SoundEvent(kind, start, duration, float(rng.uniform(0.5, 1.5)), vessel)
    body = _scaled(_one(BODIES[_material_of(label, kind, rng)], rng), rng)
    bodies = (body, _scaled(_one(SUPPORTS, rng), rng))
    if kind in INSTANT:
        fall_m = rng.uniform(0.5, 1.2) if kind is SoundKind.SHATTER else rng.uniform(0.02, 0.5)
        return SoundEvent(kind, start, 0.0, body.mass_kg * math.sqrt(2 * 9.81 * fall_m), bodies)
    power = body.mass_kg * 9.81 * float(rng.uniform(0.05, 0.4))
    return SoundEvent(kind, start, duration, power, bodies)


def example(
    label: str, rng: np.random.Generator, snr_db: float | None = None
) -> tuple[npt.NDArray[np.float32], int, SoundEvent]:
    """A random recording of an event of a class, in a random room with a random microphone.

    Args:
        label: one of `CLASSES`.
        rng: decides everything.
        snr_db: ratio of the event to noise and background; None: as it comes.

    Returns:
        Samples (S,) of `CLIP_S` seconds, their rate in hertz, and the event.
    """
    size = rng.uniform((2.5, 2.5, 2.3), (5.0, 4.5, 2.8))
    room = Room((0.0, 0.0, 0.0), vector_of(size), float(rng.uniform(0.3, 0.7)), int(rng.integers(16)))
    source = rng.uniform(0.4, size - 0.4)
    offset = rng.normal(size=3)
    place = source + offset / np.linalg.norm(offset) * rng.uniform(0.5, 2.0)
    microphone = Microphone(
        position_m=vector_of(np.clip(place, 0.1, size - 0.1)),
        room=room,
        background=Background(float(rng.uniform(25.0, 35.0)), float(rng.choice([0.0, 10.0]))),
        tilt_db=float(rng.uniform(-2.0, 2.0)),
        snr_db=snr_db,
        seed=int(rng.integers(2**31)),
    )
    event = replace(example_event(label, rng), position_m=vector_of(source))
    samples, rate_hz = record([event], 0.0, CLIP_S, microphone)
    return samples, rate_hz, event


def _material_of(label: str, kind: SoundKind, rng: np.random.Generator) -> Material:
    if kind is SoundKind.IMPACT:
        return Material(label.split(" ")[1])
    if kind is SoundKind.SHATTER:
        return _one((Material.GLASS, Material.CERAMIC), rng)
    return _one(tuple(BODIES), rng) if kind is SoundKind.SLIDE else _one((Material.FOOD, Material.GLASS), rng)


def _scaled(body: Body, rng: np.random.Generator) -> Body:
    """A body whose sides and thickness differ by up to 20 %."""
    factor, thicker = (float(rng.uniform(0.8, 1.2)) for _ in range(2))
    x, y, z = (side * factor for side in body.size_m)
    mass = body.mass_kg * factor**2 * thicker
    return replace(body, size_m=(x, y, z), mass_kg=mass, thickness_m=body.thickness_m * thicker)


def _one(items: Sequence[Item], rng: np.random.Generator) -> Item:
    return items[int(rng.integers(len(items)))]

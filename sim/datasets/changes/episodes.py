"""Pairs of observations of dataset VIII, and what happened between them."""

from __future__ import annotations

import colorsys
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

import numpy as np
import numpy.typing as npt

from nsrecover.core.observation import Observation
from sim.common.cameras import Light
from sim.datasets.changes.things import Shape, Table, Thing
from sim.sensors.presets import sensor
from sim.tabletop.scenes import TableSpec, Texture

TABLE = TableSpec(x_m=(0.22, 0.95), y_m=(-0.38, 0.38))
"""Where things stand; their whole outline is inside."""
GAP_M = 0.025
LARGE_M, MIDDLE_M, SMALL_M = (0.20, 0.40), (0.07, 0.20), (0.02, 0.07)
PIXELS_SEEN, PIXELS_CHANGED, SHARE_CHANGED, GREY_LEVELS = 60, 30, 0.12, 25
"""Pixels of one view in which a thing must be seen; pixels, and share of them, that an event must change visibly."""
TRIES = 200


class Event(StrEnum):
    """What happened between the two observations."""

    NOTHING = "nothing"
    REPLACED = "replaced"
    STATE = "state"
    SWAPPED = "swapped"
    MOVED = "moved"
    MISSING = "missing"


SHARES = {
    Event.NOTHING: 0.25, Event.REPLACED: 0.2, Event.STATE: 0.2, Event.SWAPPED: 0.2, Event.MOVED: 0.08,
    Event.MISSING: 0.07,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Episode:
    """A pair of observations and the truth.

    Attributes:
        event: what happened.
        involved: identities of the things of the first observation to which it happened.
        before: what stood on the table.
        after: what stands there now; a replaced thing has another identity.
        first: as it was seen; each thing has its name in the first camera that shows it, "object 1" and so on in the
            order of `before`.
        second: as it is seen now.
    """

    event: Event
    involved: tuple[int, ...]
    before: tuple[Thing, ...]
    after: tuple[Thing, ...]
    first: Observation
    second: Observation


def episode(seed: int, index: int, preset: str = "d435") -> Episode:
    """An episode; seeds 0 to 9 are for development."""
    rng = np.random.default_rng([seed, index, 8])
    event = Event(str(rng.choice(list(SHARES), p=list(SHARES.values()))))
    for _ in range(TRIES):
        before = _scene(rng, event is Event.SWAPPED)
        changed = _changed(rng, event, before)
        if changed is None:
            continue
        involved, after = changed
        table = replace(TABLE, colour=tuple(rng.uniform(0.35, 0.85, 3)), texture=_texture(rng, (0.5, 0.3, 0.0, 0.2)))
        lights, seed_ = (_light(rng), _light(rng)), int(rng.integers(2**31))
        with Table(before, table, lights[0], seed_) as one, Table(after, table, lights[1], seed_) as two:
            if not _fair(one.observe(), _in_light(after, table, lights[0], seed_), involved, before):
                continue
            stream = sensor(preset).stream(2, seed_)
            first, second = stream.observe(one.named), stream.observe(partial(two.observe, time_s=2.0))
        return Episode(event, tuple(before[i].identity for i in involved), before, after, first, second)
    raise RuntimeError(f"no scene for {event} in {TRIES} tries")


def _in_light(things: Sequence[Thing], table: TableSpec, light: Light, seed: int) -> Observation:
    with Table(things, table, light, seed) as lit:
        return lit.observe()


def _texture(rng: np.random.Generator, shares: Sequence[float]) -> Texture:
    return Texture(str(rng.choice([Texture.PLAIN, Texture.WOOD, Texture.CHECKER, Texture.SPECKLE], p=shares)))


def _light(rng: np.random.Generator) -> Light:
    turn, ambient = rng.uniform(0, 2 * math.pi), rng.uniform(0.5, 0.7)
    colour = tuple(float(value) for value in rng.uniform(0.93, 1.0, 3))
    away = rng.uniform(0.1, 0.6)
    direction = (away * math.cos(turn), away * math.sin(turn), 1.0)
    return Light(direction, (colour[0], colour[1], colour[2]), ambient, rng.uniform(0.3, 0.5), 0.05)


def _look(rng: np.random.Generator) -> tuple[tuple[float, float, float], Texture]:
    colour = colorsys.hsv_to_rgb(rng.uniform(), rng.choice([0.15, rng.uniform(0.4, 1.0)]), rng.uniform(0.25, 0.95))
    return colour, _texture(rng, (0.4, 0.2, 0.2, 0.2))


def _thing(rng: np.random.Generator, span: tuple[float, float]) -> Thing:
    shape = Shape(str(rng.choice(list(Shape))))
    length = math.exp(rng.uniform(*np.log(span)))
    width = length if shape in (Shape.ROUND, Shape.VESSEL) else max(0.02, length * rng.uniform(0.4, 1.0))
    height = float(np.clip(length * rng.uniform(0.3, 1.3), 0.02, 0.22))
    return Thing(int(rng.integers(2**31)), shape, (length, width, height), *_look(rng), (0.0, 0.0), 0.0)


def _clear(box: npt.NDArray[np.float64], others: Sequence[Thing]) -> bool:
    (x_low, x_high), (y_low, y_high) = TABLE.x_m, TABLE.y_m
    low, high = box[:2] - box[3:5] / 2, box[:2] + box[3:5] / 2
    inside = low[0] >= x_low and high[0] <= x_high and low[1] >= y_low and high[1] <= y_high
    gaps = [np.max(np.abs(box[:2] - o.box[:2]) - (box[3:5] + o.box[3:5]) / 2) for o in others]
    return bool(inside and min(gaps, default=1.0) >= GAP_M)


def _put(rng: np.random.Generator, thing: Thing, others: Sequence[Thing]) -> Thing | None:
    for _ in range(40):
        place = (float(rng.uniform(*TABLE.x_m)), float(rng.uniform(*TABLE.y_m)))
        put = replace(thing, position=place, yaw=float(rng.uniform(0, math.pi)))
        if _clear(put.box, others):
            return put
    return None


def _scene(rng: np.random.Generator, look_alikes: bool) -> tuple[Thing, ...]:
    spans = [LARGE_M] * int(rng.integers(0, 2)) + [MIDDLE_M] * int(rng.integers(2, 4)) + [SMALL_M] * 3
    wanted = [_thing(rng, span) for span in spans]
    if look_alikes:
        twin = int(rng.integers(len(wanted)))
        hue, saturation, value = colorsys.rgb_to_hsv(*wanted[twin].colour)
        hue = (hue + rng.choice([-1, 1]) * rng.uniform(0.08, 0.25)) % 1.0
        colour = colorsys.hsv_to_rgb(hue, max(saturation, 0.35), value)
        wanted.insert(twin + 1, replace(wanted[twin], identity=int(rng.integers(2**31)), colour=colour))
    things: list[Thing] = []
    for thing in wanted:
        put = _put(rng, thing, things)
        if put is not None:
            things.append(put)
    return tuple(things)


def _changed(
    rng: np.random.Generator, event: Event, before: tuple[Thing, ...]
) -> tuple[tuple[int, ...], tuple[Thing, ...]] | None:
    """Rows of the things to which an event happens, and what stands on the table afterwards; None if it cannot."""
    if event is Event.NOTHING:
        return (), before
    after, row = list(before), int(rng.integers(len(before)))
    thing, rest = before[row], [other for i, other in enumerate(before) if i != row]
    if event is Event.SWAPPED:
        pairs = [(i, j) for i in range(len(before)) for j in range(i) if before[i].size == before[j].size]
        if not pairs:
            return None
        i, j = pairs[0]
        for one, other in ((i, j), (j, i)):
            after[one] = replace(before[one], position=before[other].position, yaw=before[other].yaw)
        return (i, j), tuple(after)
    if event is Event.MISSING:
        return (row,), tuple(rest)
    if event is Event.REPLACED:
        colour, texture = _look(rng)
        after[row] = replace(thing, identity=int(rng.integers(2**31)), colour=colour, texture=texture)
    elif event is Event.STATE:
        after[row] = replace(thing, states=thing.states ^ {thing.possible[int(rng.integers(len(thing.possible)))]})
    else:
        turn, away = rng.uniform(0, 2 * math.pi), rng.uniform(0.03, 0.08)
        x, y = thing.position
        after[row] = replace(thing, position=(x + away * math.cos(turn), y + away * math.sin(turn)))
        if not _clear(after[row].box, rest):
            return None
    return (row,), tuple(after)


def _fair(one: Observation, two: Observation, involved: Sequence[int], before: Sequence[Thing]) -> bool:
    """Whether every thing is seen, and a person would see the event, without noise in the same light."""
    pixels = [np.bincount(view.ravel(), minlength=len(before) + 1)[1:] for view in one.instances]
    if np.max(pixels, axis=0).min() < PIXELS_SEEN:
        return False
    different = np.abs(one.rgb.astype(int) - two.rgb).max(axis=-1) > GREY_LEVELS
    for row in involved:
        seen = one.instances == row + 1
        changed = [(int((different & seen)[v].sum()), int(seen[v].sum())) for v in range(len(seen))]
        if not any(count >= max(PIXELS_CHANGED, SHARE_CHANGED * total) for count, total in changed):
            return False
    return True

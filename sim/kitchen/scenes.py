"""Kitchens as data: which furniture stands where, what stands on it, and 24 layouts from which a seed samples."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from nsrecover.domains.household.names import ORDINALS
from nsrecover.errors import InvalidConfiguration, UnknownObject, did_you_mean
from sim.kitchen.appliances import coffee_machine, cupboard, microwave
from sim.kitchen.devices import television, toaster, tv_stand
from sim.kitchen.fixtures import Finish, Fixture
from sim.kitchen.furniture import drawer, faucet, garbage_can, house_plant, sink, stove, table, worktop
from sim.kitchen.shapes import Colour, Vector
from sim.kitchen.states import ObjectState
from sim.kitchen.things import ThingKind, can_be_sliced, discs, gap, kind_of

NUM_LAYOUTS = 24
HELD_OUT_LAYOUTS = (4, 9, 14, 19, 23)
"""Never used for training."""
TRAINING_LAYOUTS = tuple(number for number in range(NUM_LAYOUTS) if number not in HELD_OUT_LAYOUTS)
_WALL_X_M = 0.85
"""From the robot's start to the first wall's fronts."""
_WIDTHS: Mapping[str, float] = {
    "fridge": 0.60,
    "countertop": 1.10,
    "stove": 0.60,
    "sink": 0.74,
    "drawer": 0.64,
    "coffee": 0.60,
    "cabinet": 0.54,
}
"""Modules and their widths, metres."""
_FINISHES = (
    Finish(),
    Finish((0.36, 0.42, 0.40), (0.80, 0.78, 0.74), appliance=(0.60, 0.61, 0.63), floor=(0.42, 0.33, 0.25)),
    Finish((0.62, 0.46, 0.30), (0.25, 0.25, 0.27), floor=(0.72, 0.72, 0.70)),
    Finish((0.55, 0.66, 0.72), (0.86, 0.84, 0.80), appliance=(0.93, 0.93, 0.93), floor=(0.60, 0.55, 0.48)),
)
SIDE_M = 0.10
"""From the region in which things stand to the side of a fixture."""
_MARGIN_M = 0.11
"""Least free distance between two things at the start: room for a finger and the hand."""


class Plan(StrEnum):
    """How the furniture stands around the robot."""

    STRAIGHT = "straight"
    LEFT = "left"
    """one wall in front, one on the left"""
    RIGHT = "right"
    """one wall in front, one on the right"""
    GALLEY = "galley"
    """one wall in front, one behind"""


@dataclass(frozen=True)
class ThingSpec:
    """One thing at the start.

    Attributes:
        name: unique in the kitchen.
        kind: see `sim.kitchen.things`.
        colour: red, green, blue in 0..1.
        place: name of the fixture on which it stands.
        position: of the middle of its bottom, metres.
        yaw: radians.
        state: contents, dirt and so on.
    """

    name: str
    kind: ThingKind
    colour: Colour
    place: str
    position: Vector
    yaw: float = 0.0
    state: ObjectState = field(default_factory=ObjectState)


@dataclass(frozen=True)
class KitchenSpec:
    """A kitchen at the start.

    Attributes:
        layout: number of its layout.
        seed: from which it was sampled.
        finish: colours.
        fixtures: furniture and appliances.
        things: what can be carried.
    """

    layout: int
    seed: int
    finish: Finish
    fixtures: tuple[Fixture, ...]
    things: tuple[ThingSpec, ...]

    @property
    def cuttable(self) -> tuple[str, ...]:
        """Names of the things that a knife cuts into slices."""
        return tuple(thing.name for thing in self.things if can_be_sliced(thing.kind))

    def fixture(self, name: str) -> Fixture:
        """A fixture by its name.

        Raises:
            UnknownObject: there is none of that name.
        """
        for fixture in self.fixtures:
            if fixture.name == name:
                return fixture
        raise UnknownObject(
            f"expected a fixture of the kitchen, found {name!r}."
            f"{did_you_mean(name, [fixture.name for fixture in self.fixtures])}"
        )


DEFAULT_THINGS = ("mug", "cup", "glass", "pot", "pan", "bowl", "plate", "bottle", "egg", "apple", "tomato", "potato",
                  "bread", "knife")  # fmt: skip
"""What stands in a kitchen unless something else is asked for."""
_USUAL: Mapping[str, tuple[str, ...]] = {
    "egg": ("countertop", "fridge"),
    "tomato": ("countertop", "dining table", "fridge"),
    "pot": ("countertop", "stove burner"),
    "kettle": ("countertop", "stove burner"),
    "remote control": ("tv stand", "dining table"),
    "laptop": ("dining table", "tv stand"),
}
_ATTEMPTS = 120
_DEEP = 0.8
"""Food that is sliced lies on this share of the depth of a place, from its front on: a hand has to reach over it."""
_CUT_MARGIN_M = 0.20
"""Free distance between food that is sliced and appliances: the hand with the knife is next to it."""
_ANYWHERE = ("countertop", "dining table")
"""Kinds of fixtures on which things stand at the start."""


def sample_kitchen(seed: int, layout: int | None = None, things: Sequence[str] = DEFAULT_THINGS) -> KitchenSpec:
    """A kitchen from a seed.

    Args:
        seed: of everything that varies.
        layout: number of the layout; None: any that is not held out.
        things: kinds of the things in it; a kind may be repeated.

    Raises:
        InvalidConfiguration: there is no such layout or kind, or the things do not fit.
    """
    rng = np.random.default_rng([seed, 24])
    if layout is None:
        layout = int(rng.choice(TRAINING_LAYOUTS))
    if not 0 <= layout < NUM_LAYOUTS:
        raise InvalidConfiguration(f"expected a layout of 0 to {NUM_LAYOUTS - 1}, found {layout}")
    finish = _FINISHES[int(rng.integers(len(_FINISHES)))]
    fixtures = furnished(layout, finish)
    # what lies near one another is hard to place; try again from the start
    for _ in range(_ATTEMPTS):
        placed = _placed(rng, fixtures, [kind_of(name) for name in things])
        if placed is not None:
            return KitchenSpec(layout, seed, finish, fixtures, placed)
    raise InvalidConfiguration(
        f"expected things that fit into layout {layout}, found {len(things)} that do not; leave some out"
    )


def furnished(layout: int, finish: Finish) -> tuple[Fixture, ...]:
    """The furniture of a layout."""
    rng = np.random.default_rng([2024, layout])
    plan = list(Plan)[layout % len(Plan)]
    height = float(rng.choice([0.78, 0.80, 0.82]))
    order = _order(rng)
    cut = len(order) if plan is Plan.STRAIGHT else int(rng.integers(3, 5))
    made: list[Fixture] = []
    first, second = order[:cut], order[cut:]
    half = sum(_WIDTHS[name] for name in first) / 2
    made += _along(rng, first, (_WALL_X_M, half), math.pi, height, finish)
    length = sum(_WIDTHS[name] for name in second)
    if plan is Plan.LEFT:
        made += _along(rng, second, (_WALL_X_M - 0.40 - length, half + 0.35), -math.pi / 2, height, finish)
    elif plan is Plan.RIGHT:
        made += _along(rng, second, (_WALL_X_M - 0.40, -half - 0.35), math.pi / 2, height, finish)
    elif plan is Plan.GALLEY:
        made += _along(rng, second, (-1.15, -length / 2), 0.0, height, finish)
    made += _dining(rng, plan, half, height, finish)
    made += _viewing(rng, plan, half, length, finish)
    return _numbered(made)


def _order(rng: np.random.Generator) -> list[str]:
    """The modules in a random order; tall ones are at the ends, so that they do not stand in the way of hands."""
    low = [name for name in _WIDTHS if name not in ("fridge", "cabinet")]
    tall = ["fridge", "cabinet"]
    rng.shuffle(low)
    rng.shuffle(tall)
    return [tall[0], *low, tall[1]]


def _along(
    rng: np.random.Generator,
    modules: Sequence[str],
    start: tuple[float, float],
    yaw: float,
    height: float,
    finish: Finish,
) -> Iterator[Fixture]:
    """Modules side by side along y of a frame with this yaw, whose first corner is at `start`."""
    offset = 0.0
    for name in modules:
        width = _WIDTHS[name]
        middle = offset + width / 2
        position = (start[0] - math.sin(yaw) * middle, start[1] + math.cos(yaw) * middle, 0.0)
        yield from _module(rng, name, position, yaw, width, height, finish)
        offset += width


def _module(
    rng: np.random.Generator, name: str, position: Vector, yaw: float, width: float, height: float, finish: Finish
) -> Iterator[Fixture]:
    if name in ("fridge", "cabinet"):
        colour = finish.appliance if name == "fridge" else finish.body
        yield cupboard(name, position, yaw, width, height, finish, colour, bool(rng.integers(2)))
    elif name == "countertop":
        under = worktop("countertop", position, yaw, width, height, finish)
        yield under
        side = float(rng.choice([-1.0, 1.0])) * (width / 2 - 0.15)
        colour = ((0.70, 0.71, 0.73), (0.62, 0.16, 0.14), (0.90, 0.88, 0.82))[int(rng.integers(3))]
        yield toaster("toaster", under, (-0.20, side), height, colour)
    elif name == "stove":
        yield from stove(position, yaw, width, height, finish)
    elif name == "sink":
        basin = sink("sink", position, yaw, width, height, finish)
        yield basin
        yield faucet("faucet", basin, height, finish)
    elif name == "drawer":
        under = drawer("drawer", position, yaw, width, height, finish)
        yield under
        yield microwave("microwave", under, height, finish, bool(rng.integers(2)))
    else:
        under = worktop("countertop", position, yaw, width, height, finish)
        yield under
        side = float(rng.choice([-0.15, 0.15]))
        colour = ((0.15, 0.15, 0.16), (0.55, 0.12, 0.10))[int(rng.integers(2))]
        yield coffee_machine("coffee machine", under, (-0.09, side), height, colour)


def _dining(rng: np.random.Generator, plan: Plan, half: float, height: float, finish: Finish) -> Iterator[Fixture]:
    width = float(rng.choice([1.0, 1.2]))
    if plan is Plan.GALLEY:
        position, yaw = (-0.15, half + 0.45, 0.0), -math.pi / 2
    else:
        position, yaw = (-1.45, float(rng.uniform(-0.3, 0.3)), 0.0), 0.0
    dining = table("dining table", position, yaw, width, height - 0.04, finish)
    yield dining
    side = width / 2 - 0.18
    pot = ((0.72, 0.38, 0.25), (0.85, 0.85, 0.82), (0.25, 0.35, 0.45))[int(rng.integers(3))]
    yield house_plant("house plant", dining, (-0.24, float(rng.choice([-side, side])), height - 0.04), pot)
    where = (_WALL_X_M, (half + 0.22) if plan is Plan.RIGHT else (-half - 0.22), 0.0)
    yield garbage_can("garbage can", where, math.pi, ((0.30, 0.32, 0.35), (0.25, 0.45, 0.35))[int(rng.integers(2))])


def _viewing(rng: np.random.Generator, plan: Plan, half: float, length: float, finish: Finish) -> Iterator[Fixture]:
    """A television on its stand, on the side of the robot on which there is no wall."""
    shift = float(rng.uniform(-0.15, 0.15))
    if plan is Plan.RIGHT:
        position, yaw = (-0.60 + shift, half + 0.55, 0.0), -math.pi / 2
    elif plan is Plan.GALLEY:
        position, yaw = (-0.15, -max(half, length / 2) - 0.45, 0.0), math.pi / 2
    else:
        position, yaw = (-0.60 + shift, -half - 0.55, 0.0), math.pi / 2
    stand = tv_stand("tv stand", position, yaw, finish)
    yield stand
    yield television("television", stand)


def _numbered(fixtures: Sequence[Fixture]) -> tuple[Fixture, ...]:
    """Fixtures of the same name get ordinals."""
    seen: dict[str, int] = {}
    names: dict[tuple[str, Vector], str] = {}
    for fixture in fixtures:
        name = fixture.name
        if sum(other.name == name for other in fixtures) > 1:
            count = seen[name] = seen.get(name, 0) + 1
            name = f"{ordinal(count - 1)} {name}"
        names[fixture.name, fixture.position] = name
    return tuple(
        replace(
            fixture,
            name=names[fixture.name, fixture.position],
            rests_on=names.get((fixture.rests_on, fixture.position), ""),
        )
        for fixture in fixtures
    )


def ordinal(number: int) -> str:
    """first, second, ... for 0, 1, ..."""
    return ORDINALS[number] if number < len(ORDINALS) else f"{number + 1}th"


def _placed(
    rng: np.random.Generator, fixtures: Sequence[Fixture], kinds: Sequence[ThingKind]
) -> tuple[ThingSpec, ...] | None:
    """Things at free places; None if one does not fit."""
    placed: list[ThingSpec] = []
    names = [kind.name for kind in kinds]
    for index in np.argsort([-kind.radius_m for kind in kinds], kind="stable"):
        kind = kinds[index]
        count = names[:index].count(kind.name)
        name = kind.name if names.count(kind.name) == 1 else f"{ordinal(count)} {kind.name}"
        spec = _one(rng, fixtures, kind, name, placed)
        if spec is None:
            return None
        placed.append(spec)
    return tuple(sorted(placed, key=lambda spec: spec.name))


def _one(
    rng: np.random.Generator, fixtures: Sequence[Fixture], kind: ThingKind, name: str, placed: Sequence[ThingSpec]
) -> ThingSpec | None:
    wanted = str(rng.choice(_USUAL.get(kind.name, _ANYWHERE)))
    for wish in (wanted, *_ANYWHERE):
        options = [fixture for fixture in fixtures if fixture.kind == wish and fixture.places]
        for _ in range(60):
            fixture = options[int(rng.integers(len(options)))]
            yaw = float(rng.uniform(-math.pi, math.pi))
            spot = free_spot(rng, fixtures, fixture, kind, yaw, placed)
            if spot is None:
                continue
            colour = kind.colours[int(rng.integers(len(kind.colours)))]
            shade = float(rng.uniform(0.9, 1.05))
            dirty = kind.capacity_l > 0 and bool(rng.random() < 0.12)
            return ThingSpec(
                name,
                kind,
                (min(1.0, colour[0] * shade), min(1.0, colour[1] * shade), min(1.0, colour[2] * shade)),
                fixture.name,
                spot,
                yaw,
                ObjectState(dirty=dirty),
            )
    return None


def free_spot(
    rng: np.random.Generator,
    fixtures: Sequence[Fixture],
    fixture: Fixture,
    kind: ThingKind,
    yaw: float,
    placed: Sequence[ThingSpec],
) -> Vector | None:
    """A random spot on a fixture, free of other things and of what stands on it; None if the draw is not free."""
    place = fixture.places[0]
    draw = rng.uniform(-1.0, 1.0, 2)
    deep = _DEEP if can_be_sliced(kind) else 1.0
    draw = np.zeros(2) if place.single else draw * [deep, 1.0] + [1.0 - deep, 0.0]
    point = (place.centre[0] + draw[0] * place.half[0], place.centre[1] + draw[1] * place.half[1], place.centre[2])
    if not place.single and abs(point[1] - place.centre[1]) > place.half[1] + SIDE_M - 1.1 * kind.radius_m:
        # a wide thing would touch what is taller next to the fixture
        return None
    spot = fixture.to_world(point)
    covered = discs(kind, float(spot[0]), float(spot[1]), yaw)
    for other in placed:
        apart = gap(covered, discs(other.kind, other.position[0], other.position[1], other.yaw))
        if apart < _MARGIN_M and abs(spot[2] - other.position[2]) < 0.3:
            return None
    margin = _CUT_MARGIN_M if can_be_sliced(kind) else _MARGIN_M
    for other_fixture in fixtures:
        if other_fixture.position != fixture.position or other_fixture.rests_on == "" or other_fixture is fixture:
            continue
        if fixture.kind != "stove burner" and any(
            _blocked(other_fixture, fixture.from_world([x, y, spot[2]]), radius + margin) for x, y, radius in covered
        ):
            return None
    if fixture.kind not in ("stove burner", "fridge"):
        # a long handle must not reach into what stands next to it
        inside = [fixture.from_world([x, y, spot[2]]) - np.asarray(place.centre) for x, y, _ in covered[1:]]
        if any(abs(local[0]) > place.half[0] or abs(local[1]) > place.half[1] + 0.02 for local in inside):
            return None
    return (float(spot[0]), float(spot[1]), float(spot[2]))


def _blocked(fixture: Fixture, point: npt.NDArray[np.float64], margin_m: float) -> bool:
    """Whether a point in the frame that a fixture shares is near one of its upright parts above the point's height."""
    for part in fixture.assembly.base.parts:
        top = part.at[2] + part.size[2] / 2
        if top <= point[2] + 0.005:
            continue
        reach = (part.size[0] / 2, part.size[1] / 2) if part.shape == "box" else (part.size[0], part.size[1])
        dx = max(0.0, abs(point[0] - part.at[0]) - reach[0])
        dy = max(0.0, abs(point[1] - part.at[1]) - reach[1])
        if math.hypot(dx, dy) < margin_m:
            return True
    return False

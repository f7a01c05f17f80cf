"""What people and things do to objects after an action, against the plan or for it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations, product
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from nsrecover.core import Action, Cause
from nsrecover.domains.tabletop.relations import TABLE
from nsrecover.errors import InvalidConfiguration
from sim.common.cameras import DEFAULT_RIG
from sim.common.rotations import axis_aligned, matrix_of, rotation_about
from sim.tabletop.fault_context import FaultContext
from sim.tabletop.faults.base import ErrorClass, Fault, Moment
from sim.tabletop.faults.choosing import ROOM_M as FREE_ROOM_M
from sim.tabletop.faults.choosing import (
    bystanders,
    clear_objects,
    in_workspace,
    obstacles,
    random_place,
    remaining_places,
    room_at,
    standing_sides,
    support_of,
)
from sim.tabletop.placing import boxes, extents, free_places, place_for
from sim.tabletop.poses import PoseEstimates
from sim.tabletop.truth import ROOM_M as TRUE_ROOM_M


@dataclass(frozen=True)
class OneObjectFault(Fault):
    """After an action, something happens to one object; subclasses say what, in `act`.

    Attributes:
        cause_if_moved: correct cause if the object is the one that the action has just moved; `cause` if None.
        name: the object.
    """

    cause_if_moved: ClassVar[Cause | None] = None

    name: str

    def touched(self, action: Action) -> frozenset[str]:
        """The object."""
        return frozenset([self.name])

    def cause_of(self, name: str, action: Action) -> Cause:
        """`cause_if_moved` for the object that the action has just moved, `cause` for any other."""
        return self.cause_if_moved if self.cause_if_moved and name == action.arguments[0] else self.cause

    def after(self, context: FaultContext, action: Action) -> None:
        """Act on the object, unless it is gone."""
        if self.name in context.scene.estimates():
            self.act(context)

    def act(self, context: FaultContext) -> None:
        """Act on the object, which is on the table."""
        raise NotImplementedError


@dataclass(frozen=True)
class CarryFault(OneObjectFault):
    """After an action, an external agent carries an object to another place.

    Attributes:
        name: the object. Nothing may stand on it.
        position_m: new place of its centre, x, y and z.
    """

    position_m: tuple[float, float, float]

    def act(self, context: FaultContext) -> None:
        """Carry the object there."""
        context.agent.carry(self.name, self.position_m)


BLOCKED_ROOM_M = 0.008
"""Minimum gap between the object and its new neighbours."""
AWAY_M = 0.04
"""Minimum distance over which the object is moved."""


@dataclass(frozen=True)
class BlockedPlace(CarryFault, error_class=ErrorClass.AGENT, cause=Cause.BLOCKING):
    """After an action, an external agent puts an object where a later action has to put another one."""

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """A place that a later action needs and that is free now, for an object that this action does not use."""
        here = boxes(moment.after)
        places = remaining_places(moment)
        options = [(number, name) for number in range(len(places)) for name in bystanders(moment)]
        for i in rng.permutation(len(options)):
            number, name = options[int(i)]
            later, wanted = places[number]
            if name in later.arguments or not in_workspace(wanted, moment.after.table):
                continue
            sides = standing_sides(moment.after, name)
            floor = float(wanted[2] - wanted[5] / 2)
            below = later.arguments[1] if later.operator == "top" else None
            row = moment.after.index(name)
            if below is not None:
                base = here[moment.after.index(below)]
                ready = abs(base[2] + base[5] / 2 - floor) < 0.004 and np.abs(base[:2] - wanted[:2]).max() < 0.01
                if not ready or below in moment.taken or bool(np.any(sides[:2] > 1.7 * base[3:5])):
                    continue
            stay = [j for j, other in enumerate(moment.after.names) if other not in (name, below)]
            level = here[[j for j in stay if here[j, 2] + here[j, 5] / 2 > floor + 0.004]]
            away = float(np.linalg.norm(here[row, :2] - wanted[:2]))
            if away > AWAY_M and room_at(wanted, sides, level) > BLOCKED_ROOM_M:
                x, y, z = (round(float(value), 4) for value in (wanted[0], wanted[1], floor + sides[2] / 2))
                return cls(moment.step, name, (x, y, z))
        return None


FARTHEST_M = 0.25
"""Maximum distance that an object is moved."""


@dataclass(frozen=True)
class Displaced(OneObjectFault, error_class=ErrorClass.AGENT, cause=Cause.MOVED, cause_if_moved=Cause.MISPLACED):
    """After an action, an external agent moves an object to a place nearby. Nothing may stand on it.

    Attributes:
        name: the object.
        offset_m: displacement along x and y.
    """

    offset_m: tuple[float, float]

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """An object on the table that the action did not move, and a free place nearby."""
        for name in rng.permutation(bystanders(moment)).tolist():
            place = random_place(moment, name, rng, (0.05, FARTHEST_M))
            if place is not None:
                x, y = place[:2] - moment.after.positions[moment.after.index(name), :2]
                return cls(moment.step, name, (round(float(x), 4), round(float(y), 4)))
        return None

    def act(self, context: FaultContext) -> None:
        """Lift the object and set it down at the same height."""
        position, _ = context.scene.pose(self.name)
        context.agent.carry(self.name, position + np.array([*self.offset_m, 0.0]))


MOST = 3
"""Maximum number of actions of the person, when sampled."""


@dataclass(frozen=True)
class HelpingPerson(Fault, error_class=ErrorClass.AGENT, cause=Cause.HELPED):
    """After an action of the robot, a person carries out other actions by hand.

    Attributes:
        actions: of the person, in order.
    """

    actions: tuple[Action, ...]

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """The next one to three actions of the plan, if no other fault acts on their objects."""
        count = int(rng.integers(1, MOST + 1))
        actions = []
        for action in moment.plan.actions[moment.step + 1 : moment.step + 1 + count]:
            if moment.taken & set(action.arguments):
                break
            actions.append(action)
        return cls(moment.step, tuple(actions)) if actions else None

    def touched(self, action: Action) -> frozenset[str]:
        """The objects that the person moves."""
        return frozenset(done.arguments[0] for done in self.actions)

    def after(self, context: FaultContext, action: Action) -> None:
        """Carry each object to the place of its action."""
        for done in self.actions:
            estimates = context.scene.estimates()
            place = place_for(done, estimates) if all(name in estimates for name in done.arguments) else None
            if place is None:
                context.scene.note(f"the person cannot do {done}")
                return
            name = done.arguments[0]
            turn = place[1] @ axis_aligned(matrix_of(context.scene.pose(name)[1])).T
            context.agent.carry(name, place[0], yaw=math.atan2(turn[1, 0], turn[0, 0]))


RADIUS_M = (0.85, 1.00)
"""Distance from the robot base: the arm reaches 0.81 m."""
TABLE_X_M = (0.20, 0.98)
"""Part of the table that carries objects: depth."""
TABLE_Y_M = (-0.54, 0.54)
"""The same: breadth."""
IMAGE_EDGE = 4
"""Minimum distance of a visible object from the edge of the image, pixels."""
OUT_OF_REACH_ROOM_M = 0.03
"""Minimum gap to other objects."""
TRIES = 400


@dataclass(frozen=True)
class OutOfReach(CarryFault, error_class=ErrorClass.EXPLICIT, cause=Cause.MOVED, cause_if_moved=Cause.DROPPED):
    """After an action, an external agent puts an object on a far part of the table."""

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """An object on the table that the action did not move, and a place that all default cameras see."""
        free = bystanders(moment)
        if not free:
            return None
        name = free[int(rng.integers(len(free)))]
        sides = standing_sides(moment.after, name)
        others = np.delete(boxes(moment.after), moment.after.index(name), axis=0)
        found = None
        for _ in range(TRIES):
            place = np.array([rng.uniform(*TABLE_X_M), rng.uniform(*TABLE_Y_M), sides[2] / 2])
            far = RADIUS_M[0] <= math.hypot(place[0], place[1]) <= RADIUS_M[1]
            if not far or room_at(place, sides, others) < OUT_OF_REACH_ROOM_M:
                continue
            x, y, z = (round(float(value), 4) for value in place)
            found = cls(moment.step, name, (x, y, z))
            if _seen(place, sides):
                break
        return found


def _seen(centre: npt.NDArray[np.float64], sides: npt.NDArray[np.float64]) -> bool:
    """Whether a box lies completely in the image of every default camera."""
    corners = centre + np.array(list(product((-0.5, 0.5), repeat=3))) * sides
    size = np.array([DEFAULT_RIG.width, DEFAULT_RIG.height])
    for view in DEFAULT_RIG.views:
        camera = view.camera(*(int(value) for value in size))
        turn, eye = camera.world_from_camera[:3, :3], camera.world_from_camera[:3, 3]
        pixels = (corners - eye) @ turn @ camera.intrinsics.T
        pixels = pixels[:, :2] / pixels[:, 2:]
        if bool(np.any(pixels < IMAGE_EDGE) or np.any(pixels > size - IMAGE_EDGE)):
            return False
    return True


@dataclass(frozen=True)
class Removed(OneObjectFault, error_class=ErrorClass.EXPLICIT, cause=Cause.MISSING):
    """After an action, an object is removed from the table for good. Objects that stood on it fall.

    Attributes:
        name: the object.
    """

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """An object with nothing on it."""
        free = clear_objects(moment)
        return cls(moment.step, free[int(rng.integers(len(free)))]) if free else None

    def act(self, context: FaultContext) -> None:
        """Remove the object."""
        context.agent.take_away(self.name)


CLOSE_M = 0.004
"""Minimum gap between a swapped object and its new neighbours on a crowded table."""
BESIDE_M = 0.12
"""Distance of a place beside a full table from the outermost centres on it."""

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Swap(Fault, error_class=ErrorClass.EXPLICIT, cause=Cause.SWAPPED):
    """After an action, an external agent swaps the places of two objects. Nothing may stand on either.

    Attributes:
        first: one object.
        second: the other object.
    """

    first: str
    second: str

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """Two objects with nothing on them that fit each other's place and do not support each other."""
        pairs = list(combinations(clear_objects(moment), 2))
        for i in rng.permutation(len(pairs)):
            first, second = pairs[int(i)]
            if _fits(moment, first, second) and _fits(moment, second, first):
                return cls(moment.step, first, second)
        return None

    def touched(self, action: Action) -> frozenset[str]:
        """Both objects."""
        return frozenset([self.first, self.second])

    def __post_init__(self) -> None:
        if self.first == self.second:
            raise InvalidConfiguration(f"expected two different objects to swap, found {self.first!r} twice")

    def after(self, context: FaultContext, action: Action) -> None:
        """Move the first object aside, the second to the place of the first, and the first to the other place."""
        estimates = context.scene.estimates()
        if self.first not in estimates or self.second not in estimates:
            context.scene.note(f"the {self.first} and the {self.second} cannot be swapped: one of them is gone")
            return
        places, heights = {}, {}
        for name in (self.first, self.second):
            row = estimates.index(name)
            places[name] = estimates.positions[row].copy()
            heights[name] = float(extents(matrix_of(estimates.orientations[row]), estimates.sizes[row])[2])
        row = estimates.index(self.first)
        sides = extents(axis_aligned(matrix_of(estimates.orientations[row])), estimates.sizes[row])
        # the place of the first object counts as occupied: the second one goes there
        taken = PoseEstimates(
            (*estimates.names, "its own place"),
            np.concatenate([estimates.positions, estimates.positions[[row]]]),
            np.concatenate([estimates.orientations, estimates.orientations[[row]]]),
            np.concatenate([estimates.sizes, estimates.sizes[[row]]]),
            estimates.table,
        )
        aside = next(free_places(taken, self.first, sides), None)
        if aside is None and estimates.keep_yaw:
            aside = _beside(estimates, sides)
        if aside is None:
            context.scene.note(f"the {self.first} and the {self.second} cannot be swapped: the table is full")
            return
        context.agent.carry(self.first, [*aside, sides[2] / 2])
        for name, other in ((self.second, self.first), (self.first, self.second)):
            floor = places[other][2] - heights[other] / 2
            context.agent.carry(name, np.array([*places[other][:2], floor + heights[name] / 2]))


def _fits(moment: Moment, name: str, other: str) -> bool:
    """Whether an object can stand where another one does."""
    estimates = moment.after
    sides, place = standing_sides(estimates, name), estimates.positions[estimates.index(other)]
    here, below = boxes(estimates), support_of(moment, other)
    rows = [i for i, item in enumerate(estimates.names) if item not in (name, other, below)]
    level = [i for i in rows if here[i, 2] + here[i, 5] / 2 > place[2] - 0.01]
    # wide objects tip over on narrow ones
    if below in estimates and bool(np.any(sides[:2] > 1.7 * here[estimates.index(below), 3:5])):
        return False
    room_m = CLOSE_M if estimates.keep_yaw else FREE_ROOM_M / 2
    return below != name and room_at(place, sides, here[level]) > room_m


def _beside(estimates: PoseEstimates, sides: Array) -> Array | None:
    """A place (2,) beside a full table, where a person puts an object down for a moment; None if it is taken."""
    x_m, y_m = estimates.table.x_m, estimates.table.y_m
    for y in (y_m[1] + BESIDE_M, y_m[0] - BESIDE_M):
        place = np.array([sum(x_m) / 2, y])
        if room_at(place, sides, boxes(estimates)) > CLOSE_M:
            return place
    return None


DIRECTIONS = 8
"""Number of directions that are tried."""
TOPPLED_ROOM_M = 0.02
"""Minimum gap between the place where an object falls and all other objects."""


@dataclass(frozen=True)
class Toppled(OneObjectFault, error_class=ErrorClass.AGENT, cause=Cause.TOPPLED, cause_if_moved=Cause.DROPPED):
    """After an action, an external agent tips an object over an edge of its base. Nothing may stand on it.

    Attributes:
        name: the object.
        direction: of the fall, about the vertical, radians.
    """

    direction: float

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """An object on the table that the action did not move, and a direction in which it has room to fall."""
        for name in rng.permutation(bystanders(moment)).tolist():
            box = boxes(moment.after)[moment.after.index(name)]
            others, sides = obstacles(moment, name), np.full(2, float(box[3:].max()))
            first = float(rng.uniform(0.0, 2 * math.pi))
            for turn in range(DIRECTIONS):
                direction = first + 2 * math.pi * turn / DIRECTIONS
                way = np.array([math.cos(direction), math.sin(direction)])
                place = box[:2] + way * (box[3:5].max() + box[5]) / 2
                if in_workspace(place, moment.after.table) and room_at(place, sides, others) > TOPPLED_ROOM_M:
                    return cls(moment.step, name, round(direction % (2 * math.pi), 4))
        return None

    def act(self, context: FaultContext) -> None:
        """Knock the object over."""
        context.agent.topple(self.name, self.direction)


CLEARLY_M = 0.004
"""The object takes at least this much more room than is tolerated."""
GAP_M = 0.003
"""Minimum gap between the turned object and its neighbours."""
TURNED_TRIES = 20


@dataclass(frozen=True)
class Turned(OneObjectFault, error_class=ErrorClass.AGENT, cause=Cause.MOVED, cause_if_moved=Cause.MISPLACED):
    """After an action, an external agent turns a brick about the vertical; its centre stays. Nothing may stand on it.

    The brick then takes more room sideways: fingers no longer fit between it and its neighbours, and it stands in
    places that the plan needs.

    Attributes:
        name: the object.
        yaw: its new rotation against the world's axes, after it was squared up, radians.
    """

    yaw: float

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """An object that takes clearly more room when it is turned by 40 to 90 degrees, and touches nothing then."""
        here = boxes(moment.after)
        for name in rng.permutation(clear_objects(moment)).tolist():
            row = moment.after.index(name)
            flat, size = axis_aligned(matrix_of(moment.after.orientations[row])), moment.after.sizes[row]
            bottom = here[row, 2] - here[row, 5] / 2
            others = np.delete(here, row, axis=0)
            level = others[others[:, 2] + others[:, 5] / 2 > bottom + 0.004]
            for _ in range(TURNED_TRIES):
                yaw = round(math.radians(rng.uniform(40.0, 90.0)) * float(rng.choice([-1.0, 1.0])), 4)
                sides = extents(rotation_about((0.0, 0.0, 1.0), yaw) @ flat, size)
                wider = float((sides - here[row, 3:]).max()) > TRUE_ROOM_M + CLEARLY_M
                if wider and room_at(here[row, :2], sides, level) > GAP_M:
                    return cls(moment.step, name, yaw)
        return None

    def act(self, context: FaultContext) -> None:
        """Lift the object, turn it and set it down in its place."""
        position, _ = context.scene.pose(self.name)
        context.agent.carry(self.name, position, yaw=self.yaw)


@dataclass(frozen=True)
class Unstack(CarryFault, error_class=ErrorClass.AGENT, cause=Cause.MOVED, cause_if_moved=Cause.MISPLACED):
    """After an action, an external agent puts the highest object of a structure on the table."""

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """An object that stands on another one, and a free place on the table."""
        stacked = [name for name in clear_objects(moment) if support_of(moment, name) != TABLE]
        for name in rng.permutation(stacked).tolist():
            place = random_place(moment, name, rng)
            if place is not None:
                x, y, z = (float(value) for value in place)
                return cls(moment.step, name, (x, y, z))
        return None

"""Faults of the arm: it is misled, grasps, holds or places wrongly, or hits something on its way."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from nsrecover.core import Action, Cause
from nsrecover.domains.tabletop.relations import TABLE, resting_on, supporter
from sim.common.rotations import rotation_about
from sim.tabletop.fault_context import FaultContext
from sim.tabletop.faults.base import ErrorClass, Fault, Moment
from sim.tabletop.faults.choosing import (
    bystanders,
    clear_objects,
    in_workspace,
    obstacles,
    random_place,
    room_at,
    standing_sides,
)
from sim.tabletop.faults.others import OneObjectFault
from sim.tabletop.phases import SkillPhase
from sim.tabletop.placing import boxes, extents, true_graph
from sim.tabletop.poses import PoseEstimates
from sim.tabletop.shapes import DENSITY_KG_M3

SPEED_M_S = 0.6
"""Mean speed that the arm reaches with a load; its joints limit it."""
FALL_S = (0.1, 0.2)
"""Shortest and longest fall from transit height; the object keeps its horizontal speed."""
OFF_M = 0.035
"""Minimum distance between the place where it lands and its goal, unless it rolls."""
GONE_M = 0.03
"""Minimum distance that it is carried before."""


@dataclass(frozen=True)
class Drop(Fault, error_class=ErrorClass.GRASP, cause=Cause.DROPPED):
    """The fingers lose their force while the arm moves sideways, and the object falls.

    Attributes:
        progress: share of the transport's time after which it happens, 0 to 1.
    """

    progress: float = 0.5

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """A moment of the transport from which the object does not land at its goal."""
        name = moment.action.arguments[0]
        if name in moment.taken:
            return None
        start, goal = (poses.positions[poses.index(name), :2] for poses in (moment.before, moment.after))
        distance = float(np.linalg.norm(goal - start))
        # later drops land at the goal too often
        progress = np.arange(0.15, 0.61, 0.01)
        carried = progress * progress * (3 - 2 * progress) * distance
        nearest, farthest = (carried + 6 * progress * (1 - progress) * SPEED_M_S * seconds for seconds in FALL_S)
        off = (farthest < distance - OFF_M) | (nearest > distance + OFF_M)
        good = progress[(carried > GONE_M) & off]
        return cls(moment.step, round(float(good[int(rng.integers(len(good)))]), 2)) if len(good) else None

    @property
    def moment(self) -> tuple[SkillPhase, float]:
        """The fingers lose the object then."""
        return SkillPhase.TRANSPORT, self.progress

    def during(self, context: FaultContext, action: Action, phase: SkillPhase, progress: float) -> None:
        """Remove force and friction from the fingers."""
        if phase is SkillPhase.TRANSPORT and progress >= self.progress:
            context.grip.weaken_grip(force_n=0.0, friction=0.0)


@dataclass(frozen=True)
class Slip(Fault, error_class=ErrorClass.GRASP, cause=Cause.NOT_LIFTED):
    """The fingers lose their force during the lift, and the object slides out of them.

    An object weighs 0.2 to 1.2 newtons; twice the force times the friction (1.5 for a good pad) holds it. The physics
    engine keeps the friction of existing contacts, so for them only the force counts.

    Attributes:
        progress: share of the lift after which it happens, 0 to 1.
        force_n: remaining force of each finger, newtons.
        friction: remaining friction of the pads.
    """

    progress: float = 0.4
    force_n: float = 0.0
    friction: float = 0.0

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """A grip that is too weak, early in the lift."""
        if moment.action.arguments[0] in moment.taken:
            return None
        progress, force_n, friction = rng.uniform(0.2, 0.5), rng.uniform(0.0, 0.03), rng.uniform(0.0, 1.5)
        return cls(moment.step, round(float(progress), 3), round(float(force_n), 3), round(float(friction), 2))

    @property
    def moment(self) -> tuple[SkillPhase, float]:
        """The fingers lose the object then."""
        return SkillPhase.LIFT, self.progress

    def during(self, context: FaultContext, action: Action, phase: SkillPhase, progress: float) -> None:
        """Reduce force and friction of the fingers."""
        if phase is SkillPhase.LIFT and progress >= self.progress:
            context.grip.weaken_grip(self.force_n, self.friction)


OUT_M = 0.055
"""An object whose centre is farther from the tool than this is out of the fingers."""


def _press_on(context: FaultContext, action: Action) -> None:
    """Give the fingers their force back, once nothing is between them."""
    if float(np.linalg.norm(context.scene.in_hand(action.arguments[0])[0])) > OUT_M:
        context.grip.weaken_grip(friction=0.0)


@dataclass(frozen=True)
class DropClosing(Drop, needs_arm=True):
    """As `Drop`, but the fingers close when the object has left them; there, they stay slack."""

    def during(self, context: FaultContext, action: Action, phase: SkillPhase, progress: float) -> None:
        """Remove the friction, and the force until the object has left the fingers."""
        super().during(context, action, phase, progress)
        if phase is SkillPhase.TRANSPORT and progress >= self.progress:
            _press_on(context, action)


@dataclass(frozen=True)
class SlipClosing(Slip, needs_arm=True):
    """As `Slip`, but the fingers close when the object has left them; there, they stay slack."""

    def during(self, context: FaultContext, action: Action, phase: SkillPhase, progress: float) -> None:
        """Reduce friction, and the force until the object has left the fingers."""
        super().during(context, action, phase, progress)
        if phase is SkillPhase.LIFT and progress >= self.progress:
            _press_on(context, action)


ABOVE_M = (0.012, 0.03)
"""Gap between the fingertips and the top of an object that they close above."""
TIP_M = 0.0075
"""Length of the fingers below the tool centre point, which goes to the estimated centre."""
BESIDE_M = (0.035, 0.055)
"""Gap between the object and its estimate, if the fingers come down next to it: more than one finger."""
HAND_M = 0.03
"""Room that the fingers need around the estimated object."""


@dataclass(frozen=True)
class MissedGrasp(Fault, error_class=ErrorClass.GRASP, cause=Cause.NOT_LIFTED):
    """The controller's estimate of the object is wrong; the fingers close next to it or above it.

    Attributes:
        offset_m: estimated minus true place, along x, y and z.
    """

    offset_m: tuple[float, float, float]

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """Next to the object if the fingers have room there, otherwise above it."""
        name = moment.action.arguments[0]
        if name in moment.taken:
            return None
        row = moment.before.index(name)
        here = boxes(moment.before)
        own, others = here[row], np.delete(here, row, axis=0)
        if own[2] < own[5] and rng.random() < 0.5:
            for _ in range(20):
                axis, sign = int(rng.integers(2)), float(rng.choice([-1.0, 1.0]))
                offset = np.zeros(3)
                offset[axis] = sign * (own[3 + axis] + rng.uniform(*BESIDE_M))
                if room_at(own[:2] + offset[:2], own[3:5], others) > HAND_M:
                    return cls(moment.step, _rounded(offset))
        up = own[5] / 2 + TIP_M + rng.uniform(*ABOVE_M)
        return cls(moment.step, _rounded(np.array([0.0, 0.0, up])))

    def estimates(self, action: Action, estimates: PoseEstimates, rng: np.random.Generator) -> PoseEstimates:
        """Shift the object's estimate."""
        name = action.arguments[0]
        return estimates.shifted(name, self.offset_m) if name in estimates else estimates


def _rounded(offset: np.ndarray) -> tuple[float, float, float]:
    x, y, z = (round(float(value), 4) for value in offset)
    return x, y, z


SWEPT_M = 0.015
"""The load hits a structure this close to its straight path."""
TALL_M = 0.085
"""The arm passes over lower structures even if it does not know of them."""


@dataclass(frozen=True)
class Misled(Fault, error_class=ErrorClass.MOTION, cause=Cause.TOPPLED, needs_arm=True):
    """For one action, the pose estimates of some objects are wrong, and the arm relies on them.

    With `height_share` below 1 the estimated tower is lower than the true one, and the arm hits it.

    Attributes:
        names: the objects with wrong estimates.
        offset_m: estimated minus true place.
        height_share: estimated height as a share of the true one.
    """

    names: tuple[str, ...]
    offset_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    height_share: float = 1.0

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """The goal tower with a lower estimate; or a tower near the path with a lower or displaced estimate."""
        moved = moment.action.arguments[0]
        if moved in moment.taken:
            return None
        options = []
        for tower, heights, is_goal in _towers(moment):
            if moment.taken & set(tower):
                continue
            if is_goal:
                options.append(cls(moment.step, tower, height_share=round(believed_share(heights), 4)))
            else:
                options.append(cls(moment.step, tower, height_share=round(float(rng.uniform(0.1, 0.4)), 3)))
                # the estimate is at the other end of the table
                side = 0.6 if moment.before.positions[moment.before.index(tower[0]), 1] < 0 else -0.6
                options.append(cls(moment.step, tower, offset_m=(0.0, side, 0.0)))
        return options[int(rng.integers(len(options)))] if options else None

    def touched(self, action: Action) -> frozenset[str]:
        """The objects that are hit, and the load."""
        return frozenset([*self.names, action.arguments[0]])

    def cause_of(self, name: str, action: Action) -> Cause:
        """The load counts as dropped, the others as toppled."""
        return Cause.DROPPED if name == action.arguments[0] else self.cause

    def estimates(self, action: Action, estimates: PoseEstimates, rng: np.random.Generator) -> PoseEstimates:
        """Shift the controller's estimates."""
        for name in self.names:
            if name in estimates:
                height = float(estimates.positions[estimates.index(name), 2])
                lower = np.array([0.0, 0.0, height * (self.height_share - 1.0)])
                estimates = estimates.shifted(name, np.asarray(self.offset_m) + lower)
        return estimates


def believed_share(heights: Sequence[float]) -> float:
    """The `height_share` of a tower with which the arm hits the two highest blocks.

    The goal of the carried block is then the place of the second highest one: the arm knocks the two away and does not
    press on the rest.

    Args:
        heights: of the blocks from the lowest to the highest, metres.
    """
    centre = sum(heights) - heights[-1] / 2
    believed = sum(heights[:-2]) - heights[-1] / 2
    return believed / centre


def _towers(moment: Moment) -> Iterator[tuple[tuple[str, ...], list[float], bool]]:
    """Towers that the load would hit: their objects and heights from the lowest up, and whether one is its goal."""
    graph, here = true_graph(moment.before), boxes(moment.before)
    moved = graph.index(moment.action.arguments[0])
    start = here[moved, :2]
    goal = moment.after.positions[moment.after.index(graph.names[moved]), :2]
    for peak in range(len(graph)):
        if peak == moved or resting_on(graph, peak):
            continue
        tower: list[int] = [peak]
        while (below := supporter(graph, tower[0])) is not None and below not in tower:
            tower.insert(0, below)
        height = float(here[peak, 2] + here[peak, 5] / 2)
        if len(tower) < 2 or height < TALL_M or moved in tower:
            continue
        is_goal = moment.action.operator == "top" and graph.names[peak] == moment.action.arguments[1]
        shares = np.linspace(0.15, 0.85, 30)
        way = start + shares[:, None] * (goal - start)
        gaps = np.abs(way - here[peak, :2]) - (here[peak, 3:5] + here[moved, 3:5]) / 2
        if is_goal or bool(np.any(gaps.max(axis=1) < -SWEPT_M)):
            yield tuple(graph.names[i] for i in tower), [float(here[i, 5]) for i in tower], is_goal


Array = npt.NDArray[np.float64]
Place = tuple[Array, Array]

TIPS = (0.15, 0.35)
"""Distance of the object's centre beyond the edge of its support, as a share of the object's width."""
ASIDE_M = (0.03, 0.06)
"""Distance between the goal on the table and the actual place."""
ROOM_M = 0.012
"""Minimum gap between an object on the table and all others."""


@dataclass(frozen=True)
class OffsetPlacement(Fault, error_class=ErrorClass.OUTCOME, cause=Cause.MISPLACED):
    """The object is placed next to its goal: it tips off its support, or stands at a wrong place on the table.

    Attributes:
        offset_m: displacement along x and y.
    """

    offset_m: tuple[float, float]

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """Beyond the edge of the support, or at a free place on the table."""
        own, here = _placed_box(moment), boxes(moment.after)
        if own is None:
            return None
        others = obstacles(moment, moment.action.arguments[0])
        for _ in range(40):
            if moment.action.operator == "top":
                below = here[moment.after.index(moment.action.arguments[1])]
                axis, sign = int(rng.integers(2)), float(rng.choice([-1.0, 1.0]))
                offset = np.zeros(2)
                offset[axis] = sign * (below[3 + axis] / 2 + rng.uniform(*TIPS) * own[3 + axis])
                offset += below[:2] - own[:2]
                fits = True
            else:
                angle, distance = rng.uniform(0.0, 2 * math.pi), rng.uniform(*ASIDE_M)
                offset = distance * np.array([math.cos(angle), math.sin(angle)])
                place = own[:2] + offset
                fits = in_workspace(place, moment.after.table) and room_at(place, own[3:5], others) > ROOM_M
            if fits:
                return cls(moment.step, (round(float(offset[0]), 4), round(float(offset[1]), 4)))
        return None

    def cause_of(self, name: str, action: Action) -> Cause:
        """An object that tips off its support counts as dropped."""
        return Cause.DROPPED if action.operator == "top" else self.cause

    def goal(self, action: Action, estimates: PoseEstimates, place: Place) -> Place:
        """Shift the goal."""
        return place[0] + [*self.offset_m, 0.0], place[1]


@dataclass(frozen=True)
class WrongSupport(Fault, error_class=ErrorClass.OUTCOME, cause=Cause.MISPLACED):
    """The object is put on another support than the action says.

    Attributes:
        support: the name of another object with nothing on it, or `table`.
        position_m: x and y on the table; unused if the support is an object.
    """

    support: str
    position_m: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """Another object, or the table if the action stacks."""
        name = moment.action.arguments[0]
        own, here = _placed_box(moment), boxes(moment.after)
        if own is None:
            return None
        options = [
            other
            for other in clear_objects(moment)
            if other != name and bool(np.all(own[3:5] <= 1.5 * here[moment.after.index(other), 3:5]))
        ]
        if moment.action.operator == "top":
            options.append(TABLE)
        for other in rng.permutation(options).tolist():
            if other != TABLE:
                return cls(moment.step, other)
            place = random_place(moment, name, rng)
            if place is not None:
                return cls(moment.step, TABLE, (float(place[0]), float(place[1])))
        return None

    def goal(self, action: Action, estimates: PoseEstimates, place: Place) -> Place:
        """The top of the other object, or the place on the table."""
        height = extents(place[1], estimates.sizes[estimates.index(action.arguments[0])])[2]
        if self.support == TABLE:
            return np.array([*self.position_m, height / 2]), place[1]
        if self.support not in estimates or self.support == action.arguments[0]:
            return place
        below = boxes(estimates)[estimates.index(self.support)]
        return np.array([below[0], below[1], below[2] + (below[5] + height) / 2]), place[1]


@dataclass(frozen=True)
class WrongYaw(Fault, error_class=ErrorClass.OUTCOME, cause=Cause.MISPLACED):
    """The object is put at its goal, but turned.

    Attributes:
        yaw: angle, radians.
    """

    yaw: float

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """An angle of 25 to 45 degrees in either direction."""
        if moment.action.arguments[0] in moment.taken:
            return None
        yaw = math.radians(rng.uniform(25.0, 45.0)) * float(rng.choice([-1.0, 1.0]))
        return cls(moment.step, round(yaw, 4))

    def goal(self, action: Action, estimates: PoseEstimates, place: Place) -> Place:
        """Turn the goal about the vertical."""
        return place[0], rotation_about((0.0, 0.0, 1.0), self.yaw) @ place[1]


def _placed_box(moment: Moment) -> Array | None:
    """Box (6,) of the moved object after the action; None if the object is gone or another fault acts on it."""
    name = moment.action.arguments[0]
    available = name in moment.after and name not in moment.taken
    return boxes(moment.after)[moment.after.index(name)] if available else None


DISTANCE_M = (0.04, 0.10)
"""Distance that an object slides."""
FRICTION = 1.0
"""Friction coefficient of an object on the table."""
GRAVITY_M_S2 = 9.81
PUSH_ROOM_M = 0.015
"""Minimum gap to all other objects along its path."""


@dataclass(frozen=True)
class Push(OneObjectFault, error_class=ErrorClass.EXPLICIT, cause=Cause.MOVED, cause_if_moved=Cause.MISPLACED):
    """After an action, an impulse hits an object, which slides or tumbles.

    Attributes:
        name: the object.
        impulse_n_s: impulse along x, y and z, newton seconds.
    """

    impulse_n_s: tuple[float, float, float]

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """An object on the table and a direction in which it stays in reach and hits nothing."""
        for name in rng.permutation(bystanders(moment)).tolist():
            row = moment.after.index(name)
            here, sides = moment.after.positions[row, :2], standing_sides(moment.after, name)
            others = obstacles(moment, name)
            mass = DENSITY_KG_M3 * float(np.prod(moment.after.sizes[row]))
            for _ in range(40):
                angle, distance = rng.uniform(0.0, 2 * math.pi), rng.uniform(*DISTANCE_M)
                way = np.array([math.cos(angle), math.sin(angle)])
                # it may slide 1.5 times as far
                places = here + np.linspace(0.0, 1.5 * distance, 6)[:, None] * way
                if (
                    in_workspace(places[-1], moment.after.table)
                    and min(room_at(place, sides, others) for place in places) > PUSH_ROOM_M
                ):
                    impulse = mass * math.sqrt(2 * FRICTION * GRAVITY_M_S2 * distance) * way
                    return cls(moment.step, name, (round(float(impulse[0]), 5), round(float(impulse[1]), 5), 0.0))
        return None

    def act(self, context: FaultContext) -> None:
        """Push the object."""
        context.agent.push(self.name, self.impulse_n_s)


PHASES = (SkillPhase.APPROACH, SkillPhase.LIFT, SkillPhase.TRANSPORT)


@dataclass(frozen=True)
class PushMidway(Push, needs_arm=True):
    """While an action runs, an impulse hits another object, which slides or tumbles.

    Attributes:
        name: the object.
        impulse_n_s: impulse along x, y and z, newton seconds.
        phase: of the motion in which it happens.
        progress: share of the phase after which it happens, 0 to 1.
    """

    phase: str = SkillPhase.TRANSPORT
    progress: float = 0.5

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """As for `Push`, at a random moment before the arm lowers its load; never the object that the arm moves."""
        push = Push.sample(moment, rng)
        if push is None or push.name in moment.action.arguments:
            return None
        phase, progress = str(rng.choice(PHASES)), round(float(rng.uniform(0.1, 0.9)), 2)
        return cls(moment.step, push.name, push.impulse_n_s, phase, progress)

    @property
    def moment(self) -> tuple[SkillPhase, float]:
        """When it happens."""
        return SkillPhase(self.phase), self.progress

    def strike(self, context: FaultContext) -> None:
        """Push the object."""
        context.agent.hit(self.name, self.impulse_n_s)

    def act(self, context: FaultContext) -> None:
        """After the action nothing happens any more."""

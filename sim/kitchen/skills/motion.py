"""Motions that all skills share: driving to a station, following tool poses, gripping and letting go."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from sim.common import kinematics
from sim.common.arm import DOWN, GRIP_FORCE_N, OPEN_M, Leg
from sim.common.rotations import rotation_about, rotation_vector
from sim.kitchen.cell import KitchenCell
from sim.kitchen.clearance import FINGERS, clear, points_clear
from sim.kitchen.floor_plan import FloorPlan
from sim.kitchen.reach import Station, ToolPose, comes_straight_in, find_station
from sim.kitchen.robot import CARRY_M, HIGH_M, STOW_M, TUCKED, BasePose, along
from sim.kitchen.things import discs, half_extent, outline

Array = npt.NDArray[np.float64]

FAST_M_S, SLOW_M_S = 0.6, 0.2
_STRONG_N = 60.0
"""Force of each finger on handles and knobs; a real Panda's hand holds with up to 70 N."""
_OPEN_STEPS = 30
_SAME_POSTURE = 0.3
_BOTTOM_M = 0.02
"""What is lower over the bottom of a held thing may come near to what it is put on."""
_LIFTED_M = 0.008
"""What is lifted keeps so far away from everything."""
_RIM_STEP_M = 0.035
"""Distance between the points around what is held that must keep clear."""
_CLOSE_STEPS = 260
_TESTED = 30
"""At so many points of its way to the first pose the arm is tested."""
_STOWING = np.linspace(0.03, 1.0, 34)
"""Where on the way to the stowed posture the arm is tested."""
_BACKWARDS_M = (0.08, 0.16, 0.24, 0.32, 0.40)
"""How far the base draws back, so that the arm is free to be stowed."""
_ASIDE = tuple(math.radians(angle) for angle in (0, 30, -30, 60, -60))
"""In which directions, from straight back on: what is held must not sweep along what stands next to it."""
_MOST_SHIFTS, _SHIFT_M = 3, 0.003
"""How often, and how far at a time, an open hand moves off a finger that touches what it has put down."""
_HAND_ALONG = np.linspace(0.055, 0.20, 5)
_HAND_ACROSS = np.linspace(-0.105, 0.105, 7)
_HAND_THICK = (-0.035, 0.035)


class SkillFailure(Exception):
    """A skill cannot be continued; the message is the reason."""


class OutOfReach(SkillFailure):
    """Nothing has been moved yet, because the arm cannot do it from anywhere."""


def _behind(plan: FloorPlan, base: BasePose) -> BasePose:
    """The farthest free place straight behind a base, up to 40 cm; the base itself if there is none."""
    best = base
    for distance in np.arange(0.05, 0.41, 0.05):
        behind = base.backed(float(distance))
        if not plan.free(np.array([[behind.x, behind.y]]))[0]:
            break
        best = behind
    return best


def _dense(joints: Array, count: int = len(_STOWING)) -> Array:
    """Postures (count, 7) along joint angles (K, 7), without the first one."""
    at = np.linspace(0, len(joints) - 1, count + 1)[1:]
    return np.stack([np.interp(at, np.arange(len(joints)), column) for column in joints.T], axis=1)


class Motion:
    """Moves the robot of one cell.

    Attributes:
        cell: the kitchen.
    """

    def __init__(self, cell: KitchenCell) -> None:
        self.cell = cell
        self._robot = cell.robot
        self._grips = False

    @property
    def _gripping(self) -> bool:
        return bool(self._robot.held) or self._grips

    def check_hand_free(self) -> None:
        """Refuse, by a `SkillFailure`, to do with a full hand what needs an empty one."""
        if self._robot.held:
            raise SkillFailure(f"the hand holds the {self._robot.held}")

    def grip(self, on: bool, force_n: float = _STRONG_N) -> None:
        """Whether the fingers press while the arm moves, for handles and knobs, and how much."""
        self._grips = on
        self._robot.arm.grip_force_n = force_n if on else GRIP_FORCE_N

    def station(
        self, poses: Sequence[ToolPose], azimuth: float, ignored: Iterable[str] = (), plan: FloorPlan | None = None
    ) -> Station | None:
        """A place of the base for a motion, that can be driven to; None if there is none.

        Args:
            poses: of the tool, in their order.
            azimuth: direction in which the robot should look, radians.
            ignored: names of what the arm may touch.
            plan: of the floor during the motion; by default as it is now.
        """
        now = self.cell.floor_plan()
        plan = plan or now
        here = self._robot.base
        free = bool(plan.free(np.array([[here.x, here.y]]))[0])
        near = math.dist((here.x, here.y), poses[0].position[:2]) < 0.75
        obstacles = self.cell.arm_obstacles({*ignored, *self.cell.carried_things()})
        around = self.cell.arm_obstacles(self.cell.carried_things())
        return find_station(
            plan,
            poses,
            azimuth,
            obstacles,
            around,
            self._held(),
            self._carried(),
            lambda goal: np.concatenate([self._robot.arm.joints[None], _dense(self._way_to(goal)[0], _TESTED)]),
            lambda base: now.path(here, base) is not None,
            here if free and near else None,
        )

    def _held(self, above_m: float = _BOTTOM_M) -> Array:
        """Points (Q, 3) around what the hand holds, so far above its bottom, in the frame of the tool."""
        name = self._robot.held
        if not name:
            return np.zeros((0, 3))
        tool, attitude = self._robot.tool()
        return (self._outside(name, above_m) - tool) @ attitude

    def _carried(self) -> Array:
        """Points (Q, 3) around the fingers and all of what they hold, in the frame of the tool."""
        return np.concatenate([FINGERS, self._held(0.0)])

    def _outside(self, name: str, above_m: float = _BOTTOM_M) -> Array:
        """Points (Q, 3) around a thing, so far above its bottom, in the world."""
        kind = self.cell.things[name].kind
        edge = outline(kind, _RIM_STEP_M)
        heights = (-kind.height_m / 2, kind.height_m / 2)
        local = np.concatenate([np.column_stack([edge, np.full(len(edge), height)]) for height in heights])
        position, rotation = self.cell.pose(name)
        points = position + local @ rotation.T
        # whichever side is down
        points[:, 2] = np.maximum(points[:, 2], min(position[2], points[:, 2].min() + above_m))
        return np.asarray(points)

    def lifts_freely(self, name: str, grasp: ToolPose, after: Sequence[ToolPose], ignored: Iterable[str]) -> bool:
        """Whether a thing, and the fingers that hold it, touch nothing on the way through poses of the tool."""
        obstacles = self.cell.arm_obstacles({*ignored, name})
        points = (self._outside(name) - grasp.position) @ grasp.rotation
        points = np.concatenate([points, [[0.0, side, -0.02] for side in (-0.05, 0.05)]])
        ways = zip((grasp, *after[:-1]), after, strict=True)
        return all(
            points_clear(
                one.position + share * (two.position - one.position) + points @ two.rotation.T, obstacles, _LIFTED_M
            )
            for one, two in ways
            for share in (0.25, 0.5, 0.75, 1.0)
        )

    def begin(self, station: Station) -> None:
        """Drive to a station and bring the arm to the first posture of its motion.

        Raises:
            SkillFailure: there is no path.
        """
        self.drive(station.before)
        self._robot.arm.follow([self._way_to(station.joints[0])], self.cell.tick, self._gripping)
        if station.before != station.base:
            self._robot.drive([station.before, station.base], self.cell.carried, self.cell.advance)

    def _way_to(self, goal: Array) -> Leg:
        """The motion to a posture (7,): what is held goes straight, where the arm can."""
        arm = self._robot.arm
        if self._gripping:
            (position,), (rotation,) = kinematics.forward(goal[None])
            leg = arm.straight(position, rotation, arm.joints, FAST_M_S)
            if leg is not None and float(np.abs(leg[0][-1] - goal).max()) < _SAME_POSTURE:
                return leg
        return arm.between(arm.joints, goal)

    def carries_freely(self, goal: BasePose) -> bool:
        """Whether the arm, as it is, and what it holds touch nothing at a place and on the straight way to it."""
        around = self.cell.arm_obstacles(self.cell.carried_things())
        return comes_straight_in(goal, self._robot.arm.joints, around, self._carried())

    def drive(self, goal: BasePose) -> None:
        """Drive to a place.

        Raises:
            SkillFailure: there is no path.
        """
        start = self._robot.base
        if goal == start:
            return
        plan = self.cell.floor_plan()
        # what is held reaches over the worktop: the base draws back before it turns, and comes straight to its goal
        away, ahead = _behind(plan, start), _behind(plan, goal)
        path = plan.path(away, ahead)
        if path is None:
            raise SkillFailure("there is no way to the station")
        arm, carrying = self._robot.arm, self._robot.arm.joints
        self._draw_in(along([start, *path] if self._robot.held else [start, *path, goal]))
        self._robot.drive([start, *path], self.cell.carried, self.cell.advance)
        if not self._robot.held:
            self._robot.drive([path[-1], goal], self.cell.carried, self.cell.advance)
        if float(np.abs(arm.joints - carrying).max()) > 0.0:
            arm.follow([arm.between(arm.joints, carrying)], self.cell.tick, self._gripping)
        if self._robot.held:
            # the rest of the way has been tested in the usual posture
            self._robot.drive([path[-1], goal], self.cell.carried, self.cell.advance)

    def _draw_in(self, way: Sequence[BasePose]) -> None:
        """Bring the arm to where it touches nothing on a drive: what is held upwards, the empty hand inwards."""
        robot, arm = self._robot, self._robot.arm
        obstacles, held = self.cell.arm_obstacles(self.cell.carried_things()), self._carried()
        if robot.held:
            _, rotation = self.carrying()
            straight = (arm.straight(np.asarray(place), rotation, arm.joints, FAST_M_S) for place in HIGH_M)
            legs = [leg for leg in straight if leg is not None]
        elif clear(way, np.broadcast_to(arm.joints, (len(way), 1, 7)), obstacles, held).all():
            return
        else:
            legs = [arm.between(arm.joints, np.asarray(TUCKED))]
        if legs:
            free = [
                np.count_nonzero(clear(way, np.broadcast_to(leg[0][-1], (len(way), 1, 7)), obstacles, held))
                for leg in legs
            ]
            arm.follow([legs[int(np.argmax(free))]], self.cell.tick, self._gripping)

    def follow(self, poses: Iterable[ToolPose], speed_m_s: float = FAST_M_S) -> list[Leg]:
        """Move the tool through world poses, in straight lines where the arm can, and return the motion.

        Raises:
            SkillFailure: a pose is out of reach.
        """
        legs: list[Leg] = []
        joints = self._robot.arm.joints
        for pose in poses:
            leg = self._robot.leg_to(pose.position, pose.rotation, joints, speed_m_s)
            if leg is None:
                leg = self._robot.arm.swing(*self._robot.to_base(pose.position, pose.rotation), joints)
            if leg is None:
                raise SkillFailure("the arm cannot reach")
            legs.append(leg)
            joints = leg[0][-1]
        if legs:
            self._robot.arm.follow(legs, self.cell.tick, self._gripping)
        return legs

    def retrace(self, legs: Sequence[Leg], faster: float = 1.0) -> None:
        """Go back the way that the arm has come, so many times as fast."""
        back = [(joints[::-1], seconds[::-1] / faster) for joints, seconds in reversed(legs)]
        if back:
            self._robot.arm.follow(back, self.cell.tick, self._gripping)

    def close_fingers(self) -> None:
        """Close the fingers until something stops them."""
        self._robot.arm.close(self.cell.tick, _CLOSE_STEPS)

    def open_fingers(self, opening_m: float = OPEN_M) -> None:
        """Let go and open the fingers."""
        self._robot.unlatch()
        self._robot.held = ""
        self._robot.arm.open(opening_m, _OPEN_STEPS, self.cell.tick)

    def release(self) -> None:
        """Let go of what is held; then the hand moves off a finger that still touches it, as it would drag it along."""
        robot = self._robot
        body = self.cell.body(robot.held)
        robot.forget_contacts(self.cell.carried(), self.cell.advance)
        self.open_fingers(robot.let_go_m)
        for _ in range(_MOST_SHIFTS):
            touching = robot.pressing(body)
            if len(touching) != 1:
                return
            position, rotation = robot.tool()
            self.follow([ToolPose(position + _SHIFT_M * touching[0], rotation)], SLOW_M_S)

    def shape_fingers(self, opening_m: float) -> None:
        """Bring the empty fingers to a distance, metres, if they are not there yet."""
        if abs(self._robot.arm.opening_m - opening_m) > 0.002:
            self._robot.arm.open(opening_m, _OPEN_STEPS, self.cell.tick)

    def wait(self, seconds: float) -> None:
        """Hold still."""
        self._robot.arm.wait(max(1, round(seconds * 200)), self.cell.tick, self._gripping)

    def stow(self) -> None:
        """Bring the arm to where it is out of the way; what is held stays upright."""
        robot = self._robot
        if not robot.held:
            home = robot.arm.between(robot.arm.joints, robot.arm.home)
            way = robot.arm.joints + _STOWING[:, None] * (robot.arm.home - robot.arm.joints)
            self._draw_back(self._behind_where_clear(way) or self._farthest_behind())
            robot.arm.follow([home], self.cell.tick, False)
            if robot.arm.opening_m != OPEN_M or robot.opening_m() < OPEN_M - 0.005:
                robot.arm.open(OPEN_M, _OPEN_STEPS, self.cell.tick)
            return
        legs = list(self._upright_legs())
        for leg in legs:
            behind = self._behind_where_clear(_dense(leg[0]))
            if behind is not None:
                self._draw_back(behind)
                robot.arm.follow([leg], self.cell.tick, True)
                return
        if not legs:
            self.cell.note("the arm cannot come back to where it carries things")
            return
        self._draw_back(self._farthest_behind())
        robot.arm.follow(legs[:1], self.cell.tick, True)

    def _upright_legs(self) -> Iterator[Leg]:
        """Motions to where things are carried: straight, so that nothing is spilt, in any direction that serves."""
        arm = self._robot.arm
        position, rotation = self.carrying()
        _, now = arm.commanded_tool()
        azimuth = float(rotation_vector(rotation @ now.T)[2])
        places = [position + np.array([x, 0.0, z]) for x, z in ((0.0, 0.0), (-0.05, -0.05), (0.06, -0.05))]
        found = False
        for share in (1.0, 0.5, 0.0):
            turned = rotation_about((0.0, 0.0, 1.0), share * azimuth) @ now
            for place in places:
                leg = arm.straight(place, turned, arm.joints, FAST_M_S)
                if leg is not None:
                    found = True
                    yield leg
        if not found:
            swings = (arm.swing(place, rotation, arm.joints) for place in places)
            yield from (leg for leg in swings if leg is not None)

    def _behind_where_clear(self, way: Array) -> BasePose | None:
        """The nearest place behind from which the arm takes postures (K, 7) without touching anything."""
        start, plan = self._robot.base, self.cell.floor_plan()
        obstacles = self.cell.arm_obstacles(self.cell.carried_things())
        places = [start, *(start.backed(distance, turn) for distance in _BACKWARDS_M for turn in _ASIDE)]
        free = plan.free(np.array([[base.x, base.y] for base in places]))
        options = (base for base, good in zip(places, free, strict=True) if good or base is start)
        held = self._carried()
        return next((base for base in options if clear([base], way[None], obstacles, held)[0]), None)

    def _farthest_behind(self) -> BasePose:
        """The farthest free place of those to which the base draws back."""
        start, plan = self._robot.base, self.cell.floor_plan()
        ways = (start.backed(distance) for distance in _BACKWARDS_M)
        return [start, *itertools.takewhile(lambda base: plan.free(np.array([[base.x, base.y]]))[0], ways)][-1]

    def _draw_back(self, goal: BasePose) -> None:
        """Drive straight back to a place behind."""
        if goal != self._robot.base:
            self._robot.drive([self._robot.base, goal], self.cell.carried, self.cell.advance)

    def recover(self) -> None:
        """After a failure: let go of handles, draw back, and stow the arm; what is held stays in the hand."""
        self.grip(False)
        if not self._robot.held:
            self._robot.unlatch()
            self._robot.arm.open(OPEN_M, _OPEN_STEPS, self.cell.tick)
        position, rotation = self._robot.tool()
        try:
            self.follow([ToolPose(position, rotation).backed(0.05).moved([0.0, 0.0, 0.03])], SLOW_M_S)
        except SkillFailure:
            self.cell.note("the arm cannot draw back")
        self.stow()

    def carrying(self) -> tuple[Array, Array]:
        """Pose of the tool while it carries what it holds, in the frame of the arm's base."""
        _, rotation = self._robot.arm.commanded_tool()
        z = rotation[:, 2]
        azimuth = math.atan2(z[1], z[0]) if math.hypot(z[0], z[1]) > 0.1 else 0.0
        return np.asarray(CARRY_M), rotation_about((0.0, 0.0, 1.0), -azimuth) @ rotation

    def stowed(self) -> ToolPose:
        """World pose of the empty tool in its stowed place."""
        frame = self._robot.base.rotation()
        return ToolPose(self._robot.base.origin() + frame @ np.asarray(STOW_M), frame @ DOWN)

    def hand_free(self, pose: ToolPose, ignored: Iterable[str]) -> bool:
        """Whether the hand at a pose of the tool would touch no thing but those that are ignored."""
        along, across, thick = np.meshgrid(_HAND_ALONG, _HAND_ACROSS, _HAND_THICK, indexing="ij")
        local = np.stack([thick.ravel(), across.ravel(), -along.ravel()], axis=1)
        points = pose.position + local @ pose.rotation.T
        for name, thing in self.cell.things.items():
            if name in ignored:
                continue
            centre, rotation = self.cell.pose(name)
            low = points[points[:, 2] < centre[2] + half_extent(thing.kind, rotation[2]) + 0.01]
            yaw = math.atan2(rotation[1, 0], rotation[0, 0])
            for x, y, radius in discs(thing.kind, float(centre[0]), float(centre[1]), yaw) if len(low) else ():
                if bool((np.hypot(low[:, 0] - x, low[:, 1] - y) < radius + 0.01).any()):
                    return False
        return True

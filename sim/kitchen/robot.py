"""A Panda on a mobile base: it drives, moves its arm, and holds what its fingers touch."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pybullet

from sim.common import kinematics
from sim.common.arm import DOWN, GRIP_FORCE_N, OPEN_M, Arm, Leg
from sim.common.rotations import matrix_of, quaternion_of, rotation_about
from sim.common.rounding import rounded
from sim.kitchen.shapes import Assembly, Link, box, create_body, cylinder

Array = npt.NDArray[np.float64]

BASE_HEIGHT_M = 0.72
"""Height of the arm's base over the floor."""
BASE_RADIUS_M = 0.22
"""Of the round mobile base."""
STOW_M = (0.24, -0.20, 0.46)
"""The tool while the base drives and the cameras look, in the frame of the arm's base."""
CARRY_M = (0.44, -0.06, 0.52)
"""The same with something in the gripper."""
HIGH_M = ((0.40, -0.06, 0.72), (0.36, -0.06, 0.68), (0.36, -0.06, 0.62))
"""The same while it drives, best first: over open doors of fridge and cabinet."""
TUCKED = (-1.34, -0.50, -0.15, -1.22, 1.07, 0.43, 1.05)
"""Joint angles at which the empty arm stays within 23 cm of the middle of the base, hardly farther than the base."""
LATCH_FORCE_N = 80.0
"""A constraint that holds a thin thing breaks above this force."""
_LATCH_TICKS = 4
"""It breaks if the force is exceeded for so many physics steps in a row; single steps of a contact exceed it."""
_LATCHED_N = 4.0
"""Force of each finger on what the constraint holds."""
_HAND = 8
_FINGERS = (9, 10)
_SPEED_M_S = 0.5


@dataclass(frozen=True)
class BasePose:
    """Where the base stands.

    Attributes:
        x: metres.
        y: metres.
        yaw: heading, radians.
    """

    x: float = 0.0
    y: float = 0.0
    yaw: float = 0.0

    def rotation(self) -> Array:
        """Rotation (3, 3) from the frame of the arm's base to the world."""
        return rotation_about((0.0, 0.0, 1.0), self.yaw)

    def origin(self) -> Array:
        """Origin (3,) of the frame of the arm's base."""
        return np.array([self.x, self.y, BASE_HEIGHT_M])

    def backed(self, distance_m: float, aside: float = 0.0) -> BasePose:
        """The pose, drawn back: straight, or in a direction that is turned by an angle."""
        along = self.yaw + aside
        return BasePose(self.x - distance_m * math.cos(along), self.y - distance_m * math.sin(along), self.yaw)

    def turn_to(self, other: BasePose) -> float:
        """The shorter way from its heading to another one, radians."""
        return math.remainder(other.yaw - self.yaw, 2 * math.pi)

    def towards(self, other: BasePose, share: float) -> BasePose:
        """A share of the straight way to another pose."""
        x, y = self.x + share * (other.x - self.x), self.y + share * (other.y - self.y)
        return BasePose(x, y, self.yaw + share * self.turn_to(other))


def along(path: Sequence[BasePose], step_m: float = 0.08) -> list[BasePose]:
    """Poses of the base on a path, so far from each other at most; its turns are even."""
    found = list(path[:1])
    for before, after in itertools.pairwise(path):
        turn = abs(before.turn_to(after))
        count = max(1, math.ceil(max(math.dist((before.x, before.y), (after.x, after.y)), turn * 0.4) / step_m))
        found += [before.towards(after, number / count) for number in range(1, count + 1)]
    return found


class Robot:
    """The robot in one physics client.

    Attributes:
        arm: it plans and moves in the frame of its base.
        base: where the base stands.
        held: name of what the fingers hold; empty for nothing.
        let_go_m: distance to which the fingers open when they let go of it.
    """

    def __init__(self, client: int) -> None:
        self._client = client
        self.arm = Arm(client)
        parts = (
            cylinder(BASE_RADIUS_M, 0.30, (0.0, 0.0, 0.17), (0.25, 0.26, 0.28)),
            box((0.26, 0.26, BASE_HEIGHT_M - 0.32), (0.0, 0.0, BASE_HEIGHT_M / 2 + 0.16), (0.35, 0.36, 0.38)),
        )
        self.stand = create_body(client, Assembly(Link(parts, 0.0)), (0.0, 0.0, 0.0), fixed=True)
        self._middle = np.array(pybullet.getDynamicsInfo(self.arm.body, -1, physicsClientId=client)[3])
        stowed, reached = kinematics.solve(np.array([STOW_M]), DOWN[None], kinematics.REST)
        assert reached[0], "the stowed pose is out of reach"
        self.arm.home = stowed[0]
        self.arm.reset()
        self.base = BasePose()
        self.held = ""
        self.let_go_m = OPEN_M
        self._latch: int | None = None
        self._strained = 0
        # the stand carries the arm; they do not push each other apart
        for link in range(-1, pybullet.getNumJoints(self.arm.body, physicsClientId=client)):
            pybullet.setCollisionFilterPair(self.stand, self.arm.body, -1, link, 0, physicsClientId=client)
        self.place(BasePose())

    def place(self, base: BasePose, carried: Sequence[int] = ()) -> None:
        """Put the base somewhere at once, together with the bodies that it carries."""
        turn = base.rotation() @ self.base.rotation().T
        shift = base.origin() - turn @ self.base.origin()
        quaternion = rounded(quaternion_of(base.rotation())).tolist()
        # a body is placed by its centre of mass
        middle = base.origin() + base.rotation() @ self._middle
        pybullet.resetBasePositionAndOrientation(
            self.arm.body, rounded(middle).tolist(), quaternion, physicsClientId=self._client
        )
        pybullet.resetBasePositionAndOrientation(
            self.stand, [base.x, base.y, 0.0], quaternion, physicsClientId=self._client
        )
        for body in carried:
            position, orientation = pybullet.getBasePositionAndOrientation(body, physicsClientId=self._client)
            linear, angular = pybullet.getBaseVelocity(body, physicsClientId=self._client)
            pybullet.resetBasePositionAndOrientation(
                body,
                rounded(turn @ np.array(position) + shift).tolist(),
                rounded(quaternion_of(turn @ matrix_of(orientation))).tolist(),
                physicsClientId=self._client,
            )
            pybullet.resetBaseVelocity(
                body, rounded(turn @ np.array(linear)).tolist(), rounded(turn @ np.array(angular)).tolist(),
                physicsClientId=self._client,
            )  # fmt: skip
        self.base = base

    def drive(self, path: Sequence[BasePose], carried: Callable[[], Sequence[int]], tick: Callable[[], None]) -> None:
        """Drive along a path; between its points the base goes straight, about 2 cm at a time.

        Args:
            path: from the present pose on.
            carried: gives the bodies that move along.
            tick: runs one physics step.
        """
        for before, after in itertools.pairwise(path):
            way_m, turn = math.hypot(after.x - before.x, after.y - before.y), abs(before.turn_to(after))
            steps = max(1, math.ceil(max(way_m / _SPEED_M_S, turn / 1.5) / 0.04))
            for step in range(1, steps + 1):
                self.place(before.towards(after, step / steps), carried())
                for _ in range(8):
                    if not self.held:
                        self.arm.hold_still()
                    tick()

    def to_base(self, position: Array, rotation: Array, base: BasePose | None = None) -> tuple[Array, Array]:
        """A world pose of the tool in the frame of the arm's base: positions (..., 3) and rotations (..., 3, 3)."""
        base = base or self.base
        frame = base.rotation()
        return (position - base.origin()) @ frame, frame.T @ rotation

    def tool(self) -> tuple[Array, Array]:
        """Measured world pose of the tool: position (3,) and rotation (3, 3)."""
        position, rotation = self.arm.tool()
        frame = self.base.rotation()
        return self.base.origin() + frame @ position, frame @ rotation

    def leg_to(self, position: Array, rotation: Array, start: Array, speed_m_s: float) -> Leg | None:
        """Plan a straight motion of the tool to a world pose; None if the arm cannot make it."""
        return self.arm.straight(*self.to_base(position, rotation), start, speed_m_s)

    def opening_m(self) -> float:
        """Distance between the fingers."""
        return min(OPEN_M, max(0.0, self.arm.measured_opening_m()))

    def feels(self) -> bool:
        """Whether something keeps the fingers apart although they press, as a gripper feels it: by force, not by name.

        Fingers that have closed on nothing touch each other only.
        """
        own = (self.arm.body, self.stand)
        felt = []
        for finger in _FINGERS:
            points = pybullet.getContactPoints(self.arm.body, linkIndexA=finger, physicsClientId=self._client)
            felt.append(any(point[9] > 0.0 and point[2] not in own for point in points))
        return all(felt)

    def pressed(self, body: int) -> bool:
        """Whether both fingers press on a body."""
        return len(self.pressing(body)) == len(_FINGERS)

    def pressing(self, body: int) -> list[Array]:
        """Directions (3,) from the tool to each finger that presses on a body."""
        tool, rotation = self.tool()
        found = []
        for finger in _FINGERS:
            points = pybullet.getContactPoints(self.arm.body, body, finger, physicsClientId=self._client)
            if any(point[9] > 0.0 for point in points):
                place = pybullet.getLinkState(self.arm.body, finger, physicsClientId=self._client)[0]
                side = math.copysign(1.0, float((np.array(place) - tool) @ rotation[:, 1]))
                found.append(side * rotation[:, 1])
        return found

    def forget_contacts(self, bodies: Sequence[int], tick: Callable[[], None]) -> None:
        """Let the engine find all contacts between the arm and bodies, and among the bodies, anew.

        It keeps the world directions of contacts from step to step. After the base has turned them by resets, they are
        wrong, and fingers that open would pull on what they held.
        """
        pairs = [(self.arm.body, body, link) for body in bodies for link in (*_FINGERS, _HAND)]
        pairs += [(one, other, -1) for one, other in itertools.combinations(bodies, 2)]
        for enabled in (0, 1):
            for one, other, link in pairs:
                pybullet.setCollisionFilterPair(one, other, link, -1, enabled, physicsClientId=self._client)
            tick()

    def latch(self, body: int, link: int = -1) -> None:
        """Hold a body by a constraint between it and the hand; both fingers must touch it."""
        hand = pybullet.getLinkState(self.arm.body, _HAND, physicsClientId=self._client)
        if link < 0:
            place, turn = pybullet.getBasePositionAndOrientation(body, physicsClientId=self._client)
        else:
            place, turn = pybullet.getLinkState(body, link, physicsClientId=self._client)[:2]
        inverse = pybullet.invertTransform(hand[0], hand[1])
        position, orientation = pybullet.multiplyTransforms(*inverse, place, turn)
        self._latch = pybullet.createConstraint(
            self.arm.body,
            _HAND,
            body,
            link,
            pybullet.JOINT_FIXED,
            [0, 0, 0],
            position,
            [0, 0, 0],
            orientation,
            physicsClientId=self._client,
        )
        pybullet.changeConstraint(self._latch, maxForce=400.0, physicsClientId=self._client)
        self._strained = 0
        # fingers that press unevenly would strain the constraint
        self.arm.grip_force_n = _LATCHED_N

    def unlatch(self) -> None:
        """Remove the constraint that holds something, if there is one."""
        if self._latch is not None:
            pybullet.removeConstraint(self._latch, physicsClientId=self._client)
            self._latch = None
            self.arm.grip_force_n = GRIP_FORCE_N

    @property
    def latched(self) -> bool:
        """Whether a constraint holds something."""
        return self._latch is not None

    def strain(self) -> float:
        """Force on the constraint, newtons; 0 without one."""
        if self._latch is None:
            return 0.0
        state = pybullet.getConstraintState(self._latch, physicsClientId=self._client)
        return float(np.linalg.norm(state[:3]))

    def check_latch(self) -> bool:
        """Remove the constraint if the force on it is too great for some steps; whether that happened."""
        if self._latch is None:
            return False
        self._strained = self._strained + 1 if self.strain() > LATCH_FORCE_N else 0
        if self._strained < _LATCH_TICKS:
            return False
        self.unlatch()
        return True

"""Actions whose outcome depends on contact: pushes by closed fingertips in clutter, and drops into a bin."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pybullet

from nsrecover.models.outcomes.scene import APPROACH_M, FINGER_M, ContactAction, ContactScene, Shape
from sim.common.arm import STEP_S
from sim.common.physics import PhysicsClient
from sim.common.rotations import matrix_of
from sim.common.rounding import rounded

Array = npt.NDArray[np.float64]

PUSH_M_S = 0.15
"""Speed of the fingertips."""
TIP_HEIGHT_M = 0.028
"""Height of the fingertips above the table when they push."""
_FINGER_LENGTH_M, _FINGER_KG, _PUSH_N = 0.09, 2.0, 400.0
_SETTLE_STEPS, _QUIET_STEPS = 600, 20
_SLOW_M_S = 0.004
_STICK_N = 200.0
_WALL_M = 0.006
_MIDDLE_M, _OFF_TABLE_M = (0.52, 0.0), 0.45


@dataclass(frozen=True, eq=False)
class Hidden:
    """What no camera shows: drawn for every episode.

    Attributes:
        density: (N,) kg/m³.
        friction: (N,) of each object.
        rolling: (N,) rolling friction, metres.
        bounce: (N,) restitution.
        table: friction of the table.
        finger: friction of the fingertips.
        offset: (N, 2) of the centre of mass from the middle, as a share of the sides.
    """

    density: Array
    friction: Array
    rolling: Array
    bounce: Array
    table: float
    finger: float
    offset: Array

    @classmethod
    def drawn(cls, rng: np.random.Generator, count: int) -> Hidden:
        """Random values for some objects."""
        return cls(
            np.exp(rng.uniform(math.log(300.0), math.log(2500.0), count)),
            rng.uniform(0.2, 0.8, count),
            10.0 ** rng.uniform(-4.0, -2.5, count),
            rng.uniform(0.0, 0.5, count),
            float(rng.uniform(0.3, 0.8)),
            float(rng.uniform(0.2, 0.8)),
            rng.uniform(-0.1, 0.1, (count, 2)),
        )


NOMINAL_DENSITY, NOMINAL_FRICTION, NOMINAL_ROLLING, NOMINAL_BOUNCE, NOMINAL_TABLE = 870.0, 0.5, 10.0**-3.25, 0.25, 0.55
"""The middle of what `Hidden.drawn` draws; a rival that simulates knows no more."""


def nominal(count: int) -> Hidden:
    """The middle of the distribution of `Hidden.drawn`."""
    ones = np.ones(count)
    return Hidden(
        NOMINAL_DENSITY * ones,
        NOMINAL_FRICTION * ones,
        NOMINAL_ROLLING * ones,
        NOMINAL_BOUNCE * ones,
        NOMINAL_TABLE,
        NOMINAL_FRICTION,
        np.zeros((count, 2)),
    )


@dataclass(frozen=True)
class Fault:
    """How a push is executed wrongly.

    Attributes:
        travel: share of the way after which the arm stops.
        raised_m: how much too high the fingers are.
        drag_m: displacement (2,) by which the object is dragged afterwards, because it sticks to the fingers.
    """

    travel: float = 1.0
    raised_m: float = 0.0
    drag_m: tuple[float, float] | None = None


NO_FAULT = Fault()


class ContactTable(PhysicsClient):
    """A table on which closed fingertips push things, and things are dropped.

    A simplification for speed, 10 times as fast as with the arm: the fingertips are a cylinder that follows the line of
    the push at the arm's speed with the arm's force; there is no hand above them, and no approach and retreat. Drops
    have no hand: the object is released at rest. Use it as a context manager, or call `close`.
    """

    def __init__(self) -> None:
        super().__init__(30)
        plane = pybullet.createCollisionShape(pybullet.GEOM_PLANE, physicsClientId=self.client)
        self._table = pybullet.createMultiBody(0.0, plane, physicsClientId=self.client)
        self._bodies: list[int] = []

    def push(
        self,
        scene: ContactScene,
        hidden: Hidden,
        action: ContactAction,
        height_m: float = TIP_HEIGHT_M,
        fault: Fault = NO_FAULT,
    ) -> tuple[Array, Array] | None:
        """Push, and wait until nothing moves.

        Returns:
            Centres (N, 3), metres, and the tilt of each object's own vertical axis (N,), radians, afterwards; None if
            something leaves the table.
        """
        self._build(scene, hidden)
        start = np.array([*action.start, height_m + fault.raised_m - 0.012 + _FINGER_LENGTH_M / 2])
        ways = [np.array([*action.direction, 0.0]) * (APPROACH_M + action.distance) * fault.travel]
        if fault.drag_m is not None:
            ways.append(np.array([*fault.drag_m, 0.0]))
        self._step(8)
        fingers = _Fingers(self.client, start, hidden.finger)
        for way in ways:
            fingers.move(way, self._bodies[action.target] if fault.drag_m is not None else None)
        fingers.remove()
        return self._settled()

    def drop(self, scene: ContactScene, hidden: Hidden) -> tuple[Array, Array] | None:
        """Let all objects fall that are above the table, and wait until nothing moves; returns as `push`."""
        self._build(scene, hidden)
        return self._settled()

    def _build(self, scene: ContactScene, hidden: Hidden) -> None:
        for body in self._bodies:
            pybullet.removeBody(body, physicsClientId=self.client)
        rough = {"lateralFriction": hidden.table, "restitution": 0.5}
        pybullet.changeDynamics(self._table, -1, **rough, physicsClientId=self.client)
        self._bodies = [_create(self.client, scene, hidden, i) for i in range(len(scene))]

    def _step(self, count: int) -> None:
        for _ in range(count):
            pybullet.stepSimulation(physicsClientId=self.client)

    def _settled(self) -> tuple[Array, Array] | None:
        for _ in range(_SETTLE_STEPS // _QUIET_STEPS):
            self._step(_QUIET_STEPS)
            speeds = [pybullet.getBaseVelocity(body, physicsClientId=self.client)[0] for body in self._bodies]
            if np.abs(speeds).max() < _SLOW_M_S:
                break
        poses = [pybullet.getBasePositionAndOrientation(body, physicsClientId=self.client) for body in self._bodies]
        turns = np.array([matrix_of(orientation) for _, orientation in poses])
        offsets = np.array(
            [pybullet.getDynamicsInfo(body, -1, physicsClientId=self.client)[3] for body in self._bodies]
        )
        centres = np.array([position for position, _ in poses]) - np.einsum("nij,nj->ni", turns, offsets)
        if np.abs(centres[:, :2] - _MIDDLE_M).max() > _OFF_TABLE_M or centres[:, 2].min() < 0.0:
            return None
        return centres, np.arccos(np.clip(np.abs(turns[:, 2, 2]), 0.0, 1.0))


class _Fingers:
    """Closed fingertips: a cylinder that a constraint pulls along."""

    def __init__(self, client: int, start: Array, friction: float) -> None:
        self._how, self._place = {"physicsClientId": client}, start
        shape = pybullet.createCollisionShape(
            pybullet.GEOM_CYLINDER, radius=FINGER_M, height=_FINGER_LENGTH_M, **self._how
        )
        self._body = pybullet.createMultiBody(_FINGER_KG, shape, -1, start.tolist(), **self._how)
        pybullet.changeDynamics(self._body, -1, lateralFriction=friction, **self._how)
        nothing = [0, 0, 0]
        self._bonds = [
            pybullet.createConstraint(
                self._body, -1, -1, -1, pybullet.JOINT_FIXED, nothing, nothing, start.tolist(), **self._how
            )
        ]

    def move(self, way: Array, sticking: int | None) -> None:
        """Move along a straight line (3,); a body sticks to the fingertips from the first contact on."""
        start, steps = self._place, max(1, round(float(np.linalg.norm(way)) / PUSH_M_S / STEP_S))
        for step in range(1, steps + 1):
            self._place = start + way * step / steps
            pybullet.changeConstraint(self._bonds[0], self._place.tolist(), maxForce=_PUSH_N, **self._how)
            pybullet.stepSimulation(**self._how)
            if (
                sticking is not None
                and len(self._bonds) < 2
                and pybullet.getContactPoints(self._body, sticking, **self._how)
            ):
                self._bonds.append(self._bond(sticking))

    def _bond(self, body: int) -> int:
        here, there = (pybullet.getBasePositionAndOrientation(each, **self._how) for each in (self._body, body))
        place, turn = pybullet.multiplyTransforms(*pybullet.invertTransform(*here), *there)
        nothing = [0, 0, 0]
        bond = pybullet.createConstraint(
            self._body, -1, body, -1, pybullet.JOINT_FIXED, nothing, place, nothing, turn, [0, 0, 0, 1], **self._how
        )
        pybullet.changeConstraint(bond, maxForce=_STICK_N, **self._how)
        return int(bond)

    def remove(self) -> None:
        """Let go of everything, and go away."""
        for bond in self._bonds:
            pybullet.removeConstraint(bond, **self._how)
        pybullet.removeBody(self._body, **self._how)


def _create(client: int, scene: ContactScene, hidden: Hidden, i: int) -> int:
    """The body of object `i` of a scene."""
    shape, size, centre = Shape(int(scene.shapes[i])), rounded(scene.sizes[i]), rounded(scene.centres[i])
    turn = pybullet.getQuaternionFromEuler([0.0, 0.0, float(scene.yaws[i])])
    if shape is Shape.BIN:
        return _create_bin(client, size, centre)
    volume = float(np.prod(size)) * {Shape.BOX: 1.0, Shape.BALL: math.pi / 6}.get(shape, math.pi / 4)
    how = {"physicsClientId": client}
    if shape is Shape.BOX:
        collision = pybullet.createCollisionShape(pybullet.GEOM_BOX, halfExtents=(size / 2).tolist(), **how)
    elif shape is Shape.BALL:
        collision = pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=size[2] / 2, **how)
    elif shape is Shape.STANDING:
        collision = pybullet.createCollisionShape(pybullet.GEOM_CYLINDER, radius=size[0] / 2, height=size[2], **how)
    else:
        lying = pybullet.getQuaternionFromEuler([0.0, math.pi / 2, 0.0])
        collision = pybullet.createCollisionShape(
            pybullet.GEOM_CYLINDER, radius=size[2] / 2, height=size[0], collisionFrameOrientation=lying, **how
        )
    shift = np.array([*(hidden.offset[i] * size[:2] * (shape in (Shape.BOX, Shape.STANDING))), 0.0])
    body = pybullet.createMultiBody(
        volume * float(hidden.density[i]),
        collision,
        -1,
        centre.tolist(),
        turn,
        baseInertialFramePosition=shift.tolist(),
        **how,
    )
    pybullet.changeDynamics(
        body,
        -1,
        lateralFriction=float(hidden.friction[i]),
        rollingFriction=float(hidden.rolling[i]) if shape in (Shape.LYING, Shape.BALL, Shape.STANDING) else 0.0,
        spinningFriction=5e-4,
        restitution=float(hidden.bounce[i]),
        linearDamping=0.04,
        angularDamping=0.15,
        **how,
    )
    return int(body)


def _create_bin(client: int, size: Array, centre: Array) -> int:
    """An open tray with its outer sides, fixed to the table; a centre half its height above the table."""
    half, floor = size / 2, _WALL_M / 2
    walls = [
        ((half[0], half[1], floor), (0.0, 0.0, floor - half[2])),
        *(((_WALL_M / 2, half[1], half[2]), (side * half[0], 0.0, 0.0)) for side in (-1, 1)),
        *(((half[0], _WALL_M / 2, half[2]), (0.0, side * half[1], 0.0)) for side in (-1, 1)),
    ]
    collision = pybullet.createCollisionShapeArray(
        [pybullet.GEOM_BOX] * len(walls),
        halfExtents=[list(map(float, sides)) for sides, _ in walls],
        collisionFramePositions=[list(map(float, at)) for _, at in walls],
        physicsClientId=client,
    )
    return int(pybullet.createMultiBody(0.0, collision, -1, centre.tolist(), physicsClientId=client))

"""The Franka Panda: it follows joint paths and opens and closes its fingers, one physics step at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pybullet

from sim.common import kinematics
from sim.common.panda import panda_urdf
from sim.common.rotations import rotation_about, rotation_vector
from sim.common.rounding import rounded

Array = npt.NDArray[np.float64]

STEP_S = 1.0 / 200.0
"""One physics step."""
GRIP_FORCE_N = 20.0
"""Force of each finger on a held object."""
FINGER_FRICTION = 1.5
"""Rubber pads."""
OPEN_M = 0.08
"""Widest distance between the fingers."""
HOME_POSITION_M = (0.36, 0.0, 0.50)
"""Waiting position of the tool, outside the cameras' view of the table."""

_ARM = list(range(7))
_STILL = [0.0] * 7
_FINGERS = [9, 10]
_ARM_FORCE = [87.0 * 4, 87.0 * 4, 87.0 * 4, 87.0 * 4, 48.0, 48.0, 48.0]
_MAX_JOINT_SPEED = np.array([2.1, 2.1, 2.1, 2.1, 2.6, 2.6, 2.6])
_MAX_JOINT_ACCELERATION = 15.0
_MAX_TURN_RAD_S = 2.5
_RAMP_STEPS = (12, 40)
_FINGER_SPEED_M_S = 0.1
_WAYPOINT_STEPS = 12

Leg = tuple[Array, Array]
"""Joint angles (K, 7) along a path, and the seconds (K - 1,) from each to the next."""

Tick = Callable[[float], None]
"""Runs one physics step; the argument is the finished share of the motion, 0 to 1."""

DOWN = np.diag([1.0, -1.0, -1.0])
"""Rotation of a tool that points straight down and closes along y."""


class Arm:
    """The robot arm in one physics client.

    Attributes:
        body: its body number.
        joints: (7,) last commanded joint angles.
        opening_m: last commanded distance between the fingers.
        gripping: whether they are commanded to press on something instead.
    """

    def __init__(self, client: int) -> None:
        self._client = client
        self.body = pybullet.loadURDF(str(panda_urdf()), useFixedBase=True, physicsClientId=client)
        for finger in _FINGERS:
            self._pads(finger, FINGER_FRICTION)
        # the fingers mirror each other, as the real hand's do
        gear = pybullet.createConstraint(
            self.body, 9, self.body, 10, pybullet.JOINT_GEAR, [1, 0, 0], [0, 0, 0], [0, 0, 0], physicsClientId=client
        )
        pybullet.changeConstraint(gear, gearRatio=-1, erp=0.1, maxForce=50, physicsClientId=client)
        home, reached = kinematics.solve(np.array([HOME_POSITION_M]), DOWN[None], kinematics.REST)
        assert reached[0], "the home pose is out of reach"
        self.home = home[0]
        self.grip_force_n = GRIP_FORCE_N
        self.reset()

    def _pads(self, finger: int, friction: float) -> None:
        pybullet.changeDynamics(
            self.body,
            finger,
            lateralFriction=friction,
            spinningFriction=0.05,
            restitution=0.0,
            physicsClientId=self._client,
        )

    def reset(self) -> None:
        """Put the arm into its home pose at once, at rest, with open fingers."""
        self.joints = self.home.copy()
        self.opening_m = OPEN_M
        for joint, angle in zip(_ARM, self.home, strict=True):
            pybullet.resetJointState(self.body, joint, angle, physicsClientId=self._client)
        for joint in _FINGERS:
            pybullet.resetJointState(self.body, joint, OPEN_M / 2, physicsClientId=self._client)
        self.hold_still()

    def rest(self) -> None:
        """Command the home pose with open fingers, as after every action and every restored state."""
        self.joints, self.opening_m = self.home.copy(), OPEN_M
        self.hold_still()

    def hold_still(self) -> None:
        """Command the current targets again (motor commands are not part of a saved physics state)."""
        self._command(self.joints.tolist(), _STILL)
        self._fingers_to(self.opening_m)

    def weaken_grip(self, force_n: float | None = None, friction: float | None = None) -> None:
        """Change the fingers' force, newtons, and friction from now on; None: the ordinary value."""
        self.grip_force_n = GRIP_FORCE_N if force_n is None else float(rounded(force_n))
        for finger in _FINGERS:
            self._pads(finger, FINGER_FRICTION if friction is None else friction)

    def _command(self, joints: list[float], speeds: list[float]) -> None:
        pybullet.setJointMotorControlArray(
            self.body,
            _ARM,
            pybullet.POSITION_CONTROL,
            targetPositions=joints,
            targetVelocities=speeds,
            forces=_ARM_FORCE,
            positionGains=[0.3] * 7,
            velocityGains=[1.0] * 7,
            physicsClientId=self._client,
        )

    def _fingers_to(self, opening_m: float) -> None:
        self.gripping = False
        pybullet.setJointMotorControlArray(
            self.body,
            _FINGERS,
            pybullet.POSITION_CONTROL,
            targetPositions=[opening_m / 2] * 2,
            forces=[40.0] * 2,
            positionGains=[0.2] * 2,
            physicsClientId=self._client,
        )

    def _fingers_close(self) -> None:
        self.gripping = True
        pybullet.setJointMotorControlArray(
            self.body,
            _FINGERS,
            pybullet.VELOCITY_CONTROL,
            targetVelocities=[-_FINGER_SPEED_M_S / 2] * 2,
            forces=[self.grip_force_n] * 2,
            physicsClientId=self._client,
        )

    def measured_opening_m(self) -> float:
        """Distance between the fingers."""
        states = pybullet.getJointStates(self.body, _FINGERS, physicsClientId=self._client)
        return float(states[0][0] + states[1][0])

    def measured_speeds(self) -> Array:
        """Speeds of the seven joints, (7,) rad/s."""
        states = pybullet.getJointStates(self.body, _ARM, physicsClientId=self._client)
        return np.array([state[1] for state in states])

    def tool(self) -> tuple[Array, Array]:
        """Measured pose of the tool: position (3,), metres, and rotation (3, 3)."""
        states = pybullet.getJointStates(self.body, _ARM, physicsClientId=self._client)
        position, rotation = kinematics.forward(np.array([[state[0] for state in states]]))
        return position[0], rotation[0]

    def commanded_tool(self) -> tuple[Array, Array]:
        """Last commanded pose of the tool: position (3,), metres, and rotation (3, 3)."""
        position, rotation = kinematics.forward(self.joints[None])
        return position[0], rotation[0]

    def straight(self, position: Array, rotation: Array, start: Array, speed_m_s: float) -> Leg | None:
        """Plan a straight motion of the tool.

        Args:
            position: of the tool at the end, (3,), metres.
            rotation: of the tool at the end, (3, 3).
            start: joint angles at the beginning, (7,).
            speed_m_s: maximum speed; slower if a joint cannot follow.

        Returns:
            None if the arm cannot make this motion.
        """
        (origin,), (attitude,) = kinematics.forward(start[None])
        turn = rotation_vector(rotation @ attitude.T)
        angle, distance = float(rounded(np.linalg.norm(turn))), float(rounded(np.linalg.norm(position - origin)))
        seconds = max(distance / speed_m_s, angle / _MAX_TURN_RAD_S, 0.05)
        count = max(3, math.ceil(seconds / STEP_S / _WAYPOINT_STEPS) + 1)
        share = np.linspace(0.0, 1.0, count)
        axis = turn / angle if angle > 1e-9 else np.array([0.0, 0.0, 1.0])
        rotations = np.stack([rotation_about(axis, angle * part) @ attitude for part in share])
        joints, reached = kinematics.solve(
            origin + share[:, None] * (position - origin), rotations, start, iterations=25
        )
        if not reached.all():
            return None
        joints[0] = start
        jumps = np.abs(np.diff(joints, axis=0))
        if jumps.max() > 0.5:
            return None
        return joints, np.maximum(seconds / (count - 1), (jumps / _MAX_JOINT_SPEED).max(axis=1))

    def swing(self, position: Array, rotation: Array, start: Array) -> Leg | None:
        """Plan a motion to a tool pose joint by joint, where a joint limit prevents the straight motion.

        Args:
            position: of the tool at the end, (3,), metres.
            rotation: of the tool at the end, (3, 3).
            start: joint angles at the beginning, (7,).

        Returns:
            None if the pose is out of reach.
        """
        for seed in (start, self.home):
            goal, reached = kinematics.solve(position[None], rotation[None], seed)
            if reached[0]:
                return self.between(start, goal[0])
        return None

    def between(self, start: Array, goal: Array) -> Leg:
        """The motion between two joint configurations (7,), each joint at constant speed."""
        seconds = 0.05 + float((np.abs(goal - start) / _MAX_JOINT_SPEED).max())
        return np.stack([start, goal]), np.array([seconds])

    def follow(self, legs: Sequence[Leg], tick: Tick, gripping: bool) -> None:
        """Follow planned legs without a stop between them; start, stop and corners are smooth.

        Args:
            legs: each begins where the one before it ends.
            tick: runs one physics step.
            gripping: whether the fingers press on an object during the motion.
        """
        path = smooth_path(legs)
        speeds = np.diff(path, axis=0) / STEP_S
        steps = len(speeds)
        if gripping:
            self._fingers_close()
        for step, (target, speed) in enumerate(zip(path[1:].tolist(), speeds.tolist(), strict=True), start=1):
            self._command(target, speed)
            self.joints = path[step].copy()  # a tick may end the motion
            tick(step / steps)
            if gripping:
                self._fingers_close()

    def wait(self, steps: int, tick: Tick, gripping: bool) -> None:
        """Hold the commanded pose for some physics steps."""
        for step in range(1, steps + 1):
            self._command(self.joints.tolist(), _STILL)
            if gripping:
                self._fingers_close()
            tick(step / steps)

    def open(self, opening_m: float, steps: int, tick: Tick) -> None:
        """Move the fingers to a distance, metres, at constant speed over some physics steps."""
        start, opening_m = self.measured_opening_m(), float(rounded(opening_m))
        self.opening_m = opening_m
        for step in range(1, steps + 1):
            self._command(self.joints.tolist(), _STILL)
            self._fingers_to(start + (opening_m - start) * min(1.0, 1.25 * step / steps))
            tick(step / steps)

    def close(self, tick: Tick, max_steps: int = 120) -> float:
        """Close the fingers until they stop moving.

        Returns:
            Distance between the fingers, metres.
        """
        opening, still = self.measured_opening_m(), 0
        for step in range(1, max_steps + 1):
            self._fingers_close()
            tick(min(1.0, step / 60))
            now = self.measured_opening_m()
            still = still + 1 if abs(now - opening) < 2e-5 else 0
            opening = now
            if step > 8 and still > 4:
                break
        return opening


def smooth_path(legs: Sequence[Leg]) -> Array:
    """Joint angles at every physics step, (N, 7), from the start of the first leg to the end of the last one.

    A moving average makes the speed continuous and rounds the corners between the legs.
    """
    corners = np.concatenate([legs[0][0][:1], *[joints[1:] for joints, _ in legs]])
    seconds = np.concatenate([[0.0], *[pauses for _, pauses in legs]])
    fastest = float((np.abs(np.diff(corners, axis=0)) / seconds[1:, None]).max())
    low, high = _RAMP_STEPS
    ramp = min(high, max(low, math.ceil(fastest / _MAX_JOINT_ACCELERATION / STEP_S)))
    times = np.cumsum(seconds)
    now = np.linspace(0.0, times[-1], math.ceil(times[-1] / STEP_S) + 1)
    path = np.stack([np.interp(now, times, corners[:, joint]) for joint in range(7)], axis=1)
    for width in (ramp, 1 + ramp // 3):
        padded = np.concatenate([path[:1]] * width + [path] + [path[-1:]] * (width - 1))
        sums = np.cumsum(padded - path[0], axis=0)
        path = path[0] + (sums[width:] - sums[:-width]) / width
    return np.concatenate([legs[0][0][:1], path[1:-1], legs[-1][0][-1:]])

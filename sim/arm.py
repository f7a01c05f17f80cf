"""The Franka Panda: follows joint paths and opens and closes its fingers, one physics step at a time."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pybullet
import pybullet_data

from sim import kinematics
from sim.rotations import about, rotation_vector

Array = npt.NDArray[np.float64]

STEP_S = 1.0 / 240.0
"""One physics step."""
GRIP_FORCE_N = 20.0
"""Force of each finger on a held object."""
FINGER_FRICTION = 1.5
"""Rubber pads."""
OPEN_M = 0.08
"""Widest distance between the fingers."""
HOME_POSITION_M = (0.36, 0.0, 0.50)
"""Where the tool waits, above and behind everything the cameras look at."""

_ARM = list(range(7))
_FINGERS = [9, 10]
_ARM_FORCE = [87.0 * 4, 87.0 * 4, 87.0 * 4, 87.0 * 4, 48.0, 48.0, 48.0]
_MAX_JOINT_SPEED = np.array([2.1, 2.1, 2.1, 2.1, 2.6, 2.6, 2.6])
_FINGER_SPEED_M_S = 0.1
_WAYPOINT_STEPS = 8

Tick = Callable[[float], None]
"""Runs one physics step; is told the share of the motion that is done, 0 to 1."""

DOWN = np.diag([1.0, -1.0, -1.0])
"""Rotation of a tool that points straight down and closes along y."""


class Arm:
    """The robot arm in one physics client.

    Attributes:
        body: its body number.
        joints: (7,) joint angles it was last sent to.
        opening_m: distance between the fingers that was last asked for.
    """

    def __init__(self, client: int) -> None:
        self._client = client
        path = Path(pybullet_data.getDataPath()) / "franka_panda" / "panda.urdf"
        self.body = pybullet.loadURDF(str(path), useFixedBase=True, physicsClientId=client)
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
        """Put the arm into its home pose at once, fingers open, nothing moving."""
        self.joints = self.home.copy()
        self.opening_m = OPEN_M
        for joint, angle in zip(_ARM, self.home, strict=True):
            pybullet.resetJointState(self.body, joint, angle, physicsClientId=self._client)
        for joint in _FINGERS:
            pybullet.resetJointState(self.body, joint, OPEN_M / 2, physicsClientId=self._client)
        self.hold_still()

    def rest(self) -> None:
        """Command the home pose with open fingers: the same commands after every action and every restored state."""
        self.joints, self.opening_m = self.home.copy(), OPEN_M
        self.hold_still()

    def hold_still(self) -> None:
        """Command the present targets again (motor commands are not part of a saved physics state)."""
        self._command(self.joints, np.zeros(7))
        self._fingers_to(self.opening_m)

    def weaken_grip(self, force_n: float | None = None, friction: float | None = None) -> None:
        """Change the fingers' force and friction from now on; None gives the ordinary value back."""
        self.grip_force_n = GRIP_FORCE_N if force_n is None else force_n
        for finger in _FINGERS:
            self._pads(finger, FINGER_FRICTION if friction is None else friction)

    def _command(self, joints: Array, speeds: Array) -> None:
        pybullet.setJointMotorControlArray(
            self.body,
            _ARM,
            pybullet.POSITION_CONTROL,
            targetPositions=joints.tolist(),
            targetVelocities=speeds.tolist(),
            forces=_ARM_FORCE,
            positionGains=[0.3] * 7,
            velocityGains=[1.0] * 7,
            physicsClientId=self._client,
        )

    def _fingers_to(self, opening_m: float) -> None:
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

    def tool(self) -> tuple[Array, Array]:
        """Where the tool is now, by the joint encoders: position (3,) and rotation (3, 3)."""
        states = pybullet.getJointStates(self.body, _ARM, physicsClientId=self._client)
        position, rotation = kinematics.forward(np.array([[state[0] for state in states]]))
        return position[0], rotation[0]

    def commanded_tool(self) -> tuple[Array, Array]:
        """Where the tool was sent last: position (3,) and rotation (3, 3)."""
        position, rotation = kinematics.forward(self.joints[None])
        return position[0], rotation[0]

    def straight(self, position: Array, rotation: Array, start: Array, speed_m_s: float) -> tuple[Array, int] | None:
        """Plan a straight motion of the tool.

        Args:
            position: where to, (3,).
            rotation: with what tool rotation, (3, 3).
            start: joint angles at its beginning, (7,).
            speed_m_s: mean speed; slower if a joint cannot follow.

        Returns:
            Joint angles (K, 7) at equal shares of the way and the number of physics steps; None if it cannot be done.
        """
        (origin,), (attitude,) = kinematics.forward(start[None])
        turn = rotation_vector(rotation @ attitude.T)
        angle = float(np.linalg.norm(turn))
        distance = float(np.linalg.norm(position - origin))
        seconds = max(distance / speed_m_s, angle / 1.8, 0.05)
        count = max(3, math.ceil(seconds / STEP_S / _WAYPOINT_STEPS) + 1)
        share = np.linspace(0.0, 1.0, count)
        axis = turn / angle if angle > 1e-9 else np.array([0.0, 0.0, 1.0])
        rotations = np.stack([about(axis, angle * part) @ attitude for part in share])
        joints, reached = kinematics.solve(
            origin + share[:, None] * (position - origin), rotations, start, iterations=25
        )
        if not reached.all():
            return None
        joints[0] = start
        jumps = np.abs(np.diff(joints, axis=0)).max(axis=0)
        if jumps.max() > 0.5:
            return None
        # the smooth profile's peak speed is 1.5 times its mean
        needed = float((jumps * (count - 1) * 1.5 / _MAX_JOINT_SPEED).max())
        return joints, math.ceil(max(seconds, needed) / STEP_S)

    def swing(self, position: Array, rotation: Array, start: Array) -> tuple[Array, int] | None:
        """Plan a motion to a tool pose joint by joint, for when the straight way is barred by a joint's limit.

        Args:
            position: where to, (3,).
            rotation: with what tool rotation, (3, 3).
            start: joint angles at its beginning, (7,).

        Returns:
            As `straight`; None if the pose is out of reach.
        """
        for seed in (start, self.home):
            goal, reached = kinematics.solve(position[None], rotation[None], seed)
            if reached[0]:
                return self.between(start, goal[0])
        return None

    def between(self, start: Array, goal: Array) -> tuple[Array, int]:
        """The motion from joint angles (7,) to others, each joint evenly: as `straight` returns it."""
        share = np.linspace(0.0, 1.0, 20)[:, None]
        seconds = 0.2 + 1.5 * float((np.abs(goal - start) / _MAX_JOINT_SPEED).max())
        return start + share * (goal - start), math.ceil(seconds / STEP_S)

    def follow(self, joints: Array, steps: int, tick: Tick, gripping: bool) -> None:
        """Run along a planned path with a smooth start and stop.

        Args:
            joints: (K, 7) at equal shares of the way.
            steps: physics steps to take.
            tick: runs one physics step.
            gripping: whether the fingers press on an object meanwhile.
        """
        last = len(joints) - 1
        previous = joints[0]
        for step in range(1, steps + 1):
            time = step / steps
            share = time * time * (3.0 - 2.0 * time) * last
            i = min(int(share), last - 1)
            target = joints[i] + (share - i) * (joints[i + 1] - joints[i])
            self._command(target, (target - previous) / STEP_S)
            if gripping:
                self._fingers_close()
            previous = target
            tick(time)
        self.joints = joints[-1].copy()

    def wait(self, steps: int, tick: Tick, gripping: bool) -> None:
        """Stay where it was sent for some physics steps."""
        for step in range(1, steps + 1):
            self._command(self.joints, np.zeros(7))
            if gripping:
                self._fingers_close()
            tick(step / steps)

    def open(self, opening_m: float, steps: int, tick: Tick) -> None:
        """Open (or narrow) the fingers to a distance, evenly over some physics steps."""
        start = self.measured_opening_m()
        self.opening_m = opening_m
        for step in range(1, steps + 1):
            self._command(self.joints, np.zeros(7))
            self._fingers_to(start + (opening_m - start) * min(1.0, 1.25 * step / steps))
            tick(step / steps)

    def close(self, tick: Tick, max_steps: int = 120) -> float:
        """Close the fingers until they stop moving.

        Returns:
            Distance between them.
        """
        opening, still = self.measured_opening_m(), 0
        for step in range(1, max_steps + 1):
            self._fingers_close()
            tick(min(1.0, step / 60))
            now = self.measured_opening_m()
            still = still + 1 if abs(now - opening) < 2e-5 else 0
            opening = now
            if step > 8 and still > 8:
                break
        return opening

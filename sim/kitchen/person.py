"""A person in the kitchen: opens doors, turns switches, and takes or brings things, without the robot."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pybullet

from nsrecover.errors import UnknownObject
from sim.common.arm import STEP_S
from sim.common.rounding import rounded
from sim.kitchen.cell import KitchenCell
from sim.kitchen.fixtures import Control, ControlKind, Fixture, switch_of
from sim.kitchen.shapes import JointKind, hold_joint

Array = npt.NDArray[np.float64]

_SPEEDS = {JointKind.HINGE: 1.2, JointKind.SLIDE: 0.4}
"""Speed at which a person moves a door, drawer or knob, rad/s or m/s."""
_FORCES = {JointKind.HINGE: 8.0, JointKind.SLIDE: 60.0}
"""Most that a person uses for it, Nm or N; a robot in the way stops it."""
_LONGEST_S = 3.0
_PRESS_S = 0.15
_DROP_M = 0.003
"""Height from which a person lets go of a thing."""
_PUSH_M_S = 0.6
_HAND_C = 60.0


class Person:
    """Acts in one kitchen; every act takes simulated time, and can fail where something is in the way."""

    def __init__(self, cell: KitchenCell) -> None:
        self._cell = cell

    def swing(self, name: str, share: float) -> None:
        """Move a door or drawer to a share of its travel."""
        fixture = self._cell.fixtures[name]
        if fixture.door is None:
            raise UnknownObject(f"expected something with a door, found the {name}")
        self._move(fixture, fixture.door, share * fixture.door.travel)
        self._cell.settle(60)

    def switch(self, name: str, on: bool) -> None:
        """Turn something on or off."""
        cell = self._cell
        fixture = switch_of(cell.fixtures.values(), name)
        if fixture is None or fixture.switch is None:
            raise UnknownObject(f"expected something with a switch, found the {name}")
        if cell.states[name].on == on:
            return
        if fixture.switch.kind is ControlKind.KNOB:
            self._move(fixture, fixture.switch, fixture.switch.travel if on else 0.0)
        else:
            self._press(fixture, fixture.switch)
        self.wait(0.1)

    def power(self, name: str, on: bool) -> None:
        """Let an appliance start or stop, as its timer or a power cut would, without a touch of its button."""
        cell = self._cell
        switch = cell.fixtures[name].switch
        if switch is not None and switch.kind is ControlKind.LEVER and not on:
            cell.drive_joint(name, switch.joint, 0.0)
        cell.change(name, on=on)
        self.wait(0.1)

    def slice(self, name: str) -> None:
        """Cut food where it lies."""
        _, rotation = self._cell.pose(name)
        along = np.array([rotation[0, 1], rotation[1, 1], 0.0])
        self._cell.cut(name, along / float(np.linalg.norm(along)))
        self._cell.settle()

    def carry(self, name: str, bottom: Sequence[float], yaw: float = 0.0) -> None:
        """Put a thing, with what lies in it, where the middle of its bottom is at a point (3,), metres."""
        cell = self._cell
        old = cell.bottom(name)
        inside = self._inside(name)
        offsets = {other: cell.pose(other)[0] - old for other in inside}
        target = np.asarray(bottom, float) + np.array([0.0, 0.0, _DROP_M])
        cell.put(name, target + np.array([0.0, 0.0, cell.things[name].kind.height_m / 2]), yaw)
        for other, offset in offsets.items():
            cell.put(other, target + offset)
        cell.settle()

    def push_off(self, name: str, towards: Sequence[float]) -> None:
        """Push a thing over the edge of what it stands on.

        Args:
            name: of the thing.
            towards: a point (2,) beyond the edge; the person pushes it there at its height and lets it fall.
        """
        cell = self._cell
        position, _ = cell.pose(name)
        way = np.asarray(towards, float) - position[:2]
        length = float(np.linalg.norm(way))
        if length < 1e-6:
            return
        speed = rounded(_PUSH_M_S * way / length)
        for step in range(1, max(2, math.ceil(length / (_PUSH_M_S * STEP_S)) + 1)):
            share = min(1.0, step * _PUSH_M_S * STEP_S / length)
            spot = position[:2] + share * way
            cell.put(name, (float(spot[0]), float(spot[1]), float(position[2]) + 0.005))
            cell.advance()
        pybullet.resetBaseVelocity(
            cell.body(name), [float(speed[0]), float(speed[1]), 0.0], [0.0] * 3, physicsClientId=cell.client
        )
        self.wait(1.0)
        cell.settle()

    def topple(self, name: str, heading: float) -> None:
        """Knock a thing over, so that its top points along a direction, radians; what is in it runs out."""
        cell, kind = self._cell, self._cell.things[name].kind
        axis = (-math.sin(heading), math.cos(heading), 0.0)
        centre = np.add(cell.bottom(name), (0.0, 0.0, max(kind.halves[:2]) + _DROP_M))
        turn = pybullet.getQuaternionFromAxisAngle(axis, math.pi / 2)
        pybullet.resetBasePositionAndOrientation(
            cell.body(name), rounded(centre).tolist(), turn, physicsClientId=cell.client
        )
        self.wait(1.0)
        cell.settle()

    def fill(self, name: str, liquid: str, litres: float) -> None:
        """Pour a liquid into a vessel or onto a plant; what was in a vessel is poured away before."""
        self._cell.change(name, liquid=liquid, volume_l=litres)

    def soil(self, name: str) -> None:
        """Make a thing dirty."""
        self._cell.change(name, dirty=True)

    def cook(self, name: str, done: float = 1.0) -> None:
        """Cook a piece of food somewhere else and bring it back hot; from `done` 2.0 on it is burnt."""
        self._cell.change(name, cooked=done, temperature_c=_HAND_C)

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        for _ in range(max(1, round(seconds / STEP_S))):
            self._cell.advance()

    def _inside(self, name: str) -> list[str]:
        found = list(self._cell.contents(name))
        for other in found:
            found += [inner for inner in self._cell.contents(other) if inner not in found]
        return found

    def _move(self, fixture: Fixture, control: Control, goal: float) -> None:
        cell, body = self._cell, self._cell.body(fixture.name)
        joint = fixture.assembly.joints[control.joint]
        for _ in range(round(_LONGEST_S / STEP_S)):
            gap = goal - cell.position_of(fixture, control)
            if abs(gap) < 0.01:
                break
            pybullet.setJointMotorControl2(
                body,
                control.joint,
                pybullet.VELOCITY_CONTROL,
                targetVelocity=math.copysign(min(_SPEEDS[joint.kind], 6.0 * abs(gap)), gap),
                force=_FORCES[joint.kind],
                physicsClientId=cell.client,
            )
            cell.advance()
        hold_joint(cell.client, body, control.joint, joint)

    def _press(self, fixture: Fixture, control: Control) -> None:
        cell, body = self._cell, self._cell.body(fixture.name)
        joint = fixture.assembly.joints[control.joint]
        pybullet.setJointMotorControl2(
            body,
            control.joint,
            pybullet.POSITION_CONTROL,
            targetPosition=control.travel,
            positionGain=0.3,
            force=10 * joint.friction,
            physicsClientId=cell.client,
        )
        self.wait(_PRESS_S)
        if control.kind is not ControlKind.LEVER or not cell.states[fixture.name].on:
            hold_joint(cell.client, body, control.joint, joint)

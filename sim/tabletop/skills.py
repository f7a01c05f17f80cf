"""Pick-and-place with the arm, which carries out every operator of a plan."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice, product

import numpy as np
import numpy.typing as npt

from sim.common.arm import DOWN, HOME_POSITION_M, Arm, Leg
from sim.common.rotations import axis_aligned, matrix_of, quaternion_of, rotation_about, rotation_vector
from sim.tabletop.execution import Execution, SkillFailure
from sim.tabletop.grasp import BACK_OFF_M, TIP_M, Grasp, above_middle, choose_grasps, obstacles_around, room_around
from sim.tabletop.phases import SkillPhase
from sim.tabletop.pick_and_place import PickAndPlaceBase
from sim.tabletop.placing import boxes, extents, free_places, needs_toppling, toppling_tilt
from sim.tabletop.poses import PoseEstimates

Array = npt.NDArray[np.float64]

FAST_M_S = 1.4
"""Speed through free space."""
CARRY_M_S = 0.9
"""Speed with an object, far from others."""
NEAR_M_S = 0.18
"""Speed close to an object."""
NEAR_M = 0.03
"""Distance that counts as close to an object."""
OVER_M = 0.03
"""Gap between the path and everything below it."""
CLOSE_BY_M = 0.02
"""Height above its goal at which the pose of the held object is measured again."""
DROP_M = 0.0005
"""Height from which an object is released."""
HAND_REACH_M = 0.12
"""Horizontal extent of the hand."""
UP = np.array([0.0, 0.0, 1.0])
"""Direction away from the table."""
HELD_M = 0.008
"""Fingers that are closer together than this hold nothing."""
GRASPS = 12
"""Number of grasps that are tried before the arm gives up."""
TOUCHING_M = -0.008
"""A grasp with less room than this would knock something over: if it has to, the arm sets the object down on its way
where there is little more room, otherwise only where it touches nothing."""
UNREACHABLE_M = 1.0
"""The room of a grasp with which the arm cannot carry the object to the goal is minus this."""
SPOTS = 12
"""Number of intermediate places that are tried."""
TURNS = tuple(math.radians(degrees) for degrees in (0, 90, -90, 180, 45, -45, 135, -135))
"""Directions in which a toppled object may fall, relative to the first one."""


def transit_height(start: Array, goal: Array, others: Array, hanging_m: float) -> float:
    """Tool height that clears everything between two places.

    Args:
        start: (3,).
        goal: (3,).
        others: boxes of the obstacles, (M, 6).
        hanging_m: extent of the load or the fingers below the tool.
    """
    height = 0.0
    along = goal[:2] - start[:2]
    length = float(along @ along)
    for box in others:
        share = 0.0 if length < 1e-9 else float(np.clip((box[:2] - start[:2]) @ along / length, 0.0, 1.0))
        away = np.abs(box[:2] - (start[:2] + share * along)) - box[3:5] / 2
        if away.max() < HAND_REACH_M:
            height = max(height, float(box[2] + box[5] / 2))
    return height + hanging_m + OVER_M


def _path_to(grasp: Grasp, others: Array) -> list[tuple[Array, Array, float]]:
    """Straight legs from home to a grasp, over the obstacles (M, 6): position, rotation and speed of each."""
    back = grasp.rotation[:, 2]
    near = grasp.position - NEAR_M * back
    off = grasp.position - BACK_OFF_M * back
    height = transit_height(np.array(HOME_POSITION_M), grasp.position, others, TIP_M)
    above = np.array([*off[:2], max(off[2], height)])
    legs = [(above, grasp.rotation, FAST_M_S), (near, grasp.rotation, FAST_M_S)]
    if back[2] > -0.995 and above[2] > off[2]:
        legs.insert(1, (off, grasp.rotation, FAST_M_S))
    return [*legs, (grasp.position, grasp.rotation, NEAR_M_S * 1.5)]


def _lift(position: Array, attitude: Array, grasp: Grasp, height: float) -> list[tuple[Array, Array, float]]:
    """Straight legs of the tool that take an object off its place along the axis of its grasp, then vertically up."""
    off = position - grasp.rotation[:, 2] * NEAR_M
    return [(off, attitude, NEAR_M_S * 1.5), (np.array([*off[:2], max(height, off[2])]), attitude, CARRY_M_S)]


def _over(position: Array, height: float) -> Array:
    """Tool position (3,) above a place, at a height at least."""
    return np.array([*position[:2], max(height, position[2] + 0.06)])


class PickAndPlace(PickAndPlaceBase):
    """One pick-and-place with the arm, which is home again afterwards, also after a failure."""

    def __init__(self, execution: Execution, arm: Arm, estimates: PoseEstimates) -> None:
        """Prepare it.

        Args:
            execution: the action.
            arm: carries it out.
            estimates: what the arm believes about the objects.
        """
        super().__init__(execution, estimates)
        self._arm, self._before = arm, estimates

    def _finish(self, failed: bool) -> None:
        if failed:
            self._abort()
        self._arm.rest()

    def _run(self) -> None:
        centre, rotation = self._place()
        if self._needs_toppling(rotation):
            self._tip_over(rotation)
            centre, rotation = self._place()
        if self._needs_toppling(rotation):
            # it cannot be toppled, so it goes to its goal as it stands
            matrix, size = self._own()
            centre[2] -= extents(rotation, size)[2] / 2
            rotation = axis_aligned(matrix)
            centre[2] += extents(rotation, size)[2] / 2
        room, grasps = self._grasps(self._estimates, centre, rotation)
        if room < 0.0 and self._regrasp(centre, rotation, TOUCHING_M if room < TOUCHING_M else 0.0):
            _, grasps = self._grasps(self._estimates, centre, rotation)
        self._move(grasps, centre, rotation)

    def _move(self, grasps: Iterable[Grasp], centre: Array, rotation: Array) -> None:
        """Take the object with the first grasp to which the arm finds a path, and place it."""
        self._put(self._approach(islice(grasps, GRASPS), centre, rotation), centre, rotation)

    def _put(self, grasp: Grasp, centre: Array, rotation: Array) -> None:
        """Take the object with the grasp at which the arm is, and place it."""
        others, height = self._clearance(centre)
        self._close()
        self._carry(grasp, centre, rotation, height)
        self._let_go(grasp, others)

    def _own(self) -> tuple[Array, Array]:
        """Rotation (3, 3) and size (3,) of the object."""
        row = self._estimates.index(self._name)
        return matrix_of(self._estimates.orientations[row]), self._estimates.sizes[row]

    def _needs_toppling(self, rotation: Array) -> bool:
        return needs_toppling(self._own()[0], rotation)

    def _grasps(self, estimates: PoseEstimates, centre: Array, rotation: Array) -> tuple[float, Iterator[Grasp]]:
        """Grasps of the object that fit its goal, and the room that the best one leaves at both places."""
        _, height = self._clearance(centre)
        grasps = choose_grasps(estimates, self._name, centre, rotation, height, self._arm.home)
        best = next(grasps, None)
        return (-math.inf, iter(())) if best is None else (best.room_m, chain([best], grasps))

    def _clearance(self, centre: Array) -> tuple[Array, float]:
        """Boxes (M, 6) of all other objects, and the tool height that clears them on the path to a place (3,)."""
        row = self._estimates.index(self._name)
        own, others = boxes(self._estimates)[row], np.delete(boxes(self._estimates), row, axis=0)
        hanging = max(TIP_M, float(own[5]) / 2 + 0.01 + above_middle(float(own[5])))
        height = transit_height(own[:3], centre, others, hanging)
        return others, max(height, float(own[2]) + 0.06, float(centre[2]) + 0.06)

    def _regrasp(self, centre: Array, rotation: Array, least_m: float) -> bool:
        """Move the object to an intermediate place with at least some room for the hand; False if there is none."""
        matrix, size = self._own()
        flat = axis_aligned(matrix)
        sides = extents(flat, size)
        for spot in islice(free_places(self._estimates, self._name, sides), SPOTS):
            halfway = np.array([*spot, sides[2] / 2])
            there = self._estimates.placed(self._name, halfway, quaternion_of(flat))
            if self._grasps(there, centre, rotation)[0] < least_m:
                continue
            room, grasps = self._grasps(self._estimates, halfway, flat)
            if room < least_m:
                continue
            self._move(grasps, halfway, flat)
            self._measure_again()
            return True
        return False

    def _tip_over(self, rotation: Array) -> None:
        """Tilt the object over a free place and release it, so that it falls into a rotation (3, 3)."""
        matrix, size = self._own()
        way = toppling_tilt(matrix, size, rotation)
        if way is None:
            self._scene.note(f"{self._action}: there is no way to lay it down")
            return
        tilted, axis = way
        spread = 1.5 * float(size.max())
        spots = islice(free_places(self._estimates, self._name, np.array([spread, spread, 0.0])), SPOTS)
        for spot, turn in product(spots, TURNS):
            centre = np.array([*spot, extents(tilted, size)[2] / 2])
            attitude = rotation_about(UP, turn) @ tilted
            # grasps from straight above whose fingers close along the axis of the fall
            grasps = (
                grasp
                for grasp in self._grasps(self._estimates, centre, attitude)[1]
                if abs(grasp.rotation[:, 1] @ axis) > 0.9
                and grasp.room_m > TOUCHING_M
                and grasp.rotation[2, 2] < -0.99
                and self._can_leave(centre, attitude @ matrix.T @ grasp.rotation, grasp.place_joints)
            )
            try:
                grasp = self._approach(islice(grasps, GRASPS), centre, attitude)
            except SkillFailure:
                continue
            self._put(grasp, centre, attitude)
            self._measure_again()
            return
        self._scene.note(f"{self._action}: the arm finds no way to lay it down")

    def _can_leave(self, position: Array, rotation: Array, joints: Array) -> bool:
        """Whether the arm can rise straight from a place and back off from it."""
        ways = position + UP * 0.06, position - BACK_OFF_M * rotation[:, 2]
        return all(self._arm.straight(goal, rotation, joints, FAST_M_S) is not None for goal in ways)

    def _measure_again(self) -> None:
        """Measure the pose of the object again; the estimates of the others stay."""
        seen = self._scene.estimates()
        if self._name not in seen:
            raise SkillFailure("the object is lost")
        row = seen.index(self._name)
        self._estimates = self._estimates.placed(self._name, seen.positions[row], seen.orientations[row])

    def _ticker(self, phase: SkillPhase, start: float, end: float) -> Callable[[float], None]:
        """A tick function that maps its motion to the part from `start` to `end` of a phase."""
        return lambda share: self._execution.tick(phase, start + (end - start) * share)

    def _go(
        self,
        legs: list[tuple[Array, Array, float]],
        phase: SkillPhase,
        gripping: bool = False,
        part: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        """Plan all straight legs (position, rotation, speed) of a phase, then follow them."""
        planned = self._plan(legs, phase)
        self._arm.follow(planned, self._ticker(phase, *part), gripping)

    def _plan(self, legs: list[tuple[Array, Array, float]], phase: SkillPhase, start: Array | None = None) -> list[Leg]:
        planned, joints = [], self._arm.joints if start is None else start
        for position, rotation, speed in legs:
            leg = self._arm.straight(position, rotation, joints, speed)
            if leg is None and speed > 2 * NEAR_M_S:
                leg = self._arm.swing(position, rotation, joints)
            if leg is None:
                raise SkillFailure(f"no way for the arm in {phase}")
            planned.append(leg)
            joints = leg[0][-1]
        return planned

    def _approach(self, grasps: Iterable[Grasp], centre: Array, rotation: Array) -> Grasp:
        """Go to a grasp and return it: the first whose motions touch nothing, else the first that leads to the goal.

        Args:
            grasps: of the object.
            centre: goal of the object, (3,).
            rotation: the same, (3, 3).
        """
        others, height = self._clearance(centre)
        failure = SkillFailure("the object or its place is out of reach")
        best: tuple[float, Grasp, list[Leg]] | None = None
        for number, grasp in enumerate(grasps):
            try:
                legs = self._plan(_path_to(grasp, others), SkillPhase.APPROACH)
            except SkillFailure as reason:
                failure = failure if number else reason
                continue
            room = self._room_along(grasp, legs, centre, rotation, height)
            if room >= 0.0 or best is None or best[0] <= -UNREACHABLE_M < room:
                best = room, grasp, legs
            if room >= 0.0:
                break
        if best is None:
            raise failure
        room, grasp, legs = best
        if room < 0.0:
            what = "the arm may not reach the goal" if room <= -UNREACHABLE_M else f"{room * 1000:.0f} mm"
            self._scene.note(f"{self._action}: touches something, {what}")
        self._arm.open(grasp.opening_m, 12, self._ticker(SkillPhase.APPROACH, 0.0, 0.0))
        self._arm.follow(legs, self._ticker(SkillPhase.APPROACH, 0.0, 1.0), gripping=False)
        return grasp

    def _room_along(self, grasp: Grasp, legs: list[Leg], centre: Array, rotation: Array, height: float) -> float:
        """Least distance to other objects on the way to a grasp and, with the object, to its goal; negative: touches.

        A way on which the arm cannot carry the object counts as `-UNREACHABLE_M`.
        """
        matrix = self._own()[0]
        attitude = rotation @ matrix.T @ grasp.rotation
        own = self._estimates.positions[self._estimates.index(self._name)]
        position = centre + rotation @ matrix.T @ (grasp.position - own)
        carry = [
            *_lift(grasp.position, grasp.rotation, grasp, height),
            (_over(position, height), attitude, CARRY_M_S),
            (position, attitude, CARRY_M_S),
        ]
        try:
            planned = [*legs, *self._plan(carry, SkillPhase.TRANSPORT, legs[-1][0][-1])]
        except SkillFailure:
            return -UNREACHABLE_M
        # legs from joint angles to joint angles have two points only
        joints = np.concatenate([path if len(path) > 2 else np.linspace(path[0], path[-1], 9) for path, _ in planned])
        room = room_around(joints, np.full(len(joints), grasp.opening_m), obstacles_around(self._estimates, self._name))
        return min(grasp.room_m, float(room.min()))

    def _close(self) -> None:
        """Close the fingers on the object."""
        self._execution.tick(SkillPhase.GRASP, 0.0)
        opening = self._arm.close(self._ticker(SkillPhase.GRASP, 0.0, 0.99))
        self._execution.tick(SkillPhase.GRASP, 1.0)
        if opening < HELD_M:
            raise SkillFailure("there is nothing between the fingers")

    def _check_holding(self) -> None:
        if self._arm.measured_opening_m() < HELD_M:
            raise SkillFailure("the object is lost")

    def _carry(self, grasp: Grasp, centre: Array, rotation: Array, height: float) -> None:
        position, attitude = self._arm.commanded_tool()
        self._go(_lift(position, attitude, grasp, height), SkillPhase.LIFT, gripping=True)
        self._check_holding()
        position, attitude = self._tool_for(centre, rotation)
        self._go([(_over(position, height), attitude, CARRY_M_S)], SkillPhase.TRANSPORT, gripping=True)
        self._check_holding()
        self._execution.tick(SkillPhase.LOWER, 0.0)
        position, attitude = self._tool_for(centre, rotation)
        self._go([(position + UP * CLOSE_BY_M, attitude, CARRY_M_S)], SkillPhase.LOWER, True, (0.0, 0.5))
        self._check_holding()
        # measure again close to the goal: the load may have turned in the hand
        position, attitude = self._tool_for(centre, rotation)
        self._go([(position + UP * DROP_M, attitude, NEAR_M_S)], SkillPhase.LOWER, True, (0.5, 1.0))
        self._arm.wait(8, self._ticker(SkillPhase.LOWER, 1.0, 1.0), gripping=True)

    def _tool_for(self, centre: Array, rotation: Array) -> tuple[Array, Array]:
        """Tool position (3,) and rotation (3, 3) that put the held object at its goal."""
        offset, turn = self._scene.in_hand(self._name)
        if float(np.linalg.norm(offset)) > 0.05 or float(np.linalg.norm(rotation_vector(turn))) > 3.2:
            raise SkillFailure("the object is lost")
        attitude = rotation @ turn.T
        return centre - attitude @ offset, attitude

    def _let_go(self, grasp: Grasp, others: Array) -> None:
        self._release(grasp.opening_m, others)

    def _release(self, most_m: float, others: Array) -> None:
        """Open the fingers, by `most_m` at most, and go home over the other objects (M, 6)."""
        opening = min(self._arm.measured_opening_m() + 0.018, max(most_m, HELD_M))
        self._execution.tick(SkillPhase.RELEASE, 0.0)
        self._arm.open(opening, 24, self._ticker(SkillPhase.RELEASE, 0.0, 1.0))
        position, attitude = self._arm.commanded_tool()
        back = attitude[:, 2]
        off = position - BACK_OFF_M * back
        height = transit_height(position, np.array(HOME_POSITION_M), others, TIP_M)
        legs = [(position - NEAR_M * back, attitude, NEAR_M_S * 2), (off, attitude, FAST_M_S)]
        if height > off[2]:
            legs.append((np.array([*off[:2], height]), attitude, FAST_M_S))
            if back[2] < -0.995:
                legs.pop(1)
        planned = self._plan(legs, SkillPhase.RETREAT)
        self._follow_home(planned, self._ticker(SkillPhase.RETREAT, 0.0, 1.0))

    def _put_back(self) -> bool:
        try:
            self._check_holding()
            row = self._before.index(self._name)
            centre, rotation = self._before.positions[row], matrix_of(self._before.orientations[row])
            others, height = self._clearance(centre)
            position, attitude = self._tool_for(centre, rotation)
            self._go([(_over(position, height), attitude, CARRY_M_S)], SkillPhase.TRANSPORT, gripping=True)
            self._go([(position + UP * DROP_M, attitude, NEAR_M_S)], SkillPhase.LOWER, gripping=True)
            self._release(HELD_M + self._arm.opening_m, others)
        except SkillFailure as reason:
            self._scene.note(f"{self._action}: it cannot be put back: {reason}")
            return False
        return True

    def _abort(self) -> None:
        """Open the fingers and rise."""
        self._arm.open(self._arm.opening_m, 20, self._ticker(SkillPhase.RETREAT, 0.0, 0.2))
        position, attitude = self._arm.commanded_tool()
        rise = self._arm.straight(position + UP * max(0.0, 0.40 - position[2]), attitude, self._arm.joints, CARRY_M_S)
        if rise is not None:
            self._arm.follow([rise], self._ticker(SkillPhase.RETREAT, 0.2, 0.6), gripping=False)
        self._follow_home([], self._ticker(SkillPhase.RETREAT, 0.6, 1.0))

    def _follow_home(self, legs: list[Leg], tick: Callable[[float], None]) -> None:
        """Follow some legs, then go home from their end."""
        start = legs[-1][0][-1] if legs else self._arm.joints
        leg = self._arm.straight(np.array(HOME_POSITION_M), DOWN, start, FAST_M_S)
        if leg is None or float(np.abs(leg[0][-1] - self._arm.home).max()) > 0.02:
            leg = self._arm.between(start, self._arm.home)
        leg[0][-1] = self._arm.home
        self._arm.follow([*legs, leg], tick, gripping=False)

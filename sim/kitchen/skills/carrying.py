"""Picking things up and putting them down."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sim.kitchen.grasps import Grasp, grasps
from sim.kitchen.reach import Station, ToolPose
from sim.kitchen.skills.motion import SLOW_M_S, Motion, OutOfReach, SkillFailure
from sim.kitchen.skills.spots import fits, lies_anyhow, spots, stands_free, tool_for
from sim.kitchen.skills.whereabouts import entry, front_of, way_out, where
from sim.kitchen.things import ThingKind

Array = npt.NDArray[np.float64]
Way = TypeVar("Way")

_MAX_TRIES = 14
_MOST_GRASPS = 3
"""Number of attempts to close the fingers around a thing that they did not touch."""
_ANOTHER_M = 0.01
"""Another grasp is at least so far from one that missed."""
_ALIKE = math.radians(12.0)
"""Grasps that differ by less than this are of no use one after the other."""
_FLAT = ("countertop", "dining table", "tv stand")
"""On these a thing is set down to be held in another way."""
_TURNS = tuple(math.radians(angle) for angle in (0, 25, -25, 50, -50, 75, -75, 100, -100, 130, -130, 180))
_SQUARE = tuple(math.radians(angle) for angle in (0, 90, -90))


def pick_up(motion: Motion, name: str, useless: Sequence[Array] = ()) -> None:
    """Pick a thing up and bring it to the carrying pose; a grasp that misses is followed by another one.

    Args:
        motion: of the robot.
        name: of the thing.
        useless: rotations (3, 3) of the tool in the frame of the thing; it is held in another way.

    Raises:
        SkillFailure: it cannot be reached or held.
    """
    cell = motion.cell
    motion.check_hand_free()
    missed: list[Grasp] = []
    while len(missed) < _MOST_GRASPS:
        grasp, poses, station = _way_to_hold(motion, name, missed, useless)
        motion.shape_fingers(grasp.opening_m)
        motion.begin(station)
        number = poses.index(grasp.tool)
        motion.follow(poses[1 : number + 1], SLOW_M_S * 1.5)
        motion.close_fingers()
        body = cell.body(name)
        if not cell.robot.pressed(body):
            motion.open_fingers()
            motion.follow(reversed(poses[:number]))
            motion.stow()
            missed.append(grasp)
            continue
        cell.robot.held, cell.robot.let_go_m = name, grasp.opening_m
        if cell.things[name].kind.latched:
            cell.robot.latch(body)
        motion.follow(poses[number + 1 :], SLOW_M_S * 1.5)
        motion.stow()
        _check_held(motion, name)
        return
    raise _missed(name)


def _way_to_hold(
    motion: Motion, name: str, missed: Sequence[Grasp], useless: Sequence[Array]
) -> tuple[Grasp, list[ToolPose], Station]:
    """The best grasp of a thing unlike those that missed it or are useless, its tool poses, and the station.

    Raises:
        SkillFailure: it cannot be held where it is.
    """
    cell = motion.cell
    position, rotation = cell.pose(name)
    stands = where(motion, name)
    fixture, place = stands if stands is not None else (None, None)
    if fixture is not None and fixture.door is not None and not cell.states[fixture.name].open:
        raise SkillFailure(f"the {fixture.name} is closed")
    front = front_of(motion, fixture, position)
    kind = cell.things[name].kind
    if not lies_anyhow(kind) and rotation[2, 2] < 0.9:
        raise SkillFailure(f"the {name} does not stand upright")
    enclosed = place is not None and place.headroom_m < 0.6
    tried = 0
    ignored = {name, *(outer for outer in cell.things if name in cell.contents(outer))}
    for grasp in grasps(kind, position, rotation, front):
        if any(math.dist(grasp.tool.position, other.tool.position) < _ANOTHER_M for other in missed):
            continue
        if any(_alike(kind, rotation.T @ grasp.tool.rotation, other) for other in useless):
            continue
        before = entry(grasp.tool, fixture if enclosed else None)
        if not all(motion.hand_free(pose, ignored) for pose in (grasp.tool, before[-1])):
            continue
        after = way_out(grasp.tool, fixture if enclosed else None, front)
        # where something stands in front of it, straight up only
        ways = (after,) if enclosed else (after, after[:1])
        after = next((way for way in ways if motion.lifts_freely(name, grasp.tool, way, ignored)), after)
        poses = [*before, grasp.tool, *after]
        station = motion.station(poses, front, ignored)
        if station is not None:
            return grasp, poses, station
        tried += 1
        if tried == _MAX_TRIES:
            break
    if missed:
        raise _missed(name)
    raise OutOfReach(f"no grasp of the {name} is within reach")


def _alike(kind: ThingKind, one: Array, other: Array) -> bool:
    """Whether two rotations of the tool in the frame of a thing hold it in the same way."""
    lean = abs(math.acos(np.clip(one[2, 2], -1.0, 1.0)) - math.acos(np.clip(other[2, 2], -1.0, 1.0)))
    if not lies_anyhow(kind) and not kind.handle_m:
        # round: however it is turned, it is the same
        return lean < _ALIKE / 2
    return bool(abs(one[:, 1] @ other[:, 1]) > math.cos(_ALIKE) and one[:, 2] @ other[:, 2] > math.cos(_ALIKE / 2))


def _missed(name: str) -> SkillFailure:
    return SkillFailure(f"the fingers did not touch the {name}")


def _check_held(motion: Motion, name: str) -> None:
    if motion.cell.robot.held != name:
        raise SkillFailure(f"the {name} was lost out of the gripper")


def put(motion: Motion, name: str, target: str) -> None:
    """Put the held thing in or on a fixture or a vessel.

    If the hand holds it so that no place is within reach, it is set down nearby and held in another way.

    Raises:
        SkillFailure: it is not held, there is no room, or the place is out of reach.
    """
    cell = motion.cell
    if cell.robot.held != name:
        raise SkillFailure(f"the hand does not hold the {name}")
    into = target in cell.things
    stands = where(motion, target) if into else (cell.fixtures[target], cell.fixtures[target].places[0])
    fixture, place = stands if stands is not None else (None, None)
    if fixture is not None and fixture.door is not None and not cell.states[fixture.name].open:
        raise SkillFailure(f"the {fixture.name} is closed")
    if not into and place is not None and place.single and _others(motion, target, name):
        raise SkillFailure(f"the {target} is occupied")
    way = with_some_grasp(motion, name, target, _way_to_put)
    if way is None:
        raise SkillFailure(f"there is no place in or on the {target} within reach")
    _put(motion, name, *way)


def with_some_grasp(
    motion: Motion, name: str, target: str, find: Callable[[Motion, str, str], Way | None]
) -> Way | None:
    """A way to bring the held thing to its target; as long as there is none, it is set down and held otherwise.

    Args:
        motion: of the robot.
        name: of the held thing.
        target: where it is to come; it is not set down there.
        find: the way for the thing as it is held now; None if there is none.

    Returns:
        None if there is no way with any of `_MOST_GRASPS` further grasps, or the thing cannot be held otherwise.
    """
    useless: list[Array] = []
    while (way := find(motion, name, target)) is None and len(useless) < _MOST_GRASPS:
        useless.append(motion.cell.pose(name)[1].T @ motion.cell.robot.tool()[1])
        if not _set_down_nearby(motion, name, target):
            break
        try:
            pick_up(motion, name, useless)
        except SkillFailure:
            break
    return way


def _set_down_nearby(motion: Motion, name: str, target: str) -> bool:
    """Whether the held thing could be set down on something flat; the nearest is taken."""
    cell, base = motion.cell, motion.cell.robot.base
    flat = [one for one in cell.fixtures.values() if one.kind in _FLAT and one.name != target]
    for fixture in sorted(flat, key=lambda one: math.dist(one.to_world(one.places[0].centre)[:2], (base.x, base.y))):
        way = _way_to_put(motion, name, fixture.name)
        if way is not None:
            _put(motion, name, *way)
            return True
    return False


def _put(motion: Motion, name: str, poses: list[ToolPose], leaving: list[ToolPose], station: Station) -> None:
    motion.begin(station)
    motion.follow(poses[1:-1], SLOW_M_S * 1.5)
    motion.follow(poses[-1:], SLOW_M_S)
    if motion.cell.robot.held != name:
        motion.stow()
        raise SkillFailure(f"the {name} was lost on the way")
    motion.release()
    motion.follow(leaving, SLOW_M_S * 1.5)
    motion.stow()


def _way_to_put(motion: Motion, name: str, target: str) -> tuple[list[ToolPose], list[ToolPose], Station] | None:
    """Tool poses to a free spot in or on a target, those that leave it, and the station; None if there are none."""
    cell = motion.cell
    into = target in cell.things
    stands = where(motion, target) if into else (cell.fixtures[target], cell.fixtures[target].places[0])
    fixture, place = stands if stands is not None else (None, None)
    front = front_of(motion, fixture, cell.pose(target)[0] if into else np.zeros(3))
    inside = fixture if place is not None and place.headroom_m < 0.6 else None
    slot = fixture if fixture is not None and fixture.kind == "toaster" and not into else None
    near = {target, *(cell.contents(target) if into else ())}
    for spot, clearance in spots(motion, name, target):
        for turn in _TURNS if slot is None else _SQUARE:
            goal = tool_for(motion, name, spot, front + turn)
            if slot is not None and not fits(motion, name, goal, slot):
                continue
            if into and goal.position[2] < clearance:
                goal = goal.moved([0.0, 0.0, clearance - goal.position[2]])
            poses = [*reversed(way_out(goal, inside, front)), goal]
            leaving = list(reversed(entry(goal, inside)))
            if not motion.hand_free(goal, {name, target}) or not (
                into or stands_free(motion, name, target, spot, goal)
            ):
                continue
            station = motion.station([*poses, *leaving], front, near)
            if station is not None:
                return poses, leaving, station
    return None


def _others(motion: Motion, target: str, name: str) -> list[str]:
    return [other for other in motion.cell.standing_on(target) if other != name]

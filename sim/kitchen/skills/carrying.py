"""Picking things up and putting them down."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from sim.common.rotations import leveled, rotation_about
from sim.kitchen.devices import SLOT_M
from sim.kitchen.fixtures import Fixture, Place
from sim.kitchen.grasps import Grasp, grasps
from sim.kitchen.reach import Station, ToolPose
from sim.kitchen.scenes import SIDE_M
from sim.kitchen.skills.motion import SLOW_M_S, Motion, OutOfReach, SkillFailure
from sim.kitchen.things import Form, ThingKind, can_be_sliced, discs, gap, half_extent

Array = npt.NDArray[np.float64]

_LIFT_M = 0.12
_INSIDE_LIFT_M = 0.025
"""How far a thing is lifted under a ceiling."""
_DRAW_M = 0.16
"""How far it is drawn towards the robot before it is lifted higher."""
_OUT_M = 0.06
"""How far in front of a fixture the tool is before it reaches in."""
_BACK_M = 0.09
_MAX_TRIES = 14
_MOST_GRASPS = 3
"""So often the fingers close around a thing that they did not touch before."""
_ANOTHER_M = 0.01
"""Another grasp is at least so far from one that missed."""
_GAP_M = 0.035
"""Free distance to a neighbour when something is put down, if there is a choice."""
_LEAST_GAP_M = 0.02
_ROOM_M, _ROOM_TO_CUT_M = 0.12, 0.25
"""More room than this is of no use around a thing, and around food that a hand with a knife cuts there."""
_MAX_SPOTS = 14
_IN_VESSEL = ((0.0, 0.0), (0.35, 0.0), (-0.35, 0.0), (0.0, 0.35), (0.0, -0.35))
"""Where something is put into a vessel, as shares of its radius; best first."""
_PLAY_M = 0.006
"""Least room around what is put into a slot."""
_TURNS = tuple(math.radians(angle) for angle in (0, 25, -25, 50, -50, 75, -75, 100, -100, 130, -130, 180))

_SQUARE = tuple(math.radians(angle) for angle in (0, 90, -90))


def front_of(motion: Motion, fixture: Fixture | None, point: Array) -> float:
    """Direction in which a robot in front of a fixture looks; without one, from the robot to a point."""
    if fixture is not None:
        inwards = fixture.rotation() @ [-1.0, 0.0, 0.0]
        return math.atan2(inwards[1], inwards[0])
    base = motion.cell.robot.base
    return math.atan2(point[1] - base.y, point[0] - base.x)


def where(motion: Motion, name: str) -> tuple[Fixture, Place] | None:
    """The fixture and the place in or on which a thing is; None if it is elsewhere, on the floor for instance."""
    stands = motion.cell.stands_on(name)
    if stands:
        fixture = motion.cell.fixtures[stands]
        return fixture, fixture.places[0]
    for outer in motion.cell.things:
        if name in motion.cell.contents(outer):
            return where(motion, outer)
    return None


def pick_up(motion: Motion, name: str) -> None:
    """Pick a thing up and bring it to the carrying pose; a grasp that misses is followed by another one.

    Raises:
        SkillFailure: it cannot be reached or held.
    """
    cell = motion.cell
    if cell.robot.held:
        raise SkillFailure(f"the hand holds the {cell.robot.held}")
    missed: list[Grasp] = []
    while len(missed) < _MOST_GRASPS:
        grasp, poses, station = _way_to_hold(motion, name, missed)
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


def _way_to_hold(motion: Motion, name: str, missed: Sequence[Grasp]) -> tuple[Grasp, list[ToolPose], Station]:
    """The best grasp of a thing unlike those that missed it, the tool poses before, at and after it, and the station.

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
        before = _entry(motion, grasp.tool, fixture if enclosed else None)
        if not all(motion.hand_free(pose, ignored) for pose in (grasp.tool, before[-1])):
            continue
        after = _exit(motion, grasp.tool, fixture if enclosed else None, front)
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


def _missed(name: str) -> SkillFailure:
    return SkillFailure(f"the fingers did not touch the {name}")


def _check_held(motion: Motion, name: str) -> None:
    if motion.cell.robot.held != name:
        raise SkillFailure(f"the {name} was lost out of the gripper")


def _outwards(fixture: Fixture, pose: ToolPose) -> Array:
    """Shift (3,) that brings a tool pose to in front of a fixture."""
    inside = fixture.from_world(pose.position)
    edge = max(part.at[0] + part.size[0] / 2 for part in fixture.assembly.base.parts if part.shape == "box")
    # the hand points inwards, so its fingertips may stay a little behind the front
    return np.asarray(fixture.rotation() @ [edge + _OUT_M - inside[0], 0.0, 0.0])


def _entry(motion: Motion, tool: ToolPose, fixture: Fixture | None) -> list[ToolPose]:
    """Tool poses on the way to a grasp or away from a place."""
    if fixture is None:
        back = tool.backed(_BACK_M)
        return [back.moved([0.0, 0.0, 0.06]), back]
    up = tool.moved([0.0, 0.0, _INSIDE_LIFT_M])
    return [up.moved(_outwards(fixture, up)), tool.backed(0.07)]


def _exit(motion: Motion, tool: ToolPose, fixture: Fixture | None, front: float) -> list[ToolPose]:
    """Tool poses with the thing in the hand, from where it stood outwards."""
    if fixture is None:
        up = tool.moved([0.0, 0.0, _LIFT_M])
        # below the spout of a tap, for instance, there is no way straight up
        return [up, up.moved([-_DRAW_M * math.cos(front), -_DRAW_M * math.sin(front), 0.02])]
    up = tool.moved([0.0, 0.0, _INSIDE_LIFT_M])
    return [up, up.moved(_outwards(fixture, up))]


def put(motion: Motion, name: str, target: str) -> None:
    """Put the held thing in or on a fixture or a vessel.

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
    front = front_of(motion, fixture, cell.pose(target)[0] if into else np.zeros(3))
    enclosed = place is not None and place.headroom_m < 0.6
    near = {target, *(cell.contents(target) if into else ())}
    for spot, clearance in spots(motion, name, target):
        for turn in _TURNS if into or cell.fixtures[target].kind != "toaster" else _SQUARE:
            goal = tool_for(motion, name, spot, front + turn)
            if (
                fixture is not None
                and fixture.kind == "toaster"
                and not into
                and not _fits(motion, name, goal, fixture)
            ):
                continue
            if into and goal.position[2] < clearance:
                goal = goal.moved([0.0, 0.0, clearance - goal.position[2]])
            poses = [*reversed(_exit(motion, goal, fixture if enclosed else None, front)), goal]
            leaving = list(reversed(_entry(motion, goal, fixture if enclosed else None)))
            if not motion.hand_free(goal, {name, target}) or not (
                into or _stands_free(motion, name, target, spot, goal)
            ):
                continue
            station = motion.station([*poses, *leaving], front, near)
            if station is None:
                continue
            motion.begin(station)
            motion.follow(poses[1:-1], SLOW_M_S * 1.5)
            motion.follow(poses[-1:], SLOW_M_S)
            if cell.robot.held != name:
                motion.stow()
                raise SkillFailure(f"the {name} was lost on the way")
            motion.release()
            motion.follow(leaving, SLOW_M_S * 1.5)
            motion.stow()
            return
    raise SkillFailure(f"there is no place in or on the {target} within reach")


def _fits(motion: Motion, name: str, goal: ToolPose, toaster: Fixture) -> bool:
    """Whether the held thing goes into the slot of a toaster when the tool has a pose."""
    _, rotation = motion.cell.pose(name)
    _, attitude = motion.cell.robot.tool()
    turned = goal.rotation @ attitude.T @ rotation
    across = (toaster.rotation().T @ turned)[:2]
    kind = motion.cell.things[name].kind
    return all(2 * half_extent(kind, row) < room - _PLAY_M for row, room in zip(across, SLOT_M, strict=True))


def lies_anyhow(kind: ThingKind) -> bool:
    """Whether things of a kind have no top."""
    return kind.form in (Form.BODY, Form.SLICE)


def _others(motion: Motion, target: str, name: str) -> list[str]:
    return [other for other in motion.cell.standing_on(target) if other != name]


def tool_for(motion: Motion, name: str, spot: Array, azimuth: float) -> ToolPose:
    """Pose of the tool when the held thing stands with its bottom at a spot and the hand points along `azimuth`."""
    cell = motion.cell
    position, rotation = cell.pose(name)
    tool, attitude = cell.robot.tool()
    kind = cell.things[name].kind
    # what hangs askew is set down upright
    level = leveled(rotation, 2) @ rotation.T if not lies_anyhow(kind) else np.eye(3)
    attitude = level @ attitude
    now = math.atan2(attitude[1, 2], attitude[0, 2]) if math.hypot(attitude[0, 2], attitude[1, 2]) > 0.1 else azimuth
    turn = rotation_about((0.0, 0.0, 1.0), azimuth - now)
    centre = spot + np.array([0.0, 0.0, half_extent(kind, (level @ rotation)[2]) + 0.002])
    return ToolPose(centre + turn @ level @ (tool - position), turn @ attitude)


def spots(motion: Motion, name: str, target: str) -> Iterator[tuple[Array, float]]:
    """Where the bottom of a thing can be set down, best first, and the least height of the tool."""
    cell = motion.cell
    kind = cell.things[name].kind
    if target in cell.things:
        outer = cell.things[target].kind
        centre, rotation = cell.pose(target)
        bottom = centre - rotation[:, 2] * (outer.height_m / 2 - outer.wall_m)
        rim = centre[2] + outer.height_m / 2
        # fingers do not fit into what is narrow
        clearance = rim + 0.012 if outer.size[0] < 0.09 else bottom[2]
        inside = cell.contents(target)
        lowest = []
        for number, (x, y) in enumerate(_IN_VESSEL):
            spot = bottom + rotation @ (np.array([x, y, 0.0]) * outer.size[0])
            below = [one for one in inside if _gap(motion, one, spot) < kind.radius_m + cell.things[one].kind.radius_m]
            # what lies there already is lain upon
            tops = [cell.pose(one)[0][2] + half_extent(cell.things[one].kind, cell.pose(one)[1][2]) for one in below]
            rise = max([0.0, *(top - spot[2] for top in tops)])
            lowest.append((rise, number, spot + np.array([0.0, 0.0, rise])))
        for _, _, spot in sorted(lowest, key=lambda item: item[:2]):
            yield spot, float(clearance)
        return
    fixture = cell.fixtures[target]
    place = fixture.places[0]
    if place.single:
        yield fixture.to_world(place.centre), 0.0
        return
    points = []
    out = cell.position_of(fixture, fixture.door) if fixture.kind == "drawer" and fixture.door else 0.0
    tap = next((other for other in cell.fixtures.values() if other.rests_on == target and other.stream), None)
    for x in np.linspace(-1.0, 1.0, 5):
        for y in np.linspace(-1.0, 1.0, 9):
            points.append(np.array(place.centre) + np.array([x * place.half[0] + out, y * place.half[1], 0.0]))
    if tap is not None and tap.stream is not None:
        points.insert(0, np.array([tap.stream[0], tap.stream[1], place.centre[2]]))
    rated = []
    enough = _ROOM_TO_CUT_M if can_be_sliced(kind) else _ROOM_M
    # the least that it covers, whichever way it is turned
    core = min(radius for _, _, radius in discs(kind, 0.0, 0.0, 0.0))
    for number, local in enumerate(points):
        spot = fixture.to_world(local)
        room = min(
            (
                gap([(float(spot[0]), float(spot[1]), core)], _covered(motion, other))
                for other in cell.things
                if other != name and abs(cell.pose(other)[0][2] - spot[2]) < 0.25
            ),
            default=1.0,
        )
        room = min(room, _fixture_gap(motion, fixture, local) - core)
        across = abs(local[1] - place.centre[1])
        if room < _LEAST_GAP_M or across > place.half[1] + SIDE_M - 1.1 * kind.radius_m:
            continue
        first = tap is not None and number == 0
        middle = float(np.hypot(*(local - np.array(place.centre))[:2]))
        rated.append((0 if first else 1 if room > _GAP_M else 2, -min(room, enough) + 0.25 * middle, number, spot))
    for _, _, _, spot in sorted(rated, key=lambda item: item[:3])[:_MAX_SPOTS]:
        yield spot, 0.0


def _covered(motion: Motion, name: str) -> list[tuple[float, float, float]]:
    """What a thing covers with its handle, seen from above, as discs."""
    position, rotation = motion.cell.pose(name)
    yaw = math.atan2(rotation[1, 0], rotation[0, 0])
    return discs(motion.cell.things[name].kind, float(position[0]), float(position[1]), yaw)


def _stands_free(motion: Motion, name: str, target: str, spot: Array, goal: ToolPose) -> bool:
    """Whether a thing at a spot, turned with the tool, keeps away from its neighbours and from what stands there."""
    cell = motion.cell
    _, rotation = cell.pose(name)
    _, attitude = cell.robot.tool()
    turned = goal.rotation @ attitude.T @ rotation
    yaw = math.atan2(turned[1, 0], turned[0, 0])
    covered = discs(cell.things[name].kind, float(spot[0]), float(spot[1]), yaw)
    fixture = cell.fixtures[target]
    if fixture.places[0].single:
        return True
    near = [one for one in cell.things if one != name and abs(cell.pose(one)[0][2] - spot[2]) < 0.25]
    return all(gap(covered, _covered(motion, one)) > _LEAST_GAP_M for one in near) and all(
        _fixture_gap(motion, fixture, fixture.from_world([x, y, spot[2]])) > radius + _LEAST_GAP_M
        for x, y, radius in covered
    )


def _gap(motion: Motion, other: str, spot: Array) -> float:
    return float(np.hypot(*(motion.cell.pose(other)[0] - spot)[:2]))


def _fixture_gap(motion: Motion, fixture: Fixture, local: Array) -> float:
    """Horizontal distance from a point to what stands on the same furniture, in the frame of the fixture."""
    nearest = math.inf
    for other in motion.cell.fixtures.values():
        if other is fixture or other.position != fixture.position or not other.rests_on:
            continue
        for part in other.assembly.base.parts:
            bottom, top = part.at[2] - part.size[2] / 2, part.at[2] + part.size[2] / 2
            if top < local[2] + 0.005 or bottom > local[2] + 0.25:
                continue
            half = (part.size[0] / 2, part.size[1] / 2) if part.shape == "box" else (part.size[0], part.size[1])
            dx = max(0.0, abs(local[0] - part.at[0]) - half[0])
            dy = max(0.0, abs(local[1] - part.at[1]) - half[1])
            nearest = min(nearest, math.hypot(dx, dy))
    return nearest

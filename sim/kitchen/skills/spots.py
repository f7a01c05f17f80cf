"""Where something can be put down, and the pose of the tool for that."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from sim.common.rotations import leveled, rotation_about
from sim.kitchen.devices import SLOT_M
from sim.kitchen.fixtures import Fixture
from sim.kitchen.reach import ToolPose
from sim.kitchen.scenes import SIDE_M
from sim.kitchen.skills.motion import Motion
from sim.kitchen.things import Form, ThingKind, can_be_sliced, discs, gap, half_extent

Array = npt.NDArray[np.float64]

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


def tool_for(motion: Motion, name: str, spot: Array, azimuth: float) -> ToolPose:
    """Pose of the tool when the held thing stands with its bottom at a spot and the hand points along `azimuth`."""
    cell = motion.cell
    position, rotation = cell.pose(name)
    tool, attitude = cell.robot.tool()
    kind = cell.things[name].kind
    # what hangs askew is set down upright
    level = leveled(rotation, 2) @ rotation.T if not lies_anyhow(kind) else np.eye(3)
    attitude = level @ attitude
    leans = math.hypot(attitude[0, 2], attitude[1, 2]) > 0.1
    # a hand that points straight down is turned by its fingers
    now = math.atan2(*(attitude[:2, 2][::-1] if leans else (attitude[0, 1], -attitude[1, 1])))
    turn = rotation_about((0.0, 0.0, 1.0), azimuth - now)
    centre = spot + np.array([0.0, 0.0, half_extent(kind, (level @ rotation)[2]) + 0.002])
    return ToolPose(centre + turn @ level @ (tool - position), turn @ attitude)


def fits(motion: Motion, name: str, goal: ToolPose, toaster: Fixture) -> bool:
    """Whether the held thing goes into the slot of a toaster when the tool has a pose."""
    _, rotation = motion.cell.pose(name)
    _, attitude = motion.cell.robot.tool()
    turned = goal.rotation @ attitude.T @ rotation
    across = (toaster.rotation().T @ turned)[:2]
    kind = motion.cell.things[name].kind
    return all(2 * half_extent(kind, row) < room - _PLAY_M for row, room in zip(across, SLOT_M, strict=True))


def stands_free(motion: Motion, name: str, target: str, spot: Array, goal: ToolPose) -> bool:
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


def lies_anyhow(kind: ThingKind) -> bool:
    """Whether things of a kind have no top."""
    return kind.form in (Form.BODY, Form.SLICE)


def _covered(motion: Motion, name: str) -> list[tuple[float, float, float]]:
    """What a thing covers with its handle, seen from above, as discs."""
    position, rotation = motion.cell.pose(name)
    yaw = math.atan2(rotation[1, 0], rotation[0, 0])
    return discs(motion.cell.things[name].kind, float(position[0]), float(position[1]), yaw)


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

"""Opening and closing doors and drawers by their handles, turning knobs and levers, and pressing buttons."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from sim.common.rotations import rotation_about
from sim.kitchen.assemblies import controls_of
from sim.kitchen.devices import screen_of
from sim.kitchen.fixtures import Control, ControlKind, Fixture, switch_of
from sim.kitchen.floor_plan import FloorPlan
from sim.kitchen.reach import Station, ToolPose, tool_rotation
from sim.kitchen.shapes import Joint, JointKind
from sim.kitchen.skills.lids import move_lid, press_down, press_power
from sim.kitchen.skills.motion import SLOW_M_S, Motion, OutOfReach, SkillFailure
from sim.kitchen.skills.moving import move_to
from sim.kitchen.skills.pressing import press_button

Array = npt.NDArray[np.float64]

_ARC_POINTS = 9
_FOLLOWS = (0.0, 0.5, 0.25, 0.75, 1.0)
"""By what share of a door's angle the hand turns along; the bar of the handle turns between the fingers otherwise."""
_TRAVELS = (1.0, 0.85, 0.72)
"""Shares of the travel to which a door is opened, if it cannot be opened farther from anywhere."""
_PITCHES = (math.radians(90.0), math.radians(70.0), math.radians(50.0))
_CLOSED = 0.03
"""Joint position, radians or metres, below which a door or drawer is closed."""
_BACK_M = 0.09
_CLEAR_M = 0.10
"""How far the hand draws back from an open door before the arm is stowed."""
_TIP_M = 0.0075
"""From the tool centre point to the end of the fingers."""
_PRESS_M = 0.012
_ATTEMPTS = 2
_PUSHED_AT = 0.72
"""Where a door is pushed shut, as a share of the distance from the hinge to the handle."""
_WATCHED_S = {"faucet": 3.0, "coffee machine": 4.0, "stove burner": 5.0, "microwave": 6.0, "toaster": 3.0}
"""How long the robot watches what it has turned on: then a vessel is filled, and what is heated is hot."""
_REMOTE_M = (0.6, 3.0)
"""A remote control works within 60 degrees of the middle axis of a screen, and up to 3 m."""


def swing(motion: Motion, name: str, opened: bool) -> None:
    """Open or close a door or drawer by its handle, or a lid.

    Raises:
        SkillFailure: it has none, or it cannot be reached or moved.
    """
    if "door" in _controls(motion, name):
        move_lid(motion, name, opened)
        return
    fixture, control = _handle_of(motion, name)
    cell = motion.cell
    if opened and cell.states[name].on:
        raise SkillFailure(f"the {name} is running")
    hinged = fixture.assembly.joints[control.joint].kind is JointKind.HINGE

    def done() -> bool:
        position = cell.position_of(fixture, control)
        return position > 0.6 * control.travel if opened else position < _CLOSED

    for _ in range(_ATTEMPTS):
        if done():
            return
        start = cell.position_of(fixture, control)
        goals = [share * control.travel for share in _TRAVELS] if opened else [-0.02]
        pushed = not opened and hinged and _pushed_shut(motion, fixture, control, start)
        if not (pushed or any(_pulled(motion, fixture, control, start, goal) for goal in goals)):
            raise OutOfReach(f"the handle of the {name} is out of reach")
    if not done():
        raise SkillFailure(f"the {name} did not {'open' if opened else 'close'}")


def toggle(motion: Motion, name: str, on: bool) -> None:
    """Turn something on or off with its knob, lever or button.

    Raises:
        SkillFailure: it has no switch, or the switch cannot be reached or moved.
    """
    cell = motion.cell
    if name in cell.fixtures and cell.fixtures[name].kind == "television":
        _by_remote(motion, cell.fixtures[name], on)
        return
    if "switch" in _controls(motion, name):
        motion.check_hand_free()
        if cell.states[name].on != on:
            press_power(motion, name)
            _check(motion, name, on)
        return
    fixture = switch_of(cell.fixtures.values(), name)
    if fixture is None or fixture.switch is None:
        raise SkillFailure(f"the {name} has no switch")
    motion.check_hand_free()
    target = fixture.operates or fixture.name
    if cell.states[target].on == on:
        return
    if on and cell.states[target].open:
        raise SkillFailure(f"the {target} is open")
    if fixture.switch.kind is ControlKind.KNOB:
        _turned(motion, fixture, fixture.switch, fixture.switch.travel if on else -0.03)
    elif fixture.switch.inwards[2] < 0.0:
        position = cell.position_of(fixture, fixture.switch)
        point, _ = _at(fixture, fixture.switch, position)
        inwards = fixture.rotation() @ [-1.0, 0.0, 0.0]
        front = math.atan2(inwards[1], inwards[0])
        press_down(motion, point, fixture.switch.travel - position, front, {fixture.name}, name)
    else:
        _pressed(motion, fixture, fixture.switch)
    _check(motion, target, on)
    if on:
        motion.wait(_WATCHED_S.get(cell.fixtures[target].kind, 0.0))


def _check(motion: Motion, name: str, on: bool) -> None:
    if motion.cell.states[name].on != on:
        raise SkillFailure(f"the {name} did not turn {'on' if on else 'off'}")


def _controls(motion: Motion, name: str) -> dict[str, Control]:
    """What about a thing is operated; empty for fixtures."""
    return controls_of(motion.cell.things[name].kind) if name in motion.cell.things else {}


def _by_remote(motion: Motion, fixture: Fixture, on: bool) -> None:
    """Turn a television on or off with the remote control in the hand, from in front of the screen."""
    cell = motion.cell
    name = cell.robot.held
    if not name or cell.things[name].kind.name != "remote control":
        raise SkillFailure("the hand holds no remote control")
    if cell.states[fixture.name].on == on:
        return
    move_to(motion, fixture.name)
    motion.wait(0.3)
    if cell.robot.held != name:
        raise SkillFailure(f"the {name} was lost out of the gripper")
    seen = fixture.from_world(cell.pose(name)[0]) - np.asarray(screen_of(fixture))
    if seen[0] < _REMOTE_M[0] * abs(seen[1]) or np.linalg.norm(seen) > _REMOTE_M[1]:
        raise SkillFailure(f"the {name} is not in front of the {fixture.name}")
    cell.change(fixture.name, on=on)
    cell.note(f"the {fixture.name} turned {'on' if on else 'off'}")


def _handle_of(motion: Motion, name: str) -> tuple[Fixture, Control]:
    fixture = motion.cell.fixtures.get(name)
    if fixture is None or fixture.door is None:
        raise SkillFailure(f"the {name} has no door")
    motion.check_hand_free()
    return fixture, fixture.door


def _at(fixture: Fixture, control: Control, position: float) -> tuple[Array, Array]:
    """World position (3,) of the grip of a control and rotation (3, 3) of its link, at a joint position."""
    return _at_point(fixture, fixture.assembly.joints[control.joint], control.grip, position)


def _at_point(fixture: Fixture, joint: Joint, point: npt.ArrayLike, position: float) -> tuple[Array, Array]:
    """The same of any point (3,) of the link of a joint."""
    frame = fixture.rotation()
    if joint.kind is JointKind.SLIDE:
        local = np.asarray(joint.at) + np.asarray(joint.axis) * position + np.asarray(point)
        return fixture.to_world(local), frame
    turn = rotation_about(joint.axis, position)
    return fixture.to_world(np.asarray(joint.at) + turn @ np.asarray(point)), frame @ turn


def _pulled(motion: Motion, fixture: Fixture, control: Control, start: float, goal: float) -> bool:
    """Move a handle along its path, from wherever the arm can follow it; False if it can from nowhere."""
    cell = motion.cell
    joint = fixture.assembly.joints[control.joint]
    hinged = joint.kind is JointKind.HINGE
    positions = np.linspace(start, goal, _ARC_POINTS)
    inwards = fixture.rotation() @ np.asarray(control.inwards)
    front = math.atan2(inwards[1], inwards[0])
    plan = _with_swept(motion, fixture, positions) if hinged else cell.floor_plan()
    for follow in _FOLLOWS if hinged else (0.0,):
        for pitch, roll in _hands(hinged):
            poses = list(_along(fixture, control, positions, front, pitch, roll, follow))
            before = [poses[0].backed(_BACK_M)]
            away = poses[-1].backed(_BACK_M)
            after = [away, away.moved(-_CLEAR_M * inwards)]
            for looks in (front,) if goal > start or not hinged else _sideways(fixture, control, start, front):
                station = motion.station([*before, *poses, *after], looks, {fixture.name}, plan)
                if station is not None:
                    _pull(motion, station, poses, after)
                    return True
    return False


def _pushed_shut(motion: Motion, fixture: Fixture, control: Control, start: float) -> bool:
    """Push a door shut with closed fingers on its outer face; False if that is possible from nowhere."""
    joint = fixture.assembly.joints[control.joint]
    inwards = fixture.rotation() @ np.asarray(control.inwards)
    front = math.atan2(inwards[1], inwards[0])
    panel = joint.link.parts[0]
    # between the hinge and the handle, on the face
    spot = np.array([panel.at[0] + panel.size[0] / 2, _PUSHED_AT * control.grip[1], control.grip[2]])
    angles = np.linspace(start, -0.03, _ARC_POINTS)
    plan = _with_swept(motion, fixture, angles)
    for follow in (0.75, 1.0, 0.5, 0.25):
        for pitch in _PITCHES:
            for roll in (math.pi / 2, 0.0):
                poses = []
                for angle in angles:
                    point, link = _at_point(fixture, joint, spot, float(angle))
                    turned = math.remainder(math.atan2(link[1, 0], link[0, 0]) - fixture.yaw, 2 * math.pi)
                    rotation = tool_rotation(front + follow * turned, pitch) @ rotation_about((0.0, 0.0, 1.0), roll)
                    poses.append(ToolPose(point - (_TIP_M + 0.004) * rotation[:, 2], rotation))
                before, after = poses[0].backed(_BACK_M), poses[-1].backed(_BACK_M)
                for looks in _sideways(fixture, control, start, front):
                    station = motion.station([before, *poses, after], looks, {fixture.name}, plan)
                    if station is None:
                        continue
                    motion.shape_fingers(0.0)
                    motion.begin(station)
                    motion.follow(poses, SLOW_M_S * 1.5)
                    motion.follow([poses[-1].moved(0.008 * inwards)], SLOW_M_S)
                    motion.follow([after], SLOW_M_S * 1.5)
                    motion.stow()
                    return True
    return False


def _sideways(fixture: Fixture, control: Control, start: float, front: float) -> Iterator[float]:
    """Directions in which a robot looks that stands on the outer side of an open door."""
    _, link = _at(fixture, control, start)
    turned = math.remainder(math.atan2(link[1, 0], link[0, 0]) - fixture.yaw, 2 * math.pi)
    for share in (0.5, 1.0):
        yield front + share * turned


def _hands(hinged: bool) -> Iterator[tuple[float, float]]:
    """Pitch and roll of hands for a bar, upright on doors, lying on drawers; radians."""
    for pitch in _PITCHES:
        yield pitch, 0.0 if hinged else math.pi / 2


def _along(
    fixture: Fixture,
    control: Control,
    positions: Sequence[float] | Array,
    front: float,
    pitch: float,
    roll: float,
    follow: float,
) -> Iterator[ToolPose]:
    """Poses of the tool that hold a handle at joint positions."""
    for position in positions:
        point, link = _at(fixture, control, float(position))
        turned = math.atan2(link[1, 0], link[0, 0]) - fixture.yaw
        rotation = tool_rotation(front + follow * math.remainder(turned, 2 * math.pi), pitch)
        yield ToolPose(point, rotation @ rotation_about((0.0, 0.0, 1.0), roll))


def _pull(motion: Motion, station: Station, poses: list[ToolPose], after: list[ToolPose]) -> None:
    motion.shape_fingers(0.06)
    motion.begin(station)
    motion.follow(poses[:1], SLOW_M_S)
    motion.close_fingers()
    motion.grip(True)
    motion.follow(poses[1:], SLOW_M_S * 1.5)
    motion.grip(False)
    motion.open_fingers(0.06)
    motion.follow(after, SLOW_M_S * 1.5)
    motion.stow()


def _with_swept(motion: Motion, fixture: Fixture, positions: Array) -> FloorPlan:
    """The floor plan in which a door stands at all the angles that it passes."""
    cell = motion.cell
    assert fixture.door is not None
    obstacles = list(cell.floor_plan().obstacles)
    for position in positions:
        if position > 0.1:
            obstacles.append(cell.door_obstacle(fixture, _at(fixture, fixture.door, float(position))[1]))
    return FloorPlan(tuple(obstacles))


def _turned(motion: Motion, fixture: Fixture, control: Control, goal: float) -> None:
    """Grip a knob from above and turn it."""
    cell = motion.cell
    start = cell.position_of(fixture, control)
    positions = np.linspace(start, goal, 6)
    inwards = fixture.rotation() @ [-1.0, 0.0, 0.0]
    front = math.atan2(inwards[1], inwards[0])
    for pitch in (0.0, math.radians(20.0), math.radians(35.0)):
        for flip in (0.0, math.pi):
            poses = []
            for position in positions:
                point, link = _at(fixture, control, float(position))
                # the bar lies along x of its link; the fingers close across it
                along = math.atan2(link[1, 0], link[0, 0]) + math.pi + flip
                if pitch == 0.0:
                    rotation = tool_rotation(along, 0.0)
                else:
                    spin = math.remainder(along - front, 2 * math.pi)
                    rotation = rotation_about((0.0, 0.0, 1.0), spin) @ tool_rotation(front, pitch)
                poses.append(ToolPose(point, rotation))
            before, after = poses[0].backed(_BACK_M), poses[-1].backed(_BACK_M)
            if not all(motion.hand_free(pose, ()) for pose in (poses[0], poses[-1])):
                continue
            station = motion.station([before, *poses, after], front, {fixture.name})
            if station is None:
                continue
            motion.shape_fingers(0.05)
            motion.begin(station)
            motion.follow(poses[:1], SLOW_M_S)
            motion.close_fingers()
            motion.grip(True)
            motion.follow(poses[1:], SLOW_M_S)
            motion.grip(False)
            motion.open_fingers(0.05)
            motion.follow([after], SLOW_M_S * 1.5)
            motion.stow()
            return
    raise SkillFailure(f"the switch of the {fixture.operates or fixture.name} is out of reach")


def _pressed(motion: Motion, fixture: Fixture, control: Control) -> None:
    """Press a button with closed fingers."""
    point, _ = _at(fixture, control, 0.0)
    inwards = fixture.rotation() @ np.asarray(control.inwards)
    front = math.atan2(inwards[1], inwards[0])
    for pitch in _PITCHES:
        # an upright hand passes next to the handle of a door
        for roll in (math.pi / 2, 0.0):
            rotation = tool_rotation(front, pitch) @ rotation_about((0.0, 0.0, 1.0), roll)
            touch = ToolPose(point - _TIP_M * rotation[:, 2] - 0.01 * inwards, rotation)
            before, press = touch.moved(-0.07 * inwards), touch.moved((0.01 + _PRESS_M) * inwards)
            # nothing is ignored: the fingers are shorter than the hand keeps away from the button
            station = motion.station([before, touch, press, before], front)
            if station is None:
                continue
            press_button(motion, station, before, touch, press)
            return
    raise SkillFailure(f"the button of the {fixture.name} is out of reach")

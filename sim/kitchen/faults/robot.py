"""Execution failures: the robot loses what it holds, misses, stops, or mistakes one thing or place for another."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from nsrecover.core.actions import Action
from sim.kitchen.faults.base import Fault, FaultClass, Hand, Mistake, OfAction
from sim.kitchen.faults.choosing import one_of, similar
from sim.kitchen.faults.moment import Moment
from sim.kitchen.reach import ToolPose
from sim.kitchen.skills.motion import SkillFailure
from sim.kitchen.things import GraspKind

_PUTS = ("put_on", "put_in")
_SWITCHES = ("toggle_on", "toggle_off")
_DOORS = ("open_obj", "close_obj")


@dataclass(frozen=True)
class Lost(Fault, fault_class=FaultClass.EXECUTION):
    """The fingers lose their force.

    Attributes:
        after_s: simulated time since the action began; if nothing is held then, it strikes as soon as something is.
    """

    after_s: float

    def during(self, hand: Hand, seconds: float) -> None:
        """Let go."""
        if seconds >= self.after_s and hand.held:
            hand.slacken()


@dataclass(frozen=True)
class Dropped(Lost, meaning="the robot drops a thing while it carries it to its place"):
    """The fingers lose their force while the robot carries something."""

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """A moment on the way to where the held thing is put or poured."""
        held = moment.before.held
        if not held or held in moment.taken or held not in moment.action.arguments[:1]:
            return None
        if moment.action.operator not in (*_PUTS, "pour"):
            return None
        return cls(moment.step, round(float(rng.uniform(0.05, 0.5)) * moment.seconds, 2))


@dataclass(frozen=True)
class Slipped(Lost, meaning="a thing slips out of the gripper while the robot lifts it"):
    """The fingers lose their force soon after they have taken something."""

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """The last part of picking something up."""
        if moment.action.operator != "pick_up" or moment.action.arguments[0] in moment.taken:
            return None
        return cls(moment.step, round(float(rng.uniform(0.6, 0.9)) * moment.seconds, 2))


@dataclass(frozen=True)
class FailedGrasp(
    Fault,
    fault_class=FaultClass.EXECUTION,
    meaning="the gripper closes in front of a thing and does not get hold of it",
):
    """The hand stops short of a thing, and the fingers close on nothing.

    Attributes:
        short_m: distance to where it should be, metres.
    """

    short_m: float

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """Far enough for the fingers to miss the thing."""
        name = moment.action.arguments[0]
        if moment.action.operator != "pick_up" or name in moment.taken or name not in moment.before.things:
            return None
        kind = moment.before.things[name].kind
        half = 0.0 if kind.grasp in (GraspKind.RIM, GraspKind.HANDLE) else min(kind.size[0], kind.radius_m)
        return cls(moment.step, round(half + float(rng.uniform(0.028, 0.045)), 3))

    def poses(self, poses: list[ToolPose], gripping: bool) -> list[ToolPose]:
        """Stop short."""
        return poses if gripping else [pose.backed(self.short_m) for pose in poses]


@dataclass(frozen=True)
class FailedAction(OfAction, fault_class=FaultClass.EXECUTION, meaning="the arm stops before it has done anything"):
    """The arm stops as soon as it has reached the beginning of its motion."""

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """Every action but those that move or take something."""
        if moment.action.operator in ("move_to", "pick_up") or moment.taken & set(moment.action.arguments):
            return None
        return cls(moment.step)

    def poses(self, poses: list[ToolPose], gripping: bool) -> list[ToolPose]:
        """Stop."""
        raise SkillFailure("the arm stopped")


@dataclass(frozen=True)
class WrongPose(
    OfAction,
    fault_class=FaultClass.EXECUTION,
    meaning="the robot perceives a thing or place some centimetres from where it is",
):
    """The robot believes that a thing or place is a little elsewhere.

    Attributes:
        offset_m: horizontal error along x and y, metres.
    """

    offset_m: tuple[float, float]

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """An offset of 3 to 11 cm, more where the robot puts something down."""
        if moment.action.operator not in ("pick_up", "pour", *_PUTS, *_SWITCHES, *_DOORS):
            return None
        if moment.taken & set(moment.action.arguments):
            return None
        low, high = (0.07, 0.11) if moment.action.operator in ("pour", *_PUTS) else (0.03, 0.06)
        size, angle = rng.uniform(low, high), rng.uniform(-math.pi, math.pi)
        return cls(moment.step, (round(float(size * math.cos(angle)), 3), round(float(size * math.sin(angle)), 3)))

    def poses(self, poses: list[ToolPose], gripping: bool) -> list[ToolPose]:
        """Move past it."""
        return [pose.moved((*self.offset_m, 0.0)) for pose in poses]


@dataclass(frozen=True)
class WrongObject(
    Mistake, fault_class=FaultClass.EXECUTION, meaning="the robot mistakes another thing or place for the right one"
):
    """The robot mistakes something else for what it is told to act on."""

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """Something similar to what the action takes, switches, opens, or puts something on."""
        operator, arguments = moment.action.operator, moment.action.arguments
        if operator not in ("pick_up", *_PUTS, "toggle_on", "open_obj", "pour"):
            return None
        old = arguments[-1]
        new = one_of(rng, [name for name in similar(moment, old) if not {name, *arguments} & moment.taken])
        if new is None or new in arguments or _has(moment, operator, new):
            return None
        return cls(moment.step, old, new)

    def action(self, action: Action) -> Action:
        """The same with the other object."""
        return Action(action.operator, tuple(self.new if name == self.old else name for name in action.arguments))


def _has(moment: Moment, operator: str, name: str) -> bool:
    """Whether something already is as an action would make it."""
    state = moment.before.states[name]
    return (operator == "toggle_on" and state.on) or (operator == "open_obj" and state.open)


@dataclass(frozen=True)
class DoorAjar(Fault, fault_class=FaultClass.EXECUTION, meaning="a door or drawer stays partly open"):
    """The robot lets a door or drawer go before it is closed.

    Attributes:
        share: of the way after which it does.
    """

    share: float

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """Any door that the action closes."""
        if moment.action.operator != "close_obj" or moment.action.arguments[0] in moment.taken:
            return None
        return cls(moment.step, round(float(rng.uniform(0.3, 0.8)), 2))

    def poses(self, poses: list[ToolPose], gripping: bool) -> list[ToolPose]:
        """Stop on the way."""
        if not gripping or len(poses) < 2:
            return poses
        return poses[: max(1, min(len(poses) - 1, round(self.share * len(poses))))]

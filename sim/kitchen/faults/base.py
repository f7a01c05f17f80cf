"""The hooks through which a fault acts on the simulated kitchen.

A fault is physics or an act, not a label: it misleads the robot's controller, stops its arm, weakens its grip, changes
its plan, makes the kitchen differ from what the plan assumes, or lets a person act. Faults hold parameters, not state:
episodes can be repeated exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Protocol

from nsrecover.core.actions import Action, Plan
from sim.common.faults import AnyFault
from sim.kitchen.faults.moment import Moment
from sim.kitchen.person import Person
from sim.kitchen.reach import ToolPose
from sim.kitchen.scenes import KitchenSpec

START = -1
"""Step of faults that change the kitchen before the first action."""


class FaultClass(StrEnum):
    """The classes of failures: those of REFLECT (Liu et al. 2023), and those that people and appliances cause."""

    EXECUTION = "execution"
    """The robot carries out an action wrongly, or something keeps it from doing so."""
    PLANNING = "planning"
    """The plan is wrong."""
    INITIAL = "initial"
    """The kitchen differs from what the plan assumes."""
    PERSON = "person"
    """A person or an appliance acts, against the plan or for it."""
    IRREVERSIBLE = "irreversible"
    """What happens cannot be undone."""


class Hand(Protocol):
    """What holds things."""

    @property
    def held(self) -> str:
        """Name of the held thing; empty for none."""
        ...

    def slacken(self) -> None:
        """Take force and friction from the fingers until the end of the action."""
        ...


@dataclass(frozen=True)
class Fault(AnyFault[Moment]):
    """A fault that does nothing; subclasses override the hooks they need.

    `scene` and `altered` are called once, before an episode; the other hooks for action `at_step` of the plan only, the
    first time that it is carried out. Hooks of several faults run in the order of the faults.

    Attributes:
        at_step: number of the action in the plan during or after which it strikes, from 0; `START`: before the first.
        fault_class: class of the failure.
        meaning: what happens, in a sentence.
    """

    fault_class: ClassVar[FaultClass]
    meaning: ClassVar[str]

    def scene(self, spec: KitchenSpec) -> KitchenSpec:
        """The kitchen as it really is at the start."""
        return spec

    def altered(self, plan: Plan) -> Plan:
        """The plan that the robot is given instead of the right one."""
        return plan

    def action(self, action: Action) -> Action:
        """What the robot does when it is told to carry out an action."""
        return action

    def poses(self, poses: list[ToolPose], gripping: bool) -> list[ToolPose]:
        """Where the arm moves the tool instead; called for every motion of the action along tool poses.

        With fewer poses the arm stops at the last of them, and goes on with the rest of the action from there.

        Args:
            poses: of the tool, in their order.
            gripping: whether the fingers hold a thing, a handle or a knob.

        Raises:
            SkillFailure: the arm stops, which ends the action.
        """
        return poses

    def during(self, hand: Hand, seconds: float) -> None:
        """Act while the robot moves; called every few physics steps.

        Args:
            hand: of the robot.
            seconds: since the action began.
        """

    def due(self, seconds: float) -> bool:
        """Whether `meanwhile` is called, if it was not yet, so many seconds after the action began."""
        return False

    def meanwhile(self, person: Person, action: Action) -> None:
        """Act once while the action runs; the robot stands still."""

    def prevents(self, plan: Plan) -> Action | None:
        """A later action that fails from now on because of the fault, for its test; None if it does not claim that.

        Args:
            plan: the right plan.
        """
        return None

    def after(self, person: Person, action: Action) -> None:
        """Act when the action has ended and the arm is stowed."""


@dataclass(frozen=True)
class OfOne(Fault):
    """A fault that acts on one thing or fixture.

    Attributes:
        name: of it.
    """

    name: str

    def touched(self, action: Action) -> frozenset[str]:
        """The thing or fixture."""
        return frozenset({self.name})


@dataclass(frozen=True)
class OfAction(Fault):
    """A fault that keeps an action from changing what it should."""

    def touched(self, action: Action) -> frozenset[str]:
        """What the action should have changed."""
        return frozenset(action.arguments)


@dataclass(frozen=True)
class Mistake(Fault):
    """One thing or place is taken for another.

    Attributes:
        old: name of the right one.
        new: name of the wrong one.
    """

    old: str
    new: str

    def touched(self, action: Action) -> frozenset[str]:
        """The action's objects, and what is taken for one of them."""
        return frozenset({*action.arguments, self.new})

"""Moments of an episode, from which samplers of faults choose their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from nsrecover.core.actions import Action, Plan
from nsrecover.domains.base import State
from sim.common.arm import STEP_S
from sim.kitchen.cell import KitchenCell
from sim.kitchen.scenes import KitchenSpec, ThingSpec
from sim.kitchen.states import ObjectState
from sim.kitchen.truth import place_of, true_state

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A kitchen at a moment, as plain data.

    Attributes:
        facts: what holds, in terms of the household domain.
        things: everything that can be carried and is still there, with its true place.
        positions: name -> centre (3,) of each of them, metres.
        rotations: name -> rotation (3, 3).
        states: name -> state of every thing and fixture.
        held: what the robot holds; empty for nothing.
        base: where the robot's base stands: x, y and heading.
        ticks: physics steps so far.
    """

    facts: State
    things: Mapping[str, ThingSpec]
    positions: Mapping[str, Array]
    rotations: Mapping[str, Array]
    states: Mapping[str, ObjectState]
    held: str
    base: tuple[float, float, float]
    ticks: int

    def poses(self) -> dict[str, tuple[float, ...]]:
        """Positions and rotations of all things as plain numbers, for the comparison of two runs."""
        return {name: (*self.positions[name].tolist(), *self.rotations[name].ravel().tolist()) for name in self.things}


@dataclass(frozen=True, eq=False)
class Moment:
    """An action of a plan at which a fault may strike; samplers of faults choose their parameters from it.

    Attributes:
        step: number of the action in the plan, from 0.
        plan: the whole plan.
        spec: the kitchen at the start.
        before: before the action.
        after: after the action when nothing goes wrong.
        taken: things and fixtures that other faults already act on.
    """

    step: int
    plan: Plan
    spec: KitchenSpec
    before: Snapshot
    after: Snapshot
    taken: frozenset[str] = frozenset()

    @property
    def action(self) -> Action:
        """The action."""
        return self.plan[self.step]

    @property
    def rest(self) -> tuple[Action, ...]:
        """The actions after this one."""
        return self.plan.actions[self.step + 1 :]

    @property
    def seconds(self) -> float:
        """Simulated time that the action takes when nothing goes wrong."""
        return (self.after.ticks - self.before.ticks) * STEP_S


def snapshot(cell: KitchenCell) -> Snapshot:
    """A kitchen now."""
    poses = {name: cell.pose(name) for name in cell.things}
    things = {}
    for name, thing in cell.things.items():
        x, y, z = (float(value) for value in cell.bottom(name))
        place = "" if name == cell.robot.held else place_of(cell, name)
        things[name] = replace(thing, place=place, position=(x, y, z), state=cell.states[name])
    base = cell.robot.base
    return Snapshot(
        true_state(cell),
        things,
        {name: position for name, (position, _) in poses.items()},
        {name: rotation for name, (_, rotation) in poses.items()},
        dict(cell.states),
        cell.robot.held,
        (base.x, base.y, base.yaw),
        cell.ticks,
    )

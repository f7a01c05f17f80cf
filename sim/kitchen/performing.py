"""Carrying out the plan of a task without faults, judged after every action by the true state."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains.base import State
from nsrecover.domains.household.scene import holds
from sim.kitchen.tasks import TaskSpec
from sim.kitchen.truth import differences, true_state
from sim.kitchen.world import KitchenWorld

PASSING = ("hot", "cooked", "burnt")
"""What may hold longer or shorter than the domain says: things cool down by themselves, and cook on."""


@dataclass(frozen=True)
class StepOutcome:
    """One action of a plan and what it changed.

    Attributes:
        action: what was done.
        failure: why the skill failed; empty if it did not.
        missing: facts that the domain expects after it and that do not hold.
        excess: facts that hold and that the domain does not expect.
        truth: all facts that hold.
        cpu_s: processor time.
        seconds: simulated time.
    """

    action: Action
    failure: str
    missing: frozenset[StateFact]
    excess: frozenset[StateFact]
    truth: State
    cpu_s: float
    seconds: float

    @property
    def reason(self) -> str:
        """Why the action did not end as expected; empty if it did."""
        if self.failure:
            return self.failure
        if self.missing:
            return "not true: " + ", ".join(" ".join(fact) for fact in sorted(self.missing))
        return ", ".join(" ".join(fact) for fact in sorted(self.excess))


def carry_out(world: KitchenWorld, spec: TaskSpec) -> Iterator[StepOutcome]:
    """Carry out the plan of a task, one action per item, until one of them does not end as the domain expects."""
    for action, expected in zip(spec.plan, spec.expected()[1:], strict=True):
        outcome = carry_out_one(world, action, expected)
        yield outcome
        if outcome.reason:
            return


def carry_out_one(world: KitchenWorld, action: Action, expected: State) -> StepOutcome:
    """Carry out an action and compare what holds then with what should."""
    started, ticks = time.process_time(), world.cell.ticks
    world.execute(action)
    spent = time.process_time() - started
    seconds = (world.cell.ticks - ticks) * (world.cell.time_s / max(1, world.cell.ticks))
    truth = true_state(world.cell)
    missing, excess = differences(expected, truth, PASSING)
    return StepOutcome(action, world.failures[-1], missing, excess, truth, spent, seconds)


def unmet(state: State, spec: TaskSpec) -> tuple[StateFact, ...]:
    """The conditions of a task's goal that do not hold in a state."""
    return tuple(condition for condition in spec.goal if not holds(state, condition, spec.home))

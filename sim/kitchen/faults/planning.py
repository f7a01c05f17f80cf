"""Planning failures: the robot is given a plan that is wrong from one step on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from nsrecover.core.actions import Plan
from nsrecover.domains.household.kinds import CATEGORIES
from nsrecover.domains.household.names import noun
from sim.kitchen.faults.base import FaultClass, Mistake, OfAction, OfOne
from sim.kitchen.faults.choosing import one_of, replaced, similar
from sim.kitchen.faults.moment import Moment


@dataclass(frozen=True)
class MissingStep(OfAction, fault_class=FaultClass.PLANNING, meaning="the plan lacks a step"):
    """The plan lacks an action."""

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """The action of the moment, unless it is the only one."""
        return cls(moment.step) if len(moment.plan) > 1 and not moment.taken else None

    def altered(self, plan: Plan) -> Plan:
        """The plan without the step."""
        return Plan(plan.actions[: self.at_step] + plan.actions[self.at_step + 1 :])


@dataclass(frozen=True)
class WrongOrder(OfAction, fault_class=FaultClass.PLANNING, meaning="two steps of the plan are in the wrong order"):
    """Two actions that follow one another are in the wrong order."""

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """The action of the moment and the next one."""
        return cls(moment.step) if moment.rest and not moment.taken else None

    def altered(self, plan: Plan) -> Plan:
        """The plan with the two steps exchanged."""
        i = self.at_step
        return Plan((*plan.actions[:i], plan[i + 1], plan[i], *plan.actions[i + 2 :]))


@dataclass(frozen=True)
class AddedSteps(
    OfOne, fault_class=FaultClass.PLANNING, meaning="the plan slices a tomato, for instance, that is to be served whole"
):
    """The plan has steps that the task does not need and that spoil its food.

    Attributes:
        steps: the steps, as text.
    """

    steps: tuple[str, ...]

    def altered(self, plan: Plan) -> Plan:
        """The plan with the steps before that of the moment."""
        i = self.at_step
        return Plan((*plan.actions[:i], *Plan.parse(self.steps), *plan.actions[i:]))


@dataclass(frozen=True)
class WrongInPlan(Mistake, fault_class=FaultClass.PLANNING, meaning="the plan names a wrong thing or place"):
    """From one step on, the plan names a wrong thing or place."""

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """Something similar to an object of the action, or another place to put something."""
        found = _mistaken(moment, rng, moment.action.arguments)
        return None if found is None else cls(moment.step, *found)

    def altered(self, plan: Plan) -> Plan:
        """The plan with the wrong name."""
        return replaced(plan, self.old, self.new, self.at_step)


@dataclass(frozen=True)
class AmbiguousReference(
    WrongInPlan, meaning="the plan says `container`, for instance, and the robot takes the wrong one"
):
    """From one step on, the plan uses a word that several things or places can mean, and the robot takes a wrong one.

    Attributes:
        word: in the plan.
    """

    word: str

    @classmethod
    def sample(cls, moment: Moment, rng: np.random.Generator) -> Self | None:
        """An object of the action for which there is a word that something similar has, too."""
        found = _mistaken(moment, rng, moment.action.arguments)
        if found is None:
            return None
        old, new = found
        if noun(old) == noun(new):
            return cls(moment.step, old, new, noun(old))
        words = sorted(word for word, nouns in CATEGORIES.items() if {noun(old), noun(new)} <= nouns)
        word = one_of(rng, words)
        return None if word is None else cls(moment.step, old, new, word)


def _mistaken(moment: Moment, rng: np.random.Generator, names: tuple[str, ...]) -> tuple[str, str] | None:
    """One of some names, and something else that it could be mistaken for."""
    pairs = [
        (old, new)
        for old in names
        if old != moment.before.held
        for new in similar(moment, old)
        if not {old, new} & moment.taken and new not in names
    ]
    return one_of(rng, pairs)

"""A household in the domain's simulation, on which the faults of an episode act as changes of facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from nsrecover.core.actions import Action
from nsrecover.core.facts import PLACE, FactScene, Property, StateFact
from nsrecover.domains.base import State
from nsrecover.domains.household import LASTING, HouseholdScene, Trait
from nsrecover.domains.properties import by_property, property_of, values_of
from nsrecover.monitoring.outlook import imagine, outlook, unmet_conditions
from sim.datasets.household import HouseholdEpisode
from sim.datasets.household.truth import goal_of
from sim.kitchen.faults import START, Fault, FaultClass
from sim.kitchen.faults.blocking import Blocked


class FactWorld:
    """World whose actions have exactly the effects of the domain, and none if they cannot be done.

    At the step of an episode's error, the facts change as they did in the kitchen's physics. Planning faults change no
    facts: the robot is given another plan. What stands in front of something, which facts do not say, counts as
    covering it. Observations are the true facts, unless some are hidden or misperceived.

    Attributes:
        home: the household.
        state: the true facts.
        executed: number of actions that were carried out.
        struck: number of actions after which facts changed first; None if they have not.
        failed: number of actions after which one could not be done first; None if all could.
        events: number of changes so far.
        violations: irreversible actions that were carried out while a condition did not hold.
    """

    def __init__(self, episode: HouseholdEpisode, hidden: float, wrong: float, seed: int) -> None:
        """Begin.

        Args:
            episode: the task and what goes wrong.
            hidden: probability that an observation does not show a property.
            wrong: probability that it shows another value.
            seed: of these errors.
        """
        self.home: HouseholdScene = replace(episode.spec.home, domain=LASTING)
        self.expected_start, self.goal = episode.spec.start, goal_of(episode.spec)
        self._episode, self._hidden, self._wrong = episode, hidden, wrong
        self._rng = np.random.default_rng([seed, episode.number, 17])
        self._carried_out = set[int]()
        self.state, self.executed, self.events = self.expected_start, 0, 0
        self.struck: int | None = None
        self.failed: int | None = None
        self.violations = 0
        self._strike(START)

    def observe(self) -> FactScene:
        """The facts, as well as perception gives them."""
        if not self._hidden and not self._wrong:
            return FactScene(self.state)
        groups, facts, certainty = by_property(self.state, self.home.domain), set[StateFact](), dict[Property, float]()
        for prop in self._properties():
            draw, value = self._rng.random(), groups.get(prop, frozenset[StateFact]())
            if draw < self._hidden:
                certainty[prop] = 0.0
                continue
            if draw < self._hidden + self._wrong:
                others = values_of(prop, self.state, self.home)
                value = others[int(self._rng.integers(len(others)))] if others else value
            facts |= value
        return FactScene(frozenset(facts), certainty)

    def execute(self, action: Action) -> None:
        """Carry out an action; an episode's faults strike when the plan's step is carried out for the first time."""
        plan = self._episode.plan
        same = (i for i, other in enumerate(plan) if i not in self._carried_out and other == action)
        step = next(same, None)
        self.executed += 1
        if unmet_conditions(self.home, self.state, action):
            self.failed = self.executed if self.failed is None else self.failed
            self.state = self.home.settle(self.state)
        else:
            self.state = imagine(self.home, self.state, action)
        if step is not None:
            self._carried_out.add(step)
            self._strike(step)

    def reached(self) -> bool:
        """Whether the goal of the episode holds, its purpose included."""
        return outlook(self.home, self.state, (), self.goal).good

    def works(self, actions: Sequence[Action]) -> bool:
        """Whether actions lead to the goal from the true state."""
        return outlook(self.home, self.state, actions, self.goal).good

    def disturb(self, rng: np.random.Generator) -> None:
        """Give one property at random another value, as a person would."""
        properties = list(self._properties())
        prop = properties[int(rng.integers(len(properties)))]
        others = values_of(prop, self.state, self.home)
        if others:
            old = by_property(self.state, self.home.domain).get(prop, frozenset[StateFact]())
            self._change((self.state - old) | others[int(rng.integers(len(others)))])

    def _strike(self, step: int) -> None:
        faults = self._episode.faults_at(step)
        if any(fault.fault_class is FaultClass.PLANNING for fault in faults):
            return
        for error in self._episode.errors:
            if error.step == step:
                missing, excess = (frozenset(map(_fact, texts)) for texts in (error.missing, error.excess))
                self._change((self.state - missing) | excess | self._covers(faults))

    def _covers(self, faults: Sequence[Fault]) -> State:
        plan = self._episode.plan
        found = [(fault.name, plan[fault.later].arguments[0]) for fault in faults if isinstance(fault, Blocked)]
        return frozenset(("covers", *pair) for pair in found)

    def _change(self, state: State) -> None:
        if state != self.state:
            self.state, self.events = state, self.events + 1
            self.struck = self.executed if self.struck is None else self.struck

    def _properties(self) -> Iterator[Property]:
        """Everything that perception could say, in a fixed order."""
        known = {property_of(fact, self.home.domain) for fact in self.state}
        for name in self.home.names:
            traits = self.home.traits(name)
            for variable in self.home.domain.variables.values():
                shown = {
                    "open": bool(traits & {Trait.DOOR, Trait.LID}),
                    "running": Trait.SWITCH in traits,
                    "dirty": bool(traits & {Trait.DISH, Trait.VESSEL}),
                }.get(variable.name, bool(variable.trait) and variable.trait in traits)
                if shown:
                    known.add((variable.name, name))
            if Trait.PORTABLE in traits:
                known.add((PLACE, name))
        yield from sorted(known)


def _fact(text: str) -> StateFact:
    """The inverse of `sim.datasets.household.truth.in_words`."""
    predicate, _, terms = text.partition(" ")
    return (predicate, *terms.split(", "))

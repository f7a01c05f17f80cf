"""Checks before actions: whether a plan leads to its goal, what is wrong with it, and what must not be uncertain.

Whether an action can be undone is decided by the search (no plan leads back), never by a list.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from nsrecover.core import explanation
from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import PlanFault, PlanProblem, Unknown
from nsrecover.core.facts import FactScene, StateFact
from nsrecover.core.recovery import RecoveryStatus
from nsrecover.domains.base import Atom, Formula, Not, State
from nsrecover.domains.properties import values_of, with_properties_of
from nsrecover.monitoring.outlook import HasInstance, Outlook, imagine, outlook, unmet_conditions
from nsrecover.planning.symbolic.fact_planner import FactPlanner, involved, works
from nsrecover.planning.symbolic.solving import Limits, solve

MOST_MISSING = 4
"""Steps that a plan may lack at one place."""

SEARCHING_S = 5.0
"""Wall time of all searches and simulations for one answer, seconds; what is not found by then counts as unknown."""


class FactLookahead:
    """Looks ahead from a scene of facts; a `nsrecover.monitoring.scene_model.Lookahead`.

    Args:
        planner: finds out what can be reached.
    """

    def __init__(self, planner: FactPlanner) -> None:
        self._planner, self._instance = planner, planner.instance

    def with_model(self, model: HasInstance) -> FactLookahead:
        """The same for another model."""
        return type(self)(self._planner.with_model(model))

    def irreversible(self, state: State, action: Action, limits: Limits | None = None) -> bool:
        """Whether no plan is found that undoes an action: that brings back every fact that it changes."""
        after = imagine(self._instance, state, action)
        instance = self._instance.limited(after)
        back: list[Formula] = [Atom(fact[0], fact[1:]) for fact in sorted(state - after)]
        back += [Not(Atom(fact[0], fact[1:])) for fact in sorted(after - state)]
        if not back:
            return False
        names = [*action.arguments, *(name for fact in state ^ after for name in fact[1:])]
        objects, limits = involved(instance, after, names), limits or self._limits()
        return not solve(instance, after, back, familiar=objects, objects=objects, limits=limits).found

    def _limits(self) -> Limits:
        return Limits(until=time.perf_counter() + SEARCHING_S)

    def reachable(
        self, state: State, goal: Sequence[StateFact], actions: Sequence[Action], limits: Limits | None = None
    ) -> bool:
        """Whether a goal can be reached: by some actions, or by others; true if the search cannot tell."""
        if outlook(self._instance, state, actions, goal).good:
            return True
        names = [name for action in actions for name in action.arguments]
        found = self._planner.search(state, goal, names, actions, limits=limits or self._limits())
        return found.status is not RecoveryStatus.IMPOSSIBLE

    def loses(
        self,
        state: State,
        action: Action,
        goal: Sequence[StateFact],
        rest: Sequence[Action] = (),
        limits: Limits | None = None,
    ) -> bool:
        """Whether a goal can be reached before an action and not after it, by the rest of a plan or otherwise."""
        after, limits = imagine(self._instance, state, action), limits or self._limits()
        return not self.reachable(after, goal, rest, limits) and self.reachable(state, goal, (action, *rest), limits)

    def problem(
        self, state: State, actions: Sequence[Action], goal: Sequence[StateFact], first: int
    ) -> PlanProblem | None:
        """What is wrong with the rest of a plan; None if it leads to its goal.

        A step that makes the goal unreachable comes first; otherwise the smallest change with which the plan works.

        Args:
            state: the scene as it is.
            actions: the rest of the plan.
            goal: conditions that hold in the end.
            first: number of the first of the actions in the plan.
        """
        ahead = outlook(self._instance, state, actions, goal)
        if ahead.good:
            return None
        limits = self._limits()
        found = self._destroys(ahead, actions, goal, limits) or next(self._changes(ahead, actions, goal, limits), None)
        found = found or PlanProblem(PlanFault.FAILS, min(ahead.step, len(actions) - 1), unmet=ahead.unmet)
        return replace(found, step=found.step + first)

    def needed(self, scene: FactScene, actions: Sequence[Action], goal: Sequence[StateFact]) -> tuple[Unknown, ...]:
        """What has to be known before the first action, because the action cannot be undone.

        That is every unknown property of an object of the plan or the goal with which, if it is otherwise than
        believed, the goal can be reached before the action and not after it.
        """
        names = {name for action in actions for name in action.arguments} | {term for fact in goal for term in fact[1:]}
        unknown = [prop for prop in scene.unknown if prop[1] in names]
        limits = self._limits()
        if not unknown or not actions or not self.irreversible(scene.facts, actions[0], limits):
            return ()
        return tuple(
            Unknown(prop[1], prop[0])
            for prop in unknown
            if any(
                self._regretted(
                    with_properties_of(scene.facts, value, [prop], self._instance.domain), actions, goal, limits
                )
                for value in values_of(prop, scene.facts, self._instance)
            )
        )

    def _regretted(self, state: State, actions: Sequence[Action], goal: Sequence[StateFact], limits: Limits) -> bool:
        """Whether the first action takes the last chance to reach a goal that can be reached before it."""
        if outlook(self._instance, state, actions, goal).good or unmet_conditions(self._instance, state, actions[0]):
            return False
        return self.loses(state, actions[0], goal, actions[1:], limits)

    def _destroys(
        self, ahead: Outlook, actions: Sequence[Action], goal: Sequence[StateFact], limits: Limits
    ) -> PlanProblem | None:
        """The step after which the goal can no longer be reached, although it could before."""
        unmet = tuple(explanation.Fact(fact[0], fact[1:]) for fact in ahead.missed) or ahead.unmet
        if self.reachable(ahead.states[-1], goal, (), limits):
            return None
        good, bad = -1, len(actions)  # of the states; what is lost stays lost
        while bad - good > 1:
            middle = (good + bad) // 2
            there = self.reachable(ahead.states[middle], goal, actions[middle:], limits)
            good, bad = (middle, bad) if there else (good, middle)
        return PlanProblem(PlanFault.DESTROYS if bad else PlanFault.UNREACHABLE, max(bad - 1, 0), unmet=unmet)

    def _changes(
        self, ahead: Outlook, actions: Sequence[Action], goal: Sequence[StateFact], limits: Limits
    ) -> Iterator[PlanProblem]:
        """Small changes with which the plan works: another place of a step, another object, further steps."""
        ways = itertools.chain(self._orders(actions), self._objects(actions, goal))
        for changed, problem in itertools.takewhile(lambda _: not limits.over(), ways):
            if self._works(ahead, changed, goal):
                yield replace(problem, unmet=ahead.unmet)
        yield from self._missing(ahead, actions, goal, limits)

    def _works(self, ahead: Outlook, actions: Sequence[Action], goal: Sequence[StateFact]) -> bool:
        return works(self._instance, ahead.states[0], actions, goal)

    def _orders(self, actions: Sequence[Action]) -> Iterator[tuple[list[Action], PlanProblem]]:
        for i, action in enumerate(actions):
            rest = [*actions[:i], *actions[i + 1 :]]
            for j in range(len(actions)):
                if j != i:
                    yield [*rest[:j], action, *rest[j:]], PlanProblem(PlanFault.WRONG_ORDER, i, (action,))

    def _objects(
        self, actions: Sequence[Action], goal: Sequence[StateFact]
    ) -> Iterator[tuple[list[Action], PlanProblem]]:
        mentioned = dict.fromkeys(term for fact in goal for term in fact[1:])
        names = dict.fromkeys((*mentioned, *(name for action in actions for name in action.arguments)))
        for i, action in enumerate(actions):
            for old in action.arguments:
                for new in names:
                    if new in action.arguments:
                        continue
                    onwards = [_renamed(each, old, new) for each in actions[i:]]
                    for changed in (onwards, [onwards[0], *actions[i + 1 :]]):
                        yield [*actions[:i], *changed], PlanProblem(PlanFault.WRONG_OBJECT, i, objects=(old, new))

    def _missing(
        self, ahead: Outlook, actions: Sequence[Action], goal: Sequence[StateFact], limits: Limits
    ) -> Iterator[PlanProblem]:
        names, at = [name for action in actions for name in action.arguments], ahead.step
        known = self._instance.domain.predicates  # unmet traits are none
        needs = [(fact.predicate, *fact.arguments) for fact in ahead.unmet if fact.predicate in known]
        ends = [fact.arguments for fact in ahead.unmet if fact.predicate == "not" and fact.arguments[0] in known]
        found = self._planner.search(ahead.states[at], needs, names, without=ends, limits=limits)
        steps = tuple(found.steps)
        if 0 < len(steps) <= MOST_MISSING and self._works(ahead, [*actions[:at], *steps, *actions[at:]], goal):
            yield PlanProblem(PlanFault.MISSING_STEP, min(at, len(actions) - 1), steps, unmet=ahead.unmet)
        found = self._planner.search(ahead.states[0], goal, names, actions, limits=limits)
        whole = found.steps if found.found else ()
        extra = [action for action in whole if action not in actions]
        if extra and len(extra) <= MOST_MISSING:
            at = next(
                (i for i, pair in enumerate(zip(whole, actions, strict=False)) if pair[0] != pair[1]), len(actions)
            )
            yield PlanProblem(PlanFault.MISSING_STEP, min(at, len(actions) - 1), tuple(extra), unmet=ahead.unmet)


def _renamed(action: Action, old: str, new: str) -> Action:
    return Action(action.operator, tuple(new if name == old else name for name in action.arguments))

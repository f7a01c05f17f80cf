"""Grounding of a `unified_planning` problem and an old plan, and conversion back to unified-planning's objects."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from nsrecover.bridges.unified_planning.reduction import instance_of, lifted, reduced, true_fluents
from nsrecover.core.actions import Action
from nsrecover.domains.base import Formula, Not, Operator, Same
from nsrecover.errors import InvalidPlan
from nsrecover.planning.symbolic.grounding import ground
from nsrecover.planning.symbolic.joining import Theory
from nsrecover.planning.symbolic.strips import GroundAction, mask

if TYPE_CHECKING:
    from unified_planning.model import FNode, Problem
    from unified_planning.plans import ActionInstance, SequentialPlan


class Grounded:
    """A problem and a plan, grounded from a state.

    Args:
        problem: the problem.
        plan: the old plan.
        values: fluents that differ from the initial state, with their values.
        stop: asked regularly during grounding; if it returns true, grounding ends.

    Attributes:
        task: the problem from the state.
        steps: the old plan over the facts of the task; one more action may follow that only unified-planning's
            compilers know.

    Raises:
        InvalidConfiguration: the problem cannot be reduced to STRIPS.
        InvalidPlan: the plan does not belong to the problem.
        Interrupted: grounding was stopped.
    """

    def __init__(
        self,
        problem: Problem,
        plan: SequentialPlan,
        values: Mapping[FNode, FNode],
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self.plan = plan
        self._original = problem
        self._reduction = reduced(problem)
        compiled = self._reduction.problem
        start = dict(compiled.explicit_initial_values)
        if compiled is problem:
            now = start | dict(values)
        else:
            changed = problem.clone()
            for fluent, value in values.items():
                changed.set_initial_value(fluent, value)
            now = dict(reduced(changed).problem.explicit_initial_values)
        theory, state, goal = lifted(self._reduction, now)
        variants: dict[str | None, list[str]] = {}
        for name, original in self._reduction.original.items():
            variants.setdefault(original, []).append(name)
        choices = [_instances(theory, variants.get(step.action.name, []), step) for step in plan.actions]
        # At most one action that only the compilers know may be needed at the end of the plan.
        choices.append([Action(name, ()) for name in variants.get(None, [])])
        found = ground(theory, state, goal, list(itertools.chain.from_iterable(choices)), stop=stop)
        self.task, actions = found.task, found.steps
        iterator = iter(actions)
        grouped = [[next(iterator) for _ in choice] for choice in choices]
        if not plan.actions or (all(len(group) == 1 for group in grouped[:-1]) and not grouped[-1]):
            self.steps = [group[0] for group in grouped[:-1]]
        else:
            names = set(map(str, true_fluents(compiled, start)))
            initial = mask(fact for fact, text in enumerate(self.task.facts) if text in names)
            self.steps = self._variants(grouped, initial)

    def rest(self, step: int) -> list[ActionInstance]:
        """Return the old plan from a step on, with the actions of the problem."""
        from unified_planning.plans import ActionInstance

        rest = []
        for taken in self.plan.actions[step:]:
            action = self._original.action(taken.action.name)
            rest.append(taken if taken.action == action else ActionInstance(action, taken.actual_parameters))
        return rest

    def instance(self, action: GroundAction) -> ActionInstance | None:
        """Return an action of the task as an action of the problem; None if only the compilers know it."""
        return self._reduction.back(instance_of(self._reduction.problem, action.name, action.arguments))

    def _variants(self, grouped: Sequence[Sequence[GroundAction]], state: int) -> list[GroundAction]:
        """Return the variants of the steps that apply from a state.

        Args:
            grouped: the variants of each step, and last the actions that only the compilers know.
            state: the state.

        Raises:
            InvalidPlan: a step has no such variant.
        """
        steps, goal = list[GroundAction](), self.task.goal
        for number, group in enumerate(grouped):
            last = number == len(grouped) - 1
            if last and goal.holds(state):
                break
            fitting = [action for action in group if action.precondition.holds(state)]
            fitting = [action for action in fitting if not last or goal.holds(action.apply(state))]
            if not fitting:
                step = "the goal" if last else f"step {number}, {self.plan.actions[number]},"
                raise InvalidPlan(
                    f"expected a plan that works from the initial state of {self._original.name!r}, found that "
                    f"{step} does not hold or cannot be run; pass the whole plan that was made for this problem"
                )
            steps.append(fitting[0])
            state = steps[-1].apply(state)
        return steps


def _instances(theory: Theory, variants: Sequence[str], step: ActionInstance) -> list[Action]:
    """Return the variants of a step with its objects; none if it does not belong to the problem."""
    names = tuple(argument.object().name if argument.is_object_exp() else "" for argument in step.actual_parameters)
    return [Action(name, names) for name in variants if _fits(theory, theory.operators[name], names)]


def _fits(theory: Theory, operator: Operator, names: Sequence[str]) -> bool:
    """Return whether an operator accepts objects, by their number, types and identity."""
    if len(names) != len(operator.parameters):
        return False
    at = dict(zip((each.variable for each in operator.parameters), names, strict=True))
    return all(each.trait in theory.objects.get(at[each.variable], ()) for each in operator.parameters) and all(
        _same(part.part, at) is not True if isinstance(part, Not) else _same(part, at) is not False
        for part in operator.preconditions
    )


def _same(part: Formula, at: Mapping[str, str]) -> bool | None:
    """Return whether two terms are the same object; None for other formulas."""
    return at.get(part.one, part.one) == at.get(part.other, part.other) if isinstance(part, Same) else None

"""Grounding of a `unified_planning` problem and an old plan, and conversion back to unified-planning's objects."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nsrecover.errors import InvalidPlan
from nsrecover.integrations.up_reduction import lifted, reduced
from nsrecover.planning.symbolic.grounding import LiftedTask, Operator, instantiate
from nsrecover.planning.symbolic.strips import GroundAction, first_failure, usable_from

if TYPE_CHECKING:
    from unified_planning.model import FNode, Problem
    from unified_planning.plans import ActionInstance, SequentialPlan


class Grounded:
    """A problem and a plan, grounded from a state.

    Args:
        problem: the problem.
        plan: the old plan.
        values: fluents that differ from the initial state, with their values.
        any_plan: accept any plan, even one for another problem, and use its last part that is still usable.

    Attributes:
        task: the problem from the state.
        steps: the usable part of the old plan over the facts of the task; one more action may follow that only
            unified-planning's compilers know.
        first: number of the step of the old plan that `steps` begins with.

    Raises:
        InvalidConfiguration: the problem cannot be reduced to STRIPS.
        InvalidPlan: the plan does not belong to the problem (not with `any_plan`).
    """

    def __init__(
        self, problem: Problem, plan: SequentialPlan, values: Mapping[FNode, FNode], any_plan: bool = False
    ) -> None:
        self.plan, self.first = plan, 0
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
        lift = lifted(self._reduction, now)
        variants: dict[str | None, list[str]] = {}
        for name, original in self._reduction.original.items():
            variants.setdefault(original, []).append(name)
        choices = [_instances(lift, variants.get(step.action.name, []), step) for step in plan.actions]
        # At most one action that only the compilers know may be needed at the end of the plan.
        choices.append([(name, ()) for name in variants.get(None, [])])
        self.task, actions = instantiate(lift, list(itertools.chain.from_iterable(choices)))
        self._known = all(choices[:-1])  # whether every step belongs to the problem
        iterator = iter(actions)
        grouped = [[next(iterator) for _ in choice] for choice in choices]
        if any_plan:
            self.first = 1 + max((n for n, group in enumerate(grouped[:-1]) if not group), default=-1)
            steps = self._nearly_followed(grouped[self.first :])
            unusable = usable_from(self.task.goal, steps)
            self.first, self.steps = self.first + unusable, steps[unusable:]
        elif not plan.actions or (all(len(group) == 1 for group in grouped[:-1]) and not grouped[-1]):
            self.steps = [group[0] for group in grouped[:-1]]
        else:
            self.steps = self._followed(grouped, lifted(self._reduction, start))

    @property
    def followed(self) -> bool:
        """Whether the whole old plan works unchanged from the state, step by step as in `steps`."""
        return self.first == 0 and first_failure(self.task.goal, self.task.initial, self.steps) is None

    @property
    def valid(self) -> bool:
        """Whether the old plan works unchanged from the initial state of the problem.

        unified-planning's compilers drop actions none of whose conditional effects apply, so plans that do not seem to
        work are passed to its validator.
        """
        if self.followed:
            return True
        if not self._known or self._reduction.problem is self._original:
            return False
        from unified_planning.engines import SequentialPlanValidator

        with SequentialPlanValidator() as validator:
            return validator.supports(self._original.kind) and bool(
                validator.validate(self._original, self.plan).status
            )

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
        from unified_planning.plans import ActionInstance

        compiled = self._reduction.problem
        manager = compiled.environment.expression_manager
        objects = tuple(manager.ObjectExp(compiled.object(name)) for name in action.arguments)
        return self._reduction.back(ActionInstance(compiled.action(action.name), objects))

    def _followed(self, grouped: Sequence[Sequence[GroundAction]], start: LiftedTask) -> list[GroundAction]:
        """Return the variants of the plan's steps that apply from the initial state of the problem."""
        names = {
            f"{atom.predicate}({', '.join(start.objects[~term] for term in atom.terms)})" if atom.terms
            else atom.predicate for atom in start.initial
        }  # fmt: skip
        state = sum(1 << fact for fact, text in enumerate(self.task.facts) if text in names)
        steps = []
        for number, group in enumerate(grouped):
            last = number == len(grouped) - 1
            if last and self.task.goal.holds(state):
                break
            fitting = [action for action in group if action.precondition.holds(state)]
            if last:
                fitting = [action for action in fitting if self.task.goal.holds(action.apply(state))]
            if not fitting:
                step = "the goal" if last else f"step {number}, {self.plan.actions[number]},"
                raise InvalidPlan(
                    f"expected a plan that works from the initial state of {self._original.name!r}, found that {step} "
                    "does not hold or cannot be run; pass the whole plan that was made for this problem"
                )
            steps.append(fitting[0])
            state = fitting[0].apply(state)
        return steps

    def _nearly_followed(self, grouped: Sequence[Sequence[GroundAction]]) -> list[GroundAction]:
        """Return the variants that apply from the state, or would apply if the earlier ones had worked."""
        steps, state = list[GroundAction](), self.task.initial
        for group in grouped[:-1]:
            steps.append(next((action for action in group if action.precondition.holds(state)), group[0]))
            state = steps[-1].apply(state)
        if grouped[-1] and not self.task.goal.holds(state):
            steps.append(next((action for action in grouped[-1] if action.precondition.holds(state)), grouped[-1][0]))
        return steps


def _instances(lift: LiftedTask, variants: Sequence[str], step: Any) -> list[tuple[str, tuple[int, ...]]]:
    """Return the variants of a step with the numbers of its objects; none if it does not belong to the problem."""
    number = {name: i for i, name in enumerate(lift.objects)}
    names = [argument.object().name if argument.is_object_exp() else "" for argument in step.actual_parameters]
    if not all(name in number for name in names):
        return []
    row = tuple(number[name] for name in names)
    return [(operator.name, row) for operator in lift.operators if operator.name in variants and _fits(operator, row)]


def _fits(operator: Operator, row: tuple[int, ...]) -> bool:
    """Return whether an operator accepts objects, by their number, types and identity."""

    def same(pair: tuple[int, int]) -> bool:
        first, second = (row[term] if term >= 0 else ~term for term in pair)
        return first == second

    return (
        len(row) == len(operator.parameters)
        and all(item in allowed for item, allowed in zip(row, operator.parameters, strict=True))
        and all(map(same, operator.equal))
        and not any(map(same, operator.different))
    )

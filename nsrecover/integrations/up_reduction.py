"""Reduction of a `unified_planning` problem to a lifted task: STRIPS with negative preconditions.

unified-planning's compilers remove the features that they can. The other features are read, or refused by name.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from nsrecover.errors import InvalidConfiguration
from nsrecover.planning.symbolic.grounding import Atom, Effect, LiftedTask, Operator

if TYPE_CHECKING:
    from unified_planning.model import FNode, Problem
    from unified_planning.plans import ActionInstance

MOST_ALTERNATIVES = 1000
"""Largest number of actions into which one action may be split, one for each way to meet its conditions."""

NEVER = Atom("(never)")
"""An atom that holds in no state."""

READ = frozenset(
    {
        "ACTION_BASED", "FLAT_TYPING", "HIERARCHICAL_TYPING", "NEGATIVE_CONDITIONS", "EQUALITIES", "ACTIONS_COST",
        "PLAN_LENGTH", "STATIC_FLUENTS_IN_ACTIONS_COST", "INT_NUMBERS_IN_ACTIONS_COST", "REAL_NUMBERS_IN_ACTIONS_COST",
        "INT_FLUENTS", "REAL_FLUENTS",
    }
)  # fmt: skip
"""Features that are read directly (numeric fluents in the costs of actions only)."""

REMOVED = {
    "USERTYPE_FLUENTS_REMOVING": {
        "OBJECT_FLUENTS", "STATIC_FLUENTS_IN_OBJECT_ASSIGNMENTS", "FLUENTS_IN_OBJECT_ASSIGNMENTS"
    },
    "STATE_INVARIANTS_REMOVING": {"STATE_INVARIANTS"},
    "QUANTIFIERS_REMOVING": {"EXISTENTIAL_CONDITIONS", "UNIVERSAL_CONDITIONS", "FORALL_EFFECTS"},
    "CONDITIONAL_EFFECTS_REMOVING": {"CONDITIONAL_EFFECTS"},
    "DISJUNCTIVE_CONDITIONS_REMOVING": {"DISJUNCTIVE_CONDITIONS"},
}  # fmt: skip
"""Compiler of unified-planning, in the order of use -> the features that it removes."""


@dataclass(frozen=True, eq=False)
class Reduced:
    """A problem without the features that the compilers remove.

    Attributes:
        problem: the compiled problem.
        original: name of a compiled action -> name of the original one; None if it has none, as for goals with "or".
        back: compiled action instance -> original one, or None.
    """

    problem: Problem
    original: Mapping[str, str | None]
    back: Callable[[ActionInstance], ActionInstance | None]


def reduced(problem: Problem) -> Reduced:
    """Remove all features that unified-planning can remove.

    Raises:
        InvalidConfiguration: the rest is not STRIPS with negative preconditions.
    """
    from unified_planning.engines import CompilationKind
    from unified_planning.exceptions import UPException
    from unified_planning.plans import ActionInstance
    from unified_planning.shortcuts import Compiler

    kind = problem.kind  # slower than everything else here
    _refuse(problem, kind.features, READ.union(*REMOVED.values()))
    compiled, backs = problem, list[Callable[[Any], Any]]()
    for name, features in REMOVED.items():
        present = features & kind.features
        if name == "DISJUNCTIVE_CONDITIONS_REMOVING" and _most_alternatives(compiled) > 1:
            present = features
        if not present or (name == "CONDITIONAL_EFFECTS_REMOVING" and _only_comparisons(compiled)):
            continue
        try:
            with Compiler(problem_kind=kind, compilation_kind=CompilationKind[name]) as compiler:
                result = compiler.compile(compiled, CompilationKind[name])
        except UPException as failed:
            raise InvalidConfiguration(
                f"expected a problem that unified-planning can compile, found that it cannot remove {_listed(present)} "
                f"from {problem.name!r} ({' '.join(str(failed).split())}); write it without"
            ) from failed
        compiled = result.problem
        kind = compiled.kind
        backs.append(result.map_back_action_instance)
    _refuse(compiled, kind.features, READ | {"CONDITIONAL_EFFECTS"} if _only_comparisons(compiled) else READ)

    def back(instance: ActionInstance) -> ActionInstance | None:
        for one in reversed(backs):
            if instance is None:
                return None
            instance = one(instance)
        return instance

    original: dict[str, str | None] = {}
    for action in compiled.actions:
        objects = [next(iter(compiled.objects(parameter.type)), None) for parameter in action.parameters]
        if None not in objects:  # otherwise the action has no instances
            expressions = tuple(map(compiled.environment.expression_manager.ObjectExp, objects))
            came_from = back(ActionInstance(action, expressions))
            original[action.name] = None if came_from is None else came_from.action.name
    return Reduced(compiled, original, back)


def lifted(reduction: Reduced, values: Mapping[FNode, FNode]) -> LiftedTask:
    """Return a problem as operators and atoms.

    Args:
        reduction: the compiled problem.
        values: fluents that differ from their defaults, with their values.

    Raises:
        InvalidConfiguration: a part of it is not STRIPS with negative preconditions.
    """
    problem = reduction.problem
    objects = tuple(item.name for item in problem.all_objects)
    number = {name: i for i, name in enumerate(objects)}
    goal_needs, goal_forbids = list[Atom](), list[Atom]()
    for goal in problem.goals:
        needs, forbids, equal, different = _conjunction(goal, {}, number, "the goal")
        goal_needs += [*needs, *([NEVER] if any(a != b for a, b in equal) or any(a == b for a, b in different) else ())]
        goal_forbids += forbids
    operators = []
    for action in problem.actions:
        if action.name in reduction.original:
            operators.append(_operator(reduction, action, number))
    initial = [_atom(fluent, {}, number, "the state") for fluent in true_fluents(problem, values)]
    return LiftedTask(objects, tuple(operators), tuple(initial), tuple(goal_needs), tuple(goal_forbids))


def true_fluents(problem: Problem, values: Mapping[FNode, FNode]) -> list[FNode]:
    """Return the Boolean fluents that hold, given the values that differ from the defaults.

    Raises:
        InvalidConfiguration: a fluent without a default has no value.
    """
    from unified_planning.model.fluent import get_all_fluent_exp

    found = [fluent for fluent, value in values.items() if fluent.type.is_bool_type() and value.is_true()]
    for fluent in problem.fluents:
        default = problem.fluents_defaults.get(fluent)
        if not fluent.type.is_bool_type() or (default is not None and default.is_false()):
            continue
        for ground in get_all_fluent_exp(problem, fluent):
            if ground not in values:
                if default is None:
                    raise InvalidConfiguration(
                        f"expected a value for every fluent, found none for {ground}; set its initial value, or a "
                        f"default for {fluent.name}"
                    )
                found.append(ground)
    return found


def _operator(reduction: Reduced, action: Any, number: Mapping[str, int]) -> Operator:
    """Return the operator of an action."""
    where = f"action {action.name}"
    position = {parameter.name: i for i, parameter in enumerate(action.parameters)}
    parameters = tuple(
        tuple(number[item.name] for item in reduction.problem.objects(parameter.type))
        for parameter in action.parameters
    )
    parts = [_conjunction(condition, position, number, where) for condition in action.preconditions]
    needs, forbids, equal, different = (
        (list(itertools.chain.from_iterable(column)) for column in zip(*parts, strict=True))
        if parts
        else ([], [], [], [])
    )
    adds, deletes = list[Effect](), list[Effect]()
    if action.simulated_effect is not None:
        raise _not_strips(where, "a simulated effect")
    for effect in action.effects:
        if not effect.is_assignment() or not effect.value.is_bool_constant():
            raise _not_strips(where, str(effect))
        if_needs, if_forbids, if_equal, if_different = _conjunction(effect.condition, position, number, where)
        if if_needs or if_forbids:
            raise _not_strips(where, str(effect))
        atom = _atom(effect.fluent, position, number, where)
        (adds if effect.value.is_true() else deletes).append(Effect(atom, tuple(if_equal), tuple(if_different)))
    return Operator(
        action.name,
        parameters,
        tuple(needs), tuple(forbids), tuple(adds), tuple(deletes), tuple(equal), tuple(different),
        cost_of(reduction, action),
    )  # fmt: skip


def cost_of(reduction: Reduced, action: Any) -> Callable[[tuple[str, ...]], float]:
    """Return a function from the names of the objects to the cost of an instance of an action.

    Raises:
        InvalidConfiguration: (also from the returned function) the cost is negative or depends on the state.
    """
    if reduction.original[action.name] is None:
        return lambda _: 0.0
    problem = reduction.problem
    metrics = [metric for metric in problem.quality_metrics if metric.is_minimize_action_costs()]
    if not metrics:
        return lambda _: 1.0
    cost = metrics[0].get_action_cost(action)
    if cost is None:
        return lambda _: 0.0
    if cost.is_constant():
        value = _number(cost, action.name)
        return lambda _: value
    return partial(_evaluated, problem, action, cost)


def _evaluated(problem: Problem, action: Any, cost: FNode, names: tuple[str, ...]) -> float:
    """Evaluate a cost with parameters and static fluents."""
    from unified_planning.model.walkers import Simplifier

    manager = problem.environment.expression_manager
    pairs = zip(action.parameters, names, strict=True)
    given = {manager.ParameterExp(p): manager.ObjectExp(problem.object(name)) for p, name in pairs}
    return _number(Simplifier(problem.environment, problem).simplify(cost.substitute(given)), action.name)


def _number(cost: FNode, name: str) -> float:
    value = float(cost.constant_value()) if cost.is_int_constant() or cost.is_real_constant() else -1.0
    if value < 0.0:
        raise InvalidConfiguration(
            f"expected the cost of action {name} to be a number >= 0 that does not depend on the state, found {cost}; "
            "give it another cost"
        )
    return value


Pairs = list[tuple[int, int]]


def _conjunction(
    condition: FNode, position: Mapping[str, int], number: Mapping[str, int], where: str
) -> tuple[list[Atom], list[Atom], Pairs, Pairs]:
    """Return the atoms that must hold, those that must not, the terms that must be equal, and those that must not."""
    needs, forbids, equal, different = list[Atom](), list[Atom](), Pairs(), Pairs()
    waiting = [condition]
    while waiting:
        part = waiting.pop()
        negated = part.is_not()
        inner = part.arg(0) if negated else part
        if part.is_and():
            waiting.extend(reversed(part.args))
        elif inner.is_bool_constant():
            if inner.is_true() == negated:
                needs.append(NEVER)
        elif inner.is_equals() and all(a.is_parameter_exp() or a.is_object_exp() for a in inner.args):
            first, second = (_term(a, position, number, where) for a in inner.args)
            (different if negated else equal).append((first, second))
        elif inner.is_fluent_exp() and inner.type.is_bool_type():
            (forbids if negated else needs).append(_atom(inner, position, number, where))
        else:
            raise _not_strips(where, str(part))
    return needs, forbids, equal, different


def _atom(fluent: FNode, position: Mapping[str, int], number: Mapping[str, int], where: str) -> Atom:
    if not fluent.type.is_bool_type():
        raise _not_strips(where, str(fluent))
    return Atom(fluent.fluent().name, tuple(_term(argument, position, number, where) for argument in fluent.args))


def _term(term: FNode, position: Mapping[str, int], number: Mapping[str, int], where: str) -> int:
    if term.is_parameter_exp():
        return position[term.parameter().name]
    if term.is_object_exp():
        return ~number[term.object().name]
    raise _not_strips(where, str(term))


def _only_comparisons(problem: Problem) -> bool:
    """Return whether the conditions of all effects depend on the identity of the objects only."""

    def compares(condition: FNode) -> bool:
        if condition.is_and() or condition.is_not():
            return all(compares(part) for part in condition.args) and not (
                condition.is_not() and condition.arg(0).is_and()
            )
        if condition.is_equals():
            return all(a.is_parameter_exp() or a.is_object_exp() for a in condition.args)
        return bool(condition.is_bool_constant())

    return all(compares(effect.condition) for action in problem.actions for effect in getattr(action, "effects", ()))


def _most_alternatives(problem: Problem) -> int:
    """Return the largest number of conjunctions in the normal form of an action's conditions or the goal.

    Raises:
        InvalidConfiguration: there are too many for unified-planning to write out.
    """

    def alternatives(condition: FNode, negated: bool) -> int:
        if condition.is_not():
            return alternatives(condition.arg(0), not negated)
        if condition.is_implies():
            return alternatives(condition.arg(0), not negated) + alternatives(condition.arg(1), negated)
        if condition.is_and() or condition.is_or():
            parts = [alternatives(part, negated) for part in condition.args]
            return math.prod(parts) if condition.is_and() != negated else sum(parts)
        return 1

    most = 1
    for where, conditions in [("the goal", problem.goals), *((a.name, a.preconditions) for a in problem.actions)]:
        count = math.prod(alternatives(condition, False) for condition in conditions)
        if count > MOST_ALTERNATIVES:
            raise InvalidConfiguration(
                f"expected conditions with at most {MOST_ALTERNATIVES:,} alternatives, found {count:.0e} in {where} of "
                f"{problem.name!r}; split it into several actions, or use fluents that say which alternative holds"
            )
        most = max(most, count)
    return most


def _not_strips(where: str, what: str) -> InvalidConfiguration:
    return InvalidConfiguration(
        f"expected STRIPS with negative preconditions, found {what} in {where}, which unified-planning's compilers do "
        "not remove; write it with Boolean fluents whose arguments are objects or parameters"
    )


def _refuse(problem: Problem, features: Iterable[str], understood: Iterable[str]) -> None:
    """Refuse features by name."""
    unknown = set(features) - set(understood)
    if unknown:
        raise InvalidConfiguration(
            f"expected a problem that can be reduced to STRIPS with negative preconditions, found {_listed(unknown)} "
            f"in {problem.name!r}; write it without, or repair an abstraction of it that leaves that out"
        )


def _listed(features: Iterable[str]) -> str:
    return ", ".join(feature.lower().replace("_", " ") for feature in sorted(features))

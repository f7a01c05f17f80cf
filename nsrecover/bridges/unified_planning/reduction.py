"""Reduction of a `unified_planning` problem to a lifted task: STRIPS with negative preconditions.

unified-planning's compilers remove the features that they can. The other features are read, or refused by name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from nsrecover.core.facts import StateFact
from nsrecover.domains.base import And, Atom, Effect, Formula, Not, Operator, Or, Parameter, Same, State, facts_of
from nsrecover.errors import InvalidConfiguration
from nsrecover.planning.symbolic.joining import Theory

if TYPE_CHECKING:
    from unified_planning.model import Action as UPAction
    from unified_planning.model import FNode, Problem
    from unified_planning.plans import ActionInstance

MOST_ALTERNATIVES = 1000
"""Largest number of actions into which one action may be split, one for each way to meet its conditions."""

READ = frozenset(
    {
        "ACTION_BASED", "FLAT_TYPING", "HIERARCHICAL_TYPING", "NEGATIVE_CONDITIONS", "EQUALITIES", "ACTIONS_COST",
        "PLAN_LENGTH", "STATIC_FLUENTS_IN_ACTIONS_COST", "INT_NUMBERS_IN_ACTIONS_COST", "REAL_NUMBERS_IN_ACTIONS_COST",
        "INT_FLUENTS", "REAL_FLUENTS", "UNDEFINED_INITIAL_NUMERIC",
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


def check_class(problem: object) -> None:
    """Refuse problems of other classes than `Problem` and its subclasses, such as those of several agents.

    Raises:
        InvalidConfiguration: the problem has another class.
    """
    from unified_planning.model import Problem

    if not isinstance(problem, Problem):
        raise InvalidConfiguration(
            f"expected a unified_planning.model.Problem, found a {type(problem).__name__}; write it with actions and a "
            "goal of one agent"
        )


def reduced(problem: Problem) -> Reduced:
    """Remove all features that unified-planning can remove.

    Raises:
        InvalidConfiguration: the rest is not STRIPS with negative preconditions.
    """
    from unified_planning.engines import CompilationKind
    from unified_planning.engines.compilers.compilers_pipeline import map_back_action_instance
    from unified_planning.exceptions import UPException
    from unified_planning.shortcuts import Compiler

    check_class(problem)
    kind = problem.kind  # slower than everything else here
    _refuse(problem, kind.features, READ.union(*REMOVED.values()))
    compiled = problem
    backs: list[Callable[[ActionInstance], ActionInstance]] = []
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
        backs.insert(0, result.map_back_action_instance)
    _refuse(compiled, kind.features, READ | {"CONDITIONAL_EFFECTS"} if _only_comparisons(compiled) else READ)
    back = partial(map_back_action_instance, map_back_functions=backs)
    original: dict[str, str | None] = {}
    for action in compiled.actions:
        names = [item.name for parameter in action.parameters for item in islice(compiled.objects(parameter.type), 1)]
        if len(names) == len(action.parameters):  # otherwise the action has no instances
            came_from = back(instance_of(compiled, action.name, names))
            original[action.name] = None if came_from is None else came_from.action.name
    return Reduced(compiled, original, back)


def instance_of(problem: Problem, name: str, arguments: Iterable[str]) -> ActionInstance:
    """Return an action of a problem with its objects, by their names.

    Raises:
        UPValueError: the problem has no such action or object.
        AssertionError: the action does not take these objects.
    """
    from unified_planning.plans import ActionInstance

    objects = map(problem.object, arguments)
    return ActionInstance(problem.action(name), tuple(map(problem.environment.expression_manager.ObjectExp, objects)))


def lifted(reduction: Reduced, values: Mapping[FNode, FNode]) -> tuple[Theory, State, list[Formula]]:
    """Return a problem as a theory, the facts that hold, and the conditions of its goal.

    Args:
        reduction: the compiled problem.
        values: fluents that differ from their defaults, with their values.

    Raises:
        InvalidConfiguration: a part of it is not STRIPS with negative preconditions.
    """
    problem, actions = reduction.problem, [a for a in reduction.problem.actions if a.name in reduction.original]
    objects: dict[str, set[str]] = {item.name: set() for item in problem.all_objects}
    for user_type in problem.user_types:
        for item in problem.objects(user_type):
            objects[item.name].add(user_type.name)
    costs = {action.name: cost_of(reduction, action) for action in actions}
    theory = Theory(
        {action.name: _operator(action) for action in actions},
        objects,
        cost=lambda operator, names: costs[operator.name](names),
    )
    initial = frozenset(map(_ReductionReader("the state").fact, true_fluents(problem, values)))
    return theory, initial, _ReductionReader("the goal").conjunction(problem.goals)


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


def _operator(action: UPAction) -> Operator:
    """Return an action as an operator."""
    reader = _ReductionReader(f"action {action.name}", {p.name: f"?{i}" for i, p in enumerate(action.parameters)})
    if action.simulated_effect is not None:
        raise reader.not_strips("a simulated effect")
    effects = list[Effect]()
    for effect in action.effects:
        when = reader.conjunction([effect.condition])
        if not effect.is_assignment() or not effect.value.is_bool_constant() or any(map(facts_of, when)):
            raise reader.not_strips(effect)
        fact = (reader.fact(effect.fluent),)
        adds, deletes = (fact, ()) if effect.value.is_true() else ((), fact)
        effects.append(Effect(adds, deletes, And(tuple(when))))
    parameters = tuple(Parameter(f"?{i}", p.type.name) for i, p in enumerate(action.parameters))
    return Operator(
        action.name, parameters, tuple(reader.conjunction(action.preconditions)), tuple(effects), repeats=True
    )


def cost_of(reduction: Reduced, action: UPAction) -> Callable[[tuple[str, ...]], float]:
    """Return a function from the names of the objects to the cost of an instance of an action.

    The cost is inf, which stands for an action that cannot be run, if it depends on a fluent without a value.

    Raises:
        InvalidConfiguration: (also from the returned function) the cost is negative or depends on the state.
    """
    from unified_planning.model.walkers import Simplifier

    problem, manager = reduction.problem, reduction.problem.environment.expression_manager
    metrics = [metric for metric in problem.quality_metrics if metric.is_minimize_action_costs()]
    cost = metrics[0].get_action_cost(action) if metrics else manager.Int(1)
    if reduction.original[action.name] is None or cost is None:
        cost = manager.Int(0)

    def number_of(cost: FNode) -> float:
        value = float(cost.constant_value()) if cost.is_int_constant() or cost.is_real_constant() else -1.0
        if value < 0.0:
            raise InvalidConfiguration(
                f"expected the cost of action {action.name} to be a number >= 0 that does not depend on the state, "
                f"found {cost}; give it another cost"
            )
        return value

    def evaluated(names: tuple[str, ...]) -> float:
        pairs = zip(action.parameters, names, strict=True)
        given = {manager.ParameterExp(p): manager.ObjectExp(problem.object(name)) for p, name in pairs}
        ground = cost.substitute(given)
        if any(problem.initial_value(fluent) is None for fluent in fluents_of(ground)):
            return math.inf
        return number_of(Simplifier(problem.environment, problem).simplify(ground))

    fluents_of = problem.environment.free_vars_extractor.get
    if not cost.is_constant():
        return evaluated
    value = number_of(cost)
    return lambda _: value


@dataclass
class _ReductionReader:
    """Reads the expressions of one part of a problem, whose name is `where`.

    Attributes:
        variables: parameter -> variable.
    """

    where: str
    variables: Mapping[str, str] = field(default_factory=dict)

    def conjunction(self, conditions: Iterable[FNode]) -> list[Formula]:
        """Return what has to hold."""
        found = list[Formula]()
        for part, negated in _literals(conditions):
            formula: Formula
            if part.is_bool_constant():
                formula = And(()) if part.is_true() else Or(())
            elif _compares(part):
                formula = Same(*map(self.term, part.args))
            elif part.is_fluent_exp() and part.type.is_bool_type():
                predicate, *terms = self.fact(part)
                formula = Atom(predicate, tuple(terms))
            else:
                raise self.not_strips(f"(not {part})" if negated else part)
            found.append(Not(formula) if negated else formula)
        return found

    def fact(self, fluent: FNode) -> StateFact:
        if not fluent.type.is_bool_type():
            raise self.not_strips(fluent)
        return (fluent.fluent().name, *map(self.term, fluent.args))

    def term(self, term: FNode) -> str:
        if term.is_parameter_exp():
            return self.variables[term.parameter().name]
        if term.is_object_exp():
            return str(term.object().name)
        raise self.not_strips(term)

    def not_strips(self, found: object) -> InvalidConfiguration:
        return InvalidConfiguration(
            f"expected STRIPS with negative preconditions, found {found} in {self.where}, which unified-planning's "
            "compilers do not remove; write it with Boolean fluents whose arguments are objects or parameters"
        )


def _literals(conditions: Iterable[FNode]) -> Iterator[tuple[FNode, bool]]:
    """The parts of a conjunction, and whether each is negated."""
    for part in conditions:
        if part.is_and():
            yield from _literals(part.args)
        else:
            yield (part.arg(0), True) if part.is_not() else (part, False)


def _compares(part: FNode) -> bool:
    """Return whether an expression compares the identity of objects or parameters."""
    return part.is_equals() and all(a.is_parameter_exp() or a.is_object_exp() for a in part.args)


def _only_comparisons(problem: Problem) -> bool:
    """Return whether the conditions of all effects depend on the identity of the objects only."""
    effects = (effect for action in problem.actions for effect in getattr(action, "effects", ()))
    parts = (part for effect in effects for part, _ in _literals([effect.condition]))
    return all(part.is_bool_constant() or _compares(part) for part in parts)


def _most_alternatives(problem: Problem) -> int:
    """Return the largest number of conjunctions in the normal form of an action's conditions or the goal.

    Raises:
        InvalidConfiguration: there are too many for unified-planning to write out.
    """
    from unified_planning.model.walkers.dnf import Nnf

    def alternatives(condition: FNode) -> int:
        if condition.is_and():
            return math.prod(map(alternatives, condition.args))
        return sum(map(alternatives, condition.args)) if condition.is_or() else 1

    most, negations_inside = 1, Nnf(problem.environment).get_nnf_expression
    for where, conditions in [("the goal", problem.goals), *((a.name, a.preconditions) for a in problem.actions)]:
        count = math.prod(alternatives(negations_inside(condition)) for condition in conditions)
        if count > MOST_ALTERNATIVES:
            raise InvalidConfiguration(
                f"expected conditions with at most {MOST_ALTERNATIVES:,} alternatives, found {count:.0e} in {where} of "
                f"{problem.name!r}; split it into several actions, or use fluents that say which alternative holds"
            )
        most = max(most, count)
    return most


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

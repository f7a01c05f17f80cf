"""Domains that are read from PDDL, with a table of words.

    domain = domain_from_pddl("logistics.pddl", words={"load": "load {p} into {t}"})
    instance, state, goal = scene_from_pddl(domain, "logistics.pddl", "problem.pddl")
    system = nsrecover.symbolic(instance, goal)

docs/domains.md shows a whole program. Needs unified-planning: `pip install 'nsrecover[up]'`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nsrecover.core.facts import StateFact
from nsrecover.domains import base
from nsrecover.domains.base import Role
from nsrecover.domains.domain import Domain
from nsrecover.domains.instance import Instance
from nsrecover.errors import InvalidConfiguration, did_you_mean
from nsrecover.integrations.unified_planning.reduction import true_fluents
from nsrecover.util.extras import needs_extra
from nsrecover.util.untrusted_json import InvalidJson, read_json, read_text

if TYPE_CHECKING:
    from unified_planning.model import Action as UPAction
    from unified_planning.model import Fluent, FNode, Problem, Type

WordTable = Mapping[str, str | Mapping[str, str]]
"""Operator or predicate -> its instruction or clause, or several forms of it by the names of `Words`."""


def domain_from_pddl(
    domain: str | Path, words: WordTable | str | Path | None = None, roles: Mapping[str, Role] | None = None
) -> Domain:
    """A domain from PDDL.

    Types become kinds, and traits of their objects. Predicates of one object become state variables, others relations;
    relations between objects that no action changes are static. Conditional and universal effects, quantifiers,
    disjunctions, negation and constant action costs are read; numbers and durations are refused.

    Args:
        domain: file, or the text itself.
        words: how to say operators (parameters in braces) and predicates ({0}, {1}); a table, or a JSON file with one.
        roles: predicate -> its role as a relation, such as `{"on": Role.LOCATION, "holding": Role.HELD}`.

    Raises:
        InvalidConfiguration: unified-planning is missing, the text is not PDDL of this kind, or a word or role is for
            nothing.
    """
    read = _read(domain, None)
    name = str(read.name)
    if any(fluent.name == "total-cost" for fluent in read.fluents):  # costs are read with a problem that asks for them
        read = _read(domain, f"(define (problem p) (:domain {name}) (:init (= (total-cost) 0)) (:goal (and)) "
                             "(:metric minimize (total-cost)))")  # fmt: skip
    return _domain(read, name, words or {}, roles or {})


def scene_from_pddl(
    domain: Domain, domain_source: str | Path, problem: str | Path
) -> tuple[Instance, base.State, tuple[StateFact, ...]]:
    """The scene, the initial state and the goal of a PDDL problem.

    What the goal has besides facts becomes derived predicates of the scene's domain: `not-open` for `(not (open ?x))`.

    Args:
        domain: from `domain_from_pddl`.
        domain_source: the PDDL that it is from.
        problem: file, or the text itself.

    Raises:
        InvalidConfiguration: the text is not PDDL of this kind.
    """
    read = _read(domain_source, problem)
    objects = {item.name: _traits(item.type) for item in read.all_objects}
    facts = frozenset(_fact(fluent) for fluent in true_fluents(read, read.explicit_initial_values))
    static = frozenset(fact for fact in facts if domain.relations.get(fact[0]) is Role.STATIC)
    goal, derived = list[StateFact](), dict(domain.derived)
    for part in map(_formula, itertools.chain(*map(_conjuncts, read.goals))):
        fact, rule = _condition(part, len(derived))
        goal.append(fact)
        if rule is not None:
            derived[rule.predicate] = rule
    return Instance(replace(domain, derived=derived), objects, static), facts - static, tuple(goal)


def _condition(formula: base.Formula, number: int) -> tuple[StateFact, base.Derived | None]:
    """A part of a goal as a fact, and the derived predicate that it needs."""
    match formula:
        case base.Atom(predicate, terms):
            return (predicate, *terms), None
        case base.Not(base.Atom(predicate, terms)):
            variables = tuple(f"?{i}" for i in range(len(terms)))
            return (f"not-{predicate}", *terms), base.Derived(
                f"not-{predicate}", variables, base.absent(predicate, *variables)
            )
    return (f"goal-{number}",), base.Derived(f"goal-{number}", (), formula)


def _read(domain: str | Path, problem: str | Path | None) -> Problem:
    with needs_extra("up", "unified-planning"):
        from unified_planning.io import PDDLReader
    texts = [None if source is None else _text(source) for source in (domain, problem)]
    try:
        return PDDLReader().parse_problem_string(*texts)
    except Exception as error:  # the parser raises exceptions of pyparsing, of its own, and assertions
        raise InvalidConfiguration(
            f"expected a PDDL domain{'' if problem is None else ' and a problem for it'}, found what cannot be read "
            f"({' '.join(str(error).split())[:300]}); check the text with a PDDL validator"
        ) from error


def _text(source: str | Path) -> str:
    if isinstance(source, str) and source.lstrip().startswith(("(", ";")):
        return source
    try:
        return read_text(source)
    except (OSError, InvalidJson) as error:
        said = error.strerror if isinstance(error, OSError) else error
        raise InvalidConfiguration(
            f"expected a file with PDDL, or PDDL itself, found {str(source)!r} ({said})"
        ) from error


def _domain(read: Problem, domain_name: str, given: WordTable | str | Path, roles: Mapping[str, Role]) -> Domain:
    words, predicates = _words(given), {fluent.name: fluent for fluent in read.fluents if fluent.name != "total-cost"}
    for what, names, known in (
        ("words for an action or a predicate", words, (*(action.name for action in read.actions), *predicates)),
        ("roles of predicates", roles, tuple(predicates)),
    ):
        for name in names:
            if name not in known:
                raise InvalidConfiguration(f"expected {what}, found {name!r}.{did_you_mean(name, known)}")
    # Only constant costs are read.
    metrics = [metric for metric in read.quality_metrics if metric.is_minimize_action_costs()]
    priced = [(action.name, metric.get_action_cost(action)) for metric in metrics for action in read.actions]
    costs = {name: float(cost.constant_value()) for name, cost in priced if cost is not None and cost.is_constant()}
    operators = {}
    for action in read.actions:
        operators[action.name] = base.Operator(
            action.name,
            tuple(base.Parameter(f"?{p.name}", p.type.name) for p in action.parameters),
            tuple(map(_formula, itertools.chain(*map(_conjuncts, action.preconditions)))),
            tuple(_effects(action)),
            costs.get(action.name, 1.0),
            words.get(action.name, base.Words()),
        )
    return Domain(
        domain_name,
        kinds={each.name: base.Kind(each.name, _traits(each)) for each in read.user_types},
        variables={
            name: base.StateVariable(name, (f"not {name}", name), fluent.signature[0].type.name)
            for name, fluent in predicates.items()
            if fluent.arity == 1 and name not in roles
        },
        relations=_relations(predicates, operators) | dict(roles),
        operators=operators,
        words={name: said for name, said in words.items() if name not in operators},
    )


def _relations(predicates: Mapping[str, Fluent], operators: Mapping[str, base.Operator]) -> dict[str, Role]:
    """The predicates of none and several objects, with their roles."""
    effects = [effect for operator in operators.values() for effect in operator.effects]
    changed = {fact[0] for effect in effects for fact in (*effect.adds, *effect.deletes)}
    return {
        name: Role.STATIC if fluent.arity and name not in changed else Role.PLAIN
        for name, fluent in predicates.items()
        if fluent.arity != 1
    }


def _words(given: WordTable | str | Path) -> dict[str, base.Words]:
    try:
        table = given if isinstance(given, Mapping) else read_json(given)
        return {name: base.Words(said) if isinstance(said, str) else base.Words(**said) for name, said in table.items()}
    except (OSError, ValueError, TypeError, AttributeError) as problem:
        raise InvalidConfiguration(
            "expected words as a table, or a JSON file with one: operator or predicate -> text, or texts by the names "
            f"of nsrecover.domains.base.Words; found: {problem}"
        ) from problem


def _traits(kind: Type) -> frozenset[str]:
    return frozenset(ancestor.name for ancestor in kind.ancestors)


def _effects(action: UPAction) -> Iterator[base.Effect]:
    """The effects of an action, those without a condition as one."""
    plain = base.Effect()
    for effect in action.effects:
        if not effect.is_assignment() or not effect.value.is_bool_constant() or not effect.fluent.type.is_bool_type():
            if effect.is_increase() and effect.fluent.fluent().name == "total-cost":
                continue
            raise _refused(f"{action.name}: {effect}")
        fact = _fact(effect.fluent)
        parts = {"adds" if effect.value.is_true() else "deletes": (fact,)}
        if effect.condition.is_true() and not effect.forall:
            plain = replace(plain, **{name: getattr(plain, name) + facts for name, facts in parts.items()})
        else:
            each = tuple(base.Parameter(f"?{variable.name}", variable.type.name) for variable in effect.forall)
            yield base.Effect(**parts, when=_formula(effect.condition), for_each=each)
    if plain != base.Effect():
        yield plain


def _conjuncts(node: FNode) -> Sequence[FNode]:
    return node.args if node.is_and() else (node,)


def _formula(node: FNode) -> base.Formula:
    if node.is_fluent_exp() and node.type.is_bool_type():
        name, *terms = _fact(node)
        return base.Atom(name, tuple(terms))
    if node.is_not():
        return base.Not(_formula(node.arg(0)))
    if node.is_implies():
        return base.Or((base.Not(_formula(node.arg(0))), _formula(node.arg(1))))
    if node.is_true() or node.is_and():
        return base.And(() if node.is_true() else tuple(map(_formula, node.args)))
    if node.is_false() or node.is_or():
        return base.Or(() if node.is_false() else tuple(map(_formula, node.args)))
    if node.is_equals():
        return base.Same(*(_term(argument) for argument in node.args))
    if node.is_exists() or node.is_forall():
        found = _formula(node.arg(0))
        for variable in node.variables():
            found = (base.Exists if node.is_exists() else base.ForAll)(f"?{variable.name}", found, variable.type.name)
        return found
    raise _refused(node)


def _fact(fluent: FNode) -> StateFact:
    return (fluent.fluent().name, *map(_term, fluent.args))


def _term(term: FNode) -> str:
    if term.is_object_exp():
        return str(term.object().name)
    if term.is_parameter_exp():
        return f"?{term.parameter().name}"
    if term.is_variable_exp():
        return f"?{term.variable().name}"
    raise _refused(term)


def _refused(found: object) -> InvalidConfiguration:
    return InvalidConfiguration(
        f"expected PDDL with true and false facts only, found {found}; write it without numbers and durations"
    )

"""Checks of what comes from outside, before anything is planned or moved: objects, plans and goals of a scene."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from nsrecover.core.actions import Plan
from nsrecover.core.facts import StateFact
from nsrecover.domains.base import Role
from nsrecover.domains.domain import Domain
from nsrecover.domains.instance import Instance
from nsrecover.errors import InvalidAction, InvalidConfiguration, UnknownObject, did_you_mean, require_known


def scene_of(
    domain: Domain, objects: Mapping[str, str | Collection[str]], static: Iterable[StateFact] = ()
) -> Instance:
    """A domain over the objects of a scene.

    Args:
        domain: the domain.
        objects: object -> its kind, or its traits: `{"rose": "plant"}`.
        static: facts that never change.

    Raises:
        InvalidConfiguration: a kind or trait is unknown to the domain, or a static fact is of no static relation.
        UnknownObject: a static fact names an object that is not in the scene.
    """
    known = {*domain.kinds, *domain.traits, *(trait for kind in domain.kinds.values() for trait in kind.traits)}
    found = {}
    for name, given in objects.items():
        traits = {given} if isinstance(given, str) else set(given)
        for trait in sorted(traits - known) if known else ():
            raise InvalidConfiguration(
                f"expected a kind or traits of the domain {domain.name!r} for {name!r}, found {trait!r}."
                f"{did_you_mean(trait, known)}"
            )
        found[name] = frozenset(traits).union(*(domain.kinds[each].traits for each in traits & domain.kinds.keys()))
    instance = Instance(domain, found, frozenset(static))
    for fact in instance.static:
        _check_fact(
            fact, instance, [name for name, role in domain.relations.items() if role is Role.STATIC], "static fact"
        )
    return instance


def check_plan(instance: Instance, plan: Plan) -> None:
    """Check that a plan can be meant: its operators, and the number, the names and the traits of their arguments.

    Raises:
        InvalidAction: an operator is unknown, or takes other arguments.
        UnknownObject: an argument is not an object of the scene.
    """
    for action in plan:
        operator, _ = instance.operator(action.operator, action.arguments)
        for parameter, name in zip(operator.parameters, action.arguments, strict=True):
            require_known(name, instance.objects, f"objects of the scene in {action}", UnknownObject)
            if parameter.trait and parameter.trait not in instance.objects[name]:
                raise InvalidAction(
                    f"expected an object with {str(parameter.trait)!r} as {parameter.variable} of {action}, found "
                    f"{name!r}.{did_you_mean(name, instance.having(parameter.trait))}"
                )


def check_goal(instance: Instance, goal: Iterable[StateFact]) -> None:
    """Check that the domain can express the conditions of a goal about the objects of a scene.

    Raises:
        InvalidConfiguration: a predicate or value is unknown, or a predicate takes another number of terms.
        UnknownObject: a term is not an object of the scene.
    """
    for fact in goal:
        _check_fact(fact, instance, instance.domain.predicates, "condition of a goal")


def _check_fact(fact: StateFact, instance: Instance, known: Collection[str], what: str) -> None:
    domain = instance.domain
    if not isinstance(fact, tuple) or not fact or not all(isinstance(term, str) for term in fact):
        raise InvalidConfiguration(f"expected a {what} such as ('open', 'fridge'), found {fact!r}")
    predicate, *terms = fact
    require_known(predicate, known, f"a {what} of the domain {domain.name!r}")
    if domain.arities.get(predicate, len(terms)) != len(terms):
        raise InvalidConfiguration(
            f"expected {domain.arities[predicate]} terms of {predicate!r} in a {what}, found {len(terms)}: {terms}"
        )
    values = domain.variables[predicate].values if predicate in domain.variables and len(terms) == 2 else ()
    for number, name in enumerate(terms):
        if name not in instance.objects and not (number == 1 and name in values):
            options = values if number == 1 and values else instance.objects
            expected = f"a value of {predicate}" if options is values else "an object of the scene"
            raise UnknownObject(
                f"expected {expected} in the {what} {predicate!r}, found {name!r}.{did_you_mean(name, options)}"
            )

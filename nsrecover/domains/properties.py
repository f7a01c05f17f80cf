"""Properties of a domain: which facts exclude each other about an object, and changes of facts property by property."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from nsrecover.core.facts import PLACE, Property, StateFact
from nsrecover.domains.base import Not, Role, State, facts_of
from nsrecover.domains.domain import Domain
from nsrecover.domains.instance import Instance


def property_of(fact: StateFact, domain: Domain) -> Property:
    """The property of its first object that a fact is about: `PLACE`, or for variables and plain relations its name."""
    if len(fact) == 1:
        return fact[0], fact[0]
    plain = domain.relations.get(fact[0], Role.PLAIN) in (Role.PLAIN, Role.STATIC)
    return (fact[0] if plain else PLACE), fact[1]


def facts_with(
    roles: Collection[Role], facts: Iterable[StateFact], domain: Domain, name: str | None = None
) -> list[StateFact]:
    """The facts whose relation has one of some roles, in order; those about one object if it is named."""
    found = (fact for fact in facts if domain.relations.get(fact[0]) in roles)
    return sorted(fact for fact in found if name is None or fact[1] == name)


def supports(facts: Iterable[StateFact], domain: Domain, name: str | None = None) -> list[str]:
    """What an object is directly in or on; what all objects are in or on if none is named."""
    return [fact[2] for fact in facts_with((Role.LOCATION,), facts, domain, name) if len(fact) == 3]


def outermost(name: str, facts: State, domain: Domain) -> str | None:
    """What an object is in or on in the end, itself if it is in or on nothing; None if the gripper holds that."""
    seen = [name]
    while (inner := supports(facts, domain, seen[-1])) and inner[0] not in seen:
        seen.append(inner[0])
    return None if facts_with((Role.HELD,), facts, domain, seen[-1]) else seen[-1]


def placed(facts: Iterable[StateFact], domain: Domain) -> set[str]:
    """The objects that are in or on something, or held."""
    return {fact[1] for fact in facts_with((Role.LOCATION, Role.HELD), facts, domain)}


def held(facts: Iterable[StateFact], domain: Domain) -> str | None:
    """What the gripper holds."""
    return next((fact[1] for fact in facts_with((Role.HELD,), facts, domain)), None)


def covering(name: str, facts: Iterable[StateFact], domain: Domain) -> list[str]:
    """The objects that are in the way of another one."""
    return [fact[1] for fact in facts_with((Role.COVERS,), facts, domain) if fact[2] == name]


def by_property(facts: Iterable[StateFact], domain: Domain) -> dict[Property, State]:
    """Facts grouped by their property."""
    found: dict[Property, set[StateFact]] = defaultdict(set)
    for fact in facts:
        found[property_of(fact, domain)].add(fact)
    return {prop: frozenset(group) for prop, group in found.items()}


def changed(one: State, other: State, domain: Domain) -> frozenset[Property]:
    """The properties that differ between two states."""
    return frozenset(property_of(fact, domain) for fact in one ^ other)


def with_properties_of(state: State, other: State, props: Collection[Property], domain: Domain) -> State:
    """A state with some properties as they are in another one."""
    kept = {fact for fact in state if property_of(fact, domain) not in props}
    return frozenset(kept | {fact for fact in other if property_of(fact, domain) in props})


def values_of(prop: Property, state: State, instance: Instance) -> list[State]:
    """What else a property may be than it is in a state, as facts; of a place only that it is not known where."""
    variable, name = prop
    domain = instance.domain
    now = frozenset(fact for fact in state if property_of(fact, domain) == prop)
    known = domain.variables.get(variable)
    options: list[State] = [frozenset()]
    if known is not None and len(known.values) == 2:
        options.append(frozenset({(variable, name)}))
    elif known is not None:
        options += [frozenset({(variable, name, value)}) for value in known.values[1:]]
    return [option for option in options if option != now]


def driven(name: str, facts: State, instance: Instance) -> bool:
    """Whether the laws change states of an object that drift now: it is heated, for instance."""
    drifting = {
        each for each in facts if each[1:2] == (name,) and drifts(property_of(each, instance.domain), instance.domain)
    }
    return not drifting.isdisjoint(instance.settle(facts - drifting))


def drifts(prop: Property, domain: Domain) -> bool:
    """Whether a property changes unprompted as time passes."""
    variable = domain.variables.get(prop[0])
    return variable is not None and variable.drifts


def literal(condition: StateFact, domain: Domain) -> tuple[StateFact, bool]:
    """The fact that a condition is about, and whether it or its negation is meant: `closed` is not `open`."""
    variable = domain.variables.get(condition[0])
    if variable is not None and len(condition) == 3 and len(variable.values) == 2 and condition[2] in variable.values:
        return condition[:2], condition[2] != variable.values[0]
    rule = domain.derived.get(condition[0])
    if rule is not None:
        inner = facts_of(rule.definition)
        if isinstance(rule.definition, Not) and len(inner) == 1 and inner[0][1:] == rule.variables:
            return (inner[0][0], *condition[1:]), False
    return condition, True


def related(static: Iterable[StateFact]) -> Mapping[str, frozenset[str]]:
    """Object -> objects that a static fact mentions together with it, such as food and its slices."""
    found: dict[str, set[str]] = defaultdict(set)
    for fact in static:
        for name in fact[1:]:
            found[name] |= set(fact[1:]) - {name}
    return {name: frozenset(others) for name, others in found.items()}

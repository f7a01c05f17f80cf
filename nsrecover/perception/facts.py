"""Scenes that are given as facts: a perceiver for symbolic domains without images, checked against the domain."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Real

from nsrecover.core.entrance import check_kind
from nsrecover.core.facts import PLACE, FactScene, Property, StateFact
from nsrecover.domains.base import Role
from nsrecover.domains.instance import Instance
from nsrecover.domains.properties import property_of
from nsrecover.domains.values import stored
from nsrecover.errors import InvalidObservation, did_you_mean, require_known

GivenFacts = FactScene | Iterable[StateFact] | Mapping[StateFact, float]
"""A scene; facts that hold, while no other does; or facts with probabilities, while no other holds."""


@dataclass(frozen=True)
class FactsPerceiver:
    """Checks facts and hands them on.

    Attributes:
        instance: the domain over the objects of the scene.
    """

    instance: Instance

    def __call__(self, observation: GivenFacts) -> FactScene:
        """The scene.

        Raises:
            InvalidObservation: a predicate, object or value is unknown to the domain, a fact has the wrong number of
                terms, a variable has two values, or a probability or certainty is not from 0 to 1.
        """
        check_kind(observation, (FactScene, Iterable), "a scene of facts")
        scene = observation if isinstance(observation, FactScene) else scene_of_facts(observation, self.instance)
        check_kind(scene.facts, (set, frozenset), "the facts of a scene as a set")
        check_kind(scene.certainty, Mapping, "certainties by property")
        facts = frozenset(kept for fact in scene.facts if (kept := self._stored(fact)) is not None)
        scene = scene if facts is scene.facts else replace(scene, facts=facts)
        for (variable, name), sure in scene.certainty.items():
            check_kind(sure, Real, f"a certainty of {variable} of {name}")
            if variable != PLACE and variable not in self.instance.domain.variables:
                known = [PLACE, *self.instance.domain.variables]
                raise InvalidObservation(
                    f"expected a state variable of the domain or {PLACE!r}, found {variable!r}."
                    f"{did_you_mean(variable, known)}"
                )
            self._check_object(name)
            _check_probability(sure, f"certainty of {variable} of {name}")
        valued: dict[Property, StateFact] = {}
        for fact in sorted(scene.facts):
            if fact[0] in self.instance.domain.variables:
                other = valued.setdefault(property_of(fact, self.instance.domain), fact)
                if other != fact:
                    raise InvalidObservation(f"expected one value of {fact[0]} of {fact[1]}, found {other} and {fact}")
        return scene

    def _stored(self, given: StateFact) -> StateFact | None:
        """A fact as states have it; None for what they do not have: normal values, and what never changes."""
        domain, objects = self.instance.domain, self.instance.objects
        if not given or not isinstance(given, tuple) or not all(isinstance(term, str) for term in given):
            raise InvalidObservation(f"expected facts such as ('open', 'fridge'), found {given!r}")
        known, terms = (*domain.variables, *domain.relations), given[1:]
        if given[0] not in known:
            follows = " It follows from other facts; leave it out." if given[0] in domain.derived else ""
            fix = follows or did_you_mean(given[0], known)
            raise InvalidObservation(f"expected facts of the domain {domain.name!r}, found {given[0]!r}.{fix}")
        role, variable = domain.relations.get(given[0]), domain.variables.get(given[0])
        if variable is not None and len(terms) == 2:
            values = variable.values  # and for several values any object, such as a liquid that no kind has
            if terms[1] not in values and (len(values) == 2 or terms[1] not in objects):
                raise InvalidObservation(
                    f"expected a value of {given[0]}, found {terms[1]!r}.{did_you_mean(terms[1], values)}"
                )
        fact, count = stored(given, domain.variables), domain.arities.get(given[0])
        if fact is not None and count not in (None, len(fact) - 1):
            raise InvalidObservation(f"expected {count} terms of {given[0]!r}, found {given}")
        for name in terms if role in (Role.PLAIN, Role.STATIC) else terms[:1]:
            self._check_object(name)
        if role is Role.STATIC:
            if given not in self.instance.static:
                raise InvalidObservation(f"expected static facts as in the scene, found {given}; add it to the scene")
            return None
        return fact

    def _check_object(self, name: str) -> None:
        require_known(name, self.instance.objects, "an object of the scene", InvalidObservation)


def scene_of_facts(given: Iterable[StateFact] | Mapping[StateFact, float], instance: Instance) -> FactScene:
    """A scene of facts, or of facts with probabilities; of a property's values the most likely one is taken.

    Args:
        given: facts that hold, or fact -> probability; what is not given does not hold.
        instance: the domain over the objects of the scene.

    Raises:
        InvalidObservation: a probability is not from 0 to 1.
    """
    if not isinstance(given, Mapping):
        return FactScene(frozenset(tuple(fact) if isinstance(fact, list) else fact for fact in given))
    groups: dict[Property, dict[StateFact, float]] = {}
    for fact, chance in given.items():
        check_kind(fact, tuple, "facts with probabilities")
        check_kind(chance, Real, f"a probability of {fact}")
        _check_probability(chance, f"probability of {fact}")
        groups.setdefault(property_of(fact, instance.domain), {})[fact] = chance
    facts, certainty = set[StateFact](), dict[Property, float]()
    for prop, chances in groups.items():
        best = max(chances, key=chances.__getitem__)
        none = 1.0 - chances[best] if len(chances) == 1 else max(0.0, 1.0 - sum(chances.values()))
        if chances[best] >= none:
            facts.add(best)
        sure = max(chances[best], none)
        if sure < 1.0:
            certainty[prop] = sure
    return FactScene(frozenset(facts), certainty)


def _check_probability(value: float, what: str) -> None:
    if not 0.0 <= value <= 1.0:
        raise InvalidObservation(f"expected a {what} from 0 to 1, found {value}")

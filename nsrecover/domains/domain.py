"""A domain: general knowledge about scenes of one sort."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nsrecover.core.explanation import Fact
from nsrecover.core.facts import StateFact
from nsrecover.domains.base import Derived, Kind, Law, Operator, Role, StateVariable, Words, facts_of
from nsrecover.util.english import clause

_BY_ROLE = {
    Role.HELD: "{0} is in the gripper",
    Role.COVERS: "{0} blocks {1}",
    Role.BELIEVED: "{0} is believed to be in or on {1}",
}
"""Role -> words for a relation that has none."""


@dataclass(frozen=True)
class Domain:
    """General knowledge about scenes of one sort.

    Attributes:
        name: of the domain.
        kinds: noun -> kind.
        variables: state variables by name.
        relations: predicate between objects -> its role.
        operators: by name, in a fixed order.
        derived: predicates that follow from facts, by name.
        laws: applied in order after every action.
        words: predicate -> how to say that it holds, with {0}, {1} for its terms.
        compiled: functions made of the domain, filled by `nsrecover.domains.compiled` when they are first needed.
    """

    name: str
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    variables: Mapping[str, StateVariable] = field(default_factory=dict)
    relations: Mapping[str, Role] = field(default_factory=dict)
    operators: Mapping[str, Operator] = field(default_factory=dict)
    derived: Mapping[str, Derived] = field(default_factory=dict)
    laws: tuple[Law, ...] = ()
    words: Mapping[str, Words] = field(default_factory=dict)
    compiled: dict[str, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "compiled": {}}  # functions that are compiled at run time cannot be pickled

    def relation(self, role: Role) -> str | None:
        """The first relation with a role; None if there is none."""
        return next((name for name, own in self.relations.items() if own is role), None)

    @property
    def recursive(self) -> tuple[str, ...]:
        """The derived predicates that refer to themselves, directly or through others."""
        uses = {name: {fact[0] for fact in facts_of(rule.definition)} for name, rule in self.derived.items()}
        for middle in uses:  # transitive closure (Warshall)
            for found in uses.values():
                if middle in found:
                    found |= uses[middle]
        return tuple(name for name, found in uses.items() if name in found)

    def text(self, fact: Fact | StateFact, holds: bool = True) -> str:
        """A fact, or a trait of an object, as a clause: `the mug is filled with wine`, `the fridge is not open`.

        Args:
            fact: `not` before the predicate denies it, and a variable stands for any object.
            holds: False for the negation.
        """
        predicate, *terms = (fact.predicate, *fact.arguments) if isinstance(fact, Fact) else fact
        if predicate == "not":
            return self.text(tuple(terms), not holds)
        template, some = self._template(predicate, len(terms)), "something" if holds else "anything"
        if terms and terms[0].startswith("?") and not holds:
            terms[0], holds = "nothing", True
        return clause(template, *(some if term.startswith("?") else term for term in terms), holds=holds)

    def _template(self, predicate: str, count: int) -> str:
        """How to say a predicate with a number of terms: by its words, its role, or its name."""
        if predicate in self.words:
            return self.words[predicate].imperative
        if template := _BY_ROLE.get(self.relations.get(predicate, Role.PLAIN)):
            return template
        plain = predicate.replace("_", " ").replace("-", " ").replace("{", "{{").replace("}", "}}")
        if predicate in self.variables and count == 2:
            return f"the {plain} of {{0}} is {{1!s}}"
        if not count:
            return plain if " " in predicate else f"{plain} is true"
        return " ".join((f"{{0}} {plain}", *(f"{{{i}}}" for i in range(1, count))))

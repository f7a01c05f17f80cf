"""A domain: general knowledge about scenes of one sort, checked when it is made."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nsrecover.core.explanation import Fact
from nsrecover.core.facts import StateFact
from nsrecover.domains.base import (
    And,
    Atom,
    Derived,
    Effect,
    Exists,
    ForAll,
    Formula,
    Has,
    Kind,
    Law,
    Not,
    Operator,
    Or,
    Parameter,
    Part,
    Role,
    Same,
    StateVariable,
    Words,
    facts_of,
    parts_of,
)
from nsrecover.domains.values import with_values
from nsrecover.errors import InvalidConfiguration, did_you_mean
from nsrecover.util.english import clause
from nsrecover.util.python310 import Self

_BY_ROLE = {
    Role.HELD: "{0} is in the gripper",
    Role.COVERS: "{0} blocks {1}",
    Role.BELIEVED: "{0} is believed to be in or on {1}",
}
"""Role -> words for a relation that has none."""


@dataclass(frozen=True)
class Domain:
    """General knowledge about scenes of one sort; `Domain.of` makes one from its parts.

    Predicates are the names of state variables, relations and derived predicates.

    Attributes:
        name: of the domain.
        kinds: noun -> kind.
        variables: state variables by name.
        relations: relation between objects -> its role.
        operators: by name, in a fixed order.
        derived: predicates that follow from facts, by name.
        laws: applied in order after every action.
        words: predicate -> how to say that it holds, with {0}, {1} for its terms; by default it is said by its name.
        enclosed: derived predicate of what nobody changes without opening something first; empty: there is none.
        cost_unit: what costs count, such as `seconds`; empty: actions if every operator costs 1, else it is not known.
        traits: traits that objects can have besides those of the kinds; without any, and without kinds, any can be had.
        arities: predicate -> number of its terms, for all that are declared or used with a number.
        compiled: functions made of the domain, filled by `nsrecover.domains.compiled` when they are first needed.

    Raises:
        InvalidConfiguration: a predicate, value, trait or variable is not declared, a predicate is used with different
            numbers of terms, a derived predicate refers to itself below a `Not`, or a cost is not positive.
    """

    name: str
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    variables: Mapping[str, StateVariable] = field(default_factory=dict)
    relations: Mapping[str, Role] = field(default_factory=dict)
    operators: Mapping[str, Operator] = field(default_factory=dict)
    derived: Mapping[str, Derived] = field(default_factory=dict)
    laws: tuple[Law, ...] = ()
    words: Mapping[str, Words] = field(default_factory=dict)
    traits: frozenset[str] = frozenset()
    cost_unit: str = ""
    enclosed: str = ""
    arities: Mapping[str, int] = field(default_factory=dict, init=False, compare=False, repr=False)
    compiled: dict[str, object] = field(default_factory=dict, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "arities", _Check(self).arities)
        for name, parts in with_values(self.variables, self.operators, self.derived, self.laws).items():
            object.__setattr__(self, name, parts)

    @classmethod
    def of(
        cls,
        name: str,
        *parts: Part,
        relations: Mapping[str, Role] | None = None,
        words: Mapping[str, Words | str] | None = None,
        traits: Iterable[str] = (),
        cost_unit: str = "",
        enclosed: str = "",
    ) -> Self:
        """A domain from its parts, in their order.

        Raises:
            InvalidConfiguration: two parts of one sort have the same name, or the domain is wrong.
        """
        groups: dict[type, dict[str, Any]] = {sort: {} for sort in (Kind, StateVariable, Operator, Derived, Law)}
        for part in parts:
            group = next(group for sort, group in groups.items() if isinstance(part, sort))
            key = part.predicate if isinstance(part, Derived) else part.name
            if group.setdefault(key, part) is not part:
                raise InvalidConfiguration(
                    f"expected different names in the domain {name!r}, found {key!r} twice; rename one"
                )
        kinds, variables, operators, derived, laws = groups.values()
        said = {str(key): Words(text) if isinstance(text, str) else text for key, text in (words or {}).items()}
        return cls(
            name, kinds, variables, relations or {}, operators, derived, tuple(laws.values()), said, frozenset(traits),
            cost_unit, enclosed,
        )  # fmt: skip

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "compiled": {}}  # functions that are compiled at run time cannot be pickled

    def relation(self, role: Role) -> str | None:
        """The first relation with a role; None if there is none."""
        return next((name for name, own in self.relations.items() if own is role), None)

    @property
    def predicates(self) -> tuple[str, ...]:
        """All predicates."""
        return (*self.variables, *self.relations, *self.derived)

    @property
    def recursive(self) -> tuple[str, ...]:
        """The derived predicates that refer to themselves, directly or through others."""
        return tuple(name for name, used in _uses(self.derived).items() if name in used)

    @property
    def circles(self) -> dict[str, str]:
        """Derived predicate that refers to itself -> one name for all that refer to one another."""
        uses = _uses(self.derived)
        return {
            name: min(other for other in used if name in uses.get(other, ()))
            for name, used in uses.items()
            if name in used
        }

    def text(self, fact: Fact | StateFact, holds: bool = True) -> str:
        """A fact, or a trait of an object, as a clause: `the mug is filled with wine`, `the fridge is not open`.

        Args:
            fact: `not` before the predicate denies it, and a variable stands for any object.
            holds: False for the negation.
        """
        predicate, *terms = (fact.predicate, *fact.arguments) if isinstance(fact, Fact) else fact
        if predicate == "not":
            return self.text(tuple(terms), not holds)
        variable = self.variables.get(predicate)
        if variable is not None and len(terms) == len(variable.values) == 2 and terms[1] in variable.values:
            return self.text((predicate, terms[0]), holds is (terms[1] != variable.values[0]))
        template, some = self._template(predicate, terms), "something" if holds else "anything"
        if terms and terms[0].startswith("?") and not holds:
            terms[0], holds = "nothing", True
        return clause(template, *(some if term.startswith("?") else term for term in terms), holds=holds)

    def _traits_named(self, name: str) -> frozenset[str]:
        """The traits of the kind that a name ends with; none if it names no kind."""
        nouns = [noun for noun in self.kinds if f" {name}".endswith(f" {noun}")]
        return self.kinds[max(nouns, key=len)].traits if nouns else frozenset()

    def _template(self, predicate: str, terms: Sequence[str]) -> str:
        """How to say a predicate of terms: by its words, its role, or its name."""
        count = len(terms)
        if words := self.words.get(predicate):
            traits = self._traits_named(terms[-1]) if words.if_last else frozenset[str]()
            return next((text for trait, text in words.if_last.items() if trait in traits), words.imperative)
        if template := _BY_ROLE.get(self.relations.get(predicate, Role.PLAIN)):
            return template
        plain = predicate.replace("_", " ").replace("-", " ").replace("{", "{{").replace("}", "}}")
        if predicate in self.variables and count == 2:
            return f"the {plain} of {{0}} is {{1!s}}"
        if not count:
            return plain if " " in predicate else f"{plain} is true"
        return " ".join((f"{{0}} {plain}", *(f"{{{i}}}" for i in range(1, count))))


def _uses(derived: Mapping[str, Derived]) -> dict[str, set[str]]:
    """Derived predicate -> the predicates that it follows from, directly or through others."""
    uses = {name: {fact[0] for fact in facts_of(rule.definition)} for name, rule in derived.items()}
    for middle in uses:  # transitive closure (Warshall)
        for found in uses.values():
            if middle in found:
                found |= uses[middle]
    return uses


class _Check:
    """The check of a domain.

    Attributes:
        arities: predicate -> number of its terms, as far as it is known.

    Raises:
        InvalidConfiguration: the domain is wrong.
    """

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._traits = {*domain.kinds, *domain.traits, *(t for kind in domain.kinds.values() for t in kind.traits)}
        self.arities = {name: 1 if len(each.values) == 2 else 2 for name, each in domain.variables.items()}
        self.arities |= {name: len(rule.variables) for name, rule in domain.derived.items()}
        if twice := [name for name, count in Counter(domain.predicates).items() if count > 1]:
            raise self._wrong("one declaration of each predicate", f"{twice[0]!r} twice", "rename one")
        for name, variable in domain.variables.items():
            if len(variable.values) < 2 or len(set(variable.values)) < len(variable.values):
                raise self._wrong(
                    f"two different values at least of {name!r}", f"{variable.values}", "the normal one first"
                )
            for trait in (variable.trait, variable.passes):
                self._trait(trait, f"the state variable {name!r}")
        for rule in domain.derived.values():
            where = f"the derived predicate {rule.predicate!r}"
            self._parameters([Parameter(each) for each in rule.variables], where)
            self._formula(rule.definition, rule.variables, where)
        for operator in domain.operators.values():
            self._operator(operator)
        for law in domain.laws:
            self._effect(law.effect, (), f"the law {law.name!r}")
        self._circles()
        for predicate, words in domain.words.items():
            numbers = range(self.arities.get(predicate, 10))
            self._words(words, [str(number) for number in numbers], f"the words for {predicate!r}")
        for name, role in domain.relations.items():
            most = {Role.HELD: (1, 2), Role.LOCATION: (1, 2), Role.COVERS: (2,), Role.BELIEVED: (2,)}.get(role)
            if most is not None and self.arities.setdefault(name, most[0] if role is Role.HELD else 2) not in most:
                raise self._wrong(
                    f"{' or '.join(map(str, most))} terms of the relation {name!r} with the role {role.value!r}",
                    str(self.arities[name]),
                    "use Role.PLAIN for other relations",
                )

    def _wrong(self, expected: str, found: str, fix: str) -> InvalidConfiguration:
        return InvalidConfiguration(f"domain {self._domain.name!r}: expected {expected}, found {found}; {fix}")

    def _operator(self, operator: Operator) -> None:
        where = f"the operator {operator.name!r}"
        if not re.fullmatch(r"[\w-]+", operator.name):
            raise self._wrong("a name of letters, digits, _ and - for an operator", repr(operator.name), "rename it")
        if not 0 < operator.cost < float("inf") and not (operator.cost == 0 and operator.prices):
            raise self._wrong(f"a positive cost of {where}", str(operator.cost), "an action is never free")
        self._parameters(operator.parameters, where)
        variables = [each.variable for each in operator.parameters]
        for need in operator.preconditions:
            self._formula(need, variables, where)
        for effect in operator.effects:
            self._effect(effect, variables, where)
        self._words(
            operator.words, [each.removeprefix("?") for each in variables], f"the words of {where}", logged=True
        )
        if operator.preconditions or operator.effects:
            used = repr((operator.preconditions, operator.effects))
            for each in operator.parameters:
                if not each.trait and repr(each.variable) not in used:
                    raise self._wrong(f"a use of the parameter {each.variable!r} of {where}", "none", "leave it out")

    def _parameters(self, parameters: Sequence[Parameter], where: str) -> None:
        variables = [each.variable for each in parameters]
        for each in parameters:
            if not each.variable.startswith("?"):
                raise self._wrong(f"a variable of {where}", repr(each.variable), f"begin it with ?: '?{each.variable}'")
            if variables.count(each.variable) > 1:
                raise self._wrong(f"different variables of {where}", f"{each.variable!r} twice", "rename one")
            self._trait(each.trait, where)
            self._trait(each.usual, where)

    def _effect(self, effect: Effect, variables: Sequence[str], where: str) -> None:
        self._parameters(effect.for_each, where)
        inner = [*variables, *(each.variable for each in effect.for_each)]
        self._formula(effect.when, inner, where)
        for fact in (*effect.adds, *effect.deletes):
            role = "derived" if fact[0] in self._domain.derived else self._domain.relations.get(fact[0])
            if role in ("derived", Role.STATIC):
                raise self._wrong(
                    f"{where} to change facts of the state", f"{fact}, which is {role}", "it cannot change it"
                )
            self._fact(fact, [*inner, "*"] if fact in effect.deletes else inner, where)

    def _formula(self, formula: Formula, variables: Sequence[str], where: str) -> None:
        """Check a formula with free variables."""
        match formula:
            case Atom(predicate, terms):
                self._fact((predicate, *terms), variables, where)
            case Not(part, _):
                self._formula(part, variables, where)
            case And(parts) | Or(parts):
                for part in parts:
                    self._formula(part, variables, where)
            case Exists(variable, part, trait) | ForAll(variable, part, trait):
                self._parameters([Parameter(variable, trait)], where)
                self._formula(part, [*variables, variable], where)
            case Has(term, trait):
                self._term(term, variables, where)
                self._trait(trait, where)
            case Same(one, other):
                self._term(one, variables, where)
                self._term(other, variables, where)
            case _:
                raise self._wrong(f"a formula in {where}", repr(formula), "write fact('full', '?can') or absent(...)")

    def _fact(self, fact: StateFact, variables: Sequence[str], where: str) -> None:
        predicate, *terms = fact
        domain = self._domain
        if predicate not in domain.predicates:
            of = next((name for name, each in domain.variables.items() if predicate in each.values), None)
            fix = "declare it as a StateVariable, in relations= or as Derived."
            if of is not None and len(domain.variables[of].values) == 2:
                fix = f"write {'absent' if predicate == domain.variables[of].values[0] else 'fact'}({of!r}, ...)."
            raise self._wrong(
                f"a predicate in {where}",
                f"{predicate!r} in {fact}",
                f"{fix}{did_you_mean(predicate, domain.predicates)}",
            )
        if self.arities.setdefault(predicate, len(terms)) != len(terms):
            count = self.arities[predicate]
            raise self._wrong(f"{count} terms of {predicate!r} in {where}", str(fact), "as wherever else it is used")
        for term in terms:
            self._term(term, variables, where)
        values = domain.variables[predicate].values if predicate in domain.variables else ()
        if len(values) > 2 and not terms[1].startswith("?") and terms[1] not in (*values, "*"):
            raise self._wrong(
                f"a value of {predicate!r} in {where}", repr(terms[1]), f"declare it.{did_you_mean(terms[1], values)}"
            )

    def _term(self, term: str, variables: Sequence[str], where: str) -> None:
        if (term.startswith("?") or term == "*") and term not in variables:
            raise self._wrong(f"a variable of {where}", repr(term), f"declare it.{did_you_mean(term, variables)}")

    def _trait(self, trait: str, where: str) -> None:
        if trait and self._traits and trait not in self._traits:
            raise self._wrong(
                f"a kind, or a trait of one, in {where}", repr(str(trait)),
                f"declare it as a Kind, or with traits=.{did_you_mean(trait, self._traits)}",
            )  # fmt: skip

    def _words(self, words: Words, known: Sequence[str], where: str, logged: bool = False) -> None:
        numbers = [str(number) for number in range(len(known))] if logged else []
        for name in sorted(words.placeholders - {*known, *numbers}):
            raise self._wrong(f"the name of an argument in {where}", f"{{{name}}}", did_you_mean(name, known).strip())

    def _circles(self) -> None:
        """Refuse derived predicates that depend on their own absence."""
        derived = self._domain.derived
        uses = _uses(derived)
        for name, rule in derived.items():
            for part in parts_of(rule.definition):
                for used in facts_of(part.part) if isinstance(part, Not) else ():
                    if used[0] == name or name in uses.get(used[0], ()):
                        raise self._wrong(
                            f"no circle below a Not in the derived predicate {name!r}",
                            f"{used[0]!r}, which depends on it",
                            "a predicate cannot follow from its own absence",
                        )

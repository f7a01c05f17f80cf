"""What domains are made of: object kinds, state variables, roles of relations, operators, laws and words, all as data.

Facts are tuples of strings, a predicate and objects: `("at", "mug", "sink")`. A state is the set of facts
that hold; what is not in it does not. Formulas and effects have variables, which begin with a question mark:

    put_in = Operator(
        "put_in",
        (Parameter("?thing"), Parameter("?place")),
        preconditions=(fact("holding", "?thing"), fact("accessible", "?place")),
        effects=(Effect(adds=(("at", "?thing", "?place"),), deletes=(("holding", "?thing"),)),),
    )

`nsrecover.domains.domain.Domain` puts them together, and `nsrecover.domains.instance.Instance` evaluates a domain over
the objects of one scene.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from string import Formatter

from nsrecover.core.facts import StateFact
from nsrecover.errors import InvalidConfiguration
from nsrecover.util.python310 import StrEnum

State = frozenset[StateFact]
"""All facts that hold."""

Binding = Mapping[str, str]
"""Variable -> object."""


@dataclass(frozen=True)
class Atom:
    """A fact that has to hold; of the state, or derived from it."""

    predicate: str
    terms: tuple[str, ...] = ()


@dataclass(frozen=True)
class Not:
    """A formula that must not hold.

    Attributes:
        part: the formula.
        code: key of `Domain.words` for the message if the part holds; the predicate of the part if empty.
    """

    part: Formula
    code: str = ""


@dataclass(frozen=True)
class And:
    """All parts hold; true without any."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True)
class Or:
    """One part holds; false without any."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True)
class Exists:
    """A formula holds for at least one object with a trait (any object if the trait is empty)."""

    variable: str
    part: Formula
    trait: str = ""


@dataclass(frozen=True)
class ForAll:
    """A formula holds for every object with a trait (every object if the trait is empty)."""

    variable: str
    part: Formula
    trait: str = ""


@dataclass(frozen=True)
class Has:
    """An object has a trait; never changes."""

    term: str
    trait: str


@dataclass(frozen=True)
class Same:
    """Two terms are the same object; never changes."""

    one: str
    other: str


Formula = Atom | Not | And | Or | Exists | ForAll | Has | Same


def fact(predicate: str, *terms: str) -> Atom:
    """A fact that has to hold."""
    return Atom(predicate, terms)


def absent(predicate: str, *terms: str) -> Not:
    """A fact that must not hold."""
    return Not(Atom(predicate, terms))


def both(*parts: Formula) -> And:
    """The conjunction of formulas."""
    return And(parts)


def either(*parts: Formula) -> Or:
    """The disjunction of formulas."""
    return Or(parts)


def grounded(fact: StateFact, at: Binding) -> StateFact:
    """A fact with objects for its variables."""
    return (fact[0], *(at.get(term, term) for term in fact[1:]))


def bound(formula: Formula, at: Binding) -> Formula:
    """A formula with objects for its free variables."""
    match formula:
        case Atom(predicate, terms):
            return Atom(predicate, grounded((predicate, *terms), at)[1:])
        case Not(part, code):
            return Not(bound(part, at), code)
        case And(parts) | Or(parts):
            return type(formula)(tuple(bound(part, at) for part in parts))
        case Exists(variable, part, trait) | ForAll(variable, part, trait):
            return type(formula)(variable, bound(part, {k: v for k, v in at.items() if k != variable}), trait)
        case Has(term, trait):
            return Has(at.get(term, term), trait)
        case Same(one, other):
            return Same(at.get(one, one), at.get(other, other))


def parts_of(formula: Formula) -> Iterator[Formula]:
    """A formula and all its parts, outermost first."""
    yield formula
    match formula:
        case Not(part, _) | Exists(_, part, _) | ForAll(_, part, _):
            yield from parts_of(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from parts_of(part)


def facts_of(formula: Formula) -> list[StateFact]:
    """The facts, with variables, that a formula mentions, in order."""
    return [(part.predicate, *part.terms) for part in parts_of(formula) if isinstance(part, Atom)]


def condition_of(formula: Formula) -> StateFact:
    """The fact that stands for a formula in messages.

    It is the first one that the formula mentions; without one, the first trait of an object, as a predicate, or `same`
    of two objects. The fact of a `Not` begins with `not`; its predicate is the code of the `Not` if it has one.
    """
    if isinstance(formula, Not):
        predicate, *terms = condition_of(formula.part)
        return ("not", formula.code or predicate, *terms)
    facts = facts_of(formula)
    for part in () if facts else parts_of(formula):
        if isinstance(part, Has):
            return (str(part.trait), part.term)
        if isinstance(part, Same):
            return ("same", part.one, part.other)
    return facts[0] if facts else ("false",)


@dataclass(frozen=True)
class Kind:
    """A kind of object.

    Attributes:
        name: the noun.
        traits: what is true of every object of the kind.
    """

    name: str
    traits: frozenset[str] = frozenset()


class Role(StrEnum):
    """What a relation means to monitor, planner and explainer, which know no predicate by its name."""

    LOCATION = "location"
    """The first object is in or on the second."""
    HELD = "held"
    """The gripper holds the object."""
    COVERS = "covers"
    """The first object is in the way of the second."""
    BELIEVED = "believed"
    """The first object is believed to be in or on the second, and has not been seen there."""
    STATIC = "static"
    """Never changes, and belongs to the scene (`Instance.static`) and not to its states."""
    PLAIN = "plain"
    """Anything else, such as one tube being connected to another."""


INFORMATION, QUESTION = "information", "question"
"""Traits of texts that are passed on word by word."""

SAID = frozenset({INFORMATION, QUESTION, "count_posed"})
"""Traits of texts: their names may have more words than those of things."""


@dataclass(frozen=True)
class StateVariable:
    """A property of an object that can change.

    Attributes:
        name: the predicate; with two values it is a fact about the object alone, else the value is its second term.
        values: what it can be, the normal value first.
        trait: which objects have it; all if empty.
        visible: whether it can be seen at all.
        from_above: whether it shows only in views that look down steeply, like the contents of a vessel.
        drifts: whether it changes unprompted as time passes: a deviation then counts only if what follows needs it.
        dangers: values with which an object can hurt people who reach in.
        passes: trait of the objects of which it soon is normal again unprompted: a toaster pops.
    """

    name: str
    values: tuple[str, ...]
    trait: str = ""
    visible: bool = True
    from_above: bool = False
    drifts: bool = False
    dangers: tuple[str, ...] = ()
    passes: str = ""


@dataclass(frozen=True)
class Parameter:
    """An argument of an operator or law.

    Attributes:
        variable: its name.
        trait: what its object needs; any object will do if empty.
        usual: further trait of the objects that a planner chooses from: things are set down on surfaces, not in mugs.
    """

    variable: str
    trait: str = ""
    usual: str = ""


@dataclass(frozen=True)
class Effect:
    """Facts that an action adds and deletes, for every binding of `for_each` under which `when` held before.

    A fact that is both deleted and added holds afterwards. A term `*` in a deleted fact stands for any object.
    """

    adds: tuple[StateFact, ...] = ()
    deletes: tuple[StateFact, ...] = ()
    when: Formula = And(())
    for_each: tuple[Parameter, ...] = ()


@dataclass(frozen=True)
class Words:
    """Templates of English, with parameters (without their question mark) in braces; {0}, {1} for terms of a predicate.

    Names get their articles; `{name!s}` is a name without one.

    Attributes:
        imperative: an action as an instruction; of a predicate, that it holds: `{0} is wet`.
        past: an action that was done.
        unkept: an action whose promise does not hold.
        logged: name and instruction of the action in logs in REFLECT's format.
        if_last: of a predicate, trait -> how to say that it holds if the kind of its last term has that trait.
        relation: regular expression for where the action puts its first argument, relative to the second if it has one.
    """

    imperative: str = ""
    past: str = ""
    unkept: str = ""
    logged: tuple[str, str] = ("", "")
    relation: str = ""
    if_last: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for text in self._texts:
            try:
                plain = all(
                    name is None or (re.fullmatch(r"[\w-]+", name) and not spec and conversion in (None, "s"))
                    for _, name, spec, conversion in Formatter().parse(text)
                )
            except ValueError:
                plain = False
            if not plain:
                raise InvalidConfiguration(
                    f"expected braces around the name of a parameter, or the number of a term, found {text!r}"
                )

    @property
    def placeholders(self) -> set[str]:
        """The names and numbers in braces."""
        return {name for text in self._texts for _, name, _, _ in Formatter().parse(text) if name is not None}

    @property
    def _texts(self) -> tuple[str, ...]:
        return (self.imperative, self.past, self.unkept, *self.logged, *self.if_last.values())


@dataclass(frozen=True)
class Price:
    """A part of the cost of an action that depends on its arguments, such as the length of a way.

    Attributes:
        name: what it is.
        terms: the variables that it depends on, or objects.
        values: objects -> cost, not negative; actions with others cannot be planned.
    """

    name: str
    terms: tuple[str, ...] = ()
    values: Mapping[tuple[str, ...], float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Operator:
    """A kind of action.

    Attributes:
        name: as plans write it.
        parameters: its arguments in order.
        preconditions: what has to hold before, in the order in which it is best achieved.
        effects: what it changes.
        cost: what it costs; positive, or 0 with prices.
        words: how to say it; without an instruction in words it is made of the names.
        reversible: False if what it does cannot be undone by other operators (slicing, cracking).
        prices: what it costs in addition, by its arguments.
        repeats: whether a planner may use one object for two parameters.
    """

    name: str
    parameters: tuple[Parameter, ...]
    preconditions: tuple[Formula, ...] = ()
    effects: tuple[Effect, ...] = ()
    cost: float = 1.0
    words: Words = Words()
    reversible: bool = True
    prices: tuple[Price, ...] = ()
    repeats: bool = False

    def cost_of(self, arguments: Sequence[str]) -> float:
        """Cost of an action with some arguments; inf without a price."""
        if not self.prices:
            return self.cost
        at = dict(zip((each.variable for each in self.parameters), arguments, strict=True))
        keys = (tuple(at.get(term, term) for term in price.terms) for price in self.prices)
        return self.cost + sum(price.values.get(key, math.inf) for price, key in zip(self.prices, keys, strict=True))

    def __post_init__(self) -> None:
        if not self.words.imperative:
            first, *others = (f"{{{each.variable.removeprefix('?')}}}" for each in self.parameters or (Parameter(""),))
            more = f" ({', '.join(each.replace('}', '!s}') for each in others)})" if others else ""
            text = f"{spaced(self.name)} {first}{more}" if self.parameters else spaced(self.name)
            object.__setattr__(self, "words", replace(self.words, imperative=text))


@dataclass(frozen=True)
class Derived:
    """A predicate that follows from others; may refer to itself, but not below a `Not`."""

    predicate: str
    variables: tuple[str, ...]
    definition: Formula


@dataclass(frozen=True)
class Law:
    """A change of a state without an action: running water fills what is in the sink."""

    name: str
    effect: Effect


Part = Kind | StateVariable | Operator | Derived | Law
"""What a domain is made of, besides its relations."""


def spaced(name: str) -> str:
    """A name of a domain as words."""
    return name.replace("_", " ").replace("-", " ").strip()

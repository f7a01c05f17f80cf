"""What grounding chooses from: operators, objects, effects, and the ways to fill the parameters of an effect.

Parameters are filled as in a database join: first from facts that never change, the most selective ones first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains import base
from nsrecover.domains.base import Binding, Formula, State
from nsrecover.domains.instance import Instance

CHOICES = 4
"""Number of objects that are tried for an argument for which only some are usual and which nothing else restricts."""

Rows = Mapping[tuple[str, ...], Sequence[tuple[str, ...]]]
"""Objects for some terms -> the objects for others that go with them."""


@dataclass(frozen=True)
class Theory:
    """What can be in a scene and what can be done there.

    Attributes:
        operators: by name.
        objects: object -> its traits.
        static: facts that always hold, besides those of the state.
        derived: predicates that follow from facts, by name.
        laws: applied after every action.
        cost: of an operator with some arguments; inf: it cannot be used.
    """

    operators: Mapping[str, base.Operator]
    objects: Mapping[str, Collection[str]]
    static: State = frozenset()
    derived: Mapping[str, base.Derived] = field(default_factory=dict)
    laws: Sequence[base.Law] = ()
    cost: Callable[[base.Operator, tuple[str, ...]], float] = base.Operator.cost_of

    @cached_property
    def changing(self) -> frozenset[str]:
        """The predicates that are derived, or that an effect changes."""
        effects = [law.effect for law in self.laws]
        effects += [effect for operator in self.operators.values() for effect in operator.effects]
        return frozenset(self.derived) | {fact[0] for effect in effects for fact in (*effect.adds, *effect.deletes)}

    @classmethod
    def of(cls, instance: Instance) -> Theory:
        """The theory of a domain over the objects of a scene."""
        domain = instance.domain
        return cls(domain.operators, instance.objects, instance.static, domain.derived, domain.laws)


@dataclass(frozen=True)
class Choices:
    """What grounding may use.

    Attributes:
        objects: the objects to plan with; all if None.
        forbidden: actions that may not be used.
        preferred: object -> rank; objects of low rank are chosen first, and only these where another choice is usual.
    """

    objects: Collection[str] | None = None
    forbidden: Collection[Action] = frozenset()
    preferred: Mapping[str, int] = field(default_factory=dict)


class Achiever(NamedTuple):
    """An effect of an operator, or of a law (None): a changed fact, all its parameters, and the conditions on them."""

    operator: base.Operator | None
    effect: base.Effect
    pattern: StateFact
    parameters: tuple[base.Parameter, ...]
    conditions: tuple[Formula, ...]

    @property
    def plain(self) -> bool:
        """Whether every action of an operator whose parameters may be any object has it, whatever the state is."""
        own = self.operator is not None and not any(each.usual for each in self.parameters)
        return own and not self.effect.for_each and self.effect.when == base.And(())


class _Fill(NamedTuple):
    """Fills some variables: with facts that agree with the known terms, or with objects; and then tests conditions."""

    variables: tuple[str, ...]
    known: tuple[str, ...]
    rows: Rows
    tests: tuple[Formula, ...]


class Parameters:
    """The ways to fill the parameters of effects.

    Args:
        theory: what can be done.
        start: the facts at the beginning, static ones included.
        choices: what may be used.
        impossible: tells of a condition and objects for its variables whether it never holds.
        check: called for every object that is tried.

    Attributes:
        having: trait -> the objects that have it, preferred ones first; all with the empty trait.
    """

    def __init__(
        self,
        theory: Theory,
        start: State,
        choices: Choices,
        impossible: Callable[[Formula, Binding], bool],
        check: Callable[[], None],
    ) -> None:
        self._theory, self._choices, self._impossible, self._check = theory, choices, impossible, check
        rank, usable = choices.preferred, choices.objects
        ordered = [name for name in theory.objects if usable is None or name in usable]
        ordered.sort(key=lambda name: rank.get(name, len(rank)))
        self._usable = frozenset(ordered)
        self.having: dict[str, list[str]] = {"": ordered}
        for name in ordered:
            for trait in theory.objects[name]:
                self.having.setdefault(trait, []).append(name)
        self._lasting = defaultdict[str, list[StateFact]](list)
        for fact in sorted(start):
            if fact[0] not in theory.changing:
                self._lasting[fact[0]].append(fact)
        self._fills: dict[tuple[int, frozenset[str]], tuple[tuple[Formula, ...], list[_Fill]]] = {}

    def fits(self, parameter: base.Parameter, name: str) -> bool:
        """Whether an object can stand for a parameter."""
        traits = self._theory.objects.get(name)
        if traits is None or name not in self._usable or (parameter.trait and parameter.trait not in traits):
            return False
        return not parameter.usual or parameter.usual in traits or name in self._choices.preferred

    def bindings(self, effect: Achiever, at: dict[str, str]) -> Iterator[dict[str, str]]:
        """Every way to fill the parameters of an effect some of which are known."""
        if not all(self.fits(each, at[each.variable]) for each in effect.parameters if each.variable in at):
            return
        key = id(effect), frozenset(at)
        if key not in self._fills:
            self._fills[key] = self._planned(effect, at)
        tests, fills = self._fills[key]
        if any(self._impossible(test, at) for test in tests):
            return
        yield from self._filled(fills, at) if fills else (at,)

    def _filled(self, fills: Sequence[_Fill], at: dict[str, str]) -> Iterator[dict[str, str]]:
        variables, known, rows, tests = fills[0]
        for row in rows.get(tuple([at.get(term, term) for term in known]), ()):
            self._check()
            more = {**at, **dict(zip(variables, row, strict=True))}
            if any(self._impossible(test, more) for test in tests):
                continue
            if len(fills) > 1:
                yield from self._filled(fills[1:], more)
            else:
                yield more

    def _planned(self, effect: Achiever, bound: Collection[str]) -> tuple[tuple[Formula, ...], list[_Fill]]:
        """Conditions on the known parameters, and the order in which the others are filled: fewest ways first."""
        parameters = {each.variable: each for each in effect.parameters}
        known, conditions, fills = set(bound), list(effect.conditions), list[_Fill]()

        def decided() -> tuple[Formula, ...]:
            now = [each for each in conditions if _free(each) <= known]
            conditions[:] = [each for each in conditions if each not in now]
            return tuple(now)

        first = decided()
        while left := [variable for variable in parameters if variable not in known]:
            name = min(left, key=lambda each: len(self._objects(parameters[each])))
            names = self._objects(parameters[name])
            best: tuple[tuple[str, ...], tuple[str, ...], Rows] = (name,), (), {(): [(each,) for each in names]}
            least = float(len(names))
            for each in conditions:
                if isinstance(each, base.Atom):
                    fill = self._rows(each, known, parameters)
                    ways = sum(map(len, fill[2].values())) / max(1, len(fill[2]))
                    if ways <= least:
                        best, least = fill, ways
            known.update(best[0])
            fills.append(_Fill(*best, decided()))
        return first, fills

    def _objects(self, parameter: base.Parameter) -> list[str]:
        """The objects for a parameter that nothing else restricts."""
        names = self.having.get(parameter.trait, [])
        if not parameter.usual:
            return names
        return [name for name in names if parameter.usual in self._theory.objects[name]][:CHOICES]

    def _rows(
        self, atom: base.Atom, known: Collection[str], parameters: Mapping[str, base.Parameter]
    ) -> tuple[tuple[str, ...], tuple[str, ...], Rows]:
        """The unknown variables of an atom, its known terms, and the objects for the former by those for the latter."""
        unknown = tuple(dict.fromkeys(term for term in atom.terms if term in parameters and term not in known))
        given = [place for place, term in enumerate(atom.terms, 1) if term not in unknown]
        rows: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
        for fact in self._lasting[atom.predicate]:
            at = unified((atom.predicate, *(t if t in unknown else "*" for t in atom.terms)), fact)
            if at is not None and all(self.fits(parameters[v], name) for v, name in at.items()):
                rows.setdefault(tuple(fact[place] for place in given), []).append(tuple(at[v] for v in unknown))
        return unknown, tuple(atom.terms[place - 1] for place in given), rows


def achievers(theory: Theory) -> dict[tuple[str, bool], list[Achiever]]:
    """Predicate, and whether it becomes true or false -> the effects of operators and laws on it."""
    found: dict[tuple[str, bool], list[Achiever]] = {}
    changing = theory.changing
    sources: list[tuple[base.Operator | None, base.Effect]] = [(None, law.effect) for law in theory.laws]
    sources += [(each, effect) for each in theory.operators.values() for effect in each.effects]
    for operator, effect in sources:
        own, needs = (operator.parameters, operator.preconditions) if operator else ((), ())
        parts = (part for formula in (*needs, effect.when) for part in conjuncts(formula))
        conditions = tuple(part for part in parts if _lasts(part, changing))
        for positive, patterns in ((True, effect.adds), (False, effect.deletes)):
            for pattern in patterns:
                made = Achiever(operator, effect, pattern, (*own, *effect.for_each), conditions)
                found.setdefault((pattern[0], positive), []).append(made)
    return found


def _lasts(formula: Formula, changing: Collection[str]) -> bool:
    """Whether a formula is a literal that never changes."""
    part = formula.part if isinstance(formula, base.Not) else formula
    return isinstance(part, base.Has | base.Same) or (isinstance(part, base.Atom) and part.predicate not in changing)


def conjuncts(formula: Formula) -> Iterator[Formula]:
    """The parts of a conjunction."""
    if isinstance(formula, base.And):
        for part in formula.parts:
            yield from conjuncts(part)
    else:
        yield formula


def _free(formula: Formula) -> set[str]:
    """The free variables of a formula."""
    match formula:
        case base.Atom(_, terms):
            return {term for term in terms if term.startswith("?")}
        case base.Not(part, _):
            return _free(part)
        case base.And(parts) | base.Or(parts):
            return {term for part in parts for term in _free(part)}
        case base.Exists(variable, part, _) | base.ForAll(variable, part, _):
            return _free(part) - {variable}
        case base.Has(term, _):
            return {term} if term.startswith("?") else set()
        case base.Same(one, other):
            return {term for term in (one, other) if term.startswith("?")}


def unified(pattern: StateFact, fact: StateFact) -> dict[str, str] | None:
    """Objects for the variables of a pattern, so that it matches a fact; None if it does not."""
    if len(pattern) != len(fact):
        return None
    at: dict[str, str] = {}
    for term, name in zip(pattern[1:], fact[1:], strict=True):
        if term.startswith("?"):
            if at.setdefault(term, name) != name:
                return None
        elif term not in ("*", name):
            return None
    return at

"""The formulas and effects of a domain as Python functions, for fast evaluation.

Each derived predicate, precondition, effect and law is written once per domain as the source of a Python function. The
objects for a bound variable come from the facts that its formula needs, as in a database join. Where no fact limits
them, all objects are tried.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple, Protocol, cast

from nsrecover.core.facts import StateFact
from nsrecover.domains import base
from nsrecover.domains.base import Effect, Formula
from nsrecover.domains.domain import Domain

Test = Callable[..., bool]
"""Function of a view (`nsrecover.domains.instance.IndexedState`) and objects."""

Change = Callable[..., object]
"""Function of a view, a set to which it adds deleted facts, one to which it adds new facts, and objects."""


_PARTS = {"S": "state", "O": "objects", "I": "index", "T": "static", "J": "static_index"}
"""Name in the source of functions -> attribute of the view."""


class Fixpoint:
    """Facts that refer to one another, while they are worked out: what they rest on, those found true, and the new."""

    def __init__(self) -> None:
        self.rests_on: dict[StateFact, Callable[[], bool]] = {}
        self.true: set[StateFact] = set()
        self.waiting: list[StateFact] = []


class CompiledOperator(NamedTuple):
    """An operator with a function for each precondition and one for all effects."""

    operator: base.Operator
    preconditions: tuple[Test, ...]
    effects: Change


def compiled(domain: Domain) -> CompiledDomain:
    """The functions of a domain, which all its instances share."""
    if "functions" not in domain.compiled:
        domain.compiled["functions"] = CompiledDomain(domain)
    found = domain.compiled["functions"]
    assert isinstance(found, CompiledDomain)
    return found


class CompiledDomain:
    """Writes the functions of a domain when they are first needed, and keeps them.

    In their source `V` is the view, `S` its facts, `O` the objects with their traits, `I` the index of facts,
    and `T` and `J` facts and index of static relations.

    Attributes:
        derived: predicate -> function of a view and objects.
    """

    def __init__(self, domain: Domain) -> None:
        self._domain, self._circles = domain, domain.circles
        self._numbers = itertools.count()
        self._names = {predicate: f"derived_{number}" for number, predicate in enumerate(domain.derived)}
        self._space: dict[str, object] = {"none": frozenset(), "fixpoint": _fixpoint}
        for rule in domain.derived.values():
            self._define(self._names[rule.predicate], rule.predicate, rule.variables, rule.definition)
        self.derived = {each: cast(Test, self._space[name]) for each, name in self._names.items()}
        self.condition = lru_cache(4096)(self._condition)
        self._operators: dict[str, CompiledOperator] = {}

    def operator(self, operator: base.Operator) -> CompiledOperator:
        """The functions of an operator."""
        found = self._operators.get(operator.name)
        if found is None or found.operator is not operator:
            variables = [parameter.variable for parameter in operator.parameters]
            tests = tuple(self._condition(need, variables) for need in operator.preconditions)
            found = CompiledOperator(operator, tests, self._change(operator.effects, variables))
            self._operators[operator.name] = found
        return found

    @cached_property
    def laws(self) -> tuple[Change, ...]:
        """The functions of the laws, in order."""
        return tuple(self._change((law.effect,), ()) for law in self._domain.laws)

    # -- functions

    def _function(self, lines: Iterable[str]) -> Callable[..., bool]:
        """The function `made` that lines define."""
        made: dict[str, Callable[..., bool]] = {}
        exec(compile("\n".join(lines), f"<domain {self._domain.name}>", "exec"), self._space, made)
        return made["made"]

    def _define(self, name: str, predicate: str, variables: Sequence[str], definition: Formula) -> None:
        """A derived predicate: remembered per view; what refers to itself is the least fixpoint."""
        names, circle = _named(variables), self._circles.get(predicate)
        expression = self._expression(definition, names)
        worked_out = expression if circle is None else f"fixpoint(V, {circle!r}, key, lambda: {expression})"
        lines = [
            f"def made({', '.join(('V', *names.values()))}):",
            f"    key = {self._tuple((predicate, *variables), names)}",
            "    found = V.derived.get(key)",
            "    if found is None:",
            f"        {_parts(worked_out)}",
            f"        found = V.derived[key] = {worked_out}" if circle is None else f"        found = {worked_out}",
            "    return found",
        ]
        self._space[name] = self._function(lines)

    def _condition(self, formula: Formula, variables: Sequence[str]) -> Test:
        """A formula as a function of a view and objects for its free variables."""
        names = _named(variables)
        expression = self._expression(formula, names)
        head = f"def made({', '.join(('V', *names.values()))}):"
        return self._function([head, f"    {_parts(expression)}", f"    return {expression}"])

    def _change(self, effects: Sequence[Effect], variables: Sequence[str]) -> Change:
        """Effects of one action or law."""
        names = _named(variables)
        lines = list[str]()
        for effect in effects:
            inner, indent = dict(names), "    "
            for each in effect.for_each:
                source = self._objects(each, effect.when, inner)
                inner[each.variable] = self._new()
                lines.append(f"{indent}for {inner[each.variable]} in {source}:")
                indent += "    "
            lines.append(f"{indent}if {self._expression(effect.when, inner)}:")
            lines += [f"{indent}    new.add({self._tuple(fact, inner)})" for fact in effect.adds]
            for fact in effect.deletes:
                named = [f"fact[{i}] == {self._term(t, inner)}" for i, t in enumerate(fact[1:], 1) if t != "*"]
                rest = f"fact for fact in I.get(({fact[0]!r},), ()) if {' and '.join([*named, 'True'])}"
                gone = f"add({self._tuple(fact, inner)})" if "*" not in fact else f"update([{rest}])"
                lines.append(f"{indent}    gone.{gone}")
            lines.append(f"{indent}    pass")
        head = f"def made({', '.join(('V', 'gone', 'new', *names.values()))}):"
        return self._function([head, f"    {_parts(' '.join(lines))}", *lines])

    # -- expressions

    def _new(self) -> str:
        return f"y{next(self._numbers)}"

    def _static(self, predicate: str) -> bool:
        return self._domain.relations.get(predicate) is base.Role.STATIC

    def _term(self, term: str, names: Mapping[str, str]) -> str:
        return names[term] if term in names else repr(str(term))

    def _tuple(self, fact: Sequence[str], names: Mapping[str, str]) -> str:
        return f"({fact[0]!r}, {''.join(f'{self._term(term, names)}, ' for term in fact[1:])})"

    def _expression(self, formula: Formula, names: Mapping[str, str]) -> str:
        """A formula as a Python expression."""
        match formula:
            case base.Atom(predicate, terms):
                function = self._names.get(predicate)
                if function is None:
                    key = self._tuple((predicate, *terms), names)
                    return f"({key} in T or {key} in S)" if self._static(predicate) else f"{key} in S"
                return f"{function}({', '.join(('V', *(self._term(term, names) for term in terms)))})"
            case base.Not(part):
                return f"(not {self._expression(part, names)})"
            case base.And(parts):
                return f"({' and '.join([self._expression(part, names) for part in parts] or ['True'])})"
            case base.Or(parts):
                return f"({' or '.join([self._expression(part, names) for part in parts] or ['False'])})"
            case base.Exists(variable, part, trait) | base.ForAll(variable, part, trait):
                some = isinstance(formula, base.Exists)
                source = self._objects(base.Parameter(variable, trait), part if some else base.Not(part), names)
                name = self._new()
                inner = self._expression(part, {**names, variable: name})
                return f"{'any' if some else 'all'}({inner} for {name} in {source})"
            case base.Has(term, trait):
                return f"({str(trait)!r} in O.get({self._term(term, names)}, none))"
            case base.Same(one, other):
                return f"({self._term(one, names)} == {self._term(other, names)})"

    def _objects(self, parameter: base.Parameter, where: Formula, names: Mapping[str, str]) -> str:
        """The objects for a variable, as a Python expression: all for which a formula may hold, as far as is known."""
        outer = {variable: name for variable, name in names.items() if variable != parameter.variable}
        lists = self._sources(where, parameter.variable, outer, True, frozenset())
        if lists is None:
            return f"V.having({str(parameter.trait)!r})"
        fitting = f"{str(parameter.trait)!r} in O.get(name, none)" if parameter.trait else "name in O"
        return f"[name for name in ({', '.join(f'*{each}' for each in lists)},) if {fitting}]" if lists else "()"

    def _sources(
        self, formula: Formula, variable: str, names: Mapping[str, str], positive: bool, above: frozenset[str]
    ) -> list[str] | None:
        """Lists that together have every object for which a formula (or its negation) may hold; None if any may."""
        match formula:
            case base.Atom(predicate, terms):
                if not positive or variable not in terms:
                    return None
                place = terms.index(variable) + 1
                rule = self._domain.derived.get(predicate)
                if rule is None:
                    known = [(i, term) for i, term in enumerate(terms, 1) if term in names or not term.startswith("?")]
                    key = f"{predicate!r}, " + (f"{known[0][0]}, {self._term(known[0][1], names)}" if known else "")
                    indices = "IJ" if self._static(predicate) else "I"
                    return [f"[fact[{place}] for fact in {index}.get(({key}), ())]" for index in indices]
                if predicate in above:
                    return None
                inner = {
                    own: self._term(term, names)
                    for own, term in zip(rule.variables, terms, strict=True)
                    if term in names or not term.startswith("?")
                }
                own = rule.variables[place - 1]
                return self._sources(rule.definition, own, inner, True, above | {predicate})
            case base.Not(part):
                return self._sources(part, variable, names, not positive, above)
            case base.And(parts) | base.Or(parts):
                found = [self._sources(part, variable, names, positive, above) for part in parts]
                known_lists = [lists for lists in found if lists is not None]
                if isinstance(formula, base.And) is positive:
                    return min(known_lists, key=_breadth, default=None)
                together = dict.fromkeys(each for lists in known_lists for each in lists)
                return list(together) if len(known_lists) == len(found) else None
            case base.Exists(inner_variable, part, _) | base.ForAll(inner_variable, part, _):
                if isinstance(formula, base.Exists) is not positive or inner_variable == variable:
                    return None
                return self._sources(
                    part, variable, {v: n for v, n in names.items() if v != inner_variable}, positive, above
                )
        return None


class _Deriving(Protocol):
    """A view of a state: what is derived in it so far, and the fixpoints that are being worked out."""

    derived: dict[StateFact, bool]
    runs: dict[str, Fixpoint]


def _fixpoint(view: _Deriving, circle: str, key: StateFact, rests_on: Callable[[], bool]) -> bool:
    """Whether a derived fact is in the least fixpoint of the predicates that refer to one another.

    Only facts that it may rest on are looked at, each first when another one asks for it, and again until none changes.
    """
    run = view.runs.get(circle)
    if run is not None:
        if key not in run.rests_on:
            run.rests_on[key] = rests_on
            run.waiting.append(key)
        return key in run.true
    run = view.runs[circle] = Fixpoint()
    run.rests_on[key] = rests_on
    run.waiting.append(key)
    try:
        size = -1
        while key not in run.true and (run.waiting or len(run.true) > size):
            size = len(run.true)
            again = [] if run.waiting else [fact for fact in run.rests_on if fact not in run.true]
            while run.waiting or again:
                fact = run.waiting.pop() if run.waiting else again.pop()
                if run.rests_on[fact]():
                    run.true.add(fact)
    finally:
        del view.runs[circle]
    view.derived.update(dict.fromkeys(run.true, True) if key in run.true else {f: f in run.true for f in run.rests_on})
    return key in run.true


def _named(variables: Sequence[str]) -> dict[str, str]:
    """The names of a function's arguments for variables."""
    return {variable: f"x{number}" for number, variable in enumerate(variables)}


def _parts(source: str) -> str:
    """The statement that names the parts of the view which some source uses; an index is made when it is asked for."""
    used = [name for name in _PARTS if re.search(rf"\b{name}\b", source)]
    return "; ".join(f"{name} = V.{_PARTS[name]}" for name in used) or "pass"


def _breadth(lists: Sequence[str]) -> tuple[int, int]:
    """How many objects lists may have: those by predicate alone have most."""
    return sum(each.count(", 1, ") + each.count(", 2, ") == 0 for each in lists), len(lists)

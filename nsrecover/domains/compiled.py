"""Fast evaluation of a domain in states that are sets of facts: its formulas and effects become Python functions.

`Instance` interprets formulas and tries every object for a bound variable. Here each derived predicate, precondition,
effect and law is written once per domain as a Python function, in which the objects for a variable come from the facts
that the formula needs, as in a database join.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nsrecover.domains.base import (
    And,
    Atom,
    Binding,
    Domain,
    Effect,
    Exists,
    Fact,
    ForAll,
    Formula,
    Has,
    Instance,
    Not,
    Or,
    Parameter,
    Same,
    State,
    bound,
    parts_of,
)


class View:
    """A state of an instance with an index of its facts and what has been derived in it so far."""

    __slots__ = ("derived", "having", "index", "objects", "state")

    def __init__(self, state: State, instance: Instance) -> None:
        self.state = state | instance.static
        self.objects, self.having = instance.objects, instance.having
        self.derived: dict[Fact, bool] = {}
        self.index: dict[tuple[object, ...], list[Fact]] = {}
        for fact in self.state:
            self.index.setdefault(fact[:1], []).append(fact)
            for place in range(1, len(fact)):
                self.index.setdefault((fact[0], place, fact[place]), []).append(fact)


@dataclass(frozen=True)
class CompiledDomain:
    """The functions of a domain.

    Attributes:
        derived: predicate -> function of a view and objects.
        needs: operator -> a function of a view and arguments for each precondition.
        effects: operator -> function of a view, facts to delete, facts to add, and arguments.
        laws: functions of a view, facts to delete and facts to add.
    """

    derived: Mapping[str, Callable[..., bool]]
    needs: Mapping[str, tuple[Callable[..., bool], ...]]
    effects: Mapping[str, Callable[..., None]]
    laws: tuple[Callable[..., None], ...]


def compiled(domain: Domain) -> CompiledDomain:
    """The functions of a domain; make them once and share them between instances."""
    writer = _Writer(domain)
    needs: dict[str, list[str]] = {}
    for rule in domain.derived.values():
        writer.derived(rule.predicate, rule.variables, rule.definition)
    for operator in domain.operators.values():
        names = [parameter.variable for parameter in operator.parameters]
        needs[operator.name] = [writer.condition(need, names) for need in operator.preconditions]
    effects = {
        operator.name: writer.change(operator.effects, [parameter.variable for parameter in operator.parameters])
        for operator in domain.operators.values()
    }
    laws = [writer.change((law.effect,), []) for law in domain.laws]
    made: dict[str, Any] = {}
    exec(compile("\n".join(writer.lines), f"<domain {domain.name}>", "exec"), made)
    return CompiledDomain(
        {predicate: made[writer.functions[predicate]] for predicate in domain.derived},
        {name: tuple(made[function] for function in functions) for name, functions in needs.items()},
        {name: made[function] for name, function in effects.items()},
        tuple(made[law] for law in laws),
    )


@dataclass(frozen=True)
class CompiledInstance(Instance):
    """An instance whose states are frozen sets of facts, evaluated by compiled functions.

    Attributes:
        code: `compiled(domain)`.
    """

    code: CompiledDomain = field(default_factory=lambda: CompiledDomain({}, {}, {}, ()))
    _views: dict[State, View] = field(default_factory=dict, compare=False, repr=False)

    def view(self, state: State) -> View:
        """A state with what has been derived in it so far."""
        found = self._views.get(state)
        if found is None:
            if len(self._views) >= 5000:
                self._views.clear()
            found = self._views[state] = View(state, self)
        return found

    def holds(self, state: Container[Fact], formula: Formula, binding: Binding | None = None) -> bool:
        """Whether a formula holds in a state, with objects for its free variables."""
        if not isinstance(formula, Atom) or not isinstance(state, frozenset):
            return super().holds(state, formula, binding)
        at = binding or {}
        return self.atom(state, (formula.predicate, *(at.get(term, term) for term in formula.terms)))

    def atom(self, state: State, fact: Fact) -> bool:
        """Whether a fact holds in a state, or follows in it."""
        view, function = self.view(state), self.code.derived.get(fact[0])
        return fact in view.state if function is None else function(view, *fact[1:])

    def unmet(self, state: State, name: str, arguments: Sequence[str]) -> list[Formula]:
        """The preconditions of an action that do not hold, with objects for its variables."""
        operator, at = self.operator(name, arguments)
        view, tests = self.view(state), self.code.needs[name]
        missing = zip(operator.preconditions, tests, strict=True)
        return [bound(need, at) for need, test in missing if not test(view, *arguments)]

    def applicable(self, state: State, name: str, arguments: Sequence[str]) -> bool:
        """Whether all preconditions of an action hold."""
        view = self.view(state)
        return all(test(view, *arguments) for test in self.code.needs[name])

    def apply(self, state: State, name: str, arguments: Sequence[str]) -> State:
        """The state after an action, and after the laws have acted; preconditions are not asked."""
        self.operator(name, arguments)
        return self.settle(self._after(state, self.code.effects[name], arguments))

    def settle(self, state: State) -> State:
        """A state after every law has acted once, in order."""
        for law in self.code.laws:
            state = self._after(state, law, ())
        return state

    def _after(self, state: State, change: Callable[..., None], arguments: Sequence[str]) -> State:
        gone, new = set[Fact](), set[Fact]()
        change(self.view(state), gone, new, *arguments)
        return (state - gone) | new if not gone.isdisjoint(state) or not new <= state else state


class _Writer:
    """Writes Python source; `V` is the view, `S` its facts, `O` its objects, `I` its index."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.lines = ["none = frozenset()"]
        self.functions = {predicate: f"derived_{number}" for number, predicate in enumerate(domain.derived)}
        self._recursive = {predicate for predicate in domain.derived if predicate in self._used_by(predicate)}
        self._count = 0

    def derived(self, predicate: str, variables: Sequence[str], definition: Formula) -> None:
        """A derived predicate: remembered per view; a fact does not support itself (least fixpoint)."""
        names = {variable: f"x{number}" for number, variable in enumerate(variables)}
        listed = "".join(f", {name}" for name in names.values())
        above = ", above=()" if predicate in self._recursive else ""
        key = f"({predicate!r}{listed},)" if not listed else f"({predicate!r}{listed})"
        known = "(False if key in above else None) if above else V.derived.get(key)" if above else "V.derived.get(key)"
        self.lines += [
            f"def {self.functions[predicate]}(V{listed}{above}):",
            f"    key = {key}",
            f"    found = {known}",
            "    if found is None:",
            "        S, O, I = V.state, V.objects, V.index",
            f"        found = {self._expression(definition, names, predicate in self._recursive)}",
            f"        {'if not above: ' if above else ''}V.derived[key] = found",
            "    return found",
        ]

    def condition(self, formula: Formula, variables: Sequence[str]) -> str:
        """A formula over variables."""
        name, names = self._new("holds"), {variable: f"x{number}" for number, variable in enumerate(variables)}
        self.lines += [
            f"def {name}(V{''.join(f', {each}' for each in names.values())}):",
            "    S, O, I = V.state, V.objects, V.index",
            f"    return {self._expression(formula, names, False)}",
        ]
        return name

    def change(self, effects: Sequence[Effect], variables: Sequence[str]) -> str:
        """Effects of one action or law."""
        name, names = self._new("change"), {variable: f"x{number}" for number, variable in enumerate(variables)}
        self.lines += [
            f"def {name}(V, gone, new{''.join(f', {each}' for each in names.values())}):",
            "    S, O, I = V.state, V.objects, V.index",
        ]
        for effect in effects:
            inner, indent = dict(names), "    "
            for each in effect.for_each:
                source = self._objects(each, effect.when, inner)
                inner[each.variable] = self._new("y")
                self.lines.append(f"{indent}for {inner[each.variable]} in {source}:")
                indent += "    "
            self.lines.append(f"{indent}if {self._expression(effect.when, inner, False)}:")
            for fact in effect.adds:
                self.lines.append(f"{indent}    new.add({self._tuple(fact, inner)})")
            for fact in effect.deletes:
                named = [f"fact[{i}] == {self._term(t, inner)}" for i, t in enumerate(fact[1:], 1) if t != "*"]
                rest = f"fact for fact in I.get(({fact[0]!r},), ()) if {' and '.join([*named, 'True'])}"
                gone = f"add({self._tuple(fact, inner)})" if "*" not in fact else f"update([{rest}])"
                self.lines.append(f"{indent}    gone.{gone}")
            self.lines.append(f"{indent}    pass")
        return name

    def _new(self, stem: str) -> str:
        self._count += 1
        return f"{stem}_{self._count}"

    def _used_by(self, predicate: str) -> set[str]:
        """The derived predicates that a derived predicate is made of, directly or not."""
        found, waiting = set[str](), [predicate]
        while waiting:
            fresh = {p for p in _predicates(self.domain.derived[waiting.pop()].definition) if p in self.domain.derived}
            waiting += fresh - found
            found |= fresh
        return found

    def _term(self, term: str, names: Mapping[str, str]) -> str:
        return names[term] if term in names else repr(str(term))

    def _tuple(self, fact: Sequence[str], names: Mapping[str, str]) -> str:
        return f"({fact[0]!r}, {''.join(f'{self._term(term, names)}, ' for term in fact[1:])})"

    def _expression(self, formula: Formula, names: Mapping[str, str], nested: bool) -> str:
        """A formula as a Python expression; `nested` in the definition of a recursive predicate."""
        match formula:
            case Atom(predicate, terms):
                function = self.functions.get(predicate)
                if function is None:
                    return f"{self._tuple((predicate, *terms), names)} in S"
                above = ", above=(*above, key)" if nested and predicate in self._recursive else ""
                return f"{function}(V{''.join(f', {self._term(term, names)}' for term in terms)}{above})"
            case Not(part):
                return f"(not {self._expression(part, names, nested)})"
            case And(parts):
                return f"({' and '.join([self._expression(part, names, nested) for part in parts] or ['True'])})"
            case Or(parts):
                return f"({' or '.join([self._expression(part, names, nested) for part in parts] or ['False'])})"
            case Exists(variable, part, trait) | ForAll(variable, part, trait):
                some = isinstance(formula, Exists)
                source = self._objects(Parameter(variable, trait), part if some else Not(part), names)
                name = self._new("y")
                inner = self._expression(part, {**names, variable: name}, nested)
                return f"{'any' if some else 'all'}({inner} for {name} in {source})"
            case Has(term, trait):
                return f"({str(trait)!r} in O.get({self._term(term, names)}, none))"
            case Same(one, other):
                return f"({self._term(one, names)} == {self._term(other, names)})"

    def _objects(self, parameter: Parameter, where: Formula, names: Mapping[str, str]) -> str:
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
            case Atom(predicate, terms):
                if not positive or variable not in terms:
                    return None
                place = terms.index(variable) + 1
                rule = self.domain.derived.get(predicate)
                if rule is None:
                    known = [(i, term) for i, term in enumerate(terms, 1) if term in names or not term.startswith("?")]
                    key = f"{predicate!r}, " + (f"{known[0][0]}, {self._term(known[0][1], names)}" if known else "")
                    return [f"[fact[{place}] for fact in I.get(({key}), ())]"]
                if predicate in above:
                    return None
                inner = {
                    own: self._term(term, names)
                    for own, term in zip(rule.variables, terms, strict=True)
                    if term in names or not term.startswith("?")
                }
                own = rule.variables[place - 1]
                return self._sources(rule.definition, own, inner, True, above | {predicate})
            case Not(part):
                return self._sources(part, variable, names, not positive, above)
            case And(parts) | Or(parts):
                found = [self._sources(part, variable, names, positive, above) for part in parts]
                known_lists = [lists for lists in found if lists is not None]
                if isinstance(formula, And) is positive:
                    return min(known_lists, key=_breadth, default=None)
                together = dict.fromkeys(each for lists in known_lists for each in lists)
                return list(together) if len(known_lists) == len(found) else None
            case Exists(inner_variable, part, _) | ForAll(inner_variable, part, _):
                if isinstance(formula, Exists) is not positive or inner_variable == variable:
                    return None
                return self._sources(
                    part, variable, {v: n for v, n in names.items() if v != inner_variable}, positive, above
                )
        return None


def _breadth(lists: Sequence[str]) -> tuple[int, int]:
    """How many objects lists may have: those by predicate alone have most."""
    return sum(each.count(", 1, ") + each.count(", 2, ") == 0 for each in lists), len(lists)


def _predicates(formula: Formula) -> Iterator[str]:
    if isinstance(formula, Atom):
        yield formula.predicate
    for part in parts_of(formula):
        yield from _predicates(part)

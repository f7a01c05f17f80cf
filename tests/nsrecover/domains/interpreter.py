"""A slow interpreter of domains that follows the definitions literally: the reference for `Instance`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from nsrecover.core import Action, StateFact
from nsrecover.domains.base import (
    And,
    Atom,
    Effect,
    Exists,
    ForAll,
    Formula,
    Has,
    Not,
    Or,
    Parameter,
    Same,
    State,
    facts_of,
)
from nsrecover.domains.domain import Domain

At = Mapping[str, str]


class Interpreter:
    """One state of a domain over some objects."""

    def __init__(self, domain: Domain, objects: Mapping[str, frozenset[str]], static: State, state: State) -> None:
        self.domain, self.objects, self.static, self.state = domain, objects, static, state
        self.known = state | static
        self.closure: dict[str, set[StateFact]] = {}

    def holds(self, formula: Formula, at: At) -> bool:
        match formula:
            case Atom(predicate, terms):
                return self.true((predicate, *(at.get(term, term) for term in terms)))
            case Not(part):
                return not self.holds(part, at)
            case And(parts):
                return all(self.holds(part, at) for part in parts)
            case Or(parts):
                return any(self.holds(part, at) for part in parts)
            case Exists(variable, part, trait):
                return any(self.holds(part, inner) for inner in self.bindings([Parameter(variable, trait)], at))
            case ForAll(variable, part, trait):
                return all(self.holds(part, inner) for inner in self.bindings([Parameter(variable, trait)], at))
            case Has(term, trait):
                return trait in self.objects.get(at.get(term, term), ())
            case Same(one, other):
                return at.get(one, one) == at.get(other, other)

    def bindings(self, parameters: Iterable[Parameter], at: At) -> Iterator[dict[str, str]]:
        fitting = [[(p.variable, n) for n, own in self.objects.items() if p.trait in ("", *own)] for p in parameters]
        for chosen in product(*fitting):
            yield {**at, **dict(chosen)}

    def true(self, fact: StateFact) -> bool:
        rule = self.domain.derived.get(fact[0])
        if rule is None:
            return fact in self.known
        if fact[0] not in {used[0] for used in facts_of(rule.definition)}:
            return self.holds(rule.definition, dict(zip(rule.variables, fact[1:], strict=True)))
        if fact[0] not in self.closure:  # Kleene: from nothing, until nothing is added
            known = self.closure[fact[0]] = set()
            candidates = [(fact[0], *names) for names in product(self.objects, repeat=len(rule.variables))]
            while new := {
                each
                for each in candidates
                if each not in known and self.holds(rule.definition, dict(zip(rule.variables, each[1:], strict=True)))
            }:
                known |= new
        return fact in self.closure[fact[0]]

    def unmet(self, step: Action) -> list[int]:
        """Numbers of the preconditions that do not hold."""
        needs = self.domain.operators[step.operator].preconditions
        return [number for number, need in enumerate(needs) if not self.holds(need, self.binding(step))]

    def binding(self, step: Action) -> At:
        parameters = self.domain.operators[step.operator].parameters
        return dict(zip((p.variable for p in parameters), step.arguments, strict=True))

    def after(self, step: Action) -> State:
        """The state after an action and the laws."""
        here = self.changed(self.domain.operators[step.operator].effects, self.binding(step))
        for law in self.domain.laws:
            here = here.changed((law.effect,), {})
        return here.state

    def changed(self, effects: Iterable[Effect], at: At) -> Interpreter:
        gone, new = set[StateFact](), set[StateFact]()
        for effect in effects:
            for inner in self.bindings(effect.for_each, at):
                if self.holds(effect.when, inner):
                    new |= {tuple(inner.get(term, term) for term in fact) for fact in effect.adds}
                    for pattern in effect.deletes:
                        wanted = [inner.get(term, term) for term in pattern]
                        gone |= {
                            fact
                            for fact in self.state
                            if len(fact) == len(wanted)
                            and all(w in ("*", f) for w, f in zip(wanted, fact, strict=True))
                        }
        return Interpreter(self.domain, self.objects, self.static, (self.state - gone) | new)

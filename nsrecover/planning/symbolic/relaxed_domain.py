"""The delete relaxation of a domain over some objects, grounded backwards from a goal.

Only what can contribute to the goal is grounded: what achieves a literal, what that needs, and so on. Negative literals
and negated derived predicates are propositions of their own; derived predicates, conditional effects and laws are rules
that cost nothing. What is reachable here is a superset of what is reachable in the domain, except where containment
goes round in a circle; such literals of the start count as always true.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import product
from typing import cast

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains import base
from nsrecover.domains.base import Binding, Formula, State, grounded
from nsrecover.domains.instance import Instance

Literal = tuple[StateFact, bool]
"""A fact, of the state or derived, and whether it or its negation is meant."""

Ground = bool | tuple[str, object]
"""A formula without variables: true, false, `("is", literal)`, `("and", parts)` or `("or", parts)`."""

Source = tuple[base.Operator | None, base.Effect]
"""An effect of an operator, or of a law (None)."""

CHOICES = 4
"""Number of objects that are tried for an unrestricted argument."""

_CHECKED_EVERY = 500
"""Ways to fill the parameters of an operator between two questions whether the search is cancelled."""


class Cancelled(Exception):
    """The search was cancelled before it began."""


class RelaxedDomain:
    """Propositions, rules and actions of the relaxation.

    Args:
        instance: the domain over the objects of a scene.
        start: the state at the beginning.
        objects: the objects to plan with.
        goal: what has to hold in the end.
        forbidden: actions that may not be used.
        preferred: object -> rank; objects of low rank are chosen first, and only these where another choice is usual.
        cancelled: called now and then; if it returns true, `Cancelled` is raised.

    Attributes:
        propositions: what each proposition stands for -> its number.
        actions: the actions, in the order of `rules`.
        rules: (needs, achieves, destroys) by numbers of propositions; those of the actions come first.
        goal: numbers of the goal's propositions; None if the goal is never true.
    """

    def __init__(
        self,
        instance: Instance,
        start: State,
        objects: Collection[str],
        goal: Sequence[Formula],
        forbidden: Collection[Action],
        preferred: Mapping[str, int],
        cancelled: Callable[[], bool] | None = None,
    ) -> None:
        self._cancelled, self._tried = cancelled, 0
        self.instance, self._start, self._forbidden = instance, start, frozenset(forbidden)
        self._preferred, last = preferred, len(preferred)
        ordered = sorted((name for name in instance.objects if name in objects), key=lambda n: preferred.get(n, last))
        self._having = {"": ordered}
        for name in ordered:
            for trait in instance.objects[name]:
                self._having.setdefault(trait, []).append(name)
        self.propositions: dict[object, int] = {}
        self._waiting: list[object] = []
        self._atoms: dict[Literal, Ground] = {}
        self._inferred: list[tuple[list[int], int]] = []
        self._actions: dict[Action, tuple[list[int], set[int]] | None] = {}
        self._achievers = self._index()
        self.goal = self._needs(self._ground(base.And(tuple(goal)), {}, True))
        while self._waiting:
            self._explain(self._waiting.pop())
        self._finish()

    def holding(self, state: State) -> list[int]:
        """The propositions about facts of the state that hold in it."""
        found = set(self._absent)
        for fact in state:
            found.discard(self._negative.get(fact, -1))
            found.add(self._positive.get(fact, -1))
        found.discard(-1)
        return [*found, *self.always]

    def literals(self, derived: bool) -> Iterator[tuple[StateFact, bool, int]]:
        """The literals with derived or other predicates: fact, whether it is meant or its negation, proposition."""
        for key, number in self.propositions.items():
            if isinstance(key, tuple) and isinstance(key[1], bool):
                fact, positive = key
                if (fact[0] in self.instance.domain.derived) is derived:
                    yield fact, positive, number

    # -- grounding

    def _ground(self, formula: Formula, at: Binding, positive: bool) -> Ground:
        """A formula, or its negation, with objects for variables; parts that never change are evaluated."""
        match formula:
            case base.Atom(predicate, terms):
                return self._atom(grounded((predicate, *terms), at), positive)
            case base.Not(part):
                return self._ground(part, at, not positive)
            case base.And(parts) | base.Or(parts):
                grounds = (self._ground(part, at, positive) for part in parts)
                return _joined(grounds, isinstance(formula, base.And) is positive)
            case base.Exists(variable, part, trait) | base.ForAll(variable, part, trait):
                names_of = self._having.get(trait, ())
                grounds = (self._ground(part, {**at, variable: name}, positive) for name in names_of)
                return _joined(grounds, isinstance(formula, base.ForAll) is positive)
            case base.Has(term, trait):
                return (trait in self.instance.objects.get(at.get(term, term), ())) is positive
            case base.Same(one, other):
                return (at.get(one, one) == at.get(other, other)) is positive

    def _atom(self, fact: StateFact, positive: bool) -> Ground:
        known = self._atoms.get((fact, positive))
        if known is not None:
            return known
        rule = self.instance.domain.derived.get(fact[0])
        if rule is None:
            possible = fact in self._start or self._can_become(fact, True)
            always = fact in self.instance.static or (fact in self._start and not self._can_become(fact, False))
            ground: Ground = positive if always else ("is", (fact, positive)) if possible else not positive
        else:
            self._atoms[fact, positive] = ("is", (fact, positive))  # for definitions that refer to themselves
            ground = self._definition(fact, positive)
            if isinstance(ground, tuple) and ground[0] != "is":
                ground = ("is", (fact, positive))
        self._atoms[fact, positive] = ground
        return ground

    def _definition(self, fact: StateFact, positive: bool) -> Ground:
        """The definition of a derived fact, or of its negation."""
        rule = self.instance.domain.derived[fact[0]]
        return self._ground(rule.definition, dict(zip(rule.variables, fact[1:], strict=True)), positive)

    def _can_become(self, fact: StateFact, positive: bool) -> bool:
        """Whether an operator or law may make a fact true, or false."""
        return any(
            all(self._fits(each, at[each.variable]) for each in parameters if each.variable in at)
            for _, _, parameters, at in self._achieving(fact, positive)
        )

    def _achieving(
        self, fact: StateFact, positive: bool
    ) -> Iterator[tuple[base.Operator | None, base.Effect, Sequence[base.Parameter], Binding]]:
        """The effects that make a fact true, or false, with all parameters and the objects for some of them."""
        for operator, effect, pattern in self._achievers.get((fact[0], positive), ()):
            at = _unified(pattern, fact)
            if at is not None:
                yield operator, effect, (*(operator.parameters if operator else ()), *effect.for_each), at

    def _fits(self, parameter: base.Parameter, name: str) -> bool:
        traits = self.instance.objects.get(name)
        if traits is None or (parameter.trait and parameter.trait not in traits):
            return False
        return not parameter.usual or parameter.usual in traits or name in self._preferred

    def _needs(self, ground: Ground) -> list[int] | None:
        """The propositions that a formula is made of; None if it is never true."""
        if isinstance(ground, bool):
            return [] if ground else None
        if ground[0] == "and":
            rows = [self._needs(part) for part in ground[1]]  # type: ignore[attr-defined]
            return None if None in rows else list(dict.fromkeys(p for row in rows for p in row or ()))
        return [self._proposition(ground[1] if ground[0] == "is" else ground)]

    def _proposition(self, key: object) -> int:
        number = self.propositions.get(key)
        if number is None:
            number = self.propositions[key] = len(self.propositions)
            self._waiting.append(key)
        return number

    # -- what makes a proposition true

    def _explain(self, key: object) -> None:
        if isinstance(key, Action):
            return
        assert isinstance(key, tuple)
        number, ground = self.propositions[key], cast("Ground", key)
        if key[0] != "or":
            fact, positive = key
            if fact[0] not in self.instance.domain.derived:
                self._achieve(fact, positive, number)
                return
            ground = self._definition(fact, positive)
        for part in ground[1] if isinstance(ground, tuple) and ground[0] == "or" else (ground,):  # type: ignore[attr-defined]
            self._infer(part, number)

    def _infer(self, ground: Ground, number: int, more: Sequence[int] = ()) -> None:
        needs = self._needs(ground)
        if needs is not None:
            self._inferred.append(([*needs, *more], number))

    def _index(self) -> dict[tuple[str, bool], list[tuple[base.Operator | None, base.Effect, StateFact]]]:
        """Predicate, and whether it becomes true or false -> the effects of operators and laws on it."""
        found: dict[tuple[str, bool], list[tuple[base.Operator | None, base.Effect, StateFact]]] = {}
        domain = self.instance.domain
        sources: list[Source] = [(None, law.effect) for law in domain.laws]
        sources += [(operator, effect) for operator in domain.operators.values() for effect in operator.effects]
        for operator, effect in sources:
            for positive, patterns in ((True, effect.adds), (False, effect.deletes)):
                for pattern in patterns:
                    found.setdefault((pattern[0], positive), []).append((operator, effect, pattern))
        return found

    def _achieve(self, fact: StateFact, positive: bool, number: int) -> None:
        """Add the actions and laws that make a literal true, with their conditions."""
        for operator, effect, parameters, at in self._achieving(fact, positive):
            for binding in self._bindings(parameters, at):
                ground = self._ground(effect.when, binding, True)
                if ground is False:
                    continue
                if operator is None:
                    self._infer(ground, number)
                    continue
                step = Action(operator.name, tuple(binding[each.variable] for each in operator.parameters))
                action = self._action(operator, step, binding)
                if action is None:
                    continue
                if ground is True:
                    action[1].add(number)
                else:
                    done = self._proposition(step)
                    action[1].add(done)
                    self._infer(ground, number, [done])

    def _bindings(self, parameters: Sequence[base.Parameter], at: Binding) -> Iterator[dict[str, str]]:
        """Every way to fill parameters, with few objects for those that may be any."""
        choices = []
        for each in parameters:
            if each.variable in at:
                if not self._fits(each, at[each.variable]):
                    return
                choices.append([at[each.variable]])
            else:
                names = self._having.get(each.trait, [])
                usual = [name for name in names if each.usual in self.instance.objects[name]][:CHOICES]
                choices.append(usual if each.usual else names)
        for chosen in product(*choices):
            self._tried += 1
            if self._tried % _CHECKED_EVERY == 0 and self._cancelled is not None and self._cancelled():
                raise Cancelled
            yield dict(zip((each.variable for each in parameters), chosen, strict=True))

    def _action(self, operator: base.Operator, step: Action, at: Binding) -> tuple[list[int], set[int]] | None:
        """The propositions that an action needs and achieves; None if it cannot be used."""
        if step not in self._actions:
            usable = step not in self._forbidden and operator.cost_of(step.arguments) < math.inf
            usable = usable and (operator.repeats or len(set(step.arguments)) == len(step.arguments))
            needs = self._needs(self._ground(base.And(operator.preconditions), at, True)) if usable else None
            self._actions[step] = None if needs is None else (needs, set())
        return self._actions[step]

    # -- the finished tables

    def _finish(self) -> None:
        used = {step: action for step, action in self._actions.items() if action is not None}
        self.actions = tuple(used)
        self.rules = [(tuple(n), tuple(a), self._destroyed(s)) for s, (n, a) in used.items()]
        self.rules += [(tuple(needs), (number,), ()) for needs, number in self._inferred]
        self._positive = {fact: number for fact, positive, number in self.literals(derived=False) if positive}
        self._negative = {fact: number for fact, positive, number in self.literals(derived=False) if not positive}
        self._absent = frozenset(self._negative.values())
        self.always: tuple[int, ...] = ()

    def _destroyed(self, step: Action) -> tuple[int, ...]:
        """The propositions that an action makes false, whatever the state is."""
        operator, at = self.instance.operator(step.operator, step.arguments)
        lost = set[int]()
        for effect in operator.effects:
            if effect.when == base.And(()) and not effect.for_each:
                for positive, patterns in ((False, effect.adds), (True, effect.deletes)):
                    for pattern in patterns:
                        lost.add(self.propositions.get((grounded(pattern, at), positive), -1))
        return tuple(lost - {-1})


def _joined(grounds: Iterator[Ground], every: bool) -> Ground:
    """A conjunction (if every) or disjunction, with constants evaluated."""
    parts: dict[Ground, None] = {}
    for ground in grounds:
        if isinstance(ground, bool):
            if ground is not every:
                return ground
        elif ground[0] == ("and" if every else "or"):
            parts.update(dict.fromkeys(ground[1]))  # type: ignore[call-overload]
        else:
            parts[ground] = None
    if not parts:
        return every
    return next(iter(parts)) if len(parts) == 1 else ("and" if every else "or", tuple(parts))


def _unified(pattern: StateFact, fact: StateFact) -> dict[str, str] | None:
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

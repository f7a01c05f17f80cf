"""Grounding: from operators with parameters to actions over numbered facts, backwards from a goal.

Only what can contribute to the goal is made: what achieves a fact, what that needs, and so on.

What is more than STRIPS becomes rules that cost nothing: derived predicates, conditional effects, laws. The rules are
right only without deletes: what is reachable by them is a superset of what is reachable in the domain, except where
containment goes round in a circle.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, cast

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains import base
from nsrecover.domains.base import Binding, Formula, State, grounded
from nsrecover.planning.symbolic.joining import Achiever, Choices, Parameters, Theory, achievers, conjuncts, unified
from nsrecover.planning.symbolic.strips import Condition, GroundAction, StripsTask, mask, reachable_actions

Literal = tuple[StateFact, bool]
"""A fact, of the state or derived, and whether it or its negation is meant."""

Ground = bool | tuple[str, object]
"""A formula without variables: true, false, `("is", literal)`, `("and", parts)` or `("or", parts)`."""

CHECKED_EVERY = 200
"""Objects that are tried for parameters between two questions whether grounding has to stop."""

ANY = Choices()
"""Everything may be used, and nothing is preferred."""

_NEVER: StateFact = ("(never)",)


class Interrupted(Exception):
    """Grounding was stopped; for the callers of `ground`, which answer with a used-up budget."""


class Grounding(NamedTuple):
    """A grounded task.

    Attributes:
        task: the task; without `exact` its actions and rules are a relaxation.
        steps: the actions of the plan over its facts.
        numbers: facts of the state, and literals of derived predicates -> number of the fact.
        exact: whether the task says all that the actions need and change, so that its states are those of the domain.
    """

    task: StripsTask
    steps: tuple[GroundAction, ...]
    numbers: Mapping[object, int]
    exact: bool


def ground(
    theory: Theory,
    start: State,
    goal: Sequence[Formula],
    plan: Sequence[Action] = (),
    choices: Choices = ANY,
    stop: Callable[[], bool] = lambda: False,
) -> Grounding:
    """Ground a task.

    Args:
        theory: what can be done.
        start: the facts at the beginning.
        goal: formulas without variables that have to hold in the end.
        plan: actions to ground, too, also if they cannot be run.
        choices: what may be used.
        stop: asked regularly; if it returns true, grounding ends.

    Raises:
        Interrupted: it was stopped.
    """
    return _Grounder(theory, start, choices, stop).task(goal, plan)


class _Made(NamedTuple):
    """An action as far as it is known: facts that it needs, forbids, adds and deletes."""

    needs: tuple[int, ...]
    forbids: tuple[int, ...]
    adds: set[int]
    deletes: set[int]


class _Grounder:
    def __init__(self, theory: Theory, start: State, choices: Choices, stop: Callable[[], bool]) -> None:
        self._theory, self._start, self._forbidden, self._stop = theory, start | theory.static, choices.forbidden, stop
        self._tried = 0
        self._parameters = Parameters(
            theory, self._start, choices, lambda part, at: self._ground(part, at, True) is False, self._check
        )
        self._effects = achievers(theory)
        self._numbers: dict[object, int] = {}
        self._wanted: set[Literal] = set()
        self._waiting: list[object] = []
        self._atoms: dict[Literal, Ground] = {}
        self._rules: dict[tuple[tuple[int, ...], tuple[int, ...], int, bool], None] = {}
        self._made: dict[Action, _Made | None] = {}
        self._complete: list[base.Operator | None] = []  # all their actions are made

    # -- the task

    def task(self, goal: Sequence[Formula], plan: Sequence[Action]) -> Grounding:
        """The grounded task."""
        ends, steps = self._ends(goal), []
        for step in plan if self._waiting else ():
            operator = self._theory.operators[step.operator]
            at = dict(zip((each.variable for each in operator.parameters), step.arguments, strict=True))
            steps.append((step, self._plainly(operator.preconditions, at)))
        while self._waiting:
            self._explain(self._waiting.pop())
        numbers = self._numbers
        self._facts = defaultdict[str, list[StateFact]](list)
        for key in numbers:
            if not _more_than_fact(key):
                fact = cast("StateFact", key)
                self._facts[fact[0]].append(fact)
        exact = not self._rules and not self._theory.laws and not any(map(_more_than_fact, numbers))
        made = dict[Action, GroundAction]()
        for step, known in self._made.items():
            self._check()
            if known is not None:
                exact &= self._completed(step, known)
                made[step] = self._action(step, known.needs, known.forbids, known)
        planned = []
        for step, (needs, forbids) in steps:
            known = _Made(needs, forbids, set(), set())
            exact &= self._completed(step, known)
            planned.append(self._action(step, needs, forbids, known))
        rules = tuple(
            GroundAction("", (), needs, forbids, (number,) if positive else (), () if positive else (number,), 0.0)
            for needs, forbids, number, positive in self._rules
        )
        initial = mask(numbers[fact] for fact in self._start if fact in numbers)
        actions = tuple(made.values())
        task = StripsTask(
            tuple(map(_text, numbers)),
            reachable_actions(actions, initial) if exact else actions,
            initial,
            Condition(mask(ends[0]), mask(ends[1])),
            rules,
        )
        return Grounding(task, tuple(planned), numbers, exact)

    def _ends(self, goal: Sequence[Formula]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Needed and forbidden facts of a goal; only those that nothing ever makes so if there are such."""
        parts = [part for formula in goal for part in conjuncts(formula)]
        never = [part for part in parts if self._ground(part, {}, True) is False]
        found = self._plainly(never or parts, {})
        if never:
            self._waiting.clear()
        return found

    def _plainly(self, formulas: Sequence[Formula], at: Binding) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Needed and forbidden facts of formulas, those included that can never be as they are wanted."""
        parts = list[Ground]()
        for part in (part for formula in formulas for part in conjuncts(formula)):
            inner, positive = (part.part, False) if isinstance(part, base.Not) else (part, True)
            if isinstance(inner, base.Atom) and inner.predicate not in self._theory.derived:
                parts.append(("is", (grounded((inner.predicate, *inner.terms), at), positive)))
            else:
                parts.append(self._ground(part, at, True) or ("is", (_NEVER, True)))
        found = self._needs(_joined(iter(parts), True))
        assert found is not None
        return found

    def _completed(self, step: Action, made: _Made) -> bool:
        """Add all facts that an action changes whatever the state is; false if it changes others in some states."""
        operator, numbers, exact = self._theory.operators[step.operator], self._numbers, True
        at = {each.variable: name for each, name in zip(operator.parameters, step.arguments, strict=True)}
        for effect in operator.effects:
            when = self._ground(effect.when, at, True) if not effect.for_each else None
            if when is not True:
                exact &= when is False
                continue
            for patterns, numbered in ((effect.adds, made.adds), (effect.deletes, made.deletes)):
                for predicate, *terms in patterns:
                    fact = (predicate, *[at.get(term, term) for term in terms])
                    number = numbers.get(fact)
                    if number is not None:
                        numbered.add(number)
                    elif "*" in fact and not self._theory.laws:
                        numbered.update(numbers[f] for f in self._facts[predicate] if unified(fact, f) is not None)
        return exact

    def _action(self, step: Action, needs: tuple[int, ...], forbids: tuple[int, ...], made: _Made) -> GroundAction:
        cost = self._theory.cost(self._theory.operators[step.operator], step.arguments)
        adds, deletes = tuple(sorted(made.adds)), tuple(sorted(made.deletes))
        return GroundAction(step.operator, step.arguments, needs, forbids, adds, deletes, cost)

    def _check(self) -> None:
        self._tried += 1
        if self._tried % CHECKED_EVERY == 0 and self._stop():
            raise Interrupted

    # -- formulas

    def _ground(self, formula: Formula, at: Binding, positive: bool) -> Ground:
        """A formula, or its negation, with objects for variables; parts that never change are evaluated."""
        match formula:
            case base.Atom(predicate, terms):
                return self._atom((predicate, *[at.get(term, term) for term in terms]), positive)
            case base.Not(part):
                return self._ground(part, at, not positive)
            case base.And(()):
                return positive
            case base.And(parts) | base.Or(parts):
                grounds = (self._ground(part, at, positive) for part in parts)
                return _joined(grounds, isinstance(formula, base.And) is positive)
            case base.Exists(variable, part, trait) | base.ForAll(variable, part, trait):
                names_of = self._parameters.having.get(trait, ())
                grounds = (self._ground(part, {**at, variable: name}, positive) for name in names_of)
                return _joined(grounds, isinstance(formula, base.ForAll) is positive)
            case base.Has(term, trait):
                return (trait in self._theory.objects.get(at.get(term, term), ())) is positive
            case base.Same(one, other):
                return (at.get(one, one) == at.get(other, other)) is positive

    def _atom(self, fact: StateFact, positive: bool) -> Ground:
        known = self._atoms.get((fact, positive))
        if known is not None:
            return known
        self._check()
        if fact[0] not in self._theory.derived:
            holds = fact in self._start
            possible = holds or self._can_become(fact, True)
            always = fact in self._theory.static or (holds and not self._can_become(fact, False))
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
        rule = self._theory.derived[fact[0]]
        return self._ground(rule.definition, dict(zip(rule.variables, fact[1:], strict=True)), positive)

    def _can_become(self, fact: StateFact, positive: bool) -> bool:
        """Whether an operator or law may make a fact true, or false."""
        fits = self._parameters.fits
        return any(
            all(fits(own, at[own.variable]) for own in each.parameters if own.variable in at)
            for each, at in self._achieving(fact, positive)
        )

    def _achieving(self, fact: StateFact, positive: bool) -> Iterator[tuple[Achiever, dict[str, str]]]:
        """The effects that make a fact true, or false, with the objects for some of their parameters."""
        for each in self._effects.get((fact[0], positive), ()):
            at = unified(each.pattern, fact)
            if at is not None:
                yield each, at

    def _needs(self, ground: Ground) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """The needed and forbidden facts that a formula is made of; None if it is never true."""
        needs, forbids = dict[int, None](), dict[int, None]()
        waiting = [ground]
        while waiting:
            part = waiting.pop()
            if isinstance(part, bool):
                if not part:
                    return None
            elif part[0] == "and":
                waiting += reversed(cast("Sequence[Ground]", part[1]))
            else:
                is_literal = part[0] == "is"
                number, positive = self._literal(cast("Literal", part[1])) if is_literal else (self._number(part), True)
                (needs if positive else forbids)[number] = None
        return tuple(needs), tuple(forbids)

    def _literal(self, literal: Literal) -> tuple[int, bool]:
        """A literal as number of a fact that is needed or forbidden; from now on what makes it true is wanted."""
        fact, positive = literal
        if fact[0] in self._theory.derived:
            return self._number(literal), True
        if literal not in self._wanted:
            self._wanted.add(literal)
            self._waiting.append(("is", literal))
        return self._number(fact), positive

    def _number(self, key: object) -> int:
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._numbers)
            if _more_than_fact(key) and not isinstance(key, Action):
                self._waiting.append(key)
        return number

    # -- what makes a fact true

    def _explain(self, key: object) -> None:
        """Make what achieves a literal of the state, or what a derived literal or a disjunction follows from."""
        one, other = cast("tuple[object, object]", key)
        if one == "is":
            self._achieve(*cast("Literal", other))
            return
        ground = cast("Ground", key) if one in ("and", "or") else self._definition(*cast("Literal", key))
        for part in ground[1] if isinstance(ground, tuple) and ground[0] == "or" else (ground,):  # type: ignore[attr-defined]
            self._infer(part, self._numbers[key], True)

    def _infer(self, ground: Ground, number: int, positive: bool, more: tuple[int, ...] = ()) -> None:
        found = self._needs(ground)
        if found is not None:
            self._rules[(*found[0], *more), found[1], number, positive] = None

    def _achieve(self, fact: StateFact, positive: bool) -> None:
        """Add the actions and laws that make a fact true, or false, with their conditions."""
        number = self._numbers[fact]
        for each, at in self._achieving(fact, positive):
            if each.plain and each.operator in self._complete:
                continue
            if each.plain and not at:
                self._complete.append(each.operator)
            for binding in self._parameters.bindings(each, at):
                when = self._ground(each.effect.when, binding, True)
                if when is False:
                    continue
                if each.operator is None:
                    self._infer(when, number, positive)
                    continue
                step = Action(each.operator.name, tuple([binding[p.variable] for p in each.operator.parameters]))
                made = self._usable(each.operator, step, binding)
                if made is None:
                    continue
                if when is True:
                    (made.adds if positive else made.deletes).add(number)
                else:
                    self._infer(when, number, positive, (self._number(step),))
                    made.adds.add(self._number(step))

    def _usable(self, operator: base.Operator, step: Action, at: Binding) -> _Made | None:
        """An action with what it needs; None if it cannot be used."""
        if step not in self._made:
            usable = step not in self._forbidden and self._theory.cost(operator, step.arguments) < math.inf
            usable = usable and (operator.repeats or len(set(step.arguments)) == len(step.arguments))
            parts = list[Ground]()
            for need in operator.preconditions if usable else ():
                parts.append(self._ground(need, at, True))
                usable = parts[-1] is not False
                if not usable:
                    break
            needs = self._needs(("and", parts)) if usable else None
            self._made[step] = None if needs is None else _Made(*needs, set(), set())
        return self._made[step]


def _more_than_fact(key: object) -> bool:
    """Whether a key stands for an action, a derived literal, a conjunction or a disjunction, and not for a fact."""
    return not isinstance(key, tuple) or (len(key) == 2 and not isinstance(key[1], str))


def _text(key: object) -> str:
    """A fact as text."""
    if _more_than_fact(key):
        return str(key)
    predicate, *terms = cast("StateFact", key)
    return f"{predicate}({', '.join(terms)})" if terms else predicate


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

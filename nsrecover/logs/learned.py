"""The domain that a trace without one suggests: its objects, and what its actions do.

Actions of handling (take, put, open, close, switch) are those of any robot. What another action does is what is seen
after it, wherever it is seen, and else a condition of the goal about its objects that nothing else brings about.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains.base import (
    Derived,
    Effect,
    Exists,
    Formula,
    Has,
    Not,
    Operator,
    Parameter,
    Role,
    StateVariable,
    Words,
    absent,
    both,
    either,
    fact,
    grounded,
    spaced,
)
from nsrecover.domains.domain import Domain
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.domains.household.names import noun
from nsrecover.domains.instance import Instance
from nsrecover.logs.trace import EventPhase, RawTrace, StepResult, TraceEvent

PORTABLE, DOOR, SWITCH, PLACE = "portable", "door", "switch", "place"
_X, _Y = Parameter("?x0", PORTABLE), Parameter("?x1")
_DOORED, _SWITCHED = Parameter("?x0", DOOR), Parameter("?x0", SWITCH)
_SHUT_IN = Derived(
    "shut_in", ("?x",), Exists("?p", both(fact("at", "?x", "?p"), Has("?p", DOOR), absent("open", "?p")))
)
_OPEN = either(Not(Has("?x1", DOOR)), fact("open", "?x1"))
_TAKEN = Effect((("holding", "?x0"),), (("at", "?x0", "*"),))
_PUT = Effect((("at", "?x0", "?x1"),), (("holding", "?x0"),))
_HANDLING = (
    Operator("pick_up", (_X,), (absent("shut_in", "?x0"),), (_TAKEN,)),
    Operator("put_in", (_X, _Y), (_OPEN, fact("holding", "?x0")), (_PUT,)),
    Operator("put_on", (_X, _Y), (fact("holding", "?x0"),), (_PUT,)),
    Operator("open_obj", (_DOORED,), (), (Effect((("open", "?x0"),)),)),
    Operator("close_obj", (_DOORED,), (), (Effect((), (("open", "?x0"),)),)),
    Operator("toggle_on", (_SWITCHED,), (), (Effect((("running", "?x0"),)),)),
    Operator("toggle_off", (_SWITCHED,), (), (Effect((), (("running", "?x0"),)),)),
)
"""What any robot does with things, doors and switches; what lies in something is taken when that is open."""
_OF_STATE = {"open": DOOR, "open_obj": DOOR, "close_obj": DOOR, "running": SWITCH, "toggle_on": SWITCH,
             "toggle_off": SWITCH}  # fmt: skip
MOVING = "move_to"
"""The operator of going somewhere, which changes nothing but where the robot is."""
_ALIKE = 4
"""Letters that an operator and the state that it brings about have in common at their beginnings."""


@dataclass(frozen=True)
class _Suggested:
    """What a trace suggests; facts and goal are in the words of `nsrecover.logs.understanding`.

    Attributes:
        raw: the trace.
        goal: conditions of success.
        names: the objects.
    """

    raw: RawTrace
    goal: tuple[StateFact, ...]
    names: tuple[str, ...]

    @cached_property
    def conditions(self) -> list[tuple[StateFact, bool]]:
        """The conditions of the goal as facts, and whether they have to hold."""
        return [(each[1:], False) if each[0] == "not" else (each, True) for each in self.goal]

    @cached_property
    def claims(self) -> list[tuple[int, StateFact, bool]]:
        """Every claim with the index of its event."""
        events = (*self.raw.events, *([self.raw.final] if self.raw.final else []))
        return [(n, claim.facts[0], claim.holds) for n, event in enumerate(events) for claim in event.claims]

    @cached_property
    def steps(self) -> list[Action]:
        """The steps of the plan and of the lines."""
        lines = [event.action for event in self.raw.events if event.action is not None]
        return list(dict.fromkeys((*self.raw.plan, *lines)))

    @cached_property
    def objects(self) -> dict[str, frozenset[str]]:
        """Every object with its traits."""
        handled = ("pick_up", "put_in", "put_on")
        uses = [(step.operator, *step.arguments) for step in self.steps]
        facts = [given for _, given, _ in self.claims] + [given for given, _ in self.conditions]
        found: dict[str, set[str]] = {name: set() for name in self.names}
        for use in (*facts, *uses):
            for name in use[1:2]:
                if name in found:
                    found[name] |= {_OF_STATE[use[0]]} if use[0] in _OF_STATE else set()
                    found[name] |= {PORTABLE} if use[0] in ("holding", *handled) else set()
            if use[0] in ("at", "put_in", "put_on") and len(use) == 3 and use[2] in found:
                found[use[2]].add(PLACE)
        for given in (given for given in facts if given[0] == "at" and given[1] in found):
            found[given[1]] |= set() if given[1] in self._moving else {PORTABLE}
        for step in self.steps:
            for variable in _held(self.operators[step.operator]):
                found.get(step.arguments[_variables(step).index(variable)], set()).add(PORTABLE)
        return {name: frozenset(traits | self.raw.objects.get(name, frozenset())) for name, traits in found.items()}

    @cached_property
    def _moving(self) -> set[str]:
        """What changes its place without an action that takes it."""
        taken = {name for step in self.steps for name in step.arguments}
        places: dict[str, set[str]] = {}
        for _, given, _ in self.claims:
            if given[0] == "at" and given[1] not in taken:
                places.setdefault(given[1], set()).add(given[2])
        return {name for name, found in places.items() if len(found) > 1}

    def _ends(self) -> Iterator[tuple[int, TraceEvent, Action]]:
        for number, event in enumerate(self.raw.events):
            if event.phase is EventPhase.ENDED and event.action is not None:
                yield number, event, event.action

    @cached_property
    def seen(self) -> Mapping[str, frozenset[tuple[StateFact, bool]]]:
        """Operator -> what changes after it of its objects, with variables, unless it is seen otherwise after it."""
        found, denied = dict[str, set[tuple[StateFact, bool]]](), dict[str, set[tuple[StateFact, bool]]]()
        ends = list(self._ends())
        untils = (*(number for number, *_ in ends[1:]), len(self.raw.events))
        for (number, event, step), until in zip(ends, untils, strict=False):
            if event.result is StepResult.FAILED:
                continue
            names = {name: f"?x{k}" for k, name in enumerate(step.arguments)}
            for when, given, holds in self.claims:
                if not number <= when < max(until, number + 1) or not names.keys() & {*given[1:]}:
                    continue
                if not all(
                    term in names or (place == 0 and term in self._moving) for place, term in enumerate(given[1:])
                ):
                    continue
                lifted = (given[0], *(names.get(term, term) for term in given[1:]))
                before = [value for n, one, value in self.claims if n < number and one == given]
                if before[-1:] != [holds] and (before or holds):
                    found.setdefault(step.operator, set()).add((lifted, holds))
                denied.setdefault(step.operator, set()).add((lifted, not holds))
        return {name: frozenset(each - denied[name]) for name, each in found.items()}

    @cached_property
    def operators(self) -> dict[str, Operator]:
        """Every operator of the trace, and those of handling."""
        found = {one.name: one for one in _HANDLING}
        known = {given[0] for one in found.values() for given, _ in _changes(one)}
        for step in self.steps:
            seen = self.seen.get(step.operator, frozenset())
            if step.operator not in found:
                found[step.operator] = _with(seen, step)
            elif more := frozenset(each for each in seen if each[0][0] not in known):
                found[step.operator] = _and(found[step.operator], _with(more, step))
        taken = set[int]()
        for given, holds, until in self._needed(found):
            maker = None if self._made(given, holds, until, found) else self._maker(given, holds, until, found)
            if maker is not None:
                names = {noun(name): f"?x{k}" for k, name in enumerate(maker.arguments)}
                change = (given[0], *(names.get(noun(term), term) for term in given[1:]))
                found[maker.operator] = _and(found[maker.operator], _with({(change, holds)}, maker))
            if given[0] == "holding" and self._made(given, holds, until, found):
                taken.add(until)
        for number, step in enumerate(self.steps):
            if number in taken and step.operator not in HOUSEHOLD.operators:
                needs = (fact("holding", variable) for variable in _held(found[step.operator]))
                found[step.operator] = _needing(found[step.operator], *needs)
        for step, need in self._lacked(found):
            found[step.operator] = _needing(found[step.operator], need)
        return found

    @cached_property
    def _shown(self) -> set[tuple[StateFact, bool]]:
        return {(one, True) for _, one, value in self.claims if value}

    def _made(self, given: StateFact, holds: bool, until: int, found: Mapping[str, Operator]) -> bool:
        """Whether a step up to one brings a fact about, or it is seen at the end; or it is as it has always been."""
        made = {
            (grounded(one, dict(zip(_variables(step), step.arguments, strict=True))), value)
            for step in self.steps[:until]
            for one, value in _changes(found[step.operator])
        }
        made |= self._shown if until == len(self.steps) else set()
        return (given, holds) in made or (not holds and (given, True) not in made)

    def _maker(self, given: StateFact, holds: bool, until: int, found: dict[str, Operator]) -> Action | None:
        """The step that brings a fact about if no known one does: the last of the least known about its objects."""
        objects = set(map(noun, given[1:]))
        able = [step for step in reversed(self.steps[:until])
                if objects <= set(map(noun, step.arguments)) and step.operator != MOVING]  # fmt: skip
        if given[0] == "holding" and able:
            # What is put somewhere was taken by the first step with it, whatever is seen after that.
            able = able[-1:]
            if not {predicate for predicate, _ in _changed(found[able[0].operator])} - {"at", "holding"}:
                found[able[0].operator] = _with((), able[0])
        able = [step for step in able if (given[0], not holds) not in _changed(found[step.operator])]
        best = min(able, key=lambda each: (not _alike(each, given), bool(found[each.operator].effects)), default=None)
        if best is not None and len(given) < 3 and found[best.operator].effects and not _alike(best, given):
            return None
        return best

    def _lacked(self, found: Mapping[str, Operator]) -> Iterator[tuple[Action, Formula]]:
        """A step that failed, and what the next step that works brings about of its last object."""
        ends = list(self._ends())
        for (_, failed, step), (_, event, then) in pairwise(ends):
            if failed.result is StepResult.FAILED and event.result is StepResult.SUCCEEDED and step.arguments:
                name = step.arguments[-1]
                names = dict(zip(_variables(then), then.arguments, strict=True))
                made = [grounded(one, names) for one, value in _changes(found[then.operator]) if value]
                for one in made:
                    if one[1:] == (name,) and found[step.operator].effects and then != step:
                        yield step, fact(one[0], _variables(step)[-1])

    def _needed(self, found: Mapping[str, Operator]) -> Iterator[tuple[StateFact, bool, int]]:
        """What some step has to bring about: the goal; and what the gripper puts down it has taken."""
        yield from ((*condition, len(self.steps)) for condition in self.conditions)
        for number, step in enumerate(self.steps):
            gone = [one[1] for one, value in _changes(found[step.operator]) if one[0] == "holding" and not value]
            for variable in gone:
                if variable in _variables(step):
                    yield ("holding", step.arguments[_variables(step).index(variable)]), True, number

    def domain(self) -> Domain:
        """The domain."""
        operators = {name: replace(one, words=_words(one)) for name, one in self.operators.items()}
        used = [given for given, _ in self.conditions] + [given for _, given, _ in self.claims]
        used += [given for one in operators.values() for given, _ in _changes(one)]
        counts = {given[0]: len(given) for given in used} | {"holding": 2, "at": 3, "open": 2}
        own = {name for name, count in counts.items() if count == 2 and name != "holding"}
        variables = {name: HOUSEHOLD.variables.get(name, StateVariable(name, (f"not {name}", name))) for name in own}
        variables = {name: replace(one, trait="", visible=True, drifts=False, passes="")
                     for name, one in variables.items()}  # fmt: skip
        roles = {"holding": Role.HELD, "at": Role.LOCATION, "covers": Role.COVERS}
        relations = {name: roles.get(name, Role.PLAIN) for name in counts if name not in own}
        words = {name: HOUSEHOLD.words[name] for name in counts.keys() & HOUSEHOLD.words.keys()}
        traits = frozenset((PORTABLE, DOOR, SWITCH, PLACE)).union(*self.objects.values())
        derived = {"shut_in": _SHUT_IN}
        return Domain("own", {}, variables, relations, operators, derived, words=words, traits=traits)


def _variables(step: Action) -> list[str]:
    return [f"?x{k}" for k in range(len(step.arguments))]


def _with(changes: Collection[tuple[StateFact, bool]], step: Action) -> Operator:
    """The operator of a step with what it changes."""
    adds = tuple(sorted(given for given, holds in changes if holds))
    deletes = sorted(given for given, holds in changes if not holds)
    # What is somewhere else now is no longer where it was, or in the gripper.
    deletes += [("at", given[1], "*") for given in adds if given[0] in ("at", "holding")]
    deletes += [("holding", given[1]) for given in adds if given[0] == "at"]
    effects = (Effect(adds, tuple(dict.fromkeys(deletes))),) if changes else ()
    # Every parameter of an operator has to be used.
    told = tuple(either(Has(name, PLACE), Not(Has(name, PLACE))) for name in _variables(step)) if changes else ()
    held = {given[1] for given in (*adds, *deletes) if given[0] == "holding"}
    parameters = tuple(Parameter(name, PORTABLE if name in held else "") for name in _variables(step))
    return Operator(step.operator, parameters, told, effects)


def _held(operator: Operator) -> list[str]:
    """The variables of what the gripper holds before or after an operator."""
    found = (one[1] for one, _ in _changes(operator) if one[0] == "holding")
    return [variable for variable in dict.fromkeys(found) if variable.startswith("?")]


def _and(one: Operator, other: Operator) -> Operator:
    """An operator that needs and does what two of the same name do."""
    if not one.effects:
        return other
    parameters = tuple(
        max(pair, key=lambda each: each.trait) for pair in zip(one.parameters, other.parameters, strict=True)
    )
    return replace(_needing(one, *other.preconditions), parameters=parameters, effects=(*one.effects, *other.effects))


def _needing(operator: Operator, *needs: Formula) -> Operator:
    """An operator with further conditions."""
    return replace(operator, preconditions=tuple(dict.fromkeys((*operator.preconditions, *needs))))


def _alike(step: Action, condition: StateFact) -> bool:
    """Whether an operator is called like what a condition says."""
    return step.operator[:_ALIKE] == condition[0][:_ALIKE]


def _changed(operator: Operator) -> set[tuple[str, bool]]:
    """The predicates that an operator changes, and to what."""
    return {(given[0], holds) for given, holds in _changes(operator)}


def _changes(operator: Operator) -> Iterator[tuple[StateFact, bool]]:
    for effect in operator.effects:
        yield from ((given, True) for given in effect.adds)
        yield from ((given, False) for given in effect.deletes if "*" not in given)


def _words(operator: Operator) -> Words:
    known = HOUSEHOLD.operators.get(operator.name)
    if known is not None and len(known.parameters) == len(operator.parameters):
        names = {
            p.variable[1:]: "{" + q.variable[1:] + "}"
            for p, q in zip(known.parameters, operator.parameters, strict=True)
        }
        return Words(known.words.imperative.format(**names), known.words.past.format(**names))
    given = " and ".join("{" + each.variable[1:] + "}" for each in operator.parameters)
    return Words(f"{spaced(operator.name)} {given}".strip())


def learned(raw: RawTrace, goal: Sequence[StateFact], names: Iterable[str]) -> Instance:
    """The domain and the objects that a trace suggests.

    Args:
        raw: the trace, in the words of `nsrecover.logs.understanding`.
        goal: conditions of success.
        names: the objects.
    """
    found = _Suggested(raw, tuple(goal), tuple(names))
    return Instance(found.domain(), found.objects)

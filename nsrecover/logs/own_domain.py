"""Logs in a domain of one's own: its words, its operators, and the same reading as a whole.

What a log says is compared with what the domain says: every step may have had no effect or another object or place,
things may be dropped in between, and the course that explains the observations best is the one that is explained.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains.base import Atom, Formula, Not, Role, State, facts_of, spaced
from nsrecover.domains.instance import Instance
from nsrecover.logs.findings import Checked, Finding, RootCause
from nsrecover.logs.reading.own_words import Claims, OwnWords, claims_of, goal_in
from nsrecover.logs.reading.records import HouseholdLog
from nsrecover.planning.symbolic.solving import solve

_WRONG, _LATE, _FINAL = 3.2, 2.0, 1.5
"""Costs: a claim that does not hold, a frame that shows the moment before; and the weight of the last observation."""
_PRIOR = {"no_effect": 4.0, "instead": 4.5, "dropped": 4.0, "skipped": 4.0, "forced": 5.0}
_WIDTH = 60
_MOVES = {"move", "go", "navigate", "drive", "walk", "approach", "travel"}


@dataclass(frozen=True)
class _OwnNode:
    cost: float
    state: State
    previous: State
    deviations: tuple[tuple[str, int, int, Action | None], ...] = ()
    states: tuple[tuple[State, State], ...] = ()
    refused: tuple[int, ...] = ()


@dataclass(frozen=True)
class OwnReading:
    """The reading of a log in a domain of one's own.

    Attributes:
        log: the log.
        words: of its domain.
        steps: the plan.
        when: the first and the last event about each step; the same ones as the next step's if it has no line.
        told: whether a step has a line.
        claims: what each event says, and the last observation.
        unknown: words of the log that the domain does not have, with where they are.
    """

    log: HouseholdLog
    words: OwnWords
    steps: tuple[Action, ...]
    when: tuple[tuple[int, int], ...]
    told: tuple[bool, ...]
    claims: tuple[Claims, ...]
    unknown: tuple[str, ...]

    @property
    def scene(self) -> Instance:
        """The objects."""
        return self.words.scene

    def start(self) -> State:
        """The state at the start: what is seen before a step changes it, and the places where steps take things."""
        facts, touched = set[StateFact](), set[tuple[str, ...]]()
        for number, step in enumerate(self.steps):
            operator, at = self.scene.operator(step.operator, step.arguments)
            for need in operator.preconditions:
                if isinstance(need, Atom) and need.predicate in self.words.relations(Role.LOCATION):
                    fact = (need.predicate, *(at.get(term, term) for term in need.terms))
                    if fact[:2] not in touched:
                        facts.add(fact)
            for effect in operator.effects:
                for changed in (*effect.adds, *effect.deletes):
                    touched.add((changed[0], at.get(changed[1], changed[1])) if len(changed) > 1 else changed)
            for claims in self.claims[: self.when[number][0]] if number else ():
                self._seen_at_start(claims, touched, facts)
        for claims in self.claims:
            self._seen_at_start(claims, self._all_touched, facts)
        return self.scene.settle(frozenset(facts))

    @cached_property
    def _all_touched(self) -> set[tuple[str, ...]]:
        found = set[tuple[str, ...]]()
        for step in self.steps:
            operator, at = self.scene.operator(step.operator, step.arguments)
            for effect in operator.effects:
                found |= {(one[0], at.get(one[1], one[1])) for one in (*effect.adds, *effect.deletes) if len(one) > 1}
        return found

    def _seen_at_start(self, claims: Claims, touched: set[tuple[str, ...]], facts: set[StateFact]) -> None:
        for alternatives, value in claims.facts:
            fact = alternatives[0] if alternatives else ()
            held = fact and fact[0] in self.words.relations(Role.HELD)
            if value and not held and fact[:2] not in touched and not any(one[:2] == fact[:2] for one in facts):
                variable = self.scene.domain.variables.get(fact[0])
                if variable is None or len(fact) == 2 or fact[2] != variable.values[0]:
                    facts.add(fact)

    def courses(self) -> list[_OwnNode]:
        """Courses of events, the most likely first, by a beam search over the events."""
        beam = [_OwnNode(0.0, self.start(), self.start())]
        for event in range(len(self.claims)):
            due = [number for number in range(len(self.steps)) if self.when[number][1] == event]
            beam += [dropped for node in beam for dropped in self._drops(node, event)]
            for number in due:
                beam = [after for node in beam for after in self._tried(node, number, event)]
            last = event == len(self.claims) - 1
            beam = [self._seen(node, event, _FINAL if last else 1.0) for node in beam]
            best = dict[tuple[object, ...], _OwnNode]()
            for node in sorted(beam, key=lambda one: one.cost):
                best.setdefault((node.state, node.deviations), node)
            beam = list(best.values())[:_WIDTH]
        return beam

    def _seen(self, node: _OwnNode, event: int, weight: float) -> _OwnNode:
        claims = self.claims[event]
        cost = min(
            _WRONG * claims.wrong(node.state, self.words),
            _LATE + _WRONG * claims.wrong(node.previous, self.words),
        )
        return replace(node, cost=node.cost + weight * cost, previous=node.state)

    def _drops(self, node: _OwnNode, event: int) -> Iterator[_OwnNode]:
        held = self.words.held(node.state)
        number = len(node.states)
        if held is None or number == len(self.steps) or event == len(self.claims) - 1:
            return
        place = next((each.places[held] for each in self.claims[event:] if held in each.places), None)
        # What ends up elsewhere when it is put down was put there.
        ends = any(one[0] in self.words.relations(Role.HELD)
                   for effect in self.scene.domain.operators[self.steps[number].operator].effects
                   for one in effect.deletes)  # fmt: skip
        place = None if ends and self.when[number][1] == event else place
        location = self.words.relations(Role.LOCATION)
        state = frozenset(fact for fact in node.state if fact[0] not in self.words.relations(Role.HELD))
        state |= {(location[0], held, place)} if place and location else set()
        yield replace(node, cost=node.cost + _PRIOR["dropped"], state=state,
                      deviations=(*node.deviations, ("dropped", number, event, Action("drop", (held,)))))  # fmt: skip

    def _tried(self, node: _OwnNode, number: int, event: int) -> Iterator[_OwnNode]:
        """What may come of a step."""
        step = self.steps[number]

        def came(state: State, mode: str = "", instead: Action | None = None, refused: bool = False) -> _OwnNode:
            more = ((mode, number, event, instead),) if mode else ()
            return replace(
                node, cost=node.cost + _PRIOR.get(mode, 0.0), state=state, deviations=(*node.deviations, *more),
                states=(*node.states, (node.state, state)), refused=(*node.refused, *([number] if refused else [])),
            )  # fmt: skip

        after = self.scene.apply(node.state, step.operator, step.arguments)
        if not self.scene.applicable(node.state, step.operator, step.arguments):
            yield came(self.scene.settle(node.state), refused=True)
            yield came(after, "forced")
            return
        yield came(after)
        yield came(node.state, "no_effect" if self.told[number] else "skipped")
        for other in self._others(step):
            if self.scene.applicable(node.state, other.operator, other.arguments):
                yield came(self.scene.apply(node.state, other.operator, other.arguments), "instead", other)

    def _others(self, step: Action) -> Iterator[Action]:
        """The step with one other object of a kind that fits."""
        operator = self.scene.domain.operators[step.operator]
        for place, parameter in enumerate(operator.parameters):
            for other in self.scene.having(parameter.trait):
                if other not in step.arguments:
                    yield Action(step.operator, (*step.arguments[:place], other, *step.arguments[place + 1 :]))


def reading_of(log: HouseholdLog, scene: Instance) -> OwnReading:
    """Read a log in the words of a domain.

    Args:
        log: from `nsrecover.logs.reading.format.log_of`.
        scene: the domain and its objects, from `nsrecover.domains.scene_of`.
    """
    words, unknown = OwnWords(scene), [each for each in log.unread if "unknown action" not in each]
    steps = list[Action]()
    for number, line in enumerate(log.plan_lines, start=1):
        name, *rest = (part.strip() for part in re.split(r"[(,)]", line.strip().lstrip("(").rstrip(") ")))
        named = [words.object_of(part) for part in rest if part]
        operator = scene.domain.operators.get(name)
        missing = [part for part, one in zip(filter(None, rest), named, strict=True) if one is None]
        if operator is None or missing or len(operator.parameters) != len(named):
            unknown.append(f"plan, entry {number}: unknown {', '.join(missing) or name!r}")
        else:
            steps.append(Action(name, tuple(one for one in named if one is not None)))
    when, told = _when(log, steps, words, unknown)
    claims = [claims_of(frame.observation, words) for frame in log.events]
    for number, each in enumerate(claims, start=1):
        unknown += [f"event_summary, line {number}: unknown word {word!r}" for word in each.unknown]
    claims.append(claims_of(log.final, words))
    unknown += [f"final_state: unknown word {word!r}" for word in claims[-1].unknown]
    unknown += [f"success_state: unknown word {word!r}" for word in goal_in(log.success_state, words)[1]]
    return OwnReading(log, words, tuple(steps), when, told, tuple(claims), tuple(unknown))


def _when(
    log: HouseholdLog, steps: Sequence[Action], words: OwnWords, unknown: list[str]
) -> tuple[tuple[tuple[int, int], ...], tuple[bool, ...]]:
    """The events about each step, in order, and whether there is one."""
    found, done, before = dict[int, tuple[int, int]](), 0, ""
    for event, frame in enumerate(log.events):
        said = re.findall(r"[\w-]+", frame.text.lower())
        named = {thing for kind, thing in words.mentions(frame.text) if kind == "object"}
        if frame.text == before and done:
            found[done - 1] = (found[done - 1][0], event)
            continue
        scores = [
            2.0 * (spaced(step.operator).lower().split()[0] in said) + len(named & set(step.arguments)) - 0.5 * ahead
            for ahead, step in enumerate(steps[done:])
        ]
        best = max(range(len(scores)), key=scores.__getitem__, default=None)
        if best is not None and scores[best] >= 1.5:
            done, before = done + best + 1, frame.text
            found[done - 1] = (event, event)
        elif said[0] not in _MOVES:
            unknown.append(f"event_summary, line {event + 1}: unknown action {frame.text!r}")
    when, later = list[tuple[int, int]](), (len(log.events), len(log.events))
    for number in reversed(range(len(steps))):
        later = found.get(number, later)
        when.insert(0, later)
    return tuple(when), tuple(number in found for number in range(len(steps)))


def diagnosed(reading: OwnReading) -> tuple[Finding, list[Checked], float, list[Action] | None]:
    """What went wrong, every step checked, the probability of courses with the same first failure, and a correction."""
    courses, words = reading.courses(), reading.words
    best = courses[0]
    weights = [math.exp(best.cost - one.cost) for one in courses]
    share = sum(w for w, one in zip(weights, courses, strict=True) if _key(one) == _key(best)) / sum(weights)
    goal, _ = goal_in(reading.log.success_state, words)
    formulas = [_formula(reading, fact, value) for fact, value in goal]
    reached = bool(goal) and all(reading.scene.holds(best.state, each) for each in formulas)
    finding = Finding(RootCause.NONE, (), ()) if reached else _finding(reading, best, formulas)
    checked = [
        Checked(
            _time(reading, reading.when[number][1]), step, step,
            before != after or (number not in best.refused and not any(d[1] == number for d in best.deviations)),
            "that fits best with what was seen", None, reading.when[number][1], reading.told[number],
        )
        for number, (step, (before, after)) in enumerate(zip(reading.steps, best.states, strict=True))
    ]  # fmt: skip
    way: list[Action] | None = []
    if not reached:
        solution = solve(reading.scene, best.state, formulas) if formulas else None
        way = list(solution.steps) if solution is not None and solution.found else None
    return finding, checked, share if goal else 0.0, way


def _key(course: _OwnNode) -> tuple[object, ...]:
    return (*course.deviations[:1], *course.refused[:1])


def _formula(reading: OwnReading, fact: StateFact, value: bool) -> Formula:
    found = reading.scene.condition(fact)
    return found if value else Not(found)


def _time(reading: OwnReading, event: int) -> str:
    events = reading.log.events
    return events[min(event, len(events) - 1)].time if events else "00:00"


def _finding(reading: OwnReading, course: _OwnNode, goal: Sequence[Formula]) -> Finding:
    """The first failure, or what the plan lacks."""
    first = min(course.refused, default=len(reading.steps))
    failed = next((one for one in course.deviations if one[0] != "forced" and one[1] <= first), None)
    scene, words = reading.scene, reading.words
    if failed is not None:
        mode, number, event, instead = failed
        step, time = reading.steps[number], _time(reading, event)
        since = (_time(reading, event - 1), time) if event else ()
        if mode == "dropped" and instead is not None:
            return Finding(RootCause.DROPPED, (time,), instead.arguments, step, since=since)
        if instead is not None:
            pairs = [(a, b) for a, b in zip(step.arguments, instead.arguments, strict=True) if a != b]
            cause = RootCause.MISTAKEN_OBJECT if pairs[0][0] == step.arguments[0] else RootCause.MISPLACED
            names = pairs[0] if cause is RootCause.MISTAKEN_OBJECT else (step.arguments[0], pairs[0][1])
            return Finding(cause, (time,), names, step, since=since)
        gripping = any(one[0] in words.relations(Role.HELD) for e in scene.domain.operators[step.operator].effects
                       for one in e.adds)  # fmt: skip
        cause = RootCause.MISSED_GRASP if gripping else RootCause.ACTION_FAILED
        return Finding(cause, (time,), step.arguments, step, since=since)
    number = min(first, len(reading.steps) - 1)
    before, step = course.states[number][0], reading.steps[number]
    needs = scene.unmet(before, step.operator, step.arguments) if first < len(reading.steps) else list(goal)
    solution = solve(scene, before if first < len(reading.steps) else course.state, needs)
    time = _time(reading, reading.when[number][1])
    unmet = next((fact for need in needs for fact in facts_of(need)), None)
    if not solution.found or not solution.steps:
        return Finding(RootCause.UNKNOWN, (time,), step.arguments[:1], step, unmet=unmet)
    key = solution.steps[-1]
    if key in reading.steps[number + 1 :]:
        late = next(n for n in range(number + 1, len(reading.steps)) if reading.steps[n] == key)
        times = (time, _time(reading, reading.when[late][1]))
        return Finding(RootCause.WRONG_ORDER, times, (*step.arguments, *key.arguments), step, missing=(key,),
                       earlier=step, unmet=unmet)  # fmt: skip
    return Finding(RootCause.MISSING_STEP, (time,), key.arguments, step, missing=(key,), unmet=unmet)

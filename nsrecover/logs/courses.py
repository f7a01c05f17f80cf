"""What most likely happened in a run: steps as hypotheses, weighed by everything that was seen.

A course of events says for each step when it was tried and what came of it. A beam search goes through the events of a
trace, simulates the steps with the domain, and keeps the courses that explain the claims best. The initial state is
part of a course. It is smoothed over the whole trace, with steps that have no line of their own and other starts, which
`nsrecover.belief` does not need while a run goes on. How often a channel (a state variable, places, the gripper) is
misread is estimated from the trace itself.
"""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import product

from nsrecover.core.actions import Action
from nsrecover.core.facts import PLACE, StateFact
from nsrecover.domains.base import Atom, State
from nsrecover.domains.household.kinds import could_mean
from nsrecover.domains.household.names import is_slice, noun, same, same_stuff, slice_of, whole
from nsrecover.domains.household.scene import HouseholdScene
from nsrecover.logs.roles import RoledScene, as_whole, conditions
from nsrecover.logs.trace import EventPhase, FactClaim, FactTrace, StepResult, TraceEvent

EMPTY, HELD = "empty gripper", "gripper"
_RATE, _GRIPPER = 0.04, 0.027
"""How often a claim, and one about the gripper, is wrong."""
_WRITTEN = 0.2
"""The same for facts in the words of programs, relative to those of pictures."""
_NEVER_REPORTED = 0.4
"""Rate of an empty gripper that is reported throughout, however often the robot grasps: it informs nobody."""
LATE, NOWHERE, UNSEEN = 2.6, 0.4, 0.7
"""Costs of a frame that shows the moment before, of an object in some place when its place is not known, and of one
that is not in view although its place is."""
_PRIOR = {
    "no_effect": 4.0,
    "dropped": 4.0,
    "instead": 4.5,
    "forced": 5.0,
    "aside": 1.5,
    "skipped": 4.0,
    "stopped": 1.5,
    "moved": 4.5,
}
"""Cost of what may come of a step; a step without a line may have been skipped, and the run may have stopped early."""
_IMPOSSIBLE, _HEARD, _DEFECT = 4.0, 2.0, 2.5
"""Costs: a step that worked with nothing in the gripper; less for what was heard falling; a plan that cannot be carried
out although all went well."""
_UNNOTICED = 2.0
"""Further cost of a drop while nothing is said about the gripper."""
_CONFIRMED, _NEVER_HELD = 3.0, 2.0
"""Cost of a step that the domain refuses and its source confirms; more for the loss of what was never seen held."""
_UNSURE = 0.3
"""Rate of errors of a fact of a program, relative to how unsure that is: what is written down twice is seldom wrong."""
_LEAST_SURE = 0.5
"""What is seen with less certainty says nothing."""
_TOLD = {(StepResult.FAILED, True): 7.0, (StepResult.SUCCEEDED, False): 1.5}
"""Cost of a result that a robot reports, by whether the step worked."""
_FALLING = ("drop", "fall", "crash", "thud", "shatter", "slip", "lost", "impact")
_WIDTH, _ATTEMPTS, _DEPTH, _READINGS = 40, 200, 12.0, 25
"""Courses that are kept at an event, and after each further step at it; how much worse than the best they may be;
courses that are weighed in the end."""


@dataclass(frozen=True)
class Slot:
    """A step that may have been carried out.

    Attributes:
        step: with the names of its line, if there is one.
        planned: the same as the plan has it.
        first: the first event at which it is likely to have its effect; a line may come one event late.
        last: the last one; the number of events if that may be after all of them.
        told: whether a line tells of its end.
        again: how often it was tried again, by the lines.
        result: how it ended, by the source; the last one if it was tried again.
        message: why, by the source.
    """

    step: Action
    planned: Action
    first: int
    last: int
    told: bool = True
    again: int = 0
    result: StepResult = StepResult.UNKNOWN
    message: str = ""
    early: int = 0


def carries_out(done: Action, planned: Action, scene: RoledScene) -> bool:
    """Whether a line of a log can be about a step of the plan."""
    alike = done.operator == planned.operator or {done.operator, planned.operator} <= scene.releasing
    return alike and len(done.arguments) == len(planned.arguments) and all(
        could_mean(word, name) or could_mean(name, word) or same_stuff(word, name)
        for word, name in zip(planned.arguments, done.arguments, strict=True)
    )  # fmt: skip


def slots_of(trace: FactTrace, scene: RoledScene) -> list[Slot]:
    """Every step of the plan in order, with or without a line; and lines about steps that the plan does not have."""
    ends = [
        (number, event) for number, event in enumerate(trace.events) if event.phase is EventPhase.ENDED and event.action
    ]
    begun = dict[int, int]()
    for number, event in enumerate(trace.events):
        begun[number] = begun[number - 1] if number and _same_line(event, trace.events[number - 1]) else number
    if len(ends) == len(trace.plan):
        # An action in unknown words is the one that the plan has there.
        ends = [(number, event if scene.known(event.action or step) else replace(event, action=step))
                for (number, event), step in zip(ends, trace.plan, strict=True)]  # fmt: skip
    done = [event.action for _, event in ends if event.action is not None]
    slots, passed = list[Slot](), 0
    for (number, event), index, step in zip(ends, _aligned(trace.plan, done, scene), done, strict=True):
        previous = slots[-1] if slots else None
        if index is None:
            if previous and previous.told and previous.planned == step:
                slots[-1] = replace(previous, last=number, again=previous.again + 1, result=event.result,
                                    message=event.message if event.result else "")  # fmt: skip
            else:
                slots.append(Slot(step, step, number, number, result=event.result))
            continue
        slots += (Slot(each, each, -1, -1, told=False) for each in trace.plan[passed:index])
        meant = trace.plan[index]
        step = step if carries_out(step, meant, scene) else meant
        slots.append(Slot(step, meant, min(number, begun[number]), number, result=event.result,
                          message=event.message if event.result else ""))  # fmt: skip
        passed = index + 1
    slots += (Slot(each, each, -1, -1, told=False) for each in trace.plan[passed:])
    return _stretched(slots, len(trace.events))


def _same_line(one: TraceEvent, other: TraceEvent) -> bool:
    if one.message and not one.result:
        return one.message == other.message
    return one.action is not None and one.action == other.action and other.phase is not EventPhase.ENDED


def _stretched(slots: Sequence[Slot], events: int) -> list[Slot]:
    """Steps without a line may happen anywhere between those that have one."""
    found, begin = list[Slot](), 0
    for number, slot in enumerate(slots):
        if slot.told:
            first = max(slot.first, begin)
            found.append(replace(slot, first=first, early=max(first - 1, begin)))
            begin = slot.last
        else:
            later = (each.last for each in slots[number:] if each.told)
            found.append(replace(slot, first=begin, last=next(later, events), early=begin))
    return found


def _aligned(plan: Sequence[Action], done: Sequence[Action], scene: RoledScene) -> list[int | None]:
    """The index of the planned step that each line is about, in order; None where there is none.

    The best alignment of the two: lines that match by `carries_out`, then lines that name another object.
    """
    best: dict[tuple[int, int], tuple[int, tuple[tuple[int, int], ...]]] = defaultdict(lambda: (0, ()))
    for row, column in product(reversed(range(len(done))), reversed(range(len(plan)))):
        options = [best[row + 1, column], best[row, column + 1]]
        score = 3 if carries_out(done[row], plan[column], scene) else int(done[row].operator == plan[column].operator)
        if score:
            total, pairs = best[row + 1, column + 1]
            options.insert(0, (total + score, ((row, column), *pairs)))
        best[row, column] = max(options, key=lambda each: each[0])
    planned = dict(best[0, 0][1])
    return [planned.get(row) for row in range(len(done))]


@dataclass(frozen=True)
class CourseDeviation:
    """Something that did not go as planned.

    Attributes:
        mode: `no_effect`, `dropped`, `instead` (another object or place), `aside` (set down elsewhere because the step
            was not possible), `forced` (it worked although the domain says that it cannot), `skipped`, `stopped`,
            `moved` (another agent put an object elsewhere).
        number: index of the step.
        event: index of the event at which it shows.
        instead: the step that was carried out in its place.
        place: where a dropped object went; empty if it is lost.
        lasting: whether the robot goes on with the other object as if it were the right one.
        lost: whether a dropped object cannot be picked up again.
    """

    mode: str
    number: int
    event: int
    instead: Action | None = None
    place: str = ""
    lasting: bool = False
    lost: bool = False


@dataclass(frozen=True)
class Course:
    """One course of events, simulated.

    Attributes:
        deviations: what did not go as planned, in order.
        when: the event at which each step was tried.
        start: the initial state.
        states: the state at every event.
        before: the state before every step.
        after: the state after every step.
        refused: step -> the conditions that were not met.
        final: the state at the end.
        cost: negative logarithm of its probability, up to a constant.
    """

    deviations: tuple[CourseDeviation, ...]
    when: tuple[int, ...]
    start: State
    states: tuple[State, ...]
    before: tuple[State, ...]
    after: tuple[State, ...]
    refused: dict[int, tuple[StateFact, ...]] = field(hash=False)
    final: State
    cost: float

    def first(self) -> CourseDeviation | None:
        """The first thing that did not go as planned."""
        return next(iter(self.deviations), None)


def posterior(courses: Sequence[Course]) -> list[float]:
    """The probability of each course, if one of them is true."""
    least = min(one.cost for one in courses)
    weights = [math.exp(least - one.cost) for one in courses]
    return [weight / sum(weights) for weight in weights]


class Snapshot:
    """A state, indexed for comparison with claims."""

    def __init__(self, state: State, scene: RoledScene) -> None:
        self.state, self.held, self.at = state, scene.held(state) or "", dict[str, list[str]]()
        for fact in state:
            if fact[0] in scene.locations and len(fact) == 3:
                self.at.setdefault(fact[1], []).append(fact[2])

    def inside(self, name: str, place: str, depth: int = 4) -> bool:
        """Whether an object is in or on a place."""
        found = self.at.get(name, ())
        return place in found or (depth > 0 and any(self.inside(each, place, depth - 1) for each in found))


class View:
    """The claims of an event, sorted by what they are about."""

    def __init__(self, event: TraceEvent, scene: RoledScene) -> None:
        self.names = event.named
        held = [(claim.facts[0][-1], claim) for claim in event.claims if claim.facts[0][0] in scene.holding]
        held.sort(key=lambda each: each[0] == "*")
        self.held = next((name if claim.holds and name != "*" else "" for name, claim in held), None)
        self.sure = held[0][1].sure if held else 1.0
        self.places = dict[str, list[tuple[tuple[StateFact, ...], float]]]()
        self.others = list[tuple[str, tuple[StateFact, ...], bool, float]]()
        for claim in event.claims:
            fact = claim.facts[0]
            if fact[0] in scene.locations and not claim.holds:
                self.others.append((PLACE, claim.facts, False, claim.sure))
            elif fact[0] in scene.locations and len(fact) == 3:
                if fact[1] != self.held and scene.carried(fact[1]):
                    self.places.setdefault(fact[1], []).append((claim.facts, claim.sure))
            elif fact[0] not in scene.holding and claim.sure > _LEAST_SURE:
                if fact[0] in scene.covers:
                    # What is held, or cannot be carried, is no obstacle.
                    free = all(scene.carried(name) and name != self.held for name in fact[1:])
                    if not (claim.holds and free):
                        continue
                self.others.append((fact[0], claim.facts, claim.holds, claim.sure))

    def counts(self) -> Counter[str]:
        """How many claims each channel makes."""
        found = Counter(channel for channel, *_ in self.others)
        found[PLACE] += len(self.places)
        found[EMPTY if self.held == "" else HELD] += self.held is not None
        return found


Wrong = tuple[tuple[tuple[str, float], ...], float]
"""The channels of wrong claims with their certainty, and the cost of what is no matter of rates."""


class Simulator:
    """Simulates courses of events of one trace, and weighs them by its claims.

    Args:
        trace: with its scene.
        until: when the search has to end, seconds of `time.thread_time`.
    """

    def __init__(self, trace: FactTrace, until: float = math.inf) -> None:
        self.trace, self.until = trace, until
        self.scene = RoledScene(trace.scene)
        self.slots = slots_of(trace, self.scene)
        self.steps = [slot.step for slot in self.slots]
        self.reported = any(slot.result for slot in self.slots)
        self.views = [View(event, self.scene) for event in trace.events]
        self.last = View(trace.final, self.scene)
        grasps = sum(step.operator in self.scene.grasping for step in self.steps)
        reported = any(view.held for view in self.views)
        counts = sum((view.counts() for view in (*self.views, self.last)), Counter[str]())
        # What a robot writes down itself is wrong less often than what is read off pictures.
        self.written = not isinstance(trace.scene, HouseholdScene)
        base = _WRITTEN if self.written else 1.0
        self.rates = {
            channel: min(0.45, base * (_GRIPPER if channel in (EMPTY, HELD) else _RATE)) for channel in counts
        }
        if grasps and not reported and counts[EMPTY] > 1:
            self.rates[EMPTY] = max(self.rates[EMPTY], _NEVER_REPORTED)
        told = [(*event.heard, event.message.lower() * bool(event.result)) for event in trace.events]
        self.fell = [any(word in sound for sound in sounds for word in _FALLING) for sounds in told]
        self._snapshot = lru_cache(None)(lambda state: Snapshot(state, self.scene))
        self.wrong = lru_cache(None)(self._wrong)
        self._next = lru_cache(None)(lambda state, step: trace.scene.apply(state, step.operator, step.arguments))
        self._unmet = lru_cache(None)(lambda state, step: conditions(trace.scene, state, step))

    @property
    def late(self) -> bool:
        """Whether the time is up."""
        return time.thread_time() > self.until

    # -- claims

    def view(self, event: int) -> View:
        """The claims at an event; those of the end after the last one."""
        return self.views[event] if 0 <= event < len(self.views) else self.last

    def _wrong(self, event: int, state: State) -> Wrong:
        view, now, wrong, more = self.view(event), self._snapshot(state), list[tuple[str, float]](), 0.0
        for channel, facts, value, sure in view.others:
            if any(self._true(now, fact) for fact in facts) != value:
                wrong.append((channel, sure))
        if view.held is not None and view.held != now.held:
            if view.held and now.held and same_stuff(view.held, now.held):
                more += 0.1 if same(view.held, now.held) else 0.5
            else:
                wrong.append((HELD if view.held else EMPTY, view.sure))
        for name, said in view.places.items():
            thing = name if name in now.at or ("sliced", slice_of(name)) not in state else slice_of(name)
            pick = all if is_slice(thing) else any
            if not pick(self._placed(now, thing, facts) for facts, _ in said):
                wrong.append((PLACE, min(sure for _, sure in said)))
            elif thing != now.held and not now.at.get(thing):
                more += NOWHERE
        if event < len(self.views) and not self.written:
            shown = [name for name in view.names if not self.scene.carried(name) and not self._shut(state, name)]
            more += UNSEEN * sum(name not in view.names and name != now.held and any(now.inside(name, p) for p in shown)
                                 for name in self.watched)  # fmt: skip
        return tuple(wrong), more

    @cached_property
    def watched(self) -> tuple[str, ...]:
        """Objects that steps name and that can be carried."""
        named = dict.fromkeys(name for step in self.steps for name in step.arguments)
        return tuple(name for name in named if self.scene.carried(name) and not is_slice(name))

    def _shut(self, state: State, place: str) -> bool:
        """Whether a place hides what is in it."""
        return self.scene.has(place, "door") and ("open", place) not in state

    def _placed(self, now: Snapshot, thing: str, facts: Sequence[StateFact]) -> bool:
        """Whether a claim about a place can be right: of what is nowhere, too."""
        if thing == now.held and not is_slice(thing):
            return False
        return not now.at.get(thing) or any(now.inside(thing, fact[2]) for fact in facts)

    def _true(self, now: Snapshot, fact: StateFact) -> bool:
        if fact[-1] == "*":
            return any(one[: len(fact) - 1] == fact[:-1] for one in now.state)
        if fact[0] in self.scene.locations:
            return now.inside(fact[1], fact[2])
        domain = self.trace.scene.domain
        return fact in now.state if fact[0] not in domain.derived else self.trace.scene.atom(now.state, fact)

    def agrees(self, claim: FactClaim, state: State) -> bool:
        """Whether a claim is right in a state."""
        return any(self._true(self._snapshot(state), fact) for fact in claim.facts) == claim.holds

    def price_of(self, wrong: Wrong) -> float:
        """The cost of wrong claims."""
        total = wrong[1]
        for channel, sure in wrong[0]:
            doubt = (1.0 - sure) * (_UNSURE if self.written else 1.0)
            rate = min(0.49, max(self.rates.get(channel, _RATE), doubt))
            total -= math.log(rate / (1.0 - rate))
        return total

    def seen(self, event: int, now: State, before: State) -> float:
        """The cost of an observation, which may show the moment before."""
        here = self.price_of(self.wrong(event, now))
        if here and now is not before and event < len(self.views):
            return min(here, LATE + self.price_of(self.wrong(event, before)))
        return here

    # -- simulation

    def unmet(self, state: State, step: Action) -> tuple[StateFact, ...]:
        """The conditions of a step that do not hold; of an unknown operator none."""
        found: tuple[StateFact, ...] = self._unmet(state, step) if self.scene.known(step) else ()
        return found

    def after(self, state: State, step: Action) -> State:
        """The state after a step that can be carried out."""
        found: State = state if self.scene.opaque(step) else self._next(state, step)
        return found

    def happened(self, state: State, one: CourseDeviation) -> State:
        """The state after something was dropped, or moved by another agent."""
        if one.mode == "dropped":
            return self.dropped(state, one.place, one.lost)
        assert one.instead is not None
        thing, *places = one.instead.arguments
        rest = frozenset(fact for fact in state if fact[0] not in self.scene.locations or fact[1] != thing)
        return rest | {(self.scene.locations[0], thing, place) for place in places}

    def dropped(self, state: State, place: str, lost: bool) -> State:
        """The state after what the gripper held has fallen, with nothing in it."""
        thing = self.scene.held(state)
        if thing is None:
            return state
        gone = {fact for fact in state if fact[0] in self.scene.holding or fact[:2] == ("filled", thing)}
        gone |= {fact for fact in state if fact[0] in self.scene.locations and fact[2] == thing}
        there = {(self.scene.locations[0], thing, place)} if place and self.scene.locations else set()
        return (state - gone) | there | ({("broken", thing)} if lost else set())

    def tried(
        self, state: State, number: int, deviations: Sequence[CourseDeviation]
    ) -> tuple[State, tuple[StateFact, ...]]:
        """The state after a step was tried, and the conditions that were not met."""
        step = self.steps[number]
        for one in deviations:
            if one.mode == "moved":
                continue
            if one.mode == "stopped" and number >= one.number:
                return state, ()
            if one.number == number and one.mode in ("no_effect", "skipped"):
                return state, ()
            if one.number == number and one.mode == "forced":
                return self.after(state, as_whole(step, state)), ()
            if one.instead is not None and one.number == number:
                return self.after(state, one.instead), self.unmet(state, one.instead if one.mode == "instead" else step)
            if one.lasting and one.instead is not None and number > one.number:
                meant, used = self.steps[one.number].arguments[0], one.instead.arguments[0]
                step = Action(step.operator, tuple(used if name == meant else name for name in step.arguments))
            if one.mode == "forced" and number > one.number:
                step = as_whole(step, state)
        why = self.unmet(state, step)
        return (self.trace.scene.settle(state) if why else self.after(state, step)), why

    def early(self, number: int, event: int) -> float:
        """The cost of a step before its line."""
        return LATE * (event < self.slots[number].first)

    def price(self, one: CourseDeviation, state: State) -> float:
        """The cost of a deviation in a state."""
        cost, fell = (
            _PRIOR[one.mode],
            one.event < len(self.fell) and (self.fell[one.event] or self.fell[max(0, one.event - 1)]),
        )
        if one.mode == "dropped" and fell:
            cost -= _HEARD
        elif (
            one.mode == "no_effect"
            and fell
            and self.steps[one.number].operator in self.scene.grasping | self.scene.releasing
        ):
            cost -= _HEARD / 2
        elif one.mode == "forced" and self.slots[one.number].result is StepResult.SUCCEEDED:
            cost = _CONFIRMED
        elif one.mode == "forced" and any(map(self.scene.about_hand, self.unmet(state, self.steps[one.number]))):
            cost += _IMPOSSIBLE
        if one.mode == "dropped" and self.written and not fell:
            # An empty gripper shows no drop while something is put down.
            puts = self.slots[one.number].first <= one.event and self.scene.puts(self.steps[one.number])
            cost += _UNNOTICED * (puts or self.view(one.event).held is None)
        shown = {view.held for view in self.views[: one.event]}
        if one.mode == "dropped" and self.reported and self.scene.held(state) not in shown:
            taking = one.number > 0 and self.steps[one.number - 1].operator in self.scene.grasping
            if shown != {None} or (taking and one.event < self.slots[one.number].first):
                cost += _NEVER_HELD
        return cost

    def told(self, number: int, worked: bool) -> float:
        """The cost of how a step is said to have ended."""
        return _TOLD.get((self.slots[number].result, worked), 0.0)

    def course(self, start: State, deviations: tuple[CourseDeviation, ...] = (), when: tuple[int, ...] = ()) -> Course:
        """Simulate a course of events.

        Args:
            start: the initial state.
            deviations: what does not go as planned, in order.
            when: the event at which each step is tried; as late as possible for those that are not given.
        """
        when = when or tuple(slot.last for slot in self.slots)
        states, before, after = list[State](), list[State](), list[State]()
        refused, now, previous = dict[int, tuple[StateFact, ...]](), start, start
        total = 0.0
        for event in range(len(self.views) + 1):
            for one in deviations:
                if one.mode in ("dropped", "moved") and one.event == event:
                    total += self.price(one, now)
                    now = self.happened(now, one)
            for number in range(len(after), len(when)):
                if when[number] > event:
                    break
                own = [one for one in deviations if one.number == number and one.mode not in ("dropped", "moved")]
                total += sum(self.price(one, now) for one in own) + self.early(number, event)
                before.append(now)
                now, why = self.tried(now, number, deviations)
                after.append(now)
                total += self.told(number, not why and all(one.mode == "forced" for one in own))
                if why:
                    total += _DEFECT * (not refused and not any(one.number <= number for one in deviations))
                    refused[number] = why
            total += self.seen(event, now, previous)
            if event < len(self.views):
                states.append(now)
                previous = now
        return Course(deviations, when, start, tuple(states), tuple(before), tuple(after), refused, now, total)


class Starts(Simulator):
    """Proposes initial states of one trace."""

    def first_guess(self, stayed: bool = False) -> State:
        """The initial state by majority of what was seen before a step changed it.

        Args:
            stayed: whether objects that were first seen after that are taken to have been there all along.
        """
        touched = dict[str, int]()
        for slot in self.slots:
            for name in slot.step.arguments:
                touched.setdefault(name, slot.first if not slot.told else slot.last)
        later, end = self._cut_later(), len(self.views)
        places, states = dict[str, Counter[str]](), dict[tuple[str, ...], Counter[object]]()
        for event, view in enumerate(self.views):
            for name, said in view.places.items():
                for facts, sure in said:
                    early = event < touched.get(name, end) and all(same(fact[2], facts[0][2]) for fact in facts)
                    counts = places.setdefault(name, Counter())
                    if early and counts.total() < 20 and name not in later:
                        counts[facts[0][2]] += 3 if sure == 1.0 else 1
            for _, facts, value, _ in view.others:
                fact = facts[0]
                if len(facts) == 1 and len(fact) > 1 and event < touched.get(fact[1], end) and fact[1] not in later:
                    wide = len(fact) == 3 and (fact[-1] == "*" or fact[0] in self.trace.scene.domain.variables)
                    counts2 = states.setdefault(fact[:2] if wide else fact, Counter())
                    counts2[(fact[2] if value else "") if wide else value] += counts2.total() < 5
        found = self._needed_places() | self._behind_opened()
        for name, seen in places.items():
            if not seen and stayed and not is_slice(name):
                seen[next(v.places[name][0][0][0][2] for v in self.views if name in v.places)] += 1
            if seen:
                found = {fact for fact in found if fact[1] != name}
                found.add((self.scene.locations[0], name, seen.most_common(1)[0][0]))
        for key, values in states.items():
            common, times = values.most_common(1)[0] if values else (False, 0)
            if common and common != "*" and times > values[False if isinstance(common, bool) else ""]:
                found.add((*key, *([common] if isinstance(common, str) else [])))
        return self.trace.scene.settle(frozenset(found))

    def _cut_later(self) -> set[str]:
        """Slices that are not there at the start: of what a step slices, or of what is seen whole."""
        cut = {name for step in self.steps for name in step.arguments[:1] if not is_slice(name)
               and any(fact[0] == "sliced" for fact in self._adds(frozenset(), step))}  # fmt: skip
        cut |= {name for event in self.trace.events for name in event.seen if not is_slice(name)}
        return {name for name in self.trace.scene.objects if is_slice(name) and whole(name) in cut}

    def _adds(self, state: State, step: Action) -> State:
        return self.after(state, step) - state if self.scene.known(step) else frozenset()

    def _needed_places(self) -> set[StateFact]:
        """Where steps take things that no earlier step has touched, by their conditions."""
        facts, touched = set[StateFact](), set[str]()
        for step in self.steps:
            if not self.scene.known(step):
                continue
            operator, at = self.trace.scene.operator(step.operator, step.arguments)
            for need in operator.preconditions:
                if isinstance(need, Atom) and need.predicate in self.scene.locations:
                    fact = (need.predicate, *(at.get(term, term) for term in need.terms))
                    facts |= {fact} if fact[1] not in touched else set()
            touched |= set(step.arguments)
        return facts

    def _behind_opened(self) -> set[StateFact]:
        """Objects that the plan takes right after it opens a door are behind it, as far as nothing else is seen."""
        facts, door, taken = set[StateFact](), None, set[str]()
        for step in self.steps:
            if step.operator in self.scene.switches and self.scene.switches[step.operator][1]:
                door = step
            elif step.operator in self.scene.grasping and self.scene.known(step):
                thing = step.arguments[0]
                if door is not None and thing not in taken and not is_slice(thing):
                    behind = (self.scene.locations[0], thing, door.arguments[0])
                    shut = self.unmet(frozenset({behind}), step)
                    if shut and len(self.unmet(self.after(frozenset({behind}), door), step)) < len(shut):
                        facts.add(behind)
                taken.add(thing)
                door = None
            elif self.scene.puts(step):
                door = None
        return facts

    def _flips(self, course: Course) -> Iterator[State]:
        """Initial states that differ in one thing that claims contradict."""
        start, done = course.start, set[object]()
        for event, state in enumerate((*course.states, course.final)):
            wrong, more = self.wrong(event, state)
            if not wrong and not more:
                continue
            view, now = self.view(event), self._snapshot(state)
            for _, facts, value, _ in view.others:
                fact = facts[0]
                if fact[0] == "sliced" or fact in done or self._true(now, fact) == value:
                    continue
                done.add(fact)
                if fact[-1] == "*" or (len(fact) == 3 and fact[0] in self.trace.scene.domain.variables):
                    rest = frozenset(one for one in start if one[:2] != fact[:2])
                    yield rest | ({fact} if value and fact[-1] != "*" else set())
                elif fact[0] not in self.trace.scene.domain.derived:
                    yield start - {fact} if fact in start else start | {fact}
            for name, said in view.places.items():
                for fact in [facts[k] for facts, _ in said for k in range(min(3, len(facts)))]:
                    if not now.inside(name, fact[2]) and (name, fact[2]) not in done and not is_slice(name):
                        done.add((name, fact[2]))
                        rest = frozenset(f for f in start if f[0] not in self.scene.locations or f[1] != name)
                        yield rest | {(self.scene.locations[0], name, fact[2])}
        yield from self._hidden(start)

    def _hidden(self, start: State) -> Iterator[State]:
        """Initial states in which what was never seen is behind a door."""
        where = self.scene.locations[:1]
        for slot in self.slots:
            thing = next(iter(slot.step.arguments), "")
            early = any(thing in view.names or view.held == thing for view in self.views[: slot.last + 1])
            if slot.step.operator in self.scene.grasping and where and not early and not is_slice(thing):
                for door in self.doors:
                    yield frozenset(f for f in start if f[:2] != (where[0], thing)) | {(where[0], thing, door)}

    @cached_property
    def doors(self) -> list[str]:
        """Objects that steps or claims open."""
        opened = {step.arguments[0] for step in self.steps if step.operator in self.scene.switches}
        opened |= {f[1] for v in self.views for _, facts, _, _ in v.others for f in facts if f[0] == "open"}
        return [name for name in self.trace.scene.objects if name in opened and not self.scene.carried(name)
                and "door" in self.trace.scene.objects[name]]  # fmt: skip

    def settled(self, course: Course) -> Course:
        """The same course from the initial state that fits the claims best."""
        best = course
        for _ in range(6):
            options = list[Course]()
            for start in self._flips(best):
                if self.late:
                    return best
                options.append(self.course(start, best.deviations, best.when))
            better = min(options, key=lambda one: one.cost, default=best)
            if better.cost >= best.cost - 0.1:
                return best
            best = better
        return best


@dataclass(slots=True)
class _Node:
    """The beginning of a course."""

    cost: float
    state: State
    previous: State
    deviations: tuple[CourseDeviation, ...] = ()
    when: tuple[int, ...] = ()
    defect: bool = False


def _likely(nodes: list[_Node], width: int) -> list[_Node]:
    """The most likely nodes; of those that differ only in when steps were tried, one."""
    best = dict[tuple[object, ...], _Node]()
    for node in sorted(nodes, key=lambda one: one.cost):
        best.setdefault((node.state, node.previous, node.deviations, len(node.when), node.defect), node)
    kept = list(best.values())[:width]
    return [node for node in kept if node.cost < kept[0].cost + _DEPTH]


def _rank(one: Course) -> tuple[float, ...]:
    """The cost; what may have been lost earlier or later was lost when that shows."""
    lost = [each.event for each in one.deviations if each.mode == "dropped"]
    return (round(one.cost, 3), float(len(lost)), *(-float(event) for event in lost))


class Believer(Starts):
    """Finds the courses of events that explain one trace best."""

    def __init__(self, trace: FactTrace, until: float = math.inf) -> None:
        super().__init__(trace, until)
        self._places_of, self._others = lru_cache(None)(self._found_at), lru_cache(None)(self._instead_of)

    def search(self, starts: Sequence[State]) -> list[Course]:
        """The courses that explain the trace best from some initial states, simulated in full."""
        found = list[Course]()
        for start in starts:
            beam = [_Node(0.0, start, start)]
            for event in range(len(self.views) + 1):
                if self.late and found:
                    return sorted(found, key=lambda one: one.cost)
                beam = self._observed([*self._moments(beam, event)], event)
            best = dict[tuple[CourseDeviation, ...], _Node]()
            for node in sorted(beam, key=lambda one: one.cost):
                best.setdefault(node.deviations, node)
            kept = list(best.values())[: 4 if self.late else _READINGS]
            found += [self.course(start, node.deviations, node.when) for node in kept]
        return sorted(found, key=lambda one: one.cost)

    def _observed(self, nodes: list[_Node], event: int) -> list[_Node]:
        seen = [
            replace(node, cost=node.cost + self.seen(event, node.state, node.previous), previous=node.state)
            for node in nodes
        ]
        return _likely(seen, 6 if self.late else _WIDTH)

    def _moments(self, beam: Sequence[_Node], event: int) -> Iterator[_Node]:
        """Every node after what may happen up to an event: drops, and steps that may or must be tried by then."""
        waiting = [*beam, *(other for node in beam for other in (*self._drops(node, event), *self._moves(node, event)))]
        while waiting:
            tried = list[_Node]()
            for node in waiting:
                number = len(node.when)
                if number == len(self.slots) or self.slots[number].early > event:
                    yield node
                    continue
                if self.slots[number].last > event:
                    yield node
                tried += self._attempts(node, number, event)
            # Steps without a line may all be tried at one event: what is too unlikely goes no further.
            waiting = _likely(tried, 20 if self.late else _ATTEMPTS)

    def _drops(self, node: _Node, event: int) -> Iterator[_Node]:
        carried, number = self.scene.held(node.state), len(node.when)
        if carried is None or number == len(self.slots) or event == len(self.views):
            return
        # What ends up elsewhere when it is put down was put there.
        put = self.slots[number].last == event and self.scene.puts(self.steps[number])
        kept = {"door", "machine"}
        places = [each for each in self._places_of(carried, event)
                  if not put and not self.trace.scene.objects.get(each, frozenset()) & kept]  # fmt: skip
        again = any(step.arguments[:1] == (carried,) for step in self.steps[number + 1 :])
        for place, lost in (("", False), *((each, False) for each in places), *([("", True)] if again else [])):
            one = CourseDeviation("dropped", number, event, None, place, lost=lost)
            yield self._deviated(node, one, self.dropped(node.state, place, lost))

    def _moves(self, node: _Node, event: int) -> Iterator[_Node]:
        """What another agent has moved: it was seen where it was put, and is seen elsewhere now."""
        number = min(len(node.when), len(self.slots) - 1)
        for thing in self.handled if self.written and node.when and event < len(self.views) else ():
            here = self.scene.places(node.state, thing)
            view = self.view(event)
            gone = any(not value and (self.scene.locations[0], thing, place) in facts
                       for place in here for _, facts, value, _ in view.others)  # fmt: skip
            found = [facts[0][2] for facts, _ in view.places.get(thing, ()) if facts[0][2] not in here]
            if here and (gone or found) and not self._tried_at(thing, event):
                step = Action("moved", (thing, *found[:1]))
                one = CourseDeviation("moved", number, event, step, next(iter(found), ""))
                yield self._deviated(node, one, self.happened(node.state, one))

    def _tried_at(self, thing: str, event: int) -> bool:
        """Whether a step with an object may just have been tried, and no other one has begun."""
        ends = [*(slot.first for slot in self.slots[1:]), len(self.views)]
        return any(
            slot.early <= event < max(end, slot.last + 1) and thing in slot.step.arguments
            for slot, end in zip(self.slots, ends, strict=True)
        )

    @cached_property
    def handled(self) -> list[str]:
        """What steps put somewhere."""
        return list(dict.fromkeys(step.arguments[0] for step in self.steps if self.scene.puts(step)))

    def _deviated(self, node: _Node, one: CourseDeviation, state: State) -> _Node:
        cost = node.cost + self.price(one, node.state)
        return replace(node, cost=cost, state=state, deviations=(*node.deviations, one))

    def _attempts(self, node: _Node, number: int, event: int) -> Iterator[_Node]:
        """What may come of a step."""
        tried = replace(node, cost=node.cost + self.early(number, event), when=(*node.when, event))
        state, why = self.tried(node.state, number, node.deviations)
        defect = bool(why) and not node.deviations and not node.defect
        cost = tried.cost + self.told(number, not why) + _DEFECT * defect
        yield replace(tried, cost=cost, state=state, defect=node.defect or defect)
        if any(one.mode == "stopped" for one in node.deviations):
            return
        for one in self._deviations(node, number, event, bool(why)):
            state, _ = self.tried(node.state, number, (*node.deviations, one))
            changed = self._deviated(replace(tried, state=node.state), one, state)
            yield replace(changed, cost=changed.cost + self.told(number, one.mode == "forced"))

    def _deviations(self, node: _Node, number: int, event: int, refused: bool) -> Iterator[CourseDeviation]:
        slot, step = self.slots[number], self.steps[number]
        if not slot.told:
            if slot.last == len(self.views):
                yield CourseDeviation("stopped", number, event)
            elif not refused:
                yield CourseDeviation("skipped", number, event)
        if refused:
            yield CourseDeviation("forced", number, event)
        elif slot.told:
            yield CourseDeviation("no_effect", number, event)
        if not self.scene.known(step) or not step.arguments:
            return
        releasing, thing = self.scene.puts(step), step.arguments[0]
        others, held = self._others(step, event), self.scene.held(node.state)
        if refused and releasing and held not in (None, thing):
            # Whatever is in the gripper is put down.
            yield CourseDeviation("aside", number, event, Action(step.operator, (str(held), *step.arguments[1:])))
        if refused and releasing and not others:
            surfaces = [self.scene.fitting(Action(step.operator, (thing, each))) for each in self.scene.surfaces()[:1]]
            others = [each for each in surfaces if each is not None]
        for other in others:
            if releasing:
                if not refused or held == thing:
                    yield CourseDeviation("aside" if refused else "instead", number, event, other)
            elif other.arguments[0] != held and (not refused or step.operator in self.scene.grasping):
                yield CourseDeviation("instead", number, event, other)
                if step.operator in self.scene.grasping:
                    yield CourseDeviation("instead", number, event, other, lasting=True)

    def _found_at(self, thing: str, begin: int) -> list[str]:
        found = Counter(
            (facts[0][2], facts[0][0])
            for view in (*self.views[begin : begin + 12], self.last)
            for name, said in view.places.items()
            if name == thing or same_stuff(name, thing)
            for facts, _ in said
        )
        # What an object is in comes before what that stands on.
        best = sorted(found.most_common(4), key=lambda each: (not self.scene.carried(each[0][0]), -each[1]))
        return list(dict.fromkeys(place for (place, _), _ in best))

    def _instead_of(self, step: Action, event: int) -> list[Action]:
        """The step with another object or place, by what is seen afterwards."""
        thing, scene = step.arguments[0], self.scene
        if scene.puts(step):
            found = [place for place in self._places_of(thing, event) if not same(step.arguments[1], place)]
            ways = [scene.fitting(Action(step.operator, (thing, place, *step.arguments[2:]))) for place in found
                    if place in self.trace.scene.objects]  # fmt: skip
            return [*(way for way in ways if way is not None), *self._merely_on(step, event)]
        if step.operator in scene.grasping:
            held = Counter(view.held for view in self.views[event : event + 6] if view.held)
            names = [name for name, _ in held.most_common(3) if name and not same_stuff(name, thing)]
            return [Action(step.operator, (name, *step.arguments[1:])) for name in names]
        trait = self.trace.scene.domain.operators[step.operator].parameters[0].trait
        alike = [name for name in self.trace.scene.objects if name != thing and not is_slice(name)
                 and ((trait and scene.has(name, trait)) or noun(name) == noun(thing))]  # fmt: skip
        shown = {fact for view in (*self.views[event : event + 3], self.last) for _, facts, value, _ in view.others
                 if value for fact in facts}  # fmt: skip
        return [Action(step.operator, (name, *step.arguments[1:])) for name in alike
                if noun(name) == noun(thing)
                or self._adds(frozenset(), Action(step.operator, (name, *step.arguments[1:]))) & shown]  # fmt: skip

    def _merely_on(self, step: Action, event: int) -> list[Action]:
        """Putting something on top of what it should be put into, if it is seen so."""
        thing, place = step.arguments[:2]
        for each in self.scene.releasing - {step.operator}:
            other = Action(each, step.arguments)
            facts = self._adds(frozenset(), other) if self.scene.known(other) else frozenset()
            if any(fact in facts and fact not in self._adds(frozenset(), step)
                   for view in (*self.views[event : event + 12], self.last)
                   for found, _ in view.places.get(thing, ()) for fact in found if fact[2] == place):  # fmt: skip
                return [other]
        return []

    def courses(self) -> list[Course]:
        """Courses of events, the most likely first, each set of deviations once."""
        guess = self.first_guess()
        planned = self.settled(self.course(guess))
        starts = list(dict.fromkeys((guess, planned.start, self.first_guess(stayed=True))))
        found = [planned, *self.search(starts)]
        for _ in range(2):
            settled = [self.settled(one) for one in sorted(found, key=lambda one: one.cost)[:4]]
            fresh = [one.start for one in settled if all(one.start != each.start for each in found)]
            found += settled
            if self.late or not fresh:
                break
            found += self.search(list(dict.fromkeys(fresh))[:2])
        best_of = dict[tuple[CourseDeviation, ...], Course]()
        for one in sorted(found, key=_rank):
            best_of.setdefault(one.deviations, one)
        return list(best_of.values())

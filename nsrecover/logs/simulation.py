"""Courses of events of a log, simulated with the domain, and how probable the observations make them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains.base import State
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.household.names import is_slice, same_stuff, whole
from nsrecover.domains.household.scene import HouseholdScene, holding, unmet
from nsrecover.logs.observer import LATE, NO_ERRORS, LogSighting, Observer, Snapshot, Tally, sighting_of, tally
from nsrecover.logs.reading.records import HouseholdLog
from nsrecover.logs.reading.timeline import Slot

_UNUSUAL = {"dirty": 1.0, "filled": 1.0, "open": 1.5, "running": 2.5, "covers": 2.0, "cracked": 2.5, "hot": 2.0}
"""Cost of a state at the start that plans do not reckon with."""
_ODD = 2.0
"""Cost of a thing at the start on something that is neither a place nor a dish."""
_PRIOR = {"no_effect": 4.0, "dropped": 4.0, "instead": 4.5, "forced": 5.0, "aside": 1.5, "skipped": 4.0, "stopped": 1.5}
"""Cost of what may come of a step; a step without a line may have been skipped, and the run may have stopped early."""
_IMPOSSIBLE = 4.0
"""Further cost of a step that worked with nothing in the gripper, or without what it acts on."""
_AS_WHOLE = 2.0
"""How much less unlikely it is that a robot takes a whole thing for its slices."""
UNSHOWN = 1.5
"""Further cost of an effect that comes before its line and that no observation shows."""
DEFECT = 2.5
"""Cost of a plan with a step that cannot be carried out."""
_FALLING = re.compile(r"\b(?:drop|fall|crash|thud|shatter)")
PUTTING = ("put_in", "put_on")
FINAL = 1.5
"""Weight of the final observation, which is gathered over the whole log."""


@dataclass(frozen=True)
class CourseDeviation:
    """Something that did not go as planned.

    Attributes:
        mode: `no_effect`, `dropped`, `instead` (another object or place), `aside` (set down elsewhere because the step
            was not possible), `forced` (it worked although the domain says that it cannot), `skipped`, `stopped`.
        number: index of the step.
        event: index of the frame at which it shows.
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


class Simulator:
    """Simulates courses of events of one log, and weighs them by its observations.

    Args:
        log: the log, with one name for each object.
        home: its objects.
        slots: the steps, from `nsrecover.logs.reading.timeline.slots_of`.
        observer: how far observations are trusted.
    """

    def __init__(self, log: HouseholdLog, home: HouseholdScene, slots: Sequence[Slot], observer: Observer) -> None:
        self.log, self.home, self.slots = log, home, list(slots)
        self.steps = [slot.step for slot in slots]
        self.views = [sighting_of(frame.observation, home) for frame in log.events]
        # It is gathered over all frames, so that nothing has to be in view at the end.
        self.last = replace(sighting_of(log.final, home), seen=frozenset())
        self.observer = observer
        self.claims = [sum(counts) for counts in zip(*(view.claims for view in (*self.views, self.last)), strict=True)]
        self.watched = tuple(
            {name for step in self.steps for name in step.arguments
             if home.has(name, Trait.PORTABLE) and not is_slice(name)}
        )  # fmt: skip
        falls = [bool(_FALLING.search(frame.observation.sounds)) for frame in log.events]
        # The less is seen, the more a sound decides; most sounds are of something else.
        rare = math.log(0.7 / ((sum(falls) + 0.5) / (len(falls) + 10.0))) if any(falls) else 0.0
        self._heard = rare * (1.0 - observer.trust / 2)
        self._unheard = 0.7 if any(frame.observation.sounds for frame in log.events) else 0.0
        self._fell = [1.0 if fell else 0.8 * falls[max(0, event - 1)] for event, fell in enumerate(falls)]
        self._snapshot = lru_cache(None)(lambda state: Snapshot(state, home))
        self._tally = lru_cache(None)(self._tally_of)
        self._next = lru_cache(None)(lambda state, step: home.apply(state, step.operator, step.arguments))
        self._unmet = lru_cache(None)(lambda state, step: tuple(unmet(state, step, home)))

    # -- simulation

    def _view(self, event: int) -> LogSighting:
        return self.views[event] if 0 <= event < len(self.views) else self.last

    def _tally_of(self, event: int, state: State) -> Tally:
        last = event >= len(self.views)
        return tally(self._view(event), self._snapshot(state), () if last else self.watched, self.home)

    def _seen(self, event: int, now: State, before: State, observer: Observer) -> tuple[float, Tally]:
        """The cost of an observation, which may show the moment before, and what is wrong with it."""
        found = self._tally(event, now)
        here = observer.cost(found)
        if here and now is not before and event < len(self.views):
            late = self._tally(event, before)
            if LATE + observer.cost(late) < here:
                return LATE + observer.cost(late), (*late[:-1], late[-1] + LATE)
        return here, found

    def _known(self, step: Action) -> bool:
        return step.operator in HOUSEHOLD.operators

    def unmet(self, state: State, step: Action) -> tuple[StateFact, ...]:
        """The conditions of a step that do not hold; of an unknown operator none."""
        found: tuple[StateFact, ...] = self._unmet(state, step) if self._known(step) else ()
        return found

    def after(self, state: State, step: Action) -> State:
        """The state after a step that can be carried out."""
        found: State = self._next(state, step) if self._known(step) else state
        return found

    def _dropped(self, state: State, place: str, lost: bool) -> State:
        thing = holding(state)
        if thing is None:
            return state
        gone = {fact for fact in state if fact == ("holding", thing) or fact[:2] == ("filled", thing)}
        gone |= {fact for fact in state if fact[0] in ("at", "atop") and fact[2] == thing}
        return (state - gone) | ({("at", thing, place)} if place else set()) | ({("broken", thing)} if lost else set())

    def _tried(
        self, state: State, number: int, deviations: Sequence[CourseDeviation]
    ) -> tuple[State, tuple[StateFact, ...]]:
        """The state after a step was tried, and the conditions that were not met."""
        step = self.steps[number]
        for one in deviations:
            if one.mode == "stopped" and number >= one.number:
                return state, ()
            if one.number == number and one.mode in ("no_effect", "skipped"):
                return state, ()
            if one.number == number and one.mode == "forced":
                return self.after(state, self._whole(step, state)), ()
            if one.instead is not None and one.number == number:
                return self.after(state, one.instead), self.unmet(state, one.instead if one.mode == "instead" else step)
            if one.lasting and one.instead is not None and number > one.number:
                meant, used = self.steps[one.number].arguments[0], one.instead.arguments[0]
                step = Action(step.operator, tuple(used if name == meant else name for name in step.arguments))
            if one.mode == "forced" and number > one.number:
                step = self._whole(step, state)
        why = self.unmet(state, step)
        return (self.home.settle(state) if why else self.after(state, step)), why

    def _unusual(self, start: State) -> float:
        """The cost of an initial state: what plans do not reckon with, and things on what carries nothing."""
        odd = sum(
            fact[0] == "at" and self.home.has(fact[2], Trait.PORTABLE) and not self.home.has(fact[2], Trait.DISH)
            for fact in start
        )
        return sum(_UNUSUAL.get(fact[0], 0.0) for fact in start) + _ODD * odd

    def _whole(self, step: Action, now: State) -> Action:
        """A step with slices that do not exist, which a robot does with what it was to slice."""
        if not any(is_slice(name) and ("sliced", name) not in now for name in step.arguments):
            return step
        return Action(step.operator, tuple(whole(name) for name in step.arguments))

    def fell(self, event: int) -> float:
        """How clearly something was heard falling at an event, or right before it."""
        return self._fell[event] if event < len(self._fell) else 0.0

    def _early(self, number: int, event: int) -> float:
        """The cost of a step before its line: more if what was put down is not seen where it would be."""
        step = self.steps[number]
        if event >= self.slots[number].first:
            return 0.0
        unseen = step.operator in PUTTING and not any(
            same_stuff(name, step.arguments[0]) and step.arguments[1] in places
            for name, places, *_ in self._view(event).places
        )
        return LATE + UNSHOWN * unseen

    def _price(self, one: CourseDeviation, state: State) -> float:
        """The cost of a deviation in a state."""
        cost = _PRIOR[one.mode]
        fell = self.fell(one.event)
        if one.mode == "dropped":
            return cost - self._heard * fell if fell else cost + self._unheard
        if one.mode == "no_effect" and fell and self.steps[one.number].operator in (*PUTTING, "pick_up"):
            return cost - self._heard * fell / 2
        if one.mode == "forced":
            needs = {need[0] for need in self.unmet(state, self.steps[one.number])}
            if needs == {"exists"}:
                cost -= _AS_WHOLE
            elif needs & {"tool", "holding", "full", "exists"}:
                cost += _IMPOSSIBLE
        return cost

    def course(
        self, start: State, deviations: tuple[CourseDeviation, ...] = (), when: tuple[int, ...] = (),
        observer: Observer | None = None,
    ) -> Course:  # fmt: skip
        """Simulate a course of events.

        Args:
            start: the initial state.
            deviations: what does not go as planned, in order.
            when: the event at which each step is tried; as late as possible for those that are not given.
            observer: how far observations are trusted; as the log suggests if None.
        """
        observer = observer or self.observer
        when = when or tuple(slot.last for slot in self.slots)
        states, before, after = list[State](), list[State](), list[State]()
        refused, now, previous = dict[int, tuple[StateFact, ...]](), start, start
        total, found, defect = self._unusual(start), list[Tally](), False
        for event in range(len(self.views) + 1):
            for one in deviations:
                if one.mode == "dropped" and one.event == event:
                    total += self._price(one, now)
                    now = self._dropped(now, one.place, one.lost)
            for number in range(len(after), len(when)):
                if when[number] > event:
                    break
                total += sum(
                    self._price(one, now) for one in deviations if one.number == number and one.mode != "dropped"
                )
                total += self._early(number, event)
                before.append(now)
                now, why = self._tried(now, number, deviations)
                after.append(now)
                if why:
                    refused[number] = why
                    defect |= not any(one.number <= number and one.mode != "aside" for one in deviations)
            if event < len(self.views):
                found.append(self._seen(event, now, previous, observer)[1])
                states.append(now)
                previous = now
        columns = list(zip(*found, strict=True)) or [()] * len(NO_ERRORS)
        last = self._tally(len(self.views), now)
        one, two, three, four, five, six, rest = (
            sum(column) + FINAL * final for column, final in zip(columns, last, strict=True)
        )
        summed: Tally = (one, two, three, four, five, six, rest)
        total += observer.surprise(summed, self.claims) + DEFECT * defect
        return Course(
            deviations, when, start, tuple(states), tuple(before), tuple(after), refused, now, total
        )  # fmt: skip

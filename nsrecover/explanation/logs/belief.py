"""What most likely happened in a run: hypotheses simulated with the domain, weighed by every observation.

A hypothesis is an initial state and at most one thing that went wrong in execution. The domain says what follows; the
cost of a hypothesis is the negative logarithm of its prior times the likelihood of every frame, which may show the
moment before.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains.base import State
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.household.names import is_slice, noun, same, same_stuff, slice_of, whole
from nsrecover.domains.household.scene import Household, holding, unmet
from nsrecover.explanation.logs.inference.courses import Course, Hypothesis
from nsrecover.explanation.logs.inference.evidence import LATE, Sighting, Snapshot, cost, sighting_of
from nsrecover.explanation.logs.reading.records import HouseholdLog
from nsrecover.explanation.logs.run import Capabilities

_UNUSUAL = {"dirty": 1.0, "filled": 1.0, "open": 1.5, "running": 2.5, "covers": 2.0, "cracked": 2.5, "hot": 2.0}
"""Cost of a state at the start that plans do not reckon with."""
_PRIOR = {"as_planned": 0.0, "no_effect": 4.0, "dropped": 4.0, "instead": 4.5, "forced": 5.0}
_IMPOSSIBLE = 4.0
"""Further cost of a step that worked with nothing in the gripper, or without what it acts on."""
_AS_WHOLE = 2.0
"""How much less unlikely it is that a robot takes a whole thing for its slices."""
_DEFECT = 2.5
"""Cost of a plan with a step that cannot be carried out."""
_FALLING = re.compile(r"\b(?:drop|fall|crash|thud|shatter)")
_HEARD = 1.0
"""How much less unlikely a fall is when one was heard; sounds are often wrong."""
_PUTTING = ("put_in", "put_on")
_ENCLOSED = {Trait.DOOR, Trait.MACHINE}


class Believer:
    """Weighs hypotheses about one log.

    Args:
        log: the log.
        home: its objects.
        steps: the steps that were carried out.
        ends: index of the event at which each ends.
        able: what may be used.
    """

    def __init__(
        self, log: HouseholdLog, home: Household, steps: Sequence[Action], ends: Sequence[int],
        able: Capabilities | None = None,
    ) -> None:  # fmt: skip
        self.able = able or Capabilities()
        self.log, self.home, self.steps, self.ends = log, home, list(steps), list(ends)
        self.views = [sighting_of(frame.observation, home) for frame in log.events]
        # It is gathered over all frames, so that nothing has to be in view at the end.
        self.last = replace(sighting_of(log.final, home), seen=frozenset())
        self.watched = tuple(
            {name for step in steps for name in step.arguments if home.has(name, Trait.PORTABLE) and not is_slice(name)}
        )
        self._ending: dict[int, list[int]] = {}
        for number, event in enumerate(ends):
            self._ending.setdefault(event, []).append(number)
        self._snapshot = lru_cache(None)(lambda state: Snapshot(state, home))
        self._cost = lru_cache(None)(self._cost_of)
        self._next = lru_cache(None)(self._apply)
        self._unmet = lru_cache(None)(lambda state, step: tuple(unmet(state, step, home)))

    # -- simulation

    def _view(self, event: int) -> Sighting:
        return self.views[event] if event >= 0 else self.last

    def _cost_of(self, event: int, state: State) -> float:
        return cost(self._view(event), self._snapshot(state), self.watched if event >= 0 else ())

    def _apply(self, state: State, step: Action) -> State:
        return self.home.apply(state, step.operator, step.arguments)

    def unmet(self, state: State, step: Action) -> tuple[StateFact, ...]:
        """The conditions of a step that do not hold; of an unknown operator none."""
        operator = HOUSEHOLD.operators.get(step.operator)
        if operator is None or len(operator.parameters) != len(step.arguments):
            return ()
        found: tuple[StateFact, ...] = self._unmet(state, step)
        return found

    def after(self, state: State, step: Action) -> State:
        """The state after a step that can be carried out."""
        operator = HOUSEHOLD.operators.get(step.operator)
        if operator is None or len(operator.parameters) != len(step.arguments):
            return state
        found: State = self._next(state, step)
        return found

    def _dropped(self, state: State, place: str, lost: bool) -> State:
        thing = holding(state)
        if thing is None:
            return state
        gone = {fact for fact in state if fact == ("holding", thing) or fact[:2] == ("filled", thing)}
        gone |= {fact for fact in state if fact[0] in ("at", "atop") and fact[2] == thing}
        return (state - gone) | ({("at", thing, place)} if place else set()) | ({("broken", thing)} if lost else set())

    def course(self, start: State, hypothesis: Hypothesis, like: Course | None = None) -> Course:
        """Simulate a hypothesis.

        Args:
            start: the initial state.
            hypothesis: what goes wrong.
            like: a course from the same start in which nothing goes wrong before that.
        """
        first = 0
        states, before, after, refused = list[State](), list[State](), list[State](), dict[int, tuple[StateFact, ...]]()
        now, total = start, _PRIOR[hypothesis.mode] + self._unusual(start)
        if like is not None and hypothesis.event > 0:
            first = hypothesis.event
            states = list(like.states[:first])
            done = sum(end < first for end in self.ends)
            before, after = list(like.before[:done]), list(like.after[:done])
            refused = {number: why for number, why in like.refused.items() if number < done}
            now = states[-1] if states else start
        for event in range(first, len(self.views)):
            if hypothesis.mode == "dropped" and hypothesis.event == event:
                now = self._dropped(now, hypothesis.place, hypothesis.lost)
            for number in self._ending.get(event, ()):
                before.append(now)
                now = self._done(now, number, hypothesis, refused)
                after.append(now)
            states.append(now)
        previous = start
        for event, state in enumerate(states):
            if not self.able.all_frames and event not in self._ending:
                continue
            here = self._cost(event, state)
            if here and state is not previous and self.able.late_frames:
                here = min(here, LATE + self._cost(event, previous))
            total += here
            previous = state
        forced = {need[0] for need in refused.pop(-1, ())}
        if forced == {"exists"}:
            total -= _AS_WHOLE
        elif forced & {"tool", "holding", "full", "exists"}:
            total += _IMPOSSIBLE
        # What cannot be done after a failed execution follows from it.
        blamed = hypothesis.number if hypothesis.mode in ("no_effect", "dropped", "instead") else len(self.steps)
        total += self._cost(-1, now) + (_DEFECT if any(number < blamed for number in refused) else 0.0)
        if hypothesis.mode == "dropped" and any(
            _FALLING.search(frame.observation.sounds)
            for frame in self.log.events[max(0, hypothesis.event - 1) : hypothesis.event + 1]
        ):
            total -= _HEARD
        return Course(hypothesis, start, tuple(states), tuple(before), tuple(after), refused, total)

    def _done(
        self, now: State, number: int, hypothesis: Hypothesis, refused: dict[int, tuple[StateFact, ...]]
    ) -> State:
        step = self.steps[number]
        if hypothesis.number == number and hypothesis.mode == "no_effect":
            return now
        if hypothesis.mode == "instead" and hypothesis.instead is not None:
            other = hypothesis.instead
            if hypothesis.number == number:
                step = other
            elif hypothesis.lasting and number > hypothesis.number:
                meant, used = self.steps[hypothesis.number].arguments[0], other.arguments[0]
                step = Action(step.operator, tuple(used if name == meant else name for name in step.arguments))
        if hypothesis.mode == "forced" and number >= hypothesis.number:
            step = self._whole(step, now)
        why = self.unmet(now, step)
        if hypothesis.number == number and hypothesis.mode == "forced":
            refused[-1] = tuple(self.unmet(now, self.steps[number]))
        elif why:
            refused[number] = why
            return self.home.settle(now)
        return self.after(now, step)

    def _whole(self, step: Action, now: State) -> Action:
        """A step with slices that do not exist, which a robot does with what it was to slice."""
        if not any(is_slice(name) and ("sliced", name) not in now for name in step.arguments):
            return step
        return Action(step.operator, tuple(whole(name) for name in step.arguments))

    def _unusual(self, start: State) -> float:
        return sum(_UNUSUAL.get(fact[0], 0.0) for fact in start)

    # -- the initial state

    def first_guess(self) -> State:
        """The initial state by majority of what was seen before a step changed it."""
        touched = dict[str, int]()
        for number, step in enumerate(self.steps):
            for name in step.arguments:
                touched.setdefault(name, self.ends[number])
        places, states = dict[str, Counter[str]](), dict[tuple[str, ...], Counter[object]]()
        for event, view in enumerate(self.views):
            for name, meant, weight in view.places:
                early = event < touched.get(name, len(self.views)) and all(same(one, meant[0]) for one in meant)
                seen = places.setdefault(name, Counter())
                if early and sum(seen.values()) < 5 and not is_slice(name):
                    seen[meant[0]] += weight  # type: ignore[assignment]
            said = [(predicate, meant, value) for predicate, meant, value in view.states if predicate != "sliced"]
            for key, names, value in (*said, *(("filled", names, what) for names, what in view.liquids)):
                if len(names) == 1 and event < touched.get(names[0], len(self.views)):
                    counts = states.setdefault((str(key), names[0]), Counter())
                    if sum(counts.values()) < 5:
                        counts[value] += 1
        facts = self._behind_opened()
        for name, seen in places.items():
            if seen:
                facts = {fact for fact in facts if fact[1] != name}
                facts.add(("at", name, seen.most_common(1)[0][0]))
        for (key, name), counts in states.items():
            value, times = counts.most_common(1)[0]
            if value and times > counts[False if key != "filled" else ""]:
                facts.add((key, name, *([str(value)] if key == "filled" else [])))
        return self.home.settle(frozenset(facts))

    def _behind_opened(self) -> set[StateFact]:
        """Objects that the plan takes right after it opens a door are behind it, as far as nothing else is seen."""
        facts, door, taken = set[StateFact](), "", set[str]()
        for step in self.steps:
            if step.operator == "open_obj" and self.home.has(step.arguments[0], Trait.DOOR):
                door = step.arguments[0]
            elif step.operator == "pick_up":
                if door and step.arguments[0] not in taken and not is_slice(step.arguments[0]):
                    facts.add(("at", step.arguments[0], door))
                taken.add(step.arguments[0])
                door = ""
            elif step.operator in _PUTTING:
                door = ""
        return facts

    def _flips(self, course: Course) -> Iterator[State]:
        """Initial states that differ in one thing that observations contradict."""
        start, seen = course.start, set[object]()
        pairs = [*zip(range(len(self.views)), course.states, strict=True), (-1, course.final)]
        for event, state in pairs:
            if self._cost(event, state) == 0:
                continue
            view, now = self._view(event), self._snapshot(state)
            for predicate, names, value in view.states:
                fact = (predicate, names[0])
                if predicate != "sliced" and (fact in state) != value and fact not in seen:
                    seen.add(fact)
                    yield start - {fact} if fact in start else start | {fact}
            for names, what in view.liquids:
                if now.liquid.get(names[0], "") != what and (names[0], what) not in seen:
                    seen.add((names[0], what))
                    rest = frozenset(fact for fact in start if fact[:2] != ("filled", names[0]))
                    yield rest | {("filled", names[0], what)} if what else rest
            for name, places, _ in view.places:
                for place in places[:3]:
                    if not now.inside(name, place) and (name, place) not in seen and not is_slice(name):
                        seen.add((name, place))
                        yield frozenset(f for f in start if f[:2] != ("at", name)) | {("at", name, place)}
            for thing, other in view.covers if self.able.obstacles else ():
                cover = ("covers", other, thing)
                if cover not in seen and thing in self.watched:
                    seen.add(cover)
                    yield start ^ {cover}
        for number, step in enumerate(self.steps):
            # What was never seen may be behind a door.
            thing = step.arguments[0] if step.arguments else ""
            early = any(thing in view.seen or view.held == thing for view in self.views[: self.ends[number] + 1])
            if step.operator == "pick_up" and not early and not is_slice(thing):
                for door in self.home.all(Trait.DOOR):
                    yield frozenset(f for f in start if f[:2] != ("at", thing)) | {("at", thing, door)}

    def settled(self, course: Course) -> Course:
        """The same hypothesis with the initial state that fits the observations best."""
        best = course
        for _ in range(6 if self.able.starts else 0):
            options = [self.course(start, best.hypothesis) for start in self._flips(best)]
            better = min(options, key=lambda one: one.cost, default=best)
            if better.cost >= best.cost - 0.1:
                return best
            best = better
        return best

    # -- hypotheses

    def hypotheses(self, planned: Course) -> Iterator[Hypothesis]:
        """What may have gone wrong, given the course in which nothing did."""
        home = self.home
        for number, step in enumerate(self.steps):
            before, event = planned.before[number], self.ends[number]
            begin = self.ends[number - 1] + 1 if number else 0
            carried = holding(before)
            if carried is not None and self.able.failures:
                later = self._places_of(carried, begin)
                for moment in range(begin, event + 1):
                    # What ends up elsewhere when it is put down was put there.
                    put = moment == event and step.operator in _PUTTING
                    # Nothing falls into a machine or behind a door.
                    for place in ("", *(each for each in later if not put and not home.traits(each) & _ENCLOSED)):
                        yield Hypothesis("dropped", number, moment, None, place)
                    if any(again.arguments[:1] == (carried,) for again in self.steps[number + 1 :]):
                        yield Hypothesis("dropped", number, moment, lost=True)
            if number in planned.refused:
                yield Hypothesis("forced", number, event)
                continue
            if step.operator not in HOUSEHOLD.operators:
                continue
            yield Hypothesis("no_effect", number, event)
            thing = step.arguments[0]
            for other in self._others(step, number) if self.able.failures else ():
                if step.operator in _PUTTING:
                    operator = "put_on" if home.has(other, Trait.FLAT) else "put_in"
                    yield Hypothesis("instead", number, event, Action(operator, (thing, other)))
                else:
                    instead = Action(step.operator, (other, *step.arguments[1:]))
                    yield Hypothesis("instead", number, event, instead)
                    if step.operator == "pick_up":
                        yield Hypothesis("instead", number, event, instead, lasting=True)

    def _places_of(self, thing: str, begin: int) -> list[str]:
        found = Counter(
            place
            for view in (*self.views[begin : begin + 12], self.last)
            for name, places, _ in view.places
            if name == thing or same_stuff(name, thing)
            for place in places[:1]
        )
        return [place for place, _ in found.most_common(3)]

    def _others(self, step: Action, number: int) -> list[str]:
        """Objects or places that a step may have been carried out with instead of its own."""
        event, thing = self.ends[number], step.arguments[0]
        if step.operator in _PUTTING:
            return [place for place in self._places_of(thing, event) if not same(place, step.arguments[1])]
        if step.operator == "pick_up":
            held = Counter(view.held for view in self.views[event : event + 6] if view.held)
            return [name for name, _ in held.most_common(3) if name and not same_stuff(name, thing)]
        if step.operator == "slice_obj":
            return [n for n in self.home.names if self.home.has(n, Trait.SLICEABLE) and n != thing
                    and slice_of(n) in self.home.names]  # fmt: skip
        return [name for name in self.home.names if noun(name) == noun(thing) and name != thing]

    def courses(self) -> list[Course]:
        """Every hypothesis, simulated, the most likely first."""
        guess = self.course(self.first_guess(), Hypothesis("as_planned"))
        planned = self.settled(guess)
        # A start that makes the plan fit the observations may hide a failure, which the first guess leaves open.
        found = self._around(planned, *([guess] if planned.start != guess.start else []))
        for _ in range(2):
            if found[0].start == planned.start:
                break
            planned = self.course(found[0].start, Hypothesis("as_planned"))
            found = self._around(planned, known=found)
        return found

    def _around(self, *planned: Course, known: Sequence[Course] = ()) -> list[Course]:
        """Every hypothesis from some starts, the most likely first, each once.

        Args:
            planned: courses in which nothing goes wrong.
            known: further courses.
        """
        found = list(known)
        for each in planned:
            here = sorted((each, *(self.course(each.start, one, each) for one in self.hypotheses(each))), key=_cost_of)
            found += [*map(self.settled, here[:4]), *here[4:]]
        best = dict[Hypothesis, Course]()
        for one in sorted(found, key=_cost_of):
            best.setdefault(one.hypothesis, one)
        return list(best.values())


def _cost_of(course: Course) -> float:
    return course.cost

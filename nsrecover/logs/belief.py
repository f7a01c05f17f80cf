"""What most likely happened in a run: every step of the plan is a hypothesis at every moment.

A course of events says for each step when it was tried and what came of it. A beam search goes through the events of
the log, simulates the steps with the domain, and keeps the courses that explain the observations best. The initial
state is part of a course. Steps need no line, and any number of them may fail.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains.base import State
from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.household.names import is_slice, noun, same, same_stuff, slice_of, whole
from nsrecover.domains.household.scene import HouseholdScene, holding
from nsrecover.logs.observer import BLIND, Observer
from nsrecover.logs.reading.records import HouseholdLog
from nsrecover.logs.reading.timeline import Slot
from nsrecover.logs.simulation import DEFECT, FINAL, PUTTING, Course, CourseDeviation, Simulator

_ENCLOSED = {Trait.DOOR, Trait.MACHINE}
_WIDTH, _ATTEMPTS, _DEPTH, _READINGS = 40, 200, 12.0, 25
"""Courses that are kept at an event, and after each further step at it; how much worse than the best they may be;
courses that are weighed in the end."""


@dataclass(frozen=True)
class _Node:
    """The beginning of a course."""

    cost: float
    state: State
    previous: State
    deviations: tuple[CourseDeviation, ...] = ()
    when: tuple[int, ...] = ()
    defect: bool = False


def _likely(nodes: list[_Node], width: int) -> list[_Node]:
    """The most likely nodes."""
    nodes.sort(key=lambda one: one.cost)
    return [node for node in nodes[:width] if node.cost < nodes[0].cost + _DEPTH]


class Starts(Simulator):
    """Proposes initial states of one log."""

    def first_guess(self, stayed: bool = False) -> State:
        """The initial state by majority of what was seen before a step changed it.

        Args:
            stayed: whether objects that were first seen after that are taken to have been there all along.
        """
        touched = dict[str, int]()
        for slot in self.slots:
            for name in slot.step.arguments:
                touched.setdefault(name, slot.first if not slot.told else slot.last)
        later = self._cut_later()
        places, states = dict[str, Counter[str]](), dict[tuple[str, ...], Counter[object]]()
        for event, view in enumerate(self.views):
            for name, meant, channel, _ in view.places:
                early = event < touched.get(name, len(self.views)) and all(same(one, meant[0]) for one in meant)
                seen = places.setdefault(name, Counter())
                if early and seen.total() < 20 and name not in later:
                    seen[meant[0]] += round(self.observer.weights[channel])
            said = [
                (facts, value) for facts, value in view.states if facts[0][0] != "sliced" or facts[0][1] not in later
            ]
            liquids = [(tuple(("filled", name) for name in names), what) for names, what in view.liquids]
            for facts, value in (*said, *liquids):
                if len(facts) == 1 and event < touched.get(facts[0][1], len(self.views)):
                    counts = states.setdefault(facts[0], Counter())
                    counts[value] += counts.total() < 5
        found = self._behind_opened()
        for name, seen in places.items():
            if not seen and stayed and not is_slice(name):
                seen[next(meant[0] for view in self.views for one, meant, *_ in view.places if one == name)] += 1
            if seen:
                found = {fact for fact in found if fact[1] != name}
                found.add(("at", name, seen.most_common(1)[0][0]))
        for key, counts in states.items():
            value, times = counts.most_common(1)[0]
            if value and times > counts[False if key[0] != "filled" else ""]:
                found.add((*key, *([str(value)] if key[0] == "filled" else [])))
        return self.home.settle(frozenset(found))

    def _cut_later(self) -> set[str]:
        """Slices that are not there at the start: of what a step slices, or of what is seen whole."""
        cut = {step.arguments[0] for step in self.steps if step.operator == "slice_obj"}
        cut |= {name for view in self.views for name in view.seen if not is_slice(name)}
        return {name for name in self.home.names if is_slice(name) and whole(name) in cut}

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
            elif step.operator in PUTTING:
                door = ""
        return facts

    def _flips(self, course: Course) -> Iterator[State]:
        """Initial states that differ in one thing that observations contradict."""
        start, seen = course.start, set[object]()
        for event, state in enumerate((*course.states, course.final)):
            if not any(self._tally(event, state)[:5]) and not self._tally(event, state)[-1]:
                continue
            view, now = self._view(event), self._snapshot(state)
            for facts, value in view.states:
                fact = facts[0]
                if fact[0] != "sliced" and (fact in state) != value and fact not in seen:
                    seen.add(fact)
                    yield start - {fact} if fact in start else start | {fact}
            for names, what in view.liquids:
                if now.liquid.get(names[0], "") != what and (names[0], what) not in seen:
                    seen.add((names[0], what))
                    rest = frozenset(fact for fact in start if fact[:2] != ("filled", names[0]))
                    yield rest | {("filled", names[0], what)} if what else rest
            for name, places, _, _ in view.places:
                for place in places[:3]:
                    if not now.inside(name, place) and (name, place) not in seen and not is_slice(name):
                        seen.add((name, place))
                        yield frozenset(f for f in start if f[:2] != ("at", name)) | {("at", name, place)}
            for thing, other in view.covers:
                cover = ("covers", other, thing)
                if cover not in seen and thing in self.watched:
                    seen.add(cover)
                    yield start ^ {cover}
        for slot in self.slots:
            # What was never seen may be behind a door.
            thing = slot.step.arguments[0] if slot.step.arguments else ""
            early = any(thing in view.seen or view.held == thing for view in self.views[: slot.last + 1])
            if slot.step.operator == "pick_up" and not early and not is_slice(thing):
                for door in self.home.all(Trait.DOOR):
                    yield frozenset(f for f in start if f[:2] != ("at", thing)) | {("at", thing, door)}

    def settled(self, course: Course) -> Course:
        """The same course from the initial state that fits the observations best."""
        best = course
        for _ in range(6):
            options = [self.course(start, best.deviations, best.when) for start in self._flips(best)]
            better = min(options, key=lambda one: one.cost, default=best)
            if better.cost >= best.cost - 0.1:
                return best
            best = better
        return best


class Believer(Starts):
    """Finds the courses of events that explain one log best.

    Args:
        log: the log, with one name for each object.
        home: its objects.
        slots: the steps, from `nsrecover.logs.reading.timeline.slots_of`.
        observer: how far observations are trusted.
    """

    def __init__(self, log: HouseholdLog, home: HouseholdScene, slots: Sequence[Slot], observer: Observer) -> None:
        super().__init__(log, home, slots, observer)
        self._places_of, self._others = lru_cache(None)(self._found_at), lru_cache(None)(self._instead_of)

    def search(self, starts: Sequence[State], observer: Observer) -> list[Course]:
        """The courses that explain the log best, simulated in full.

        Args:
            starts: initial states.
            observer: how far observations are trusted.
        """
        found = list[Course]()
        for start in starts:
            beam = [_Node(self._unusual(start), start, start)]
            for event in range(len(self.views) + 1):
                beam = self._observed([*self._moments(beam, event)], event, observer)
            best = dict[tuple[CourseDeviation, ...], _Node]()
            for node in sorted(beam, key=lambda one: one.cost):
                best.setdefault(node.deviations, node)
            found += [self.course(start, node.deviations, node.when) for node in list(best.values())[:_READINGS]]
        return sorted(found, key=lambda one: one.cost)

    def _observed(self, nodes: list[_Node], event: int, observer: Observer) -> list[_Node]:
        weight = FINAL if event == len(self.views) else 1.0
        seen = [
            _Node(node.cost + weight * self._seen(event, node.state, node.previous, observer)[0], node.state,
                  node.state, node.deviations, node.when, node.defect)
            for node in nodes
        ]  # fmt: skip
        return _likely(seen, _WIDTH)

    def _moments(self, beam: Sequence[_Node], event: int) -> Iterator[_Node]:
        """Every node after what may happen up to an event: drops, and steps that may or must be tried by then."""
        waiting = [*beam, *(dropped for node in beam for dropped in self._drops(node, event))]
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
            waiting = _likely(tried, _ATTEMPTS)

    def _drops(self, node: _Node, event: int) -> Iterator[_Node]:
        carried, number = holding(node.state), len(node.when)
        if carried is None or number == len(self.slots) or event == len(self.views):
            return
        # What ends up elsewhere when it is put down was put there.
        put = self.slots[number].last == event and self.steps[number].operator in PUTTING
        places = [
            each for each in self._places_of(carried, event) if not put and not self.home.traits(each) & _ENCLOSED
        ]
        again = any(step.arguments[:1] == (carried,) for step in self.steps[number + 1 :])
        for place, lost in (("", False), *((each, False) for each in places), *([("", True)] if again else [])):
            one = CourseDeviation("dropped", number, event, None, place, lost=lost)
            yield self._deviated(node, one, self._dropped(node.state, place, lost))

    def _deviated(self, node: _Node, one: CourseDeviation, state: State) -> _Node:
        cost = node.cost + self._price(one, node.state)
        return _Node(cost, state, node.previous, (*node.deviations, one), node.when, node.defect)

    def _attempts(self, node: _Node, number: int, event: int) -> Iterator[_Node]:
        """What may come of a step."""
        cost = node.cost + self._early(number, event)
        tried = _Node(cost, node.state, node.previous, node.deviations, (*node.when, event), node.defect)
        stopped = any(one.mode == "stopped" for one in node.deviations)
        state, why = self._tried(node.state, number, node.deviations)
        defect = bool(why) and not node.defect and not any(one.mode != "aside" for one in node.deviations)
        worse = cost + DEFECT * defect
        yield _Node(worse, state, node.previous, node.deviations, tried.when, node.defect or defect)
        if stopped or not self._known(self.steps[number]):
            return
        for one in self._deviations(node, number, event, bool(why)):
            state, refused = self._tried(node.state, number, (*node.deviations, one))
            late = bool(refused) and defect and one.mode == "aside"
            changed = self._deviated(tried, one, state)
            yield _Node(changed.cost + DEFECT * late, state, node.previous, changed.deviations, tried.when,
                        node.defect or late)  # fmt: skip

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
        thing = step.arguments[0]
        others, held = self._others(step, event), holding(node.state)
        if refused and step.operator in PUTTING and held not in (None, thing):
            # Whatever is in the gripper is put down.
            yield CourseDeviation("aside", number, event, Action(step.operator, (str(held), step.arguments[1])))
        if refused and step.operator in PUTTING and not others:
            others = self.home.all(Trait.SURFACE)[:1]
        for other in others:
            if step.operator in PUTTING:
                on_top = self.home.has(other, Trait.FLAT) or other == step.arguments[1]
                operator = "put_on" if on_top else "put_in"
                if not refused or held == thing:
                    yield CourseDeviation(
                        "aside" if refused else "instead", number, event, Action(operator, (thing, other))
                    )
            elif other != held and (not refused or step.operator == "pick_up"):
                instead = Action(step.operator, (other, *step.arguments[1:]))
                yield CourseDeviation("instead", number, event, instead)
                if step.operator == "pick_up":
                    yield CourseDeviation("instead", number, event, instead, lasting=True)

    def _found_at(self, thing: str, begin: int) -> list[str]:
        found = Counter(
            (place, atop)
            for view in (*self.views[begin : begin + 12], self.last)
            for name, places, _, atop in view.places
            if name == thing or same_stuff(name, thing)
            for place in places[:1]
        )
        # What an object is in comes before what that stands on.
        best = sorted(found.most_common(4), key=lambda each: (not self.home.has(each[0][0], Trait.DISH), -each[1]))
        return list(dict.fromkeys(place for (place, _), _ in best))

    def _rests_on(self, thing: str, place: str, begin: int) -> bool:
        """Whether an object is seen on top of something that it should be inside of."""
        return self.home.has(place, Trait.SLOT) and any(
            (name, places[0], atop) == (thing, place, True)
            for view in (*self.views[begin : begin + 12], self.last)
            for name, places, _, atop in view.places
        )

    def _instead_of(self, step: Action, event: int) -> list[str]:
        """Objects or places that a step may have been carried out with instead of its own."""
        thing = step.arguments[0]
        if step.operator in PUTTING:
            place = step.arguments[1]
            atop = [place] if step.operator == "put_in" and self._rests_on(thing, place, event) else []
            return [*(each for each in self._places_of(thing, event) if not same(place, each)), *atop]
        if step.operator == "pick_up":
            held = Counter(view.held for view in self.views[event : event + 6] if view.held)
            return [name for name, _ in held.most_common(3) if name and not same_stuff(name, thing)]
        if step.operator == "slice_obj":
            return [n for n in self.home.names if self.home.has(n, Trait.SLICEABLE) and n != thing
                    and slice_of(n) in self.home.names]  # fmt: skip
        return [name for name in self.home.names if noun(name) == noun(thing) and name != thing]

    def courses(self) -> list[Course]:
        """Courses of events, the most likely first, each set of deviations once."""
        guess = self.first_guess()
        planned = self.settled(self.course(guess))
        usual = frozenset(fact for fact in guess if not self._unusual(frozenset({fact})))
        doubted = [usual] if self.observer != Observer() else []
        starts = list(dict.fromkeys((guess, planned.start, self.first_guess(stayed=True), *doubted)))
        found = [planned]
        observers = [Observer(), BLIND if self.observer == Observer() else self.observer]
        for observer in observers:
            found += self.search(starts, observer)
        for _ in range(2):
            settled = [self.settled(one) for one in sorted(found, key=lambda one: one.cost)[:4]]
            fresh = [one.start for one in settled if all(one.start != each.start for each in found)]
            found += settled
            if not fresh:
                break
            found += self.search(list(dict.fromkeys(fresh))[:2], self.observer)
        best = dict[tuple[CourseDeviation, ...], Course]()
        for one in sorted(found, key=lambda each: each.cost):
            best.setdefault(one.deviations, one)
        return list(best.values())

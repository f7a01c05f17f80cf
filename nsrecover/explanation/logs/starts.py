"""Where the objects of a log may have been, and what they were like, before the robot began."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from nsrecover.core.facts import StateFact
from nsrecover.domains.base import State
from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.household.names import is_slice, same, whole
from nsrecover.explanation.logs.simulation import PUTTING, Course, Simulator


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

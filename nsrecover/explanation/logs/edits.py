"""The smallest edit that makes a plan succeed in the domain's simulation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains.base import State
from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.household.names import is_slice, same_stuff, slice_of, whole
from nsrecover.domains.household.scene import Household, holds
from nsrecover.explanation.logs.belief import Believer
from nsrecover.explanation.logs.inference.effects import SWITCHES, opposite

_PUTTING = ("put_in", "put_on")


@dataclass(frozen=True)
class Edit:
    """A change of a plan that makes it succeed.

    Attributes:
        kind: `order`, `object`, `place`, `action`, `undone` (a step to leave out) or `missing`.
        number: index of the first step that is wrong, or before which a step is missing.
        steps: the steps that were exchanged or are missing.
        names: the right object or place, and the one that the plan has.
    """

    kind: str
    number: int
    steps: tuple[Action, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Editor:
    """Looks for edits of a plan.

    Attributes:
        believer: simulates steps.
        start: the initial state.
        goal: what has to hold in the end.
        first: index of the first step that cannot be carried out; the number of steps if all can.
    """

    believer: Believer
    start: State
    goal: tuple[StateFact, ...]
    first: int

    @property
    def home(self) -> Household:
        """The objects of the log."""
        return self.believer.home

    @property
    def steps(self) -> list[Action]:
        """The plan as it was carried out."""
        return self.believer.steps

    def succeeds(self, steps: Sequence[Action]) -> bool:
        """Whether steps can be carried out one after the other and achieve the goal."""
        now = self.start
        for step in steps:
            if self.believer.unmet(now, step):
                return False
            now = self.believer.after(now, step)
        return all(holds(now, condition, self.home) for condition in self.goal)

    def edits(self) -> list[Edit]:
        """Every edit of the first group that has one.

        The groups are: switching back, order, object or place, action, a further step, a superfluous step.
        """
        groups = (self._undone, self._orders, self._others, self._actions, self._missing, self._superfluous)
        for group in groups:
            found = list(group())
            if found:
                return found
        return []

    def _orders(self) -> Iterator[Edit]:
        """Exchanged neighbours, then steps that belong elsewhere."""
        steps, count = self.steps, len(self.steps)
        for number in sorted(range(count - 1), key=lambda each: (each not in (self.first - 1, self.first), each)):
            changed = [*steps[:number], steps[number + 1], steps[number], *steps[number + 2 :]]
            if steps[number] != steps[number + 1] and self.succeeds(changed):
                yield Edit("order", number, (steps[number], steps[number + 1]))
                return
        for moved in range(count):
            rest = [*steps[:moved], *steps[moved + 1 :]]
            for to in range(max(0, moved - 8), min(count, moved + 9)):
                if abs(to - moved) > 1 and self.succeeds([*rest[:to], steps[moved], *rest[to:]]):
                    early, late = (moved, to) if to > moved else (to, moved)
                    yield Edit("order", early, (steps[early], steps[late]))
                    return

    def _others(self) -> Iterator[Edit]:
        """Another object from some step on, another place in one step, another object of one step."""
        steps, home = self.steps, self.home
        wanted = list(dict.fromkeys(whole(n) for fact in self.goal for n in self._names(fact)))
        tools = {Trait.CUTS} if any(step.operator == "slice_obj" for step in steps) else set()
        tools |= {Trait.REMOTE} if any(home.has(n, Trait.SCREEN) for n in wanted) else set()
        wanted += [name for name in home.names if home.traits(name) & tools and name not in wanted]
        for number, step in enumerate(steps):
            used = step.arguments[0] if step.arguments else ""
            if step.operator == "pick_up" and used not in wanted:
                for meant in wanted:
                    if meant != used and home.has(meant, Trait.PORTABLE) and self._renamed(number, used, meant):
                        yield Edit("object", number, names=(meant, used))
        for number, step in enumerate(steps):
            if step.operator in _PUTTING:
                thing, place = step.arguments
                for other in self._places(thing, place):
                    operator = "put_on" if home.has(other, Trait.FLAT) else "put_in"
                    changed = [*steps[:number], Action(operator, (thing, other)), *steps[number + 1 :]]
                    if self.succeeds(changed):
                        yield Edit("place", number, (step,), (other, place))
            elif len(step.arguments) == 1 and step.operator != "pick_up":
                for other in wanted:
                    changed = [*steps[:number], Action(step.operator, (other,)), *steps[number + 1 :]]
                    if other != step.arguments[0] and self.succeeds(changed):
                        yield Edit("object", number, names=(other, step.arguments[0]))

    def _names(self, fact: StateFact) -> tuple[str, ...]:
        return fact[1:2] if fact[0] == "filled" else fact[1:]

    def _renamed(self, number: int, used: str, meant: str) -> bool:
        """Whether the plan succeeds with another object from a step on."""
        names = {used: meant, slice_of(used): slice_of(meant)}
        rest = (Action(s.operator, tuple(names.get(n, n) for n in s.arguments)) for s in self.steps[number:])
        return self.succeeds([*self.steps[:number], *rest])

    def _places(self, thing: str, place: str) -> list[str]:
        """Places where an object may have to go: those of the goal, of machines, and where it is used later."""
        found = [fact[2] for fact in self.goal if fact[0] == "at" and same_stuff(fact[1], thing)]
        found += [fact[2] for fact in self.goal if fact[0] == "at"]
        found += [n for n in self.home.names if self.home.traits(n) & {Trait.BASIN, Trait.POURS_COFFEE, Trait.HEATS}]
        found += [s.arguments[0] for s in self.steps if s.operator == "toggle_on"]
        found += [n for n in self.home.names if self.home.has(n, Trait.SURFACE)][:1]
        return [name for name in dict.fromkeys(found) if name not in (place, thing)]

    def _actions(self) -> Iterator[Edit]:
        """The opposite action, a step that undoes something, or opening instead of turning on."""
        steps = self.steps
        for number, step in enumerate(steps):
            if step.operator in SWITCHES:
                for operator in SWITCHES:
                    changed = Action(operator, step.arguments)
                    if operator != step.operator and self.succeeds([*steps[:number], changed, *steps[number + 1 :]]):
                        if operator == opposite(step.operator):
                            # Turning on what is turned off next was left out rather than confused.
                            if self.succeeds([*steps[:number], changed, *steps[number:]]):
                                continue
                        elif self._is_door(step):
                            continue
                        yield Edit("action", number, (step, changed))

    def _undone(self) -> Iterator[Edit]:
        """A step that switches back what was achieved, in a plan that can be carried out."""
        if self.first == len(self.steps):
            yield from (edit for edit in self._superfluous() if edit.steps[0].operator in SWITCHES)

    def _superfluous(self) -> Iterator[Edit]:
        """A step that had better be left out."""
        for number, step in enumerate(self.steps):
            if self.succeeds([*self.steps[:number], *self.steps[number + 1 :]]):
                yield Edit("undone", number, (step,))

    def _is_door(self, step: Action) -> bool:
        return self.home.has(step.arguments[0], Trait.DOOR)

    def _missing(self) -> Iterator[Edit]:
        """A further step, as late as possible."""
        steps, last = self.steps, min(self.first, len(self.steps))
        now, befores = self.start, list[State]()
        for step in steps:
            befores.append(now)
            now = now if self.believer.unmet(now, step) else self.believer.after(now, step)
        befores.append(now)
        options = list(dict.fromkeys(self._further()))
        for number in range(last, -1, -1):
            for step in options:
                if self.believer.unmet(befores[number], step):
                    continue
                if self.succeeds([*steps[:number], step, *steps[number:]]):
                    yield Edit("missing", number, (step,))

    def _further(self) -> Iterator[Action]:
        """Steps that a plan may lack, the most likely first: with its own objects and those of the goal."""
        home, steps = self.home, self.steps
        used = list(
            dict.fromkeys([n for s in steps for n in s.arguments] + [n for f in self.goal for n in self._names(f)])
        )
        used += [n for n in home.names if home.traits(n) & {Trait.POURS_WATER, Trait.POURS_COFFEE} and n not in used]
        known = [name for name in used if name in home.objects]
        for name in known:
            traits = home.traits(name)
            if traits & {Trait.DOOR, Trait.LID}:
                yield Action("open_obj", (name,))
                yield Action("close_obj", (name,))
            if Trait.SWITCH in traits:
                yield Action("toggle_on", (name,))
                yield Action("toggle_off", (name,))
            if Trait.SLICEABLE in traits:
                yield Action("slice_obj", (name,))
            if Trait.CRACKABLE in traits:
                yield Action("crack_obj", (name,))
            if Trait.PORTABLE in traits:
                yield Action("pick_up", (name,))
        places = [n for n in known if home.traits(n) & {Trait.FLAT, Trait.HOLLOW}]
        surfaces = [n for n in home.names if home.has(n, Trait.SURFACE) and n not in places][:1]
        for name in known:
            if home.has(name, Trait.PORTABLE):
                for place in (*places, *surfaces):
                    if place != name and not is_slice(place):
                        yield Action("put_on" if home.has(place, Trait.FLAT) else "put_in", (name, place))
        for source in known:
            if home.has(source, Trait.VESSEL) and home.has(source, Trait.PORTABLE):
                for target in known:
                    if target != source and home.traits(target) & {Trait.VESSEL, Trait.BASIN}:
                        yield Action("pour", (source, target))

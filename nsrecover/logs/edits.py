"""The cheapest edit that makes a plan succeed in the domain's simulation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product, takewhile

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains.base import State
from nsrecover.domains.household.names import is_slice, same_stuff, slice_of, whole
from nsrecover.logs.correction import correct
from nsrecover.logs.courses import Believer
from nsrecover.logs.roles import RoledScene

_SWITCHED = {"door", "lid", "switch"}
"""Traits of what is opened or switched, if an operator does not say which objects it takes."""
_PROMISING = 4
"""Edits that come nearer to the goal, after which another one is tried."""


@dataclass(frozen=True)
class Edit:
    """A change of a plan that makes it succeed.

    Attributes:
        kind: `order`, `object`, `place`, `action`, `undone` (a step to leave out) or `missing`.
        number: index of the first step that is wrong, or before which a step is missing.
        plan: the changed plan.
        steps: the steps that were exchanged or are missing.
        names: the right object or place, and the one that the plan has.
    """

    kind: str
    number: int
    plan: tuple[Action, ...]
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
        steps: the plan as it was carried out.
    """

    believer: Believer
    start: State
    goal: tuple[StateFact, ...]
    first: int
    steps: tuple[Action, ...]

    @property
    def scene(self) -> RoledScene:
        """The scene, asked by role."""
        return self.believer.scene

    @cached_property
    def befores(self) -> list[State]:
        """The state before every step, and the last one, without the steps that are not possible."""
        now, found = self.start, list[State]()
        for step in self.steps:
            found.append(now)
            now = now if self.believer.unmet(now, step) else self.believer.after(now, step)
        return [*found, now]

    def progress(self, steps: Sequence[Action]) -> tuple[int, int]:
        """How many conditions of the goal hold after steps, and steps were possible, less than all of them."""
        now, possible = self.start, 0
        for step in steps:
            if not self.believer.unmet(now, step):
                now, possible = self.believer.after(now, step), possible + 1
        return sum(self._holds(now, condition) for condition in self.goal) - len(self.goal), possible - len(steps)

    def succeeds(self, steps: Sequence[Action]) -> bool:
        """Whether steps can be carried out one after the other and achieve the goal."""
        return self.progress(steps) == (0, 0)

    def _holds(self, state: State, condition: StateFact) -> bool:
        """Whether a condition holds, of something or of its slices."""
        if self.scene.holds(state, condition):
            return True
        cut = condition[0] in self.scene.locations and ("sliced", slice_of(condition[1])) in state
        return cut and self.scene.holds(state, (condition[0], slice_of(condition[1]), *condition[2:]))

    def edits(self) -> list[Edit]:
        """Every edit of the first group that has one.

        The groups are: switching back, order, object or place, action, a further step, a superfluous step; then two of
        these, and a further stretch of steps.
        """
        return next(filter(None, map(self._working, self._groups())), None) or self._two() or self._stretches()

    def _working(self, group: Callable[[], Iterator[Edit]]) -> list[Edit]:
        return [edit for edit in self._in_time(group) if self.succeeds(edit.plan)]

    def _in_time(self, group: Callable[[], Iterator[Edit]]) -> Iterator[Edit]:
        yield from takewhile(lambda _: not self.believer.late, group())

    def _groups(self) -> tuple[Callable[[], Iterator[Edit]], ...]:
        return (self._undone, self._orders, self._others, self._actions, self._missing, self._superfluous)

    def _two(self) -> list[Edit]:
        """Two edits, the first of which comes nearer to the goal."""
        now = self.progress(self.steps)
        groups = (self._others, self._actions, self._superfluous, self._missing)
        ahead = [(self.progress(edit.plan), edit) for group in groups for edit in self._in_time(group)]
        ahead.sort(key=lambda each: each[0], reverse=True)
        for progress, edit in ahead[:_PROMISING]:
            rest = replace(self, steps=edit.plan)
            more = [each for group in rest._groups() for each in rest._working(group)[:1]] if progress > now else []
            if more:
                earlier = edit.number <= more[0].number or more[0].kind in ("missing", "undone")
                return [edit if earlier else more[0]]
        return []

    def _replaced(self, number: int, *steps: Action, until: int | None = None) -> tuple[Action, ...]:
        """The plan with other steps from one up to another one."""
        return (*self.steps[:number], *steps, *self.steps[number + 1 if until is None else until :])

    def _orders(self) -> Iterator[Edit]:
        """Exchanged neighbours, first where a step is not possible; then steps that belong elsewhere."""
        steps, count = self.steps, len(self.steps)
        near = sorted(range(count - 1), key=lambda each: (each not in (self.first - 1, self.first), each))
        moves = [(n, n + 1) for n in near]
        moves += [(n, to) for n in range(count) for to in range(max(0, n - 8), min(count, n + 9)) if abs(to - n) > 1]
        for moved, to in moves:
            rest, (one, other) = [*steps[:moved], *steps[moved + 1 :]], sorted((moved, to))
            plan = (*rest[:to], steps[moved], *rest[to:])
            if steps[one] != steps[other] and self.succeeds(plan):
                yield Edit("order", one, plan, (steps[one], steps[other]))
                return

    @cached_property
    def _wanted(self) -> list[str]:
        """Objects of the goal, and tools."""
        wanted = list(dict.fromkeys(whole(n) for fact in self.goal for n in self._names(fact)))
        tools = (name for name, traits in self.scene.instance.objects.items() if traits & self.scene.tools)
        return [*wanted, *(name for name in tools if name not in wanted)]

    def _others(self) -> Iterator[Edit]:
        """Another object from some step on, as late as possible; another place, or another object, in one step."""
        steps, scene, wanted = self.steps, self.scene, self._wanted
        handled = dict.fromkeys(step.arguments[0] for step in steps if step.operator in scene.grasping)
        portable = [name for name in dict.fromkeys((*wanted, *handled)) if scene.carried(name)]
        for number in reversed(range(len(steps))):
            releasing = scene.puts(steps[number])
            for used in steps[number].arguments:
                if not scene.carried(used) or is_slice(used) or (used in wanted and not releasing):
                    continue
                for meant in portable:
                    plan = self._renamed(number, used, meant)
                    if meant != used and scene.known(steps[number]) and scene.fitting(plan[number]) == plan[number]:
                        yield Edit("object", number, plan, names=(meant, used))
        for number, step in enumerate(steps):
            if scene.puts(step):
                for other in self._places(*step.arguments[:2]):
                    way = scene.fitting(Action(step.operator, (step.arguments[0], other, *step.arguments[2:])))
                    if way is not None:
                        yield Edit("place", number, self._replaced(number, way), (step,), (other, step.arguments[1]))
            elif len(step.arguments) == 1 and step.operator not in scene.grasping:
                for other in wanted:
                    if other != step.arguments[0] and self._like(other, step.arguments[0]):
                        plan = self._replaced(number, Action(step.operator, (other,)))
                        yield Edit("object", number, plan, names=(other, step.arguments[0]))

    def _like(self, one: str, other: str) -> bool:
        """Whether an object can be used like another one, as far as a trace shows what its objects are used for."""
        objects = self.scene.instance.objects
        return not self.believer.written or objects[one] >= objects.get(other, frozenset())

    def _names(self, fact: StateFact) -> tuple[str, ...]:
        return tuple(name for name in fact[1:] if name in self.scene.instance.objects
                     and not self.scene.has(name, "liquid"))  # fmt: skip

    def _renamed(self, number: int, used: str, meant: str) -> tuple[Action, ...]:
        """The plan with another object from a step on."""
        names = {used: meant, slice_of(used): slice_of(meant)}
        rest = (Action(s.operator, tuple(names.get(n, n) for n in s.arguments)) for s in self.steps[number:])
        return (*self.steps[:number], *rest)

    def _places(self, thing: str, place: str) -> list[str]:
        """Places where an object may have to go: of the goal, those that laws act on, and where it is used later."""
        located = [fact for fact in self.goal if fact[0] in self.scene.locations and len(fact) == 3]
        found = [fact[2] for fact in located if same_stuff(fact[1], thing)] + [fact[2] for fact in located]
        acting = {each.trait for law in self.scene.instance.domain.laws for each in law.effect.for_each} - {""}
        found += [
            n for n, traits in self.scene.instance.objects.items() if traits & acting and not self.scene.carried(n)
        ]
        found += [s.arguments[0] for s in self.steps if s.operator in self.scene.switches]
        found += self.scene.surfaces()[:1]
        return [name for name in dict.fromkeys(found) if name not in (place, thing)]

    def _actions(self) -> Iterator[Edit]:
        """The opposite action, a step that undoes something, or opening instead of turning on."""
        for number, step in enumerate(self.steps):
            opposite, thing = self.scene.opposite(step.operator), next(iter(step.arguments), "")
            for operator in self.scene.switches if opposite else ():
                changed = Action(operator, step.arguments)
                # Turning on what is turned off next was left out rather than confused.
                left_out = operator == opposite and self.succeeds(self._replaced(number, changed, step))
                if (
                    operator != step.operator
                    and not left_out
                    and (operator == opposite or not self.scene.has(thing, "door"))
                ):
                    yield Edit("action", number, self._replaced(number, changed), (step, changed))

    def _undone(self) -> Iterator[Edit]:
        """A step that switches back, or otherwise undoes, what was achieved, in a plan that can be carried out."""
        for edit in self._superfluous() if self.first == len(self.steps) else ():
            achieved = all(self._holds(self.befores[edit.number], condition) for condition in self.goal)
            if achieved or edit.steps[0].operator in self.scene.switches:
                yield edit

    def _superfluous(self) -> Iterator[Edit]:
        """A step that had better be left out."""
        for number, step in enumerate(self.steps):
            yield Edit("undone", number, self._replaced(number), (step,))

    def _missing(self) -> Iterator[Edit]:
        """A further step, as late as possible."""
        options = list(dict.fromkeys(self._further()))
        for number in range(min(self.first, len(self.steps)), -1, -1):
            for step in options:
                if not self.believer.unmet(self.befores[number], step):
                    yield Edit("missing", number, self._replaced(number, step, until=number), (step,))

    def _further(self) -> Iterator[Action]:
        """Steps that a plan may lack, the most likely first: with its own objects and those of the goal."""
        scene, objects = self.scene, self.scene.instance.objects
        used = dict.fromkeys(
            [n for s in self.steps for n in s.arguments] + [n for f in self.goal for n in self._names(f)]
        )
        laws = {each.trait for law in scene.instance.domain.laws for each in law.effect.for_each if each.trait} - {
            "vessel",
            "dish",
        }
        used |= {
            n: None for n, traits in objects.items() if traits & laws and not scene.carried(n) and "switch" in traits
        }
        known = [*(name for name in used if name in objects), *(n for n in scene.surfaces()[:1] if n not in used)]
        operators = [one for one in scene.instance.domain.operators.values() if one.effects]
        for name in known:
            for one in operators:
                switched = one.name not in scene.switches or one.parameters[0].trait or objects[name] & _SWITCHED
                if len(one.parameters) == 1 and switched and scene.has(name, one.parameters[0].trait):
                    yield Action(one.name, (name,))
        for one in operators:
            if len(one.parameters) > 1 and len(known) ** len(one.parameters) < 4000:
                fitting = [[n for n in known if scene.has(n, each.trait)] for each in one.parameters]
                for names in product(*fitting):
                    if len(set(names)) == len(names) and not is_slice(names[-1]):
                        yield Action(one.name, names)

    def _stretches(self) -> list[Edit]:
        """The shortest further stretch of steps that one condition of the goal, or of a step, needs; the last such."""
        wanted = [fact for fact in self.goal if not self.scene.holds(self.befores[-1], fact)]
        if self.first < len(self.steps):
            wanted = [*self.believer.unmet(self.befores[self.first], self.steps[self.first])[:1], *wanted]
        for condition in wanted[:2]:
            best = list[Edit]()
            for number in range(min(self.first, len(self.steps)), -1, -1):
                names = self.steps[number].arguments if number < len(self.steps) else condition[1:]
                now, used = self.befores[number], number == self.first or not set(condition[1:]).isdisjoint(names)
                # Nobody washes what is full.
                used = used and (condition[0] != "clean" or self.scene.holds(now, ("empty", condition[1])))
                kept = self._kept(now, condition, number) if used and not self.believer.late else ()
                way = correct(now, kept, self.scene.instance, self.steps, until=self.believer.until) if kept else None
                plan = self._replaced(number, *(way or ()), until=number)
                if way and (not best or len(plan) < len(best[0].plan)) and (self.succeeds(plan) or len(wanted) > 1):
                    best = [Edit("missing", number, plan, (self.key(now, way, condition),))]
            if best:
                return best
        return []

    def _kept(self, now: State, condition: StateFact, number: int) -> tuple[StateFact, ...]:
        """A condition, and the gripper as it was where the plan goes on."""
        held = self.scene.held(now)
        if held is None or number == len(self.steps):
            return (condition,)
        dry = condition[0] != "filled" and self.scene.has(held, "vessel") and self.scene.holds(now, ("empty", held))
        return (condition, (self.scene.holding[0], held), *([("empty", held)] if dry else []))

    def key(self, now: State, way: Sequence[Action], condition: StateFact) -> Action:
        """The step of a stretch that brings a condition about."""
        for step in way:
            now = self.believer.after(now, step)
            if self.scene.holds(now, condition):
                return step
        return way[0]

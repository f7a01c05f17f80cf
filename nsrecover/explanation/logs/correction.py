"""A way from the state at the end of a log to its success condition: means-ends planning over the operators.

For every condition that is not so, the actions that can bring it about are tried, their needs first; the result is
carried out in the symbolic household, gone through again until every condition holds together, and shortened.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from nsrecover.domains.base import Fact, Or, State, bound
from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.household.names import is_slice, noun, whole
from nsrecover.domains.household.scene import (
    Household,
    _atoms,
    apply,
    cover_of,
    holding,
    holds,
    is_at,
    liquid,
    occupant,
    places,
    shut_in,
    unmet,
)
from nsrecover.explanation.logs.goal import order_of
from nsrecover.explanation.logs.records import Step

DEPTH, ROUNDS, WORK = 14, 6, 4000


class _Impossible(Exception):
    """No way was found to bring a condition about."""


def correct(
    start: State,
    conditions: Sequence[Fact],
    home: Household,
    plan: Sequence[Step] = (),
    forbidden: Collection[Step] = (),
) -> tuple[Step, ...] | None:
    """Actions that lead to a goal.

    Args:
        start: the state to start from.
        conditions: what has to be so, with objects for names.
        home: the things of the log.
        plan: the original plan: things are set down where it sets things down.
        forbidden: actions that may not be used.

    Returns:
        The actions, none of which can be left out; None if no way was found.
    """
    for wanted in _orders(conditions, home):
        planner = _Planner(start, home, plan, wanted, forbidden)
        try:
            steps = planner.plan()
        except _Impossible:
            continue
        way = tidied(start, shortened(start, steps, wanted, home), wanted, home)
        if not set(way) & set(forbidden):
            return way
    return None


def tidied(start: State, steps: Sequence[Step], conditions: Sequence[Fact], home: Household) -> tuple[Step, ...]:
    """The same way with the doors closed in the end that it opens."""
    kept = tuple(steps)
    for door in dict.fromkeys(step.arguments[0] for step in steps if step.operator == "open_obj"):
        longer = (*kept, Step("close_obj", (door,)))
        last = next(step for step in reversed(kept) if step.operator in ("open_obj", "close_obj")
                    and step.arguments[0] == door)  # fmt: skip
        if last.operator == "open_obj" and reaches(start, longer, conditions, home):
            kept = longer
    return kept


def _orders(conditions: Sequence[Fact], home: Household) -> Iterator[list[Fact]]:
    ordered = order_of(conditions, home)
    yield ordered
    yield list(reversed(ordered))
    for first in range(1, len(ordered)):
        yield [ordered[first], *ordered[:first], *ordered[first + 1 :]]


def reaches(start: State, steps: Sequence[Step], conditions: Sequence[Fact], home: Household) -> bool:
    """Whether steps can be carried out one after the other and bring the conditions about."""
    state = start
    for step in steps:
        if unmet(state, step, home):
            return False
        state = apply(state, step, home)
    return all(holds(state, condition, home) for condition in conditions)


def shortened(start: State, steps: Sequence[Step], conditions: Sequence[Fact], home: Household) -> tuple[Step, ...]:
    """The same way without what is not needed; what makes the place safe again (taps off, doors shut) stays."""
    kept = list(steps)
    for width in (2, 1):
        position = 0
        while position + width <= len(kept):
            tidy = any(step.operator in ("toggle_off", "close_obj") for step in kept[position : position + width])
            rest = kept[:position] + kept[position + width :]
            if not tidy and reaches(start, rest, conditions, home):
                kept = rest
            else:
                position += 1
    return tuple(kept)


def _spots(home: Household, plan: Sequence[Step]) -> list[str]:
    """Where things can be set down, those that the plan uses first."""
    used = [
        step.arguments[1] for step in plan if step.operator == "put_on" and home.has(step.arguments[1], Trait.SURFACE)
    ]
    named = [instance for name in used for instance in home.instances(name)]
    flat = [name for name in home.all(Trait.SURFACE) if name not in named and name != "floor"]
    return list(dict.fromkeys(named)) + flat or ["countertop"]


class _Planner:
    def __init__(
        self,
        start: State,
        home: Household,
        plan: Sequence[Step],
        wanted: Sequence[Fact],
        forbidden: Collection[Step],
    ) -> None:
        self._forbidden = frozenset(forbidden)
        self._state, self._home, self._spots, self._wanted = start, home, _spots(home, plan), wanted
        self._used = {name for step in plan for name in step.arguments}
        self._steps: list[Step] = []
        self._work = 0

    def plan(self) -> list[Step]:
        for _ in range(ROUNDS):
            for condition in self._wanted:
                self._achieve(condition, ())
            if all(holds(self._state, condition, self._home) for condition in self._wanted):
                return self._steps
        raise _Impossible

    def _achieve(self, condition: Fact, above: tuple[Fact, ...]) -> None:
        """Bring a condition about, or leave everything as it was."""
        if holds(self._state, condition, self._home):
            return
        self._work += 1
        if condition in above or len(above) > DEPTH or self._work > WORK:
            raise _Impossible
        above = (*above, condition)
        for before, sequence in self._ways(condition):
            if self._forbidden & set(sequence):
                continue
            kept = self._state, len(self._steps)
            try:
                for step in sequence:
                    self._do(step, before if step is sequence[0] else (), above)
            except _Impossible:
                pass
            else:
                if holds(self._state, condition, self._home):
                    return
            self._state = kept[0]
            del self._steps[kept[1] :]
        raise _Impossible

    def _do(self, step: Step, also: Sequence[Fact], above: tuple[Fact, ...]) -> None:
        """Carry a step out once its needs are met, all together."""
        needs = [*also, *self._needs(step)]
        for _ in range(3):
            missing = [need for need in needs if not holds(self._state, need, self._home)]
            if not missing:
                break
            for need in missing:
                self._achieve(need, above)
        if not all(holds(self._state, need, self._home) for need in needs):
            raise _Impossible
        self._state = apply(self._state, step, self._home)
        self._steps.append(step)

    def _needs(self, step: Step) -> list[Fact]:
        operator, at = self._home.operator(step.operator, step.arguments)
        found = []
        for need in operator.preconditions:
            if isinstance(need, Or) and not self._home.has(step.arguments[0], need.parts[0].part.trait):  # type: ignore[union-attr, arg-type]
                continue
            found.append(next(_atoms(bound(need, at))))
        return found

    def _ways(self, condition: Fact) -> Iterator[tuple[tuple[Fact, ...], tuple[Step, ...]]]:
        """What can bring a condition about: further needs of the first step, and the steps."""
        home, state = self._home, self._state
        match condition:
            case ("holding", thing) | ("exists", thing) if is_slice(thing) and ("sliced", thing) not in state:
                yield (), (Step("slice_obj", (whole(thing),)),)
                yield (), (Step("slice_obj", (whole(thing),)), Step("pick_up", (thing,)))
            case ("holding", thing) if home.has(thing, Trait.PORTABLE):
                yield (), (Step("pick_up", (thing,)),)
            case ("sliced", slices):
                yield (), (Step("slice_obj", (whole(slices),)),)
            case ("cracked", thing):
                yield (), (Step("crack_obj", (thing,)),)
            case ("at", thing, place):
                inside = not home.has(place, Trait.SURFACE) and not home.has(place, Trait.ONE_PLACE)
                inside = inside or home.has(place, Trait.SLOT) or home.has(place, Trait.POURS_COFFEE)
                step = Step("put_in" if inside and noun(place) != "plate" else "put_on", (thing, place))
                yield (), (step,)
            case ("running", thing):
                yield (), (Step("toggle_on", (thing,)),)
            case ("off", thing):
                yield (), (Step("toggle_off", (thing,)),)
            case ("open", thing):
                yield (), (Step("open_obj", (thing,)),)
            case ("closed", thing):
                yield (), (Step("close_obj", (thing,)),)
            case ("accessible", place):
                if home.has(place, Trait.DOOR) and ("open", place) not in state:
                    yield (), (Step("open_obj", (place,)),)
                elif shut := shut_in(state, place, home):
                    yield (), (Step("open_obj", (shut,)),)
            case ("reachable", thing):
                if shut := shut_in(state, thing, home):
                    yield (), (Step("open_obj", (shut,)),)
            case ("hand_free",):
                yield from self._setting_down(holding(state))
            case ("set_down", thing) | ("away_from", thing, _):
                yield from self._setting_down(thing, places(state, thing))
            case ("uncovered", thing):
                yield from self._setting_down(cover_of(state, thing, home), places(state, thing))
            case ("room", place, thing):
                yield from self._setting_down(occupant(state, place, thing, home), [place])
            case ("tool",):
                for tool in home.all(Trait.CUTS) or ["knife"]:
                    yield (), (Step("pick_up", (tool,)),)
            case ("remote",):
                for remote in home.all(Trait.REMOTE):
                    yield (), (Step("pick_up", (remote,)),)
            case ("empty", thing):
                for basin in home.all(Trait.BASIN) or ["sink"]:
                    yield (), (Step("pour", (thing, basin)),)
            case ("clean", thing):
                yield from self._under_the_tap(thing, ())
            case ("filled", thing, what):
                yield from self._filling(thing, what)
            case ("hot", thing):
                yield from self._heating(thing)

    def _setting_down(
        self, thing: str | None, but: Sequence[str] = ()
    ) -> Iterator[tuple[tuple[Fact, ...], tuple[Step, ...]]]:
        """Putting something where it is in nobody's way."""
        if thing is None:
            return
        # Elsewhere, or at least aside.
        for spot in sorted(self._spots, key=lambda spot: spot in but):
            if not is_at(self._state, spot, thing, self._home):
                yield (), (Step("put_on", (thing, spot)),)

    def _under_the_tap(self, thing: str, also: tuple[Fact, ...]) -> Iterator[tuple[tuple[Fact, ...], tuple[Step, ...]]]:
        for faucet in self._home.all(Trait.POURS_WATER) or ["faucet"]:
            for basin in self._home.all(Trait.BASIN) or ["sink"]:
                # Put there in this state it would miss what the tap does when it is turned on.
                needs = (*also, ("off", faucet), ("at", thing, basin))
                yield needs, (Step("toggle_on", (faucet,)), Step("toggle_off", (faucet,)))

    def _filling(self, thing: str, what: str) -> Iterator[tuple[tuple[Fact, ...], tuple[Step, ...]]]:
        home = self._home
        carriable = home.has(thing, Trait.PORTABLE)
        if carriable and what == "water":
            yield from self._under_the_tap(thing, (("empty", thing),))
        if carriable and what == "coffee":
            for machine in home.all(Trait.POURS_COFFEE) or ["coffee machine"]:
                needs = (("empty", thing), ("off", machine), ("at", thing, machine))
                yield needs, (Step("toggle_on", (machine,)), Step("toggle_off", (machine,)))
        full = [vessel for vessel in home.all(Trait.VESSEL) if liquid(self._state, vessel) == what]
        others = [
            vessel for vessel in home.all(Trait.VESSEL) if home.has(vessel, Trait.PORTABLE) and vessel not in full
        ]
        # Rather with what the plan uses than with the next best vessel.
        for source in [*full, *sorted(others, key=lambda vessel: vessel not in self._used)]:
            if source != thing and home.has(source, Trait.PORTABLE):
                yield (("filled", source, what),), (Step("pour", (source, thing)),)

    def _heating(self, thing: str) -> Iterator[tuple[tuple[Fact, ...], tuple[Step, ...]]]:
        heaters = [heater for heater in self._home.all(Trait.HEATS) if not self._home.has(heater, Trait.POURS_COFFEE)]
        for heater in sorted(heaters, key=lambda name: not self._home.has(name, Trait.SHUT_TO_RUN)):
            # A door has to be open for the thing and shut for the heat, so the steps are told apart here.
            needs = (("off", heater), ("at", thing, heater))
            yield needs, (Step("toggle_on", (heater,)), Step("toggle_off", (heater,)))


def fetched_again(state: State, thing: str, source: str) -> State:
    """The state in which another one of a thing that is lost waits where the first came from."""
    gone = {fact for fact in state if fact[0] in ("at", "atop") and fact[1] == thing}
    return (state - gone) | {("at", thing, source)}

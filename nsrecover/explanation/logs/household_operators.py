"""Household actions as operators: what each needs, what it changes, and what the household then does by itself.

Declared like `OPERATORS` of the tabletop: adding an action is one entry in `HOUSEHOLD_OPERATORS`, adding a thing
that appliances do is one entry in `LAWS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nsrecover.errors import InvalidAction, did_you_mean
from nsrecover.explanation.logs.household import Household, Trait, slice_of
from nsrecover.explanation.logs.names import is_slice
from nsrecover.explanation.logs.records import Step
from nsrecover.explanation.logs.state import Fact, State, basins, contents, holds, is_at, liquid, places


@dataclass(frozen=True)
class Need:
    """A condition of an operator; capital letters in it are roles.

    Attributes:
        condition: as in `nsrecover.explanation.logs.state.holds`, with roles for names.
        only_if: needed only of things with this trait (the last role of the condition has to have it).
    """

    condition: Fact
    only_if: Trait | None = None


Change = Callable[[State, tuple[str, ...], Household], tuple[set[Fact], set[Fact]]]
"""Facts that stop being so, and facts that become so."""


@dataclass(frozen=True)
class HouseholdOperator:
    """A kind of household action.

    Attributes:
        name: as plans write it.
        roles: one letter for each argument.
        needs: what has to be so before, in the order in which it is best brought about.
        change: what it does.
        words: how to say it, with the roles in braces.
        past: the same, of something done.
    """

    name: str
    roles: tuple[str, ...]
    needs: tuple[Need, ...]
    change: Change
    words: str
    past: str

    def conditions(self, arguments: tuple[str, ...], home: Household) -> list[Fact]:
        """What this action needs, with its arguments for the roles."""
        names = dict(zip(self.roles, arguments, strict=True))
        found: list[Fact] = []
        for need in self.needs:
            condition = tuple(names.get(part, part) for part in need.condition)
            if need.only_if is None or home.has(condition[1], need.only_if):
                found.append(condition)
        return found


def _pick_up(state: State, names: tuple[str, ...], home: Household) -> tuple[set[Fact], set[Fact]]:
    (thing,) = names
    # Slices are many: one is taken, the others stay.
    left = {fact for fact in state if fact[0] in ("at", "atop", "covers") and fact[1] == thing}
    return (set() if is_slice(thing) else left), {("holding", thing)}


def _put(state: State, names: tuple[str, ...], home: Household, inside: bool) -> tuple[set[Fact], set[Fact]]:
    thing, place = names
    relation = "at" if inside or not home.has(place, Trait.SLOT) else "atop"
    return {("holding", thing)}, {(relation, thing, place)}


def _slice(state: State, names: tuple[str, ...], home: Household) -> tuple[set[Fact], set[Fact]]:
    (thing,) = names
    where = places(state, thing)
    gone = {fact for fact in state if thing in fact[1:]}
    return gone, {("sliced", slice_of(thing))} | {("at", slice_of(thing), place) for place in where}


def _pour(state: State, names: tuple[str, ...], home: Household) -> tuple[set[Fact], set[Fact]]:
    source, target = names
    poured = liquid(state, source)
    if poured is None:
        return set(), set()
    gone: set[Fact] = {("filled", source, poured)}
    if not home.has(target, Trait.VESSEL):
        return gone, set()
    return gone | {fact for fact in state if fact[0] == "filled" and fact[1] == target}, {("filled", target, poured)}


def _sets(add: str | None = None, remove: str | None = None) -> Change:
    """A change of one fact about the first argument."""

    def change(state: State, names: tuple[str, ...], home: Household) -> tuple[set[Fact], set[Fact]]:
        return ({(remove, names[0])} if remove else set()), ({(add, names[0])} if add else set())

    return change


HOUSEHOLD_OPERATORS: dict[str, HouseholdOperator] = {
    operator.name: operator
    for operator in (
        HouseholdOperator(
            "pick_up",
            ("X",),
            (Need(("exists", "X")), Need(("reachable", "X")), Need(("uncovered", "X")), Need(("hand free",))),
            _pick_up,
            "pick up {X}",
            "picked up {X}",
        ),
        HouseholdOperator(
            "put_in",
            ("X", "Y"),
            (Need(("room", "Y", "X")), Need(("accessible", "Y")), Need(("holding", "X"))),
            lambda state, names, home: _put(state, names, home, inside=True),
            "put {X} in {Y}",
            "put {X} in {Y}",
        ),
        HouseholdOperator(
            "put_on",
            ("X", "Y"),
            (Need(("room", "Y", "X")), Need(("reachable", "Y")), Need(("holding", "X"))),
            lambda state, names, home: _put(state, names, home, inside=False),
            "put {X} on {Y}",
            "put {X} on {Y}",
        ),
        HouseholdOperator(
            "open_obj",
            ("X",),
            (Need(("off", "X"), only_if=Trait.SHUT_TO_RUN),),
            _sets(add="open"),
            "open {X}",
            "opened {X}",
        ),
        HouseholdOperator("close_obj", ("X",), (), _sets(remove="open"), "close {X}", "closed {X}"),
        HouseholdOperator(
            "toggle_on",
            ("X",),
            (Need(("closed", "X"), only_if=Trait.SHUT_TO_RUN), Need(("remote", "X"), only_if=Trait.SCREEN)),
            _sets(add="running"),
            "turn on {X}",
            "turned on {X}",
        ),
        HouseholdOperator(
            "toggle_off",
            ("X",),
            (Need(("remote", "X"), only_if=Trait.SCREEN),),
            _sets(remove="running"),
            "turn off {X}",
            "turned off {X}",
        ),
        HouseholdOperator(
            "slice_obj",
            ("X",),
            (Need(("set down", "X")), Need(("tool", "X"))),
            _slice,
            "slice {X}",
            "sliced {X}",
        ),
        HouseholdOperator(
            "crack_obj", ("X",), (Need(("holding", "X")),), _sets(add="cracked"), "crack {X}", "cracked {X}"
        ),
        HouseholdOperator(
            "pour",
            ("X", "Y"),
            (Need(("full", "X")), Need(("holding", "X"))),
            _pour,
            "pour {X} out into {Y}",
            "poured {X} out into {Y}",
        ),
    )
}
"""Every household operator by its name in plans."""


def _faucets_fill_and_clean(state: State, home: Household) -> tuple[set[Fact], set[Fact]]:
    gone, new = set[Fact](), set[Fact]()
    if any(("running", faucet) in state for faucet in home.all(Trait.POURS_WATER)):
        for thing in (thing for basin in basins(home) for thing in contents(state, basin)):
            gone |= {("dirty", thing)} & state
            # What holds another liquid already is not filled.
            if home.has(thing, Trait.VESSEL) and liquid(state, thing) is None:
                new.add(("filled", thing, "water"))
                gone |= {("hot", thing)} & state
    return gone, new


def _coffee_machines_fill(state: State, home: Household) -> tuple[set[Fact], set[Fact]]:
    machines = [machine for machine in home.all(Trait.POURS_COFFEE) if ("running", machine) in state]
    return set(), {
        ("filled", thing, "coffee")
        for machine in machines
        for thing in contents(state, machine)
        if home.has(thing, Trait.VESSEL) and liquid(state, thing) is None
    }


def _heaters_heat(state: State, home: Household) -> tuple[set[Fact], set[Fact]]:
    heaters = [
        heater
        for heater in home.all(Trait.HEATS)
        if ("running", heater) in state and not (home.has(heater, Trait.DOOR) and ("open", heater) in state)
    ]
    things = {fact[1] for fact in state if fact[0] == "at"}
    return set(), {("hot", thing) for thing in things for heater in heaters if is_at(state, thing, heater)}


LAWS = (_faucets_fill_and_clean, _coffee_machines_fill, _heaters_heat)
"""What happens by itself in a state."""


def settle(state: State, home: Household) -> State:
    """A state after the household has done what it does by itself."""
    for law in LAWS:
        gone, new = law(state, home)
        state = (state - gone) | new
    return state


def operator_of(step: Step) -> HouseholdOperator:
    """The operator of a step.

    Raises:
        InvalidAction: there is none of that name, or it takes other arguments.
    """
    operator = HOUSEHOLD_OPERATORS.get(step.operator)
    if operator is None:
        raise InvalidAction(
            f"expected a household operator, found {step.operator!r} in {step}."
            f"{did_you_mean(step.operator, HOUSEHOLD_OPERATORS)}"
        )
    if len(step.arguments) != len(operator.roles):
        raise InvalidAction(f"expected {len(operator.roles)} arguments for {step.operator!r}, found {step}")
    return operator


def unmet(state: State, step: Step, home: Household) -> list[Fact]:
    """The needs of a step that are not so in a state."""
    return [need for need in operator_of(step).conditions(step.arguments, home) if not holds(state, need, home)]


def apply(state: State, step: Step, home: Household) -> State:
    """The state after a step whose needs are met."""
    gone, new = operator_of(step).change(state, step.arguments, home)
    return settle((state - gone) | new, home)

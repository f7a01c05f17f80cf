"""The true state of a kitchen as facts of the household domain: for planning demonstrations and judging episodes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import pybullet

from nsrecover.core.facts import StateFact
from nsrecover.domains.base import State
from nsrecover.domains.household.kinds import Trait, traits_of
from nsrecover.domains.household.names import is_slice, noun, whole
from nsrecover.domains.household.scene import HouseholdScene, holds, household
from sim.kitchen.cell import KitchenCell
from sim.kitchen.laws import is_hot
from sim.kitchen.scenes import KitchenSpec
from sim.kitchen.states import ObjectState

FILLED_L = 0.05
"""From here on a vessel counts as filled; less is a film or a splash."""
COOKED, BURNT = 1.0, 2.0
"""Values of `ObjectState.cooked` from which on food counts as cooked, and as burnt."""
FLOOR = "floor"
_UPWARDS = 0.5
"""A contact supports a thing if its normal is within 60 degrees of the vertical; what stands is as upright."""


def household_of(kitchen: KitchenSpec) -> HouseholdScene:
    """The household domain over the fixtures and things of a kitchen, for its robot with one gripper."""
    return household(_names(kitchen), complete=True, one_handed=True)


def _names(kitchen: KitchenSpec) -> Iterator[str]:
    yield from (fixture.name for fixture in kitchen.fixtures)
    yield from (thing.name for thing in kitchen.things)


def start_state(kitchen: KitchenSpec) -> State:
    """The facts that hold at the start of a kitchen, without simulating it."""
    facts: set[StateFact] = set()
    for thing in kitchen.things:
        facts.add(("at", thing.name, thing.place))
        facts |= _facts_about(thing.name, thing.state)
    return frozenset(facts)


def true_state(cell: KitchenCell) -> State:
    """The facts that hold in a kitchen now.

    `at` is what a thing is directly in or on, `atop` that it is merely on top of something that things are put into.
    Pieces of food count as one object, the slice of the food; pieces can be in several places.
    """
    facts: set[StateFact] = set()
    for name, state in cell.states.items():
        if not state.sliced:
            facts |= _facts_about(piece_name(name), state)
    for name in cell.things:
        if cell.states[name].sliced:
            continue
        thing = piece_name(name)
        if is_slice(thing):
            facts.add(("sliced", thing))
        if name == cell.robot.held:
            facts.add(("holding", thing))
        else:
            if Trait.DISH in traits_of(thing) and cell.pose(name)[1][2, 2] < _UPWARDS:
                facts.add(("toppled", thing))
            place = place_of(cell, name)
            atop = place in cell.fixtures and _merely_on_top(cell, name, place)
            facts.add(("atop" if atop else "at", thing, piece_name(place)))
    return frozenset(facts)


def piece_name(name: str) -> str:
    """The name of a thing in the domain, which does not number the pieces of a food: `second bread slice`."""
    return noun(name) if is_slice(name) else name


def place_of(cell: KitchenCell, name: str) -> str:
    """What a thing that is not held is directly in or on: a vessel, a fixture, another thing, or the floor."""
    vessels = [outer for outer in cell.things if name in cell.contents(outer)]
    if vessels:
        return min(vessels, key=lambda outer: cell.things[outer].kind.radius_m)
    return cell.stands_on(name) or _support(cell, name) or FLOOR


def unmet_goal(cell: KitchenCell, goal: Iterable[StateFact], home: HouseholdScene) -> tuple[StateFact, ...]:
    """The conditions of a goal that do not hold in a kitchen now."""
    state = true_state(cell)
    return tuple(condition for condition in goal if not holds(state, condition, home))


def differences(
    expected: State, actual: State, ignored: Collection[str] = ()
) -> tuple[frozenset[StateFact], frozenset[StateFact]]:
    """The facts that are missing from a state, and those that it has in excess.

    Args:
        expected: what should hold.
        actual: what holds.
        ignored: predicates that do not count.
    """
    missing, excess = ({fact for fact in one - other if fact[0] not in ignored} for one, other in
                       ((expected, actual), (actual, expected)))  # fmt: skip
    return frozenset(missing), frozenset(excess)


def _facts_about(name: str, state: ObjectState) -> set[StateFact]:
    """What holds of an object besides its place; only what its kind can be in the domain."""
    traits = traits_of(name)
    cooks = Trait.COOKS in traits_of(whole(name))
    true = {
        "open": state.open and bool(traits & {Trait.DOOR, Trait.LID}),
        "running": state.on and Trait.SWITCH in traits,
        "dirty": state.dirty,
        "cracked": state.cracked,
        "hot": Trait.PORTABLE in traits and is_hot(state),
        "cooked": cooks and state.cooked >= COOKED,
        "burnt": cooks and state.cooked >= BURNT,
        "broken": state.broken,
    }
    facts: set[StateFact] = {(predicate, name) for predicate, holding in true.items() if holding}
    if state.volume_l >= FILLED_L and Trait.VESSEL in traits:
        facts.add(("filled", name, state.liquid))
    return facts


def _merely_on_top(cell: KitchenCell, name: str, fixture: str) -> bool:
    return Trait.SLOT in traits_of(fixture) and name not in cell.standing_on(fixture)


def _support(cell: KitchenCell, name: str) -> str:
    """The thing or fixture on which a thing rests by contact; empty if there is none."""
    owners = {cell.body(other): other for other in (*cell.things, *cell.fixtures) if other != name}
    best, most = "", 0.0
    for point in pybullet.getContactPoints(cell.body(name), physicsClientId=cell.client):
        # the normal points from the second body to the first
        if point[2] in owners and point[7][2] > _UPWARDS and point[9] > most:
            best, most = owners[point[2]], point[9]
    return best

"""Typed states of a household: who is where, what is open, running, filled, and what that says about a condition.

A state is a set of facts, each a tuple: `("at", thing, place)` in or on it, `("atop", thing, place)` merely on top of
something that things are put into, `("holding", thing)`, `("open", thing)`, `("running", thing)`,
`("filled", thing, liquid)`, `("dirty", thing)`, `("sliced", slices)`, `("cracked", thing)`, `("hot", thing)` and
`("covers", thing, thing below)`. What is not in the set is not so.
"""

from __future__ import annotations

from nsrecover.explanation.logs.household import Household, Trait
from nsrecover.explanation.logs.names import is_slice, same, whole

Fact = tuple[str, ...]
State = frozenset[Fact]


def holding(state: State) -> str | None:
    """What the robot holds."""
    return next((fact[1] for fact in state if fact[0] == "holding"), None)


def places(state: State, thing: str) -> list[str]:
    """What a thing is in or on; slices can be in several places."""
    return sorted(fact[2] for fact in state if fact[0] in ("at", "atop") and fact[1] == thing)


def contents(state: State, place: str) -> list[str]:
    """What is directly in or on a place."""
    return sorted(fact[1] for fact in state if fact[0] in ("at", "atop") and fact[2] == place)


def liquid(state: State, thing: str) -> str | None:
    """What a vessel is filled with."""
    return next((fact[2] for fact in state if fact[0] == "filled" and fact[1] == thing), None)


def is_at(state: State, thing: str, place: str, depth: int = 6) -> bool:
    """Whether a thing is in or on a place, directly or in something that is."""
    if ("at", thing, place) in state:
        return True
    return depth > 0 and any(
        is_at(state, other, place, depth - 1) for other in places(state, thing) if ("at", thing, other) in state
    )


def shut_in(state: State, thing: str, home: Household, depth: int = 6) -> str | None:
    """The closed thing behind whose door something is; for slices only if all of them are."""
    found = []
    for place in places(state, thing):
        if home.has(place, Trait.DOOR) and ("open", place) not in state and ("at", thing, place) in state:
            found.append(place)
        elif depth > 0 and (outer := shut_in(state, place, home, depth - 1)):
            found.append(outer)
        else:
            return None
    return found[0] if found else None


def on_it(state: State, thing: str, home: Household) -> str | None:
    """What lies on or over a thing so that it cannot be taken; what a dish carries does not count."""
    covering = sorted(fact[1] for fact in state if fact[0] == "covers" and fact[2] == thing)
    # Of many slices there is always one on top.
    if not covering and not is_slice(thing) and not home.has(thing, Trait.DISH) and home.movable(thing):
        covering = [other for other in contents(state, thing) if whole(other) != whole(thing)]
    return covering[0] if covering else None


def occupant(state: State, place: str, thing: str, home: Household) -> str | None:
    """What takes the room that a thing would need in a place with room for one."""
    if not home.has(place, Trait.ONE_PLACE):
        return None
    inside = contents(state, place)
    carried = {other for other in inside if any(carrier in inside for carrier in places(state, other))}
    others = [o for o in inside if o != thing and o not in carried and home.movable(o)
              and not (is_slice(o) and whole(o) == whole(thing)) and not is_at(state, o, thing)]  # fmt: skip
    return others[0] if others else None


def holds(state: State, condition: Fact, home: Household) -> bool:
    """Whether a condition is so in a state.

    Conditions are facts, and besides: `("hand free",)`, `("reachable", thing)`, `("uncovered", thing)`,
    `("accessible", place)`, `("room", place, thing)`, `("closed" | "off" | "clean" | "empty", thing)`,
    `("set down", food)` to be cut, `("not at", thing, place)`,
    `("exists", thing)`, `("tool", thing)` to cut it with, `("remote", screen)`, `("full", vessel)`.
    """
    match condition:
        case ("at", thing, place):
            return is_at(state, thing, place)
        case ("hand free",):
            return holding(state) is None
        case ("reachable", thing):
            return shut_in(state, thing, home) is None
        case ("uncovered", thing):
            return on_it(state, thing, home) is None
        case ("accessible", place):
            shut = home.has(place, Trait.DOOR) and ("open", place) not in state
            return not shut and shut_in(state, place, home) is None
        case ("room", place, thing):
            return occupant(state, place, thing, home) is None
        case ("closed", thing):
            return ("open", thing) not in state
        case ("off", thing):
            return ("running", thing) not in state
        case ("clean", thing):
            return ("dirty", thing) not in state
        case ("empty", thing):
            return liquid(state, thing) is None
        case ("full", thing):
            return liquid(state, thing) is not None
        case ("set down", thing):
            # Food is cut on something flat, not in the gripper, a bowl or a toaster.
            flat = all(home.has(place, Trait.SURFACE) or home.has(place, Trait.BASIN) for place in places(state, thing))
            return ("holding", thing) not in state and flat
        case ("not at", thing, place):
            return ("at", thing, place) not in state and ("atop", thing, place) not in state
        case ("exists", thing):
            return not is_slice(thing) or ("sliced", thing) in state
        case ("tool", _):
            held = holding(state)
            return held is not None and home.has(held, Trait.CUTS)
        case ("remote", _):
            held = holding(state)
            return not home.all(Trait.REMOTE) or (held is not None and home.has(held, Trait.REMOTE))
    return condition in state


def basins(home: Household) -> list[str]:
    """The sinks and tubs of a log."""
    return home.all(Trait.BASIN)


def matching(names: list[str], word: str) -> list[str]:
    """The names that a word can mean."""
    return [name for name in names if same(name, word)]

"""Labels of states from successful demonstrations: what holds after each step by the effects and laws of the domain."""

from __future__ import annotations

from collections.abc import Iterable

from nsrecover.core import Observation, StateFact
from nsrecover.domains.base import State, StateVariable
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.domains.household.names import is_slice, operated_by
from nsrecover.domains.household.scene import HouseholdScene, household
from nsrecover.errors import InvalidRecording
from nsrecover.records.recording import Recording


def visible_variables() -> dict[str, StateVariable]:
    """The state variables of the household that can be seen, by name."""
    return {name: variable for name, variable in HOUSEHOLD.variables.items() if variable.visible}


def home_of(recording: Recording) -> tuple[HouseholdScene, State]:
    """The household of a demonstration, and the facts that hold at its start.

    Raises:
        InvalidRecording: its notes do not say what holds at the start.
    """
    start = recording.notes.get("start")
    if recording.notes.get("domain") != HOUSEHOLD.name or not isinstance(start, list):
        raise InvalidRecording(
            "expected a demonstration of the household with `domain` and the facts at its `start` in its notes, found "
            "none; `python -m sim.collect domain=household` records such"
        )
    facts: frozenset[StateFact] = frozenset(tuple(map(str, fact)) for fact in start)
    seen = [name for observation in recording.observations for name in observation.labels.values()]
    named = [term for fact in sorted(facts) for term in fact[1:] if term not in HOUSEHOLD.variables["filled"].values]
    arguments = [name for action in recording.plan for name in action.arguments]
    names = [name for name in (*seen, *named, *arguments) if not is_slice(name)]
    home = household(names, complete=True, one_handed=True)
    return home, home.settle(facts)


def states_of(recording: Recording) -> list[State]:
    """The facts that hold before the first action of a demonstration, and after each of the T."""
    home, state = home_of(recording)
    states = [state]
    for action in recording.plan:
        states.append(home.apply(states[-1], action.operator, action.arguments))
    return states


def shown_in(observation: Observation) -> tuple[str, ...]:
    """The objects whose states an observation may show: those that are visible, and those whose control is."""
    names = observation.labels.values()
    switched = (operated_by(name) for name in names)
    return tuple(dict.fromkeys((*names, *(name for name in switched if name is not None))))


def values_of(state: State, names: Iterable[str], variables: Iterable[StateVariable]) -> dict[str, dict[str, str]]:
    """Name -> variable -> value in a state.

    Pieces of food are left out: the domain does not tell them apart, so that it does not say which of them is cooked.
    """
    found: dict[str, dict[str, str]] = {}
    for name in names:
        if is_slice(name):
            continue
        found[name] = {}
        for variable in variables:
            if len(variable.values) == 2:
                found[name][variable.name] = variable.values[(variable.name, name) in state]
            else:
                held = [value for value in variable.values if (variable.name, name, value) in state]
                found[name][variable.name] = held[0] if held else variable.values[0]
    return found

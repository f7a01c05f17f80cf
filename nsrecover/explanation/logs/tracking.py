"""What was so at every moment of a log, put together from what was seen and what was done."""

from __future__ import annotations

from nsrecover.domains.base import Fact, State
from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.household.names import is_slice, same_stuff, slice_of
from nsrecover.domains.household.scene import Household, holding, is_at, unmet
from nsrecover.explanation.logs.household import liquid_of
from nsrecover.explanation.logs.records import HouseholdLog, KeyFrame, Observation

_STATES: dict[str, tuple[str, bool]] = {
    "open": ("open", True),
    "closed": ("open", False),
    "turned on": ("running", True),
    "turned off": ("running", False),
    "dirty": ("dirty", True),
    "clean": ("dirty", False),
    "cracked": ("cracked", True),
    "not cracked": ("cracked", False),
    "hot": ("hot", True),
    "warm": ("hot", True),
    "cooked": ("hot", True),
    "heated": ("hot", True),
    "cold": ("hot", False),
}
"""A state in words -> the fact, and whether it is so."""


_SWITCHING = {
    "open_obj": ("open", True),
    "close_obj": ("open", False),
    "toggle_on": ("running", True),
    "toggle_off": ("running", False),
}


def track(log: HouseholdLog, home: Household) -> list[State]:
    """The believed state at every event of a log.

    Args:
        log: the log.
        home: its things.

    Returns:
        One state for each entry of `log.events`.
    """
    state: State = frozenset()
    states = []
    for frame in log.events:
        state = _after(state, frame, home)
        states.append(state)
    return states


def at_the_end(log: HouseholdLog, last: State, home: Household) -> State:
    """The believed state when the log ends: what its final state says, and for the rest what was last believed."""
    state = _gripper(last, log.final, None, home)
    listed = set(log.final.states())
    told = {name for name, _, _ in log.final.relations()}
    # The final state is gathered over all frames and names every contact: what it does not say of a thing is not so.
    state = frozenset(
        fact for fact in state if not (fact[0] in ("at", "atop") and fact[1] in listed - told)
        and not (fact[0] in ("at", "atop") and is_slice(fact[1]) and fact[1] in told)
    )  # fmt: skip
    return home.settle(_seen(state, log.final, home))


def _after(state: State, frame: KeyFrame, home: Household) -> State:
    state = _gripper(state, frame.observation, frame, home)
    state = _unseen(_seen(state, frame.observation, home), frame, home)
    hidden = frozenset(fact for fact in home.settle(state) - state if not frame.observation.sees(fact[1]))
    gone = frozenset(fact for fact in state - home.settle(state) if not frame.observation.sees(fact[1]))
    return (state | hidden) - gone


def _gripper(state: State, observation: Observation, frame: KeyFrame | None, home: Household) -> State:
    held, before = in_hand(state, observation), holding(state)
    if held is None or held == (before or ""):
        return state
    gone = {fact for fact in state if fact[0] == "holding"}
    new = set[Fact]()
    if held:
        new.add(("holding", held))
        if not is_slice(held):
            gone |= {fact for fact in state if fact[0] in ("at", "atop") and fact[1] == held}
    if before and not held and frame is not None and frame.step.operator in ("put_in", "put_on"):
        thing, place = frame.step.arguments
        # A dish that is put down keeps what is in it, one that falls does not.
        if same_stuff(thing, before) or not observation.places(before):
            atop = frame.step.operator == "put_on" and home.has(place, Trait.SLOT)
            new.add(("atop" if atop else "at", before, place))
    elif before and not held:
        gone |= {fact for fact in state if fact[0] == "at" and fact[2] == before and home.has(before, Trait.PORTABLE)}
        gone |= {fact for fact in state if fact[0] == "filled" and fact[1] == before}
    return (state - gone) | new


def in_hand(state: State, observation: Observation) -> str | None:
    """What the gripper holds; what has been sliced can only be held as a slice."""
    held = observation.held
    return slice_of(held) if held and ("sliced", slice_of(held)) in state else held


def _unseen(state: State, frame: KeyFrame, home: Household) -> State:
    """What was opened or switched out of view is taken to have worked if it could."""
    step, change = frame.step, _SWITCHING.get(frame.step.operator)
    if change is None or frame.observation.sees(step.arguments[0]) or unmet(state, step, home):
        return state
    predicate, so = change
    fact = (predicate, step.arguments[0])
    return state | {fact} if so else state - {fact}


def _seen(state: State, observation: Observation, home: Household) -> State:
    facts = set(state)
    for name, words in observation.states().items():
        if is_slice(name):
            facts.add(("sliced", name))
        for word in words:
            if word in _STATES:
                predicate, so = _STATES[word]
                facts.discard((predicate, name))
                if so:
                    facts.add((predicate, name))
            elif word == "sliced":
                facts.add(("sliced", slice_of(name)))
            elif word == "empty" or word.startswith("filled"):
                facts = {fact for fact in facts if not (fact[0] == "filled" and fact[1] == name)}
                if word != "empty":
                    facts.add(("filled", name, liquid_of(word)))
    return frozenset(_places(facts, observation, home))


def _places(facts: set[Fact], observation: Observation, home: Household) -> set[Fact]:
    """Where things are, with what was believed where the eye does not decide."""
    held = observation.held
    for name in dict.fromkeys(subject for subject, _, _ in observation.relations()):
        if name == held or home.has(name, Trait.FIXTURE):
            continue
        found = set[Fact]()
        for relation, place in observation.places(name):
            atop = relation == "on top of" and home.has(place, Trait.SLOT)
            fact = ("atop" if atop else "at", name, place)
            # Nothing gets into what is being carried: it is merely behind it.
            if not (place == held and fact not in facts):
                found.add(fact)
        if not found:
            continue
        if not is_slice(name):
            carriers = {fact[2] for fact in facts if fact[0] == "at" and fact[1] == name}
            state = frozenset(facts)
            kept = {
                ("at", name, carrier)
                for carrier in carriers
                if home.has(carrier, Trait.DISH)
                and any(
                    is_at(state, carrier, place, home) or _beside(observation, carrier, place) for _, _, place in found
                )
            }
            facts = {fact for fact in facts if not (fact[0] in ("at", "atop") and fact[1] == name)} | kept
        facts |= found
    return facts


def _beside(observation: Observation, carrier: str, place: str) -> bool:
    return any(other == place for _, other in observation.places(carrier))

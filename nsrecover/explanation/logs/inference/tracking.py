"""The believed state at every moment of a log, from what was seen and what was done."""

from __future__ import annotations

from nsrecover.core.facts import StateFact
from nsrecover.domains.base import State
from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.household.names import is_slice, same_stuff, slice_of
from nsrecover.domains.household.scene import Household, holding, is_at, unmet
from nsrecover.explanation.logs.inference.effects import SEEN, SWITCHES, liquid_of
from nsrecover.explanation.logs.reading.records import HouseholdLog, KeyFrame, Observation

PLACING = ("at", "atop")
"""The relations of an object to where it is."""


def track(log: HouseholdLog, home: Household) -> list[State]:
    """The believed state at every event of a log.

    Args:
        log: the log.
        home: its objects.

    Returns:
        One state for each entry of `log.events`.
    """
    state: State = frozenset()
    states = []
    for frame in log.events:
        state = _gripper(state, frame.observation, frame, home)
        state = _unseen(_seen(state, frame.observation, home), frame, home)
        # Laws change what is out of view; what is in view is believed as seen.
        changed = home.settle(state) ^ state
        state ^= frozenset(fact for fact in changed if not frame.observation.sees(fact[1]))
        states.append(state)
    return states


def at_the_end(log: HouseholdLog, last: State, home: Household) -> State:
    """The believed state when the log ends: its final state, and for what that leaves open the last belief."""
    state = _gripper(last, log.final, None, home)
    listed = set(log.final.states())
    placed = {name for name, _, _ in log.final.relations()}
    # The final state is gathered over all frames and names every contact: a contact it does not name does not hold.
    gone = listed - placed | {name for name in placed if is_slice(name)}
    state = frozenset(fact for fact in state if not (fact[0] in PLACING and fact[1] in gone))
    return home.settle(_seen(state, log.final, home))


def _gripper(state: State, observation: Observation, frame: KeyFrame | None, home: Household) -> State:
    held, before = in_hand(state, observation), holding(state)
    if held is None or held == (before or ""):
        return state
    gone = {fact for fact in state if fact[0] == "holding"}
    new = set[StateFact]()
    if held:
        new.add(("holding", held))
        if not is_slice(held):
            gone |= {fact for fact in state if fact[0] in PLACING and fact[1] == held}
    elif before and frame is not None and frame.step.operator in ("put_in", "put_on"):
        thing, place = frame.step.arguments
        # A dish that is put down keeps its contents, one that falls does not.
        if same_stuff(thing, before) or not observation.places(before):
            atop = frame.step.operator == "put_on" and home.has(place, Trait.SLOT)
            new.add(("atop" if atop else "at", before, place))
    elif before:
        gone |= {fact for fact in state if fact[0] == "at" and fact[2] == before and home.has(before, Trait.PORTABLE)}
        gone |= {fact for fact in state if fact[0] == "filled" and fact[1] == before}
    return (state - gone) | new


def in_hand(state: State, observation: Observation) -> str | None:
    """What the gripper holds; what has been sliced can only be held as a slice."""
    held = observation.held
    return slice_of(held) if held and ("sliced", slice_of(held)) in state else held


def _unseen(state: State, frame: KeyFrame, home: Household) -> State:
    """The state in which an object that was opened or switched out of view has changed, if it could."""
    step, change = frame.step, SWITCHES.get(frame.step.operator)
    if change is None or frame.observation.sees(step.arguments[0]) or unmet(state, step, home):
        return state
    fact = (change[0], step.arguments[0])
    return state | {fact} if change[1] else state - {fact}


def _seen(state: State, observation: Observation, home: Household) -> State:
    facts = set(state)
    for name, words in observation.states().items():
        if is_slice(name):
            facts.add(("sliced", name))
        for word in words:
            if word in SEEN:
                predicate, value = SEEN[word]
                (facts.add if value else facts.discard)((predicate, name))
            elif word == "sliced":
                facts.add(("sliced", slice_of(name)))
            elif word == "empty" or word.startswith("filled"):
                facts = {fact for fact in facts if fact[:2] != ("filled", name)}
                if word != "empty":
                    facts.add(("filled", name, liquid_of(word)))
    return frozenset(_places(facts, observation, home))


def _places(facts: set[StateFact], observation: Observation, home: Household) -> set[StateFact]:
    """Where objects are; the previous belief decides what the view leaves open."""
    held = observation.held
    for name in dict.fromkeys(subject for subject, _, _ in observation.relations()):
        if name == held or home.has(name, Trait.FIXTURE):
            continue
        found = {
            ("atop" if relation == "on top of" and home.has(place, Trait.SLOT) else "at", name, place)
            for relation, place in observation.places(name)
        }
        # Nothing gets into an object that is being carried: it is merely behind it.
        found = {fact for fact in found if fact[2] != held or fact in facts}
        if found and not is_slice(name):
            state = frozenset(facts)
            kept = {
                fact
                for fact in facts
                if fact[:2] == ("at", name)
                and home.has(fact[2], Trait.DISH)
                and any(is_at(state, fact[2], at, home) or observation.shows_at(fact[2], at) for _, _, at in found)
            }
            facts = {fact for fact in facts if not (fact[0] in PLACING and fact[1] == name)} | kept
        facts |= found
    return facts

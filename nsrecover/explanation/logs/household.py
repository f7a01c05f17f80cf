"""The household that a log is about."""

from __future__ import annotations

from collections.abc import Iterator

from nsrecover.domains.household.kinds import IMPLIED, KINDS, Trait, is_category, traits_of
from nsrecover.domains.household.names import noun, whole
from nsrecover.domains.household.scene import Household, household
from nsrecover.explanation.logs.goal import goal_of
from nsrecover.explanation.logs.records import HouseholdLog, Observation

_SHOWN = {
    "turned on": Trait.SWITCH,
    "turned off": Trait.SWITCH,
    "not sliced": Trait.SLICEABLE,
    "not cracked": Trait.CRACKABLE,
    "empty": Trait.VESSEL,
}
"""State that is seen -> the trait that its object has."""

_DONE = {"open_obj": Trait.DOOR, "toggle_on": Trait.SWITCH, "toggle_off": Trait.SWITCH}
"""Action of a plan -> the trait of its object, if nothing else is known of that."""


_NEEDED = {
    "slice_obj": Trait.SLICEABLE,
    "sliced": Trait.SLICEABLE,
    "crack_obj": Trait.CRACKABLE,
    "cracked": Trait.CRACKABLE,
}
"""Action of a plan, or condition of a goal -> the trait that its object has."""


def household_of(log: HouseholdLog) -> Household:
    """The objects of a log; their states and the steps done with them give the traits of kinds that are not known."""
    learned: dict[str, frozenset[str]] = {}
    names, liquids = dict[str, None](), set[str]()

    def learn(name: str, trait: Trait) -> None:
        learned[noun(name)] = learned.get(noun(name), frozenset()) | {trait}

    for observation in (*(frame.observation for frame in (*log.events, *log.subgoals)), log.final):
        names |= dict.fromkeys(_named(observation))
        for name, states in observation.states().items():
            for state in states:
                if state in _SHOWN:
                    learn(name, _SHOWN[state])
                elif state in ("open", "closed") and noun(name) not in KINDS:
                    learn(name, Trait.DOOR)
                elif state.startswith("filled"):
                    learn(name, Trait.VESSEL)
                    liquids.add(liquid_of(state))
    for step in log.plan:
        names |= dict.fromkeys(step.arguments)
        if step.arguments and step.operator in _DONE and noun(step.arguments[0]) not in KINDS:
            learn(step.arguments[0], _DONE[step.operator])
    unnamed = [name for frame in (*log.events, *log.subgoals) for name in frame.step.arguments]
    goal = goal_of(log.success_state, log.plan)
    unnamed += goal.names
    for operator, name in [(step.operator, step.arguments[0]) for step in log.plan if step.arguments] + [
        condition[:2] for condition in goal.conditions
    ]:
        if operator in _NEEDED:
            learn(whole(name), _NEEDED[operator])
    for place in [step.arguments[1] for step in log.plan if step.operator in ("put_in", "put_on")] + [
        condition[2] for condition in goal.conditions if condition[0] == "at"
    ]:
        if not (traits_of(place) | learned.get(noun(place), frozenset())) & {Trait.FLAT, Trait.HOLLOW}:
            learn(place, Trait.HOLLOW)
    text = f"{log.success_state} {' '.join(map(str, log.plan))}".lower()
    for word, needed in IMPLIED.items():
        for name in needed if word in text else ():
            if not any(noun(known) == name for known in names):
                names.setdefault(name)
    named = (name for name in names if not is_category(name))
    return household(named, learned, (name for name in unnamed if not is_category(name)), sorted(liquids))


def liquid_of(state: str) -> str:
    """The liquid of a state such as `filled with water`."""
    return state.removeprefix("filled").removeprefix(" with ").strip() or "water"


def _named(observation: Observation) -> Iterator[str]:
    yield from observation.states()
    for subject, _, other in observation.relations():
        yield from (subject, other)
    if observation.held:
        yield observation.held

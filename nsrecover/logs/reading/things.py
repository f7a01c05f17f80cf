"""The objects of a log: one name for each, and what their states and steps say about unknown kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain

from nsrecover.core.actions import Action
from nsrecover.core.names import plain_name, problem_of
from nsrecover.domains.base import State
from nsrecover.domains.domain import Domain
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.domains.household.kinds import IMPLIED, KINDS, Trait, could_mean, is_category, traits_of
from nsrecover.domains.household.names import normal, noun, same_stuff, whole
from nsrecover.domains.household.scene import HouseholdScene, apply, household, unmet
from nsrecover.domains.household.suitability import PRACTICAL
from nsrecover.logs.effects import liquid_of
from nsrecover.logs.reading.records import (
    CONTACT,
    GRIPPER,
    HouseholdLog,
    KeyFrame,
    LogObservation,
    Related,
    Seen,
)
from nsrecover.logs.reading.wanted import goal_of

_SHOWN = {
    "turned on": Trait.SWITCH,
    "turned off": Trait.SWITCH,
    "not sliced": Trait.SLICEABLE,
    "not cracked": Trait.CRACKABLE,
    "empty": Trait.VESSEL,
}
"""Observed state -> the trait that its object has."""

_OPERATED = {"open_obj": Trait.DOOR, "toggle_on": Trait.SWITCH, "toggle_off": Trait.SWITCH}
"""Action of a plan -> the trait of its object, if its kind is not known."""

_NEEDED = {
    key: operator.parameters[0].trait
    for operator in HOUSEHOLD.operators.values()
    if operator.parameters[0].trait not in ("", Trait.PORTABLE)
    for key in (operator.name, operator.effects[0].adds[0][0])
}
"""Action of a plan, or condition of a goal -> the trait that its object has."""


def state_after(home: HouseholdScene, state: State, steps: list[Action] | tuple[Action, ...]) -> State | None:
    """The state after steps; None if one of them cannot be carried out. Unknown operators are left out."""
    for step in steps:
        if step.operator in HOUSEHOLD.operators:
            if unmet(state, step, home):
                return None
            state = apply(state, step, home)
    return state


def alike(one: Action, other: Action) -> bool:
    """Whether two steps are the same action, with slices for what they were cut from and ordinals left out."""
    return one.operator == other.operator and all(map(same_stuff, one.arguments, other.arguments))


def carries_out(done: Action, planned: Action) -> bool:
    """Whether a line of a log can be about a step of the plan."""
    put = {"put_in", "put_on"}
    same_action = done.operator == planned.operator or {done.operator, planned.operator} == put
    return same_action and len(done.arguments) == len(planned.arguments) and all(
        could_mean(word, name) or could_mean(name, word) or same_stuff(word, name)
        for word, name in zip(planned.arguments, done.arguments, strict=True)
    )  # fmt: skip


def observations(log: HouseholdLog) -> Iterator[LogObservation]:
    """Every observation of a log, the last one at the end."""
    yield from (frame.observation for frame in (*log.events, *log.subgoals))
    yield log.final


def named(log: HouseholdLog) -> dict[str, None]:
    """Every object that a log observes, or that its plan names, in order."""
    names = dict[str, None]()
    for observation in observations(log):
        names |= dict.fromkeys(observation.states())
        names |= dict.fromkeys(chain.from_iterable((one, other) for one, _, other in observation.relations()))
        names |= dict.fromkeys([observation.held] if observation.held else [])
    return names | dict.fromkeys(chain.from_iterable(step.arguments for step in log.plan))


def merged(log: HouseholdLog) -> HouseholdLog:
    """The log with one name for each object.

    A detector that numbers what it sees twice in a frame, and not otherwise, counts boxes, not objects; so does one
    that sees one of them in the other. A name with further words (`gray pot`) is the object of the plan (`pot`) if
    nothing else that is seen can be.
    """
    said = {name for step in log.plan for name in step.arguments} | set(goal_of(log, named(log)).names)
    seen = {
        name
        for each in observations(log)
        for name in (*each.states(), *chain.from_iterable((one, two) for one, _, two in each.relations()), each.held)
        if name
    }
    renamed = dict[str, str]()
    nested = {one for each in observations(log) for one, how, other in each.relations()
              if how in CONTACT and noun(one) == noun(other)}  # fmt: skip
    for name in seen:
        bare = noun(name)
        if bare != name and name not in said and (bare in seen or any(noun(one) == bare for one in nested)):
            renamed[name] = bare
    # A box around two things is named for both.
    renamed |= {name: name.partition(" next to ")[0] for name in seen if " next to " in name}
    rest = {renamed.get(name, name) for name in seen}
    for word in said - rest:
        fuller = [name for name in rest - said if noun(name).endswith(f" {word}") and noun(name) not in KINDS]
        if len(fuller) == 1:
            renamed |= {name: word for name in seen if renamed.get(name, name) == fuller[0]}
    # What is no name, such as a sentence that a log has in its place, is made one.
    acted = {name for frame in (*log.events, *log.subgoals) for name in frame.step.arguments}
    plain = {name: _plain(renamed.get(name, name)) for name in (*seen, *said, *acted)}
    renamed |= {name: other for name, other in plain.items() if other != name}
    return _renamed(log, lambda name: renamed.get(normal(name), name)) if renamed else log


def _plain(name: str) -> str:
    """A name that an object, and its slices, can have."""
    if not problem_of(f"{name} slice"):
        return name
    return " ".join(plain_name(name).split()[:6])[:60].strip()


def _renamed(log: HouseholdLog, to: Callable[[str], str]) -> HouseholdLog:
    def observation(given: LogObservation) -> LogObservation:
        seen = dict[str, tuple[str, ...]]()
        for item in given.seen:
            seen[to(item.name)] = (*seen.get(to(item.name), ()), *item.states)
        sentences = tuple(
            replace(each, subject=to(each.subject), object=each.object if each.object == GRIPPER else to(each.object))
            if isinstance(each, Related) else each for each in given.sentences
        )  # fmt: skip
        apart = tuple(each for each in sentences if not isinstance(each, Related) or each.subject != each.object)
        return LogObservation(tuple(Seen(name, states) for name, states in seen.items()), apart, given.sounds)

    def named_so(step: Action) -> Action:
        return Action(step.operator, tuple(map(_plain, step.arguments)))

    def frames(given: tuple[KeyFrame, ...]) -> tuple[KeyFrame, ...]:
        return tuple(
            replace(frame, step=named_so(frame.step), observation=observation(frame.observation)) for frame in given
        )

    return replace(log, plan=tuple(map(named_so, log.plan)), events=frames(log.events),
                   subgoals=frames(log.subgoals), final=observation(log.final))  # fmt: skip


def household_of(log: HouseholdLog, domain: Domain = PRACTICAL) -> HouseholdScene:
    """The objects of a log.

    Args:
        log: with one name for each object.
        domain: the household domain, or a stricter one.
    """
    learned: dict[str, frozenset[str]] = {}
    names, liquids = named(log), set[str]()
    goal = goal_of(log, names)

    def learn(name: str, trait: str) -> None:
        learned[noun(name)] = learned.get(noun(name), frozenset()) | {trait}

    for observation in observations(log):
        for name, states in observation.states().items():
            for state in states:
                if state in _SHOWN:
                    learn(name, _SHOWN[state])
                elif state in ("open", "closed") and noun(name) not in KINDS:
                    learn(name, Trait.DOOR)
                elif state.startswith("filled"):
                    learn(name, Trait.VESSEL)
                    liquids.add(liquid_of(state))
    acted_on = [(step.operator, *step.arguments) for step in log.plan if step.arguments]
    for operator, thing, *_ in acted_on:
        if operator in _OPERATED and noun(thing) not in KINDS:
            learn(thing, _OPERATED[operator])
    for key, thing, *_ in (*acted_on, *goal.conditions):
        if key in _NEEDED:
            learn(whole(thing), _NEEDED[key])
    for key, _, *places in (*acted_on, *goal.conditions):
        for place in places if key in ("put_in", "put_on", "at") else ():
            if not (traits_of(place) | learned.get(noun(place), frozenset())) & {Trait.FLAT, Trait.HOLLOW}:
                learn(place, Trait.HOLLOW)
    text = f"{log.success_state} {' '.join(map(str, log.plan))}".lower()
    for needed in (needed for word, needed in IMPLIED.items() if word in text):
        names |= dict.fromkeys(name for name in needed if all(noun(known) != name for known in names))
    unnamed = [*(name for frame in (*log.events, *log.subgoals) for name in frame.step.arguments), *goal.names]
    # An observer sometimes leaves the ordinal out: that is no further object.
    numbered = {noun(name) for name in names if noun(name) != name}
    said = {name for step in log.plan for name in step.arguments} | set(goal.names)
    names = {name: None for name in names if noun(name) != name or name not in numbered or name in said}
    definite, others = (
        [name for name in found if not is_category(name) and name == _plain(name)] for found in (names, unnamed)
    )
    return household(definite, learned, others, sorted(liquids), domain=domain)

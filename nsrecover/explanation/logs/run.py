"""A log prepared for explanation: its objects, the believed state at every moment, and its checked subgoals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import Any

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains.base import State
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.domains.household.kinds import IMPLIED, KINDS, Trait, could_mean, is_category, traits_of
from nsrecover.domains.household.names import noun, same_stuff, whole
from nsrecover.domains.household.scene import Household, apply, household, unmet
from nsrecover.domains.household.suitability import PRACTICAL, practical
from nsrecover.explanation.logs.findings import Checked, Finding, RootCause
from nsrecover.explanation.logs.inference.effects import SWITCHES, liquid_of
from nsrecover.explanation.logs.inference.subgoals import verify
from nsrecover.explanation.logs.inference.tracking import at_the_end, track
from nsrecover.explanation.logs.reading.goal import goal_of
from nsrecover.explanation.logs.reading.records import HouseholdLog, KeyFrame, Observation

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


@dataclass(frozen=True)
class Capabilities:
    """What the diagnosis may use; all by default. Evaluations switch parts off to measure what they are worth.

    Attributes:
        all_frames: every frame, rather than those at the ends of steps.
        late_frames: a frame may show the moment before.
        failures: hypotheses about drops, other objects and other places, besides steps without effect.
        starts: initial states that the plan does not reckon with.
        edits: the smallest edit of the plan, rather than the condition that is not met.
        suitability: what has to fit, stand heat or be clean.
        changes: hot things cool under water, liquids do not mix, running machines accept nothing.
        obstacles: things in the way, from all frames around an attempt rather than the one at its end.
        ambiguity: words of the plan that leave open what is meant.
        belief: hypotheses weighed by observations; without it, each subgoal is checked by the frame at its end.
    """

    all_frames: bool = True
    late_frames: bool = True
    failures: bool = True
    starts: bool = True
    edits: bool = True
    suitability: bool = True
    changes: bool = True
    obstacles: bool = True
    ambiguity: bool = True
    belief: bool = True


@dataclass(frozen=True)
class Run:
    """A prepared log.

    Attributes:
        log: the log.
        home: its objects.
        states: the believed state at every event.
        final: the believed state at the end.
        subgoals: every subgoal, checked, in order.
        wanted: the success condition with objects for names.
        able: what the diagnosis may use.
    """

    log: HouseholdLog
    home: Household
    states: tuple[State, ...]
    final: State
    subgoals: tuple[Checked, ...]
    wanted: tuple[StateFact, ...]
    able: Capabilities = Capabilities()

    @property
    def steps(self) -> list[Action]:
        """The steps that were carried out."""
        return [item.step for item in self.subgoals]

    @property
    def plan(self) -> list[Action]:
        """The steps that were carried out, then the unambiguous ones of the plan that were not."""
        definite = [step for step in self.log.plan if not any(map(self.home.ambiguous, step.arguments))]
        return [*self.steps, *(step for step in definite if step not in self.steps)]

    def before(self, number: int) -> State:
        """The believed state just before the end of a subgoal's action."""
        event = self.subgoals[number].event
        return self.states[event - 1] if event else frozenset()

    def after(self, number: int) -> State:
        """The believed state at the end of a subgoal."""
        return self.states[self.subgoals[number].event]

    def finding(self, cause: RootCause, number: int, *objects: str, **details: Any) -> Finding:
        """A finding about a subgoal; times and step are those of the subgoal unless `details` has others."""
        item = self.subgoals[number]
        times = tuple(dict.fromkeys(details.pop("times", (item.time,))))
        return Finding(cause, times, tuple(dict.fromkeys(objects)), **{"step": item.step, **details})


def run_of(log: HouseholdLog, able: Capabilities | None = None) -> Run:
    """Prepare a log.

    Args:
        log: from `nsrecover.explanation.logs.reading.format`.
        able: what the diagnosis may use; everything if None.
    """
    able = able or Capabilities()
    home = replace(household_of(log), domain=practical(able.suitability, able.changes))
    states = tuple(track(log, home))
    ends = _ends(log)
    planned = aligned(log.plan, [frame.step for frame in ends])
    checked = []
    for frame, meant in zip(ends, planned, strict=True):
        event = _event_of(log.events, frame)
        before = states[event - 1] if event > 0 else frozenset()
        now = states[event] if states else frozenset()
        result = verify(frame.step, before, _decisive(log.events, event, frame), now, home)
        checked.append(
            Checked(frame.time, _definite(frame.step, before, now, home), meant or frame.step, *result, event)
        )
    final = at_the_end(log, states[-1] if states else frozenset(), home)
    wanted = goal_of(log.success_state, log.plan).bound(final, home, [item.step for item in checked])
    return Run(log, home, states, final, tuple(checked), wanted, able)


def state_after(home: Household, state: State, steps: Iterable[Action]) -> State | None:
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


def named(log: HouseholdLog) -> dict[str, None]:
    """Every object that a log observes, or that its plan names, in order."""
    names = dict[str, None]()
    for observation in (*(frame.observation for frame in (*log.events, *log.subgoals)), log.final):
        names |= dict.fromkeys(observation.states())
        names |= dict.fromkeys(chain.from_iterable((one, other) for one, _, other in observation.relations()))
        names |= dict.fromkeys([observation.held] if observation.held else [])
    return names | dict.fromkeys(chain.from_iterable(step.arguments for step in log.plan))


def household_of(log: HouseholdLog) -> Household:
    """The objects of a log; their states and the steps done with them give the traits of unknown kinds."""
    learned: dict[str, frozenset[str]] = {}
    names, liquids = named(log), set[str]()
    goal = goal_of(log.success_state, log.plan)

    def learn(name: str, trait: str) -> None:
        learned[noun(name)] = learned.get(noun(name), frozenset()) | {trait}

    for observation in (*(frame.observation for frame in (*log.events, *log.subgoals)), log.final):
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
    definite, others = ([name for name in found if not is_category(name)] for found in (names, unnamed))
    return household(definite, learned, others, sorted(liquids), domain=PRACTICAL)


def _decisive(events: Sequence[KeyFrame], event: int, end: KeyFrame) -> Observation:
    """The observation that decides: where what was opened or switched is out of view, the next one that shows it."""
    if end.step.operator not in SWITCHES:
        return end.observation
    thing = end.step.arguments[0]
    for frame in (end, *events[event + 1 :]):
        acts_on_it = frame.step.operator in SWITCHES and frame.step.arguments[:1] == (thing,)
        if frame is not end and acts_on_it and frame.text != end.text:
            break
        if frame.observation.sees(thing):
            return frame.observation
    return end.observation


def _definite(step: Action, before: State, now: State, home: Household) -> Action:
    """The step with the objects that it changed, where its words leave open which these are."""
    names = list(step.arguments)
    for position, word in enumerate(names):
        if home.ambiguous(word):
            relations: tuple[str, ...] = ("holding",)
            place, changed = 1, now - before
            if step.operator in SWITCHES:
                relations = (SWITCHES[step.operator][0],)
                changed = changed if SWITCHES[step.operator][1] else before - now
            elif step.operator != "pick_up":
                relations, place = (("at", "atop") if position == 1 and step.operator != "pour" else ()), 2
            reached = sorted(fact[place] for fact in changed if fact[0] in relations)
            names[position] = next((name for name in reached if could_mean(word, name)), word)
    return Action(step.operator, tuple(names))


def _ends(log: HouseholdLog) -> list[KeyFrame]:
    """The key frames that end a subgoal; from the events, if the log has no summary of them."""
    following = [*(frame.text for frame in log.events[1:]), None]
    shown = [frame for frame, text in zip(log.events, following, strict=False) if frame.text != text]
    found = [frame for frame in log.subgoals or shown if frame.step.operator != "move_to"]
    if len(found) != len(log.plan):
        return found
    # An action in unknown words is the one that the plan has there.
    return [
        frame if frame.step.operator in HOUSEHOLD.operators else replace(frame, step=step)
        for frame, step in zip(found, log.plan, strict=True)
    ]


def _event_of(events: Sequence[KeyFrame], end: KeyFrame) -> int:
    """The event that is the end of a subgoal: the same moment and words, or else the last one up to then."""
    exact = [number for number, frame in enumerate(events) if frame.time == end.time and frame.text == end.text]
    return max(exact or [number for number, frame in enumerate(events) if frame.seconds <= end.seconds], default=0)


def aligned(plan: Sequence[Action], done: Sequence[Action]) -> list[Action | None]:
    """The planned step that each executed step carries out, in order; None where there is none.

    A longest common subsequence of the two, in which steps match if `carries_out`.
    """
    best: dict[tuple[int, int], tuple[tuple[int, int], ...]] = defaultdict(tuple)
    for row, column in product(reversed(range(len(done))), reversed(range(len(plan)))):
        options = [best[row + 1, column], best[row, column + 1]]
        if carries_out(done[row], plan[column]):
            options.insert(0, ((row, column), *best[row + 1, column + 1]))
        best[row, column] = max(options, key=len)
    planned = dict(best[0, 0])
    return [plan[planned[row]] if row in planned else None for row in range(len(done))]


def carries_out(done: Action, planned: Action) -> bool:
    """Whether an executed step can be what the plan meant."""
    put = {"put_in", "put_on"}
    same_action = done.operator == planned.operator or {done.operator, planned.operator} == put
    return same_action and len(done.arguments) == len(planned.arguments) and all(
        could_mean(word, name) or could_mean(name, word) or same_stuff(word, name)
        for word, name in zip(planned.arguments, done.arguments, strict=True)
    )  # fmt: skip

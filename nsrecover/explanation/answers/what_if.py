"""Answers to "what if" in symbolic domains: the scene as it would have been, in the domain's simulation and search."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nsrecover.core.actions import Action, Plan
from nsrecover.core.discrepancy import Phase
from nsrecover.core.episode import Episode
from nsrecover.core.facts import PLACE, FactScene, StateFact
from nsrecover.core.recovery import Recovery, RecoveryStatus
from nsrecover.domains.base import Role, State
from nsrecover.domains.instance import Instance
from nsrecover.domains.properties import property_of
from nsrecover.domains.values import stored
from nsrecover.explanation.answers.asked import mentioned, values_named
from nsrecover.explanation.audience import participle
from nsrecover.explanation.phrases import instruction
from nsrecover.monitoring.outlook import imagined_trace, outlook, what_it_leaves
from nsrecover.planning.symbolic.fact_planner import FactPlanner
from nsrecover.util.english import listed

_NOT = re.compile(r"\b(?:not|no|never|without)\b|n't\b", re.IGNORECASE)
_IN = re.compile(r"\b(?:in|into|inside|on|onto|at)\b", re.IGNORECASE)
_HELD = re.compile(r"\b(?:held|hold|holding|in the gripper)\b", re.IGNORECASE)
_YOU = re.compile(r"\byou\b", re.IGNORECASE)


@dataclass(frozen=True)
class SupposedSituation:
    """Where a question about what would have been starts.

    Attributes:
        state: the facts, as they were believed.
        rest: what was left of the plan.
        when: in words.
        wrong: whether something was not as expected there.
    """

    state: State
    rest: tuple[Action, ...]
    when: str
    wrong: bool


@dataclass(frozen=True)
class SupposedChange:
    """What would have been otherwise: facts of some properties go, and others come."""

    facts: tuple[StateFact, ...]
    gone: tuple[StateFact, ...]


def what_if(episode: Episode, question: str, instance: Instance, goal: Sequence[StateFact] | None) -> str:
    """Answer what would have come of the plan if something had been otherwise.

    The scene is that of the last turn that was not as expected, or else the first one.

    Args:
        episode: of a symbolic domain, so far.
        question: in plain English: `what if the pot held wine?`, `what if you had not poured it out?`
        instance: the domain over the objects of the scene.
        goal: conditions that hold in the end; None: what the plan achieves.
    """
    now = _situation(episode, instance)
    change = _change(question, now.state, instance)
    if change is None:
        if not (_YOU.search(question) and _NOT.search(question)):
            return _help(instance, now.state)
        if not now.wrong:
            return "No recovery was needed, so nothing would be different."
        course = _course(now, now.state, instance, _wanted(episode, instance, goal))
        return f"Suppose that I do not recover {now.when}. Then {course}"
    state = instance.settle(frozenset((now.state - set(change.gone)) | set(change.facts)))
    said = [instance.domain.text(fact) for fact in change.facts]
    said += [instance.domain.text(fact, holds=False) for fact in change.gone if not change.facts]
    if state == now.state:
        return f"That was the case {now.when}: {listed(said)}."
    wanted = _wanted(episode, instance, goal)
    text = f"Suppose that {listed(said)} {now.when}. Then {_course(now, state, instance, wanted)}"
    if outlook(instance, state, now.rest, wanted).good:
        return text
    trace = imagined_trace(instance, FactScene(state), Plan(now.rest), wanted)
    return f"{text} {_way(FactPlanner(instance).recover(FactScene(state), trace), instance)}"


def _situation(episode: Episode, instance: Instance) -> SupposedSituation:
    wrong = [record for record in episode.records if record.discrepancy.deviates]
    if not wrong:
        return SupposedSituation(frozenset(episode.start.facts), episode.plan.actions, "at the start", False)  # type: ignore[attr-defined]
    found = wrong[-1].discrepancy
    done = found.step + (found.phase is Phase.AFTER)
    # a scene of facts, as the domain is symbolic
    state: State = found.observed.facts  # type: ignore[attr-defined]
    when = "after" if found.phase is Phase.AFTER else "before"
    return SupposedSituation(
        state, wrong[-1].plan.actions[done:], f"{when} {participle(found.action, instance.domain)}", True
    )


def _change(question: str, state: State, instance: Instance) -> SupposedChange | None:
    """What a question changes; None if it names nothing that can be otherwise."""
    values = {value for variable in instance.domain.variables.values() for value in variable.values}
    names = mentioned(question, [name for name in instance.objects if name not in values])
    negated = bool(_NOT.search(question))
    for name in names or tuple(dict.fromkeys(fact[1] for fact in sorted(state) if len(fact) > 1)):
        for variable, value in values_named(question, instance.domain):
            if variable.trait and variable.trait not in instance.objects[name]:
                continue
            has = stored((variable.name, name, value), instance.domain.variables)
            if not names and has not in state:  # "no wine": where there is some
                continue
            now = tuple(fact for fact in sorted(state) if property_of(fact, instance.domain) == (variable.name, name))
            if negated and has is not None:
                return SupposedChange((), now or (has,))
            if negated:  # not its normal value, so the other one
                has = stored((variable.name, name, variable.values[-1]), instance.domain.variables)
            return SupposedChange(() if has is None else (has,), tuple(fact for fact in now if fact != has))
    if not names or _YOU.search(question):
        return None
    places = tuple(fact for fact in sorted(state) if property_of(fact, instance.domain) == (PLACE, names[0]))
    location, holding = map(instance.domain.relation, (Role.LOCATION, Role.HELD))
    if len(names) > 1 and _IN.search(question) and location:
        there = (location, names[0], names[1])
        if negated:
            return SupposedChange((), (there,))
        return SupposedChange((there,), tuple(fact for fact in places if fact != there))
    if _HELD.search(question) and holding:
        held = (holding, names[0])
        return (
            SupposedChange((), (held,))
            if negated
            else SupposedChange((held,), tuple(fact for fact in places if fact != held))
        )
    return None


def _course(now: SupposedSituation, state: State, instance: Instance, wanted: Sequence[StateFact]) -> str:
    """Return what the rest of the plan would achieve, as the end of a sentence."""
    ahead = outlook(instance, state, now.rest, wanted)
    if ahead.good:
        return "the rest of the plan reaches its goal."
    if ahead.step < len(now.rest):
        lacking = listed(instance.domain.text(fact, False) for fact in ahead.unmet)
        return f"{participle(now.rest[ahead.step], instance.domain)} cannot be done: {lacking}."
    missed = listed(instance.domain.text(fact, False) for fact in ahead.missed)
    return f"the rest of the plan does not reach its goal: {missed}."


def _wanted(episode: Episode, instance: Instance, goal: Sequence[StateFact] | None) -> tuple[StateFact, ...]:
    """The goal; by default what the plan achieves."""
    start: State = episode.start.facts  # type: ignore[attr-defined]
    return tuple(goal) if goal is not None else what_it_leaves(instance, start, episode.plan)


def _way(recovery: Recovery[FactScene], instance: Instance) -> str:
    if recovery.found:
        todo = [instruction(action, domain=instance.domain) for action in recovery.actions]
        return f"I would {listed(todo)}." if todo else "I would skip the steps that are done already."
    if recovery.status is RecoveryStatus.IMPOSSIBLE:
        lost = listed([instance.domain.text(fact) for fact in recovery.lost])
        return f"There would be no recovery, and this part of the goal would be lost: {lost}."
    return "I found no recovery from there within the time limit of a question."


def _help(instance: Instance, state: State) -> str:
    facts = sorted(fact for fact in state if len(fact) > 1)
    examples = [
        f"what if {instance.domain.text(fact, holds=False).replace(' is ', ' were ', 1)}?" for fact in facts[:1]
    ]
    return (
        "I did not understand what would be different. You can ask, for example: "
        f"{' '.join([*examples, 'what if you had not done that?'])}"
    )

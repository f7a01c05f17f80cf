"""Answers to "what if" in symbolic domains: the scene as it would have been, in the domain's simulation and search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nsrecover.core.actions import Action, Plan
from nsrecover.core.discrepancy import Phase
from nsrecover.core.episode import Episode
from nsrecover.core.facts import PLACE, FactScene, StateFact
from nsrecover.core.recovery import Recovery, RecoveryStatus
from nsrecover.domains.base import Role, State
from nsrecover.domains.instance import Instance
from nsrecover.domains.properties import property_of
from nsrecover.domains.values import stored
from nsrecover.explanation.audience import participle
from nsrecover.explanation.phrases import instruction
from nsrecover.language.questions import GRIPPER, Proposition, Who
from nsrecover.monitoring.outlook import imagined_trace, outlook, what_it_leaves
from nsrecover.planning.symbolic.fact_planner import FactPlanner
from nsrecover.util.english import listed


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


def what_if(episode: Episode, said: Proposition, instance: Instance, goal: Sequence[StateFact] | None) -> str | None:
    """Answer what would have come of the plan if something had been otherwise.

    The scene is that of the last turn that was not as expected, or else the first one.

    Args:
        episode: of a symbolic domain, so far.
        said: what is supposed: that the pot held wine, that the robot had not poured it out.
        instance: the domain over the objects of the scene.
        goal: conditions that hold in the end; None: what the plan achieves.

    Returns:
        The answer; None if nothing that can be otherwise is supposed.
    """
    now = _situation(episode, instance)
    change = _change(said, now.state, instance)
    if change is None:
        if said.who is not Who.ROBOT or not said.negated:
            return None
        if not now.wrong:
            return "No recovery was needed, so nothing would be different."
        course = _course(now, now.state, instance, _wanted(episode, instance, goal))
        return f"Suppose that I do not recover {now.when}. Then {course}"
    state = instance.settle(frozenset((now.state - set(change.gone)) | set(change.facts)))
    texts = [instance.domain.text(fact) for fact in change.facts]
    texts += [instance.domain.text(fact, holds=False) for fact in change.gone if not change.facts]
    if state == now.state:
        return f"That was the case {now.when}: {listed(texts)}."
    wanted = _wanted(episode, instance, goal)
    text = f"Suppose that {listed(texts)} {now.when}. Then {_course(now, state, instance, wanted)}"
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


def _change(said: Proposition, state: State, instance: Instance) -> SupposedChange | None:
    """What a supposition changes; None if it is about nothing that can be otherwise."""
    domain = instance.domain
    if said.predicate == "happen" and said.value == ("break",):
        said = replace(said, predicate="state", value=("broken=broken",))
    if said.predicate == "state":
        held_by = tuple(dict.fromkeys(fact[1] for fact in sorted(state) if len(fact) > 1))
        for name in said.names or held_by:
            for variable, _, value in (each.partition("=") for each in said.value):
                change = _changed_state(name, variable, value, said, state, instance)
                if change is not None:
                    return change
        return None
    if not said.names or said.predicate not in ("where", "hold"):
        return None
    name = said.names[0]
    places = tuple(fact for fact in sorted(state) if property_of(fact, domain) == (PLACE, name))
    location, holding = map(domain.relation, (Role.LOCATION, Role.HELD))
    there = (holding, name) if said.predicate == "hold" or GRIPPER in said.place else (location, name, *said.place[1:])
    if there[0] is None or (there[0] == location and not said.place):
        return None
    fact: StateFact = tuple(map(str, there))
    return (
        SupposedChange((), (fact,)) if said.negated else SupposedChange((fact,), tuple(f for f in places if f != fact))
    )


def _changed_state(
    name: str, variable: str, value: str, said: Proposition, state: State, instance: Instance
) -> SupposedChange | None:
    """The change to a value of a state variable, or to another one if it is negated; None if it does not fit."""
    known = instance.domain.variables[variable]
    if known.trait and known.trait not in instance.objects.get(name, ()):
        return None
    has = stored((variable, name, value), instance.domain.variables)
    if not said.names and has not in state:  # "no wine": where there is some
        return None
    now = tuple(fact for fact in sorted(state) if property_of(fact, instance.domain) == (variable, name))
    if said.negated and has is not None:
        return SupposedChange((), now or (has,))
    if said.negated:  # not its normal value, so the other one
        has = stored((variable, name, known.values[-1]), instance.domain.variables)
    return SupposedChange(() if has is None else (has,), tuple(fact for fact in now if fact != has))


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

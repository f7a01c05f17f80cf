"""Fact traces of one's own robot: what it did and what its scenes of facts show, with their certainty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from nsrecover.core.actions import Action, Plan
from nsrecover.core.episode import Episode
from nsrecover.core.facts import PLACE, FactScene, StateFact
from nsrecover.domains.base import Role
from nsrecover.domains.instance import Instance
from nsrecover.domains.properties import by_property
from nsrecover.logs.trace import EventPhase, FactClaim, RawTrace, StepResult, TraceEvent, clock


@dataclass(frozen=True)
class TraceMoment:
    """What the robot perceives at a time.

    Attributes:
        time_s: seconds since the start.
        action: the action during which, or at whose end, this is.
        scene: what is seen now, without what is remembered.
        names: the objects in view.
        heard: classes of the sounds since the moment before.
        ends: whether the action has ended.
        result: how it ended, if the robot says so.
    """

    time_s: float
    action: Action
    scene: FactScene
    names: frozenset[str] = field(default_factory=frozenset)
    heard: tuple[str, ...] = ()
    ends: bool = False
    result: StepResult = StepResult.UNKNOWN


def claims_of(scene: FactScene, names: frozenset[str], instance: Instance) -> tuple[FactClaim, ...]:
    """What a scene of facts claims: facts with their certainty, and the normal values of objects in view.

    Args:
        scene: what is seen.
        names: the objects in view.
        instance: the domain and its objects.
    """
    domain, groups, claims = instance.domain, by_property(scene.facts, instance.domain), list[FactClaim]()
    for prop, facts in groups.items():
        sure = scene.certainty.get(prop, 1.0)
        claims += [FactClaim((fact,), sure=sure) for fact in sorted(facts)]
    for name in sorted(names):
        for variable in domain.variables.values():
            able = variable.visible and (not variable.trait or variable.trait in instance.objects.get(name, ()))
            if able and (variable.name, name) not in groups:
                fact: StateFact = (variable.name, name) if len(variable.values) == 2 else (variable.name, name, "*")
                claims.append(FactClaim((fact,), False, scene.certainty.get((variable.name, name), 1.0)))
    held = domain.relation(Role.HELD)
    if held and not any(fact[0] == held for fact in scene.facts):
        unsure = [sure for (kind, _), sure in scene.certainty.items() if kind == PLACE]
        claims.append(FactClaim(((held, "*"),), False, min(unsure, default=1.0) if not scene.facts else 1.0))
    return tuple(claims)


def traced(
    task: str, plan: Plan, goal: tuple[StateFact, ...] | str, moments: Sequence[TraceMoment], instance: Instance
) -> RawTrace:
    """A trace of a run: an event for every moment at which an action ends, what is seen changes, or something is heard.

    Args:
        task: in words.
        plan: that the robot was given.
        goal: the success condition, as facts or in words.
        moments: in their order.
        instance: the domain and its objects.
    """
    events, before = list[TraceEvent](), tuple[FactClaim, ...]()
    for moment in moments:
        claims = claims_of(moment.scene, moment.names, instance)
        if moment.ends or claims != before or moment.heard:
            phase = EventPhase.ENDED if moment.ends else EventPhase.DURING
            events.append(
                TraceEvent(
                    clock(moment.time_s),
                    moment.action,
                    phase,
                    moment.result,
                    "",
                    claims,
                    moment.names,
                    tuple(label.replace("_", " ") for label in moment.heard),
                )
            )
        before = claims
    objects = {
        name: traits for name, traits in instance.objects.items() if any(name in event.named for event in events)
    }
    return RawTrace(task, tuple(plan), tuple(events), goal, instance.domain.name, objects, _summary(events))


def of_episode(
    episode: Episode[FactScene], instance: Instance, goal: tuple[StateFact, ...] | str = (), task: str = ""
) -> RawTrace:
    """A trace of an episode of facts, from `RecoveryAgent.run` or `nsrecover.records.episode_log.load`.

    Args:
        episode: what was carried out, and what was seen after each action.
        instance: the domain and its objects.
        goal: the success condition, as facts or in words; without one, what the plan brings about.
        task: in words.
    """
    moments = [
        TraceMoment(each.time_s - episode.start_s, each.action, each.graph, frozenset(each.graph.names), ends=True)
        for each in episode.records
        if each.action is not None
    ]
    first = [TraceMoment(0.0, moments[0].action, episode.start, frozenset(episode.start.names))] if moments else []
    return traced(task, episode.plan, goal, [*first, *moments], instance)


def _summary(events: Sequence[TraceEvent]) -> TraceEvent | None:
    """What is known at the end: of every property what was claimed last."""
    last = dict[tuple[str, ...], FactClaim]()
    for event in events:
        placed = {claim.facts[0][1] for claim in event.claims if len(claim.facts[0]) == 3}
        last = {key: claim for key, claim in last.items() if len(key) < 3 or key[1] not in placed}
        last |= {claim.facts[0][: 3 if claim.facts[0][-1] != "*" else 2]: claim for claim in event.claims}
    seen = frozenset[str]().union(*(event.seen for event in events))
    return TraceEvent(events[-1].time, claims=tuple(last.values()), seen=seen) if events else None

"""The facts of a failure: what is known about it, as checkable statements.

The wording (`nsrecover.explanation.templates`) sees only these, so it cannot say anything that is not here.
"""

from __future__ import annotations

import numpy as np

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Cause, Deviation, Discrepancy, Phase
from nsrecover.core.explanation import Fact
from nsrecover.core.recovery import Recovery, RecoveryStatus
from nsrecover.core.scene import Box, SceneGraph
from nsrecover.domains.base import Domain
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.domains.tabletop.relations import TABLE, support_name
from nsrecover.domains.tabletop.spatial import SpatialDomain

NOWHERE = "nowhere"
"""Stands for the partner, support or place of an object when there is none to name."""

DIRECTION_M = 0.01
"""A shift below this along an axis is not given a direction."""


def facts_of(
    discrepancy: Discrepancy,
    recovery: Recovery | None,
    domain: SpatialDomain = TABLETOP,
) -> tuple[Fact, ...]:
    """Everything an explanation may say.

    Args:
        discrepancy: what is not as expected.
        recovery: what will be done about it; None if nothing was searched for.
        domain: what the actions mean, and the words for preconditions.

    Returns:
        Facts in the order in which they are told. The predicates are `step` (number from 1, action, phase), `violated`
        (a precondition in words), each `Cause` (object, explaining object or `nowhere`, detail), `unachieved` or
        `achieved` (the action), `should_be_on` (object, support), `recovery` (status, number of actions), `does`
        (number from 1, action, what the object then stands on), `rejoins` (steps done then), `stays` (displaced object
        that need not go back), `steps_done` (before the recovery), `optimal`, `searched` (seconds, states), `reason`
        (words) and `blamed` (object).
    """
    return (*_failure_facts(discrepancy, domain), *(_recovery_facts(discrepancy, recovery) if recovery else ()))


def _failure_facts(discrepancy: Discrepancy, domain: SpatialDomain) -> tuple[Fact, ...]:
    facts = [Fact("step", (str(discrepancy.step + 1), str(discrepancy.action), discrepancy.phase.value))]
    facts += [Fact("violated", (text,)) for text in violated_texts(discrepancy, domain)]
    facts += [_culprit_fact(discrepancy, culprit) for culprit in discrepancy.deviations]
    facts += _consequences(discrepancy, domain)
    return tuple(facts)


def violated_texts(discrepancy: Discrepancy, domain: Domain = TABLETOP) -> tuple[str, ...]:
    """The preconditions that do not hold, in words."""
    return tuple(map(domain.text, discrepancy.unmet))


def _culprit_fact(discrepancy: Discrepancy, culprit: Deviation) -> Fact:
    """What happened to one object: `cause(name, explaining object, detail)`."""
    other = culprit.other or NOWHERE
    match culprit.cause:
        case Cause.TOPPLED | Cause.DROPPED | Cause.NOT_LIFTED | Cause.MOVED | Cause.MISPLACED:
            # The explaining object of these is what it stands on now; the boxes tell if the monitor did not.
            if culprit.other is None and culprit.observed is not None:
                other = support_name(discrepancy.observed, discrepancy.observed.index(culprit.name))
            detail = _shift(culprit.expected, culprit.observed)
        case Cause.HELPED:
            detail = NOWHERE if culprit.subgoal is None else str(culprit.subgoal)
        case _:
            detail = NOWHERE
    return Fact(culprit.cause.value, (culprit.name, other, detail))


def _shift(expected: Box, observed: Box | None) -> str:
    """How far an object is from its place and on which side as the robot sees it: `7 cm to the left of its place`."""
    if observed is None:
        return NOWHERE
    delta = np.asarray(observed[:3]) - np.asarray(expected[:3])
    distance_m = float(np.linalg.norm(delta))
    size = f"{round(distance_m * 1000)} mm" if distance_m < 0.01 else f"{round(distance_m * 100)} cm"
    axis = int(np.abs(delta[:2]).argmax())
    if abs(float(delta[axis])) < max(DIRECTION_M, distance_m / 2):
        return f"{size} from its place"
    words = (
        ("farther from the robot than its place", "nearer to the robot than its place"),
        ("to the left of its place", "to the right of its place"),
    )
    return f"{size} {words[axis][0 if delta[axis] > 0 else 1]}"


def _consequences(discrepancy: Discrepancy, domain: SpatialDomain) -> list[Fact]:
    """What no longer holds because of it: the step's promise, and who should stand on whom."""
    facts = []
    names = set(discrepancy.deviating)
    if discrepancy.phase is Phase.AFTER and set(discrepancy.action.arguments) <= set(discrepancy.observed.names):
        moved = discrepancy.action.arguments[0]
        operator = domain.operators.get(discrepancy.action.operator)
        if operator is not None:
            achieved = operator.achieved(discrepancy.observed, discrepancy.action)
            # Neither: the relation holds, but not at the place that was meant.
            if not achieved or moved not in names:
                facts.append(Fact("achieved" if achieved else "unachieved", (str(discrepancy.action),)))
    for culprit in discrepancy.deviations:
        # A swap or a helping hand says already where things are; a lost support is news for the others.
        if culprit.cause in (Cause.HELPED, Cause.SWAPPED) or culprit.name not in discrepancy.expected.names:
            continue
        wanted = support_name(discrepancy.expected, discrepancy.expected.index(culprit.name))
        found = (
            support_name(discrepancy.observed, discrepancy.observed.index(culprit.name))
            if culprit.observed is not None
            else NOWHERE
        )
        if wanted not in (TABLE, found):
            facts.append(Fact("should_be_on", (culprit.name, wanted)))
    return facts


def _recovery_facts(discrepancy: Discrepancy, recovery: Recovery) -> tuple[Fact, ...]:
    done = discrepancy.step + (1 if discrepancy.phase is Phase.AFTER else 0)
    facts = [
        Fact("recovery", (recovery.status.value, str(len(recovery.actions)))),
        Fact("steps_done", (str(done),)),
    ]
    scenes: tuple[SceneGraph | None, ...] = (*recovery.graphs, *[None] * (len(recovery.actions) - len(recovery.graphs)))
    for number, (action, graph) in enumerate(zip(recovery.actions, scenes, strict=True), start=1):
        facts.append(Fact("does", (str(number), str(action), _place_of(action, graph))))
    if recovery.found and recovery.subgoal is not None:
        facts.append(Fact("rejoins", (str(recovery.subgoal),)))
        facts += [Fact("stays", (name,)) for name in recovery.staying]
    if recovery.proven_optimal and recovery.status is RecoveryStatus.RECOVERED:
        facts.append(Fact("optimal", (str(len(recovery.actions)),)))
    if not recovery.found:
        if recovery.status is RecoveryStatus.BUDGET_EXHAUSTED:
            facts.append(Fact("searched", (f"{recovery.seconds:.1f}", str(recovery.expansions))))
        if recovery.reason:
            facts.append(Fact("reason", (recovery.reason,)))
        facts += [Fact("blamed", (name,)) for name in recovery.blamed]
    return tuple(facts)


def _place_of(action: Action, graph: SceneGraph | None) -> str:
    """What the moved object stands on after a recovery action, where the action itself does not say."""
    if graph is None or len(action.arguments) != 1:
        return NOWHERE
    return support_name(graph, graph.index(action.arguments[0]))

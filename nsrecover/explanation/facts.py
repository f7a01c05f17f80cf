"""The facts of a failure as checkable statements.

The templates (`nsrecover.explanation.templates`) depend on these facts only, so a text cannot state anything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Cause, Deviation, Discrepancy, Phase
from nsrecover.core.explanation import Fact
from nsrecover.core.recovery import Recovery, RecoveryStatus
from nsrecover.core.scene import Box, SceneGraph
from nsrecover.domains.domain import Domain
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.domains.tabletop.relations import TABLE, support_name
from nsrecover.domains.tabletop.spatial import SpatialDomain
from nsrecover.explanation.reasons import reason_text
from nsrecover.explanation.unseen import NOWHERE, missing_facts

DIRECTION_M = 0.01
"""Smallest shift along an axis that gets a direction, metres."""


def facts_of(
    discrepancy: Discrepancy,
    recovery: Recovery | None,
    domain: SpatialDomain = TABLETOP,
) -> tuple[Fact, ...]:
    """Return all facts that an explanation may state.

    Args:
        discrepancy: the deviation from the expected scene.
        recovery: the planned recovery; None if none was searched for.
        domain: the domain of the actions, which has the words for preconditions.

    Returns:
        Facts in the order of the text. The predicates are `step` (number from 1, action, phase), `violated` (a
        precondition as text), each `Cause` (object, explaining object or `nowhere`, detail), `unachieved` or `achieved`
        (the action), `should_be_on` (object, support), `unseen` (object, reason, the object whose mask is there or
        `nowhere`), `sensor` (problem, camera, what was found), `recovery` (status, number of actions), `does` (number
        from 1, action, support of the object afterwards), `rejoins` (number of steps done then), `stays` (displaced
        object that may stay), `steps_done` (before the recovery), `optimal`, `searched` (seconds, states), `reason`
        (text) and `blamed` (object).
    """
    facts = [Fact("step", (str(discrepancy.step + 1), str(discrepancy.action), discrepancy.phase.value))]
    facts += [Fact("violated", (text,)) for text in violated_texts(discrepancy, domain)]
    facts += [_deviation_fact(discrepancy, deviation) for deviation in discrepancy.deviations]
    facts += _consequences(discrepancy, domain)
    facts += missing_facts(discrepancy)
    done = discrepancy.step + (1 if discrepancy.phase is Phase.AFTER else 0)
    return (*facts, *(recovery_facts(done, recovery) if recovery else ()))


def violated_texts(discrepancy: Discrepancy[object], domain: Domain = TABLETOP) -> tuple[str, ...]:
    """Return the preconditions that do not hold, in words."""
    return tuple(map(domain.text, discrepancy.unmet))


def _deviation_fact(discrepancy: Discrepancy, deviation: Deviation) -> Fact:
    """Return the fact about one object: `cause(name, explaining object, detail)`."""
    other = deviation.other or NOWHERE
    match deviation.cause:
        case Cause.TOPPLED | Cause.DROPPED | Cause.NOT_LIFTED | Cause.MOVED | Cause.MISPLACED:
            # The explaining object is the current support, from the boxes if the monitor does not provide it.
            if deviation.other is None and deviation.observed is not None:
                other = support_name(discrepancy.observed, discrepancy.observed.index(deviation.name))
            detail = shift(deviation.expected, deviation.observed)
        case Cause.HELPED:
            detail = NOWHERE if deviation.subgoal is None else str(deviation.subgoal)
        case _:
            detail = NOWHERE
    return Fact(deviation.cause.value, (deviation.name, other, detail))


def shift(expected: Box, observed: Box | None) -> str:
    """Return distance and direction from an object's place in the robot's view: `7 cm to the left of its place`."""
    if observed is None:
        return NOWHERE
    delta = np.asarray(observed[:3]) - np.asarray(expected[:3])
    distance_m = float(np.linalg.norm(delta))
    size = f"{distance_m * 100:.1f} cm" if distance_m < 0.01 else f"{round(distance_m * 100)} cm"
    axis = int(np.abs(delta[:2]).argmax())
    if abs(float(delta[axis])) < max(DIRECTION_M, distance_m / 2):
        return f"{size} from its place"
    words = (
        ("farther from the robot than its place", "nearer to the robot than its place"),
        ("to the left of its place", "to the right of its place"),
    )
    return f"{size} {words[axis][0 if delta[axis] > 0 else 1]}"


def swap_groups(swaps: Iterable[Sequence[str]]) -> list[list[str]]:
    """Return the groups of objects that changed places with each other, from the arguments of facts `swapped`."""
    groups: list[list[str]] = []
    for name, other, *_ in swaps:
        members = [name] if other == NOWHERE else [name, other]
        joined = [group for group in groups if set(group) & set(members)]
        groups = [group for group in groups if group not in joined]
        groups.append(list(dict.fromkeys(chain(*joined, members))))
    return groups


def _consequences(discrepancy: Discrepancy, domain: SpatialDomain) -> list[Fact]:
    """Return the facts about the lost effect of the step and the lost supports."""
    facts = []
    names, unseen = set(discrepancy.deviating), {each.name for each in discrepancy.unseen}
    if discrepancy.phase is Phase.AFTER and set(discrepancy.action.arguments) <= set(discrepancy.observed.names):
        moved = discrepancy.action.arguments[0]
        operator = domain.operators.get(discrepancy.action.operator)
        if operator is not None:
            achieved = operator.achieved(discrepancy.observed, discrepancy.action)
            # Neither fact if the relation holds, but at another place than intended.
            if moved not in unseen and (not achieved or moved not in names):
                facts.append(Fact("achieved" if achieved else "unachieved", (str(discrepancy.action),)))
    for deviation in discrepancy.deviations:
        # The causes SWAPPED and HELPED already say where an object is.
        if deviation.cause in (Cause.HELPED, Cause.SWAPPED) or deviation.name not in discrepancy.expected.names:
            continue
        wanted = support_name(discrepancy.expected, discrepancy.expected.index(deviation.name))
        found = (
            support_name(discrepancy.observed, discrepancy.observed.index(deviation.name))
            if deviation.observed is not None
            else NOWHERE
        )
        if wanted not in (TABLE, found):
            facts.append(Fact("should_be_on", (deviation.name, wanted)))
    return facts


def recovery_facts(done: int, recovery: Recovery) -> tuple[Fact, ...]:
    """Return the facts about a recovery, from `recovery` on in the list of `facts_of`.

    Args:
        done: number of plan steps that should have been done before it.
        recovery: the planned recovery.
    """
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
        if reason := reason_text(recovery):
            facts.append(Fact("reason", (reason,)))
        facts += [Fact("blamed", (name,)) for name in recovery.blamed]
    return tuple(facts)


def _place_of(action: Action, graph: SceneGraph | None) -> str:
    """Return the support of the moved object after a recovery action, if the action does not name it."""
    if graph is None or len(action.arguments) != 1:
        return NOWHERE
    return support_name(graph, graph.index(action.arguments[0]))

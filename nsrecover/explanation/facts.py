"""The facts of a failure as checkable statements.

The templates (`nsrecover.explanation.templates`) depend on these facts only, so a text cannot state anything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import UNDONE, AnyDeviation, Cause, Discrepancy, Phase
from nsrecover.core.explanation import Fact
from nsrecover.core.recovery import Recovery, RecoveryStatus
from nsrecover.core.scene import Box, SceneGraph
from nsrecover.core.sensing import SensorFinding
from nsrecover.domains.base import Role
from nsrecover.domains.domain import Domain
from nsrecover.domains.properties import facts_with
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.domains.tabletop.relations import TABLE, support_name
from nsrecover.domains.tabletop.spatial import SpatialOperator
from nsrecover.explanation.reasons import reason_text
from nsrecover.explanation.unseen import NOWHERE, missing_facts

DIRECTION_M = 0.01
"""Smallest shift along an axis that gets a direction, metres."""

PLACED = (Cause.TOPPLED, Cause.DROPPED, Cause.NOT_LIFTED, Cause.MISPLACED, Cause.MOVED)
"""Causes of objects that are elsewhere than expected."""

_BY_OTHERS = (Cause.MOVED, Cause.TURNED, Cause.CHANGED, Cause.HELPED, Cause.BLOCKING)
"""Causes that are no failure of the step."""

NOT_FOUND = "not_found"
"""Detail of an object that was searched for and not found; its explaining object is the place."""


def facts_of(
    discrepancy: Discrepancy[object], recovery: Recovery | None, domain: Domain = TABLETOP
) -> tuple[Fact, ...]:
    """Return all facts that an explanation may state.

    Args:
        discrepancy: the deviation from the expected scene.
        recovery: the planned recovery; None if none was searched for.
        domain: the domain of the actions, which has the words for preconditions.

    Returns:
        Facts in the order of the text. The predicates are `step` (number from 1, action, phase), `violated` (what
        violates a precondition, as text), each `Cause` (object, explaining object or `nowhere`, detail), of scenes of
        facts `lacks` and `has` (predicate, object, ...), `unachieved` or `achieved` (the action), `should_be_on`
        (object, support), `plan` (fault, step, steps or objects), `misses` (condition as text), `unseen` (object,
        reason, the object whose mask is there or `nowhere`), `unknown` (object, property), `sensor` (problem, camera,
        what was found), and those of
        `recovery_facts`.
    """
    done = discrepancy.step + (1 if discrepancy.phase is Phase.AFTER else 0)
    return (
        Fact("step", (str(discrepancy.step + 1), str(discrepancy.action), discrepancy.phase.value)),
        *(Fact("violated", (text,)) for text in violated_texts(discrepancy, domain)),
        *(fact for deviation in discrepancy.deviations for fact in _deviation_facts(discrepancy, deviation, domain)),
        *_effect_facts(discrepancy, domain),
        *_plan_facts(discrepancy, domain),
        *missing_facts(discrepancy),
        *(recovery_facts(done, recovery) if recovery else ()),
    )


def violated_texts(discrepancy: Discrepancy[object], domain: Domain = TABLETOP) -> tuple[str, ...]:
    """Return what violates the preconditions of the action, in words."""
    # In scenes of facts, a condition is given that should hold and does not.
    holds = isinstance(discrepancy.observed, SceneGraph)
    return tuple(domain.text(fact, holds) for fact in discrepancy.unmet)


def _deviation_facts(discrepancy: Discrepancy[object], deviation: AnyDeviation, domain: Domain) -> list[Fact]:
    """Return `cause(name, explaining object, detail)` of one object, and the facts that it lacks and has."""
    other, detail = deviation.other or NOWHERE, NOWHERE
    if deviation.cause is Cause.HELPED and deviation.subgoal is not None:
        detail = str(deviation.subgoal)
    if not isinstance(discrepancy.observed, SceneGraph):
        if facts_with((Role.BELIEVED,), deviation.observed or (), domain):
            detail, other = NOT_FOUND, next((fact[2] for fact in deviation.expected if len(fact) == 3), NOWHERE)
        changes = (("lacks", deviation.expected), ("has", deviation.observed or ()))
        own = [Fact(word, tuple(map(str, fact))) for word, facts in changes for fact in facts]
        return [Fact(deviation.cause.value, (deviation.name, other, detail)), *own]
    if deviation.cause in PLACED:
        # The explaining object is the current support, from the boxes if the monitor does not provide it.
        if deviation.other is None and deviation.observed is not None:
            other = support_name(discrepancy.observed, discrepancy.observed.index(deviation.name))
        detail = shift(deviation.expected, deviation.observed, deviation.uncertain_m)
    return [Fact(deviation.cause.value, (deviation.name, other, detail))]


def shift(expected: Box, observed: Box | None, uncertain_m: float = 0.0) -> str:
    """Return distance and direction from an object's place in the robot's view: `7 cm to the left of its place`.

    If the place is uncertain by a centimetre or more, it says so: `7 ± 2 cm to the left of its place`.
    """
    if observed is None:
        return NOWHERE
    delta = np.asarray(observed[:3]) - np.asarray(expected[:3])
    distance_m = float(np.linalg.norm(delta))
    size = f"{distance_m * 100:.1f} cm" if distance_m < 0.01 else f"{round(distance_m * 100)} cm"
    if round(uncertain_m * 100) and distance_m >= 0.01:
        size = f"{round(distance_m * 100)} ± {round(uncertain_m * 100)} cm"
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


def _effect_facts(discrepancy: Discrepancy[object], domain: Domain) -> list[Fact]:
    """Return the facts about the effect of the step and the lost supports."""
    expected, observed, action = discrepancy.expected, discrepancy.observed, discrepancy.action
    if not isinstance(observed, SceneGraph) or not isinstance(expected, SceneGraph):
        unknown = (each.name for each in discrepancy.missing_to_tell if not isinstance(each, SensorFinding))
        wrong = (each.name for each in discrepancy.deviations if each.cause not in _BY_OTHERS)
        doubtful = {*wrong, *unknown}
        undone = any(each.cause in UNDONE for each in discrepancy.deviations)
        worked = discrepancy.phase is Phase.AFTER and not undone and doubtful.isdisjoint(action.arguments)
        return [Fact("achieved", (str(action),))] * worked
    facts = []
    names, unseen = set(discrepancy.deviating), {each.name for each in discrepancy.unseen}
    operator = domain.operators.get(action.operator)
    known = set(action.arguments) <= set(observed.names) and action.arguments[0] not in unseen
    if discrepancy.phase is Phase.AFTER and known and isinstance(operator, SpatialOperator):
        before = discrepancy.before if isinstance(discrepancy.before, SceneGraph) else observed
        achieved = operator.achieved(before, observed, action)
        # Neither fact if the relation holds, but at another place than intended.
        if not achieved or action.arguments[0] not in names:
            facts.append(Fact("achieved" if achieved else "unachieved", (str(action),)))
    for deviation in discrepancy.deviations:
        # The causes SWAPPED and HELPED already say where an object is.
        if deviation.cause in (Cause.HELPED, Cause.SWAPPED) or deviation.name not in expected.names:
            continue
        wanted = support_name(expected, expected.index(deviation.name))
        gone = deviation.observed is None
        if wanted not in (TABLE, NOWHERE if gone else support_name(observed, observed.index(deviation.name))):
            facts.append(Fact("should_be_on", (deviation.name, wanted)))
    return facts


def _plan_facts(discrepancy: Discrepancy[object], domain: Domain) -> list[Fact]:
    """Return the facts about a plan that does not reach its goal."""
    facts, problem = [], discrepancy.plan_problem
    if problem is not None:
        about = (*map(str, problem.steps), *problem.objects)
        facts.append(Fact("plan", (problem.fault.value, str(problem.step + 1), *about)))
        facts += [Fact("misses", (domain.text(fact, False),)) for fact in problem.unmet]
    return facts


def recovery_facts(done: int, recovery: Recovery) -> tuple[Fact, ...]:
    """Return the facts about a recovery, from `recovery` on in the list of `facts_of`.

    Args:
        done: number of plan steps that should have been done before it.
        recovery: the planned recovery.

    Returns:
        `recovery` (status, number of actions), `steps_done` (before the recovery), `does` (number from 1, action,
        support of the object afterwards), `rejoins` (number of steps done then), `stays` (displaced object that may
        stay), `optimal`, `searched` (seconds, states), `reason` (text), `blamed` (object), `lost` (predicate, object,
        ...) and `closest` (the actions to the rest of the goal).
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
    facts += [Fact("lost", fact) for fact in recovery.lost]
    if recovery.lost and recovery.closest is not None:
        facts.append(Fact("closest", tuple(map(str, recovery.closest.actions))))
    return tuple(facts)


def _place_of(action: Action, graph: SceneGraph | None) -> str:
    """Return the support of the moved object after a recovery action, if the action does not name it."""
    if graph is None or len(action.arguments) != 1:
        return NOWHERE
    return support_name(graph, graph.index(action.arguments[0]))

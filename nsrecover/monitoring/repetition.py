"""Detects a repeated action that cannot change the scene, and accepts the scene as it is.

An arm may put a brick onto another one 25 mm off its place every time. Its relation to the other brick then holds and
its place does not, and repeating the action leads to the same scene again.
"""

from __future__ import annotations

import numpy as np

from nsrecover.core.actions import Plan
from nsrecover.core.discrepancy import Discrepancy, Phase
from nsrecover.core.geometry import turned_over
from nsrecover.core.recovery import Recovery, RecoveryStatus
from nsrecover.core.traces import Trace
from nsrecover.domains.tabletop.operators import REACHED_M
from nsrecover.domains.tabletop.spatial import SpatialDomain
from nsrecover.monitoring.imagination import Imagination


def repeats_itself(before: Discrepancy, now: Discrepancy, domain: SpatialDomain) -> bool:
    """Whether repeating an action changed nothing, although it achieves its relation.

    The same action led to the same place of the moved object as the last time, nothing else deviates, and the relation
    that the operator promises holds, with the same side up. Both errors must show the moved object: a remembered box
    says nothing.

    Args:
        before: the last error before this one.
        now: the error after the repeated action.
        domain: has the operators.
    """
    moved = now.action.arguments[:1]
    if now.phase is not Phase.AFTER or before.action != now.action or not before.deviating == now.deviating == moved:
        return False
    row = now.observed.index(moved[0])
    if not all(found.observed.seen[found.observed.index(moved[0])] for found in (before, now)):
        return False
    places = [found.observed.boxes[found.observed.index(moved[0])] for found in (before, now)]
    same = np.allclose(places[0], places[1], atol=REACHED_M) and not turned_over(now.expected.boxes[row], places[1])
    start = now.observed if now.before is None else now.before
    return same and domain.operator_of(now.action).achieved(start, now.observed, now.action)


def accept_scene(imagination: Imagination, trace: Trace, discrepancy: Discrepancy) -> Recovery:
    """The recovery without actions: the rest of the plan, imagined from the scene as it is.

    Args:
        imagination: imagines the rest of the plan.
        trace: the scenes that were expected.
        discrepancy: the error after the action that is accepted.
    """
    done = discrepancy.step + 1
    rest = imagination.trace(discrepancy.observed, Plan(trace.plan.actions[done:])).graphs[1:]
    return Recovery(
        RecoveryStatus.ALREADY_AT_SUBGOAL,
        subgoal=done,
        rest=rest,
        staying=discrepancy.deviating,
        cost=float(len(rest)),
    )

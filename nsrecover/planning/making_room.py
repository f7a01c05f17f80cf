"""Another recovery for what the fingers cannot grasp: what is close to it goes first."""

from collections.abc import Iterator

import numpy as np

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Cause, Discrepancy, Phase
from nsrecover.core.geometry import as_box
from nsrecover.core.scene import SceneGraph
from nsrecover.domains.tabletop.operators import SET_ASIDE
from nsrecover.domains.tabletop.relations import is_clear
from nsrecover.domains.tabletop.spatial import SpatialDomain
from nsrecover.models.free_place import find_free_place, within_reach
from nsrecover.models.protocols import RecoveryModels

FINGERS_M = 0.025
"""An object that is nearer than this may be in the way of a finger, or lean on what is to be grasped."""


def not_lifted(found: Discrepancy) -> str | None:
    """The object that the last action should have moved and that stayed where it was; None if it moved."""
    if found.phase is not Phase.AFTER:
        return None
    stayed = {each.name for each in found.deviations if each.cause is Cause.NOT_LIFTED}
    return next((name for name in found.action.arguments[:1] if name in stayed), None)


def with_room(
    models: RecoveryModels, domain: SpatialDomain, graph: SceneGraph, found: Discrepancy
) -> Iterator[tuple[tuple[Action, Action], tuple[SceneGraph, SceneGraph]]]:
    """Ways to try an action again that has not lifted its object: something next to it is cleared away before.

    Args:
        models: find free places.
        domain: has the operators; what the action needs where it is, such as its support, stays.
        graph: the scene as it is.
        found: what is wrong after the action.

    Yields:
        What to do, and the imagined scene after each action; the nearest neighbour first.
    """
    name = not_lifted(found)
    if name is None:
        return
    moved, wanted = graph.index(name), found.expected.boxes[found.expected.index(name)]
    apart = np.abs(graph.boxes[:, :3] - graph.boxes[moved, :3]) - (graph.boxes[:, 3:] + graph.boxes[moved, 3:]) / 2
    distance = np.linalg.norm(np.maximum(apart, 0.0), axis=1)
    reachable = within_reach(graph.boxes, models)
    for row in np.argsort(distance, kind="stable").tolist():
        neighbour = graph.names[row]
        usable = reachable[row] and not graph.missing[row] and is_clear(graph, row)
        if row == moved or neighbour in found.action.arguments or distance[row] > FINGERS_M or not usable:
            continue
        place = find_free_place(models, graph.boxes[row], np.concatenate([graph.boxes, wanted[None]]))
        if place is not None:
            cleared = graph.with_node(row, place)
            if domain.operator_of(found.action).violated(cleared, found.action):
                continue
            actions = Action(SET_ASIDE, (neighbour,), as_box(place)), found.action
            yield actions, (cleared, cleared.with_node(moved, wanted))

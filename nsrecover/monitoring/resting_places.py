"""Where the objects of a scene of boxes rest, and where they are expected after a recovery."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from nsrecover.core.actions import Action, Plan
from nsrecover.core.geometry import as_box
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import FloatArray, SceneGraph
from nsrecover.core.traces import Trace


class RestingPlaces:
    """Place where every object was put down, first seen, or last reported: the reference for slow drift."""

    def __init__(self, graph: SceneGraph) -> None:
        self._boxes = _boxes_of(graph)

    def copy(self) -> RestingPlaces:
        """A copy that changes independently."""
        return copy.copy(self)

    def update(self, graph: SceneGraph, names: Iterable[str]) -> None:
        """Take the places of the named objects, and of objects that are new, from a scene."""
        seen = _boxes_of(graph)
        self._boxes = seen | self._boxes | {name: seen[name] for name in names if name in seen}

    def drifted(self, graph: SceneGraph, tolerance_m: float) -> dict[str, FloatArray]:
        """Resting place (6,) of every object that is farther from it than a tolerance and not missing."""
        places = np.stack([self._boxes.get(name, box) for name, box in _boxes_of(graph).items()])
        away = np.linalg.norm(places[:, :3] - graph.boxes[:, :3], axis=1) > tolerance_m
        return {graph.names[i]: places[i] for i in np.flatnonzero(away & ~graph.missing)}


def rejoined(graph: SceneGraph, trace: Trace, recovery: Recovery) -> Trace:
    """The trace from the scene as it is, through a recovery, along the rest of the original plan.

    Args:
        graph: the scene as it is.
        trace: the trace that the scene deviates from.
        recovery: a recovery that was found.

    Returns:
        A trace whose first `len(recovery.actions)` actions are the recovery. What is missing now stays missing in it.
    """
    gone = [graph.names[i] for i in np.flatnonzero(graph.missing)]
    subgoal = recovery.resumes_at(len(trace.plan))
    rest = tuple(map(_as_imagined, trace.plan.actions[subgoal:], recovery.rest))
    later = (each.with_nodes_of(graph, gone) for each in (*recovery.graphs, *recovery.rest))
    return replace(trace, plan=Plan(recovery.actions + rest), graphs=(graph, *later))


def _as_imagined(action: Action, after: SceneGraph) -> Action:
    """The action with its target, if it has one, where the scene after it has the moved object."""
    if action.target is None:
        return action
    return replace(action, target=as_box(after.boxes[after.index(action.arguments[0])]))


def _boxes_of(graph: SceneGraph) -> dict[str, FloatArray]:
    return dict(zip(graph.names, graph.boxes, strict=True))

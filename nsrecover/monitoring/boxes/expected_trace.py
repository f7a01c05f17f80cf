"""The expected trace of a plan, imagined only as far as it is needed."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable
from dataclasses import replace

import numpy as np

from nsrecover.core.actions import Action, Plan
from nsrecover.core.geometry import as_box
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import FloatArray, SceneGraph
from nsrecover.core.traces import Trace
from nsrecover.monitoring.boxes.imagination import Imagination


class ExpectedTrace:
    """A trace whose scenes follow from an observed one; a scene is imagined again when it is asked for.

    The monitor starts the trace anew from every observed scene, so that errors of the imagination do not add up. Most
    of the later scenes are never compared with anything, so they are not imagined until then.

    Args:
        imagination: imagines the scene after an action.
        trace: the scenes as imagined so far, all of them up to date.
    """

    def __init__(self, imagination: Imagination, trace: Trace) -> None:
        self._imagination = imagination
        self._trace = trace
        self._up_to_date = len(trace.plan)  # number of the last scene that follows from the scenes before it

    def copy(self) -> ExpectedTrace:
        """A copy that changes independently."""
        return copy.copy(self)

    @property
    def plan(self) -> Plan:
        """The actions, grounded."""
        return self._trace.plan

    @property
    def named(self) -> tuple[str, ...]:
        """Objects of the original plan."""
        return self._trace.named

    def up_to(self, number: int) -> Trace:
        """The trace with the scenes 0 to `number` up to date."""
        graphs = list(self._trace.graphs)
        for step in range(self._up_to_date, number):
            graphs[step + 1] = self._imagination.step(graphs[step], self.plan[step])
        self._trace = replace(self._trace, graphs=tuple(graphs))
        self._up_to_date = max(self._up_to_date, number)
        return self._trace

    def complete(self) -> Trace:
        """The trace with all scenes up to date."""
        return self.up_to(len(self.plan))

    def start_from(self, number: int, graph: SceneGraph) -> None:
        """Replace a scene; all later scenes follow from the new one."""
        graphs = self._trace.graphs
        if graphs[number] is not graph:
            self._trace = replace(self._trace, graphs=(*graphs[:number], graph, *graphs[number + 1 :]))
            self._up_to_date = number

    def change_action(self, step: int, action: Action) -> None:
        """Replace an action; all scenes after it follow from the new one."""
        actions = self.plan.actions
        self._trace = replace(self._trace, plan=Plan((*actions[:step], action, *actions[step + 1 :])))
        self._up_to_date = min(self._up_to_date, step)

    def add_objects_of(self, graph: SceneGraph) -> None:
        """Add the objects that only `graph` has; they are expected to stay where they are."""
        self._trace = self._trace.with_objects_of(graph)

    def place(self, graph: SceneGraph, names: Collection[str]) -> None:
        """Expect some objects to be where they are in a scene, at every step."""
        if names:
            graphs = tuple(each.with_nodes_of(graph, names) for each in self._trace.graphs)
            self._trace = replace(self._trace, graphs=graphs)

    def forget(self, names: Collection[str], num_executed: int) -> None:
        """Remove objects, and the actions with them that are still to be done."""
        kept = [
            step
            for step, action in enumerate(self.plan)
            if step < num_executed or not any(name in names for name in action.arguments)
        ]
        graphs = [graph.without(names) for graph in self._trace.graphs]
        self._trace = replace(
            self._trace,
            plan=Plan(tuple(self.plan[step] for step in kept)),
            graphs=(graphs[0], *(graphs[step + 1] for step in kept)),
        )
        self._up_to_date = min(self._up_to_date, num_executed)


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

"""Alike objects that have changed places: a plan that names one of them means any."""

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from nsrecover.core.actions import Action, Plan
from nsrecover.core.geometry import SAME_SIZE_M, as_box
from nsrecover.core.recovery import Recovery, RecoveryStatus
from nsrecover.core.scene import SceneGraph
from nsrecover.core.traces import Trace
from nsrecover.models.protocols import RecoveryModels
from nsrecover.models.same_place import same_place

_NUMBER = re.compile(r"[ _-]*\d+$")


def exchange(graph: SceneGraph, trace: Trace, done: int, models: RecoveryModels) -> dict[str, str]:
    """Which object takes the part of which in a trace, so that the scene is nearest to it; empty if none does.

    Objects are alike if their names differ in a number at the end only, they have the same size, and look the same.

    Args:
        graph: the scene as it is.
        trace: what should have been, over the same objects.
        done: how many actions should have been done by now.
        models: compare what objects look like.
    """
    groups, taken = dict[str, list[int]](), dict[str, str]()
    for row, name in enumerate(graph.names):
        if not graph.missing[row] and _NUMBER.search(name):
            groups.setdefault(_NUMBER.sub("", name), []).append(row)
    expected = trace.graphs[done].boxes[:, :3]
    for rows in groups.values():
        apart = np.linalg.norm(expected[rows][:, None] - graph.boxes[rows, :3], axis=2)
        alike = np.array([[_alike(graph, one, other, models) for other in rows] for one in rows])
        apart = np.where(alike, apart, np.inf if alike.all() else 1e3)
        parts, players = linear_sum_assignment(np.minimum(apart, 1e3))
        if apart[parts, players].sum() < np.trace(apart) - models.tolerance_m:
            pairs = zip(parts, players, strict=True)
            taken |= {graph.names[rows[part]]: graph.names[rows[player]] for part, player in pairs if part != player}
    return taken


def _alike(graph: SceneGraph, one: int, other: int, models: RecoveryModels) -> bool:
    if np.abs(graph.boxes[one, 3:] - graph.boxes[other, 3:]).max() > SAME_SIZE_M:
        return False
    looks, box = graph.visual, graph.boxes[one : one + 1]
    return bool(same_place(models, looks[[one]], box, looks[[other]], box)[0] >= models.threshold)


def exchanged(trace: Trace, parts: Mapping[str, str]) -> Trace:
    """The trace in which objects take the parts of others; they keep their sizes and looks.

    Args:
        trace: over all of these objects.
        parts: object of the trace -> the one that takes its part.
    """
    rows = [trace.graphs[0].index(name) for name in parts]
    players = [trace.graphs[0].index(name) for name in parts.values()]
    graphs = []
    for graph in trace.graphs:
        boxes = graph.boxes.copy()
        boxes[players, :3] = graph.boxes[rows, :3]
        held = None if graph.held is None else graph.index(parts.get(name := graph.names[graph.held], name))
        graphs.append(replace(graph, boxes=boxes, held=held))
    actions = tuple(
        replace(action, arguments=tuple(parts.get(name, name) for name in action.arguments)) for action in trace.plan
    )
    return replace(trace, plan=Plan(actions), graphs=tuple(graphs))


def over_to(plan: Plan, recovery: Recovery[SceneGraph], trace: Trace, parts: Mapping[str, str]) -> Recovery[SceneGraph]:
    """A recovery to a trace with exchanged parts as one of the plan: it has the steps that name others than the plan.

    Args:
        plan: the plan.
        recovery: to the exchanged trace.
        trace: the exchanged trace.
        parts: as for `exchanged`.
    """
    done = recovery.resumes_at(len(plan))
    other = [step for step in range(done, len(plan)) if plan[step].arguments != trace.plan[step].arguments]
    end = max(other, default=done - 1) + 1
    steps = [_led(trace.plan[step], after) for step, after in zip(range(done, end), recovery.rest, strict=False)]
    actions = (*recovery.actions, *steps)
    return replace(
        recovery,
        status=RecoveryStatus.RECOVERED if actions else recovery.status,
        actions=actions,
        graphs=(*recovery.graphs, *recovery.rest[: end - done]),
        rest=recovery.rest[end - done :],
        subgoal=end,
        exchanged=tuple(parts.items()),
    )


def _led(action: Action, after: SceneGraph) -> Action:
    """An action with its target, if it has one, where the scene after it has its object."""
    box = as_box(after.boxes[after.index(action.arguments[0])])
    return action if action.target is None else replace(action, target=box)

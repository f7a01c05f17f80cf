"""Alternative trace that leaves displaced objects where they are.

Kalithasan et al. (section V) bring every object back to its place in the expected trace. The rest of a plan and its
goal, however, depend on relations only: a tower may be rebuilt where its base stands now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from nsrecover.core.actions import Trace
from nsrecover.core.explanation import Fact
from nsrecover.core.geometry import CONTACT_M, SAME_SIZE_M, bottom, gaps, top
from nsrecover.core.scene import FloatArray, SceneGraph
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.domains.tabletop.relations import supporter
from nsrecover.domains.tabletop.spatial import SpatialDomain
from nsrecover.models.free_place import Table, within_reach
from nsrecover.planning.places import BoolArray, carrier, pairwise


@dataclass(frozen=True)
class _Situation:
    """What a displaced scene is judged by.

    Attributes:
        graph: the scene as it is.
        trace: what should have been.
        done: actions that should have been done by now.
        table: where the robot can put things down.
        placed_by: object -> the action that put it where it should be now; objects that none moved are not in it.
        domain: has the operators.
    """

    graph: SceneGraph
    trace: Trace
    done: int
    table: Table
    placed_by: dict[int, int]
    domain: SpatialDomain

    @cached_property
    def boxes(self) -> FloatArray:
        """(S, N, 6) boxes of the trace from now on."""
        return np.stack([graph.boxes for graph in self.trace.graphs[self.done :]])

    @cached_property
    def clash(self) -> BoolArray:
        """(S, N, N) what runs into each other in the trace already, from now on."""
        return pairwise(self.boxes)[0]

    @cached_property
    def known(self) -> list[tuple[tuple[Fact, ...], set[int]]]:
        """For each action to come, what the trace has wrong before it, and what its object comes down on."""
        rows = []
        for step in range(self.done, len(self.trace.plan)):
            action = self.trace.plan[step]
            violated = self.domain.operator_of(action).violated(self.trace.graphs[step], action)
            rows.append((violated, _under(self.trace.graphs[step + 1], self.graph.index(action.arguments[0]))))
        return rows


def alternative_trace(
    graph: SceneGraph,
    trace: Trace,
    done: int,
    displaced: Sequence[int],
    table: Table,
    domain: SpatialDomain = TABLETOP,
) -> Trace | None:
    """The trace of the plan if displaced objects stay where they are, as far as that does no harm.

    An object may stay if it stands on what it should stand on, if the relation that its action promised holds there,
    and if nothing that follows runs into it, leaves the table or finds a precondition violated that it would not have
    found otherwise. Every later placement moves along with the object that it refers to.

    Args:
        graph: the scene as it is.
        trace: what should have been, over the same objects.
        done: how many actions should have been done by now.
        displaced: objects that are not where the trace has them.
        table: where the robot can put things down.
        domain: has the operators.

    Returns:
        The alternative trace; None if no object may stay.
    """
    placed_by = {graph.index(action.arguments[0]): step for step, action in enumerate(trace.plan.actions[:done])}
    situation = _Situation(graph, trace, done, table, placed_by, domain)
    staying = [i for i in displaced if _stands(situation, i)]
    while staying:
        alternative = _shifted(situation, frozenset(staying))
        if not _problems(situation, alternative, staying):
            return alternative
        # leave out the object without which fewest problems remain
        fewer = [[i for i in staying if i != left_out] for left_out in staying]
        counts = [_problems(situation, _shifted(situation, frozenset(rest)), rest) for rest in fewer]
        staying = fewer[int(np.argmin(counts))]
    return None


def _stands(situation: _Situation, index: int) -> bool:
    """Whether an object stands upright, in reach, on what it should stand on."""
    graph, expected = situation.graph, situation.trace.graphs[situation.done]
    changed = np.abs(graph.boxes[index, 3:] - expected.boxes[index, 3:]).max() > SAME_SIZE_M
    if changed or graph.missing[index] or graph.held == index:
        return False
    if not within_reach(graph.boxes[index], situation.table):
        return False
    return supporter(graph, index) == carrier(expected.boxes, index)


def _shifted(situation: _Situation, staying: frozenset[int]) -> Trace:
    """The trace with some objects where they are now, and what refers to them moved along."""
    trace, now = situation.trace, situation.graph.boxes
    boxes = trace.graphs[0].boxes.copy()
    below = [carrier(trace.graphs[0].boxes, i) for i in range(len(boxes))]
    for i in np.argsort(trace.graphs[0].boxes[:, 2]):  # carriers before what they carry
        if i in staying and i not in situation.placed_by:
            boxes[i] = now[i]
        elif (support := below[i]) is not None:
            boxes[i, :3] += boxes[support, :3] - trace.graphs[0].boxes[support, :3]
    graphs = [replace(trace.graphs[0], boxes=boxes)]
    for step, action in enumerate(trace.plan):
        moved = situation.graph.index(action.arguments[0])
        before, after = trace.graphs[step].boxes, trace.graphs[step + 1].boxes
        boxes = boxes.copy()
        boxes[moved] = after[moved]
        if moved in staying and situation.placed_by.get(moved) == step:
            boxes[moved] = now[moved]
        else:
            named = action.arguments[1:]
            reference = situation.graph.index(named[0]) if named else carrier(after, moved)
            if reference is not None:
                boxes[moved, :3] += boxes[reference, :3] - before[reference, :3]
        graphs.append(replace(trace.graphs[step + 1], boxes=boxes))
    return Trace(trace.plan, tuple(graphs))


def _problems(situation: _Situation, alternative: Trace, staying: Sequence[int]) -> int:
    """Number of things that are wrong with an alternative from now on and not with the expected trace."""
    trace, done = situation.trace, situation.done
    count = 0
    for index in staying:  # the relations that the plan has established already
        step = situation.placed_by.get(index)
        if step is not None:
            action = trace.plan[step]
            count += not situation.domain.operator_of(action).achieved(alternative.graphs[done], action)
    boxes = np.stack([graph.boxes for graph in alternative.graphs[done:]])
    elsewhere = np.any(boxes != situation.boxes, axis=-1)
    count += int(np.triu(pairwise(boxes)[0] & ~situation.clash, 1).sum())
    count += int((elsewhere & ~_on_table(boxes, situation.table)).sum())
    changed = elsewhere.any(axis=1)
    for row, (known, under) in enumerate(situation.known):
        if changed[row] or changed[row + 1]:
            action = trace.plan[done + row]
            before, after = alternative.graphs[done + row : done + row + 2]
            count += sum(fact not in known for fact in situation.domain.operator_of(action).violated(before, action))
            count += len(_under(after, situation.graph.index(action.arguments[0])) - under)
    return count


def _under(graph: SceneGraph, index: int) -> set[int]:
    """Everything that an object comes down on: its support, and objects of the same height next to it."""
    apart = gaps(graph.boxes[index], graph.boxes)
    level = np.abs(top(graph.boxes) - bottom(graph.boxes[index])) < CONTACT_M
    return set(np.flatnonzero(level & np.all(apart[:, :2] < 0.0, axis=1)).tolist())


def _on_table(boxes: FloatArray, table: Table) -> np.ndarray:
    """Which boxes (..., 6) stand inside the workspace and in reach: (...,)."""
    low, high = np.asarray(table.workspace[:2]), np.asarray(table.workspace[2:])
    inside = np.all((boxes[..., :2] >= low) & (boxes[..., :2] <= high), axis=-1)
    return np.asarray(inside & within_reach(boxes, table))

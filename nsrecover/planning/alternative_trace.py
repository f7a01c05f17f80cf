"""Alternative trace that leaves displaced objects where they are.

Kalithasan et al. (section V) bring every object back to its place in the expected trace. The rest of a plan and its
goal, however, depend on relations only: a tower may be rebuilt where its base stands now.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from nsrecover.core.actions import Action
from nsrecover.core.explanation import Fact
from nsrecover.core.geometry import CONTACT_M, SAME_SIZE_M, bottom, gaps, top
from nsrecover.core.scene import FloatArray, SceneGraph
from nsrecover.core.traces import Trace
from nsrecover.domains.tabletop.operators import TABLETOP, moved_object
from nsrecover.domains.tabletop.relations import supporter
from nsrecover.domains.tabletop.spatial import SpatialDomain
from nsrecover.models.free_place import Table, within_reach
from nsrecover.planning.places import BoolArray, carriers, pairwise


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
    situation = _Situation(graph, trace, done, table, domain)
    staying = [i for i in displaced if situation.stands(i)]
    while staying:
        alternative = situation.shifted(staying)
        if not situation.problems(alternative, staying):
            return alternative
        # leave out the object without which fewest problems remain
        fewer = [[i for i in staying if i != left_out] for left_out in staying]
        staying = min(fewer, key=lambda rest: situation.problems(situation.shifted(rest), rest))
    return None


@dataclass(frozen=True)
class _Situation:
    """A displaced scene, the trace that it deviates from after `done` actions, and what both are judged by."""

    graph: SceneGraph
    trace: Trace
    done: int
    table: Table
    domain: SpatialDomain

    @cached_property
    def moved(self) -> list[int]:
        """The object that each action of the plan moves."""
        return [moved_object(self.graph, action) for action in self.trace.plan]

    @cached_property
    def placed_by(self) -> dict[int, int]:
        """Object -> the action that put it where it should be now; objects that none moved are not in it."""
        return {moved: step for step, moved in enumerate(self.moved[: self.done])}

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
        """For each later action, the violations before it in the trace, and the support of its object."""
        return [self._outcome(self.trace, step) for step in range(self.done, len(self.moved))]

    def _outcome(self, trace: Trace, step: int) -> tuple[tuple[Fact, ...], set[int]]:
        """Violations of the preconditions of an action in a trace, and the support of its object."""
        action, (before, after) = trace.plan[step], trace.graphs[step : step + 2]
        return self.domain.operator_of(action).violated(before, action), _under(after, self.moved[step])

    def _kept(self, before: SceneGraph, now: SceneGraph, action: Action) -> bool:
        """Whether an action that is done keeps its promise now."""
        return self.domain.operator_of(action).achieved(before, now, action)

    def stands(self, index: int) -> bool:
        """Whether an object stands upright, in reach, on what it should stand on."""
        graph, expected = self.graph, self.trace.graphs[self.done].boxes
        changed = np.abs(graph.boxes[index, 3:] - expected[index, 3:]).max() > SAME_SIZE_M
        if changed or graph.missing[index] or graph.held == index or not within_reach(graph.boxes[index], self.table):
            return False
        below = supporter(graph, index)
        return bool(carriers(expected)[index] == (-1 if below is None else below))

    def shifted(self, staying: Sequence[int]) -> Trace:
        """The trace with some objects where they are now, and what refers to them moved along."""
        graphs, now = self.trace.graphs, self.graph.boxes
        boxes, first = graphs[0].boxes.copy(), graphs[0].boxes
        below = carriers(first)
        for i in np.argsort(first[:, 2]):  # carriers before what they carry
            if i in staying and i not in self.placed_by:
                boxes[i] = now[i]
            elif below[i] >= 0:
                boxes[i, :3] += boxes[below[i], :3] - first[below[i], :3]
        found = [replace(graphs[0], boxes=boxes)]
        for step, moved in enumerate(self.moved):
            before, after = graphs[step].boxes, graphs[step + 1].boxes
            boxes = boxes.copy()
            boxes[moved] = after[moved]
            if moved in staying and self.placed_by.get(moved) == step:
                boxes[moved] = now[moved]
            else:
                named = self.trace.plan[step].arguments[1:]
                reference = self.graph.index(named[0]) if named else int(carriers(after)[moved])
                if reference >= 0:
                    boxes[moved, :3] += boxes[reference, :3] - before[reference, :3]
            found.append(replace(graphs[step + 1], boxes=boxes))
        return Trace(self.trace.plan, tuple(found))

    def problems(self, alternative: Trace, staying: Sequence[int]) -> int:
        """Number of things that are wrong with an alternative from now on and not with the expected trace."""
        # the relations that the plan has established already
        placed = [self.placed_by[i] for i in staying if i in self.placed_by]
        now = alternative.graphs[self.done]
        count = sum(not self._kept(alternative.graphs[step], now, self.trace.plan[step]) for step in placed)
        boxes = np.stack([graph.boxes for graph in alternative.graphs[self.done :]])
        elsewhere = np.any(boxes != self.boxes, axis=-1)
        count += int(np.triu(pairwise(boxes)[0] & ~self.clash, 1).sum())
        count += int((elsewhere & ~_on_table(boxes, self.table)).sum())
        changed = elsewhere.any(axis=1)
        for row, (known, under) in enumerate(self.known):
            if changed[row] or changed[row + 1]:
                violated, now_under = self._outcome(alternative, self.done + row)
                count += sum(fact not in known for fact in violated) + len(now_under - under)
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

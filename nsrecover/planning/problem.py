"""What a recovery search is given: an error state and where it may go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from nsrecover.core.actions import Trace
from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.scene import SceneGraph


@dataclass(frozen=True, eq=False)
class Request:
    """An error state of one robot, with its own scene and plan.

    Attributes:
        graph: the scene as it is now.
        trace: what should have been, over the same objects.
        discrepancy: what is wrong, from the monitor.
    """

    graph: SceneGraph
    trace: Trace
    discrepancy: Discrepancy


@dataclass(frozen=True, eq=False)
class Problem:
    """An error state and where it may go.

    Attributes:
        graph: the scene to recover from.
        courses: imagined traces of one plan, over the same objects.
        subgoals: numbers of the imagined scenes that are subgoals, ascending; scene t of course c is c (T + 1) + t.
        costs_to_go: (K,) what the rest of the plan costs from each of them.
        extra: (K,) what is added to that to choose between ways that cost the same.
        order: name -> rank, see `nsrecover.planning.order`.
        fixed: objects that cannot be moved.
        ignored: objects that play no part.
    """

    graph: SceneGraph
    courses: tuple[Trace, ...]
    subgoals: tuple[int, ...]
    costs_to_go: tuple[float, ...]
    extra: tuple[float, ...]
    order: Mapping[str, int]
    fixed: frozenset[int]
    ignored: frozenset[int]

    @cached_property
    def scenes(self) -> tuple[SceneGraph, ...]:
        """The imagined scenes of all courses."""
        return tuple(scene for course in self.courses for scene in course.graphs)

    def to_go(self, misplaced: Sequence[float]) -> list[float]:
        """(K,) what counts as the cost-to-go of each subgoal, if so many objects are misplaced for it at the start.

        Of equally good ways the one that stays where the scene already is, if that is a subgoal, is taken.
        """
        rows = zip(self.costs_to_go, self.extra, misplaced, strict=True)
        return [cost + extra if wrong > 0 else cost for cost, extra, wrong in rows]

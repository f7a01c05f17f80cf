"""Traces: the scenes that a plan is expected to lead through."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic

from nsrecover.core.actions import Plan
from nsrecover.core.facts import StateFact
from nsrecover.core.scene import SceneGraph, SceneT_co
from nsrecover.errors import InvalidPlan
from nsrecover.util.english import amount


@dataclass(frozen=True, eq=False)
class Trace(Generic[SceneT_co]):
    """What a plan is expected to lead through: `graphs[t]` is the scene after the first t actions (T + 1 scenes).

    Attributes:
        plan: T actions.
        graphs: T + 1 scenes.
        goal: of a symbolic plan, the conditions that hold in the end; `at` is in or on, also indirectly.
        tidy: of a symbolic plan, the facts that it achieves on its way and ends again: doors that it opens and
            closes.
        named: objects of the original plan, before any recovery; its goal needs them to the end.
    """

    plan: Plan
    graphs: tuple[SceneT_co, ...]
    goal: tuple[StateFact, ...] = ()
    tidy: tuple[StateFact, ...] = ()
    named: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.graphs) != len(self.plan) + 1:
            raise InvalidPlan(
                f"expected {amount(len(self.plan) + 1, 'scene')} for {amount(len(self.plan), 'action')}, found "
                f"{len(self.graphs)}"
            )

    def with_objects_of(self: Trace[SceneGraph], graph: SceneGraph) -> Trace[SceneGraph]:
        """Return the trace with the new objects of a scene; they are expected to stay where they are."""
        if set(graph.names) <= set(self.graphs[0].names):
            return self
        return replace(self, graphs=tuple(expected.with_objects_of(graph) for expected in self.graphs))

"""The expected trace of a plan, imagined only as far as it is needed, and how far the plan is."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Generic, Protocol

from nsrecover.core.actions import Action, Plan
from nsrecover.core.scene import SceneT
from nsrecover.core.traces import Trace
from nsrecover.util.python310 import Self


class Imagines(Protocol[SceneT]):
    """Imagines scenes after actions."""

    def step(self, graph: SceneT, action: Action, /) -> SceneT:
        """The scene after one action."""
        ...

    def trace(self, graph: SceneT, plan: Plan, /) -> Trace[SceneT]:
        """The scenes a plan should lead through, beginning with the given one."""
        ...


class ExpectedTrace(Generic[SceneT]):
    """A trace whose scenes follow from an observed one; a scene is imagined again when it is asked for.

    The monitor starts the trace anew from every observed scene, so that errors of the imagination do not add up. Most
    of the later scenes are never compared with anything, so they are not imagined until then.

    Args:
        imagination: imagines the scene after an action.
        trace: the scenes as imagined so far, all of them up to date.

    Attributes:
        num_executed: how many actions of the plan are done.
    """

    def __init__(self, imagination: Imagines[SceneT], trace: Trace[SceneT]) -> None:
        self._imagination = imagination
        self.set(trace)

    def set(self, trace: Trace[SceneT]) -> None:
        """Expect what another trace says, from its first action on; all its scenes are up to date."""
        self._trace, self.num_executed = trace, 0
        self._up_to_date = len(trace.plan)  # number of the last scene that follows from the scenes before it

    def copy(self) -> Self:
        """A copy that changes independently."""
        return copy.copy(self)

    @property
    def plan(self) -> Plan:
        """The actions, grounded."""
        return self._trace.plan

    @property
    def rest(self) -> tuple[Action, ...]:
        """The actions that are still to be done."""
        return self.plan.actions[self.num_executed :]

    def up_to(self, number: int) -> Trace[SceneT]:
        """The trace with the scenes 0 to `number` up to date."""
        if number > self._up_to_date:
            graphs = list(self._trace.graphs)
            for step in range(self._up_to_date, number):
                graphs[step + 1] = self._imagination.step(graphs[step], self.plan[step])
            self._trace = replace(self._trace, graphs=tuple(graphs))
            self._up_to_date = number
        return self._trace

    def scene(self, number: int) -> SceneT:
        """The scene after the first `number` actions."""
        return self.up_to(number).graphs[number]

    def complete(self) -> Trace[SceneT]:
        """The trace with all scenes up to date."""
        return self.up_to(len(self.plan))

    def start_from(self, number: int, graph: SceneT) -> None:
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

    def edit(self, function: Callable[[Trace[SceneT]], Trace[SceneT]]) -> None:
        """Change the trace without its scenes having to be imagined again."""
        self._trace = function(self._trace)

    def edit_scenes(self, function: Callable[[SceneT], SceneT]) -> None:
        """Change every scene without it having to be imagined again."""
        self._trace = replace(self._trace, graphs=tuple(map(function, self._trace.graphs)))

    def drop_actions(self, names: Collection[str], number: int) -> None:
        """Leave out the actions with some objects that are not among the first `number`."""
        kept = [step for step, action in enumerate(self.plan) if step < number or not {*names} & {*action.arguments}]
        graphs = (self._trace.graphs[0], *(self._trace.graphs[step + 1] for step in kept))
        self._trace = replace(self._trace, plan=Plan(tuple(self.plan[step] for step in kept)), graphs=graphs)
        self._up_to_date = min(self._up_to_date, number)

    def replan(self, plan: Plan, num_executed: int, graph: SceneT) -> None:
        """Expect another plan from a scene on, of which some actions count as done."""
        rest = self._imagination.trace(graph, Plan(plan.actions[num_executed:]))
        executed = plan.actions[:num_executed]
        # of actions that were not seen done, only the outcome is known
        known = executed == self.plan.actions[:num_executed]
        earlier = self.up_to(self.num_executed).graphs if known else (graph,) * num_executed
        self.set(replace(rest, plan=Plan(executed + rest.plan.actions), graphs=earlier[:num_executed] + rest.graphs))
        self.num_executed = num_executed

"""The main path: imagine, act, look, compare, and find the way back; reads top to bottom."""

from __future__ import annotations

from collections.abc import Callable

from nsrecover.operators import check_plan
from nsrecover.protocols import World
from nsrecover.structs import (
    Action,
    Discrepancy,
    Episode,
    EpisodeStatus,
    Explanation,
    Plan,
    Recovery,
    SceneGraph,
    StepRecord,
    Trace,
)
from nsrecover.system import System

MAX_RECOVERIES = 10
"""After this many recoveries in one episode the agent asks for help instead of trying again."""


class RecoveryAgent:
    """Carries out a plan, notices when the world is not as imagined, and recovers onto the plan.

    Args:
        system: the learned system, from `nsrecover.load()`.
        world: a robot and its cameras.
        budget_s: planning time for one recovery.
        max_recoveries: recoveries in one episode before it asks for help.
    """

    def __init__(
        self, system: System, world: World, budget_s: float = 1.0, max_recoveries: int = MAX_RECOVERIES
    ) -> None:
        self.system = system
        self.world = world
        self.budget_s = budget_s
        self.max_recoveries = max_recoveries

    def run(self, plan: Plan, on_record: Callable[[StepRecord], None] | None = None) -> Episode:
        """Carry out a plan.

        Args:
            plan: what to do.
            on_record: called after every turn of the loop.

        Returns:
            What happened. A failure that cannot be recovered from is a status with a reason, not an exception.

        Raises:
            InvalidAction: the plan has an unknown operator or wrong arguments.
            UnknownObject: the plan names an object that is not in the scene.
            InvalidObservation: the world's observations cannot be used.
        """
        perceive, monitor = self.system.perceiver(), self.system.monitor
        start = graph = perceive(self.world.observe())
        check_plan(plan, graph)
        trace = self.system.imagination.trace(graph, plan)
        step, recovering, recoveries = 0, 0, 0
        records: list[StepRecord] = []
        while step < len(trace.plan):
            action: Action | None = trace.plan[step]
            discrepancy = monitor.before(graph, trace, step)
            if discrepancy:
                action = None
            else:
                self.world.execute(trace.plan[step])
                graph = perceive(self.world.observe(), expected=trace.graphs[step + 1])
                trace = trace.joined_by(graph)
                discrepancy = monitor.after(graph, trace, step)
            recovery, explanation = self._respond(graph, trace, discrepancy) if discrepancy else (None, None)
            record = StepRecord(action, step < recovering, graph, discrepancy, trace.plan, recovery, explanation)
            records.append(record)
            if on_record is not None:
                on_record(record)
            if recovery is None:
                step += 1
                trace = self.system.imagination.rebase(trace, step, graph)
                continue
            recoveries += 1
            stuck = "" if recovery.found else recovery.reason
            if recoveries > self.max_recoveries:
                last = discrepancy.culprit_names or discrepancy.violated
                stuck = f"something went wrong {recoveries} times, the last time with {', '.join(last)}"
            if stuck:
                return Episode(plan, EpisodeStatus.ASKED_FOR_HELP, stuck, start, tuple(records))
            trace, step, recovering = rejoin(graph, trace, recovery), 0, len(recovery.actions)
        return Episode(plan, EpisodeStatus.COMPLETED, "", start, tuple(records))

    def _respond(self, graph: SceneGraph, trace: Trace, discrepancy: Discrepancy) -> tuple[Recovery, Explanation]:
        recovery = self.system.planner.recover(graph, trace, discrepancy, budget_s=self.budget_s)
        return recovery, self.system.explainer(discrepancy, recovery)


def rejoin(graph: SceneGraph, trace: Trace, recovery: Recovery) -> Trace:
    """The new course: from the scene as it is, through the recovery, along the rest of the original plan.

    Args:
        graph: the scene as it is.
        trace: the course that was left.
        recovery: a way back that was found.

    Returns:
        A trace whose first `len(recovery.actions)` actions are the recovery.
    """
    subgoal = recovery.subgoal if recovery.subgoal is not None else len(trace.plan)
    plan = Plan(recovery.actions + trace.plan.actions[subgoal:])
    return Trace(plan, (graph, *recovery.graphs, *recovery.rest))

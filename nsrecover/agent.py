"""The main path: imagine, act, look, compare, and find the way back; reads top to bottom."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from nsrecover.core.actions import Plan, Trace
from nsrecover.core.discrepancy import Discrepancy, Phase
from nsrecover.core.episode import Episode, EpisodeStatus, StepRecord
from nsrecover.core.explanation import Explanation
from nsrecover.core.protocols import World
from nsrecover.core.recovery import Recovery, RecoveryStatus
from nsrecover.domains.tabletop.operators import REACHED_M, operator_of
from nsrecover.explanation.facts import violated_texts
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
        first = seen = self.world.observe()
        monitor = self.system.monitor(plan, first)
        start, recovering, recoveries = monitor.graph, 0, 0
        before: Discrepancy | None = None
        records: list[StepRecord] = []
        while (action := monitor.next_action) is not None:
            step = monitor.num_executed
            discrepancy = monitor.check()
            ran = not discrepancy
            if ran:
                self.world.execute(action)
                seen = self.world.observe()
                discrepancy = monitor.step(action, seen)
            recovery, explanation = self._respond(monitor.trace, discrepancy, before) if discrepancy else (None, None)
            before = discrepancy or before
            record = StepRecord(
                action if ran else None,
                step < recovering,
                monitor.graph,
                discrepancy,
                monitor.plan,
                recovery,
                explanation,
                seen.time_s,
            )
            records.append(record)
            if on_record is not None:
                on_record(record)
            if recovery is None:
                continue
            recoveries += 1
            stuck = "" if recovery.found else recovery.reason
            if recoveries > self.max_recoveries:
                last = discrepancy.deviating or violated_texts(discrepancy)
                stuck = f"something went wrong {recoveries} times, the last time with {', '.join(last)}"
            if stuck:
                return Episode(plan, EpisodeStatus.ASKED_FOR_HELP, stuck, start, tuple(records), first.time_s)
            monitor.rejoin(recovery)
            recovering = len(recovery.actions)
        return Episode(plan, EpisodeStatus.COMPLETED, "", start, tuple(records), first.time_s)

    def _respond(
        self, trace: Trace, discrepancy: Discrepancy, before: Discrepancy | None
    ) -> tuple[Recovery, Explanation]:
        if before is not None and _in_vain(before, discrepancy):
            recovery = self._accepted(trace, discrepancy)
        else:
            planner = self.system.planner
            recovery = planner.recover(discrepancy.observed, trace, discrepancy, budget_s=self.budget_s)
        return recovery, self.system.explainer(discrepancy, recovery)

    def _accepted(self, trace: Trace, discrepancy: Discrepancy) -> Recovery:
        """Go on from the scene as it is."""
        done = discrepancy.step + 1
        rest = self.system.imagination.trace(discrepancy.observed, Plan(trace.plan.actions[done:])).graphs[1:]
        return Recovery(
            RecoveryStatus.ALREADY_AT_SUBGOAL,
            subgoal=done,
            rest=rest,
            staying=discrepancy.deviating,
            cost=float(len(rest)),
        )


def _in_vain(before: Discrepancy, now: Discrepancy) -> bool:
    """Whether repeating an action changes nothing, though it keeps its promise: a brick may stand on its end for good.

    It has led to what it led to the last time, nothing else is wrong, and the relation that it stands for holds.
    """
    moved = now.action.arguments[:1]
    if now.phase is not Phase.AFTER or not (before.action == now.action and before.deviating == now.deviating == moved):
        return False
    places = [found.observed.boxes[found.observed.index(moved[0])] for found in (before, now)]
    same = np.allclose(places[0], places[1], atol=REACHED_M)
    return same and operator_of(now.action).achieved(now.observed, now.action)

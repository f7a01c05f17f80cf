"""The main path: imagine, [check, act, perceive, compare, recover, explain]*; reads top to bottom."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from nsrecover.core.actions import Plan
from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.episode import Episode, EpisodeStatus, StepRecord
from nsrecover.core.observation import Observation
from nsrecover.core.protocols import World
from nsrecover.core.recovery import Recovery
from nsrecover.explanation.facts import violated_texts
from nsrecover.explanation.reasons import reason_text
from nsrecover.system import System

MAX_RECOVERIES = 10
"""After this many recoveries in one episode the agent asks for help instead of trying again."""


class RecoveryAgent:
    """Executes a plan, detects deviations from the imagined scenes, and recovers onto the plan.

    Args:
        system: from `nsrecover.load()` or `nsrecover.geometric()`.
        world: a robot and its sensors. `observe` returns what `System.monitor` takes: camera images, scene graphs, or
            boxes by name.
        budget_s: planning time for one recovery, seconds.
        max_recoveries: recoveries in one episode before it asks for help.
    """

    def __init__(
        self, system: System, world: World[Any], budget_s: float = 1.0, max_recoveries: int = MAX_RECOVERIES
    ) -> None:
        self.system = system
        self.world = world
        self.budget_s = budget_s
        self.max_recoveries = max_recoveries

    def run(self, plan: Plan, on_record: Callable[[StepRecord], None] | None = None) -> Episode:
        """Carry out a plan.

        Args:
            plan: the plan to execute.
            on_record: called after every turn of the loop.

        Returns:
            The episode. A failure that cannot be recovered from is a status with a reason, not an exception.

        Raises:
            InvalidAction: the plan has an unknown operator or wrong arguments.
            UnknownObject: the plan names an object that is not in the scene.
            InvalidObservation: the world's observations cannot be used.
        """
        began = time.monotonic()
        seen = self.world.observe()
        start_s = time_s = _time_of(seen, began)
        monitor = self.system.monitor(plan, seen)
        start, records = monitor.graph, list[StepRecord]()
        recoveries = recovery_actions = 0
        while (action := monitor.next_action) is not None:
            step = monitor.num_executed
            discrepancy = monitor.check()
            executed = not discrepancy
            if executed:
                self.world.execute(action)
                seen = self.world.observe()
                time_s = _time_of(seen, began)
                discrepancy = monitor.step(action, seen)
            recovery = explanation = None
            if discrepancy:
                recovery = monitor.accepted() or self.system.planner.recover(
                    discrepancy.observed, monitor.trace, discrepancy, budget_s=self.budget_s
                )
                explanation = self.system.explainer(discrepancy, recovery)
            record = StepRecord(
                action=action if executed else None,
                recovering=step < recovery_actions,
                graph=monitor.graph,
                discrepancy=discrepancy,
                plan=monitor.plan,
                recovery=recovery,
                explanation=explanation,
                time_s=time_s,
            )
            records.append(record)
            if on_record is not None:
                on_record(record)
            if recovery is None:
                continue
            recoveries += 1
            reason = self._why_stop(recoveries, discrepancy, recovery)
            if reason:
                return Episode(plan, EpisodeStatus.ASKED_FOR_HELP, reason, start, tuple(records), start_s)
            monitor.rejoin(recovery)
            recovery_actions = len(recovery.actions)
        return Episode(plan, EpisodeStatus.COMPLETED, "", start, tuple(records), start_s)

    def _why_stop(self, recoveries: int, discrepancy: Discrepancy, recovery: Recovery) -> str:
        """The reason to ask for help; empty to go on."""
        if recoveries > self.max_recoveries:
            last = discrepancy.deviating or violated_texts(discrepancy, self.system.domain)
            return f"something went wrong {recoveries} times, the last time with {', '.join(last)}"
        return "" if recovery.found else reason_text(recovery)


def _time_of(seen: object, began: float) -> float:
    """When an observation was made, by its own clock if it has one, else in seconds since the episode began."""
    return seen.time_s if isinstance(seen, Observation) else time.monotonic() - began

"""The main path: imagine, [check, act, perceive, compare, recover, explain]*; reads top to bottom."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from nsrecover.core.actions import Plan
from nsrecover.core.episode import Episode, EpisodeStatus, StepRecord
from nsrecover.core.protocols import OtherWays, World
from nsrecover.core.supervision import Supervisor
from nsrecover.errors import InvalidObservation, UnknownObject
from nsrecover.explanation.fact_explainer import proposal
from nsrecover.explanation.stopping import Alarms, agreed
from nsrecover.explanation.unseen import missing_texts
from nsrecover.fact_system import FactSystem
from nsrecover.monitoring.executing import ExecutionFailed, carry_out
from nsrecover.monitoring.observing import ClockedSensors, patiently
from nsrecover.system import System
from nsrecover.util.english import objects

MAX_RECOVERIES = 10
"""After this many recoveries in one episode the agent asks for help instead of trying again."""


class RecoveryAgent:
    """Executes a plan, detects deviations from the imagined scenes, and recovers onto the plan.

    Before it acts on a verdict other than "as expected" it looks again, twice at most. If it still cannot tell, it goes
    on as long as the next action does not use what it has not seen, and asks for help otherwise. If a way back has not
    helped, it takes another one, if the planner has one (`OtherWays`).

    Args:
        system: from `nsrecover.load()`, `nsrecover.geometric()` or `nsrecover.symbolic()`.
        world: a robot and its sensors. `observe` returns what `System.monitor` takes: camera images, scene graphs, or
            boxes by name. If it also has a method `look` (`LookingWorld`), that is how the agent looks again.
        budget_s: planning time for one recovery, seconds.
        max_recoveries: recoveries in one episode before it asks for help.
        check_sensors: whether the first camera images are checked before anything moves, see `System.monitor`.
        confirm: a person's answer to the question whether to do the rest of a task of which a part is lost for good; by
            default that of the supervisor, and if it has none the agent asks for help instead.
        action_limit_s: time in which an action has to end, seconds; with a limit, actions run in threads of their own.
        supervisor: watches the run and may hold it up, see `nsrecover.live`.
    """

    def __init__(
        self,
        system: System | FactSystem,
        world: World[Any],
        budget_s: float = 1.0,
        max_recoveries: int = MAX_RECOVERIES,
        check_sensors: bool = True,
        confirm: Callable[[str], bool] | None = None,
        action_limit_s: float | None = None,
        supervisor: Supervisor | None = None,
    ) -> None:
        # the scenes of a system go through its own monitor, planner and explainer only, whatever their type is
        self.system: Any = system
        self.world = world
        self.budget_s = budget_s
        self.max_recoveries = max_recoveries
        self.check_sensors = check_sensors
        self.confirm = confirm
        self.action_limit_s = action_limit_s
        self.supervisor = supervisor or Supervisor()
        self._stopped = threading.Event()

    def stop(self) -> None:
        """End the run before its next action; the next run, if there is none. May be called from any thread."""
        self._stopped.set()
        self.supervisor.stops()

    def run(self, plan: Plan, on_record: Callable[[StepRecord], None] | None = None) -> Episode:
        """Carry out a plan.

        Args:
            plan: the plan to execute.
            on_record: called after every turn of the loop.

        Returns:
            The episode. A failure that cannot be recovered from is a status with a reason, not an exception.

        Raises:
            InvalidAction: the plan has an unknown operator or wrong arguments.
            UnknownObject: the plan names an object that is not in the first scene, which was looked at three times.
            InvalidObservation: none of these observations can be used, or they are implausible.
        """
        sensors, watch = ClockedSensors(self.world, self.supervisor.observes), self.supervisor
        monitor = patiently(lambda: self.system.monitor(plan, sensors.observe(), check_sensors=self.check_sensors))
        start, start_s, records = monitor.graph, sensors.time_s, list[StepRecord]()
        watch.begins(self, plan, start)
        # planners of other programs need not announce what they find, unless a supervisor wants to know
        announcing: dict[str, Any] = {} if type(watch) is Supervisor else {"on_improvement": watch.improves}
        alarms, recovery_actions, reason = Alarms(self.system.domain, self.max_recoveries), 0, ""
        while not reason and (action := monitor.next_action) is not None:
            step, executed = monitor.num_executed, False
            try:
                found = patiently(lambda: monitor.check(sensors.observe())) if watch.held(action) else monitor.check()
                found = monitor.confirm(partial(sensors.look, monitor))
                if self._stopped.is_set():
                    reason = f"it was stopped before {action}"
                    break
                if found.as_expected:
                    carry_out(self.world, action, self.action_limit_s)
                    executed = True
                    patiently(partial(sensors.judge, monitor, action))
                    found = monitor.confirm(partial(sensors.look, monitor))
            except ExecutionFailed as problem:
                reason = str(problem)
                break
            except (InvalidObservation, UnknownObject) as problem:
                reason = f"it cannot be told how the scene is {'after' if executed else 'before'} {action}: {problem}"
                break
            watch.compares(found)
            recovery = explanation = None
            if found.deviates:
                recovery = monitor.accepted() or self.system.planner.recover(
                    found.observed, monitor.trace, found, budget_s=self.budget_s, **announcing
                )
                if alarms.seen(found, recovery) and isinstance(self.system.planner, OtherWays):
                    recovery = self.system.planner.otherwise(found.observed, monitor.trace, found) or recovery
                if (rest := recovery.closest) is not None:
                    confirms = self.confirm or partial(watch.proposes, rest=rest, plan=monitor.plan)
                    recovery = rest if confirms(proposal(recovery, self.system.domain)) else recovery
            if not found.as_expected:
                explanation = self.system.explainer(found, recovery)
            record = StepRecord(
                action=action if executed else None, recovering=step < recovery_actions, graph=monitor.graph,
                discrepancy=found, plan=monitor.plan, recovery=recovery, explanation=explanation, time_s=sensors.time_s,
            )  # fmt: skip
            watch.turned(record)
            if recovery is not None and not (reason := alarms.why_stop(found, recovery)):
                record, reason = agreed(record, monitor.trace, self.system, watch, self.budget_s, self._stopped.is_set)
            records.append(record)
            if on_record is not None:
                on_record(record)
            if not reason and record.recovery is not None:
                monitor.rejoin(record.recovery)
                recovery_actions = len(record.recovery.actions)
            elif not reason and not executed:
                reason = f"it cannot be told whether {action} can be done: {'; '.join(missing_texts(found))}"
        if not reason and monitor.unconfirmed:
            reason = f"every action is done, but {objects(monitor.unconfirmed)} could not be seen in place afterwards"
        self._stopped.clear()
        status = EpisodeStatus.ASKED_FOR_HELP if reason else EpisodeStatus.COMPLETED
        episode = Episode(plan, status, reason, start, tuple(records), start_s)
        watch.ended(episode)
        return episode

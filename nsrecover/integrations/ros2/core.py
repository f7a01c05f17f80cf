"""The monitor behind every transport: messages and requests in, answers as fields of messages out.

`take` and `submit` return at once and may be called from callbacks of any thread; one worker (`run`) does the work. No
transport is imported here.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from nsrecover.core.actions import Plan
from nsrecover.core.discrepancy import Discrepancy, Phase
from nsrecover.core.sessions.settings import MAX_RECOVERIES
from nsrecover.errors import (
    InvalidAction,
    InvalidObservation,
    InvalidPlan,
    InvalidRecording,
    NsrecoverError,
    UnknownObject,
)
from nsrecover.integrations.ros2 import answers
from nsrecover.integrations.ros2.answers import Fields
from nsrecover.integrations.ros2.buffer import BufferSettings, Incomplete, MessageBuffer
from nsrecover.integrations.ros2.codes import AnswerCode
from nsrecover.integrations.ros2.endpoints import DISCREPANCY, RECOVERY, STATE, Request
from nsrecover.monitoring.monitor import LOOKS, Monitor
from nsrecover.records.bags.messages import PLAN, PlanDocument, plan_document
from nsrecover.system import System

WAITING = 4
"""Requests that may wait; more are answered with `busy`."""


@dataclass(frozen=True)
class CoreSettings:
    """Settings of a monitor; parameters of the node have the same names.

    Attributes:
        buffer: topics and times.
        wait_s: how long a request waits for a complete observation, seconds.
        budget_s: planning time for one recovery, seconds.
        looks: observations that a verdict is based on at most.
        check_sensors: whether the first images are refused if they are implausible.
    """

    buffer: BufferSettings = field(default_factory=BufferSettings)
    wait_s: float = 5.0
    budget_s: float = 1.0
    looks: int = LOOKS
    check_sensors: bool = True


class _Refused(Exception):
    """A request that ends with a code."""

    def __init__(self, code: AnswerCode, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass
class _Episode:
    """One plan and what is known of its execution."""

    document: PlanDocument
    monitor: Monitor[Any] | None = None
    stages: tuple[str, ...] = ()
    found: Discrepancy | None = None
    judged: tuple[int, Fields] | None = None
    recovered: Fields | None = None
    recoveries: int = 0
    time_s: float = 0.0


class MonitorCore:
    """Follows a published plan.

    Args:
        system: from `nsrecover.load()` or `nsrecover.geometric()`.
        settings: see there.
        publish: called by the worker with a topic and the fields of its message.
        now: the clock of the stamps, seconds; the time of the system by default.
    """

    def __init__(
        self,
        system: System,
        settings: CoreSettings | None = None,
        publish: Callable[[str, Fields], None] = lambda topic, fields: None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.settings = settings or CoreSettings()
        self._system, self._publish, self._now = system, publish, now
        self._buffer = MessageBuffer(self.settings.buffer)
        self._news = threading.Condition()
        self._requests: queue.Queue[tuple[Request, Fields, Future[Fields]]] = queue.Queue(WAITING)
        self._wanted: PlanDocument | InvalidRecording | None = None
        self._wanted_text = ""
        self._episode: _Episode | None = None
        self._stop = threading.Event()
        self.active = True

    @property
    def topics(self) -> tuple[str, ...]:
        """Every topic to subscribe to."""
        return (PLAN, *self._buffer.topics)

    def take(self, topic: str, message: Any) -> None:
        """Take in a message; one that cannot be used is left out, and what lacks it says so later."""
        with self._news:
            if topic == PLAN:
                self._take_plan(message.data)
            else:
                with suppress(NsrecoverError):
                    self._buffer.take(topic, message, self._now())
            self._news.notify_all()

    def submit(self, request: Request, fields: Fields) -> Future[Fields]:
        """Ask; the answer has the fields of the service's response, and never raises.

        Args:
            request: what.
            fields: of the service's request; `not_before` in seconds, 0 for now.
        """
        answer = Future[Fields]()
        if not self.active:
            answer.set_result({"code": AnswerCode.NOT_ACTIVE.value, "message": "activate the node first"})
            return answer
        if not fields.get("not_before"):
            fields = {**fields, "not_before": self._now()}
        try:
            self._requests.put_nowait((request, fields, answer))
        except queue.Full:
            answer.set_result({"code": AnswerCode.BUSY.value, "message": f"{WAITING} requests are waiting"})
        return answer

    def run(self) -> None:
        """Answer requests until `stop` is called; for a thread of its own."""
        while not self._stop.is_set():
            with suppress(queue.Empty):
                request, fields, answer = self._requests.get(timeout=0.1)
                if answer.set_running_or_notify_cancel():
                    answer.set_result(self._answered(request, fields))

    def stop(self) -> None:
        """End `run`, and a wait for an observation."""
        self._stop.set()
        with self._news:
            self._news.notify_all()

    def _take_plan(self, text: str) -> None:
        """Begin a new episode, unless it is the plan that is followed already."""
        try:
            document: PlanDocument | InvalidRecording = plan_document(text)
        except NsrecoverError as problem:
            document = InvalidRecording(str(problem))
        if text != self._wanted_text or self._finished():
            self._wanted, self._wanted_text = document, text

    def _finished(self) -> bool:
        episode = self._episode
        return episode is not None and episode.monitor is not None and episode.monitor.next_action is None

    def _answered(self, request: Request, fields: Fields) -> Fields:
        try:
            match request:
                case Request.CHECK:
                    return self._check(self._current(), fields)
                case Request.JUDGE:
                    return self._judge(self._current(), fields)
                case Request.RECOVER:
                    return self._recover(self._current(), fields)
        except _Refused as refused:
            return {"code": refused.code.value, "message": str(refused)}
        except (InvalidAction, InvalidPlan, UnknownObject) as problem:
            return {"code": AnswerCode.INVALID_PLAN.value, "message": str(problem)}
        except NsrecoverError as problem:
            return {"code": AnswerCode.INVALID_OBSERVATION.value, "message": str(problem)}
        except Exception as problem:
            return {"code": AnswerCode.INTERNAL.value, "message": f"{type(problem).__name__}: {problem}"}

    def _current(self) -> _Episode:
        with self._news:  # after a restart the plan may arrive later than the first request
            self._news.wait_for(lambda: self._wanted is not None or self._stop.is_set(), self.settings.wait_s)
            wanted = self._wanted
        if wanted is None:
            raise _Refused(
                AnswerCode.NO_PLAN, f"expected a plan on {PLAN}, found none; publish the actions, one a line"
            )
        if isinstance(wanted, InvalidRecording):
            raise _Refused(AnswerCode.INVALID_PLAN, str(wanted))
        if self._episode is None or self._episode.document is not wanted:
            self._episode = _Episode(wanted, stages=wanted.stages)
        return self._episode

    def _check(self, episode: _Episode, fields: Fields) -> Fields:
        seen, done = self._observed(fields["not_before"]), int(fields.get("done", -1))
        if episode.monitor is None:
            monitor = self._system.monitor(episode.document.plan, seen, check_sensors=self.settings.check_sensors)
            if done > 0:  # another monitor has seen what came before
                monitor.set_plan(episode.document.plan, done)
            episode.monitor = monitor
            given = None
        else:
            monitor, given = episode.monitor, seen
        self._require_step(monitor, done)
        open_error = (
            episode.found
            if episode.found is not None and episode.found.deviates and episode.found.phase is Phase.AFTER
            else None
        )
        due = monitor.next_action or (open_error.action if open_error else None)
        if due is None:
            raise _Refused(AnswerCode.PLAN_DONE, f"all {len(monitor.plan)} actions are done")
        if open_error:
            found, message = open_error, "an error is not repaired yet: recover, or publish another plan or `episode`"
        else:
            monitor.check(given)
            found = monitor.confirm(self._looks(seen, fields["not_before"]))
            message = ""
        return {
            "code": AnswerCode.OK.value, "message": message, "proceed": found.as_expected,
            "next_action": answers.action_fields(due, _stage(episode, monitor.num_executed)),
            "discrepancy": self._concluded(episode, monitor, found),
        }  # fmt: skip

    def _judge(self, episode: _Episode, fields: Fields) -> Fields:
        monitor, done = episode.monitor, int(fields.get("done", -1))
        if monitor is None:
            raise _Refused(AnswerCode.NO_REFERENCE, "expected a check before the action, found none; check now")
        if episode.judged is not None and done == episode.judged[0]:
            return episode.judged[1]  # the answer was lost
        self._require_step(monitor, done)
        if (action := monitor.next_action) is None:
            raise _Refused(AnswerCode.PLAN_DONE, f"all {len(monitor.plan)} actions are done")
        number = monitor.num_executed
        seen = self._observed(fields["not_before"])
        monitor.step(action, seen)
        found = monitor.confirm(self._looks(seen, fields["not_before"]))
        answer = {
            "code": AnswerCode.OK.value, "message": "", "discrepancy": self._concluded(episode, monitor, found)
        }  # fmt: skip
        episode.judged = number, answer
        return answer

    def _recover(self, episode: _Episode, fields: Fields) -> Fields:
        monitor, found = episode.monitor, episode.found
        if episode.recovered is not None:
            return episode.recovered  # the answer was lost
        if monitor is None or found is None or not found.deviates:
            raise _Refused(AnswerCode.NOTHING_TO_RECOVER, "expected a verdict `deviating` before, found none")
        episode.recoveries += 1
        if episode.recoveries > MAX_RECOVERIES:
            raise _Refused(AnswerCode.NO_WAY_BACK, f"something went wrong {episode.recoveries} times; ask for help")
        budget_s = float(fields.get("budget_s") or self.settings.budget_s)
        recovery = monitor.accepted() or self._system.planner.recover(
            found.observed, monitor.trace, found, budget_s=budget_s
        )
        text, stage = self._system.explainer(found, recovery).text, ""
        plan: list[Fields] = []
        if recovery.found:
            rest = episode.stages[recovery.resumes_at(len(monitor.plan)) :]
            stage = rest[0] if rest else ""
            episode.stages = (*("" for _ in recovery.actions), *rest) if episode.stages else ()
            plan = answers.plan_fields(monitor.rejoin(recovery), episode.stages)
            episode.judged, episode.found = None, None
        message = answers.recovery_fields(
            recovery,
            plan,
            header=self._header(episode),
            episode=episode.document.episode,
            resume_stage=stage,
            text=text,
        )
        code = AnswerCode.OK if recovery.found else AnswerCode.NO_WAY_BACK
        answer = {"code": code.value, "message": message["reason"], "recovery": message}
        if recovery.found:
            episode.recovered = answer
        self._publish(RECOVERY, message)
        self._publish_state(episode, monitor, found)
        return answer

    def _concluded(self, episode: _Episode, monitor: Monitor[Any], found: Discrepancy) -> Fields:
        """Remember and publish a verdict."""
        episode.found, episode.recovered = found, None
        text = "" if found.as_expected else self._system.explainer(found, None).text
        message = answers.discrepancy_fields(
            found, self._system.domain, header=self._header(episode), episode=episode.document.episode,
            stage=_stage(episode, found.step), text=text,
        )  # fmt: skip
        self._publish(DISCREPANCY, message)
        self._publish_state(episode, monitor, found)
        return message

    def _publish_state(self, episode: _Episode, monitor: Monitor[Any], found: Discrepancy) -> None:
        plan: Plan = monitor.plan
        self._publish(
            STATE,
            {
                "header": self._header(episode), "episode": episode.document.episode,
                "plan": answers.plan_fields(plan, episode.stages), "done": monitor.num_executed,
                "verdict": found.verdict.value,
            },
        )  # fmt: skip

    def _header(self, episode: _Episode) -> Fields:
        return answers.header(self._now(), self.settings.buffer.base_frame)

    def _require_step(self, monitor: Monitor[Any], done: int) -> None:
        if done >= 0 and done != monitor.num_executed:
            raise _Refused(
                AnswerCode.OUT_OF_STEP, f"expected a request with done={monitor.num_executed}, found {done}; publish "
                "the plan again with another `episode` to begin anew",
            )  # fmt: skip

    def _observed(self, after_s: float) -> Any:
        """Wait for a complete observation."""
        until = time.monotonic() + self.settings.wait_s
        with self._news:
            while True:
                seen = self._buffer.observation(after_s)
                if not isinstance(seen, Incomplete):
                    return seen
                left = until - time.monotonic()
                if left <= 0 or self._stop.is_set():
                    raise _Refused(
                        AnswerCode.NO_OBSERVATION, f"expected a complete observation within {self.settings.wait_s:g} "
                        f"s, found: {'; '.join(seen.missing[:3])}",
                    )  # fmt: skip
                self._news.wait(left)

    def _looks(self, seen: Any, after_s: float) -> Callable[[], Any]:
        """Makes further observations, each later than the one before."""
        last = getattr(seen, "time_s", None)
        moments = [after_s if last is None else last]

        def look() -> Any:
            time_s = moments[-1] if last is not None else self._now()
            try:
                found = self._observed(time_s + 1e-6)
            except _Refused as none:  # what was seen before is judged then
                raise InvalidObservation(str(none)) from none
            moments.append(getattr(found, "time_s", time_s))
            return found

        return look


def _stage(episode: _Episode, number: int) -> str:
    return episode.stages[number] if number < len(episode.stages) else ""

"""A session behind every transport: messages and reports in, requests out as fields of messages.

`take` and `submit` return at once and may be called from callbacks of any thread; one worker (`run`) does the work. No
transport is imported here.
"""

import math
import pickle
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from nsrecover.bridges.ros2 import answers
from nsrecover.bridges.ros2.answers import Fields
from nsrecover.bridges.ros2.buffer import BufferSettings, Incomplete, MessageBuffer
from nsrecover.bridges.ros2.codes import AnswerCode
from nsrecover.bridges.ros2.endpoints import DISCREPANCY, RECOVERY, STATE
from nsrecover.core import StepRecord
from nsrecover.core.sessions.requests import Act, Answer, Unusable
from nsrecover.core.sessions.settings import SessionSettings
from nsrecover.core.sessions.supervision import Listener
from nsrecover.errors import InvalidAction, InvalidPlan, NsrecoverError, OutOfTurn, UnknownObject, did_you_mean
from nsrecover.records.bags.images import Message
from nsrecover.records.bags.messages import PLAN, PlanDocument, plan_document, type_of
from nsrecover.records.reading import readable
from nsrecover.session import AnySession
from nsrecover.system import AnySystem
from nsrecover.util.atomic_write import atomic_write_bytes, read_private

WAITING = 4
"""Reports that may wait; more are answered with `busy`."""

IDLE_S = 0.02
"""How long the worker waits for a report before it looks at new images, seconds."""

REPORTS = ("observed", "failed", "answered", "waited", "stop")
"""What can be reported."""


@dataclass(frozen=True)
class CoreSettings:
    """Settings of the node; its parameters have the same names.

    Attributes:
        buffer: topics and times.
        session: of every session.
        wait_s: how long a report waits for a complete observation, seconds.
        kept_in: file that keeps the session for a node that is started again; "": none. It is private: a file
            that another user can write is refused, since it is unpickled.
    """

    buffer: BufferSettings = field(default_factory=BufferSettings)
    session: SessionSettings = field(default_factory=SessionSettings)
    wait_s: float = 5.0
    kept_in: str = ""


class _Refused(Exception):
    """A report that is answered with a code alone."""

    def __init__(self, code: AnswerCode, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass
class _Episode:
    """One plan, the session that carries it out, and the last answer."""

    text: str
    document: PlanDocument
    session: AnySession
    number: int = 0
    answer: Fields = field(default_factory=dict)

    @property
    def stages(self) -> tuple[str, ...]:
        """The stage of each action of the current plan; none for what a recovery has inserted."""
        stages, plan, inserted = self.document.stages, self.session.plan, self.session.num_inserted
        left = len(plan) - inserted
        return (*("" for _ in plan.actions[:inserted]), *stages[len(stages) - left :]) if stages else ()


class SessionCore(Listener):
    """Drives a session for a published plan.

    Args:
        system: from `nsrecover.load()`, `nsrecover.geometric()` or `nsrecover.symbolic()`.
        settings: see there.
        publish: called by the worker with a topic and the fields of its message.
        now: the clock of the stamps, seconds; the time of the system by default.
    """

    def __init__(
        self,
        system: AnySystem,
        settings: CoreSettings | None = None,
        publish: Callable[[str, Fields], None] = lambda topic, fields: None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.settings = settings or CoreSettings()
        self._system, self._publish, self._now = system, publish, now
        self._buffer = MessageBuffer(self.settings.buffer)
        self._plan_topic = self.settings.buffer.named(PLAN)
        self._news = threading.Condition()
        self._reports: queue.Queue[tuple[Fields, Future[Fields]]] = queue.Queue(WAITING)
        self._wanted, self._anew = "", False
        self._episode: _Episode | None = None
        self._stop = threading.Event()
        self._glanced_s = 0.0
        self.active = True
        if self.settings.kept_in and Path(self.settings.kept_in).exists():
            data = read_private(self.settings.kept_in)
            with readable(f"a session of this node in {self.settings.kept_in}", "delete the file to begin anew"):
                kept: _Episode = pickle.loads(data)
            self._episode, self._wanted = kept, kept.text

    @property
    def topics(self) -> tuple[str, ...]:
        """Every topic to subscribe to."""
        return (self._plan_topic, *self._buffer.topics)

    def kind_of(self, topic: str) -> str:
        """The type of the messages on one of its topics."""
        return type_of(PLAN) if topic == self._plan_topic else self._buffer.kind_of(topic)

    @property
    def session(self) -> AnySession | None:
        """The session of the last report; None before the first."""
        return None if self._episode is None else self._episode.session

    def take(self, topic: str, message: Message) -> None:
        """Take in a message; one that cannot be used is left out, and what lacks it says so later."""
        with self._news:
            if topic != self._plan_topic:
                with suppress(NsrecoverError):
                    self._buffer.take(topic, message, self._now())
            else:
                self._wanted, self._anew = message.data, True
            self._news.notify_all()

    def submit(self, report: Fields) -> Future[Fields]:
        """Report; the answer has the fields of the service's response, and never raises.

        Args:
            report: the fields of the service's request; `not_before` in seconds, 0 for now.
        """
        answer = Future[Fields]()
        if not self.active:
            answer.set_result(_refusal(AnswerCode.NOT_ACTIVE, "activate the node first"))
            return answer
        try:
            self._reports.put_nowait(({**report, "not_before": report.get("not_before") or self._now()}, answer))
        except queue.Full:
            answer.set_result(_refusal(AnswerCode.BUSY, f"{WAITING} reports are waiting"))
        return answer

    def run(self) -> None:
        """Answer reports, and watch the action that runs, until `stop` is called; for a thread of its own."""
        while not self._stop.is_set():
            try:
                report, answer = self._reports.get(timeout=IDLE_S)
            except queue.Empty:
                with suppress(
                    NsrecoverError
                ):  # such a frame is left out; the report after the action says what is wrong
                    self._glance()
                continue
            if answer.set_running_or_notify_cancel():
                answer.set_result(self._answered(report))

    def stop(self) -> None:
        """End `run`, a wait for an observation, and a search."""
        self._stop.set()
        with self._news:
            self._news.notify_all()

    def cancels(self) -> bool:
        """Whether the node ends."""
        return self._stop.is_set()

    def recorded(self, record: StepRecord[object]) -> None:
        """Publish a turn."""
        assert self._episode is not None
        stages = self._episode.stages
        self._send(DISCREPANCY, answers.discrepancy_fields(record, self._system.domain, stages))
        if record.recovery is not None:
            self._send(RECOVERY, answers.recovery_fields(record, stages))

    def _glance(self) -> None:
        """Look at the latest images of the action that runs; publish the request if it has to be stopped."""
        episode = self._episode
        if episode is None or self._system.during is None or not self.active:
            return
        if not isinstance(episode.session.request, Act):
            return
        with self._news:
            seen = self._buffer.glance(self._glanced_s)
        if seen is not None:
            self._glanced_s = math.nextafter(seen[0].time_s, math.inf)
            episode.session.glanced(*seen)
            if not isinstance(episode.session.request, Act):
                self._say(episode)

    def _answered(self, report: Fields) -> Fields:
        try:
            return self._answer(self._current(), report)
        except _Refused as refused:
            return _refusal(refused.code, str(refused))
        except OutOfTurn as problem:
            return _refusal(AnswerCode.INVALID_REPORT, str(problem))
        except (InvalidAction, InvalidPlan, UnknownObject) as problem:
            return _refusal(AnswerCode.INVALID_PLAN, str(problem))
        except NsrecoverError as problem:
            return _refusal(AnswerCode.INVALID_OBSERVATION, str(problem))
        except Exception as problem:
            return _refusal(AnswerCode.INTERNAL, f"{type(problem).__name__}: {problem}")

    def _current(self) -> _Episode:
        with self._news:  # after a restart the plan may arrive later than the first report
            self._news.wait_for(lambda: self._wanted or self._stop.is_set(), self.settings.wait_s)
            text, anew, self._anew = self._wanted, self._anew, False
        if not text:
            raise _Refused(
                AnswerCode.NO_PLAN, f"expected a plan on {PLAN}, found none; publish the actions, one a line"
            )
        episode = self._episode
        if episode is None or episode.text != text or (anew and episode.session.request.final):
            try:
                document = plan_document(text)
            except NsrecoverError as problem:
                raise _Refused(AnswerCode.INVALID_PLAN, str(problem)) from problem
            session = self._system.session(document.plan, settings=self.settings.session)
            self._episode = episode = _Episode(text, document, session)
        return episode

    def _answer(self, episode: _Episode, report: Fields) -> Fields:
        what, number, session = str(report.get("what", "")), int(str(report.get("reply_to", 0))), episode.session
        if what and number == episode.number - 1:
            return episode.answer  # it was lost
        if what and number != episode.number:
            raise _Refused(
                AnswerCode.OUT_OF_STEP,
                f"expected a report on answer {episode.number}, found one on {number}; an empty `what` asks "
                "where the session is; publish the plan with another `episode` to begin anew",
            )
        if what:
            session.listener = self
            self._report(session, what, str(report.get("text", "")), float(str(report["not_before"])))
            episode.number += 1
            self._glanced_s = self._now()
        return self._say(episode, kept=bool(what))

    def _say(self, episode: _Episode, kept: bool = True) -> Fields:
        """Make the answer of the session as it is now; keep and publish it."""
        session = episode.session
        episode.answer = {
            "code": AnswerCode.OK.value, "message": session.problem, "number": episode.number,
            "request": answers.request_fields(session, episode.stages),
        }  # fmt: skip
        if kept and self.settings.kept_in:
            atomic_write_bytes(self.settings.kept_in, pickle.dumps(episode), mode=0o600)
        found = session.records[-1].discrepancy if session.records else None
        self._send(STATE, {
            "number": episode.number, "request": episode.answer["request"],
            "plan": answers.plan_fields(session.plan, episode.stages), "done": session.num_executed,
            "verdict": "" if found is None else found.verdict.value,
        })  # fmt: skip
        return episode.answer

    def _report(self, session: AnySession, what: str, text: str, not_before: float) -> None:
        match what:
            case "observed":
                session.observed(*self._seen(not_before))
            case "failed":
                session.failed(text or "the robot did not end the action")
            case "answered" if text in tuple(Answer):
                session.answered(Answer(text))
            case "waited":
                session.waited()
            case "stop":
                session.stop(text)
            case _:
                known, found = (tuple(Answer), text) if what == "answered" else (REPORTS, what)
                expected = f"expected one of {', '.join(known)}, found {found!r}.{did_you_mean(found, known)}"
                raise _Refused(AnswerCode.INVALID_REPORT, expected)

    def _seen(self, after_s: float) -> tuple[object, float | None]:
        """Wait for a complete observation; what is missing if there is none in time."""
        until = time.monotonic() + self.settings.wait_s
        with self._news:
            while True:
                try:
                    seen = self._buffer.observation(after_s)
                except NsrecoverError as problem:
                    return Unusable(str(problem)), None
                if not isinstance(seen, Incomplete):
                    return seen
                left = until - time.monotonic()
                if left <= 0 or self._stop.is_set():
                    missing, limit_s = "; ".join(seen.missing[:3]), self.settings.wait_s
                    return Unusable(f"expected a complete observation within {limit_s:g} s, found: {missing}"), None
                self._news.wait(left)

    def _send(self, topic: str, fields: Fields) -> None:
        assert self._episode is not None
        header = answers.header(self._now(), self.settings.buffer.base_frame)
        self._publish(topic, {"header": header, "episode": self._episode.document.episode, **fields})


def _refusal(code: AnswerCode, message: str) -> Fields:
    return {"code": code.value, "message": message}

"""The agent: drives a session with a robot; see `nsrecover.session` for what it decides."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Generic

from nsrecover.core.actions import Action, Plan
from nsrecover.core.discrepancy import AnyDiscrepancy
from nsrecover.core.episode import AnyRecord, Decided, Episode, StepRecord, StopCode
from nsrecover.core.glances import RobotState
from nsrecover.core.observation import Observation
from nsrecover.core.protocols import AnyWorld, GlancingWorld, LookingWorld
from nsrecover.core.recovery import AnyRecovery
from nsrecover.core.scene import SceneT
from nsrecover.core.sessions.requests import Act, Answer, Ask, Decision, Look, Question, Stopped, Unusable
from nsrecover.core.sessions.settings import SessionSettings
from nsrecover.core.sessions.supervision import Listener, Supervisor
from nsrecover.errors import InvalidConfiguration, NsrecoverError
from nsrecover.monitoring.executing import ExecutionFailed, carry_out
from nsrecover.session import AnySession, Session
from nsrecover.system import System


class RecoveryAgent(Generic[SceneT]):
    """Executes a plan, detects deviations from the imagined scenes, and recovers onto the plan.

    Args:
        system: from `nsrecover.load()`, `nsrecover.geometric()` or `nsrecover.symbolic()`.
        world: a robot and its sensors. `observe` returns what `System.monitor` takes: camera images, scene graphs,
            boxes by name, or facts. If it also has a method `look` (`LookingWorld`), that is how the agent looks again.
        budget_s: planning time for one recovery, seconds.
        max_recoveries: recoveries in one episode before it asks for help.
        check_sensors: whether the first camera images are checked before anything moves, see `System.monitor`.
        confirm: a person's answer to the question whether to do the rest of a task of which a part is lost for good; by
            default that of the supervisor, and if it has none the agent asks for help instead.
        action_limit_s: time in which an action has to end, seconds; with a limit, actions run in threads of their own.
        supervisor: watches the run and may hold it up, see `nsrecover.serving.live`.
    """

    def __init__(
        self,
        system: System[SceneT],
        world: AnyWorld,
        budget_s: float | None = 1.0,
        max_recoveries: int | None = None,
        check_sensors: bool = True,
        confirm: Callable[[str], bool] | None = None,
        action_limit_s: float | None = None,
        supervisor: Supervisor | None = None,
    ) -> None:
        for part, kind, needs in ((system, "a system", ("session",)), (world, "a world", ("observe", "execute"))):
            if isinstance(part, type):
                raise InvalidConfiguration(f"expected an instance, found the class {part.__name__}; call it first")
            if missing := [name for name in needs if not callable(getattr(part, name, None))]:
                raise InvalidConfiguration(
                    f"expected {kind} with {' and '.join(f'{name}()' for name in needs)}, found {type(part).__name__} "
                    f"without {' and '.join(missing)}; give the system first, then the world"
                )
        if action_limit_s is not None and not action_limit_s > 0:
            raise InvalidConfiguration(f"expected action_limit_s above 0 seconds, or None, found {action_limit_s}")
        self.system, self.world = system, world
        self.supervisor = supervisor or Supervisor()
        self.settings = SessionSettings(budget_s, max_recoveries, check_sensors)
        self.confirm, self.action_limit_s = confirm, action_limit_s
        self._stopped, self._running, self._why = threading.Event(), threading.Lock(), ""

    def __getstate__(self) -> dict[str, object]:
        """What is pickled: an agent that does not run, without its supervisor, which belongs to this program."""
        return {**vars(self), "supervisor": None, "_stopped": None, "_running": None}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state, supervisor=Supervisor(), _stopped=threading.Event(), _running=threading.Lock())

    def stop(self, reason: str = "") -> None:
        """End the run before its next action; the next run, if there is none. May be called from any thread.

        Args:
            reason: of the end; empty: it says before which action.
        """
        self._why = reason
        self._stopped.set()
        self.supervisor.stops()

    def run(self, plan: Plan, on_record: Callable[[StepRecord[SceneT]], None] | None = None) -> Episode[SceneT]:
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
            InvalidConfiguration: this agent is running already.
        """
        return self.resume(self.session(plan), on_record)

    def session(self, plan: Plan) -> Session[SceneT]:
        """A session of this agent's settings, for `resume`.

        Raises:
            InvalidAction: the plan has an unknown operator or wrong arguments.
        """
        return self.system.session(plan, settings=replace(self.settings, approve=self.supervisor.approves))

    def resume(
        self, session: Session[SceneT], on_record: Callable[[StepRecord[SceneT]], None] | None = None
    ) -> Episode[SceneT]:
        """Carry out the rest of a session, such as one that was pickled before the program was restarted.

        Arguments, result and errors are those of `run`.
        """
        if not isinstance(session, Session):
            raise InvalidConfiguration(f"expected a session, found {type(session).__name__}; see System.session")
        if not self._running.acquire(blocking=False):
            raise InvalidConfiguration("expected an agent that is not running, found one in a run; make another agent")
        try:
            session.listener = _Telling(self.supervisor, on_record, self._stopped.is_set)
            began = not session.records and session.discrepancy is None
            since = time.monotonic() - session.time_s
            while not (request := session.request).final or self._helped(session):
                match request:
                    case Act(action):
                        self._act(session, action, since)
                    case Ask(decision):
                        self._decide(session, decision)
                    case Look() if self._stopped.is_set() and session.discrepancy is not None:
                        session.stop(self._why)
                    case Look():
                        self._observe(session, since)
                if began and session.discrepancy is not None:
                    began = False
                    self.supervisor.begins(self, plan=session.plan, start=session.episode.start)
            episode = session.episode
        finally:
            self._stopped.clear()
            self._running.release()
        self.supervisor.ended(episode)
        return episode

    def _helped(self, session: Session[SceneT]) -> bool:
        """Whether a person has put right what the session stopped for, so that it goes on."""
        match session.request:
            case Stopped(why) as stopped if why is not StopCode.STOPPED and session.discrepancy is not None:
                decided = self.supervisor.helps(stopped)
                if decided is not None and not self._stopped.is_set():
                    session.repaired(decided.by)
                    return True
        return False

    def _act(self, session: Session[SceneT], action: Action, since: float) -> None:
        """Carry out an action and observe its result, unless the run was stopped or held up before it."""
        if self.supervisor.held(action):
            session.waited()
            return
        if self._stopped.is_set():
            session.stop(self._why)
            return
        try:
            carry_out(self._execute(session), action, self.action_limit_s)
        except ExecutionFailed as problem:
            session.failed(str(problem))
        else:
            self._observe(session, since)

    def _execute(self, session: Session[SceneT]) -> Callable[[Action], None]:
        """What carries out an action; it is watched meanwhile, if the world can show it and the system can judge it."""
        world = self.world
        if self.system.during is None or not isinstance(world, GlancingWorld):
            return self.world.execute

        def glance(observation: Observation, robot: RobotState) -> bool:
            session.glanced(observation, robot)
            return isinstance(session.request, Act)

        return lambda action: world.execute_watched(action, glance)

    def _observe(self, session: Session[SceneT], since: float) -> None:
        seen = seen_for(session, self.world)
        if not isinstance(seen, Unusable):
            self.supervisor.observes(seen)
        session.observed(seen, time.monotonic() - since)

    def _decide(self, session: Session[SceneT], decision: Decision[SceneT]) -> None:
        """Ask a person, unless the run is stopped before there is an answer."""
        if decision.question is Question.GIVE_UP and self.confirm is not None:
            answer: Answer | Decided = Answer.YES if self.confirm(decision.text) else Answer.NO
        else:
            answer = self.supervisor.decides(decision)
        if self._stopped.is_set():
            session.stop(self._why or "it was stopped while a recovery waited for a person")
        else:
            session.answered(answer)


def seen_for(session: AnySession, world: AnyWorld) -> object:
    """What a session asks to see.

    Args:
        session: it has asked for an action, which is done, or to look.
        world: a robot; if it can go and look (`LookingWorld`), it does so when the session looks again.

    Returns:
        The observation; `Unusable` if the sensors raise an error, which is logged.
    """
    try:
        match session.request:
            case Look(names) if session.discrepancy is not None and isinstance(world, LookingWorld):
                return world.look(names)
            case _:
                return world.observe()
    except Exception as problem:
        if not isinstance(problem, NsrecoverError):
            logging.getLogger("nsrecover.agent").exception("the sensors raised an error")
        kind = type(problem).__name__
        return Unusable(f"expected an observation, found an error of the world: {kind}: {problem}")


class _Telling(Listener):
    """Passes on what happens in a session to a supervisor, and records to a function."""

    def __init__(
        self, to: Supervisor, on_record: Callable[[AnyRecord], None] | None, cancels: Callable[[], bool]
    ) -> None:
        self._to, self._on_record, self._cancels = to, on_record, cancels

    def compares(self, discrepancy: AnyDiscrepancy) -> None:
        """Pass it on."""
        self._to.compares(discrepancy)

    def improves(self, recovery: AnyRecovery) -> None:
        """Pass it on."""
        self._to.improves(recovery)

    def turned(self, record: AnyRecord) -> None:
        """Pass it on."""
        self._to.turned(record)

    def reconsiders(self, record: AnyRecord) -> None:
        """Pass it on."""
        self._to.reconsiders(record)

    def recorded(self, record: AnyRecord) -> None:
        """Pass it on."""
        self._to.recorded(record)
        if self._on_record is not None:
            self._on_record(record)

    def cancels(self) -> bool:
        """Whether the run was stopped."""
        return self._cancels()

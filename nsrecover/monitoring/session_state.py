"""What a session knows: its plan, what was asked for last, and the episode so far."""

from __future__ import annotations

import math
from dataclasses import replace
from enum import Enum, auto
from typing import Any, Generic

from nsrecover.core.actions import Plan
from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.episode import Decided, Episode, EpisodeStatus, StepRecord, StopCode
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneT
from nsrecover.core.sessions.requests import Look, Request, Stopped
from nsrecover.core.sessions.settings import SessionSettings
from nsrecover.core.sessions.supervision import Listener
from nsrecover.errors import OutOfTurn
from nsrecover.monitoring.clock import Clock
from nsrecover.monitoring.monitor import Monitor
from nsrecover.monitoring.parts import Parts


class Purpose(Enum):
    """What the next observation is for."""

    START = auto()
    CHECK = auto()
    """The scene has to be observed again before an action."""
    ANEW = auto()
    """A person has changed the scene that was judged."""
    JUDGE = auto()
    """An action was executed."""
    CONFIRM = auto()
    """A verdict has to be settled."""
    FINISH = auto()
    """Parts of the goal must be observed."""


class SessionState(Generic[SceneT]):
    """The state of a `nsrecover.session.Session`, which has the policy.

    Args:
        system: with its parts.
        plan: what will be done.
        settings: of the session.
        listener: follows the session.

    Raises:
        InvalidAction: the plan has an unknown operator or wrong arguments.
        InvalidPlan: it is no plan.
    """

    def __init__(self, system: Parts[SceneT], plan: Plan, settings: SessionSettings, listener: Listener) -> None:
        system.check_plan(plan)
        self.system, self.settings, self.listener = system, settings, listener
        self._plan = plan
        self._monitor: Monitor[SceneT] | None = None
        self._request: Request[SceneT] = Look()
        self._stage, self._attempts, self._executed, self._kept = Purpose.START, 0, False, False
        self._turn: StepRecord[SceneT] | None = None
        self._vetoed: tuple[Recovery[SceneT], ...] = ()
        self._records: list[StepRecord[SceneT]] = []
        self._recovering, self._stopped = 0, False
        self._start: SceneT | None = None
        self._start_s, self._clock = 0.0, Clock()
        self.problem = ""
        """Why the last observation could not be used; empty if it could."""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "listener": Listener()}

    @property
    def request(self) -> Request[SceneT]:
        """What to do next."""
        return self._request

    @property
    def plan(self) -> Plan:
        """The current plan: the recovery, if there is one, then what is left of the given plan."""
        return self._plan if self._monitor is None else self._monitor.plan

    @property
    def num_executed(self) -> int:
        """How many actions of the current plan are done."""
        return 0 if self._monitor is None else self._monitor.num_executed

    @property
    def num_inserted(self) -> int:
        """How many of the first actions of the current plan belong to a recovery."""
        return self._recovering

    @property
    def monitor(self) -> Monitor[SceneT]:
        """The monitor of the plan.

        Raises:
            OutOfTurn: there was no observation that could be used.
        """
        if self._monitor is None:
            raise OutOfTurn("expected a session with an observation, found none; report one with observed()")
        return self._monitor

    @property
    def scene(self) -> SceneT | None:
        """The scene as it was seen last; None before the first observation."""
        return None if self._monitor is None else self._monitor.graph

    @property
    def time_s(self) -> float:
        """Time of the last observation, by the clock of the observations, seconds."""
        return max(self._clock.time_s, 0.0) if math.isinf(self._clock.time_s) else self._clock.time_s

    @property
    def discrepancy(self) -> Discrepancy[SceneT] | None:
        """The last comparison; None before the first one of the current plan."""
        return None if self._monitor is None else self._monitor.last_found

    @property
    def records(self) -> tuple[StepRecord[SceneT], ...]:
        """The turns so far."""
        return tuple(self._records)

    @property
    def episode(self) -> Episode[SceneT]:
        """What has happened so far.

        Raises:
            OutOfTurn: there was no observation that could be used.
        """
        if self._start is None:
            raise OutOfTurn("expected a session with an observation, found none; report one with observed()")
        request, status, reason, why = self._request, EpisodeStatus.RUNNING, "", None
        if self.settings.reviews:
            status = EpisodeStatus.REVIEWED
        elif isinstance(request, Stopped):
            status, reason, why = EpisodeStatus.ASKED_FOR_HELP, request.reason, request.why
        elif request.final:
            status = EpisodeStatus.COMPLETED
        return Episode(self._plan, status, reason, self._start, self.records, self._start_s, why)

    def _look(self, stage: Purpose, names: tuple[str, ...] = ()) -> None:
        self._stage, self._attempts, self._request = stage, 0, Look(names)

    def _keep(self, turn: StepRecord[SceneT]) -> None:
        """Add a turn to the episode; it is over."""
        self._turn, self._kept, self._vetoed = None, True, ()
        self._records.append(turn)
        self.listener.recorded(turn)

    def _stop(self, why: StopCode, reason: str) -> None:
        if self._turn is not None:
            self._keep(self._turn)
        self._request = Stopped(why, reason)

    def _note(self, decided: Decided) -> None:
        """Add what a person decided to the last turn, if there is one."""
        if self._records:
            last = self._records[-1]
            self._records[-1] = replace(last, decided=(*last.decided, decided))

    def _where_stopped(self) -> str:
        action = self._monitor.next_action if self._monitor is not None else None
        return f"it was stopped before {action}" if action is not None else "it was stopped"

    def _expect(self, *kinds: type) -> None:
        if not isinstance(self._request, kinds):
            raise OutOfTurn(
                f"expected the answer to a request to {self._request.code}, found another one; see session.request"
            )

    def _is_recovering(self) -> bool:
        step = self.monitor.num_executed - (1 if self._executed else 0)
        return step < self._recovering

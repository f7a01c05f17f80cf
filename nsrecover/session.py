"""The main path as a state machine without input or output: what a robot should do next, from what was observed.

    session = system.session(plan, world.observe())
    while not (request := session.request).final:
        match request:
            case Act(action):
                world.execute(action)
                session.observed(world.observe())
            case Look(names):
                session.observed(world.look(names))
            case Ask(decision):
                session.answered(person.decide(decision))
    session.episode

The turns of the loop are here, what they depend on is in `nsrecover.policy`: which observations count, when to stop
repeating, what a veto leads to, and when a plan is done. A session never sleeps, reads a clock, prints or starts a
thread. It can be pickled between two calls; after a restart it looks before it acts.
"""

from __future__ import annotations

import math
from dataclasses import replace
from enum import Enum, auto
from typing import Any, Generic, cast

from nsrecover.core.actions import Action, Plan
from nsrecover.core.discrepancy import Discrepancy, Phase
from nsrecover.core.entrance import check_kind
from nsrecover.core.episode import Decided, Episode, EpisodeStatus, Fate, StepRecord, StopCode
from nsrecover.core.glances import RobotState
from nsrecover.core.observation import Observation
from nsrecover.core.protocols import OtherWays
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneT
from nsrecover.core.sessions import requests
from nsrecover.core.sessions.requests import (
    Act,
    Answer,
    Ask,
    Decision,
    Done,
    Interrupt,
    Look,
    Question,
    Request,
    Stopped,
)
from nsrecover.core.sessions.settings import SessionSettings
from nsrecover.core.sessions.supervision import Listener
from nsrecover.errors import InvalidConfiguration, InvalidObservation, OutOfTurn, UnknownObject
from nsrecover.explanation.unseen import missing_texts
from nsrecover.monitoring.during import During
from nsrecover.monitoring.monitor import Monitor
from nsrecover.monitoring.parts import Parts
from nsrecover.policy.goal import at_the_end
from nsrecover.policy.looking import Clock
from nsrecover.policy.stopping import most_recoveries, proposal, repeated, why_stop
from nsrecover.policy.vetoes import other_way


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


class Session(Generic[SceneT]):
    """Says what to do next so that a plan is carried out, and recovers it; see the module.

    Args:
        system: from `nsrecover.load()`, `nsrecover.geometric()` or `nsrecover.symbolic()`.
        plan: what will be done.
        observation: what is seen before its first action; None: the first request is to look.
        settings: see there.
        perceiver: converts observations of other types, see `System.monitor`.
        listener: follows the session.

    Raises:
        InvalidAction: the plan has an unknown operator or wrong arguments.
        InvalidPlan: it is no plan.
    """

    def __init__(
        self,
        system: Parts[SceneT],
        plan: Plan,
        observation: object = None,
        settings: SessionSettings | None = None,
        *,
        perceiver: object = None,
        listener: Listener | None = None,
    ) -> None:
        if not isinstance(settings, SessionSettings | None):
            raise InvalidConfiguration(f"expected nsrecover.session.SessionSettings, found {type(settings).__name__}")
        system.check_plan(plan)
        self.system, self.settings, self.listener = system, settings or SessionSettings(), listener or Listener()
        self._plan, self._perceiver = plan, perceiver
        self._monitor: Monitor[SceneT] | None = None
        self._request: Request[SceneT] = Look()
        self._stage, self._attempts, self._executed, self._kept = Purpose.START, 0, False, False
        self._turn: StepRecord[SceneT] | None = None
        self._vetoed: tuple[Recovery[SceneT], ...] = ()
        self._records: list[StepRecord[SceneT]] = []
        self._helped_at = 0
        self._recovering, self._stopped, self._searching = 0, False, False
        self._start: SceneT | None = None
        self._start_s, self._clock = 0.0, Clock()
        self._during: During | None = None
        self.problem = ""
        """Why the last observation could not be used; empty if it could."""
        self.same_program = False
        """Set before it is pickled for another process of a program that goes on: no look is needed afterwards."""
        if observation is not None:
            self.observed(observation)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "listener": Listener()}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        if not self.same_program and isinstance(self._request, Act | Interrupt | Ask):
            # whether the action was done, and what happened since, is not known
            self._turn, self._during = None, None
            self._look(Purpose.CHECK if isinstance(self._request, Act | Interrupt) else Purpose.ANEW)
        self.same_program = False

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

    def observed(self, observation: object, time_s: float | None = None) -> None:
        """Report what is seen after an action, or after a request to look.

        An observation that cannot be used is asked for again, some times at most.

        Args:
            observation: camera images, boxes or a scene graph, or facts; of the same type every time.
            time_s: when it was made, by a clock that is never set back, seconds; not needed for camera images, which
                have a time of their own.

        Raises:
            OutOfTurn: no observation was asked for.
            InvalidObservation: the first observation and further attempts, or one that is reviewed, cannot be used.
            UnknownObject: they do not show an object of the plan.
        """
        self._expect(Act, Interrupt, Look)
        self.problem = ""
        if isinstance(self._request, Act | Interrupt):
            self._stage, self._executed, self._attempts = Purpose.JUDGE, True, 0
            self._stopped = isinstance(self._request, Interrupt)
        last_s = self._clock.time_s
        try:
            self._clock.take(observation, time_s)
            self._taken(observation)
        except (InvalidObservation, UnknownObject) as problem:
            self._clock.time_s = last_s  # a frame that cannot be used does not count
            self._unusable(problem)

    def glanced(self, observation: Observation, robot: RobotState) -> None:
        """Report what is seen while an action runs; the request becomes `Interrupt` if the action should be stopped.

        Args:
            observation: camera images, made at any rate.
            robot: what the robot knew of itself then.

        Raises:
            OutOfTurn: no action was asked for.
            InvalidConfiguration: the system has no `during`, or its perceiver cannot be copied.
            InvalidObservation: one of them is something else.
        """
        self._expect(Act, Interrupt)
        check_kind(observation, Observation, "camera images")
        check_kind(robot, RobotState, "the state of the robot")
        if isinstance(turn := self._request, Act):
            if self._during is None or self._during.turn is not turn:
                self._during = During(self.system.during, self.monitor, turn, observation.time_s, self._during)
            if (name := self._during.glanced(observation, robot)) is not None:
                self._request = Interrupt(turn.action, name)

    def failed(self, problem: str) -> None:
        """Report that the robot did not end an action.

        Report sensors that gave no observation by `observed(Unusable(problem))`.

        Args:
            problem: what happened; it becomes the reason of the end.

        Raises:
            OutOfTurn: no action was asked for.
        """
        self._expect(Act, Interrupt)
        self._stop(StopCode.EXECUTION_FAILED, problem)

    def answered(self, answer: Answer | bool | Decided) -> None:
        """Report a person's answer; true and false stand for yes and no, `Decided` says whose it is.

        Raises:
            OutOfTurn: nothing was asked.
            InvalidConfiguration: it is no answer.
        """
        self._expect(Ask)
        decided = requests.decided_by(answer)
        assert isinstance(self._request, Ask)
        assert self._turn is not None
        turn, decision = replace(self._turn, decided=(*self._turn.decided, decided)), self._request.decision
        if decided.answer == Answer.LOOK_AGAIN:
            self._keep(turn)
            self._helped_at = len(self._records)  # it is not the robot that failed to put this right
            self._look(Purpose.ANEW)
        elif decision.question is Question.GIVE_UP:
            closest = decision.recovery
            taken = decided.answer == Answer.YES
            self._decided(replace(turn, **({"recovery": closest} if taken else {"vetoed": (*turn.vetoed, closest)})))
        elif decided.answer == Answer.YES:
            self._follow(turn)
        else:
            self._vetoed = (*self._vetoed, decision.recovery)
            self._other_way(turn)

    def repaired(self, by: str = "") -> None:
        """Report that a person has put right what the session stopped for: it looks, and goes on.

        Raises:
            OutOfTurn: the session has not stopped.
        """
        self._expect(Stopped)
        assert isinstance(self._request, Stopped)
        self._note(Decided(Answer.LOOK_AGAIN, by))
        self._helped_at = len(self._records)
        stages = {StopCode.EXECUTION_FAILED: Purpose.CHECK, StopCode.NO_OBSERVATION: self._stage}
        unseen = self._stage is Purpose.START or (self._stage is Purpose.JUDGE and self._executed and not self._kept)
        self._look(stages.get(self._request.why, self._stage if unseen else Purpose.ANEW))

    def waited(self) -> None:
        """Report that time has passed since the last observation, before an action: the scene is looked at again.

        Raises:
            OutOfTurn: no action was asked for.
        """
        self._expect(Act)
        self._look(Purpose.CHECK)

    def resumed(self) -> None:
        """Go on from the comparison to the search, after `Listener.searches` has ended `observed` by an exception.

        Raises:
            OutOfTurn: no search was ended so.
        """
        if not self._searching:
            raise OutOfTurn("expected a search that an exception has ended, found none; see session.request")
        self._conclude(self.monitor.found)

    def stop(self, reason: str = "") -> None:
        """End the session; a session that has ended stays as it is."""
        if not self._request.final:
            self._stop(StopCode.STOPPED, reason or self._where_stopped())

    def with_plan(self, plan: Plan) -> Session[SceneT]:
        """A session for another plan, from the scene as it was seen last; this one is not to be used any more.

        Raises:
            InvalidAction: the plan has an unknown operator or wrong arguments.
            UnknownObject: it names an object that is not in the scene.
        """
        fresh = Session(self.system, plan, None, self.settings, perceiver=self._perceiver, listener=self.listener)
        if self._monitor is not None:
            self._monitor.set_plan(plan)
            fresh._monitor, fresh._start, fresh._clock = self._monitor, self._monitor.graph, self._clock
            fresh._start_s = fresh.time_s
            fresh._next_turn()
        return fresh

    def _taken(self, observation: object) -> None:
        """Use an observation for what it was made for."""
        match self._stage:
            case Purpose.START:
                self._monitor = self.system.monitor(
                    self._plan, observation, self._perceiver, check_sensors=self.settings.check_sensors,
                    certainty=self.settings.certainty,
                )  # fmt: skip
                self._start, self._start_s = self._monitor.graph, self.time_s
                self._next_turn()
                return
            case Purpose.CHECK:
                self.monitor.check(observation)
            case Purpose.ANEW:
                self.monitor.judge_anew(observation)
            case Purpose.JUDGE:
                self.monitor.step(cast(Action, self.monitor.next_action), observation)
            case Purpose.FINISH if self.monitor.last_found is None:
                self.monitor.saw(observation)
            case Purpose.CONFIRM | Purpose.FINISH:
                self.monitor.look_again(observation)
        if self._stage is Purpose.FINISH:
            self._attempts += 1
            if self.monitor.last_found is None or not self.monitor.found.deviates:
                self._finish()
                return
        self._settle()

    def _unusable(self, problem: InvalidObservation | UnknownObject) -> None:
        """Ask for another observation, or end if there were too many that cannot be used."""
        self.problem, most = str(problem), self.settings.max_unusable
        if self._stage is Purpose.CONFIRM and not self.monitor.found.deviates:
            self.monitor.look_failed()
            self._settle()
            return
        self._attempts = most if self.settings.reviews else self._attempts + 1
        if self._attempts < most:
            self._request = self._request if isinstance(self._request, Look) else Look()
        elif self._stage is Purpose.START or self.settings.reviews:
            raise problem
        elif self._stage is Purpose.FINISH:
            self._finish()
        else:
            judged = self._executed and self._stage is not Purpose.JUDGE
            action = self.monitor.found.action if judged else self.monitor.next_action
            when = "after" if self._executed else "before"
            self._stop(StopCode.NO_OBSERVATION, f"the scene {when} {action} cannot be judged: {problem}")

    def _next_turn(self) -> None:
        """Check the next action, or finish if there is none."""
        self._executed, self._kept, self._turn = False, False, None
        action = self.monitor.next_action
        if action is None:
            self._attempts = 0
            self._finish()
        elif self.settings.reviews:
            self._request = Act(action)
        else:
            self.monitor.check()
            self._settle()

    def _settle(self) -> None:
        """Look again until the verdict is settled, then draw the conclusion."""
        names = self.monitor.wanted
        if names is not None and not self.settings.reviews:
            self._look(Purpose.CONFIRM, names)
            return
        found = self.monitor.found
        if not found.as_expected or self._executed:
            self._conclude(found)
        elif (action := self.monitor.next_action) is None:
            self._finish()
        else:
            self._request = Act(action)

    def _conclude(self, found: Discrepancy[SceneT]) -> None:
        """Find the recovery if something deviates; the turn is over unless a person has to decide."""
        if self._stopped:
            found, self._stopped = self.monitor.stopped(), False
            self._executed = found.phase is Phase.AFTER
            if not self._executed:
                self._settle()
                return
        self.listener.compares(found)
        recovery = self._recovery(found) if found.deviates else None
        self._searching = False
        if recovery is not None and not recovery.found and self.listener.cancels():
            self._look(Purpose.ANEW)  # a search that was cut short proves nothing
            return
        turn = self._judged(found, recovery)
        if recovery is not None and recovery.closest is not None and not self.settings.reviews:
            self._turn = turn
            text = proposal(recovery, self.system.domain)
            self._request = Ask(Decision(Question.GIVE_UP, recovery.closest, turn.plan, text))
            return
        self._decided(turn)

    def _judged(self, found: Discrepancy[SceneT], recovery: Recovery[SceneT] | None = None) -> StepRecord[SceneT]:
        action = found.action if self._executed and not self._kept else None  # counted once
        return StepRecord(
            action=action, recovering=self._is_recovering(), graph=self.monitor.graph, discrepancy=found,
            plan=self.monitor.plan, recovery=recovery, time_s=self.time_s,
        )  # fmt: skip

    def _recovery(self, found: Discrepancy[SceneT]) -> Recovery[SceneT]:
        monitor, planner, seen = self.monitor, self.system.planner, found.observed
        budget_s, cancels = self.settings.budget_s, self.listener.cancels
        recovery = monitor.accepted()
        self._searching = True
        if recovery is None:
            self.listener.searches()
            recovery = planner.recover(
                seen, monitor.trace, found, budget_s=budget_s, on_improvement=self.listener.improves, cancelled=cancels
            )
        if repeated(found, recovery, self._records[self._helped_at :]) and isinstance(planner, OtherWays):
            self.listener.searches()
            other = planner.otherwise(seen, monitor.trace, found, budget_s=budget_s, cancelled=cancels)
            return cast("Recovery[SceneT] | None", other) or recovery
        return recovery

    def _decided(self, turn: StepRecord[SceneT]) -> None:
        """Explain a turn, and go on, ask for approval, or stop."""
        found, recovery = turn.discrepancy, turn.recovery
        if not found.as_expected:
            turn = replace(turn, explanation=self.system.explainer(found, recovery))
        self.listener.turned(turn)
        if recovery is None or self.settings.reviews:
            self._go_on(turn)
        elif (stopped := self._why_stop(turn)) is not None:
            self._keep(turn)
            self._request = stopped
        elif self.settings.approve:
            self._ask_approval(turn)
        else:
            self._follow(turn)

    def _why_stop(self, turn: StepRecord[SceneT]) -> Stopped | None:
        most = most_recoveries(self.settings, len(self._plan))
        earlier = self._records[self._helped_at :]
        return why_stop(turn, earlier, most, self.settings.certainty.hopeless, self.system.domain)

    def _go_on(self, turn: StepRecord[SceneT]) -> None:
        """After a turn without deviation: next action, unless what it needs was not seen."""
        self._keep(turn)
        if self._executed:
            self._next_turn()
            return
        missing = "; ".join(missing_texts(turn.discrepancy))
        self._stop(StopCode.CANNOT_TELL, f"the conditions of {turn.discrepancy.action} cannot be checked: {missing}")

    def _ask_approval(self, turn: StepRecord[SceneT]) -> None:
        assert turn.recovery is not None
        self._turn = turn
        text = turn.explanation.text if turn.explanation is not None else ""
        self._request = Ask(Decision(Question.APPROVE, turn.recovery, turn.plan, text))

    def _other_way(self, turn: StepRecord[SceneT]) -> None:
        """After a veto, ask about another recovery; stop if there is none."""
        found = turn.discrepancy
        planner, cancels = self.system.planner, self.listener.cancels
        self.listener.searches()
        other = other_way(planner, self.monitor.trace, found, self._vetoed, self.settings, cancels)
        if not isinstance(other, str):
            turn = replace(turn, recovery=other, explanation=self.system.explainer(found, other), vetoed=self._vetoed)
            self.listener.reconsiders(turn)
            self._ask_approval(turn)
        elif cancels():
            self._turn = None
            self._look(Purpose.ANEW)  # as in `_conclude`
        else:
            self._keep(replace(turn, fate=Fate.VETOED))
            self._stop(StopCode.VETOED, other)

    def _follow(self, turn: StepRecord[SceneT]) -> None:
        """Take the recovery of a turn."""
        assert turn.recovery is not None
        self._keep(replace(turn, fate=Fate.ACCEPTED))
        left = self._recovering - turn.recovery.resumes_at(len(turn.plan))
        self.monitor.rejoin(turn.recovery)
        self._recovering = len(turn.recovery.actions) + max(left, 0)
        self._next_turn()

    def _finish(self) -> None:
        """End; parts of the goal that were not seen since they may have changed are looked for first."""
        if self.settings.reviews:
            self._request = Done()
            return
        self._attempts = max(self._attempts, 1)
        self._request = at_the_end(self.monitor, self._attempts, self.settings, self.system.domain)
        if isinstance(self._request, Look):
            self._stage = Purpose.FINISH

    def _look(self, stage: Purpose, names: tuple[str, ...] = ()) -> None:
        self._stage, self._attempts, self._request = stage, 0, Look(names)

    def _keep(self, turn: StepRecord[SceneT]) -> None:
        """Add a turn to the episode; it is over."""
        self._turn, self._kept, self._vetoed = None, True, ()
        self._records.append(turn)
        self.listener.recorded(turn)

    def _stop(self, why: StopCode, reason: str) -> None:
        if self._turn is None and self._stage is Purpose.CONFIRM and self._executed and not self._kept:
            self._turn = self._judged(self.monitor.found)  # what was seen is kept, though it is not confirmed
        if self._turn is not None:
            self._keep(self._turn)
        self._request = Stopped(why, reason)

    def _note(self, decided: Decided) -> None:
        """Add what a person decided to the last turn, if there is one."""
        if self._records:
            last = self._records[-1]
            self._records[-1] = replace(last, decided=(*last.decided, decided))

    def _where_stopped(self) -> str:
        if self._stage is Purpose.CONFIRM and self._executed and not self._kept:
            return f"it was stopped before it was sure how {self.monitor.found.action} has ended"
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


AnySession = Session[Any]
"""A session for scenes of any type."""

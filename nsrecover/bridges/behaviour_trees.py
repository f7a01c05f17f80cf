"""A behaviour for py_trees that carries out a plan and recovers it: it does what a session asks for.

    follow = FollowPlan(nsrecover.load().session(plan), my_world)
    tree = py_trees.trees.BehaviourTree(follow)
    while tree.root.status not in (Status.SUCCESS, Status.FAILURE):
        tree.tick()

`nsrecover.session` decides; docs/integrations.md shows how to use the behaviour in trees of your own.

Needs py_trees: `pip install 'nsrecover[py-trees]'`.
"""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from functools import partial

from nsrecover.agent import seen_for
from nsrecover.core import Action, Discrepancy, Observation, Recovery
from nsrecover.core.glances import RobotState
from nsrecover.core.protocols import World
from nsrecover.core.sessions.requests import Act, Answer, Ask, Decision, Done, Interrupt, Look, Stopped
from nsrecover.core.sessions.supervision import Listener, Supervisor
from nsrecover.monitoring.executing import ExecutionFailed, carry_out
from nsrecover.session import AnySession
from nsrecover.util.english import counted
from nsrecover.util.extras import needs_extra

with needs_extra("py-trees", "py_trees"):
    from py_trees.behaviour import Behaviour
    from py_trees.common import Access, Status

KEYS = ("plan", "request", "verdict", "culprits", "causes", "reason")
"""The keys on the blackboard."""


class FollowPlan(Behaviour):
    """Drives a session: RUNNING until it ends, then SUCCESS if the goal was seen to hold, else FAILURE.

    Observations are made, and actions begun, in the thread that ticks. Each observation is judged, and a recovery
    searched for, in another thread. An interruption stops the action or the search; ticked again, the behaviour looks
    at the scene first and goes on.

    On the blackboard, under `namespace`: `plan` (the actions that are left, as text), `request` (code of what the
    session asks for), `verdict` (of the last turn, "" before the first), `culprits` (names), `causes` (name -> code of
    `nsrecover.core.Cause`) and `reason` (why the session has stopped, or "").

    Args:
        session: from `System.session`.
        world: takes observations, and carries out actions unless `act` is given.
        act: makes the behaviour that carries out an action; its end is the end of the motion, SUCCESS or FAILURE alike,
            and what is seen then decides. If the robot does not end the motion, it raises `ExecutionFailed`. By default
            the world carries the action out within one tick.
        decide: called at every tick while a person is asked; returns the answer once there is one. By default every way
            back is taken, and nothing given up.
        glance: called at every tick while the behaviour of an action runs; returns what is seen, and what the robot
            knows of itself, for `Session.glanced`; or None. If the session asks to interrupt the action, its behaviour
            is stopped, and the scene looked at.
        name: name of the behaviour.
        namespace: on the blackboard, another one for each behaviour.
    """

    def __init__(
        self,
        session: AnySession,
        world: World[object],
        act: Callable[[Action], Behaviour] | None = None,
        decide: Callable[[Decision[object]], Answer | bool | None] | None = None,
        glance: Callable[[], tuple[Observation, RobotState] | None] | None = None,
        name: str = "follow the plan",
        namespace: str = "nsrecover",
    ) -> None:
        super().__init__(name)
        self._world, self._act = world, act or partial(_Execute, world)
        self._decide, self._glance = decide or Supervisor().decides, glance
        self._board = self.attach_blackboard_client(name=f"{name} in {namespace}", namespace=namespace)
        for key in KEYS:
            self._board.register_key(key, access=Access.WRITE)
        self._judging: _Judging | None = None
        self._given: dict[str, object] = {}
        self.reset(session)

    def reset(self, session: AnySession) -> None:
        """Begin or resume another session; the one before is left as it is."""
        if self.status is not Status.INVALID:
            self.stop(Status.INVALID)
        if self._judging is not None:
            wait([self._judging.ended])
        self.session, self._judging, self._found = session, None, session.discrepancy
        self._interrupted = False
        self._stop_reason: str | None = None
        self._since = time.monotonic() - session.time_s
        self._publish()

    def setup(self, **given: object) -> None:
        """Keep what the tree is set up with, such as `node=...`, for the skills that `act` makes."""
        self._given = given

    def stop_session(self, reason: str = "") -> None:
        """End the session at the next tick, before its next action; may be called from any thread."""
        self._stop_reason = reason
        if self._judging is not None:
            self._judging.cancel()

    def tick(self) -> Iterator[Behaviour]:
        """Tick the behaviour of the action that is carried out, then this one."""
        try:
            for child in self.children:
                yield from child.tick()
        except ExecutionFailed as problem:
            self._drop_action()
            self.session.failed(str(problem))
        yield from super().tick()

    def update(self) -> Status:
        """Do what the session asks for."""
        if self._judging is not None:
            judging, ended = self._judging, self._judging.ended.done()
            self._found = judging.found  # after `ended`, since the thread finds first and ends then
            if not ended:
                self.feedback_message = judging.progress
                self._tell()
                return Status.RUNNING
            self._judging = None
            judging.ended.result()
        session = self.session
        if self._stop_reason is not None:
            self._drop_action()
            session.stop(self._stop_reason)
        elif self._interrupted and isinstance(session.request, Act):
            session.waited()
        self._interrupted = False
        status = self._serve(session)
        self._publish()
        return status

    def terminate(self, new_status: Status) -> None:
        """Stop the action or the search after an interruption."""
        if new_status is Status.INVALID:
            self._interrupted = True
            self._drop_action()
            if self._judging is not None:
                self._judging.cancel()

    def _serve(self, session: AnySession) -> Status:
        match session.request:
            case Act(action) if not self.children:
                self.children = [self._act(action)]
                self.children[0].parent = self
                for node in self.children[0].iterate():  # py_trees sets up what is there before the first tick only
                    node.setup(**self._given)
            case Act() if self.children[0].status is Status.RUNNING:
                if self._glance is not None and (seen := self._glance()) is not None:
                    session.glanced(*seen)
                    if isinstance(session.request, Interrupt):
                        self._drop_action()
            case Act() | Look() | Interrupt():
                self._drop_action()
                after = seen_for(session, self._world)
                self._judge(partial(session.observed, after, time.monotonic() - self._since))
            case Ask(decision):
                answer = self._decide(decision)
                if answer is not None:
                    self._judge(partial(session.answered, answer))
            case Done():
                return Status.SUCCESS
            case Stopped():
                return Status.FAILURE
        return Status.RUNNING

    def _judge(self, report: Callable[[], None]) -> None:
        self._judging = _Judging(self.session, report, self._found)

    def _drop_action(self) -> None:
        for child in self.children:
            if child.status is Status.RUNNING:
                child.stop(Status.INVALID)
        self.children = []

    def _publish(self) -> None:
        """Write the blackboard; not while another thread works with the session."""
        if self._judging is None:
            session, request = self.session, self.session.request
            self._board.plan = tuple(map(str, session.plan.actions[session.num_executed :]))
            self._board.request = request.code
            self._board.reason = request.reason if isinstance(request, Stopped) else ""
            self.feedback_message = self._board.reason or f"{counted(len(self._board.plan), 'action')} left"
        self._tell()

    def _tell(self) -> None:
        found = self._found
        self._board.verdict = "" if found is None else found.verdict.value
        self._board.culprits = () if found is None else found.deviating
        self._board.causes = {} if found is None else {each.name: each.cause.value for each in found.deviations}


class _Execute(Behaviour):
    """Carries out an action in the world, in one tick."""

    def __init__(self, world: World[object], action: Action) -> None:
        super().__init__(str(action))
        self._world, self._action = world, action

    def update(self) -> Status:
        carry_out(self._world.execute, self._action)
        return Status.SUCCESS


class _Judging(Listener):
    """A report to a session, in a thread of its own since the session may search for a recovery.

    Args:
        session: it tells this listener what it finds.
        report: the report.
        found: the last comparison before.
    """

    def __init__(self, session: AnySession, report: Callable[[], None], found: Discrepancy[object] | None) -> None:
        self.found, self.progress, self.ended = found, "judging", Future[None]()
        self._cancelled = threading.Event()
        session.listener = self
        threading.Thread(target=self._run, args=(report,), name="nsrecover judging", daemon=True).start()

    def _run(self, report: Callable[[], None]) -> None:
        try:
            report()
        except BaseException as error:
            self.ended.set_exception(error)
        else:
            self.ended.set_result(None)

    def compares(self, discrepancy: Discrepancy[object]) -> None:
        """Keep it for the blackboard."""
        self.found, self.progress = discrepancy, "searching for a recovery"

    def improves(self, recovery: Recovery[object]) -> None:
        """Note it."""
        self.progress = f"found a recovery of {counted(len(recovery.actions), 'action')}"

    def cancel(self) -> None:
        """End a search, if there is one."""
        self._cancelled.set()

    def cancels(self) -> bool:
        """Whether to end a search."""
        return self._cancelled.is_set()

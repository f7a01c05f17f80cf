"""Operations of the server: they run in threads on the sessions of the clients."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from fastapi import Request

from nsrecover import core
from nsrecover.core.discrepancy import Phase, Verdict
from nsrecover.core.observation import Observation
from nsrecover.core.scene import SceneGraph
from nsrecover.errors import InvalidConfiguration, did_you_mean
from nsrecover.integrations.server import convert, messages
from nsrecover.integrations.server.limits import Limits
from nsrecover.integrations.server.sessions import EventKind, Session, Sessions
from nsrecover.integrations.server.watch import StepResult, Systems, Watch

Result = TypeVar("Result")
Seeing = Callable[[Watch], Observation | SceneGraph]
"""Decodes the sent observation; called in a thread because it takes time."""


class Service:
    """Sessions that share their models.

    Args:
        systems: the models; each is in memory once.
        limits: limits for clients.
    """

    def __init__(self, systems: Systems, limits: Limits) -> None:
        self.systems = systems
        self.limits = limits
        self.sessions = Sessions(limits)
        # Separate pools, so that a long search delays no observation.
        self._perceivers = ThreadPoolExecutor(limits.workers, "look")
        self._planners = ThreadPoolExecutor(limits.workers, "plan")

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Context that closes idle sessions regularly, and all sessions at its end."""
        janitor = asyncio.create_task(self._clean())
        try:
            yield
        finally:
            janitor.cancel()
            self.sessions.close_all()
            for pool in (self._perceivers, self._planners):
                pool.shutdown(wait=False, cancel_futures=True)

    async def _clean(self) -> None:
        while True:
            await asyncio.sleep(min(self.limits.idle_s, 5.0))
            self.sessions.forget_idle()

    def open(self, request: messages.NewSession) -> Session:
        """Open a session.

        Raises:
            InvalidAction: a text of the plan is not an action.
            InvalidConfiguration: the checkpoint is unknown.
            Refused: there are too many sessions.
        """
        checkpoint = request.checkpoint or next(iter(self.systems.learned))
        if checkpoint not in self.systems.learned:
            raise InvalidConfiguration(
                f"expected the name of a checkpoint of this server, found {checkpoint!r}."
                f"{did_you_mean(checkpoint, self.systems.learned)}"
            )
        plan = convert.plan_of(request.plan)
        return self.sessions.open(lambda: Watch(self.systems, checkpoint, plan, request.rejoin, request.check_sensors))

    async def look(
        self, request: Request, session: Session, seeing: Seeing, phase: Phase | None, budget_s: float | None
    ) -> messages.Judgement:
        """Compare an observation with the expected scene, and search for a recovery after a discrepancy.

        Args:
            request: the request; the search ends when its client disconnects.
            session: the session.
            seeing: decodes the observation.
            phase: before or after an action; None: another observation of the same scene.
            budget_s: planning time, seconds; None: no search.
        """
        async with session.turn() as watch:
            result = await self._run(self._perceivers, lambda: watch.look(seeing(watch), phase))
            session.events.publish(EventKind.STEP, _step(result, watch))
            recovery = explanation = None
            if result.discrepancy and budget_s is not None:
                recovery, explanation = await self._recover(request, session, watch, budget_s)
            elif result.discrepancy is not None and not result.discrepancy.as_expected:
                explanation = convert.explanation_message(watch.explain(result.discrepancy))
            expected = result.discrepancy is None or result.discrepancy.as_expected
            return messages.Judgement(
                verdict=None if result.discrepancy is None else result.discrepancy.verdict,
                phase=result.phase,
                action=None if result.action is None else convert.action_message(result.action),
                as_expected=expected,
                objects=convert.objects_message(result.graph, result.discrepancy),
                discrepancy=None
                if expected or result.discrepancy is None
                else convert.discrepancy_message(result.discrepancy),
                recovery=recovery,
                explanation=explanation,
                state=state_of(session),
            )

    async def recover(self, request: Request, session: Session, budget_s: float) -> messages.Answer:
        """Search for a recovery again."""
        async with session.turn() as watch:
            recovery, explanation = await self._recover(request, session, watch, budget_s)
            return messages.Answer(recovery=recovery, explanation=explanation)

    async def change(self, session: Session, work: Callable[[Watch], None]) -> messages.SessionState:
        """Change the plan of a session in a thread, because predicting its trace takes time."""
        async with session.turn() as watch:
            await self._run(self._planners, lambda: work(watch))
            state = state_of(session)
            session.events.publish(EventKind.PLAN, {"plan": [str(action) for action in watch.plan]})
            return state

    async def _recover(
        self, request: Request, session: Session, watch: Watch, budget_s: float
    ) -> tuple[messages.Recovery, messages.Explanation]:
        plan = watch.plan

        def better(found: core.Recovery) -> None:
            session.events.publish(EventKind.IMPROVEMENT, convert.recovery_message(found, plan).model_dump(mode="json"))

        async def give_up_with_client() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass
            session.stop.set()

        budget_s = min(budget_s, self.limits.planning_s)
        leaving = asyncio.create_task(give_up_with_client())
        session.planning = True
        try:
            found, words = await self._run(self._planners, lambda: watch.recover(budget_s, session.stop.is_set, better))
        finally:
            session.planning = False
            leaving.cancel()
        recovery = convert.recovery_message(found, plan)
        session.events.publish(EventKind.RECOVERY, recovery.model_dump(mode="json"))
        return recovery, convert.explanation_message(words)

    async def _run(self, pool: Executor, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(pool, work)


def state_of(session: Session) -> messages.SessionState:
    """Return the message with the state of a session."""
    watch = session.watch
    plan, done = watch.plan, watch.done
    return messages.SessionState(
        session=session.name,
        checkpoint=watch.checkpoint,
        plan=convert.actions_message(plan.actions),
        step=done,
        started=watch.started,
        finished=done == len(plan),
        next_action=convert.action_message(plan[done]) if done < len(plan) else None,
        as_expected=watch.verdict in (None, Verdict.AS_EXPECTED),
        verdict=watch.verdict,
        can_follow=watch.recovery is not None,
    )


def _step(result: StepResult, watch: Watch) -> dict[str, Any]:
    """Return the data of the event for an observation."""
    culprits = result.discrepancy.deviations if result.discrepancy else ()
    return {
        "step": watch.done,
        "phase": result.phase,
        "action": None if result.action is None else str(result.action),
        "as_expected": result.discrepancy is None or result.discrepancy.as_expected,
        "verdict": None if result.discrepancy is None else result.discrepancy.verdict,
        "culprits": [{"name": culprit.name, "cause": culprit.cause} for culprit in culprits],
    }

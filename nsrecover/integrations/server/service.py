"""Operations of the server on the sessions of its clients; the work is done in worker processes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Request

from nsrecover import core
from nsrecover.core.discrepancy import Phase, Verdict
from nsrecover.errors import InvalidConfiguration, did_you_mean
from nsrecover.integrations.server import convert, messages
from nsrecover.integrations.server.limits import Limits
from nsrecover.integrations.server.sessions import EventKind, Session, Sessions
from nsrecover.integrations.server.watch import StepResult, Watch
from nsrecover.integrations.server.watches import Seeing
from nsrecover.integrations.server.workers import RemoteWatch, Worker


class Service:
    """Sessions in worker processes.

    Args:
        checkpoints: names that sessions may ask for, the default one first.
        workers: the processes.
        limits: limits for clients.
    """

    def __init__(self, checkpoints: Sequence[str], workers: Sequence[Worker], limits: Limits) -> None:
        self.checkpoints = tuple(checkpoints)
        self.workers = tuple(workers)
        self.limits = limits
        self.sessions = Sessions(limits)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Context that closes idle sessions regularly, and all sessions and processes at its end."""
        janitor = asyncio.create_task(self._clean())
        try:
            yield
        finally:
            janitor.cancel()
            self.sessions.close_all()
            for worker in self.workers:
                worker.close()

    async def _clean(self) -> None:
        while True:
            await asyncio.sleep(min(self.limits.idle_s, 5.0))
            self.sessions.forget_idle()

    async def open(self, request: messages.NewSession) -> Session:
        """Open a session.

        Raises:
            InvalidAction: a text of the plan is not an action.
            InvalidConfiguration: the checkpoint is unknown.
            Refused: there are too many sessions.
        """
        checkpoint = request.checkpoint or self.checkpoints[0]
        if checkpoint not in self.checkpoints:
            raise InvalidConfiguration(
                f"expected the name of a checkpoint of this server, found {checkpoint!r}."
                f"{did_you_mean(checkpoint, self.checkpoints)}"
            )
        session = self.sessions.open(self.workers, checkpoint, convert.plan_of(request.plan))
        try:
            async with session.turn() as watch:  # which is not idle while its process starts
                await watch.open(request.rejoin, request.check_sensors)
        except BaseException:
            self.sessions.close(session.name)
            raise
        return session

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
            result, words = await watch.look(seeing, phase, search_follows=budget_s is not None)
            session.events.publish(EventKind.STEP, _step(result, watch))
            recovery = None
            explanation = None if words is None else convert.explanation_message(words)
            if result.discrepancy is not None and result.discrepancy.deviates and budget_s is not None:
                recovery, explanation = await self._recover(request, session, watch, budget_s)
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
        """Change the plan of a session by a method of its watch."""
        async with session.turn() as watch:
            await watch.change(work)
            session.events.publish(EventKind.PLAN, {"plan": [str(action) for action in watch.state.plan]})
            return state_of(session)

    async def _recover(
        self, request: Request, session: Session, watch: RemoteWatch, budget_s: float
    ) -> tuple[messages.Recovery, messages.Explanation]:
        plan = watch.state.plan

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
            found, words = await watch.recover(budget_s, session.stop.is_set, better)
        finally:
            session.planning = False
            leaving.cancel()
        recovery = convert.recovery_message(found, plan)
        session.events.publish(EventKind.RECOVERY, recovery.model_dump(mode="json"))
        return recovery, convert.explanation_message(words)


def state_of(session: Session) -> messages.SessionState:
    """Return the message with the state of a session."""
    state = session.watch.state
    plan, done = state.plan, state.done
    return messages.SessionState(
        session=session.name,
        checkpoint=session.watch.checkpoint,
        plan=convert.actions_message(plan.actions),
        step=done,
        started=state.started,
        finished=done == len(plan),
        next_action=convert.action_message(plan[done]) if done < len(plan) else None,
        as_expected=state.verdict in (None, Verdict.AS_EXPECTED),
        verdict=state.verdict,
        can_follow=state.can_follow,
    )


def _step(result: StepResult, watch: RemoteWatch) -> dict[str, Any]:
    """Return the data of the event for an observation."""
    culprits = result.discrepancy.deviations if result.discrepancy is not None else ()
    return {
        "step": watch.state.done,
        "phase": result.phase,
        "action": None if result.action is None else str(result.action),
        "as_expected": result.discrepancy is None or result.discrepancy.as_expected,
        "verdict": None if result.discrepancy is None else result.discrepancy.verdict,
        "culprits": [{"name": culprit.name, "cause": culprit.cause} for culprit in culprits],
    }

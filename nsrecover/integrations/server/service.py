"""What the server does for its clients: the sessions, and the threads that work for them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

from fastapi import Request

from nsrecover import core
from nsrecover.core.discrepancy import Phase
from nsrecover.core.observation import Observation
from nsrecover.core.scene import SceneGraph
from nsrecover.errors import InvalidConfiguration, did_you_mean
from nsrecover.integrations.server import convert, messages
from nsrecover.integrations.server.events import EventKind
from nsrecover.integrations.server.limits import Limits
from nsrecover.integrations.server.problems import Refused
from nsrecover.integrations.server.sessions import Session, Sessions
from nsrecover.integrations.server.watch import Look, OutOfTurn, Systems, Watch

Result = TypeVar("Result")
Seeing = Callable[[Watch], Observation | SceneGraph]
"""Unpacks what was sent; called in a thread, since it takes time."""


class Service:
    """Sessions around models that all of them share.

    Args:
        systems: the models; each is in memory once.
        limits: what clients may use up.
    """

    def __init__(self, systems: Systems, limits: Limits) -> None:
        self.systems = systems
        self.limits = limits
        self.sessions = Sessions(limits)
        # apart, so that a long search holds up nobody's eyes
        self._eyes = ThreadPoolExecutor(limits.workers, "look")
        self._planners = ThreadPoolExecutor(limits.workers, "plan")

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Forgets idle sessions from time to time, and ends all of them in the end."""
        janitor = asyncio.create_task(self._clean())
        try:
            yield
        finally:
            janitor.cancel()
            self.sessions.close_all()
            for pool in (self._eyes, self._planners):
                pool.shutdown(wait=False, cancel_futures=True)

    async def _clean(self) -> None:
        while True:
            await asyncio.sleep(min(self.limits.idle_s, 5.0))
            self.sessions.forget_idle()

    def open(self, request: messages.NewSession) -> Session:
        """A new session.

        Raises:
            InvalidAction: a text of the plan is not an action.
            InvalidConfiguration: there is no such checkpoint.
            Refused: there are too many sessions.
        """
        checkpoint = request.checkpoint or next(iter(self.systems.learned))
        if checkpoint not in self.systems.learned:
            raise InvalidConfiguration(
                f"expected the name of a checkpoint of this server, found {checkpoint!r}."
                f"{did_you_mean(checkpoint, self.systems.learned)}"
            )
        plan = convert.plan_of(request.plan)
        return self.sessions.open(lambda: Watch(self.systems, checkpoint, plan, request.rejoin))

    async def look(
        self, request: Request, session: Session, seeing: Seeing, phase: Phase, budget_s: float | None
    ) -> messages.Verdict:
        """Compare an observation with what should be, and look for a way back if something is wrong.

        Args:
            request: ends the search when its client goes away.
            session: whose plan it is.
            seeing: unpacks the observation.
            phase: before or after an action.
            budget_s: for the search; None: no search.
        """
        async with session.turn() as watch:
            with out_of_turn():
                look = await self._run(self._eyes, lambda: watch.look(seeing(watch), phase))
            session.events.publish(EventKind.STEP, _step(look, watch))
            recovery = explanation = None
            if look.discrepancy and budget_s is not None:
                recovery, explanation = await self._recover(request, session, watch, budget_s)
            return messages.Verdict(
                phase=look.phase,
                action=None if look.action is None else convert.action_message(look.action),
                as_expected=not look.discrepancy,
                objects=convert.objects_message(look.graph, look.discrepancy),
                discrepancy=convert.discrepancy_message(look.discrepancy) if look.discrepancy else None,
                recovery=recovery,
                explanation=explanation,
                state=state_of(session),
            )

    async def recover(self, request: Request, session: Session, budget_s: float) -> messages.Answer:
        """Look for a way back, once more."""
        async with session.turn() as watch:
            recovery, explanation = await self._recover(request, session, watch, budget_s)
            return messages.Answer(recovery=recovery, explanation=explanation)

    async def change(self, session: Session, work: Callable[[Watch], None]) -> messages.SessionState:
        """Change the plan of a session; imagining where it leads takes some time."""
        async with session.turn() as watch:
            with out_of_turn():
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
            with out_of_turn():
                found, words = await self._run(
                    self._planners, lambda: watch.recover(budget_s, session.stop.is_set, better)
                )
        finally:
            session.planning = False
            leaving.cancel()
        recovery = convert.recovery_message(found, plan)
        session.events.publish(EventKind.RECOVERY, recovery.model_dump(mode="json"))
        return recovery, convert.explanation_message(words)

    async def _run(self, pool: Executor, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(pool, work)


@contextmanager
def out_of_turn() -> Iterator[None]:
    """Says that a session is not at the point for something by 409 instead of 422."""
    try:
        yield
    except OutOfTurn as error:
        raise Refused(409, "out_of_turn", str(error)) from None


def state_of(session: Session) -> messages.SessionState:
    """Where a session stands, as a message."""
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
        as_expected=watch.found is None,
        can_follow=watch.recovery is not None,
    )


def _step(look: Look, watch: Watch) -> dict[str, Any]:
    """A look as the data of an event."""
    culprits = look.discrepancy.deviations if look.discrepancy else ()
    return {
        "step": watch.done,
        "phase": look.phase,
        "action": None if look.action is None else str(look.action),
        "as_expected": not look.discrepancy,
        "culprits": [{"name": culprit.name, "cause": culprit.cause} for culprit in culprits],
    }

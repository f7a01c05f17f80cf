"""Operations of the server on the sessions of its clients; the work is done in worker processes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

from fastapi import Request

from nsrecover.core import Plan
from nsrecover.core.sessions.settings import SessionSettings
from nsrecover.errors import InvalidConfiguration, did_you_mean
from nsrecover.integrations.server.jobs import AnySession, Job, Outcome, Systems
from nsrecover.integrations.server.limits import Limits
from nsrecover.integrations.server.sessions import EventKind, Sessions, StoredSession
from nsrecover.integrations.server.workers import Worker
from nsrecover.planning.planner import Rejoin
from nsrecover.util.json_data import Json


class Service:
    """Sessions whose reports are worked on in other processes.

    Args:
        systems: names of systems that sessions may ask for, the default one first.
        workers: the processes.
        limits: limits for clients.
    """

    def __init__(self, systems: Sequence[str], workers: Sequence[Worker], limits: Limits) -> None:
        self.systems, self.workers, self.limits = tuple(systems), tuple(workers), limits
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

    async def open(
        self, request: Request, system: str | None, plan: Plan, settings: SessionSettings, rejoin: Rejoin | None
    ) -> Json:
        """Open a session.

        Raises:
            InvalidConfiguration: the system is unknown, or does not take the settings.
            NsrecoverError: the system refuses the plan.
            Refused: there are too many sessions.
        """
        name = system or self.systems[0]
        if name not in self.systems:
            raise InvalidConfiguration(
                f"expected the name of a system of this server, found {name!r}.{did_you_mean(name, self.systems)}"
            )
        budget_s = min(self.limits.planning_s, settings.budget_s or 0.0)
        session = self.sessions.open(name)
        try:
            opening = partial(opened, name, plan, replace(settings, budget_s=budget_s), rejoin)
            return await self.report(request, session, Job(opening))
        except BaseException:
            self.sessions.close(session.name)
            raise

    async def report(self, request: Request, session: StoredSession, job: Job) -> Json:
        """Report to a session.

        Args:
            request: the request; a search ends when its client disconnects.
            session: the session.
            job: the report; `state` is set here.

        Returns:
            The answer.
        """
        with session.turn():
            outcome = await self._done(request, session, job)
            session.state = outcome.state
            assert isinstance(outcome.answer, dict)
            session.answer = {"session": session.name, "system": session.system, **outcome.answer}
            session.events.publish(EventKind.REQUEST, outcome.answer["request"])
            return session.answer

    async def read(self, request: Request, session: StoredSession, job: Job) -> Json:
        """Ask a session for something that does not change it."""
        with session.turn():
            return (await self._done(request, session, job)).answer

    async def _done(self, request: Request, session: StoredSession, job: Job) -> Outcome:
        async def stop_with_client() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass
            session.stop.set()

        leaving = asyncio.create_task(stop_with_client())
        worker = min(self.workers, key=lambda each: each.busy)
        try:
            return await worker.run(replace(job, state=session.state), session.events.publish, session.stop)
        finally:
            leaving.cancel()


def opened(name: str, plan: Plan, settings: SessionSettings, rejoin: Rejoin | None, systems: Systems) -> AnySession:
    """A session; called in a worker process.

    Raises:
        InvalidConfiguration: the system cannot be made rejoin that way.
        NsrecoverError: the system refuses the plan.
    """
    system = systems[name] if rejoin is None else systems[name].rejoining(rejoin)
    return system.session(plan, settings=settings)

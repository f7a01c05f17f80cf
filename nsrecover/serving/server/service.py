"""Operations of the server on the sessions of its clients; the work is done in worker processes."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

from fastapi import Request

from nsrecover.core import Plan
from nsrecover.core.sessions.settings import SessionSettings
from nsrecover.errors import InvalidConfiguration, require_known
from nsrecover.planning.planner import RecoveryPlanner, Rejoin
from nsrecover.serving.server.guard import CLIENT
from nsrecover.serving.server.limits import ServerLimits
from nsrecover.serving.server.sessions import EventKind, Sessions, StoredSession
from nsrecover.serving.server.work.jobs import Job, JobOutcome, SearchNeeded, Systems
from nsrecover.serving.server.work.turns import Turns
from nsrecover.serving.server.work.workers import Worker
from nsrecover.session import AnySession
from nsrecover.util.json_data import Json


class Service:
    """Sessions whose reports are worked on in other processes.

    Args:
        systems: names of systems that sessions may ask for, the default one first.
        workers: the processes that judge.
        searchers: the processes that search.
        limits: limits for clients.
    """

    def __init__(
        self, systems: Sequence[str], workers: Sequence[Worker], searchers: Sequence[Worker], limits: ServerLimits
    ) -> None:
        self.systems, self.workers, self.searchers, self.limits = (
            tuple(systems),
            tuple(workers),
            tuple(searchers),
            limits,
        )
        self.judging, self.searching = Turns(len(workers), len(workers)), Turns(limits.searches, 2 * len(searchers))
        self.sessions = Sessions(limits)
        self.answers = Counter[int]()
        """Number of answers by their status."""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Context that closes idle sessions regularly, and all sessions and processes at its end."""
        janitor = asyncio.create_task(self._clean())
        try:
            yield
        finally:
            janitor.cancel()
            self.sessions.close_all()
            for worker in (*self.workers, *self.searchers):
                worker.close()

    async def _clean(self) -> None:
        while True:
            await asyncio.sleep(min(self.limits.idle_s, 5.0))
            self.sessions.forget_idle()

    def metrics(self) -> str:
        """What is measured, in the text format of Prometheus."""
        places = {"judging": self.judging, "searching": self.searching}
        gauges: dict[str, dict[str, float]] = {
            "nsrecover_sessions": {"": len(self.sessions)},
            "nsrecover_running": {f'{{in="{name}"}}': turns.running.total() for name, turns in places.items()},
            "nsrecover_waiting": {f'{{in="{name}"}}': len(turns.waiting) for name, turns in places.items()},
            "nsrecover_waited_seconds_total": {f'{{in="{name}"}}': turns.waited_s for name, turns in places.items()},
            "nsrecover_requests_total": {f'{{status="{code}"}}': count for code, count in sorted(self.answers.items())},
        }
        lines = []
        for name, values in gauges.items():
            lines.append(f"# TYPE {name} {'counter' if name.endswith('_total') else 'gauge'}")
            lines += [f"{name}{labels} {value:g}" for labels, value in values.items()]
        return "\n".join(lines) + "\n"

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
        require_known(name, self.systems, "the name of a system of this server")
        budget_s = min(self.limits.planning_s, settings.budget_s or 0.0)
        session = self.sessions.open(name, client_of(request))
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

    async def _done(self, request: Request, session: StoredSession, job: Job) -> JobOutcome:
        async def stop_with_client() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass
            session.stop.set()

        leaving = asyncio.create_task(stop_with_client())
        job, client = replace(job, state=session.state), client_of(request)
        try:
            try:
                return await self._run(job, client, self.judging, self.workers, session)
            except SearchNeeded as needed:
                return await self._run(needed.args[0], client, self.searching, self.searchers, session)
        finally:
            leaving.cancel()

    async def _run(
        self, job: Job, client: str, turns: Turns, workers: Sequence[Worker], session: StoredSession
    ) -> JobOutcome:
        async with turns.turn(client) as waited_s:
            worker = min(workers, key=lambda each: each.busy)
            return await worker.run(replace(job, waited_s=waited_s), session.events.publish, session.stop)


def client_of(request: Request) -> str:
    """Who has sent a request: the token if there are several, else the address."""
    return str(request.scope.get(CLIENT, ""))


def opened(name: str, plan: Plan, settings: SessionSettings, rejoin: Rejoin | None, systems: Systems) -> AnySession:
    """A session; called in a worker process.

    Raises:
        InvalidConfiguration: the system cannot be made rejoin that way.
        NsrecoverError: the system refuses the plan.
    """
    system = systems[name]
    if rejoin is not None:
        if not isinstance(system.planner, RecoveryPlanner):
            raise InvalidConfiguration("expected a system of boxes for another way to rejoin, found one of facts")
        system = replace(system, planner=replace(system.planner, rejoin=rejoin))
    return system.session(plan, settings=settings)

"""The paths of the server."""

from collections.abc import Awaitable, Callable
from functools import partial
from operator import methodcaller
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from sse_starlette import EventSourceResponse, ServerSentEvent

from nsrecover.core import Cause
from nsrecover.core.sessions.requests import Unusable
from nsrecover.core.sessions.settings import SessionSettings
from nsrecover.serving.server import messages, observations
from nsrecover.serving.server.answers import episode_answer
from nsrecover.serving.server.bodies import StrictRoute
from nsrecover.serving.server.guard import KNOWN
from nsrecover.serving.server.problems import RefusedRequest, refusals
from nsrecover.serving.server.service import Service
from nsrecover.serving.server.sessions import SILENCE_S, EventKind, StoredSession
from nsrecover.serving.server.work.jobs import Job, Work, observed, unchanged

REPORTED = refusals(404, 409, 503)
"""The refusals of reports to a session."""

EVENT = {
    "type": "object",
    "description": "One event; `data` is JSON.",
    "properties": {
        "id": {"type": "string"},
        "event": {"type": "string", "enum": [kind.value for kind in EventKind]},
        "data": {"type": "string"},
        "retry": {"type": "integer"},
    },
}

# All functions of requests are asynchronous: others would run in threads, and the sessions belong to the event loop.
router = APIRouter(prefix="/v1", route_class=StrictRoute)


async def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


Serving = Annotated[Service, Depends(_service)]
SessionName = Annotated[str, Path(min_length=1, max_length=64, description="The session's secret name.")]


async def _session(service: Serving, session: SessionName) -> StoredSession:
    return service.sessions.get(session)


InSession = Annotated[StoredSession, Depends(_session)]


Reporting = Callable[..., Awaitable[Response]]


async def _reporting(
    request: Request,
    service: Serving,
    session: InSession,
    idempotency_key: Annotated[
        str, Header(max_length=64, description="A new text for each report: one that is sent again counts once.")
    ] = "",
) -> Reporting:
    async def report(work: Work) -> Response:
        if idempotency_key and idempotency_key == session.key:
            return JSONResponse(session.answer)
        answer = await service.report(request, session, Job(work))
        session.key = idempotency_key
        return JSONResponse(answer)

    return report


Report = Annotated[Reporting, Depends(_reporting)]
"""Reports to the session of a request, and answers with its state."""


def state(status: int = 200) -> dict[str, Any]:
    """The settings of a route that answers with the state of a session."""
    return {"status_code": status, "response_model": messages.SessionState}


@router.get("/health", tags=["server"], responses=refusals(), response_model_exclude_none=True)
async def health(request: Request, service: Serving) -> messages.Health:
    """Return the state of the server and its systems; without the token only that it lives."""
    if not request.scope[KNOWN]:
        return messages.Health(status="ok")
    return messages.Health(
        status="ok",
        version=request.app.version,
        systems=list(service.systems),
        sessions=len(service.sessions),
    )


@router.get("/metrics", tags=["server"], responses=refusals(), response_class=PlainTextResponse)
async def metrics(service: Serving) -> PlainTextResponse:
    """Return numbers of sessions, requests and reports that wait, in the text format of Prometheus."""
    return PlainTextResponse(service.metrics(), media_type="text/plain; version=0.0.4")


@router.get("/causes", tags=["server"], responses=refusals())
async def causes() -> list[messages.CauseCode]:
    """List the cause codes and their meanings; the same as in Python and in behaviour trees."""
    return [messages.CauseCode(code=cause, meaning=cause.meaning) for cause in Cause]


@router.post("/sessions", tags=["sessions"], responses=refusals(503), **state(201))
async def open_session(request: Request, service: Serving, body: messages.NewSession) -> Response:
    """Open a session for a plan. It asks for the first observation."""
    settings = SessionSettings(body.budget_s, body.max_recoveries, body.check_sensors, body.approve)
    plan = observations.plan_of(body.plan)
    return JSONResponse(await service.open(request, body.system, plan, settings, body.rejoin), 201)


@router.get("/sessions/{session}", tags=["sessions"], responses=refusals(404), **state())
async def read_session(session: InSession) -> Response:
    """Return the last answer of a session again."""
    return JSONResponse(session.answer)


@router.delete("/sessions/{session}", status_code=204, tags=["sessions"], responses=refusals(404))
async def close_session(service: Serving, session: InSession) -> None:
    """Close a session and stop its search."""
    service.sessions.close(session.name)


@router.get("/sessions/{session}/episode", tags=["sessions"], responses=refusals(404, 409, 503))
async def read_episode(request: Request, service: Serving, session: InSession) -> dict[str, Any]:
    """Return the log of the episode so far: a file for `nsrecover report` and `nsrecover explain`."""
    found = await service.read(request, session, Job(unchanged, answer=episode_answer))
    assert isinstance(found, dict)
    return found


@router.put("/sessions/{session}/plan", tags=["sessions"], responses=REPORTED, **state())
async def change_plan(report: Report, body: messages.NewPlan) -> Response:
    """Begin another plan from the scene of the last observation; the episode begins anew."""
    return await report(methodcaller("with_plan", observations.plan_of(body.plan)))


@router.post("/sessions/{session}/observations", tags=["observations"], responses=REPORTED, **state())
async def observe(service: Serving, report: Report, body: messages.ObservationMessage) -> Response:
    """Send the observation that was asked for, as JSON with base64 images."""
    return await report(partial(observed, partial(observations.json_observation, body, service.limits.pixels)))


@router.post("/sessions/{session}/scenes", tags=["observations"], responses=REPORTED, **state())
async def observe_scene(report: Report, body: messages.SceneMessage) -> Response:
    """Send the scene that was asked for from your own perception: boxes, with or without appearance features."""
    return await report(partial(observed, partial(observations.scene_of, body), time_s=body.time_s))


@router.post("/sessions/{session}/facts", tags=["observations"], responses=REPORTED, **state())
async def observe_facts(report: Report, body: messages.SeenFacts) -> Response:
    """Send the facts that were asked for, to a system of facts."""
    return await report(partial(observed, partial(observations.facts_of, body), time_s=body.time_s))


@router.post("/sessions/{session}/no_observation", tags=["observations"], responses=REPORTED, **state())
async def observe_nothing(report: Report, body: messages.Failure) -> Response:
    """Report that the observation that was asked for could not be made."""
    return await report(methodcaller("observed", Unusable(body.problem)))


@router.post("/sessions/{session}/failed", tags=["reports"], responses=REPORTED, **state())
async def fail(report: Report, body: messages.Failure) -> Response:
    """Report that the robot did not end the action."""
    return await report(methodcaller("failed", body.problem))


@router.post("/sessions/{session}/waited", tags=["reports"], responses=REPORTED, **state())
async def wait(report: Report) -> Response:
    """Report that time has passed before the action: the session asks to look again."""
    return await report(methodcaller("waited"))


@router.post("/sessions/{session}/answer", tags=["reports"], responses=REPORTED, **state())
async def answer(report: Report, body: messages.Answered) -> Response:
    """Send a person's answer: `yes`, `no`, or `look_again` after having changed the scene."""
    return await report(methodcaller("answered", body.answer))


@router.post("/sessions/{session}/stop", tags=["reports"], responses=REPORTED, **state())
async def stop(report: Report, body: messages.Reason) -> Response:
    """End the session before the next action; one that has ended stays as it is."""
    return await report(methodcaller("stop", body.reason))


@router.delete("/sessions/{session}/search", tags=["reports"], responses=refusals(404))
async def stop_search(session: InSession) -> messages.Cancelled:
    """Stop the running search; its request goes on with the best recovery so far."""
    session.stop.set()
    return messages.Cancelled(cancelled=session.busy)


@router.get(
    "/sessions/{session}/events",
    tags=["events"],
    response_class=EventSourceResponse,
    responses={
        **refusals(404),
        200: {"description": "Events", "content": {"text/event-stream": {"schema": EVENT}}},
    },
)
async def listen(
    service: Serving,
    session: InSession,
    last_event_id: Annotated[
        str | None, Header(max_length=20, description="Number of the last received event.")
    ] = None,
    wait_s: Annotated[float, Query(ge=0, le=3600, allow_inf_nan=False, description="How long to listen.")] = 60.0,
) -> EventSourceResponse:
    """Stream the events of a session as server-sent events: `compared`, `improvement`, `turn`, `request`.

    The answer ends after some time; clients reconnect with the number of the last event that they have. The last 256
    events are kept for listeners that connect late.
    """
    if session.events.listeners >= service.limits.listeners:
        raise RefusedRequest(
            429, "too_many_listeners", f"expected at most {service.limits.listeners} listeners of a session, found as "
            "many; close one", {"Retry-After": "10"},
        )  # fmt: skip
    known = last_event_id or ""
    after = int(known) if known.isascii() and known.isdigit() else 0
    return EventSourceResponse(
        session.events.follow(after, min(wait_s, service.limits.events_s)),
        ping=SILENCE_S,
        ping_message_factory=lambda: ServerSentEvent(comment="still here", sep="\n"),
    )

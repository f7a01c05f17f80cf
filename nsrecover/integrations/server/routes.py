"""The paths of the server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from operator import methodcaller
from typing import Annotated

from fastapi import APIRouter, Depends, File, Form, Header, Path, Query, Request, UploadFile
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from sse_starlette import EventSourceResponse, ServerSentEvent

from nsrecover.core.discrepancy import Cause, Phase
from nsrecover.integrations.server import convert, messages
from nsrecover.integrations.server.bodies import StrictRoute, json_of
from nsrecover.integrations.server.limits import VIEWS
from nsrecover.integrations.server.problems import Refused, refusals
from nsrecover.integrations.server.service import Service, state_of
from nsrecover.integrations.server.sessions import SILENCE_S, EventKind, Session
from nsrecover.integrations.server.watches import Seeing

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


async def _session(service: Serving, session: SessionName) -> Session:
    return service.sessions.get(session)


InSession = Annotated[Session, Depends(_session)]
BudgetS = Annotated[
    float, Query(ge=0, le=3600, allow_inf_nan=False, description="Planning time for the search, seconds.")
]


async def _judging(
    request: Request,
    service: Serving,
    session: InSession,
    phase: Annotated[
        Phase,
        Query(description="`after`: the observation follows the next action of the plan. `before`: it precedes it."),
    ] = Phase.AFTER,
    again: Annotated[
        bool,
        Query(
            description="Whether it is one more observation of the same scene: nothing was executed since the last "
            "one, and all of them are judged together. `phase` is that of the first then."
        ),
    ] = False,
    recover: Annotated[bool, Query(description="Whether to search for a recovery after a discrepancy.")] = True,
    budget_s: BudgetS = 1.0,
) -> Callable[[Seeing], Awaitable[messages.Judgement]]:
    return lambda seeing: service.look(
        request, session, seeing, None if again else phase, budget_s if recover else None
    )


Judging = Annotated[Callable[[Seeing], Awaitable[messages.Judgement]], Depends(_judging)]
"""Compares an observation, given a function that decodes it, with the settings of the request."""


@router.get("/health", tags=["server"], responses=refusals())
async def health(request: Request, service: Serving) -> messages.Health:
    """Return the state of the server and its checkpoints."""
    return messages.Health(
        status="ok",
        version=request.app.version,
        checkpoints=list(service.checkpoints),
        sessions=len(service.sessions),
    )


@router.get("/causes", tags=["server"], responses=refusals())
async def causes() -> list[messages.CauseCode]:
    """List the cause codes and their meanings; the same as in Python and in behaviour trees."""
    return [messages.CauseCode(code=cause, meaning=cause.meaning) for cause in Cause]


@router.post("/sessions", status_code=201, tags=["sessions"], responses=refusals(503))
async def open_session(service: Serving, body: messages.NewSession) -> messages.SessionState:
    """Open a session for a plan. Send the first observation next."""
    return state_of(await service.open(body))


@router.get("/sessions/{session}", tags=["sessions"], responses=refusals(404))
async def read_session(session: InSession) -> messages.SessionState:
    """Return the state of a session."""
    return state_of(session)


@router.delete("/sessions/{session}", status_code=204, tags=["sessions"], responses=refusals(404))
async def close_session(service: Serving, session: InSession) -> None:
    """Close a session and stop its search."""
    service.sessions.close(session.name)


@router.put("/sessions/{session}/plan", tags=["sessions"], responses=refusals(404, 409, 503))
async def change_plan(service: Serving, session: InSession, body: messages.NewPlan) -> messages.SessionState:
    """Continue with another plan from the scene of the last observation."""
    plan = convert.plan_of(body.plan)
    return await service.change(session, methodcaller("replan", plan))


@router.post("/sessions/{session}/observations", tags=["observations"], responses=refusals(404, 409, 503))
async def observe(service: Serving, judge: Judging, body: messages.Observation) -> messages.Judgement:
    """Send an observation as JSON with base64 images. The first one shows the initial scene."""
    return await judge(partial(convert.json_observation, body, service.limits.pixels))


@router.post("/sessions/{session}/observations/multipart", tags=["observations"], responses=refusals(404, 409, 503))
async def observe_files(
    service: Serving,
    judge: Judging,
    look: Annotated[str, Form(max_length=100_000, description="JSON: cameras, labels and so on (`MultipartLook`).")],
    rgb: Annotated[list[UploadFile], File(min_length=1, max_length=VIEWS, description="8-bit RGB PNG of each view.")],
    depth: Annotated[list[UploadFile], File(min_length=1, max_length=VIEWS, description="16-bit PNG of each view.")],
    instances: Annotated[
        list[UploadFile], File(min_length=1, max_length=VIEWS, description="8- or 16-bit PNG of each view.")
    ],
    audio: Annotated[
        UploadFile | None, File(description="WAV, mono, 16 bits: what the microphone heard since the last observation.")
    ] = None,
) -> messages.Judgement:
    """Send an observation as files: one image of each kind for each view, in the order of the cameras."""
    json_of(look)
    try:
        parsed = messages.MultipartLook.model_validate_json(look)
    except ValidationError as error:
        details = [{**each, "loc": ("body", "look", *each["loc"])} for each in error.errors(include_url=False)]
        raise RequestValidationError(details) from None
    counts = {"rgb": len(rgb), "depth": len(depth), "instances": len(instances), "cameras": len(parsed.cameras)}
    if len(set(counts.values())) != 1:
        raise Refused(
            422, "invalid_observation", f"expected as many images of each kind as cameras, found {counts}; send one of "
            "each kind for each view, in the order of the cameras",
        )  # fmt: skip
    images = [[await file.read() for file in view] for view in zip(rgb, depth, instances, strict=True)]
    wav = None if audio is None else await audio.read()
    return await judge(partial(convert.observation_of, parsed, parsed.cameras, images, service.limits.pixels, wav))


@router.post("/sessions/{session}/scenes", tags=["observations"], responses=refusals(404, 409, 503))
async def observe_scene(session: InSession, judge: Judging, body: messages.Scene) -> messages.Judgement:
    """Send a scene of your own perception: boxes, with or without appearance features. Names are trusted."""
    return await judge(partial(convert.scene_of, body, session.watch.feature_size))


@router.post("/sessions/{session}/recovery", tags=["recovery"], responses=refusals(404, 409, 503))
async def find_recovery(
    request: Request, service: Serving, session: InSession, body: messages.Budget
) -> messages.Answer:
    """Search for a recovery from the last observation, with the given budget."""
    return await service.recover(request, session, body.budget_s)


@router.delete("/sessions/{session}/recovery", tags=["recovery"], responses=refusals(404))
async def stop_search(session: InSession) -> messages.Cancelled:
    """Stop the running search; its request is answered with the best recovery so far."""
    running = session.planning
    session.stop.set()
    return messages.Cancelled(cancelled=running)


@router.post("/sessions/{session}/recovery/follow", tags=["recovery"], responses=refusals(404, 409, 503))
async def follow_recovery(service: Serving, session: InSession) -> messages.SessionState:
    """Continue with the recovery: its actions and the rest of the old plan become the plan."""
    return await service.change(session, methodcaller("follow"))


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
    """Stream the events of a session as server-sent events: `step`, `improvement` (of a search), `recovery`, `plan`.

    The answer ends after some time; clients reconnect with the number of the last event that they have. The last 256
    events are kept for listeners that connect late.
    """
    if session.events.listeners >= service.limits.listeners:
        raise Refused(
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

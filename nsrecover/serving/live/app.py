"""The web application of a live page: the page, its changes as server-sent events, and commands of viewers."""

import logging
import secrets
import time
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from nsrecover.errors import NsrecoverError
from nsrecover.serving.live.board import CLICKED, LiveServer
from nsrecover.serving.reports.page import environment
from nsrecover.serving.server.guard import Guard, matches
from nsrecover.serving.server.limits import ServerLimits

LIMITS = ServerLimits(body_bytes=20_000, body_values=100)
VIEWERS = 64
"""Most viewers at the same time."""
ENTRANCE = "/enter"
POLICY = (
    "default-src 'none'; connect-src 'self'; img-src data:; media-src data:; style-src 'unsafe-inline'; "
    "script-src 'nonce-{nonce}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
BEAT, BEAT_S = "beat", 1
"""Event that says how long ago the robot's program was heard of, seconds; and how often it comes."""
HEADERS = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff"}
REPORT_POLICY = (
    "default-src 'none'; img-src data:; media-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
)


def application(server: LiveServer, token: str, cookie: str) -> ASGIApp:
    """The application.

    Args:
        server: whose panels are shown.
        token: what viewers need.
        cookie: name of the cookie that holds it. Browsers send cookies to every port of a machine, so this one belongs
            to a path that only viewers know, below which they find the page.
    """
    place = f"/{secrets.token_urlsafe(16)}/"

    async def enter(request: Request) -> Response:
        if not matches(request.query_params.get("token", ""), token):
            return HTMLResponse("<!doctype html><title>nsrecover</title><p>The token is wrong.", 401, HEADERS)
        answer = RedirectResponse(place, 303, HEADERS)
        answer.set_cookie(cookie, token, httponly=True, samesite="strict", path=place)
        return answer

    async def page(request: Request) -> Response:
        nonce, board = secrets.token_urlsafe(16), server.board
        html = environment("nsrecover.serving.live").get_template("live.html.jinja").render(
            title=server.title, nonce=nonce, after=board.number, now=time.time(), panels=defaultdict(str, board.panels)
        )  # fmt: skip
        return HTMLResponse(html, headers=HEADERS | {"Content-Security-Policy": POLICY.format(nonce=nonce)})

    async def events(request: Request) -> Response:
        if server.board.listeners >= VIEWERS:
            return JSONResponse({"message": f"expected at most {VIEWERS} viewers, found more"}, 429, HEADERS)
        known = request.headers.get("last-event-id") or request.query_params.get("after", "")
        after = int(known) if known.isdecimal() and len(known) < 18 else 0
        return EventSourceResponse(
            server.board.follow(after),
            ping=BEAT_S,
            ping_message_factory=lambda: ServerSentEvent(
                f"{time.time() - server.board.beat:.1f}", event=BEAT, sep="\n"
            ),
            headers=HEADERS,
        )

    async def do(request: Request) -> Response:
        fields = {CLICKED: f"{time.time():.3f}"}  # by viewers without scripts, who do not say when
        fields |= {name: value for name, value in (await request.form()).items() if isinstance(value, str)}
        try:
            said = await run_in_threadpool(server.command, request.path_params["command"], fields)
        except NsrecoverError as problem:
            return JSONResponse({"message": str(problem)}, 409, HEADERS)
        if "text/html" in request.headers.get("accept", ""):  # a browser without scripts
            return RedirectResponse(place, 303, HEADERS)
        return JSONResponse({"message": said}, headers=HEADERS)

    async def report(request: Request) -> Response:
        try:
            html = await run_in_threadpool(server.report)
        except NsrecoverError as problem:
            return JSONResponse({"message": str(problem)}, 409, HEADERS)
        return HTMLResponse(html, headers=HEADERS | {"Content-Security-Policy": REPORT_POLICY})

    async def broken(request: Request, error: Exception) -> Response:
        logging.getLogger("nsrecover.serving.live").error("a request failed", exc_info=error)
        return JSONResponse({"message": "the page failed; the log of the program says why"}, 500, HEADERS)

    handlers: Mapping[Any, Any] = {Exception: broken}
    routes = [
        Route("/", page),
        Route("/events", events),
        Route("/report", report),
        Route("/do/{command}", do, methods=["POST"]),
    ]
    app = Starlette(routes=[Route(ENTRANCE, enter), *routes, Mount(place, routes=routes)], exception_handlers=handlers)
    return Guard(app, LIMITS, (token,), cookie, frozenset({ENTRANCE}))

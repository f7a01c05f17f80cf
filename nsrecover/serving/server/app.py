"""The ASGI application, its schema, and the page that shows the schema."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader

from nsrecover.serving.server.guard import Guard
from nsrecover.serving.server.limits import ServerLimits
from nsrecover.serving.server.problems import add_handlers
from nsrecover.serving.server.routes import router
from nsrecover.serving.server.service import Service
from nsrecover.serving.server.work.jobs import Load
from nsrecover.serving.server.work.workers import Worker

DESCRIPTION = """Carry out a symbolic plan with a robot: every answer says what to do next, what deviates from the
expected scene, since when and why, and the cheapest recovery.

Open a session with a plan, and do what `request` says until it is `done` or `stopped`: carry out the action and send an
observation (`act`), send another observation (`look`), or send a person's answer (`ask`). Metres, radians, seconds; the
robot's base frame, z up, the table's top at z = 0."""

METHODS = ("get", "post", "put", "delete")
PAGE_HEADERS = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}


def application(
    systems: Sequence[str],
    load: Load,
    preload: Sequence[str],
    limits: ServerLimits,
    tokens: tuple[str, ...],
) -> FastAPI:
    """Return the server.

    Args:
        systems: names that sessions may ask for, the default one first.
        load: loads the systems in a worker process; can be pickled.
        preload: modules that the processes import once.
        limits: limits for clients.
        tokens: of which clients must send one; without any, loopback only is allowed.
    """
    workers = [Worker(load, preload, limits.judging_s) for _ in range(limits.workers)]
    searchers = [Worker(load, preload, None) for _ in range(limits.workers)]
    service = Service(systems, workers, searchers, limits)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with service.running():
            yield

    app = FastAPI(
        title="nsrecover",
        version=metadata.version("nsrecover"),
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.service = service
    app.include_router(router)
    add_handlers(app)
    app.openapi = lambda: schema_of(app)  # type: ignore[method-assign]

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(page_of(schema_of(app)), headers=PAGE_HEADERS)

    app.add_middleware(Guard, limits=limits, tokens=tokens, answered=lambda status: service.answers.update((status,)))
    return app


def schema_of(app: FastAPI) -> dict[str, Any]:
    """Return the schema of the application: FastAPI's with corrections. `docs/openapi.json` is its output."""
    if app.openapi_schema is None:
        schema = get_openapi(
            title=app.title,
            version=app.version,
            openapi_version=app.openapi_version,
            description=app.description,
            routes=app.routes,
            separate_input_output_schemas=False,
        )
        components = schema["components"]
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        # A server on loopback may have no token.
        schema["security"] = [{}, {"token": []}]
        for unused in ("HTTPValidationError", "ValidationError"):
            components["schemas"].pop(unused, None)
        app.openapi_schema = schema
    return app.openapi_schema


def page_of(schema: dict[str, Any]) -> str:
    """Return an HTML page of a schema, without scripts or external resources, so that it works on isolated networks."""
    groups: dict[str, list[tuple[str, str, dict[str, Any]]]] = {}
    for path, methods in schema["paths"].items():
        for method in METHODS:
            if method in methods:
                groups.setdefault(methods[method].get("tags", ["other"])[0], []).append((path, method, methods[method]))
    templates = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    return templates.get_template("page.html.jinja").render(schema=schema, groups=groups)

"""The ASGI application, and the page that shows its schema."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader

from nsrecover.integrations.server.guard import Guard
from nsrecover.integrations.server.limits import Limits
from nsrecover.integrations.server.problems import add_handlers
from nsrecover.integrations.server.routes import router
from nsrecover.integrations.server.schema import DESCRIPTION, schema_of
from nsrecover.integrations.server.service import Service
from nsrecover.integrations.server.watch import Systems
from nsrecover.system import System, geometric

METHODS = ("get", "post", "put", "delete")
PAGE_HEADERS = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}


def application(systems: Mapping[str, System], limits: Limits, token: str | None) -> FastAPI:
    """Return the server; arguments as for `nsrecover.integrations.server.create_app`."""
    service = Service(Systems(dict(systems), geometric()), limits)

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

    app.add_middleware(Guard, limits=limits, token=token)
    return app


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

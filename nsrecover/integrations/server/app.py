"""The ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import metadata

from fastapi import FastAPI
from fastapi.responses import HTMLResponse

from nsrecover.integrations.server.guard import Guard
from nsrecover.integrations.server.limits import Limits
from nsrecover.integrations.server.page import page_of
from nsrecover.integrations.server.problems import add_handlers
from nsrecover.integrations.server.routes import router
from nsrecover.integrations.server.schema import DESCRIPTION, schema_of
from nsrecover.integrations.server.service import Service
from nsrecover.integrations.server.watch import Systems

PAGE_HEADERS = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}


def create_app(systems: Systems, limits: Limits | None = None, token: str | None = None) -> FastAPI:
    """Return the server as an ASGI application.

    Args:
        systems: the models.
        limits: limits for clients.
        token: token that clients must send; see `nsrecover.integrations.server.create_app`.
    """
    limits = limits or Limits()
    service = Service(systems, limits)

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

"""The OpenAPI schema: FastAPI's with corrections. `docs/openapi.json` is its output."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from nsrecover.integrations.server.messages import MultipartLook

DESCRIPTION = """Monitor a robot that carries out a symbolic plan: send an observation after every action, and receive
what deviates from the expected scene, since when and why, and the cheapest recovery.

Open a session with a plan, send the first observation, carry out one action, send the next observation, and so on.
Metres, radians, seconds; the robot's base frame, z up, the table's top at z = 0."""


def schema_of(app: FastAPI) -> dict[str, Any]:
    """Return the schema of the application, and cache it."""
    if app.openapi_schema is None:
        schema = get_openapi(
            title=app.title,
            version=app.version,
            openapi_version=app.openapi_version,
            description=app.description,
            routes=app.routes,
        )
        _document_parts(schema)
        components = schema["components"]
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        # A server on loopback may have no token.
        schema["security"] = [{}, {"token": []}]
        for unused in ("HTTPValidationError", "ValidationError"):
            components["schemas"].pop(unused, None)
        app.openapi_schema = schema
    return app.openapi_schema


def _document_parts(schema: dict[str, Any]) -> None:
    """Describe the JSON that accompanies uploaded files."""
    look = MultipartLook.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas = schema["components"]["schemas"]
    schemas |= {name: part for name, part in look.pop("$defs", {}).items() if name not in schemas}
    schemas["MultipartLook"] = look
    kinds = {"look": "application/json", **dict.fromkeys(("rgb", "depth", "instances"), "image/png")}
    for path in schema["paths"].values():
        for operation in path.values():
            content = operation.get("requestBody", {}).get("content", {})
            if "multipart/form-data" in content:
                encoding = {name: {"contentType": kind} for name, kind in kinds.items()}
                content["multipart/form-data"]["encoding"] = encoding

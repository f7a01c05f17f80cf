"""Bodies of requests: JSON that every parser reads alike."""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from nsrecover.serving.server.problems import RefusedRequest
from nsrecover.util.untrusted_json import InvalidJson, parse_json


def json_of(data: bytes | str) -> Any:
    """Parse JSON that a client sent; its size was checked before.

    Raises:
        Refused: it is refused by `nsrecover.util.untrusted_json.parse_json`.
    """
    try:
        return parse_json(data)
    except InvalidJson as problem:
        raise RefusedRequest(
            422, "invalid_json", f"expected a body of JSON in UTF-8, found {problem}; write it with a JSON library"
        ) from problem


class _StrictRequest(Request):
    async def json(self) -> Any:
        return json_of(await self.body())


class StrictRoute(APIRoute):
    """Route whose JSON bodies are read by `json_of`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """See FastAPI's `APIRoute`."""
        handle = super().get_route_handler()

        async def strict(request: Request) -> Response:
            return await handle(_StrictRequest(request.scope, request.receive))

        return strict

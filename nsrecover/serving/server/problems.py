"""Refusals of requests: a status, a stable code, and a message with what was expected, found and what to do."""

import logging
import re
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException as PlainHTTPException

from nsrecover.errors import NsrecoverError, OutOfTurn

FOUND_LENGTH = 60
"""Largest number of characters of a found value that a message repeats."""


class Detail(BaseModel):
    """One value that was not as it has to be."""

    where: str = Field(description="Path to the value in the request.", examples=["body.plan.0"])
    message: str = Field(description="What was expected and what was found.")


class Problem(BaseModel):
    """Why a request was refused."""

    code: str = Field(description="Stable, for programs.", examples=["unknown_session"])
    message: str = Field(description="What was expected, what was found and what to do.")
    details: list[Detail] = []


class RefusedRequest(HTTPException):
    """Ends a request with a problem as its answer.

    Args:
        status: HTTP status 4xx, or 503.
        code: stable code for programs.
        message: what was expected, what was found and what to do.
        headers: headers of the answer.
    """

    def __init__(self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, message, dict(headers or {}))
        self.problem = Problem(code=code, message=message)


REASONS = {
    400: "The request cannot be read.",
    401: "The bearer token is missing or wrong.",
    403: "A web page of another site asks, or the server is addressed by a foreign name.",
    404: "There is no such session.",
    405: "The path does not have this method.",
    408: "The request took too long to arrive.",
    409: "The session has not asked for this, or is busy.",
    413: "The request is too large.",
    422: "Something in the request is not as it has to be.",
    429: "There are too many requests, sessions, or listeners of one.",
    503: "The process that worked on it has ended; nothing has changed.",
}
"""Status of a refusal -> its description in the schema."""


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the schema of the refusals of an operation, including those of all operations."""
    general = (400, 401, 403, 408, 413, 422, 429)
    return {status: {"model": Problem, "description": REASONS[status]} for status in sorted({*general, *statuses})}


def shown(value: object) -> str:
    """Return a found value as short ASCII text."""
    text = ascii(value)
    return text if len(text) <= FOUND_LENGTH else f"{text[:FOUND_LENGTH]}..."


def answer(problem: Problem, status: int, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Return a problem as a response."""
    return JSONResponse(problem.model_dump(), status, dict(headers or {}))


def code_of(error: NsrecoverError) -> str:
    """Return the code of an error: `InvalidObservation` -> `invalid_observation`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", type(error).__name__).lower()


def add_handlers(app: FastAPI) -> None:
    """Add handlers that answer all errors as problems."""

    @app.exception_handler(NsrecoverError)
    async def mistaken(request: Request, error: NsrecoverError) -> JSONResponse:
        status = 409 if isinstance(error, OutOfTurn) else 422
        return answer(Problem(code=code_of(error), message=_sendable(str(error))), status)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        details = [_detail(each) for each in error.errors()[:20]]
        first = f"{details[0].where}: {details[0].message}" if details else "expected another request"
        message = f"{first}; see /docs for what this path takes"
        return answer(Problem(code="invalid_request", message=message, details=details), 422)

    @app.exception_handler(PlainHTTPException)
    async def http(request: Request, error: PlainHTTPException) -> JSONResponse:
        if isinstance(error, RefusedRequest):
            return answer(error.problem, error.status_code, error.headers)
        code, message = {
            400: ("unreadable", ""),
            404: ("unknown_path", "expected a path of this interface, found none; see /docs"),
            405: (
                "unknown_method", f"expected another method than {shown(request.method)} for this path; see /docs"
            ),
        }.get(error.status_code, ("refused", ""))  # fmt: skip
        message = message or f"expected a request that can be read, found: {_sendable(str(error.detail))}"
        return answer(Problem(code=code, message=message), error.status_code, error.headers)

    @app.exception_handler(Exception)
    async def broken(request: Request, error: Exception) -> JSONResponse:
        logging.getLogger("nsrecover.server").error("a request failed", exc_info=error)
        return answer(Problem(code="server_error", message="the server failed; its log says why"), 500)


def _detail(error: Mapping[str, Any]) -> Detail:
    found = error.get("input")
    plain = isinstance(found, str | int | float | bool) or found is None
    text = f"{error.get('msg', 'not as expected')}, found {shown(found if plain else type(found).__name__)}"
    return Detail(where=_sendable(".".join(map(str, error.get("loc", ())))), message=_sendable(text))


def _sendable(text: str) -> str:
    """Without halves of surrogate pairs, which JSON may hold and UTF-8 may not."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")

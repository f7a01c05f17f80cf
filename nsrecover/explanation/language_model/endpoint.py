"""Client for language models behind an OpenAI-compatible address: hosted, vLLM, Ollama, llama.cpp.

Needs the `openai` client (`pip install 'nsrecover[llm]'`), which is imported with the first request.
"""

from __future__ import annotations

import asyncio
import math
import os
import threading
import time
from collections.abc import AsyncIterator
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from nsrecover.core.prompts import Completion, Listener, Prompt
from nsrecover.errors import InvalidConfiguration, ModelFailure
from nsrecover.util.extras import needs_extra
from nsrecover.util.untrusted_json import parse_json

if TYPE_CHECKING:
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient

LONGEST_ANSWER = 1_000_000
"""Maximum length of an answer, in bytes or characters; some thousand sentences."""

MOST_BYTES = 10 * LONGEST_ANSWER
"""Most bytes of an answer: each of its events, of one word, has a frame."""

KEY = "OPENAI_API_KEY"
_TOO_LONG = f"the answer is longer than {LONGEST_ANSWER:,} bytes"


@dataclass(frozen=True)
class TokenPrice:
    """Price of an endpoint per million tokens, in any currency."""

    prompt: float
    completion: float


@dataclass(frozen=True)
class Endpoint:
    """A language model behind an address; a `nsrecover.core.protocols.LanguageModel`.

    Attributes:
        url: base address, below which `chat/completions` lies, e.g. `http://127.0.0.1:8080/v1`.
        model: name of the model there; if empty, the first that the endpoint lists.
        key: API key; if None, that of the environment variable `OPENAI_API_KEY`.
        retries: number of retries after a failed connection, a rate limit or a server error.
        temperature: of sampling; 0 for the likeliest words.
        price: for computing the cost of an answer; optional.
    """

    url: str
    model: str = ""
    key: str | None = field(default=None, repr=False)
    retries: int = 2
    temperature: float = 0.0
    price: TokenPrice | None = None

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise InvalidConfiguration(
                f"expected the address of an OpenAI-compatible endpoint such as http://127.0.0.1:8080/v1, "
                f"found {self.url!r}"
            )

    @property
    def name(self) -> str:
        """The name of the model, or the address if the endpoint chooses the model."""
        return self.model or urlsplit(self.url).netloc.rpartition("@")[2]

    def complete(self, prompt: Prompt, *, timeout_s: float, on_text: Listener | None = None) -> Completion:
        """Return the answer to a prompt within the time limit; see `nsrecover.core.protocols.LanguageModel`.

        Raises:
            ModelFailure: the endpoint cannot be reached, refuses, sends an unreadable answer, or is too slow.
            InvalidConfiguration: the client is not installed.
        """
        started = time.monotonic()
        if timeout_s <= 0:
            raise ModelFailure("no time was left to ask the language model")
        answer = Future[Completion]()

        def ask() -> None:
            try:
                _client_class()  # the first import can take seconds, which count towards the limit
                left_s = timeout_s - (time.monotonic() - started)
                answer.set_result(asyncio.run(asyncio.wait_for(self._ask(prompt, on_text), left_s)))
            except BaseException as error:
                answer.set_exception(error)

        # A separate event loop in a separate thread: the deadline holds even if the server sends a byte every second
        # for ever, and the caller may already run an event loop.
        threading.Thread(target=ask, name="nsrecover-language-model", daemon=True).start()
        try:
            return replace(answer.result(timeout_s + 0.5), seconds=time.monotonic() - started)
        except TimeoutError as error:
            raise ModelFailure(f"no complete answer within {timeout_s:.3g} seconds") from error

    async def _ask(self, prompt: Prompt, on_text: Listener | None) -> Completion:
        """Ask with the answer's schema, and once more without it if the server does not support schemas."""
        import openai

        key = self.key or os.environ.get(KEY) or "none"
        try:
            async with (
                _limited_client() as http,
                _client_class()(
                    base_url=self.url, api_key=key, max_retries=self.retries, timeout=None, http_client=http
                ) as client,
            ):
                model = self.model or await _first_model(client)
                try:
                    return await self._answer(client, model, prompt, prompt.schema is not None, on_text)
                except openai.APIStatusError as error:
                    if prompt.schema is None or error.status_code not in (400, 422):
                        raise
                    return await self._answer(client, model, prompt, False, on_text)
        except Exception as error:
            raise ModelFailure(f"the endpoint {self.name} gave no answer: {_problem(error)}") from None

    async def _answer(
        self, client: AsyncOpenAI, model: str, prompt: Prompt, schema: bool, on_text: Listener | None
    ) -> Completion:
        described = {"name": "explanation", "schema": prompt.schema, "strict": True}
        options: Any = {"response_format": {"type": "json_schema", "json_schema": described}} if schema else {}
        answer = await client.chat.completions.with_raw_response.create(
            model=model,
            messages=[{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
            temperature=self.temperature,
            max_tokens=prompt.max_tokens,
            stream=True,
            stream_options={"include_usage": True},
            **options,
        )
        pieces, size, usage, cut = list[str](), 0, dict[str, Any](), False
        async for event in _events(answer):
            usage = event.get("usage") or usage
            for choice in (event.get("choices") or [])[:1]:
                piece = (choice.get("delta") or choice.get("message") or {}).get("content") or ""
                cut = cut or choice.get("finish_reason") == "length"
                size += len(piece)
                if size > LONGEST_ANSWER:
                    raise _Broken(_TOO_LONG)
                if piece:
                    pieces.append(piece)
                    if on_text is not None:
                        on_text(piece)
        if not pieces:
            raise _Broken("the answer is empty, or not what an OpenAI-compatible endpoint sends")
        asked, answered = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
        cost = None
        if self.price is not None and asked is not None and answered is not None:
            cost = (asked * self.price.prompt + answered * self.price.completion) / 1e6
        attempts = 1 + answer.retries_taken
        return Completion("".join(pieces), asked, answered, attempts=attempts, cost=cost, truncated=cut)


class _Broken(Exception):
    """The answer of the endpoint cannot be used."""


def _limited_client() -> DefaultAsyncHttpxClient:
    """An HTTP client that follows no redirect, as prompts are for one host, and reads so much of an answer only.

    Answers are asked for without compression, so that the bytes that arrive are the bytes that are read.
    """
    from openai import DefaultAsyncHttpxClient

    async def limit(response: Any) -> None:
        if response.has_redirect_location:
            raise _Broken("it sends the request to another address; name that one if you trust it")
        if response.headers.get("content-encoding", "identity") != "identity":
            raise _Broken("its answer is compressed, which was not asked for")
        response.stream = _limited(response)

    return DefaultAsyncHttpxClient(
        follow_redirects=False, timeout=None, headers={"Accept-Encoding": "identity"}, event_hooks={"response": [limit]}
    )


def _limited(response: Any) -> Any:
    """The body of an answer, which ends with an error where it is too long."""
    stream = response.stream
    kind: Any = import_module(type(response).__module__.partition(".")[0]).AsyncByteStream  # of the client's library

    class Limited(kind):  # type: ignore[misc]
        async def __aiter__(self) -> AsyncIterator[bytes]:
            left = MOST_BYTES
            async for part in stream:
                left -= len(part)
                if left < 0:
                    raise _Broken(_TOO_LONG)
                yield part

        async def aclose(self) -> None:
            await stream.aclose()

    return Limited()


async def _events(answer: Any) -> AsyncIterator[dict[str, Any]]:
    """Yield the events of a streamed answer, or the single document of an endpoint that does not stream."""
    if "text/event-stream" in answer.headers.get("content-type", ""):
        async for chunk in answer.parse():
            yield chunk.model_dump()
        return
    body = b""
    async for part in answer.http_response.aiter_bytes():
        body += part
        if len(body) > LONGEST_ANSWER:
            raise _Broken(_TOO_LONG)
    yield parse_json(body)


async def _first_model(client: AsyncOpenAI) -> str:
    async for model in client.models.list():
        return str(model.id)
    raise _Broken("it lists no model; name one with --llm-model")


def _count(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) and math.isfinite(value) and value >= 0 else None


def _problem(error: BaseException) -> str:
    """Return why there is no answer."""
    import openai

    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, _Broken):
            return str(cause)
        cause = cause.__cause__
    match error:
        case openai.APIStatusError():
            return f"HTTP status {error.status_code}"
        case openai.APIError() if not isinstance(error, openai.APIConnectionError):
            return "the endpoint reports an error in its answer"
        case ValueError() | AttributeError() | TypeError():
            return "the answer is not what an OpenAI-compatible endpoint sends"
    # Libraries below the client raise errors of their own when a connection drops during the answer.
    while error.__cause__ is not None:
        error = error.__cause__
    return f"connection failed ({type(error).__name__})"


def _client_class() -> type[AsyncOpenAI]:
    with needs_extra("llm", "openai"):
        from openai import AsyncOpenAI
    return AsyncOpenAI

"""Valid and invalid requests for the server, generated from its schema."""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Any
from urllib import request

import hypothesis
import numpy as np
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from eval.checks.fuzz.findings import Findings
from nsrecover.integrations.client import Client, observation_message, png
from nsrecover.records.recording import example

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
SHORT_S = 0.05
"""Time to listen for events and to plan, short because there are many cases."""
ROUND = 600
"""Requests with one seed at most."""


Operation = APIOperation[Any, Any, Any, Any]
NUMBER = re.compile(r"\s*\+?[0-9.]+([eE][+-]?[0-9]+)?\s*")


def images() -> list[bytes]:
    """Return valid, wrong, damaged and malicious PNG files."""
    seen = example("collapse").observations[0]
    rgb, depth = png(seen.rgb[0]), png((seen.depth_m[0] * 1000).astype(np.uint16))
    masks = png(seen.instances[0].astype(np.uint16))
    small = [png(np.zeros((2, 2, 3), np.uint8)), png(np.ones((2, 2), np.uint16)), png(np.ones((2, 2), np.uint8))]
    bomb = _chunked(struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0), zlib.compress(bytes(10_000_000)))
    short = _chunked(struct.pack(">IIBBBBB", 64, 64, 8, 2, 0, 0, 0), zlib.compress(b"\0" * 10))
    # wrong sizes, lengths and checksums
    broken = [rgb[:cut] for cut in (0, 7, 20, 40, len(rgb) // 2)]
    flipped = [rgb[:at] + bytes([rgb[at] ^ 0xFF]) + rgb[at + 1 :] for at in (9, 17, 24, 25, 28, 34, 60, len(rgb) // 2)]
    return [rgb, rgb, depth, depth, masks, masks, *small, bomb, short, *broken, *flipped, b"GIF89a" + bytes(40)]


def _chunked(header: bytes, data: bytes) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(part)) + kind + part + struct.pack(">I", zlib.crc32(kind + part))
        for kind, part in ((b"IHDR", header), (b"IDAT", data), (b"IEND", b""))
    )


class Sessions:
    """Sessions in different states for the requests; closed ones are opened again.

    Args:
        url: of the server.
    """

    def __init__(self, url: str) -> None:
        episode = example("collapse")
        plan = [str(action) for action in episode.plan]
        seen = [observation_message(episode.observations[number]) for number in (0, 4)]
        boxes = {"a": [0.5, 0.0, 0.02, 0.04, 0.04, 0.04], "b": [0.5, 0.2, 0.02, 0.04, 0.04, 0.04]}

        def fresh() -> Client:
            return Client(plan, url, budget_s=SHORT_S)

        def started() -> Client:
            client = fresh()
            client.call("POST", "/observations", seen[0])
            return client

        def astray() -> Client:
            client = started()
            client.call("POST", "/observations", seen[1])
            return client

        def boxed() -> Client:
            client = Client(["top(a, b)"], url, system="boxes", budget_s=SHORT_S)
            client.scene(boxes)
            return client

        def asking() -> Client:
            client = Client(["top(a, b)"], url, system="boxes", budget_s=SHORT_S, approve=True)
            client.scene(boxes)
            for _ in range(2):
                client.scene({**boxes, "a": [0.6, -0.2, 0.02, 0.04, 0.04, 0.04]})
            return client

        self._url = url
        self._makers: Iterator[tuple[int, Callable[[], Client]]] = itertools.cycle(
            enumerate((fresh, started, astray, boxed, asking))
        )
        self._open: dict[int, Client] = {}

    def name(self) -> str:
        """Return the name of an open session."""
        number, make = next(self._makers)
        client = self._open.get(number)
        try:
            if client is not None:
                client.call("GET", "")
        except Exception:
            client = None
        if client is None:
            client = self._open[number] = make()
        return client.path.rsplit("/", 1)[1]


def fuzz(url: str, seed: int, cases: int) -> Findings:
    """Send requests generated from the schema of a server, the same number for every operation, half of them invalid.

    Args:
        url: of the server.
        seed: of the requests.
        cases: number of requests.
    """
    pictures = images()
    texts = [base64.b64encode(picture).decode() for picture in pictures]
    schemathesis.openapi.format("base64", st.sampled_from(texts) | st.text())
    schemathesis.openapi.format("binary", st.sampled_from(pictures) | st.binary())
    schemathesis.openapi.media_type("image/png", st.sampled_from(pictures) | st.binary())
    with request.urlopen(f"{url}/openapi.json") as answer:
        schema = schemathesis.openapi.from_dict(json.load(answer))
    operations: list[Operation] = [each.ok() for each in schema.get_all_operations() if isinstance(each, Ok)]
    findings, sessions = Findings(), Sessions(url)

    def over() -> bool:
        return findings.inputs >= cases

    modes = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    each = max(1, round(min(cases, ROUND) / len(operations) / len(modes)))
    for number in itertools.count():
        for operation, mode in itertools.product(operations, modes):
            if over():
                return findings
            _attack(operation, mode, each, seed * 1_000_000 + number, url, sessions, findings, over)
    raise AssertionError


def _attack(
    operation: Operation,
    mode: GenerationMode,
    cases: int,
    seed: int,
    url: str,
    sessions: Sessions,
    findings: Findings,
    over: Callable[[], bool],
) -> None:
    """Test one operation with valid or invalid requests."""
    cameras = [view["camera"] for view in observation_message(example("collapse").observations[0])["views"]]

    @hypothesis.seed(seed)
    @settings(
        max_examples=cases, deadline=None, database=None, suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )  # fmt: skip
    @given(case=operation.as_strategy(mode), known=st.integers(0, 3))
    def attempt(case: schemathesis.Case[Any], known: int) -> None:
        if over():
            return
        if known and "session" in (case.path_parameters or {}):
            case.path_parameters["session"] = sessions.name()
        query = dict(case.query or {})
        if case.path.endswith("/events") and NUMBER.fullmatch(str(query.setdefault("wait_s", SHORT_S))):
            query["wait_s"] = SHORT_S
        case.query = query
        if known > 1 and isinstance(case.body, dict) and isinstance(views := case.body.get("views"), list):
            # sometimes real cameras, because random ones are rarely rigid
            for view, camera in zip(views, itertools.cycle(cameras), strict=False):
                if isinstance(view, dict):
                    view["camera"] = camera
        response = case.call(base_url=url, timeout=60)
        try:
            case.validate_response(response, checks=CHECKS)
            findings.count(str(response.status_code))
        except (Exception, BaseExceptionGroup) as broken:
            reasons = getattr(broken, "exceptions", (broken,))
            said = "\n".join([case.as_curl_command()[:600], *(str(reason)[:600] for reason in reasons)])
            place = f"{operation.label}, {', '.join(sorted({type(reason).__name__ for reason in reasons}))}"
            findings.fail(place, said, as_bytes(response.request, (case.path_parameters or {}).get("session", "")))

    with contextlib.suppress(Unsatisfiable):  # a request without parameters has no invalid form
        attempt()


def as_bytes(sent: Any, session: str) -> bytes:
    """A request for the corpus, with `{session}` in the place of the name of its session."""
    body = sent.body.encode() if isinstance(sent.body, str) else sent.body or b""
    path = sent.path_url.replace(session, "{session}") if session else sent.path_url
    head = {"method": sent.method, "path": path, "type": sent.headers.get("Content-Type", "")}
    return json.dumps(head).encode() + b"\n" + body


def status_of(data: bytes, http: Any, session: str) -> int:
    """Status of the answer to a request of the corpus.

    Args:
        data: from `as_bytes`.
        http: client with a method `request`, as `httpx.Client` has it.
        session: name of an open session.
    """
    head, _, body = data.partition(b"\n")
    given = json.loads(head)
    headers = {"Content-Type": given["type"]} if given["type"] else {}
    answer = http.request(given["method"], given["path"].replace("{session}", session), content=body, headers=headers)
    return int(answer.status_code)

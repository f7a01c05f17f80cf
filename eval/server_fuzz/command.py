"""`python -m eval.server_fuzz`: send the server valid and invalid requests, generated from its schema."""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import re
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
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
from tqdm import tqdm

from eval.common.output import write_results
from eval.common.served import served
from eval.common.tables import document, markdown_table
from nsrecover.errors import InvalidConfiguration
from nsrecover.integrations.client import Client, observation_message, png
from nsrecover.records.recording import example

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
SHORT_S = 0.05
"""Time to listen for events and to plan, short because there are many cases."""


Operation = APIOperation[Any, Any, Any, Any]
NUMBER = re.compile(r"\s*\+?[0-9.]+([eE][+-]?[0-9]+)?\s*")


@dataclass
class ServerFuzzConfig:
    """Top level of conf/server_fuzz.yaml."""

    cases: int = 2600
    seed: int = 0
    out: str = "outputs/server_fuzz"


@dataclass
class Fuzzed:
    """Result of a fuzz test.

    Attributes:
        cases: number of requests, by operation.
        statuses: number of answers, by status.
        failures: requests with invalid answers, and the reasons.
    """

    cases: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    @property
    def server_errors(self) -> int:
        """Number of answers with status 500 and above."""
        return sum(count for status, count in self.statuses.items() if status >= 500)


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
            return Client(plan, url)

        def started() -> Client:
            client = fresh()
            client.call("POST", "/observations", seen[0])
            return client

        def astray() -> Client:
            client = started()
            client.call("POST", f"/observations?budget_s={SHORT_S}", seen[1])
            return client

        def boxed() -> Client:
            client = Client(["top(a, b)"], url)
            client.scene(boxes)
            return client

        self._url = url
        self._makers: Iterator[tuple[int, Callable[[], Client]]] = itertools.cycle(
            enumerate((fresh, started, astray, boxed))
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


def fuzz(url: str, cases: int, seed: int, on_case: Callable[[], object] = lambda: None) -> Fuzzed:
    """Send requests generated from the schema of a server.

    Args:
        url: of the server.
        cases: approximate number; the same for every operation, half of them invalid.
        seed: of the requests.
        on_case: called after each.
    """
    pictures = images()
    texts = [base64.b64encode(picture).decode() for picture in pictures]
    schemathesis.openapi.format("base64", st.sampled_from(texts) | st.text())
    schemathesis.openapi.format("binary", st.sampled_from(pictures) | st.binary())
    schemathesis.openapi.media_type("image/png", st.sampled_from(pictures) | st.binary())
    with request.urlopen(f"{url}/openapi.json") as answer:
        schema = schemathesis.openapi.from_dict(json.load(answer))
    operations: list[Operation] = [each.ok() for each in schema.get_all_operations() if isinstance(each, Ok)]
    fuzzed, sessions = Fuzzed(), Sessions(url)
    each = max(1, round(cases / len(operations) / 2))
    for operation, mode in itertools.product(operations, (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)):
        _attack(operation, mode, each, seed, url, sessions, fuzzed, on_case)
    return fuzzed


def _attack(
    operation: Operation,
    mode: GenerationMode,
    cases: int,
    seed: int,
    url: str,
    sessions: Sessions,
    fuzzed: Fuzzed,
    on_case: Callable[[], object],
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
        if known and "session" in (case.path_parameters or {}):
            case.path_parameters["session"] = sessions.name()
        query = dict(case.query or {})
        if case.path.endswith("/events"):
            query.setdefault("wait_s", SHORT_S)
        for name in query.keys() & {"wait_s", "budget_s"}:
            if isinstance(query[name], int | float | str) and NUMBER.fullmatch(str(query[name])):
                query[name] = SHORT_S
        case.query = query
        if known > 1 and isinstance(case.body, dict) and isinstance(views := case.body.get("views"), list):
            # sometimes real cameras, because random ones are rarely rigid
            for view, camera in zip(views, itertools.cycle(cameras), strict=False):
                if isinstance(view, dict):
                    view["camera"] = camera
        response = case.call(base_url=url, timeout=60)
        fuzzed.cases[operation.label] += 1
        fuzzed.statuses[response.status_code] += 1
        try:
            case.validate_response(response, checks=CHECKS)
        except (Exception, BaseExceptionGroup) as broken:
            reasons = getattr(broken, "exceptions", (broken,))
            said = [case.as_curl_command()[:600], *(str(reason)[:600] for reason in reasons)]
            fuzzed.failures.append("\n".join(said))
        on_case()

    with contextlib.suppress(Unsatisfiable):  # a request without parameters has no invalid form
        attempt()


def measure(config: ServerFuzzConfig) -> dict[str, Any]:
    """Test a server and write metrics and table.

    Raises:
        InvalidConfiguration: a setting is out of its range.
    """
    if config.cases < 1:
        raise InvalidConfiguration(f"expected cases >= 1, found {config.cases}")
    with served() as server, tqdm(total=config.cases, unit="case", desc="attacking") as bar:
        fuzzed = fuzz(server.url, config.cases, config.seed, bar.update)
    metrics = {
        "cases": fuzzed.cases.total(),
        "operations": dict(fuzzed.cases),
        "server_errors": fuzzed.server_errors,
        "failures": len(fuzzed.failures),
        "first_failures": fuzzed.failures[:10],
        "statuses": {str(status): count for status, count in sorted(fuzzed.statuses.items())},
        "seed": config.seed,
    }
    write_results(config.out, metrics, table_of(metrics), config)
    return metrics


def table_of(metrics: dict[str, Any]) -> str:
    """Metrics as a table, with the first failures."""
    return document(
        f"{metrics['cases']} requests: {metrics['server_errors']} answers of 500 and above, "
        f"{metrics['failures']} answers that are not as the schema says",
        markdown_table(("status", "answers"), list(metrics["statuses"].items())),
        "\n".join(metrics["first_failures"][:3]),
    )

"""Valid and invalid requests for the server, generated from its schema by schemathesis."""

from __future__ import annotations

import base64
import contextlib
import itertools
import re
from collections.abc import Callable
from typing import Any

import hypothesis
import numpy as np
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from eval.checks.fuzz.reading import Findings, Outcome
from nsrecover.records.recording import example
from nsrecover.serving.client import Client, observation_message, png

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
SHORT_S = 0.05
"""Time to listen for events and to plan, short because there are many cases."""
ROUND = 600
"""Requests with one seed at most."""
NUMBER = re.compile(r"\s*\+?[0-9.]+([eE][+-]?[0-9]+)?\s*")
BOXES = {"a": [0.5, 0.0, 0.02, 0.04, 0.04, 0.04], "b": [0.5, 0.2, 0.02, 0.04, 0.04, 0.04]}


def images() -> list[bytes]:
    """Return valid, wrong and damaged PNG files."""
    seen = example("collapse").observations[0]
    rgb, depth = png(seen.rgb[0]), png((seen.depth_m[0] * 1000).astype(np.uint16))
    small = [png(np.zeros((2, 2, 3), np.uint8)), png(np.ones((2, 2), np.uint16)), png(np.ones((2, 2), np.uint8))]
    # wrong sizes, lengths and checksums
    broken = [rgb[:cut] for cut in (0, 7, 20, 40, len(rgb) // 2)]
    flipped = [rgb[:at] + bytes([rgb[at] ^ 0xFF]) + rgb[at + 1 :] for at in (9, 17, 24, 25, 28, 34, 60, len(rgb) // 2)]
    return [rgb, rgb, depth, depth, png(seen.instances[0].astype(np.uint16)), *small, *broken, *flipped, b"GIF89a"]


def sessions(url: str) -> Callable[[], str]:
    """Names of open sessions in five states, in turn: new, begun, astray, of boxes, and waiting for a person."""
    episode = example("collapse")
    plan = [str(action) for action in episode.plan]
    looks = [("/observations", observation_message(episode.observations[number])) for number in (0, 4)]
    objects = [{"name": name, "box": box} for name, box in BOXES.items()]
    moved = [{**objects[0], "box": [0.6, -0.2, *BOXES["a"][2:]]}, objects[1]]
    seen, otherwise = (("/scenes", {"objects": each}) for each in (objects, moved))
    boxes: tuple[list[str], dict[str, Any]] = ["top(a, b)"], {"system": "boxes"}
    states: list[tuple[list[str], dict[str, Any], list[tuple[str, Any]]]] = [
        (plan, {}, []), (plan, {}, looks[:1]), (plan, {}, looks), (*boxes, [seen]),
        (boxes[0], {**boxes[1], "approve": True}, [seen, otherwise, otherwise]),
    ]  # fmt: skip
    open_: dict[int, Client] = {}
    turns = itertools.cycle(range(len(states)))

    def name() -> str:
        number = next(turns)
        with contextlib.suppress(Exception):
            open_[number].call("GET", "")
            return open_[number].path.rsplit("/", 1)[1]
        which, settings_, reports = states[number]
        open_[number] = Client(which, url, budget_s=SHORT_S, **settings_)
        for path, body in reports:
            open_[number].call("POST", path, body)
        return open_[number].path.rsplit("/", 1)[1]

    return name


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
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
    ways = [
        (each.ok(), mode)
        for each in schema.get_all_operations()
        if isinstance(each, Ok)
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    ]
    findings, session = Findings(), sessions(url)
    size = max(1, round(min(cases, ROUND) / len(ways)))
    for number in itertools.count():
        for operation, mode in ways:

            @hypothesis.seed(seed * 1_000_000 + number)
            @settings(
                max_examples=size, deadline=None, database=None, suppress_health_check=list(HealthCheck),
                phases=[Phase.generate],
            )  # fmt: skip
            @given(case=operation.as_strategy(mode), known=st.integers(0, 3))
            def attempt(case: schemathesis.Case[Any], known: int) -> None:
                if findings.outcomes.total() < cases:
                    findings.take(answered(case, known, session, url), b"")

            with contextlib.suppress(Unsatisfiable):  # a request without parameters has no invalid form
                attempt()
            if findings.outcomes.total() >= cases:
                return findings
    raise AssertionError


def answered(case: schemathesis.Case[Any], known: int, session: Callable[[], str], url: str) -> Outcome:
    """What came of a request, mostly about an open session; real cameras are put in, as random ones are not rigid."""
    if known and "session" in (case.path_parameters or {}):
        case.path_parameters["session"] = session()
    query = dict(case.query or {})
    if case.path.endswith("/events") and NUMBER.fullmatch(str(query.setdefault("wait_s", SHORT_S))):
        query["wait_s"] = SHORT_S
    case.query = query
    if known > 1 and isinstance(case.body, dict) and isinstance(views := case.body.get("views"), list):
        cameras = [view["camera"] for view in observation_message(example("collapse").observations[0])["views"]]
        for view, camera in zip(views, itertools.cycle(cameras), strict=False):
            if isinstance(view, dict):
                view["camera"] = camera
    response = case.call(base_url=url, timeout=60)
    try:
        case.validate_response(response, checks=CHECKS)
    except (Exception, BaseExceptionGroup) as broken:
        reasons = getattr(broken, "exceptions", (broken,))
        kinds = ", ".join(sorted({type(reason).__name__ for reason in reasons}))
        said = "\n".join([case.as_curl_command()[:600], *(str(reason)[:600] for reason in reasons)])
        return Outcome(f"{case.operation.label}, {kinds}", said)
    return Outcome(str(response.status_code))

"""Unauthorised, oversized and malformed requests are refused before they are processed."""

import asyncio
import io
import json
import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from nsrecover.errors import InvalidConfiguration, InvalidObservation
from nsrecover.serving.client import png
from nsrecover.serving.server import serve
from nsrecover.serving.server.images import DEPTH, INSTANCES, RGB, Kinds, read_png
from tests.nsrecover.serving.server.conftest import BOXES, LOCAL, application, opened, scene

TOKEN = "a-token-of-twenty-chars"

MIRRORED = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, -1, 0.5], [0, 0, 0, 1]]
"""Pose of a camera whose axes are left-handed."""


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.7.1", "robot.local"])
def test_an_address_that_others_can_reach_needs_a_token(host: str) -> None:
    with pytest.raises(InvalidConfiguration, match="expected a token for"):
        serve(host, port=0)


def test_a_short_token_is_refused() -> None:
    with pytest.raises(InvalidConfiguration, match="at least 16"):
        application("secret")


def test_an_extra_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nsrecover.serving.server.find_spec", lambda name: None)
    with pytest.raises(InvalidConfiguration, match=r"pip install 'nsrecover\[server\]'"):
        serve(port=0)


def test_a_port_in_use_is_told_before_anything_is_loaded() -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(InvalidConfiguration, match="--port 0"):
            serve(port=taken.getsockname()[1])


def test_with_a_token_nothing_is_told_without_it() -> None:
    with TestClient(application(TOKEN), base_url="http://robot.local") as http:
        assert http.get("/v1/health").json() == {"status": "ok"}
        for given_header in ({}, {"Authorization": f"Bearer {TOKEN}x"}, {"Authorization": f"Basic {TOKEN}"}):
            refused = http.post("/v1/sessions", json={"plan": ["top(a, b)"]}, headers=given_header)
            assert (refused.status_code, refused.json()["code"]) == (401, "unauthorized")
            assert refused.headers["www-authenticate"] == "Bearer"
        http.headers["Authorization"] = f"Bearer {TOKEN}"
        assert http.post(f"{opened(http, ['top(a, b)'])}/scenes", json=scene(BOXES)).status_code == 200


def test_without_a_token_web_pages_of_others_cannot_ask(http: TestClient) -> None:
    for host in ("evil.example", "[::1", "a@localhost", "127.0.0.1\\@evil.example", "localhost.evil.example"):
        foreign = http.get("/v1/causes", headers={"Host": host})
        assert (foreign.status_code, foreign.json()["code"]) == (403, "foreign_host"), host
    crossing = http.post("/v1/sessions", json={"plan": ["top(a, b)"]}, headers={"Origin": "http://evil.example"})
    assert (crossing.status_code, crossing.json()["code"]) == (403, "foreign_origin")
    for host in ("localhost:8765", "127.0.0.1:8765", "[::1]:8765"):
        assert http.get("/v1/causes", headers={"Host": host}).status_code == 200
    assert http.get("/v1/causes", headers={"Origin": LOCAL}).status_code == 200


def test_large_bodies_are_not_read() -> None:
    with TestClient(application(body_bytes=10_000, body_values=500), base_url=LOCAL) as http:
        declared = http.post("/v1/sessions", content=b"x" * 10_001)
        assert (declared.status_code, declared.json()["code"]) == (413, "too_large")
        streamed = http.post(
            "/v1/sessions", content=iter([b"x" * 4000] * 3), headers={"Content-Type": "application/json"}
        )
        assert (streamed.status_code, streamed.json()["code"]) == (413, "too_large")
        many = http.post("/v1/sessions", content=b"[" * 501, headers={"Content-Type": "application/json"})
        assert (many.status_code, many.json()["code"]) == (413, "too_many_values")
        opened(http, ["top(a, b)"])


def test_a_request_that_dribbles_in_is_given_up() -> None:
    app = application(receive_s=0.2)
    answered: list[Any] = []

    async def dribble() -> dict[str, Any]:
        await asyncio.sleep(0.15)
        return {"type": "http.request", "body": b"{", "more_body": True}

    async def send(message: Any) -> None:
        answered.append(message)

    scope = {
        "type": "http", "method": "POST", "path": "/v1/sessions", "raw_path": b"/v1/sessions", "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")], "http_version": "1.1",
        "scheme": "http", "server": ("localhost", 80), "client": ("127.0.0.1", 1), "root_path": "",
    }  # fmt: skip
    asyncio.run(app(scope, dribble, send))
    assert answered[0]["status"] == 408


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"null", b"[]", b'{"plan": NaN}', b'{"plan": ["\\ud800(a)"]}', b'{"plan": [' + b"1" * 5000 + b"]}",
        b"[" * 20_000, b"\xff\xfe", b'{"plan": ["top(a, b)"], "system": "\\ud800"}',
    ],
)  # fmt: skip
def test_nonsense_is_answered_by_a_problem(http: TestClient, body: bytes) -> None:
    refused = http.post("/v1/sessions", content=body, headers={"Content-Type": "application/json"})
    assert refused.status_code in (400, 422)
    assert refused.json()["message"].startswith(("expected", "body"))


def test_unknown_paths_and_methods_are_problems_too(http: TestClient) -> None:
    assert http.get("/v2").json()["code"] == "unknown_path"
    assert http.patch("/v1/sessions").json()["code"] == "unknown_method"
    assert http.get("/v1/sessions/%ff%00").status_code == 404


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda m: m["views"][0].update(rgb_png="data:image/png;base64,AAAA"), "expected a PNG as base64"),
        (lambda m: m["views"][0].update(depth_png=m["views"][0]["instances_png"][:40]), "expected a"),
        (lambda m: m["views"][0]["camera"].update(world_from_camera=MIRRORED), "rigid world_from_camera"),
        (lambda m: m["views"][0]["camera"].update(intrinsics=[[0, 0, 0]] * 3), "focal lengths"),
        (lambda m: m.update(labels={"1": "a", "2": "a"}), "different name"),
        (lambda m: m.update(views=[]), "views"),
        (lambda m: m.update(depth_unit_m=0), "depth_unit_m"),
    ],
)
def test_observations_that_do_not_fit_are_refused(
    cameras: TestClient, plan: list[str], seen: list[dict[str, Any]], change: Callable[[Any], None], said: str
) -> None:
    message = json.loads(json.dumps(seen[0]))
    change(message)
    refused = cameras.post(f"{opened(cameras, plan)}/observations", json=message)
    assert refused.status_code == 422
    assert said in refused.text


def chunked(*chunks: tuple[bytes, bytes]) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )


def test_a_bomb_is_recognised_by_its_header() -> None:
    header = struct.pack(">IIBBBBB", 50_000, 50_000, 8, 2, 0, 0, 0)
    bomb = chunked((b"IHDR", header), (b"IDAT", zlib.compress(bytes(50_000_000), 9)), (b"IEND", b""))
    assert len(bomb) < 60_000
    with pytest.raises(InvalidObservation, match="at most 4000000 pixels, found 50000 x 50000"):
        read_png(bomb, "view 0, rgb", RGB, 4_000_000)


def test_text_that_unpacks_to_too_much_is_refused() -> None:
    header = struct.pack(">IIBBBBB", 2, 2, 8, 2, 0, 0, 0)
    text = b"comment\0\0" + zlib.compress(bytes(100_000_000), 9)
    image = chunked((b"IHDR", header), (b"zTXt", text), (b"IDAT", zlib.compress(bytes(14))), (b"IEND", b""))
    with pytest.raises(InvalidObservation, match="damaged"):
        read_png(image, "view 0, rgb", RGB, 100)


IMAGES: list[tuple[Kinds, np.ndarray]] = [
    (RGB, np.arange(90, dtype=np.uint8).reshape(5, 6, 3)),
    (DEPTH, np.arange(0, 60_000, 2000, dtype=np.uint16).reshape(5, 6)),
    (INSTANCES, np.arange(30, dtype=np.uint8).reshape(5, 6)),
    (INSTANCES, np.arange(300, 330, dtype=np.uint16).reshape(5, 6)),
]


def test_palettes_are_read_as_instance_numbers() -> None:
    from PIL import Image

    mask = Image.fromarray(np.array([[0, 1], [2, 3]], np.uint8), mode=None).convert("P")
    mask.putdata([0, 1, 2, 3])
    file = io.BytesIO()
    mask.save(file, "PNG", bits=8)
    assert read_png(file.getvalue(), "mask", INSTANCES, 100).tolist() == [[0, 1], [2, 3]]


@settings(max_examples=200, deadline=None)
@given(
    which=st.integers(0, 3), cuts=st.lists(st.tuples(st.floats(0, 1), st.binary(max_size=6)), min_size=1, max_size=4)
)
def test_damaged_files_are_read_or_refused_and_nothing_else(which: int, cuts: list[tuple[float, bytes]]) -> None:
    kinds, pixels = IMAGES[which]
    data = png(pixels)
    for share, put in cuts:
        at = int(share * len(data))
        data = data[:at] + put + data[at + len(put) :]
    refused = ""
    try:
        size = read_png(data, "image", kinds, 10_000).shape[:2]
    except InvalidObservation as error:
        refused, size = str(error), (0, 0)
    assert refused.startswith("image: expected") or 0 < size[0] * size[1] <= 10_000

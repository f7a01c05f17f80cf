"""Requests, text files and extras as other people's tools send, write and ask for them."""

import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from nsrecover.util.untrusted_json import InvalidJson, read_json, read_text
from tests.nsrecover.serving.server.conftest import application, opened

TOKEN = "a-token-of-twenty-chars"


@pytest.mark.parametrize("path", ["/v1/health", "/v1/causes", "/docs", "/openapi.json", "SESSION", "SESSION/events"])
def test_head_is_get_without_a_body(path: str) -> None:
    with TestClient(application(), base_url="http://localhost") as http:
        path = path.replace("SESSION", opened(http, ["top(a, b)"]))
        found = http.head(path)
        assert (found.status_code, found.content) == (200, b"")
        if not path.endswith("events"):
            shown = http.get(path)
            assert found.headers["content-type"] == shown.headers["content-type"]
            assert found.headers["content-length"] == shown.headers["content-length"]


@pytest.mark.parametrize(("path", "status"), [("/v1/nothing", 404), ("/v1/sessions/none", 404), ("/v1/sessions", 405)])
def test_head_is_refused_as_get_is(path: str, status: int) -> None:
    with TestClient(application(), base_url="http://localhost") as http:
        assert (http.head(path).status_code, http.get(path).status_code) == (status, status)
        assert http.head(path).content == b""


def test_health_without_a_token_tells_only_that_the_server_lives() -> None:
    with TestClient(application(TOKEN), base_url="http://robot.local") as http:
        assert http.get("/v1/health").json() == {"status": "ok"}
        assert http.get("/v1/health", headers={"Authorization": "Bearer wrong"}).json() == {"status": "ok"}
        assert http.head("/v1/health").status_code == 200
        assert http.head("/v1/causes").status_code == 401
        known = http.get("/v1/health", headers={"Authorization": f"Bearer {TOKEN}"}).json()
        assert set(known) == {"status", "version", "systems", "sessions"}


TEXT = "; größe … für jede Kiste\n"
ENCODED: dict[str, bytes] = {
    "UTF-8": TEXT.encode(),
    "UTF-8 with a byte order mark": TEXT.encode("utf-8-sig"),
    "Windows": TEXT.encode("cp1252"),
    "UTF-16": TEXT.encode("utf-16"),
    "UTF-16, big-endian": b"\xfe\xff" + TEXT.encode("utf-16-be"),
}


@pytest.mark.parametrize("data", ENCODED.values(), ids=ENCODED)
def test_text_of_other_editors_is_read(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.pddl").write_bytes(data)
    assert read_text(tmp_path / "a.pddl") == TEXT


NO_TEXT: dict[str, tuple[bytes, str]] = {
    "half of UTF-16": ("text".encode("utf-16")[:-1], "UTF-16"),
    "an image": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "not UTF-8"),
    "SQLite": (b"SQLite format 3\0\x10\0\xff\xfe", "not UTF-8"),
}


@pytest.mark.parametrize(("data", "named"), NO_TEXT.values(), ids=NO_TEXT)
def test_what_is_no_text_is_refused(data: bytes, named: str, tmp_path: Path) -> None:
    (tmp_path / "a.pddl").write_bytes(data)
    with pytest.raises(InvalidJson, match=named):
        read_text(tmp_path / "a.pddl")


def test_json_may_begin_with_a_byte_order_mark_and_is_never_latin_1(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_bytes(json.dumps({"größe": 1}, ensure_ascii=False).encode("utf-8-sig"))
    assert read_json(file) == {"größe": 1}
    file.write_bytes('{"größe": 1}'.encode("latin-1"))
    with pytest.raises(InvalidJson, match="iconv"):
        read_json(file)

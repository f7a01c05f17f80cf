"""The schema is committed, and its page loads nothing from elsewhere."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

from starlette.testclient import TestClient

from nsrecover.serving.server.__main__ import schema_text

ROOT = Path(__file__).parents[4]


def test_the_committed_schema_is_that_of_the_server(http: TestClient) -> None:
    committed = (ROOT / "docs" / "openapi.json").read_text(encoding="utf-8")
    assert committed == schema_text(), "python -m nsrecover.serving.server > docs/openapi.json"
    assert http.get("/openapi.json").json() == json.loads(committed)


class Loaded(HTMLParser):
    """Collects what a page would fetch, and its anchors."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.targets: set[str] = set()
        self.linked: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.fetched += [value or "" for name, value in attrs if name == "src" or (tag == "link" and name == "href")]
        self.targets |= {value for name, value in attrs if name == "id" and value}
        if tag == "a":
            self.linked.add(found.get("href") or "")


def test_the_page_fetches_nothing_and_documents_everything(http: TestClient) -> None:
    answer = http.get("/docs")
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    page = Loaded()
    page.feed(answer.text)
    assert page.fetched == []
    assert not re.search(r"<script|@import|url\(", answer.text)
    assert {link[1:] for link in page.linked if link.startswith("#")} <= page.targets
    schema = http.get("/openapi.json").json()
    for path in schema["paths"]:
        assert path in answer.text
    for name in schema["components"]["schemas"]:
        assert f'id="{name}"' in answer.text

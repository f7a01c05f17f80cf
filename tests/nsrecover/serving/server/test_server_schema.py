"""The schema is committed, and its page loads nothing from elsewhere."""

import json
import re
from pathlib import Path

from starlette.testclient import TestClient

from nsrecover.serving.server.__main__ import schema_text

ROOT = Path(__file__).parents[4]


def test_the_committed_schema_is_that_of_the_server(http: TestClient) -> None:
    committed = (ROOT / "docs" / "openapi.json").read_text(encoding="utf-8")
    assert committed == schema_text(), "python -m nsrecover.serving.server > docs/openapi.json"
    assert http.get("/openapi.json").json() == json.loads(committed)


def test_the_page_fetches_nothing_and_documents_everything(http: TestClient) -> None:
    answer = http.get("/docs")
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert not re.search(r"<script|<link|\bsrc=|@import|url\(", answer.text)
    assert set(re.findall(r'href="#([^"]+)"', answer.text)) <= set(re.findall(r'\bid="([^"]+)"', answer.text))
    schema = http.get("/openapi.json").json()
    for path in schema["paths"]:
        assert path in answer.text
    for name in schema["components"]["schemas"]:
        assert f'id="{name}"' in answer.text

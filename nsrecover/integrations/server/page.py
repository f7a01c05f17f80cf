"""The schema as an HTML page without scripts or external resources, so that it works on an isolated network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader

METHODS = ("get", "post", "put", "delete")


def page_of(schema: dict[str, Any]) -> str:
    """Return an HTML page that documents every path and message of an OpenAPI schema."""
    groups: dict[str, list[tuple[str, str, dict[str, Any]]]] = {}
    for path, methods in schema["paths"].items():
        for method in METHODS:
            if method in methods:
                groups.setdefault(methods[method].get("tags", ["other"])[0], []).append((path, method, methods[method]))
    templates = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    return templates.get_template("page.html.jinja").render(schema=schema, groups=groups)

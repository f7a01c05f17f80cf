"""The schema as a page: no script, nothing loaded from elsewhere, so that it works on a robot's own network."""

from __future__ import annotations

from html import escape
from typing import Any

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1c2430 }
h1 small { font-weight: normal; color: #667 } h2 { margin-top: 2.5rem; border-bottom: 1px solid #ccd }
code { font: 14px/1.45 ui-monospace, monospace } summary { cursor: pointer }
details { border: 1px solid #ccd; border-radius: 6px; margin: .6rem 0; padding: .5rem .9rem }
.get { color: #1660a8 } .post { color: #1a7a3c } .put { color: #9a6700 } .delete { color: #b3261e }
table { border-collapse: collapse; width: 100% } td { padding: .2rem .8rem .2rem 0; vertical-align: top }
"""

METHODS = ("get", "post", "put", "delete")


def page_of(schema: dict[str, Any]) -> str:
    """An HTML page that says what every path takes and answers.

    Args:
        schema: OpenAPI.
    """
    groups: dict[str, list[str]] = {}
    for path, methods in schema["paths"].items():
        for method in METHODS:
            if method in methods:
                operation = methods[method]
                groups.setdefault(operation.get("tags", ["other"])[0], []).append(_operation(path, method, operation))
    models = "".join(_model(name, model) for name, model in sorted(schema["components"]["schemas"].items()))
    body = "".join(f"<h2>{escape(group)}</h2>{''.join(operations)}" for group, operations in groups.items())
    title, version = escape(schema["info"]["title"]), escape(schema["info"]["version"])
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
        f"</head><body><h1>{title} <small>{version}</small></h1>{_paragraphs(schema['info']['description'])}"
        '<p>The same for programs: <a href="/openapi.json">openapi.json</a>. If the server has a token, send '
        f"<code>Authorization: Bearer TOKEN</code>.</p>{body}<h2>Messages</h2>{models}</body></html>"
    )


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
    parts = [_paragraphs(operation.get("description", ""))]
    if operation.get("parameters"):
        rows = "".join(
            _row(each["name"], f"in {each['in']}", each["schema"], each.get("description", ""), each.get("required"))
            for each in operation["parameters"]
        )
        parts.append(f"<table>{rows}</table>")
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        parts.append(f"<p>Takes <code>{escape(kind)}</code>: {_type(content['schema'])}</p>")
    refusals = []
    for status, answer in sorted(operation["responses"].items()):
        if status.startswith("4"):
            refusals.append(f'<b title="{escape(answer["description"])}">{escape(status)}</b>')
            continue
        kinds = ", ".join(_type(content.get("schema", {})) for content in answer.get("content", {}).values())
        parts.append(f"<div><b>{escape(status)}</b> {escape(answer['description'])} {kinds}</div>")
    parts.append(f"<div>Refusals: {' '.join(refusals)} {_type({'$ref': '#/components/schemas/Problem'})}</div>")
    return (
        f'<details><summary><code><b class="{method}">{method.upper()}</b> {escape(path)}</code> '
        f"{escape(operation.get('summary', ''))}</summary>{''.join(parts)}</details>"
    )


def _model(name: str, model: dict[str, Any]) -> str:
    required = model.get("required", [])
    rows = "".join(
        _row(field, "", each, each.get("description", ""), field in required)
        for field, each in model.get("properties", {}).items()
    )
    values = ", ".join(f"<code>{escape(str(value))}</code>" for value in model.get("enum", []))
    return (
        f'<details id="{escape(name)}"><summary><code>{escape(name)}</code></summary>'
        f"{_paragraphs(model.get('description', ''))}{values}<table>{rows}</table></details>"
    )


def _row(name: str, place: str, schema: dict[str, Any], description: str, required: bool | None) -> str:
    default = f"default <code>{escape(str(schema['default']))}</code>" if schema.get("default") is not None else ""
    notes = " ".join(part for part in (place, "" if required else "optional", default) if part)
    return (
        f"<tr><td><code>{escape(name)}</code></td><td>{_type(schema)}</td><td>{notes}</td>"
        f"<td>{escape(description)}</td></tr>"
    )


def _type(schema: dict[str, Any]) -> str:
    """A type in words, with links to other messages."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rsplit("/", 1)[1])
        return f'<a href="#{name}"><code>{name}</code></a>'
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        return " or ".join(_type(option) for option in options)
    if schema.get("type") == "array":
        if "prefixItems" in schema:
            return f"{len(schema['prefixItems'])} values: {_type(schema['prefixItems'][0])} each"
        return f"list of {_type(schema.get('items', {}))}"
    if "additionalProperties" in schema and schema.get("type") == "object":
        return f"object of {_type(schema['additionalProperties'])}" if schema["additionalProperties"] else "object"
    return escape(str(schema.get("format") or schema.get("type") or "anything"))


def _paragraphs(text: str) -> str:
    return "".join(f"<p>{escape(part)}</p>" for part in text.split("\n\n") if part.strip())

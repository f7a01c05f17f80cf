"""Sections of tables, as Markdown and as one HTML page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from eval.common.style import STYLE


@dataclass(frozen=True)
class Section:
    """A heading with a table or a picture below it.

    Attributes:
        title: the heading.
        text: what is shown, in a sentence or two; Markdown code and bold are understood.
        head: names of the columns; empty if there is no table.
        rows: cells, as text; `[words](address)` is a link.
        picture: file name of a picture beside the document; empty for none.
    """

    title: str
    text: str = ""
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = field(default=())
    picture: str = ""


def markdown(title: str, sections: Sequence[Section]) -> str:
    """The document as Markdown."""
    parts = [f"# {title}"]
    for section in sections:
        parts.append(f"## {section.title}")
        if section.text:
            parts.append(section.text)
        if section.picture:
            parts.append(f"![{section.title}]({section.picture})")
        if section.head:
            parts.append(table(section.head, section.rows))
    return "\n\n".join(parts) + "\n"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; columns of numbers are set flush right."""
    numeric = [bool(rows) and all(_is_number(row[k]) for row in rows) for k in range(len(head))]
    rule = ["---:" if right else "---" for right in numeric]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [list(head), rule, *map(list, rows)])


def html(title: str, sections: Sequence[Section]) -> str:
    """The document as a page of its own; only pictures and linked reports are beside it."""
    parts = [f"<header><h1>{escape(title)}</h1></header>"]
    for section in sections:
        parts.append(f"<h2>{escape(section.title)}</h2>")
        parts += [f"<p>{_inline(paragraph)}</p>" for paragraph in section.text.split("\n\n") if paragraph]
        if section.picture:
            parts.append(f'<img src="{escape(section.picture)}" alt="{escape(section.title)}" style="max-width:100%">')
        if section.head:
            head = "".join(f"<th>{_inline(cell)}</th>" for cell in section.head)
            body = "".join(f"<tr>{''.join(f'<td>{_inline(cell)}</td>' for cell in row)}</tr>" for row in section.rows)
            parts.append(f'<div style="overflow-x:auto"><table><tr>{head}</tr>{body}</table></div>')
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body><main>{''.join(parts)}</main></body></html>\n"
    )


def _inline(text: str) -> str:
    safe = escape(text)
    safe = re.sub(r"\[([^\]]+)\]\(([^)]+)\)", r'<a href="\2">\1</a>', safe)
    safe = re.sub(r"\*\*([^*]+)\*\*", r"<b>\1</b>", safe)
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", safe)


def _is_number(cell: str) -> bool:
    return bool(re.match(r"^[-+<]?\s*[\d.,]", cell)) or cell in ("", "-")

"""Sections of tables, as Markdown and as one HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from eval.common.pages import render
from eval.common.tables import document, markdown_table


@dataclass(frozen=True)
class Section:
    """A heading with a text, a table or a picture.

    Attributes:
        title: the heading.
        text: a sentence or two; Markdown links, code and bold text are allowed.
        head: names of the columns; empty for no table.
        rows: cells, as text; `[words](address)` is a link.
        picture: file name of a picture in the folder of the document; empty for none.
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
        parts += [
            f"## {section.title}",
            section.text,
            f"![{section.title}]({section.picture})" if section.picture else "",
            markdown_table(section.head, section.rows) if section.head else "",
        ]
    return document(*parts)


def html(title: str, sections: Sequence[Section]) -> str:
    """The document as an HTML page; pictures and linked reports are files in its folder."""
    return render("document.html.j2", title=title, sections=sections)

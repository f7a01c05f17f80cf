"""Markdown tables and documents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from tabulate import tabulate


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Markdown table, without a final line feed; columns of numbers are right-aligned."""
    cells = [[str(cell) for cell in row] for row in rows]
    alignment = ["right" if cells and all(map(_is_number, column)) else "left" for column in zip(*cells, strict=True)]
    text: str = tabulate(cells, list(head), "pipe", disable_numparse=True, colalign=alignment or None)
    return text


def document(*parts: str) -> str:
    """Paragraphs and tables as one Markdown text; empty parts are left out."""
    return "\n\n".join(part for part in parts if part) + "\n"


def _is_number(cell: str) -> bool:
    return bool(re.match(r"^[-+<]?\s*[\d.,]", cell)) or cell in ("", "-", "none")

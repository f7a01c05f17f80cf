"""Markdown tables and the texts of their cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tabulate import tabulate

from eval.common.statistics import Share


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Markdown table, without a final line feed; columns of numbers are right-aligned."""
    cells = [[str(cell) for cell in row] for row in rows]
    alignment = ["right" if cells and all(map(_is_number, column)) else "left" for column in zip(*cells, strict=True)]
    text: str = tabulate(cells, list(head), "pipe", disable_numparse=True, colalign=alignment or None)
    return text


def document(*parts: str) -> str:
    """Paragraphs and tables as one Markdown text; empty parts are left out."""
    return "\n\n".join(part for part in parts if part) + "\n"


def percent(value: float | None, interval: Sequence[float | None] | None = None, digits: int = 2) -> str:
    """Per cent, with the 95 % interval if it is given; "-" for None."""
    if value is None:
        return "-"
    text = f"{100 * value:.{digits}f} %"
    if interval and interval[0] is not None and interval[1] is not None:
        text += f" [{100 * interval[0]:.{digits}f}, {100 * interval[1]:.{digits}f}]"
    return text


def percent_of(found: Share, digits: int = 2) -> str:
    """A `Share` in per cent with its interval; "none" without a value."""
    return "none" if found["value"] is None else percent(found["value"], (found["low"], found["high"]), digits)


def number(value: float | None, digits: int = 2, none: str = "-") -> str:
    """A number with some decimals."""
    return none if value is None else f"{value:.{digits}f}"


def milliseconds(seconds: float | None, digits: int = 1, none: str = "none") -> str:
    """Seconds as milliseconds."""
    return none if seconds is None else f"{1000 * seconds:.{digits}f} ms"


def value_at(found: Mapping[str, Any], path: Sequence[str]) -> Any:
    """A value in nested metrics."""
    for key in path:
        found = found[key]
    return found


def _is_number(cell: str) -> bool:
    return bool(re.match(r"^[-+<]?\s*[\d.,]", cell)) or cell in ("", "-", "none")

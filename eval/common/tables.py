"""Markdown tables and the texts of their cells."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from eval.common.statistics import Share
from sim.common.tables import document, markdown_table

__all__ = [
    "Columns", "columns_table", "difference", "document", "duration", "failed", "figure", "markdown_table",
    "milliseconds", "number", "percent", "percent_of", "rate", "seen_through", "sweep_rate", "value_at",
    "with_interval",
]  # fmt: skip

Cell = Callable[[Any], object]
Columns = Sequence[tuple[str, Cell]]
"""Title and cell of every column; a cell is made of the metrics that its row shows."""


def columns_table(names: Sequence[str], rows: Mapping[Any, Any], columns: Columns) -> str:
    """A table with a row for every entry of some metrics: its names, then the columns.

    Args:
        names: titles of the first columns.
        rows: name of a row, or as many names as there are titles -> its metrics.
        columns: what is shown of them.
    """
    cells = [
        [*(name if isinstance(name, tuple) else (name,)), *(cell(found) for _, cell in columns)]
        for name, found in rows.items()
    ]
    return markdown_table([*names, *(title for title, _ in columns)], cells)


def rate(*path: str, digits: int = 1) -> Cell:
    """Cell of a `Share`: in per cent, with its interval."""
    return lambda found: percent_of(value_at(found, path), digits)


def sweep_rate(*path: str, digits: int = 2) -> Cell:
    """Cell of a share of a sweep, whose intervals are apart: in per cent, with its interval."""
    return lambda found: percent(value_at(found, path), found["intervals"][path[-1]], digits)


def failed(found: Any) -> str:
    """Cell of the numbers of failures by their reasons."""
    return ", ".join(f"{reason} {count}" for reason, count in sorted(found["failures"].items())) or "none"


def figure(*path: str, digits: int = 1, none: str = "-") -> Cell:
    """Cell of a number with some decimals."""
    return lambda found: number(value_at(found, path), digits, none)


def seen_through(sensors: Collection[str]) -> str:
    """A sentence that says with which sensors the numbers of a table were measured."""
    noisy = sorted(set(sensors) - {"clean"})
    if not noisy:
        return "Exact images, masks and camera poses (`sensor=clean`)."
    return f"Seen through {' and '.join(f'`sensor={name}`' for name in sorted(set(sensors)))} (docs/sensors.md)."


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


def with_interval(found: Mapping[str, Any], digits: int = 3) -> str:
    """A value that is no share, with its interval; "-" without a value."""
    if found["value"] is None:
        return "-"
    return f"{found['value']:.{digits}f} [{found['low']:.{digits}f}, {found['high']:.{digits}f}]"


def number(value: float | None, digits: int = 2, none: str = "-") -> str:
    """A number with some decimals."""
    return none if value is None else f"{value:.{digits}f}"


def duration(*path: str, none: str = "none") -> Cell:
    """Cell of seconds, as milliseconds."""
    return lambda found: milliseconds(value_at(found, path), none=none)


def difference(found: Share) -> str:
    """Cell of a share or of a difference of shares, with its interval."""
    return percent(found["value"], (found["low"], found["high"]), 1)


def milliseconds(seconds: float | None, digits: int = 1, none: str = "none") -> str:
    """Seconds as milliseconds."""
    return none if seconds is None else f"{1000 * seconds:.{digits}f} ms"


def value_at(found: Mapping[str, Any], path: Sequence[str]) -> Any:
    """A value in nested metrics."""
    for key in path:
        found = found[key]
    return found

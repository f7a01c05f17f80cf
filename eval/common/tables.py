"""Markdown tables and the texts of their cells."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from eval.common.statistics import Share
from sim.common.tables import document, markdown_table

__all__ = ["document", "markdown_table", "milliseconds", "number", "percent", "percent_of", "seen_through", "value_at"]


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

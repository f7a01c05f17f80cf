"""The report as one HTML file that needs no other file and no network."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from nsrecover.serving.reports.media import WAVE_SIZE
from nsrecover.serving.reports.model import KIND_WORDS, MARK_WORDS, SYMBOLS, Curve, Report
from nsrecover.serving.reports.pictures import data_uri
from nsrecover.util.atomic_write import atomic_write_bytes
from nsrecover.util.extras import needs_extra

if TYPE_CHECKING:
    from jinja2 import Environment


def html_of(report: Report) -> str:
    """The page; text is escaped.

    Raises:
        InvalidConfiguration: the extra `report` is not installed.
    """
    return environment().get_template("report.html.jinja").render(report=report)


def write_page(report: Report, path: str | Path) -> None:
    """Write the page atomically.

    Raises:
        InvalidConfiguration: the extra `report` is not installed.
    """
    atomic_write_bytes(path, html_of(report).encode())


@lru_cache(maxsize=2)
def environment(*packages: str) -> Environment:
    """The templates of reports, with those of other packages that show episodes.

    Raises:
        InvalidConfiguration: the extra `report` is not installed.
    """
    with needs_extra("report", "jinja2"):
        from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    owners = ("nsrecover.serving.reports", *packages)
    found = Environment(
        loader=ChoiceLoader([PackageLoader(owner, "templates") for owner in owners]),
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    found.globals |= {
        "kind_words": KIND_WORDS, "mark_words": MARK_WORDS, "symbols": SYMBOLS, "wave_size": WAVE_SIZE, "chart": chart,
        "data_uri": data_uri,
    }  # fmt: skip
    return found


WIDTH, HEIGHT = 560, 220
LEFT, RIGHT, TOP, BOTTOM = 52, 16, 14, 40
"""Margins, units of SVG."""


@dataclass(frozen=True)
class Chart:
    """A curve in units of SVG.

    Attributes:
        line: points of the curve, in steps.
        points: x, y and title of every way that was found.
        bound: height of the lower bound; None if there is none.
        xs: position and text of the ticks of time, seconds.
        ys: position and text of the ticks of cost.
    """

    line: str
    points: tuple[tuple[float, float, str], ...]
    bound: float | None
    xs: tuple[tuple[float, str], ...]
    ys: tuple[tuple[float, str], ...]


def chart(curve: Curve) -> Chart:
    """Lay a curve out."""
    end_s = max(curve.end_s, 1e-6)
    values = [*curve.costs, *([curve.lower_bound] if curve.lower_bound is not None else [])]
    low, high = min(values), max(values)
    margin = max((high - low) * 0.15, 0.5)
    low, high = max(0.0, low - margin), high + margin

    def x(seconds: float) -> float:
        return round(LEFT + seconds / end_s * (WIDTH - LEFT - RIGHT), 1)

    def y(cost: float) -> float:
        return round(TOP + (high - cost) / (high - low) * (HEIGHT - TOP - BOTTOM), 1)

    corners: list[str] = []
    for seconds, cost in zip(curve.seconds, curve.costs, strict=True):
        if corners:
            corners.append(f"{x(seconds)},{corners[-1].split(',')[1]}")
        corners.append(f"{x(seconds)},{y(cost)}")
    corners.append(f"{x(end_s)},{y(curve.costs[-1])}")
    titles = [
        f"{cost:g} {curve.unit} after {seconds:.3f} s" for seconds, cost in zip(curve.seconds, curve.costs, strict=True)
    ]
    return Chart(
        " ".join(corners),
        tuple((x(s), y(c), t) for s, c, t in zip(curve.seconds, curve.costs, titles, strict=True)),
        y(curve.lower_bound) if curve.lower_bound is not None else None,
        tuple((x(end_s * share), f"{end_s * share:.3g} s") for share in (0.0, 0.5, 1.0)),
        tuple((y(cost), f"{cost:g}") for cost in sorted({round(min(curve.costs), 3), round(max(curve.costs), 3)})),
    )

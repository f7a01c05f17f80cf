"""The report as one HTML file that needs no other file and no network."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from nsrecover.serving.reports.curves import chart
from nsrecover.serving.reports.model import KIND_WORDS, MARK_WORDS, SYMBOLS, Report
from nsrecover.serving.reports.pictures import data_uri
from nsrecover.serving.reports.sounds import WAVE_SIZE
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

"""Screenshots and sentences of the reports of a demo, from Chromium."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from eval.common.browser import DESKTOP, browser, write_jpeg, write_looks
from nsrecover.errors import InvalidConfiguration
from nsrecover.reports.many_runs import write_runs

PAGE = "report.html"
PICTURED = ("collapse", "kitchen", "apple")
"""Scenarios of which there are pictures."""
WAIT_MS = 180_000
"""Time for a page with a film and sound to load on a busy machine, milliseconds."""
MOMENTS = ("before", "failure", "after")

Sentences = dict[str, dict[str, str]]
"""Scenario -> question, or `summary` -> sentences."""


def pages_of(demo: Path) -> dict[str, Path]:
    """Scenario -> its report, in a folder that `python -m eval.demo` has filled.

    Raises:
        InvalidConfiguration: one of the reports of which there are to be pictures is missing.
    """
    pages = {path.parent.name: path for path in sorted(demo.glob(f"*/{PAGE}"))}
    missing = [name for name in PICTURED if name not in pages]
    if missing:
        raise InvalidConfiguration(
            f"expected {PAGE} of {', '.join(missing)} in {demo}, found none; run `python -m eval.demo` first"
        )
    return pages


def sentences_of(pages: Mapping[str, Path]) -> Sentences:
    """What reports say at their top.

    Raises:
        InvalidConfiguration: playwright or Chromium is missing.
    """
    with browser() as chromium:
        return {name: _sentences(chromium, page) for name, page in pages.items()}


def photograph(pages: Mapping[str, Path], out: Path) -> None:
    """Photograph reports as JPEG: before, at and after the failure, and in all windows and looks; and one of many runs.

    A scenario whose failure is noticed at the first step has no picture before it.

    Raises:
        InvalidConfiguration: playwright or Chromium is missing.
    """
    with browser() as chromium:
        for name in (each for each in PICTURED if each in pages):
            _pictures(chromium, pages[name], out / name)
            write_looks(chromium, pages[name].resolve().as_uri(), out / f"{name}_looks.jpg")
        logs = [str(log) for page in pages.values() if (log := page.with_name("episode.json")).exists()]
        if logs:
            with TemporaryDirectory() as folder:
                write_runs(logs, Path(folder) / "runs.html")
                write_looks(chromium, (Path(folder) / "runs.html").as_uri(), out / "runs_looks.jpg")


def _pictures(browser: Any, page: Path, stem: Path) -> None:
    """All pictures of one report."""
    for what in MOMENTS:
        opened = browser.new_page(viewport={"width": DESKTOP[0], "height": DESKTOP[1]})
        opened.set_default_timeout(WAIT_MS)
        opened.goto(page.resolve().as_uri())
        if _at(opened, what):
            write_jpeg(opened.screenshot(), stem.with_name(f"{stem.name}_{what}.jpg"))
        opened.close()


def _sentences(browser: Any, page: Path) -> dict[str, str]:
    opened = browser.new_page()
    opened.goto(page.resolve().as_uri())
    told = {"summary": opened.inner_text("#summary")}
    for answer in opened.locator("[data-question]").all():
        told[answer.locator("dt").inner_text()] = " ".join(answer.locator("dd .line > p").all_inner_texts())
    opened.close()
    return told


def _at(page: Any, moment: str) -> bool:
    """Move the slider from the failure to a moment; whether there is one."""
    failure, last = int(page.input_value("#slider")), page.locator(".step").count() - 1
    chosen = {"before": failure - 1, "after": last}.get(moment, failure)
    if not 0 <= chosen <= last:
        return False
    page.focus("#slider")
    for _ in range(abs(chosen - failure)):
        page.keyboard.press("ArrowRight" if chosen > failure else "ArrowLeft")
    page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
    return True

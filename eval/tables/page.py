"""`python -m eval.tables.page DIR…`: one page about the sweeps of `python -m eval`, to look into."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from conf.command import run_function
from eval.common.browser import DESKTOP, PHONE, browser, write_jpeg
from eval.sweep.failures import failure_of
from eval.tables import gallery, sweep_page
from eval.tables.load import load
from nsrecover.errors import InvalidConfiguration
from nsrecover.util.atomic_write import atomic_write_bytes

TITLE = "Sweeps in the simulator"
PAGE = "sweeps.html"


def write(
    folders: Annotated[list[Path], typer.Argument(help="Folders that `python -m eval` left, or folders of them.")],
    out: Annotated[Path, typer.Option(help="Folder of the page and of the reports that it links.")] = Path(
        "outputs/sweeps"
    ),
    reports: Annotated[
        int, typer.Option(min=0, help="Failed episodes of each sweep to run again with pictures, for a report each.")
    ] = 0,
    details: Annotated[
        int, typer.Option(min=0, help="Failed episodes of each sweep of which the page says what was done.")
    ] = 20,
    pictures: Annotated[
        Path | None, typer.Option(help="Folder for pictures of the page; needs Chromium and nsrecover[browser].")
    ] = None,
) -> None:
    """One HTML page about sweeps: a summary, planners and datasets, filters, figures, episodes and their reports.

    Sweeps of several sensors may be on one page. It needs no network, and no other file but the linked reports.
    """
    sweeps = load(folders, mixed=True)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InvalidConfiguration(f"expected a folder to write to as --out, found: {problem}") from None
    links = {}
    for sweep in sweeps if reports else ():
        failed = [record for record in sweep.records if failure_of(record) is not None][:reports]
        for episode, link in gallery.reports_of(sweep, failed, out).items() if failed else ():
            links[sweep.planner, sweep.dataset, sweep.sensor, episode] = link
    page = out / PAGE
    atomic_write_bytes(page, sweep_page.html(TITLE, sweeps, links, details).encode())
    print("\n".join(sweep_page.sentences(sweeps)))
    print(f"{page}: {page.stat().st_size / 1e6:.2f} MB")
    if pictures is not None:
        photograph(page, pictures)


def photograph(page: Path, out: Path) -> None:
    """Photograph the page as JPEG: its top, the episodes of one cell, dark, and on a phone.

    Raises:
        InvalidConfiguration: playwright or Chromium is missing.
    """
    out.mkdir(parents=True, exist_ok=True)
    looks = {
        "top": (DESKTOP, "light"),
        "episode": (DESKTOP, "light"),
        "dark": (DESKTOP, "dark"),
        "phone": (PHONE, "light"),
    }
    with browser() as chromium:
        for name, ((width, height), scheme) in looks.items():
            opened: Any = chromium.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            opened.goto(page.resolve().as_uri())
            if name == "episode":
                opened.select_option("#outcome", "failed")
                opened.locator("#list button").first.click()
            write_jpeg(opened.screenshot(), out / f"{name}.jpg")
            opened.close()


if __name__ == "__main__":
    run_function(write)

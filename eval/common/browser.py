"""Chromium for screenshots of pages, and JPEG files of them."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image

from nsrecover.errors import InvalidConfiguration
from nsrecover.util.atomic_write import atomic_write_bytes
from nsrecover.util.extras import needs_extra

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
DESKTOP, PHONE = (1280, 800), (390, 844)
"""Pixels of the window."""
LOOKS = (((1440, 900), 480), ((1024, 768), 360), ((390, 844), 156))
"""Windows whose pictures are put on one sheet, and how wide they are there, pixels."""
GAP = 12
MOST_BYTES = 150_000
QUALITIES = (85, 78, 70, 62, 55, 48)


@contextmanager
def browser() -> Iterator[Any]:
    """Chromium.

    Raises:
        InvalidConfiguration: playwright or Chromium is missing.
    """
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise InvalidConfiguration(f"expected one of {', '.join(BROWSERS)}, found none; install Chromium")
    with needs_extra("browser", "playwright"):
        from playwright.sync_api import sync_playwright
    with sync_playwright() as running:
        started = running.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield started
        started.close()


def write_looks(chromium: Any, url: str, path: Path, ready: Callable[[Any], object] = lambda page: None) -> None:
    """Write one sheet with a page in all windows of `LOOKS`, light, dark, and as it is printed.

    Args:
        chromium: the browser.
        url: of the page.
        path: of the JPEG.
        ready: waits until the page can be photographed.
    """
    rows = []
    for look in ("light", "dark", "print"):
        row = []
        for (width, height), wide in LOOKS:
            page = chromium.new_page(
                viewport={"width": width, "height": height}, color_scheme="dark" if look == "dark" else "light"
            )
            page.goto(url)
            ready(page)
            if look == "print":
                page.emulate_media(media="print")
            image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            row.append(image.resize((wide, round(wide * height / width)), Image.Resampling.LANCZOS))
            page.close()
        rows.append(row)
    size = sum(each.width + GAP for each in rows[0]) + GAP, sum(max(e.height for e in row) + GAP for row in rows) + GAP
    sheet, y = Image.new("RGB", size, (128, 128, 128)), GAP
    for row in rows:
        x = GAP
        for each in row:
            sheet.paste(each, (x, y))
            x += each.width + GAP
        y += max(each.height for each in row) + GAP
    out = io.BytesIO()
    sheet.save(out, "PNG")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_jpeg(out.getvalue(), path)


def write_jpeg(png: bytes, path: Path) -> None:
    """Write a screenshot as JPEG, as good as the size allows."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    data = b""
    for quality in QUALITIES:
        out = io.BytesIO()
        image.save(out, "JPEG", quality=quality, optimize=True)
        data = out.getvalue()
        if len(data) <= MOST_BYTES:
            break
    atomic_write_bytes(path, data)

"""Chromium for screenshots of pages, and JPEG files of them."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
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

"""Chromium, for the tests of pages."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from eval.common.browser import BROWSERS
from eval.common.browser import browser as chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A running Chromium; without it, or without playwright, the test is skipped."""
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install 'nsrecover[browser]'")
    if not any(map(shutil.which, BROWSERS)):
        pytest.skip("Chromium is not installed: apt-get install chromium")
    with chromium() as running:
        yield running

"""Pages in a browser, and what axe finds in them."""

from typing import Any

import pytest

DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}


class Window:
    """A browser window on a page, with what it asked for and complained about."""

    def __init__(self, browser: Any, url: str, **context: Any) -> None:
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self.context = browser.new_context(**({"viewport": DESKTOP} | context))
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(url)


def violations(page: Any) -> list[tuple[str, str]]:
    """Serious barriers that axe finds, with an element of each."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright",
        reason="axe-playwright-python is not installed: pip install 'nsrecover[browser]'",
    )
    found = axe.Axe().run(page).response["violations"]
    serious = [each for each in found if each["impact"] in ("serious", "critical")]
    return [(each["id"], each["nodes"][0]["html"]) for each in serious]

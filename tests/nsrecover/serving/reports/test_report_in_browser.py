"""The page in Chromium: one slider moves everything, facts appear, data can be taken, no network is asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import imageio.v2 as imageio
import numpy as np
import pytest

from nsrecover.core.episode import EpisodeStatus
from nsrecover.records import episode_log
from nsrecover.serving.reports.build import report_of
from nsrecover.serving.reports.media import Extra
from nsrecover.serving.reports.page import write_page
from tests.nsrecover.explanation.made_episodes import fallen
from tests.nsrecover.kitchen_facts import WINE, FactWorld, after
from tests.nsrecover.serving.browsing import DESKTOP, PHONE, Window, violations
from tests.nsrecover.serving.reports.shown_reports import in_kitchen, instructed, recorded

KINDS = ("recorded", "kitchen", "instructed")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    write_page(recorded(), folder / "recorded.html")
    write_page(in_kitchen(FactWorld(hook=after(1, WINE))), folder / "kitchen.html")
    write_page(instructed(), folder / "instructed.html")
    return {kind: folder / f"{kind}.html" for kind in KINDS}


class Opened(Window):
    """A file in a browser window."""

    def __init__(self, browser: Any, file: Path, **context: Any) -> None:
        super().__init__(browser, file.as_uri(), **context)

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *error: object) -> None:
        self.context.close()

    def wait(self, condition: str) -> None:
        """Wait until a condition holds; the page allows no evaluation of its own."""
        for _ in range(200):
            if self.page.evaluate(condition):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(condition)

    def shown(self) -> dict[str, Any]:
        """What is visible of the steps."""
        return dict(
            self.page.evaluate(
                """() => {
                  const seen = [...document.querySelectorAll(".step")].filter((step) => step.offsetParent !== null);
                  const step = seen[0];
                  return {
                    steps: seen.map((each) => Number(each.dataset.step)),
                    heading: step.querySelector("h3").innerText,
                    photos: [...step.querySelectorAll(".photo use")].map((use) => use.getAttribute("href")),
                    scenes: [...step.querySelectorAll(".scenes figure")].map((scene) => scene.innerHTML),
                    audio: step.querySelector("audio")?.getAttribute("src") ?? "",
                    table: step.querySelector("table").innerText,
                    way: document.querySelector(".way [aria-current]")?.innerText ?? "",
                    slider: Number(document.getElementById("slider").value),
                    told: document.getElementById("slider").getAttribute("aria-valuetext"),
                  };
                }"""
            )
        )


@pytest.mark.parametrize("kind", KINDS)
def test_the_slider_moves_everything_together(browser: Any, pages: dict[str, Path], kind: str) -> None:
    with Opened(browser, pages[kind]) as opened:
        page, count = opened.page, opened.page.locator(".step").count()
        assert count >= 4
        page.focus("#slider")
        page.keyboard.press("Home")
        seen = []
        for number in range(count):
            shown = opened.shown()
            assert shown["steps"] == [number]
            assert shown["slider"] == number
            assert shown["heading"].startswith(shown["told"].replace(": ", " ", 1))
            seen.append(shown)
            page.keyboard.press("ArrowRight")
        assert opened.shown()["steps"] == [count - 1]  # there is no step after the last
        assert len({json.dumps(shown["scenes"]) for shown in seen}) > count / 2
        assert len({shown["way"] for shown in seen}) == count
        if kind == "recorded":
            assert len({tuple(shown["photos"]) for shown in seen}) == count
            assert len({shown["audio"] for shown in seen}) == count
        page.click("#previous")
        assert opened.shown()["steps"] == [count - 2]
        page.click("[data-go='0']")
        assert opened.shown()["steps"] == [0]
        assert opened.complaints == []


def test_the_film_moves_with_the_steps_and_they_with_it(browser: Any, tmp_path: Path) -> None:
    with imageio.get_writer(tmp_path / "film.mp4", fps=5) as writer:
        for number in range(200):  # 40 s
            writer.append_data(np.full((64, 96, 3), number, np.uint8))
    film = Extra("film.mp4", "Film", (tmp_path / "film.mp4").read_bytes(), "video/mp4")
    write_page(report_of(fallen(), "A tower", extras=[film]), tmp_path / "page.html")
    with Opened(browser, tmp_path / "page.html") as opened:
        page, at = opened.page, "document.querySelector('video').currentTime"
        assert page.locator("video").is_visible()
        opened.wait(f"{at} === 24")  # the end of the step that is shown first
        page.click("#next")
        opened.wait(f"{at} === 37")
        page.evaluate("() => { const film = document.querySelector('video'); film.currentTime = 5; film.play(); }")
        opened.wait("document.getElementById('slider').value === '0'")
        assert opened.shown()["heading"].startswith("Step 1")
        page.evaluate("() => { document.querySelector('video').currentTime = 23.6; }")
        opened.wait("document.getElementById('slider').value === '2'")  # the film goes on
        assert opened.complaints == []


def test_facts_and_numbers_appear_when_they_are_wanted(browser: Any, pages: dict[str, Path]) -> None:
    with Opened(browser, pages["recorded"]) as opened:
        page = opened.page
        fact = page.locator("[data-question='why'] .facts li").first
        assert not fact.is_visible()
        page.locator("[data-question='why'] .facts summary").first.click()
        assert fact.is_visible()
        assert fact.inner_text().startswith("why(toppled")
        chance = page.locator(".step:visible td.numbers").first
        assert not chance.is_visible()
        page.check("#numbers")
        assert chance.inner_text().endswith("%")
        page.uncheck("#numbers")
        assert not chance.is_visible()


def test_the_data_can_be_downloaded_and_read(browser: Any, pages: dict[str, Path]) -> None:
    with Opened(browser, pages["recorded"], accept_downloads=True) as opened:
        with opened.page.expect_download() as waiting:
            opened.page.click("a[download='episode.json']")
        episode = episode_log.load(waiting.value.path())
    assert episode.status is EpisodeStatus.REVIEWED
    assert [record.discrepancy.deviating != () for record in episode.records] == [False, False, False, True]


@pytest.mark.parametrize("kind", KINDS)
def test_it_asks_for_nothing_and_complains_about_nothing(browser: Any, pages: dict[str, Path], kind: str) -> None:
    with Opened(browser, pages[kind]) as opened:
        opened.page.wait_for_load_state("networkidle")
        assert opened.complaints == []
        others = [url for url in opened.asked if not url.startswith("data:")]
        assert others == [pages[kind].as_uri()]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_five_answers_are_on_the_first_screen(
    browser: Any, pages: dict[str, Path], kind: str, size: dict[str, int]
) -> None:
    with Opened(browser, pages[kind], viewport=size) as opened:
        for key in ("what", "when", "why", "done", "worked"):
            box = opened.page.locator(f"[data-question='{key}'] p").first.bounding_box()
            assert box["y"] + box["height"] <= size["height"], key
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= size["width"]
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= size["width"]


def test_without_scripts_every_step_is_shown(browser: Any, pages: dict[str, Path]) -> None:
    with Opened(browser, pages["recorded"], java_script_enabled=False) as opened:
        visible = [opened.page.locator(".step").nth(i).is_visible() for i in range(4)]
    assert visible == [True] * 4


@pytest.mark.parametrize(
    ("kind", "scheme", "size"),
    [
        ("recorded", "light", DESKTOP),
        ("kitchen", "dark", PHONE),
    ],
)
def test_axe_finds_nothing_serious(
    browser: Any, pages: dict[str, Path], kind: str, scheme: str, size: dict[str, int]
) -> None:
    with Opened(browser, pages[kind], viewport=size, color_scheme=scheme) as opened:
        opened.page.check("#numbers")
        assert violations(opened.page) == []

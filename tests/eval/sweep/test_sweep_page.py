"""The page about sweeps: its numbers are those of the tables, and filters, cells, episodes and reports in Chromium."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from eval.common.browser import MOST_BYTES
from eval.common.statistics import share
from eval.sweep.failures import failure_of
from eval.tables import page as command
from eval.tables import sweep_page
from eval.tables.load import Sweep, load
from nsrecover.errors import InvalidConfiguration
from tests.commands import ROOT

SWEEPS = ROOT / "results" / "evaluation" / "sweeps"
FOLDERS = (SWEEPS / "ours-IV", SWEEPS / "none-IV", SWEEPS / "none-V", ROOT / "results" / "fresh_d435" / "sweeps")
SIZES = {"desktop": (1280, 800), "phone": (390, 844)}


@pytest.fixture(scope="module")
def sweeps() -> list[Sweep]:
    return load(FOLDERS, mixed=True)


def reported(sweeps: list[Sweep]) -> tuple[str, str, str, int]:
    """The failed episode that has a report."""
    sweep = next(each for each in sweeps if (each.planner, each.dataset) == ("none", "IV"))
    failed = [record for record in sweep.records if failure_of(record) is not None]
    return sweep.planner, sweep.dataset, sweep.sensor, failed[-1].episode


@pytest.fixture(scope="module")
def written(sweeps: list[Sweep], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sweeps")
    (folder / "report.html").write_text("<!doctype html><title>the report</title>")
    links = {reported(sweeps): "report.html"}
    (folder / "sweeps.html").write_text(sweep_page.html("Sweeps <b>", sweeps, links, details=2))
    return folder / "sweeps.html"


class Shown:
    """The page in a window, with what it asked for and complained about."""

    def __init__(self, browser: Any, path: Path, size: str = "desktop", **context: Any) -> None:
        width, height = SIZES[size]
        self.context = browser.new_context(viewport={"width": width, "height": height}, **context)
        self.page = self.context.new_page()
        self.wrong: list[str] = []
        self.page.on("console", lambda message: self.wrong.append(message.text))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on(
            "request", lambda request: self.wrong.append(request.url) if request.url != path.as_uri() else None
        )
        self.page.goto(path.as_uri())

    def cell(self, planner: str, dataset: str) -> str:
        names = self.page.locator("#pivot thead th").all_inner_texts()
        row = self.page.locator("#pivot tbody tr", has=self.page.locator(f"th:text-is('{planner}')"))
        return " ".join(str(row.locator("td").nth(names.index(dataset) - 1).inner_text()).split())

    def __enter__(self) -> Shown:
        return self

    def __exit__(self, *error: object) -> None:
        self.context.close()


def text_of(good: int, of: int) -> str:
    found = share(good, of)
    low, high = (f"{100 * found[name]:.1f}" for name in ("low", "high"))
    return f"{100 * found['value']:.1f} % {low} to {high} %, of {found['of']}"


def test_the_data_add_up_to_the_metrics_of_the_sweeps(sweeps: list[Sweep]) -> None:
    data = sweep_page.data_of(sweeps, {}, details=3)
    for number, sweep in enumerate(sweeps):
        rows = [row for row in data["episodes"] if row[0] == number]
        assert len(rows) == len(sweep.records)
        assert sum(row[6] for row in rows) == sweep.metrics["counts"]["completion"]
        assert sum(row[7] for row in rows if row[6]) / sum(row[6] for row in rows) == pytest.approx(
            sweep.metrics["completion"], abs=1e-5
        )
        assert sum(row[9] for row in rows) == sweep.metrics["counts"]["recovery"]
        assert sum(row[5] >= 0 for row in rows) == sum(sweep.metrics["failures"].values())
    assert len(data["details"]) == sum(min(3, sum(each.metrics["failures"].values())) for each in sweeps)
    assert sweep_page.sentences(sweeps)[0].startswith(f"{len(data['episodes']):,} episodes with ")


def test_several_sensors_are_on_one_page_and_the_same_sweep_twice_is_refused() -> None:
    assert {each.sensor for each in load(FOLDERS, mixed=True)} == {"clean", "d435"}
    with pytest.raises(InvalidConfiguration, match="found several of none on V"):
        load([*FOLDERS, SWEEPS / "none-V"], mixed=True)


def test_filters_change_table_figures_and_episodes_together(browser: Any, written: Path, sweeps: list[Sweep]) -> None:
    with Shown(browser, written) as shown:
        ours = [record for each in sweeps if (each.planner, each.dataset) == ("ours", "IV") for record in each.records]
        assert shown.cell("ours", "IV") == text_of(sum(r.completed for r in ours), len(ours))
        assert shown.cell("none", "I") == "-"
        figures = shown.page.locator("#by-dataset figure").count()
        assert figures == 5
        shown.page.select_option("#sensor", "d435")
        behind = [r for each in sweeps if (each.dataset, each.sensor) == ("IV", "d435") for r in each.records]
        assert shown.cell("ours", "IV") == text_of(sum(r.completed for r in behind), len(behind))
        assert shown.cell("none", "IV") == "-"
        assert shown.page.locator("#by-dataset figure").count() == 4
        shown.page.click("text=Show all")
        shown.page.select_option("#size", "12")
        large = [r for r in ours if r.objects == 12]
        assert shown.cell("ours", "IV") == text_of(sum(r.completed for r in large), len(large))
        shown.page.click("text=Show all")
        first = next(each.records for each in sweeps if (each.planner, each.dataset) == ("ours", "I"))
        shown.page.select_option("#cause", label="push")
        struck = [record for record in first if "push" in sweep_page.kinds_of(record)]
        assert 0 < len(struck) < len(first)
        assert shown.cell("ours", "I") == text_of(sum(r.completed for r in struck), len(struck))
        assert shown.cell("ours", "IV") == "-"  # nothing is injected there
        shown.page.click("text=Show all")
        shown.page.select_option("#measure", "success")
        good = sum(failure_of(r) is None for r in ours)
        assert shown.cell("ours", "IV") == text_of(good, len(ours))
        assert (
            shown.page.locator("#by-dataset svg").first.get_attribute("aria-label").startswith("goal reached, or help")
        )
        assert shown.wrong == []


def test_from_a_cell_to_an_episode_and_its_report_with_the_keyboard(
    browser: Any, written: Path, sweeps: list[Sweep]
) -> None:
    planner, dataset, _, episode = reported(sweeps)
    with Shown(browser, written) as shown:
        page = shown.page
        cell = page.locator("#pivot tbody tr", has=page.locator("th:text-is('none')")).locator("button").first
        cell.focus()
        page.keyboard.press("Enter")
        assert page.locator("#pivot button[aria-pressed='true']").count() == 1
        page.select_option("#outcome", "failed")
        rows = page.locator("#list tbody tr")
        assert {text.split("\t")[1] for text in rows.all_inner_texts()} == {"none"}
        row = rows.filter(has=page.locator("a"))
        assert row.count() == 1
        row.locator("button").focus()
        page.keyboard.press("Enter")
        detail = page.locator("#detail")
        assert detail.inner_text().startswith(f"Episode {episode} of dataset {dataset}, {planner}, sensor clean")
        assert detail.locator("li.wrong").count() >= 1
        assert shown.wrong == []
        detail.locator("a").click()
        assert page.title() == "the report"


@pytest.mark.parametrize(("size", "scheme"), [("desktop", "light"), ("desktop", "dark"), ("phone", "light")])
def test_axe_finds_nothing_serious_on_the_page_of_sweeps(browser: Any, written: Path, size: str, scheme: str) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright",
        reason="axe-playwright-python is not installed: pip install 'nsrecover[browser]'",
    )
    with Shown(browser, written, size, color_scheme=scheme) as shown:
        shown.page.select_option("#outcome", "failed")
        shown.page.locator("#list button").first.click()
        assert shown.page.evaluate("document.documentElement.scrollWidth") <= SIZES[size][0]
        found = axe.Axe().run(shown.page).response["violations"]
    serious = [each for each in found if each["impact"] in ("serious", "critical")]
    assert [(each["id"], each["nodes"][0]["html"]) for each in serious] == []


def test_without_scripts_the_table_is_there_and_names_are_inert(written: Path, sweeps: list[Sweep]) -> None:
    html = written.read_text()
    body = html.split("<body>")[1].split('<script type="application/json"')[0]
    none = next(each for each in sweeps if (each.planner, each.dataset) == ("none", "V"))
    assert f"{100 * none.metrics['completion']:.1f} % <span" in body
    assert "Sweeps &lt;b&gt;" in body
    data = re.search(r'id="data">(.*?)</script>', html, re.DOTALL)
    assert data is not None
    assert "<" not in data[1]
    assert len(json.loads(data[1])["episodes"]) == sum(len(each.records) for each in sweeps)


def test_the_command_writes_the_page_and_its_pictures_are_in_docs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command.write([SWEEPS / "none-V"], tmp_path / "out")
    said = capsys.readouterr().out
    assert "reaches the goal in" in said
    assert (tmp_path / "out" / "sweeps.html").stat().st_size < 200_000
    pictures = list((ROOT / "docs" / "sweeps").glob("*.jpg"))
    assert {each.stem for each in pictures} == {"top", "episode", "dark", "phone"}
    assert all(each.stat().st_size <= MOST_BYTES for each in pictures)

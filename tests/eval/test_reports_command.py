"""`python -m eval.reports` on a small table, its pictures, and the page in docs/ that shows both."""

from pathlib import Path

import pytest
from PIL import Image

from eval.common.browser import MOST_BYTES
from eval.reports import MEASUREMENT, ReportsConfig, pages_of, photograph, sentences_of
from nsrecover.errors import InvalidConfiguration
from nsrecover.serving.reports.page import write_page
from tests.commands import ROOT
from tests.nsrecover.kitchen_facts import WINE, FactWorld, after
from tests.nsrecover.serving.reports.shown_reports import in_kitchen
from tests.tables_text import unpadded


def test_a_report_of_a_real_episode_is_measured(tmp_path: Path) -> None:
    metrics = MEASUREMENT.run(ReportsConfig(objects=4, steps=4, sound_s=0.2, repeats=2, out=str(tmp_path)))
    assert metrics["plan"] == 4
    assert metrics["turns"] >= 4
    assert metrics["photographs"] == metrics["turns"] + 1  # what is after an action is before the next one
    assert metrics["sound_s"] == pytest.approx(0.2 * metrics["turns"], abs=0.05)
    assert 0 < metrics["median_s"] <= metrics["longest_s"]
    page = tmp_path / "report.html"
    assert metrics["megabytes"] == round(page.stat().st_size / 1e6, 2)
    assert page.read_text().count('class="mark error"') > 1  # the block that a person moved
    assert "| 4 | 4 |" in unpadded((tmp_path / "table.md").read_text())


def test_pictures_need_the_reports_of_a_demo(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidConfiguration, match=r"of collapse, kitchen, apple in .* run `python -m eval.demo` first"
    ):
        pages_of(tmp_path)


@pytest.mark.usefixtures("has_chromium")
def test_pictures_are_small_and_show_different_moments(tmp_path: Path) -> None:
    pages = {"kitchen": tmp_path / "report.html"}
    write_page(in_kitchen(FactWorld(hook=after(1, WINE))), pages["kitchen"])
    photograph(pages, tmp_path / "pictures")
    found = {path.stem: path for path in (tmp_path / "pictures").glob("*.jpg")}
    assert set(found) == {f"kitchen_{what}" for what in ("failure", "after", "looks")}  # it fails at once
    assert all(path.stat().st_size <= MOST_BYTES for path in found.values())
    assert found["kitchen_after"].read_bytes() != found["kitchen_failure"].read_bytes()
    sheet = Image.open(found["kitchen_looks"]).convert("L")
    light, dark, printed = (sheet.crop((20, y, 500, y + 300)).resize((1, 1)).getpixel((0, 0)) for y in (20, 460, 830))
    assert dark < 100 < min(light, printed)
    assert sentences_of(pages)["kitchen"]["What went wrong?"].count("the pot is filled with wine") == 1


def test_the_page_in_docs_shows_what_was_measured() -> None:
    assert "<!-- begin: results/reports 1 -->" in (ROOT / "docs" / "reports.md").read_text()
    pictures = list((ROOT / "docs" / "reports").glob("*.jpg"))
    assert {path.stem.split("_")[0] for path in pictures} == {"apple", "collapse", "kitchen"}
    assert all(path.stat().st_size <= MOST_BYTES for path in pictures)

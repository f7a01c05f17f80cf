"""docs/reproduce.md and the tables in other pages say what the committed results say."""

import json
from pathlib import Path

import pytest

from eval.results.pages import page, with_tables
from nsrecover.errors import InvalidConfiguration
from tests.tables_text import unpadded

ROOT = Path(__file__).parents[3]


def test_the_committed_page_is_up_to_date() -> None:
    written = page(ROOT / "results")
    assert (ROOT / "docs" / "reproduce.md").read_text() == written, "run `python -m eval.results level=pages`"


@pytest.mark.parametrize(
    "page_of_tables",
    [
        path
        for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
        if "<!-- begin: " in path.read_text()
    ],
    ids=lambda path: str(path.name),
)
def test_tables_in_other_pages_are_up_to_date(page_of_tables: Path) -> None:
    text = page_of_tables.read_text()
    assert text == with_tables(text, ROOT), "run `python -m eval.results level=pages`"


def test_a_page_gets_the_command_and_the_tables_of_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "results" / "timing"
    folder.mkdir(parents=True)
    text = "before\n<!-- begin: results/timing -->\nold\n<!-- end -->\nafter"
    with pytest.raises(InvalidConfiguration, match=r"run\.json and table\.md"):
        with_tables(text, tmp_path)
    (folder / "run.json").write_text(json.dumps({"command": "python -m eval.checks.timing", "revision": "abc"}))
    (folder / "table.md").write_text("A title\n\n| a |\n|---|\n| 1 |\n\nA remark.\n")
    found = with_tables(text, tmp_path)
    assert found.startswith("before\n<!-- begin: results/timing -->\n\n    python -m eval.checks.timing\n")
    assert found.endswith("\n\n| a |\n|---|\n| 1 |\n\n<!-- end -->\nafter")
    assert with_tables(found, tmp_path) == found
    (folder / "table.md").write_text("| a |\n|---|\n\n| b | c |\n|---|---|\n| 1 | 2 |\n")
    second = with_tables("<!-- begin: results/timing 2 with c -->\n<!-- end -->", tmp_path)
    assert "| 2 |" in unpadded(second)
    assert "| a |" not in second
    assert "| b |" not in second
    for marker, message in (("3", "from 1 to 2"), ("2 with d", "found 'd'")):
        with pytest.raises(InvalidConfiguration, match=message):
            with_tables(f"<!-- begin: results/timing {marker} -->\n<!-- end -->", tmp_path)

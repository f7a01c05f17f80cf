"""`python -m eval.reproduce`: the page says what the committed results say."""

import json
from pathlib import Path

import pytest

from eval.reproduce.command import page
from eval.reproduce.inserted import with_tables
from nsrecover.errors import InvalidConfiguration
from tests.tables_text import unpadded

ROOT = Path(__file__).parents[3]


def test_the_committed_page_is_up_to_date() -> None:
    written = page(Path("results"), ROOT / "docs" / "results")
    assert (ROOT / "docs" / "reproduce.md").read_text() == written, "run `python -m eval.reproduce`"


@pytest.mark.parametrize(
    "page_of_tables",
    [path for path in sorted((ROOT / "docs").rglob("*.md")) if "<!-- begin: results/" in path.read_text()],
    ids=lambda path: str(path.name),
)
def test_tables_in_other_pages_are_up_to_date(page_of_tables: Path) -> None:
    text = page_of_tables.read_text()
    assert text == with_tables(text, ROOT), "run `python -m eval.reproduce`"


def test_a_page_gets_the_command_and_the_tables_of_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "results" / "timing"
    folder.mkdir(parents=True)
    text = "before\n<!-- begin: results/timing -->\nold\n<!-- end -->\nafter"
    with pytest.raises(InvalidConfiguration, match=r"run\.json and table\.md"):
        with_tables(text, tmp_path)
    (folder / "run.json").write_text(json.dumps({"command": "python -m eval.checks.timing", "revision": "abc"}))
    (folder / "table.md").write_text("A title\n\n| a |\n|---|\n| 1 |\n\nA remark.\n")
    found = with_tables(text, tmp_path)
    assert found == (
        "before\n<!-- begin: results/timing -->\n\n    python -m eval.checks.timing\n\nRevision abc.\n\n"
        "| a |\n|---|\n| 1 |\n\n<!-- end -->\nafter"
    )
    assert with_tables(found, tmp_path) == found


def test_every_sweep_has_its_command_and_its_numbers() -> None:
    text = unpadded((ROOT / "docs" / "reproduce.md").read_text())
    sweeps = json.loads((ROOT / "results" / "evaluation" / "metrics.json").read_text())["sweeps"]
    ours = next(sweep for sweep in sweeps if (sweep["planner"], sweep["dataset"]) == ("ours", "I"))
    row = next(line for line in text.splitlines() if line.startswith("| `python -m eval dataset=I planner=ours` |"))
    assert f"| {ours['episodes']} |" in row
    assert f"| {100 * ours['completion']:.2f} % [" in row
    assert "`results/detectors`" in text
    assert "detected at 1 % false alarms: ours 100.00 % [97.19, 100.00], distance" in text


def test_a_command_that_records_its_run_is_listed_with_its_time(tmp_path: Path) -> None:
    folder = tmp_path / "results" / "timing"
    folder.mkdir(parents=True)
    (folder / "metrics.json").write_text(
        json.dumps({"seed": 0, "steps": 40, "recall": {"value": 0.5, "low": 0.4, "high": 0.6, "of": 9}})
    )
    (folder / "run.json").write_text(json.dumps({"command": "python -m eval.checks.timing repeats=40", "seconds": 120}))
    text = unpadded(page(tmp_path / "results", tmp_path))
    assert "`python -m eval.checks.timing repeats=40` | 2 min | steps 40; recall 50.00 % [40.00, 60.00] |" in text


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfiguration, match=r"no metrics\.json"):
        page(tmp_path, tmp_path)

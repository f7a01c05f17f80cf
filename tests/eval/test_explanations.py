"""`python -m eval.explanations` on two real episodes."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from eval.explanations import JudgedText, summary
from tests.commands import run


def test_it_leaves_metrics_a_table_and_every_text(tmp_path: Path) -> None:
    folders = [f"{name}={tmp_path / name}" for name in ("errors", "footage", "states", "out")]
    done = run("eval.explanations", "seed=3", "episodes={I: 1, V: 1, II: 0, III: 0, IV: 0}", *folders, "workers=1")
    assert done.code == 0, done.err
    out = tmp_path / "out"
    assert done.out == (out / "table.md").read_text()
    lines = (out / "rows.jsonl").read_text().splitlines()
    texts = [text for line in lines for text in json.loads(line)["row"]]
    assert [(text["dataset"], text["register"]) for text in texts] == [
        ("I", "lay"), ("I", "engineer"), ("V", "lay"), ("V", "engineer"),
    ]  # fmt: skip
    assert all(set(text["said"]) == set(text["true"]) for text in texts)
    metrics = json.loads((out / "metrics.json").read_text())["registers"]["lay"]["all"]
    assert (metrics["errors"], metrics["culprits"]["value"], metrics["step"]["value"]) == (2, 1.0, 1.0)
    assert (out / "config.yaml").is_file()


RIGHT = JudgedText("I", 0, 3, "lay", "…", 3, {"a": "moved"}, (), {"a": "moved"}, {"a": "push"})


@pytest.mark.parametrize(
    ("texts", "culprits", "causes", "step"),
    [
        (RIGHT, 1.0, 1.0, 1.0),
        (replace(RIGHT, said={"a": "toppled"}), 1.0, 0.0, 1.0),
        (replace(RIGHT, said={"b": "moved"}), 0.0, 0.0, 1.0),
        (replace(RIGHT, said={"a": "moved", "b": "moved"}), 0.0, 0.0, 1.0),
        (replace(RIGHT, unread=("The b wobbled.",)), 0.0, 0.0, 1.0),
        (replace(RIGHT, said_step=4), 1.0, 1.0, 0.0),
        (replace(RIGHT, text="", said_step=None, said={}), 0.0, 0.0, 0.0),
    ],
)
def test_a_text_counts_only_for_right_statements(
    texts: JudgedText, culprits: float, causes: float, step: float
) -> None:
    counts = summary([texts])["lay"]["all"]
    assert (counts["culprits"]["value"], counts["causes"]["value"], counts["step"]["value"]) == (culprits, causes, step)


def test_a_text_about_a_step_that_went_well_counts_against_the_step() -> None:
    false_alarm = replace(RIGHT, step=2, said_step=2, true={}, faults={})
    assert summary([RIGHT, false_alarm])["lay"]["all"]["step"]["value"] == 0.5

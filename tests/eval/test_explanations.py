"""`python -m eval.explanations` on two real episodes, and how right and wrong explanations count."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from eval.explanations import METRICS, ExplainedStep
from eval.metrics import summary
from tests.commands import run


def test_it_leaves_metrics_a_table_and_every_text(tmp_path: Path) -> None:
    folders = [f"{name}={tmp_path / name}" for name in ("errors", "footage", "states", "out")]
    done = run("eval.explanations", "seed=3", "episodes={I: 1, V: 1, II: 0, III: 0, IV: 0}", *folders, "workers=1")
    assert done.code == 0, done.err
    out = tmp_path / "out"
    assert done.out == (out / "table.md").read_text()
    texts = [text for line in (out / "rows.jsonl").read_text().splitlines() for text in json.loads(line)["row"]]
    assert [text["dataset"] for text in texts] == ["I", "V"]
    assert all(text["text"] and set(text["said"]) == set(text["true"]) for text in texts)
    metrics = json.loads((out / "metrics.json").read_text())["datasets"]["all"]
    assert (metrics["errors"], metrics["culprits"]["value"], metrics["step"]["value"]) == (2, 1.0, 1.0)


RIGHT = ExplainedStep("I", 3, "…", 3, {"a": "moved"}, {"a": "moved"})


@pytest.mark.parametrize(
    ("explained", "culprits", "causes", "step"),
    [
        (RIGHT, 1.0, 1.0, 1.0),
        (replace(RIGHT, said={"a": "toppled"}), 1.0, 0.0, 1.0),
        (replace(RIGHT, said={"b": "moved"}), 0.0, 0.0, 1.0),
        (replace(RIGHT, said={"a": "moved", "b": "moved"}), 0.0, 0.0, 1.0),
        (replace(RIGHT, said_step=4), 1.0, 1.0, 0.0),
        (replace(RIGHT, text="", said_step=None, said={}), 0.0, 0.0, 0.0),
        (replace(RIGHT, true={}), None, None, 0.0),
    ],
)
def test_an_explanation_counts_only_for_what_is_right(
    explained: ExplainedStep, culprits: float | None, causes: float | None, step: float
) -> None:
    counts = summary([explained], METRICS)
    assert (counts["culprits"]["value"], counts["causes"]["value"], counts["step"]["value"]) == (culprits, causes, step)

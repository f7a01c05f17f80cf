"""The demo's scenario in a home: the apple is found although nobody knows where it is."""

import json
from pathlib import Path

from eval.demo.apple import run_apple
from nsrecover.records.explain_file import explain_file


def test_the_apple_is_searched_for_and_brought(tmp_path: Path) -> None:
    labels, texts = list[str](), list[str]()
    result = run_apple(0, tmp_path, False, lambda label, record: labels.append(label), texts.append)
    assert result.goal_reached
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    assert metrics["goal_reached"] is True
    assert ["M1", "ashley could not say where the apple is"] in metrics["log"]
    assert "M3: missed the grasp of the apple" in texts
    assert len(labels) >= len(result.turns) > 3
    assert (tmp_path / "report.html").stat().st_size > 10_000
    (report,) = explain_file(tmp_path / "episode.json", questions=["what happened to the apple?"])
    assert report["objects"] == ["apple"]
    assert report["answers"][0]["understood"]

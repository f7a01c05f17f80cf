"""The example of docs/evaluation.md: a planner and a preset that are not in the checkout."""

import json
import re
from pathlib import Path

import pytest

from tests.commands import ROOT, run

PAGE = (ROOT / "docs/evaluation.md").read_text(encoding="utf-8").partition("## Your own settings")[2]
"""From the section on."""


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of settings; the module is found and named."""
    (tmp_path / "my_planners.py").write_text(block("python"))
    (tmp_path / "my_conf" / "planner").mkdir(parents=True)
    (tmp_path / "my_conf" / "planner" / "hasty.yaml").write_text(block("yaml"))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("NSRECOVER_TARGETS", "my_planners.Hasty")
    return tmp_path / "my_conf"


def test_a_planner_of_another_folder_runs(own: Path, tmp_path: Path) -> None:
    options = re.search(r"python -m eval --config-dir my_conf (.*) out=", block("bash"))
    assert options is not None
    out = tmp_path / "out"
    done = run("eval", "--config-dir", str(own), *options[1].split(), f"out={out}", "workers=1")
    assert done.code == 0, done.err
    metrics = json.loads((out / "metrics.json").read_text())
    assert metrics["completion"] == 0.0, "without its last action no plan is complete"

"""`python -m eval.redraw`: the figures of docs/results come from the committed results."""

import json
from pathlib import Path

import pytest

from eval.redraw.command import SOURCES, redraw
from nsrecover.errors import InvalidConfiguration

RESULTS = Path(__file__).parents[3] / "results"


def test_every_figure_is_drawn_from_the_committed_results(tmp_path: Path) -> None:
    redraw(RESULTS, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {f"{name}.png" for name in SOURCES}


def test_results_of_another_format_are_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfiguration, match=r"expected metrics\.json in detectors, models_small"):
        redraw(tmp_path, tmp_path)
    (tmp_path / "planning_small").mkdir()
    (tmp_path / "planning_small" / "metrics.json").write_text(json.dumps({"seed": 0}))
    with pytest.raises(InvalidConfiguration, match=r"expected results of eval\.planning in .*'figures'"):
        redraw(tmp_path, tmp_path / "out")

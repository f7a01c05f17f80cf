"""`nsrecover learn`: from a folder of runs to a checkpoint that knows the operator."""

from functools import partial
from pathlib import Path

import pytest

import nsrecover
from nsrecover import Action, Plan
from nsrecover.core.geometry import as_box
from nsrecover.records import scenes_recording
from sim.datasets.own_operators.conventions import convention
from sim.datasets.own_operators.scenes import demonstrations
from tests.commands import run

nsr = partial(run, "nsrecover.cli.app")
SEED, NUMBER = 3, 3


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Thirty recorded runs with one action each."""
    for index, shown in enumerate(demonstrations(SEED, NUMBER, convention(SEED, NUMBER), 30)):
        scenes = tuple({name: as_box(box) for name, box in boxes.items()} for boxes in (shown.before, shown.after))
        recording = scenes_recording.ScenesRecording(Plan((Action("serve", shown.arguments),)), scenes)
        scenes_recording.save(recording, tmp_path / "runs" / f"run{index:03d}.json")
    return tmp_path / "runs"


def test_a_second_operator_is_added_to_the_first(runs: Path, tmp_path: Path) -> None:
    mine = str(tmp_path / "mine")
    assert "30 demonstrations" in nsr("learn", "serve", str(runs), "--out", mine).out
    for path in runs.iterdir():
        path.write_text(path.read_text().replace("serve(", "bring("))
    assert nsr("learn", "bring", str(runs), "--out", mine, "--checkpoint", mine).code == 0
    assert {"serve", "bring"} <= set(nsrecover.load(mine).domain.operators)


def test_an_operator_that_no_plan_names_is_refused(runs: Path, tmp_path: Path) -> None:
    done = nsr("learn", "park", str(runs), "--out", str(tmp_path / "mine"))
    assert done.code == 2
    assert "found 0" in done.err
    assert not (tmp_path / "mine").exists()

"""A result belongs to its settings, episodes, weights and code."""

import shutil
import subprocess
from pathlib import Path

import pytest

from eval import identity
from eval.identity import weights_of
from eval.sweep.command import MEASUREMENT
from nsrecover.errors import InvalidConfiguration
from nsrecover.models.checkpoint import folder_of
from tests.eval.sweep.test_sweep_run import OURS, config


def test_weights_of_a_planner_belong_to_the_result(tmp_path: Path) -> None:
    checkpoint = tmp_path / "mine"
    shutil.copytree(folder_of("tabletop"), checkpoint)
    before = weights_of(str(checkpoint))
    given = config(tmp_path / "out", OURS | {"checkpoint": str(checkpoint)})
    MEASUREMENT.run(given)
    shutil.copytree(folder_of("tabletop_sensors"), checkpoint, dirs_exist_ok=True)
    assert weights_of(str(checkpoint)) != before
    with pytest.raises(InvalidConfiguration, match="weights"):
        MEASUREMENT.run(given)


def test_every_change_of_the_code_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for place in identity.PACKAGES:
        (tmp_path / place).mkdir()
        (tmp_path / place / "one.py").write_text("A = 1\n")
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@localhost", "-C", str(tmp_path)]
    for each in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *each], check=True)
    monkeypatch.setattr(identity, "ROOT", tmp_path)
    states = [identity.code_state.__wrapped__()]
    (tmp_path / "README.md").write_text("no code\n")
    assert identity.code_state.__wrapped__() == states[0] != ""
    for name, text in (("one.py", "A = 2\n"), ("two.py", ""), ("one.py", "A = 3\n")):
        (tmp_path / "eval" / name).write_text(text)
        states.append(identity.code_state.__wrapped__())
    assert len(set(states)) == 4

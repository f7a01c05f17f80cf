"""A result belongs to its settings, episodes, weights and code: a change of any of them never returns an old number."""

import shutil
from pathlib import Path

import pytest

from eval import identity
from eval.identity import ROOT, code_of, imported_by, weights_of
from eval.sweep.command import MEASUREMENT
from nsrecover.errors import InvalidConfiguration
from nsrecover.models.checkpoint import folder_of
from tests.eval.sweep.test_sweep_run import OURS, config

SWEEP = "eval.sweep.command"


def test_the_code_of_a_measurement_is_what_it_imports() -> None:
    found = imported_by(SWEEP, "eval.sweep.controllers")
    assert {"nsrecover.session", "nsrecover.planning.search", "sim.tabletop.world", "eval.common"} <= found
    assert not {"nsrecover.serving.server.app", "eval.logs.__main__"} & found


@pytest.mark.parametrize(
    ("module", "text", "changes"),
    [
        ("nsrecover.session", "\n_ONE_MORE = 1\n", True),
        ("nsrecover.session", "\n# a comment\n", False),
        ("eval.logs.__main__", "\n_ONE_MORE = 1\n", False),
    ],
)
def test_a_line_of_code_that_is_imported_changes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, text: str, changes: bool
) -> None:
    before, source = code_of(SWEEP), identity._source
    path = tmp_path / f"{module.replace('.', '/')}.py"
    path.parent.mkdir(parents=True)
    path.write_text((ROOT / path.relative_to(tmp_path)).read_text() + text)

    def edited(name: str) -> str:
        with monkeypatch.context() as patch:
            patch.setattr(identity, "ROOT", tmp_path)
            return source.__wrapped__(name)

    monkeypatch.setattr(identity, "_source", lambda name: edited(name) if name == module else source(name))
    assert (code_of(SWEEP) != before) == changes


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

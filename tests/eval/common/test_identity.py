"""A result belongs to its settings, episodes, weights and code: a change of any of them never returns an old number."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from eval.common import identity
from eval.common.identity import ROOT, code_of, imported_by, weights_of
from eval.sweep.run import RECORDS, EvalConfig, read_records, sweep
from nsrecover.errors import InvalidConfiguration
from nsrecover.models.checkpoint import folder_of

EPISODES = ROOT / "tests" / "eval" / "sweep" / "episodes"
OURS = {"_target_": "eval.sweep.controllers.recovering", "name": "ours", "setting": {}}
SWEEP = "eval.sweep.run"


def test_the_code_of_a_measurement_is_what_it_imports() -> None:
    found = imported_by(SWEEP, "eval.sweep.controllers")
    assert {"nsrecover.session", "nsrecover.planning.search", "sim.tabletop.world", "eval.common"} <= found
    assert not {"nsrecover.integrations.server.app", "eval.logs.command"} & found


@pytest.mark.parametrize(
    ("module", "text", "changes"),
    [
        ("nsrecover.session", "\n_ONE_MORE = 1\n", True),
        ("nsrecover.session", "\n# a comment\n", False),
        ("eval.logs.command", "\n_ONE_MORE = 1\n", False),
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


def _config(planner: Mapping[str, object], errors: Path) -> EvalConfig:
    return EvalConfig(dataset="II", episodes=1, errors=str(errors), planner=OmegaConf.create(planner), parallel=1)


def test_other_weights_at_the_same_place_are_refused(tmp_path: Path) -> None:
    checkpoint = tmp_path / "mine"
    shutil.copytree(folder_of("tabletop"), checkpoint)
    before = weights_of(str(checkpoint))
    given = _config({**OURS, "checkpoint": str(checkpoint)}, EPISODES)
    sweep(given, tmp_path / "out", quiet=True)
    shutil.copytree(folder_of("tabletop_sensors"), checkpoint, dirs_exist_ok=True)
    assert weights_of(str(checkpoint)) != before
    with pytest.raises(InvalidConfiguration, match="weights"):
        sweep(given, tmp_path / "out", quiet=True)


def test_other_code_and_other_episodes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blind = {"_target_": "eval.sweep.controllers.Blind"}
    out = tmp_path / "out"
    sweep(_config(blind, EPISODES), out, quiet=True)
    assert read_records(out)[0].content
    with monkeypatch.context() as patch:
        patch.setattr("eval.common.identity._source", lambda module: "edited")
        with pytest.raises(InvalidConfiguration, match=r"code.* \(2 lines of results"):
            sweep(_config(blind, EPISODES), out, quiet=True)
    lines = (out / RECORDS).read_text().splitlines()
    (out / RECORDS).write_text(
        "\n".join(json.dumps(json.loads(line) | {"content": "another"}) for line in lines) + "\n"
    )
    with pytest.raises(InvalidConfiguration, match="another content"):
        sweep(_config(blind, EPISODES), out, quiet=True)


def test_records_keep_the_columns_of_others(tmp_path: Path) -> None:
    sweep(_config({"_target_": "eval.sweep.controllers.Blind"}, EPISODES), tmp_path, quiet=True)
    line = json.loads((tmp_path / RECORDS).read_text())
    (tmp_path / RECORDS).write_text(json.dumps(line | {"operator": "Ann"}) + "\n")
    record = read_records(tmp_path)[0]
    assert record.extra == {"operator": "Ann"}
    assert (record.planner, record.seed) == ("none", 0)

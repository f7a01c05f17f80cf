"""`python -m eval.results`: its list can be run, and numbers that are not of what is shipped say so."""

import json
from pathlib import Path

import pytest

from eval import identity
from eval.results import cells
from eval.results.cells import PROVENANCE, apart, provenance, results_of, standing
from nsrecover.errors import InvalidConfiguration
from tests.commands import run


def test_every_command_of_the_list_composes() -> None:
    commands = [result.command for result in results_of("quick")]
    different = {(each.module, *(word.partition("=")[0] for word in each.settings)): each for each in commands}
    for command in different.values():
        looks = ["--help"] if command.given(out="there") == ["--out", "there"] else ["--cfg", "job"]
        done = run(command.module, *command.settings, *looks)
        assert done.code == 0, done.err


def test_levels_differ_in_size_and_what_is_not_there_is_left_out() -> None:
    quick, full = ({each.name: each for each in results_of(level)} for level in ("quick", "full"))
    assert quick["sensing"].command != full["sensing"].command
    assert "real" not in full
    assert [each.name for each in results_of("normal", ["real"])] == ["real"]
    for wrong in ("quack", "normal"):
        with pytest.raises(InvalidConfiguration, match="Did you mean"):
            results_of(wrong, ["sensng"] if wrong == "normal" else [])


def test_a_result_of_other_weights_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "clean_revision", lambda: "abc")
    (result,) = results_of("quick", ["fresh_d435"])
    (tmp_path / "rows.jsonl").write_text(json.dumps({"key": "ours: I 0", "content": "an episode"}) + "\n")
    kept = provenance(result, tmp_path, 1.0)
    assert kept["episodes"]
    assert standing(tmp_path) == ""
    for weights, said in ((kept["weights"], ""), ("another", " (other weights)")):
        (tmp_path / PROVENANCE).write_text(json.dumps(kept | {"weights": weights}))
        assert standing(tmp_path) == said


def test_shares_are_compared_by_their_intervals() -> None:
    kept = {"a": {"value": 0.9, "low": 0.8, "high": 0.95, "of": 40}, "b": {"low": 0.1, "high": 0.2}, "n": 3}
    now = {"a": {"value": 0.5, "low": 0.3, "high": 0.7, "of": 9}, "b": {"low": 0.15, "high": 0.9}, "c": {}}
    assert list(apart({"x": kept}, {"x": now})) == [("/x/a", True), ("/x/b", False)]
    assert list(apart({"a": {"low": None, "high": None}}, {"a": kept["a"]})) == []


def test_a_finished_result_is_not_measured_again_until_its_code_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("eval.results", "level=quick", "only=[logs_another_hand]", "workers=1", f"out={tmp_path}")
    assert "to do" in run(*arguments, "dry=true").out
    done = run(*arguments)
    assert (done.code, "1 of 1 done at revision" in done.out) == (0, True), done.err
    (metrics,) = tmp_path.rglob("metrics.json")
    before = metrics.stat().st_mtime_ns
    assert run(*arguments).code == 0
    assert metrics.stat().st_mtime_ns == before
    with monkeypatch.context() as changed:
        changed.setattr(cells, "LIST", tmp_path / "list.yaml")
        cells.LIST.write_text("logs_another_hand:\n  run: eval.foreign_logs seed=1\n")
        assert "to do" in run(*arguments, "dry=true").out
    monkeypatch.setattr(identity, "code_state", lambda: "another")
    assert "to do" in run(*arguments, "dry=true").out

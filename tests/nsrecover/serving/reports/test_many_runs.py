"""The page about many runs counts what their logs say, and links a report of each."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nsrecover.cli.app import app
from nsrecover.core.episode import Decided, EpisodeStatus, StopCode
from nsrecover.errors import InvalidRecording
from nsrecover.records import episode_log
from nsrecover.serving.reports.many_runs import FEW, write_runs
from tests.nsrecover.explanation.made_episodes import fallen, flawless


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Four runs: two good ones, one recovered, one that stopped."""
    folder = tmp_path / "runs"
    folder.mkdir()
    fell = fallen()
    stopped = replace(
        fell,
        records=fell.records[:2],
        status=EpisodeStatus.ASKED_FOR_HELP,
        reason="a person vetoed the recovery",
        why=StopCode.VETOED,
    )
    for name, episode in {"a": flawless(), "b": fell, "c": stopped, "d": flawless()}.items():
        episode_log.save(episode, folder / f"{name}.json")
    (folder / "metrics.json").write_text(json.dumps({"runs": 4}))  # no run
    return folder


def test_it_counts_and_links_every_run(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    found = write_runs([str(runs)], out)
    assert [run.name for run in found.runs] == ["a", "b", "c", "d"]
    assert [run.lost_s for run in found.runs] == [0.0, 15.0, 0.0, 0.0]
    assert [run.helped for run in found.runs] == [False, False, True, False]
    assert found.causes[0][1:] == (2, 2)
    assert found.summary.startswith("3 of 4 runs completed the plan. 2 errors")
    assert str(FEW) in found.trend
    page = out.read_text()
    links = set(re.findall(r'href="([^"]+)"', page))
    assert len(links) == 4
    assert all((tmp_path / link).is_file() for link in links)
    assert "a person vetoed the recovery" in page
    assert "http:" not in page


def test_who_decided_counts_as_help(runs: Path, tmp_path: Path) -> None:
    fell = fallen()
    record = replace(fell.records[1], decided=(Decided("yes", "Ann"),))
    episode_log.save(replace(fell, records=(fell.records[0], record, *fell.records[2:])), runs / "b.json")
    assert [run.helped for run in write_runs([str(runs)], tmp_path / "page.html").runs] == [False, True, True, False]


def test_a_damaged_run_leaves_nothing_half_written(runs: Path, tmp_path: Path) -> None:
    (runs / "e.json").write_text('{"format": "nsrecover episode"')
    with pytest.raises(InvalidRecording):
        write_runs([str(runs)], tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == [runs]


def test_the_command_takes_several_runs_or_a_folder(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    done = CliRunner().invoke(app, ["report", str(runs / "a.json"), str(runs / "b.json"), "--out", str(out), "--json"])
    assert json.loads(done.stdout)["runs"] == 2
    one = CliRunner().invoke(app, ["report", str(runs / "b.json"), "--out", str(out), "--json"])
    assert json.loads(one.stdout)["errors"] == 1

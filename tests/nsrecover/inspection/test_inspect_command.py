"""`nsrecover inspect` on datasets of the simulator: table, labels in the dataset's own format, and what it refuses."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nsrecover.bridges.lerobot import EpisodeFiles, episodes_of, info_of
from nsrecover.cli.app import app
from nsrecover.errors import CannotWrite, InvalidConfiguration
from sim.policies.command import PoliciesConfig, main

CALL = CliRunner()


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five successes, and a success and a failure."""
    pytest.importorskip("pyarrow")
    folder = tmp_path_factory.mktemp("policies")
    main(PoliciesConfig(tasks=1, good=5, others=2, sensor="clean", rate_hz=1.0, out=str(folder)))
    return folder


@pytest.fixture(scope="module")
def labelled(recorded: Path) -> tuple[Path, dict]:
    out = recorded / "labelled"
    arguments = ["inspect", str(recorded / "good"), str(recorded / "others"), "--labels", str(out), "--json"]
    done = CALL.invoke(app, arguments)
    assert done.exit_code == 1, done.output
    return out, json.loads(done.stdout)


def test_the_truth_is_found(recorded: Path, labelled: tuple[Path, dict]) -> None:
    told, truths = labelled[1], json.loads((recorded / "truth.json").read_text())
    assert [each["succeeded"] for each in told["episodes"]] == [each["succeeded"] for each in truths] == [True, False]
    failed, truth = told["episodes"][1], truths[1]
    steps = [each["subtask"] for each in told["tasks"][0]["subtasks"]]
    assert steps.index(failed["subtask"]) == truth["step"]
    assert failed["object"] in truth["objects"]
    assert ", then ".join(steps) == failed["task"]


def test_labels_are_in_the_datasets_own_format(recorded: Path, labelled: tuple[Path, dict]) -> None:
    out, told = labelled
    assert {"next.success", "subtask_index", "failed_subtask_index"} <= set(info_of(out)["features"])
    subtasks = [each["subtask"] for each in told["tasks"][0]["subtasks"]]
    for each, label in zip(episodes_of(out), told["episodes"], strict=True):
        rows, before = EpisodeFiles(out, each.index).rows(), EpisodeFiles(recorded / "others", each.index).rows()
        assert [row["next.success"] for row in rows] == [False] * (len(rows) - 1) + [label["succeeded"]]
        assert rows[-1]["failed_subtask_index"] == (-1 if label["succeeded"] else subtasks.index(label["subtask"]))
        assert rows[0]["subtask_index"] == 0
        assert [row["observation.images.left"] for row in rows] == [row["observation.images.left"] for row in before]
    pandas = pytest.importorskip("pyarrow.parquet").read_table(out / "meta" / "subtasks.parquet")
    assert pandas.column("subtask").to_pylist() == subtasks
    again = CALL.invoke(app, ["inspect", str(recorded / "good"), str(recorded / "others"), "--labels", str(out)])
    assert isinstance(again.exception, CannotWrite)


def test_lerobot_loads_the_labels(labelled: tuple[Path, dict]) -> None:
    datasets = pytest.importorskip("lerobot.datasets.lerobot_dataset")
    found = datasets.LeRobotDataset("local/labelled", root=labelled[0])
    assert found.num_episodes == 2
    assert found[0]["subtask"] == labelled[1]["tasks"][0]["subtasks"][0]["subtask"]


def test_without_depth_only_the_outcome_is_told(recorded: Path, tmp_path: Path) -> None:
    for part in ("good", "others"):  # the same datasets, and nothing is known about their cameras
        shutil.copytree(recorded / part, tmp_path / part, ignore=shutil.ignore_patterns("cameras.json"))
    done = CALL.invoke(app, ["inspect", str(tmp_path / "good"), str(tmp_path / "others"), "--json"])
    assert done.exit_code in (0, 1), done.output
    assert "depth" in done.stderr
    told = json.loads(done.stdout)
    assert told["tasks"] == []
    assert all(each["subtask"] is None for each in told["episodes"])


@pytest.mark.parametrize("extra", [["--good", "0-9"], ["--good", "x"], ["--depth", "depth"], []])
def test_what_cannot_be_used_is_refused(recorded: Path, extra: list[str]) -> None:
    folder = recorded / "good"
    done = CALL.invoke(app, ["inspect", str(folder), *extra])
    assert isinstance(done.exception, InvalidConfiguration)

"""Sweeps over many episodes: interrupted or on any number of workers, they give the same table."""

import json
import lzma
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from eval.__main__ import sweep_name
from eval.sweep.run import PACKED, RECORDS, EvalConfig, read_records, sweep
from nsrecover.errors import InvalidCheckpoint, InvalidConfiguration
from tests.commands import run

ROOT = Path(__file__).parents[3]
EPISODES = Path(__file__).parent / "episodes"
OURS = {"_target_": "eval.sweep.controllers.recovering", "name": "ours", "setting": {}}
ORACLE = {"_target_": "eval.sweep.oracle.Oracle"}
D435 = {"_target_": "sim.sensors.presets.sensor", "name": "d435"}
BLIND = OmegaConf.create({"_target_": "eval.sweep.controllers.Blind"})


def config(**changes: Any) -> EvalConfig:
    given = {"dataset": "II", "episodes": 3, "errors": str(EPISODES), "planner": BLIND, "parallel": 1}
    return EvalConfig(**(given | changes))


def without_times(found: Any) -> Any:
    """Metrics or records without what may differ from run to run."""
    if isinstance(found, dict):
        timed = ("seconds", "cpu_s", "wall_s", "planning_s", "planning_cpu_s", "asked", "runs", "last_run")
        return {
            key: without_times(value)
            for key, value in found.items()
            if key not in timed and not key.startswith(("t_per", "t_over", "cpu_per"))
        }
    return [without_times(value) for value in found] if isinstance(found, list) else found


def results(folder: Path) -> list[Any]:
    """Metrics and every record, without times, in the order of the dataset."""
    records = map(json.loads, (folder / RECORDS).read_text().splitlines())
    return [
        without_times(json.loads((folder / "metrics.json").read_text())),
        *map(without_times, sorted(records, key=lambda record: record["index"])),
    ]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An uninterrupted sweep."""
    folder = tmp_path_factory.mktemp("sweep") / "whole"
    sweep(config(), folder, quiet=True)
    return folder


def test_two_processes_give_the_same_table(tmp_path: Path) -> None:
    """Fast Downward writes files to its working directory: parallel runs need different ones."""
    for name, parallel in (("one", 1), ("two", 2)):
        sweep(config(planner=OmegaConf.create(ORACLE), parallel=parallel), tmp_path / name, quiet=True)
    assert results(tmp_path / "one") == results(tmp_path / "two")
    assert any(record.recoveries for record in read_records(tmp_path / "one"))


def test_a_sweep_continues_and_counts_no_episode_twice(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "again"
    assert sweep(config(episodes=1), folder, quiet=True)["last_run"]["ran"] == 1
    first = (folder / RECORDS).read_bytes()
    with (folder / RECORDS).open("ab") as file:
        file.write(b'{"half a line')
    assert len(read_records(folder)) == 1
    assert sweep(config(), folder, quiet=True)["last_run"]["ran"] == 2
    assert (folder / RECORDS).read_bytes().startswith(first)
    assert results(folder) == results(whole)
    found = json.loads((folder / "metrics.json").read_text())
    assert [(run["first"], run["end"]) for run in found["runs"]] == [(0, 1), (1, 3)]
    assert all(run["revision"] == found["last_run"]["revision"] for run in found["runs"])
    # fewer episodes than there are: the first ones, and none is thrown away
    fewer = sweep(config(episodes=2), folder, quiet=True)
    assert fewer["episodes"] == 2
    assert [(run["first"], run["end"]) for run in fewer["runs"]] == [(0, 1), (1, 3)]
    assert [run["first"] for run in sweep(config(episodes=1), folder, quiet=True)["runs"]] == [0]
    assert len(read_records(folder)) == 3


def test_episodes_may_finish_in_any_order(whole: Path, tmp_path: Path) -> None:
    """A sweep that was killed during its second episode continues with this one."""
    folder = tmp_path / "later"
    shutil.copytree(whole, folder)
    first, _, third = (folder / RECORDS).read_text().splitlines(keepends=True)
    (folder / RECORDS).write_text(third + first)
    assert [record.index for record in read_records(folder)] == [2, 0]
    assert sweep(config(), folder, quiet=True)["last_run"]["ran"] == 1
    assert results(folder) == results(whole)


def test_a_compressed_sweep_is_not_restarted(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "packed"
    shutil.copytree(whole, folder)
    (folder / PACKED).write_bytes(lzma.compress((folder / RECORDS).read_bytes()))
    (folder / RECORDS).unlink()
    with pytest.raises(InvalidConfiguration, match="unxz"):
        sweep(config(), folder, quiet=True)
    assert not (folder / RECORDS).exists()


def test_a_killed_sweep_ends_with_the_same_table(whole: Path, tmp_path: Path) -> None:
    """`python -m tests.eval.sweep.test_sweep_run 3` does it three times with more episodes."""
    kill_again_and_again(tmp_path, kills=1, episodes=3, errors=EPISODES, planner="none")
    assert results(tmp_path / "killed") == results(whole)


def test_another_planner_does_not_go_on_in_the_folder(whole: Path) -> None:
    other = OmegaConf.create({"_target_": "eval.sweep.controllers.Blind", "name": "other"})
    with pytest.raises(InvalidConfiguration, match="choose another out=DIR"):
        sweep(config(planner=other), whole, quiet=True)


def test_a_sensor_belongs_to_the_folder_and_is_in_the_metrics(whole: Path, tmp_path: Path) -> None:
    assert json.loads((whole / "metrics.json").read_text())["sensor"] == "clean"
    with pytest.raises(InvalidConfiguration, match=r"sensor.*choose another out=DIR"):
        sweep(config(sensor=D435), whole, quiet=True)
    assert sweep(config(sensor=D435, episodes=1), tmp_path / "noisy", quiet=True)["sensor"] == "d435"
    assert sweep_name("ours", "I") == "ours-I"
    assert sweep_name("ours", "I", "d435") == "ours-I-d435"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sensor": D435 | {"events": [{"kind": "frozen", "view": 2}]}}, "views 0 to 1, found frozen of view 2"),
        ({"sensor": D435 | {"masks": {"missing": 2}}}, "missing of MaskErrors between 0 and 1, found 2"),
        ({"dataset": "VII"}, "Did you mean 'VI'"),
        ({"parallel": "rey"}, "found 'rey'"),
        ({"parallel": 0}, "found 0"),
        ({"episodes": 0}, "episodes=0"),
        ({"during_recovery": 2.0}, "between 0 and 1"),
        ({"planner": OURS | {"setting": {"budget_s": 1.0}}}, r"as planner\.budget_s"),
    ],
)
def test_invalid_settings_are_reported(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidConfiguration, match=message):
        sweep(config(**changes), tmp_path / "none", quiet=True)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("planner", [OURS, {"_target_": "eval.sweep.controllers.Repeating"}])
def test_a_missing_checkpoint_is_reported_before_the_first_episode(planner: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InvalidCheckpoint, match="/nowhere"):
        sweep(config(planner=planner | {"checkpoint": "/nowhere"}), tmp_path / "none", quiet=True)
    assert not (tmp_path / "none").exists()


def kill_again_and_again(folder: Path, kills: int, episodes: int, errors: Path, planner: str) -> list[int]:
    """Kill a sweep at random moments, after some new episodes each time, and let it finish.

    Returns:
        How many episodes were finished at each kill.
    """
    rng, out, seen = random.Random(0), folder / "killed", list[int]()
    settings = f"dataset=II episodes={episodes} planner={planner} parallel=2".split()
    command = [sys.executable, "-m", "eval", *settings, f"errors={errors}", f"out={out}"]
    for _ in range(kills):
        process = subprocess.Popen(
            command, cwd=ROOT, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        wanted, until = _lines(out) + rng.randint(1, max(1, episodes // (kills + 1))), time.monotonic() + 300.0
        while _lines(out) < wanted and process.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(rng.uniform(0.0, 0.5))
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        seen.append(_lines(out))
    done = run("eval", *settings[:-1], "parallel=1", f"errors={errors}", f"out={out}")
    assert done.code == 0, done.err
    return seen


def _lines(out: Path) -> int:
    path = out / RECORDS
    return path.read_bytes().count(b"\n") if path.is_file() else 0


def main(kills: int, place: Path, episodes: int = 30) -> None:
    """Print whether a killed sweep, and sweeps on other workers, give the result of an uninterrupted one."""
    print("episodes at each kill:", kill_again_and_again(place, kills, episodes, ROOT / "data/errors", "ours"))
    for parallel in ("1", "2", "ray"):
        out = place / f"parallel_{parallel}"
        settings = f"dataset=II episodes={episodes} planner=ours parallel={parallel} out={out}".split()
        subprocess.run([sys.executable, "-m", "eval", *settings], cwd=ROOT, check=True, capture_output=True)
    whole = results(place / "parallel_1")
    for name in ("killed", "parallel_2", "parallel_ray"):
        print(f"{name} is the same as parallel_1:", results(place / name) == whole)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))

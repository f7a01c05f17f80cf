"""`python -m sim.datasets` resumes, refuses what is not its own, and makes the same bytes for the same seed."""

import json
import lzma
import re
import subprocess
import sys

import pytest

from nsrecover.errors import InvalidConfiguration
from sim.datasets import DATASETS, generate, read_episodes
from sim.datasets.shipped import SEED, ship, shipped
from tests.commands import ROOT, run


def _run(*arguments: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "sim.datasets", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("datasets") / "II"
    ran = _run("dataset=II", "episodes=2", "seed=5", f"out={folder}", "workers=1")
    assert ran.returncode == 0, ran.stderr
    return folder, ran.stdout


def test_it_ends_with_the_tables_and_leaves_them(dataset):
    folder, printed = dataset
    assert printed.strip().endswith((folder / "table.md").read_text().strip())
    metrics = json.loads((folder / "metrics.json").read_text())
    assert metrics["episodes"] == metrics["episodes_in_which_every_fault_shows"] == 2
    assert metrics["plan_length"] == {"1": 1, "2": 1}


def test_an_interrupted_run_goes_on_and_makes_the_same_bytes(dataset, tmp_path):
    whole = (dataset[0] / "episodes.jsonl").read_bytes()
    out = tmp_path / "again"
    assert _run("dataset=II", "episodes=1", "seed=5", f"out={out}", "workers=1").returncode == 0
    file = out / "episodes.jsonl"
    assert file.read_bytes() == whole.splitlines(keepends=True)[0]
    file.write_bytes(file.read_bytes() + whole.splitlines(keepends=True)[1][:50])
    assert _run("dataset=II", "episodes=2", "seed=5", f"out={out}", "workers=2").returncode == 0
    assert file.read_bytes() == whole


def test_a_folder_of_another_seed_is_refused_and_untouched(dataset):
    folder, _ = dataset
    before = {path: path.read_bytes() for path in folder.iterdir()}
    ran = run("sim.datasets", "dataset=II", "episodes=2", "seed=6", f"out={folder}")
    assert ran.code == 2
    assert "choose another out=DIR" in ran.err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("dataset=IX",), "expected dataset as one of I, II, III, IV, V, VI"),
        (("dataset=I", "episodes=0"), "episodes of at least 1"),
        (("datset=I",), "datset"),
        (("parallel=slurm",), "parallel"),
    ],
)
def test_settings_it_cannot_use_are_told(tmp_path, arguments, message):
    ran = run("sim.datasets", f"out={tmp_path / 'new'}", *arguments)
    assert ran.code != 0
    assert message in ran.err
    assert not (tmp_path / "new").exists()


def test_verification_replays_twice(dataset, tmp_path):
    command = [sys.executable, "-m", "sim.datasets.verify", str(dataset[0]), "--out", str(tmp_path)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "2 episodes (3 steps) replayed twice, 0 differences" in ran.stdout
    (name,) = json.loads((tmp_path / "metrics.json").read_text())["datasets"]
    table = (tmp_path / "table.md").read_text()
    assert re.search(rf"{name} +\| +2 \| +3 \| +0 \|", table), table
    assert "sim.datasets.verify" in json.loads((tmp_path / "run.json").read_text())["command"]


_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def _about(found, wanted):
    """Whether parts of episodes are equal but for numbers: by 3 mm in words (2 were measured), by 0.001 in data."""
    if isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(_about(found[key], wanted[key]) for key in wanted)
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(_about, found, wanted))
    if isinstance(wanted, str) and isinstance(found, str):
        numbers = [[float(each) for each in _NUMBER.findall(text)] for text in (found, wanted)]
        same = _NUMBER.sub("#", found) == _NUMBER.sub("#", wanted)
        return same and numbers[0] == pytest.approx(numbers[1], rel=0, abs=3.0)
    if isinstance(wanted, float) and not isinstance(found, str):
        return found == pytest.approx(wanted, rel=0, abs=1e-3)
    return found == wanted


@pytest.mark.parametrize("name", DATASETS)
def test_what_comes_with_the_checkout_is_what_is_drawn(name):
    """The first episode; all of them take most of an hour (`shipped=false`).

    Physics amplifies the last bits of a product of matrices, which depend on the processor.
    """
    (first,) = shipped(name, 0, 1)
    drawn = generate(DATASETS[name], SEED, 0).episode
    assert _about(json.loads(drawn.to_json()), json.loads(first.to_json()))


def test_an_episode_that_differs_by_more_than_rounding_is_another_one():
    (first, second) = shipped("III", 0, 2)
    whole = json.loads(first.to_json())
    assert _about(whole, whole)
    assert not _about(whole, json.loads(second.to_json()))
    assert _about({"blue": "109 mm off"}, {"blue": "108 mm off"})
    for found, wanted in (("109 mm off", "105 mm off"), ("gone", "109 mm off"), (0.1, 0.102), ([0.1], [0.1, 0.2])):
        assert not _about(found, wanted)


def test_what_comes_with_the_checkout_is_taken_before_more_is_drawn(tmp_path):
    ran = run("sim.datasets", "dataset=V", "episodes=3", f"out={tmp_path}")
    assert ran.code == 0, ran.err
    last = json.loads((tmp_path / "metrics.json").read_text())["last_run"]
    assert (last["shipped"], last["generated"]) == (3, 0)
    assert list(read_episodes(tmp_path)) == list(shipped("V", 0, 3))


def test_datasets_of_seed_0_are_compressed_into_the_checkout(tmp_path, dataset):
    with pytest.raises(InvalidConfiguration, match="expected error datasets in"):
        ship(tmp_path)
    assert _run("dataset=V", "episodes=3", f"out={tmp_path / 'V'}").returncode == 0
    ship(tmp_path, tmp_path / "out")
    with lzma.open(tmp_path / "out" / "V.jsonl.xz") as file:
        assert file.read() == (tmp_path / "V" / "episodes.jsonl").read_bytes()
    (tmp_path / "II").symlink_to(dataset[0])  # of another seed
    with pytest.raises(InvalidConfiguration, match=r"found .*seed"):
        ship(tmp_path, tmp_path / "other")
    assert not (tmp_path / "other").exists()

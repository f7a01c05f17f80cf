"""`python -m sim.datasets` resumes, refuses what is not its own, and makes the same bytes for the same seed."""

import json
import os
import re
import subprocess
import sys

import pytest

from sim.datasets import DATASETS, generate, read_episodes
from sim.datasets.shipped import SEED, shipped, shipped_lines
from tests.commands import ROOT, run


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("datasets") / "II"
    ran = run("sim.datasets", "dataset=II", "episodes=2", "seed=5", f"out={folder}", "workers=1")
    assert ran.code == 0, ran.err
    return folder, ran.out


def test_it_ends_with_the_tables_and_leaves_them(dataset):
    folder, printed = dataset
    assert printed.strip().endswith((folder / "table.md").read_text().strip())
    metrics = json.loads((folder / "metrics.json").read_text())
    assert metrics["episodes"] == metrics["episodes_in_which_every_fault_shows"] == 2
    assert metrics["plan_length"] == {"1": 1, "2": 1}


def test_an_interrupted_run_goes_on_and_makes_the_same_bytes(dataset, tmp_path):
    whole = (dataset[0] / "episodes.jsonl").read_bytes()
    out = tmp_path / "again"
    assert run("sim.datasets", "dataset=II", "episodes=1", "seed=5", f"out={out}", "workers=1").code == 0
    file = out / "episodes.jsonl"
    assert file.read_bytes() == whole.splitlines(keepends=True)[0]
    file.write_bytes(file.read_bytes() + whole.splitlines(keepends=True)[1][:50])
    assert run("sim.datasets", "dataset=II", "episodes=2", "seed=5", f"out={out}", "workers=2").code == 0
    assert file.read_bytes() == whole


def test_verification_replays_twice(dataset, tmp_path):
    ran = run("sim.datasets.verify", str(dataset[0]), "--out", str(tmp_path))
    assert ran.code == 0, ran.err
    assert "2 episodes (3 steps) replayed twice, 0 differences" in ran.out
    (name,) = json.loads((tmp_path / "metrics.json").read_text())["datasets"]
    table = (tmp_path / "table.md").read_text()
    assert re.search(rf"{name} +\| +2 \| +3 \| +0 \|", table), table
    assert "sim.datasets.verify" in json.loads((tmp_path / "run.json").read_text())["command"]


@pytest.mark.parametrize("name", DATASETS)
def test_what_comes_with_the_checkout_is_what_is_drawn(name):
    """The first episode; all of them take most of an hour (`shipped=false`)."""
    (first,) = shipped_lines(name, 0, 1)
    assert generate(DATASETS[name], SEED, 0).episode.to_json() == first


def test_processors_and_numbers_of_threads_draw_the_same_episode():
    """Other last bits of products of matrices would give other poses."""
    settings = (
        {"OPENBLAS_CORETYPE": "Nehalem", "OMP_NUM_THREADS": "1"},
        {"OPENBLAS_CORETYPE": "Haswell", "OMP_NUM_THREADS": "2"},
        {"NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR"},
    )
    code = "from sim.datasets.digests import tabletop_digest; print(tabletop_digest('II', 7, 1))"
    draws = [
        subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env=os.environ | each, capture_output=True, text=True, check=True
        ).stdout.splitlines()[-1]
        for each in settings
    ]
    assert draws[0].startswith("II seed 7 episode 1: ")
    assert draws == draws[:1] * len(settings)


def test_what_comes_with_the_checkout_is_taken_before_more_is_drawn(tmp_path):
    ran = run("sim.datasets", "dataset=V", "episodes=3", f"out={tmp_path}")
    assert ran.code == 0, ran.err
    last = json.loads((tmp_path / "metrics.json").read_text())["last_run"]
    assert (last["shipped"], last["generated"]) == (3, 0)
    assert list(read_episodes(tmp_path)) == list(shipped("V", 0, 3))

"""The same on a Ray cluster as in processes of this machine, whoever started Ray, and however early it is left."""

import math
import os
import subprocess
import sys
import time
from itertools import count
from pathlib import Path

import pytest

from eval.sweep.command import MEASUREMENT
from nsrecover.core.actions import Plan
from nsrecover.errors import InvalidAction
from sim.collect import CollectConfig, collect
from sim.common.parallel import Backend, run_parallel
from tests.eval.sweep.test_sweep_run import OURS, config, without_times

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def ray_cluster():
    """A Ray cluster on this machine, started as a user would, with its address in the environment."""
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'nsrecover[ray]'")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    os.environ["RAY_ADDRESS"] = cluster.address
    yield
    del os.environ["RAY_ADDRESS"]
    cluster.shutdown()


def test_ray_gives_the_same(ray_cluster):
    assert list(run_parallel(math.factorial, range(12), 2, Backend.ray)) == [math.factorial(n) for n in range(12)]
    assert sorted(run_parallel(math.factorial, range(12), 2, Backend.ray, ordered=False)) == [
        math.factorial(n) for n in range(12)
    ]
    results = run_parallel(Plan.parse, ["top(a, b)", "clear", *["free(a)"] * 9], 2, Backend.ray)
    assert next(results) == Plan.parse("top(a, b)")
    with pytest.raises(InvalidAction, match=r"^expected an action like .* found 'clear'$"):
        next(results)


def test_leaving_ray_early_ends_its_workers(ray_cluster, tmp_path):
    def leave_pid(number: int) -> int:  # in here, as its workers do not find this module
        (tmp_path / str(os.getpid())).write_text("")
        time.sleep(120.0 if number else 0.0)
        return number

    results = run_parallel(leave_pid, count(), 2, Backend.ray)
    assert next(results) == 0
    results.close()
    until = time.monotonic() + 60.0  # less than one of the items takes
    while any(Path(f"/proc/{path.name}").exists() for path in tmp_path.iterdir()):
        assert time.monotonic() < until
        time.sleep(0.1)


def test_ray_that_the_caller_started_stays(ray_cluster):
    """However often it is left at the moment at which an item is done: Ray aborts whoever cancels one just then."""
    ray = pytest.importorskip("ray")
    ray.init(address=os.environ["RAY_ADDRESS"], log_to_driver=False, logging_level="ERROR")
    try:
        for _ in range(15):
            results = run_parallel(math.factorial, count(), 2, Backend.ray)
            assert [next(results), next(results)] == [1, 1]
            results.close()
        assert ray.is_initialized()
    finally:
        ray.shutdown()


def test_collecting_on_ray_gives_the_same_file(ray_cluster, tmp_path):
    files = []
    for backend, workers in ((Backend.ray, 2), (Backend.loky, 1)):
        out = tmp_path / backend.value
        few = CollectConfig(
            transitions=2, seed=3, objects=[2], lengths=[1], workers=workers, parallel=backend, out=str(out)
        )
        collect(few)
        files.append((out / "demonstrations.h5").read_bytes())
    assert files[0] == files[1]


def test_a_cluster_that_is_not_there_is_one_line(tmp_path):
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'nsrecover[ray]'")
    code = (
        "from sim.common.parallel import *; from nsrecover.errors import cli_errors\n"
        "with cli_errors(): list(run_parallel(abs, [1], 1, Backend.ray))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "RAY_ADDRESS": "nowhere"},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.strip().splitlines()[-1].startswith("error: expected a Ray cluster at nowhere")


def test_a_sweep_on_ray_gives_the_same_table(ray_cluster, tmp_path):
    """With the learned parts and the search at work, as in published sweeps."""
    for parallel in ("loky", "ray"):
        MEASUREMENT.run(config(tmp_path / parallel, OURS, parallel=parallel))
    assert without_times(tmp_path / "ray") == without_times(tmp_path / "loky")

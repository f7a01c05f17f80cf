"""The same on a Ray cluster as in processes of this machine, whoever started Ray, and however early it is left."""

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nsrecover.core.actions import Plan
from nsrecover.errors import InvalidAction
from sim.common.parallel import Backend, run_parallel

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

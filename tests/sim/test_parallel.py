"""Results come in order, whoever computes them; few items are in flight; nothing is left behind."""

import math
import os
import subprocess
import sys
import time
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from eval.sweep.run import sweep
from nsrecover.errors import InvalidAction, InvalidConfiguration, InvalidPlan
from nsrecover.structs import Plan
from sim.collect import CollectConfig, collect
from sim.parallel import AHEAD, Backend, WorkerDied, run_parallel
from tests.eval.sweep.test_sweep_run import OURS, config, results

ROOT = Path(__file__).parents[2]
SERIAL, LOKY = (1, Backend.loky), (2, Backend.loky)


def slow_square(number: int) -> int:
    time.sleep(0.02 * (number % 3 == 0))
    return number * number


def fail_at_three(number: int) -> int:
    if number == 3:
        raise InvalidPlan("expected two, found three; count again")
    return number


def die(number: int) -> int:
    if number == 2:
        os._exit(7)
    return number


def leave_pid(folder: str, number: int) -> int:
    (Path(folder) / str(os.getpid())).write_text("")
    time.sleep(30.0 if number else 0.0)
    return number


def threads_and_noise(number: int) -> tuple[str | None, int]:
    print("this must not be seen")
    return os.environ.get("OMP_NUM_THREADS"), os.getpid()


@pytest.fixture(scope="module")
def ray_cluster():
    """A Ray cluster on this machine, started as a user would, with its address in the environment."""
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'nsrecover[ray]'")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    os.environ["RAY_ADDRESS"] = cluster.address
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    yield
    del os.environ["RAY_ADDRESS"]
    ray.shutdown()
    cluster.shutdown()


@pytest.mark.parametrize("how", [SERIAL, LOKY])
def test_results_are_in_order(how):
    assert list(run_parallel(slow_square, range(20), *how)) == [number**2 for number in range(20)]


def wait_for_the_others(folder: str, number: int) -> int:
    """The first one is done when all others are."""
    until = time.monotonic() + 60.0
    while number == 0 and len(list(Path(folder).iterdir())) < 7 and time.monotonic() < until:
        time.sleep(0.01)
    (Path(folder) / str(number)).write_text("")
    return number


def test_nobody_waits_for_one_that_takes_long(tmp_path):
    """In order this would have to wait for the minute to pass: no more than `AHEAD` items a worker are in flight."""
    results = run_parallel(partial(wait_for_the_others, str(tmp_path)), range(8), 2, ordered=False)
    found = list(results)
    assert sorted(found) == list(range(8))
    assert found[-1] == 0


def fail_after_the_others(folder: str, number: int) -> int:
    until = time.monotonic() + 60.0
    while number == 0 and len(list(Path(folder).iterdir())) < 3 and time.monotonic() < until:
        time.sleep(0.01)
    (Path(folder) / str(number)).write_text("")
    return number or fail_at_three(3)


def test_what_others_have_finished_is_given_before_an_error(tmp_path):
    results = run_parallel(partial(fail_after_the_others, str(tmp_path)), range(4), 2, ordered=False)
    found = [next(results)]
    time.sleep(2.0)  # by now all are done
    found += [next(results), next(results)]
    assert sorted(found) == [1, 2, 3]
    with pytest.raises(InvalidPlan):
        next(results)


def test_few_items_are_in_flight():
    taken = []
    results = run_parallel(slow_square, (taken.append(n) or n for n in range(100)), 2)
    for number, _ in enumerate(results):
        assert len(taken) <= number + 1 + AHEAD * 2
        if number == 20:
            break
    results.close()
    assert len(taken) < 100


@pytest.mark.parametrize("how", [SERIAL, LOKY])
def test_an_error_is_raised_in_its_turn(how):
    results = run_parallel(fail_at_three, count(), *how)
    assert [next(results), next(results), next(results)] == [0, 1, 2]
    with pytest.raises(InvalidPlan, match="found three"):
        next(results)


def test_a_worker_that_died_is_named():
    with pytest.raises(WorkerDied, match="start the same command again"):
        list(run_parallel(die, range(5), 2))


def test_leaving_early_ends_the_workers(tmp_path):
    results = run_parallel(partial(leave_pid, str(tmp_path)), count(), 2)
    assert next(results) == 0
    started = time.monotonic()
    results.close()
    assert time.monotonic() - started < 10.0
    for path in tmp_path.iterdir():
        with pytest.raises(ProcessLookupError):
            os.kill(int(path.name), 0)


def test_workers_have_one_thread_and_are_quiet(capfd):
    found = list(run_parallel(threads_and_noise, range(4), 2))
    assert {threads for threads, _ in found} == {"1"}
    assert os.getpid() not in {pid for _, pid in found}
    said = capfd.readouterr()
    assert (said.out, said.err) == ("", "")


def test_no_workers_is_refused():
    with pytest.raises(InvalidConfiguration, match="at least 1 worker"):
        run_parallel(slow_square, [1], 0)


def test_ray_gives_the_same(ray_cluster):
    assert list(run_parallel(math.factorial, range(12), 2, Backend.ray)) == [math.factorial(n) for n in range(12)]
    assert sorted(run_parallel(math.factorial, range(12), 2, Backend.ray, ordered=False)) == [
        math.factorial(n) for n in range(12)
    ]
    results = run_parallel(Plan.parse, ["top(a, b)", "clear", *["free(a)"] * 9], 2, Backend.ray)
    assert next(results) == Plan.parse("top(a, b)")
    with pytest.raises(InvalidAction, match=r"^expected an action like .* found 'clear'$"):
        next(results)


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
        "from sim.parallel import *; from nsrecover.errors import told_in_one_line\n"
        "with told_in_one_line(): list(run_parallel(abs, [1], 1, Backend.ray))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "RAY_ADDRESS": "nowhere"},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.strip().splitlines()[-1].startswith("error: expected a Ray cluster at nowhere")


def test_a_sweep_on_ray_gives_the_same_table(ray_cluster, tmp_path):
    """With the learned parts and the search at work, as in published sweeps."""
    serial = sweep(config(episodes=2, planner=OURS), tmp_path / "serial", quiet=True)
    cluster = sweep(config(episodes=2, planner=OURS, parallel="ray"), tmp_path / "ray", quiet=True)
    assert cluster["completion"] == serial["completion"]
    assert results(tmp_path / "ray") == results(tmp_path / "serial")

"""Results come in order, whoever computes them; few items are in flight; nothing is left behind."""

import os
import time
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from nsrecover.errors import InvalidPlan
from sim.common.parallel import AHEAD, Backend, WorkerDied, run_parallel

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
    time.sleep(120.0 if number else 0.0)
    return number


def threads_and_noise(number: int) -> tuple[str | None, int]:
    print("this must not be seen")
    return os.environ.get("OMP_NUM_THREADS"), os.getpid()


@pytest.mark.parametrize("how", [SERIAL, LOKY])
def test_results_are_in_order(how):
    assert list(run_parallel(slow_square, range(20), *how)) == [number**2 for number in range(20)]


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
    assert time.monotonic() - started < 60.0  # half of what an item takes
    for path in tmp_path.iterdir():
        with pytest.raises(ProcessLookupError):
            os.kill(int(path.name), 0)


def test_workers_have_one_thread_and_are_quiet(capfd):
    found = list(run_parallel(threads_and_noise, range(4), 2))
    assert {threads for threads, _ in found} == {"1"}
    assert os.getpid() not in {pid for _, pid in found}
    said = capfd.readouterr()
    assert (said.out, said.err) == ("", "")

"""A collection that is killed again and again loses at most what each worker had in hand, and ends the same."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil

from nsrecover.records.archive import Archive
from nsrecover.util.atomic_write import atomic_path
from tests.commands import run

ROOT = Path(__file__).parents[2]
WORKERS = 2
Recorded = dict[tuple[str, int], int]
"""Episode and observation -> time at which the file was written, nanoseconds."""


def _settings(transitions: int, out: Path, workers: int) -> list[str]:
    few = ["seed=3", "objects=[3]", "lengths=[2,3]", "fidelity=kinematic"]
    return [f"transitions={transitions}", *few, f"workers={workers}", f"out={out}"]


def _started(transitions: int, out: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "sim.collect", *_settings(transitions, out, WORKERS)]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, cwd=ROOT, start_new_session=True, stdout=quiet, stderr=quiet)


def _collect_without_kills(transitions: int, out: Path) -> None:
    done = run("sim.collect", *_settings(transitions, out, workers=1))
    assert done.code == 0, done.err


def _recorded(out: Path) -> Recorded:
    """Return every observation of unfinished episodes on disk."""
    found = {}
    for path in (out / "parts").glob("*/*.npz"):
        if not path.name.startswith("."):
            found[path.parent.name, int(path.stem)] = path.stat().st_mtime_ns
    return found


def _finished(out: Path) -> set[str]:
    """Return the finished episodes."""
    return {path.stem for path in (out / "parts").glob("[0-9]*.json")}


def _in_hand(out: Path) -> list[tuple[str, int]]:
    """Return the transitions that were begun and not recorded."""
    lost = []
    for log in (out / "parts").glob("*/events.log"):
        if log.parent.name not in _finished(out):
            events = [tuple(line.split()) for line in log.read_text().splitlines()]
            begun, recorded = ({int(n) for kind, n in events if kind == word} for word in ("begun", "recorded"))
            lost += [(log.parent.name, number) for number in sorted(begun - recorded)]
            missing = {number for number in recorded if (log.parent.name, number) not in _recorded(out)}
            assert not missing, f"reported as recorded, but not on disk: {log.parent.name} {missing}"
    return lost


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and its workers, and wait until all of them have ended."""
    if process.poll() is None:
        workers = psutil.Process(process.pid).children(recursive=True)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        while any(_runs(worker) for worker in workers):
            time.sleep(0.01)


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_kills_lose_at_most_the_transition_in_hand(tmp_path):
    """It holds right after the first new file, and later."""
    transitions, out = 10, tmp_path / "killed"
    _collect_without_kills(transitions, tmp_path / "whole")
    before: Recorded = {}
    done = set[str]()
    for pause_s in (0.0, 0.3):  # seconds after a new file
        process = _started(transitions, out)
        while not (_recorded(out).keys() - before.keys() or _finished(out) - done) and process.poll() is None:
            time.sleep(0.01)
        time.sleep(pause_s)
        _end(process)
        if (out / "demonstrations.h5").is_file():
            continue  # the collection is complete and its parts are being deleted; the comparison at the end covers it
        after, finished, lost = _recorded(out), _finished(out), _in_hand(out)
        for key, when in before.items():
            assert key[0] in finished or after.get(key) == when, f"{key} was recorded twice or lost"
        assert done <= finished, "a finished episode was lost"
        assert len(lost) <= WORKERS, f"more was lost than the workers had in hand: {lost}"
        before, done = after, finished
    _collect_without_kills(transitions, out)
    with Archive(tmp_path / "whole" / "demonstrations.h5") as whole, Archive(out / "demonstrations.h5") as killed:
        assert [whole.digest(n) for n in whole.episodes] == [killed.digest(n) for n in killed.episodes]
        assert whole.episodes == killed.episodes
    names = [{path.name for path in (tmp_path / name).iterdir()} for name in ("whole", "killed")]
    assert names[0] == names[1], "something was left behind"
    assert (out / "outcomes.jsonl").read_bytes() == (tmp_path / "whole" / "outcomes.jsonl").read_bytes()


def test_a_kill_before_anything_is_recorded_leaves_a_folder_that_goes_on(tmp_path):
    out = tmp_path / "early"
    process = _started(2, out)
    while not (out / ".lock").exists() and process.poll() is None:
        time.sleep(0.002)
    _end(process)
    killed = atomic_path(out / "manifest.json")
    killed.__enter__().write_text("{")  # killed while it is written: the block never ends
    _collect_without_kills(2, out)
    with Archive(out / "demonstrations.h5") as archive:
        assert sum(len(archive.plan(number)) for number in archive.episodes) >= 2

"""A collection that is killed again and again loses at most what each worker had in hand, and ends the same.

`python -m tests.sim.test_kills 10` does it ten times with thirty transitions and prints what it saw.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import psutil

from nsrecover.records.archive import Archive
from nsrecover.util.atomic_write import atomic_path
from sim.collect import CollectConfig, collect
from tests.commands import run

ROOT = Path(__file__).parents[2]
WORKERS = 2
Recorded = dict[tuple[str, int], int]
"""Episode and observation -> time at which the file was written, nanoseconds."""


def _settings(transitions: int, out: Path, workers: int) -> list[str]:
    few = ["seed=3", "objects=[3]", "lengths=[2,3]", "fidelity=kinematic"]
    return [f"transitions={transitions}", *few, f"workers={workers}", f"out={out}"]


def _command(transitions: int, out: Path) -> list[str]:
    return [sys.executable, "-m", "sim.collect", *_settings(transitions, out, WORKERS)]


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


def kill_again_and_again(folder: Path, kills: int, transitions: int, pauses_s: Iterable[float]) -> list[str]:
    """Collect once without interruption and once with kills, and compare.

    Args:
        folder: for both.
        kills: how often to kill; fewer if the collection is complete before.
        transitions: to collect.
        pauses_s: time between a new file and each kill, seconds.

    Returns:
        State after each kill.
    """
    _collect_without_kills(transitions, folder / "whole")
    out, seen = folder / "killed", list[str]()
    before: Recorded = {}
    done = set[str]()
    for kill, pause_s in zip(range(1, kills + 1), pauses_s, strict=False):
        process = subprocess.Popen(
            _command(transitions, out), cwd=ROOT, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        while not (_recorded(out).keys() - before.keys() or _finished(out) - done) and process.poll() is None:
            time.sleep(0.01)
        time.sleep(pause_s)
        _end(process)
        if (out / "demonstrations.h5").is_file():
            # the collection is complete and its parts are being deleted; the comparison at the end covers it
            seen.append(f"kill {kill}: complete")
            continue
        after, finished, lost = _recorded(out), _finished(out), _in_hand(out)
        for key, when in before.items():
            assert key[0] in finished or after.get(key) == when, f"{key} was recorded twice or lost"
        assert done <= finished, "a finished episode was lost"
        assert len(lost) <= WORKERS, f"more was lost than the workers had in hand: {lost}"
        before, done = after, finished
        text = f"kill {kill}: {len(done)} episodes finished, {len(after)} observations of others, in hand {lost}"
        seen.append(text)
    _collect_without_kills(transitions, out)
    with Archive(folder / "whole" / "demonstrations.h5") as whole, Archive(out / "demonstrations.h5") as killed:
        assert [whole.digest(n) for n in whole.episodes] == [killed.digest(n) for n in killed.episodes]
        assert whole.episodes == killed.episodes
    names = [{path.name for path in (folder / name).iterdir()} for name in ("whole", "killed")]
    assert names[0] == names[1], "something was left behind"
    assert (out / "outcomes.jsonl").read_bytes() == (folder / "whole" / "outcomes.jsonl").read_bytes()
    return seen


def test_kills_lose_at_most_the_transition_in_hand(tmp_path):
    """It holds right after the first new file, and later."""
    assert len(kill_again_and_again(tmp_path, kills=2, transitions=10, pauses_s=[0.0, 0.3])) == 2


def test_a_kill_before_anything_is_recorded_leaves_a_folder_that_goes_on(tmp_path):
    out = tmp_path / "early"
    process = subprocess.Popen(
        _command(2, out), cwd=ROOT, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while not (out / ".lock").exists() and process.poll() is None:
        time.sleep(0.002)
    _end(process)
    killed = atomic_path(out / "manifest.json")
    killed.__enter__().write_text("{")  # killed while it is written: the block never ends
    same = CollectConfig(
        transitions=2, seed=3, objects=[3], lengths=[2, 3], fidelity="kinematic", workers=1, out=str(out)
    )
    assert collect(same)["transitions"] >= 2


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        rng = random.Random(0)
        pauses_s = iter(lambda: rng.uniform(0.0, 3.0), None)
        print(*kill_again_and_again(Path(name), int(sys.argv[1]), transitions=30, pauses_s=pauses_s), sep="\n")
        print("the file is the same as without kills, episode by episode")

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
from pathlib import Path

from nsrecover.records.archive import Archive
from sim.collect import CollectConfig, collect

ROOT = Path(__file__).parents[2]
WORKERS = 2
Recorded = dict[tuple[str, int], int]
"""Episode and observation -> when the file was written; 0 in an episode that is finished."""


def _command(transitions: int, out: Path) -> list[str]:
    few = [f"transitions={transitions}", "seed=3", "objects=[3]", "lengths=[2,3]"]
    return [sys.executable, "-m", "sim.collect", *few, f"workers={WORKERS}", f"out={out}"]


def _recorded(out: Path) -> Recorded:
    """Every observation that is on disk."""
    found = {}
    for path in (out / "parts").glob("*/*.npz"):
        if not path.name.startswith("."):
            found[path.parent.name, int(path.stem)] = path.stat().st_mtime_ns
    return found


def _finished(out: Path) -> set[str]:
    return {path.stem for path in (out / "parts").glob("[0-9]*.json")}


def _in_hand(out: Path) -> list[tuple[str, int]]:
    """What had been begun and not been recorded."""
    lost = []
    for log in (out / "parts").glob("*/events.log"):
        if log.parent.name not in _finished(out):
            events = [tuple(line.split()) for line in log.read_text().splitlines()]
            begun, recorded = ({int(n) for kind, n in events if kind == word} for word in ("begun", "recorded"))
            lost += [(log.parent.name, number) for number in sorted(begun - recorded)]
            missing = {number for number in recorded if (log.parent.name, number) not in _recorded(out)}
            assert not missing, f"reported as recorded, but not on disk: {log.parent.name} {missing}"
    return lost


def kill_again_and_again(folder: Path, kills: int, transitions: int, seed: int) -> list[str]:
    """Collect once without interruption and once with kills, and compare.

    Returns:
        What was seen after each kill.
    """
    rng = random.Random(seed)
    started = time.monotonic()
    subprocess.run(_command(transitions, folder / "whole"), cwd=ROOT, check=True, capture_output=True)
    out, seen = folder / "killed", list[str]()
    pause = 0.6 * (time.monotonic() - started) / kills
    before: Recorded = {}
    done = set[str]()
    for kill in range(1, kills + 1):
        process = subprocess.Popen(
            _command(transitions, out), cwd=ROOT, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        # at a random moment after the workers are at work
        until = time.monotonic() + 60.0
        while not _progress(out, before, done) and process.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(rng.uniform(0.0, pause))
        if process.poll() is not None:
            break
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        time.sleep(0.5)
        after, lost = _recorded(out), _in_hand(out)
        for key, when in before.items():
            assert key[0] in _finished(out) or after.get(key) == when, f"{key} was recorded twice or lost"
        assert done <= _finished(out), "a finished episode was lost"
        assert len(lost) <= WORKERS, f"more was lost than the workers had in hand: {lost}"
        before, done = after, _finished(out)
        text = f"kill {kill}: {len(done)} episodes finished, {len(after)} observations of others, in hand {lost}"
        seen.append(text)
    subprocess.run(_command(transitions, out), cwd=ROOT, check=True, capture_output=True)
    with Archive(folder / "whole" / "demonstrations.h5") as whole, Archive(out / "demonstrations.h5") as killed:
        assert [whole.digest(n) for n in whole.episodes] == [killed.digest(n) for n in killed.episodes]
        assert whole.episodes == killed.episodes
    names = [{path.name for path in (folder / name).iterdir()} for name in ("whole", "killed")]
    assert names[0] == names[1], "something was left behind"
    assert (out / "outcomes.jsonl").read_bytes() == (folder / "whole" / "outcomes.jsonl").read_bytes()
    return seen


def _progress(out: Path, before: Recorded, done: set[str]) -> bool:
    """Whether something was recorded that had not been."""
    return bool(_recorded(out).keys() - before.keys() or _finished(out) - done)


def test_kills_lose_at_most_the_transition_in_hand(tmp_path):
    assert len(kill_again_and_again(tmp_path, kills=2, transitions=6, seed=1)) >= 1


def test_a_kill_before_anything_is_recorded_leaves_a_folder_that_goes_on(tmp_path):
    out = tmp_path / "early"
    process = subprocess.Popen(
        _command(2, out), cwd=ROOT, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    until = time.monotonic() + 60.0
    while not (out / ".lock").exists() and time.monotonic() < until:
        time.sleep(0.002)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    (out / ".manifest.json.part").write_text("{")
    few = CollectConfig(transitions=2, seed=3, objects=[3], lengths=[2, 3], workers=1, out=str(out))
    assert collect(few)["transitions"] >= 2


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        print(*kill_again_and_again(Path(name), int(sys.argv[1]), transitions=30, seed=0), sep="\n")
        print("the file is the same as without kills, episode by episode")

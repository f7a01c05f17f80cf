"""`nsrecover watch --live` and `tell --live` that end by a signal keep the log; `driven.py` watches to the end."""

import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from nsrecover.core.episode import EpisodeStatus, StopCode
from nsrecover.records import episode_log
from tests.commands import ROOT
from tests.nsrecover.serving.live.live_worlds import Client, number_in

ROBOT = """
from tests.nsrecover.serving.live.live_worlds import PLAN, BoxTable, pushed

def world():
    made = BoxTable(pushed)
    made.plan = PLAN
    return made
"""


@contextlib.contextmanager
def live(*command: str) -> Iterator[tuple[subprocess.Popen[str], Client]]:
    """A command that serves a live page, and a viewer of it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "nsrecover.cli.app", *command, "--live", "--port", "0"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    try:
        assert process.stderr is not None
        address = process.stderr.readline()
        assert address.startswith("open http://127.0.0.1:")
        yield process, Client(address.removeprefix("open ").strip())
    finally:
        process.kill()


def test_ctrl_c_keeps_the_log_of_a_watched_robot(tmp_path: Path) -> None:
    (tmp_path / "robot.py").write_text(ROBOT)
    log = tmp_path / "watched.json"
    with live("watch", f"{tmp_path / 'robot.py'}:world", "--out", str(log)) as (process, viewer):
        viewer.do("approve")
        viewer.do("resume")
        viewer.wait_for("Take this way back?", "decision")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert process.returncode == 1
    stopped = episode_log.load(log)
    assert stopped.why is StopCode.STOPPED
    assert stopped.records


KILLED = """
import os, signal
from tests.nsrecover.serving.live.live_worlds import PLAN, BoxTable

class Killed(BoxTable):
    executed = 0

    def execute(self, action):
        self.executed += 1
        if self.executed == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        super().execute(action)

def world():
    made = Killed()
    made.plan = PLAN
    return made
"""


def test_a_program_that_is_killed_has_logged_every_turn_that_was_over(tmp_path: Path) -> None:
    (tmp_path / "robot.py").write_text(KILLED)
    log = tmp_path / "watched.json"
    command = [sys.executable, "-m", "nsrecover.cli.app", "watch", f"{tmp_path / 'robot.py'}:world", "--out", str(log)]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, timeout=120).returncode == -signal.SIGKILL
    kept = episode_log.load(log)
    assert kept.status is EpisodeStatus.RUNNING
    assert [record.action for record in kept.records] == [kept.plan[0]]


def test_ctrl_c_keeps_the_log_of_a_robot_that_was_told_something(tmp_path: Path) -> None:
    log = tmp_path / "told.json"
    with live("tell", "put the banana on the desk", "--out", str(log)) as (process, viewer):
        asked = viewer.wait_for("Shall I?", "decision")
        viewer.do("pause")
        viewer.do("answer", number=number_in(asked), text="yes")
        viewer.wait_for("paused", "state")
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=30)
    assert process.returncode == 1
    assert f"log: {log}" in said
    assert episode_log.load(log).why is StopCode.STOPPED

"""`nsrecover fleet`: the page of many robots from the command line."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import nsrecover.serving.live
from tests.commands import ROOT
from tests.nsrecover.serving.live.live_worlds import Client

START = [sys.executable, "-m", "nsrecover.cli.app", "fleet", "--port", "0"]


def test_robots_of_the_command_line_and_of_a_file_are_followed_and_answered(tmp_path: Path) -> None:
    answers = list[str]()
    with nsrecover.serving.live.page() as one, nsrecover.serving.live.page() as two:
        file = tmp_path / "robots.txt"
        file.write_text(f"# the second hall\nhall 2={two.url}\n")
        asking = threading.Thread(target=lambda: answers.append(two.ask("Which mug?")))
        asking.start()
        with subprocess.Popen(
            [*START, f"hall 1={one.url}", "--file", str(file)],
            env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True,
        ) as running:  # fmt: skip
            assert running.stdout is not None
            person = Client(running.stdout.readline().split()[1])
            assert "hall 2" in person.wait_for("Which mug?", "first")
            assert "hall 1" in person.wait_for("hall 1", "robots")
            assert person.do("answer", robot="hall 2", number=1, text="the red one").status_code == 200
            asking.join(20)
            running.terminate()
    assert answers == ["the red one"]


def test_a_wrong_file_is_one_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [*START, "--file", str(tmp_path / "none")], env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("error: expected a file with one [NAME=]URL a line")
    assert done.stderr.count("\n") == 1

"""`calibrate` goes on where it was killed, and comes to the same result."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.commands import ROOT
from tests.nsrecover.onboarding.box_runs import write_runs

KILLED = """
import os, signal, sys

count = 0

def kill(event, arguments):
    global count
    if event == "os.rename" and "/parts/" in str(arguments[1]):
        count += 1
        if count > int(os.environ["PARTS"]):
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(kill)
from nsrecover.cli.app import main
try:
    main()
finally:
    print("followed", count, file=sys.stderr)
"""
"""Runs the command, which is killed before it has written more than some finished runs."""


def calibrate(parts: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", KILLED, "calibrate", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PARTS": str(parts)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


def test_a_killed_calibration_goes_on(tmp_path: Path) -> None:
    runs = str(write_runs(tmp_path / "runs", 12))
    out = tmp_path / "out"
    killed = calibrate(5, runs, "--out", str(out))
    assert killed.returncode == -signal.SIGKILL
    assert len(list((out / "parts").glob("[!.]*.json"))) == 5
    done = calibrate(12, runs, "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert "followed 7" in done.stderr
    assert not (out / "parts").exists()
    whole = calibrate(12, runs, "--out", str(tmp_path / "whole"))
    assert "followed 12" in whole.stderr
    assert (out / "calibration.json").read_text() == (tmp_path / "whole" / "calibration.json").read_text()

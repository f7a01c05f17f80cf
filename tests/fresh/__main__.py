"""`make pythons`: the library and its light tests in a new environment of every Python from 3.10 on that is here.

Versions may be given: `python -m tests.fresh 3.10 3.13`.

Standard library alone. Torch, the simulator and the evaluation are not installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
VERSIONS = ("3.10", "3.11", "3.12", "3.13")
NEEDED = ("pytest>=8", "pytest-timeout", "hypothesis", "rosbags>=0.11")
LIGHT = ("core", "util", "planning/symbolic", "test_help.py", "test_without_torch.py")
"""Inside tests/nsrecover: boxes, facts and symbolic plans."""


def python_of(version: str) -> str | None:
    """The program of a version: on the path, or in pyenv's folder."""
    found = [each for each in (shutil.which(f"python{version}"),) if each]
    found += map(str, sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python")))
    for each in found:
        if subprocess.run([each, "-c", "import venv, ensurepip"], capture_output=True).returncode == 0:
            return each
    return None


def tried(version: str, program: str, folder: Path) -> tuple[bool, str]:
    """Whether the light tests pass in a new environment, and a line about it."""
    start = time.perf_counter()
    subprocess.run([program, "-m", "venv", "--clear", folder], check=True)
    python = folder / "bin" / "python"
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", f"{ROOT}[server,up]", "httpx", *NEEDED]
    if subprocess.run(pip).returncode:
        return False, f"{version}: cannot be installed"
    installed = time.perf_counter() - start
    tests = [ROOT / "tests" / "nsrecover" / each for each in LIGHT]
    command = [python, "-m", "pytest", "-q", "--noconftest", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    last = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else done.stderr[-300:]
    project = folder / "project"
    for arguments, place in ((["-m", "nsrecover", "new", project], ROOT), (["test_world.py"], project)):
        if done.returncode == 0:  # the tutorial's first two commands
            done = subprocess.run([python, *arguments], cwd=place, env=environment, capture_output=True, text=True)
    if done.returncode:
        print(done.stdout[-5000:], done.stderr[-2000:])
    return done.returncode == 0, f"{version}: installed in {installed:.0f} s; {last}"


def main() -> int:
    """Print a line for each version; return 1 if a test fails."""
    passed = True
    for version in sys.argv[1:] or VERSIONS:
        program = python_of(version)
        if program is None:
            print(f"{version}: skipped, there is no python{version} here", flush=True)
            continue
        good, line = tried(version, program, ROOT / "outputs" / "pythons" / version)
        passed &= good
        print(line, flush=True)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())

"""How results came about: the command, the revision of the checkout and the machine."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from sim.common.folder import write_json

RUN = "run.json"
"""How the results came about: command, seconds, revision and machine; docs/reproduce.md shows it."""


def write_run(folder: Path, module: str) -> None:
    """Write `run.json` of a command without a configuration: its arguments are those of this process.

    Args:
        folder: of the results.
        module: that was run, such as "sim.datasets.verify".
    """
    given = [arg for arg in sys.argv[1:] if not arg.startswith(("--out", "--workers"))]
    dropped = {n + 1 for n, arg in enumerate(sys.argv[1:]) if arg in ("--out", "--workers")}
    kept = [arg for n, arg in enumerate(sys.argv[1:]) if arg in given and n not in dropped]
    write_json(folder / RUN, {"command": shlex.join(["python", "-m", module, *kept]), **machine()})


def machine() -> dict[str, Any]:
    """Revision of the checkout, processor and number of cores."""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    try:
        found = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
        revision = found.stdout.strip()
    except OSError:  # no git
        revision = ""
    processor = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        processor = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return {"revision": revision or None, "processor": processor, "cores": os.cpu_count()}

"""Demonstrations that a training has recorded first, by commands of the simulator in processes of their own."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from nsrecover.errors import InvalidConfiguration, require_known
from nsrecover.util.atomic_write import atomic_write_bytes

RECORDERS = ("sim.collect", "sim.sense")
"""Modules whose commands settings may name."""
LEDGER = "recorded.json"
"""The commands that are done, in the folder of the training."""


def record(commands: Sequence[str], out: Path, places: Sequence[Path]) -> None:
    """Run the commands that are not done yet.

    Args:
        commands: of `python -m`, in their order; each continues where it was interrupted, if it can.
        out: folder of the training, which remembers what is done.
        places: of the demonstrations; without one of them everything is recorded again.

    Raises:
        InvalidConfiguration: a command is not one that records, or it failed.
    """
    for command in commands:
        require_known(command.partition(" ")[0], RECORDERS, f"commands of {' or '.join(RECORDERS)}")
    ledger = out / LEDGER
    there = ledger.is_file() and all(place.exists() for place in places)
    done: list[str] = json.loads(ledger.read_text(encoding="utf-8")) if there else []
    for number, command in enumerate(commands):
        if done[: number + 1] == list(commands[: number + 1]):
            continue
        print(f"recording, {number + 1} of {len(commands)}: python -m {command}", flush=True)
        if code := subprocess.run([sys.executable, "-m", *shlex.split(command)], check=False).returncode:
            raise InvalidConfiguration(
                f"expected demonstrations of `python -m {command}`, found that it ended with {code}; see what it said"
            )
        out.mkdir(parents=True, exist_ok=True)
        done = list(commands[: number + 1])
        atomic_write_bytes(ledger, json.dumps(done, indent=1).encode() + b"\n")

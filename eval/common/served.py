"""`nsrecover serve` in a separate process."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

READY = re.compile(r"answers on (http://\S+)")


@dataclass(frozen=True)
class Served:
    """Running server.

    Attributes:
        url: address.
        process: of the server.
    """

    url: str
    process: subprocess.Popen[str]


@contextmanager
def served(*arguments: str) -> Iterator[Served]:
    """Start a server on a free port, and stop it at the end.

    Args:
        arguments: further arguments of `nsrecover serve`.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "nsrecover.cli.app", "serve", "--port", "0", *arguments],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        ready = READY.search(process.stdout.readline())
        if ready is None:
            raise RuntimeError(f"nsrecover serve ended with {process.wait(timeout=10)} before it answered")
        yield Served(ready[1], process)
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

"""Atomic writes: a file appears whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Return the path of a temporary file that is renamed to `path` when the block ends, and deleted after an error.

    Args:
        path: the file; missing folders are created, an existing file is replaced.

    Yields:
        An empty file in the same folder, with the same suffix. Its content is on disk when the block has ended.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=f".part{path.suffix}", dir=path.parent)
    os.close(handle)
    part = Path(name)
    try:
        yield part
        part.chmod(0o644)
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def atomic_write(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a binary file for writing that appears whole or not at all; see `atomic_path`."""
    with atomic_path(path) as part, part.open("wb") as file:
        yield file


def atomic_write_bytes(path: str | Path, data: bytes) -> None:
    """Write a whole file atomically."""
    with atomic_write(path) as file:
        file.write(data)

"""Atomic writes: a file appears whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from nsrecover.core.deprecation import serve_old_names


@contextmanager
def atomic_write(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file that takes its name when the block ends; after an error nothing of it is left.

    Args:
        path: where to; the folder is made if need be, an existing file is replaced.

    Yields:
        A binary file with a `name` of its own. Its content is on disk when the block has ended.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", suffix=".part", delete=False) as file:
        try:
            yield cast(IO[bytes], file)
            file.flush()
            os.fchmod(file.fileno(), 0o644)
            os.fsync(file.fileno())
            os.replace(file.name, path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise


def atomic_write_bytes(path: str | Path, data: bytes) -> None:
    """Write a whole file atomically."""
    with atomic_write(path) as file:
        file.write(data)


serve_old_names(__name__)

"""Atomic writes: a file appears whole or not at all."""

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from nsrecover.errors import CannotWrite, InvalidConfiguration

_UNWRITABLE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS})
"""Errors during a write that say that the disk takes no more."""


@contextmanager
def atomic_path(path: str | Path, mode: int = 0o644) -> Iterator[Path]:
    """Return the path of a temporary file that is renamed to `path` when the block ends, and deleted after an error.

    Args:
        path: the file; missing folders are created, an existing file is replaced. Of a link, the file that it leads to.
        mode: permissions of the file.

    Yields:
        An empty file in the same folder, with the same suffix. Its content is on disk when the block has ended.

    Raises:
        CannotWrite: the folder cannot be written, the disk is full, or the path is a folder or a device.
    """
    try:
        path = Path(os.path.realpath(path))
        if path.exists() and not path.is_file():
            raise CannotWrite(f"expected a file to write to, found {path}, which is {_kind(path)}; give another path")
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=f".part{path.suffix}", dir=path.parent)
        os.close(handle)
    except OSError as problem:
        raise _cannot(path, problem) from problem
    part = Path(name)
    try:
        yield part
        part.chmod(mode)
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as problem:
        if problem.errno in _UNWRITABLE:
            raise _cannot(path, problem) from problem
        raise
    finally:
        part.unlink(missing_ok=True)


def _cannot(path: str | Path, problem: OSError) -> CannotWrite:
    if isinstance(problem, CannotWrite):
        return problem
    return CannotWrite(
        f"expected to write {path}, found: {problem.strerror}; make room, or give a path that can be written; an old "
        "file is unchanged"
    )


def _kind(path: Path) -> str:
    return "a folder" if path.is_dir() else "a device or a pipe"


@contextmanager
def atomic_write(path: str | Path, mode: int = 0o644) -> Iterator[IO[bytes]]:
    """Open a binary file for writing that appears whole or not at all; see `atomic_path`."""
    with atomic_path(path, mode) as part, part.open("wb") as file:
        yield file


def atomic_write_bytes(path: str | Path, data: bytes, mode: int = 0o644) -> None:
    """Write a whole file atomically."""
    with atomic_write(path, mode) as file:
        file.write(data)


def read_private(path: str | Path) -> bytes:
    """Read a file that nobody but its owner, who runs this program, can have written.

    Raises:
        InvalidConfiguration: it belongs to another user, or others can write it.
    """
    with Path(path).open("rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
            raise InvalidConfiguration(
                f"expected a file that only you can write, found {path} of user {found.st_uid} with mode "
                f"{stat.filemode(found.st_mode)}; delete it to begin anew, or name a file in a folder of yours"
            )
        return file.read()

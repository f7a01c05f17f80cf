"""Walks through HDF5 files in a process of its own: one wrong byte can make the library for HDF5 loop for good.

Such a loop ends by no signal but SIGKILL, so a reader that met it could not be stopped either. The process is started
when it is first needed and used for all files; it takes a file and a group in it, one a line, and answers with a line
when it has looked at all that a reader looks at but the contents of compressed chunks, which cannot loop.
"""

import atexit
import json
import os
import resource
import select
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from nsrecover.errors import InvalidRecording

LIMIT_S = 4.0
"""Time for one group, seconds; a group of a valid file takes some milliseconds."""

START_S = 60.0
"""Time for the process to begin, seconds."""

MEMORY = 1_000_000_000
"""Address space of the process, bytes; the libraries alone take half of it."""

SMALL = 10_000_000
"""Arrays that are not chunked are read up to this size, bytes."""

LONGEST_TEXT = 5_000_000
"""Most characters of one array of texts; how many there are is not known before they are read."""

_lock = threading.Lock()
_processes: dict[int, subprocess.Popen[bytes]] = {}


def probe(path: Path, group: str) -> None:
    """Look at a group of a file in the other process; whatever it finds but a loop or a crash is left to the reader.

    Args:
        path: the file.
        group: in it, with its members.

    Raises:
        InvalidRecording: that does not end, or ends the process; or texts are too long.
    """
    with _lock:
        process = _running()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps([str(path.absolute()), group]).encode() + b"\n")
            process.stdin.flush()
            ended = bool(select.select([process.stdout], [], [], LIMIT_S)[0])
            answer = process.stdout.readline() if ended else b""
        except BrokenPipeError:
            ended, answer = True, b""
        except BaseException:  # such as a signal: the next answer would be one to this question
            _end(process)
            raise
        if answer.startswith(b"long"):
            raise InvalidRecording(
                f"expected texts of at most {LONGEST_TEXT:,} characters in {path}, found longer ones; shorten the notes"
            )
        if not answer:
            _end(process)
            problem = "ends the reader" if ended else f"does not end within {LIMIT_S:g} s"
            raise InvalidRecording(
                f"expected an HDF5 file of episodes at {path}, found one whose reading {problem}; it is damaged: "
                "record it again or fetch it again"
            )


def _running() -> subprocess.Popen[bytes]:
    found = _processes.get(os.getpid())
    if found is None or found.poll() is not None:
        found = subprocess.Popen(
            [sys.executable, "-c", "from nsrecover.records.hdf5_probe import main; main()"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )  # fmt: skip
        if os.getpid() not in _processes:
            atexit.register(_end_own)
        _processes[os.getpid()] = found
        assert found.stdout is not None
        if not select.select([found.stdout], [], [], START_S)[0] or not found.stdout.readline():
            _end(found)
            raise InvalidRecording("expected to start a process that looks at HDF5 files, found that it does not begin")
    return found


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


def _end_own() -> None:
    if (process := _processes.pop(os.getpid(), None)) is not None:
        _end(process)


def main() -> None:
    """The other process: begins with a line, then answers each line with one."""
    import h5py

    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    most = MEMORY if hard == resource.RLIM_INFINITY else min(MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    print(flush=True)
    for line in sys.stdin:
        path, group = json.loads(line)
        try:
            with h5py.File(path, "r") as file:
                _walk(file, group)
            print("read", flush=True)
        except (_TooLong, MemoryError):
            print("long", flush=True)
        except Exception as problem:  # of any kind: the reader meets it, too, and says what it means
            print("refused", type(problem).__name__, flush=True)


class _TooLong(Exception):
    pass


def _walk(file: Any, name: str) -> None:
    list(file.attrs.items())
    group = file[name]
    members = list(group)
    for each in members:
        link = group.get(each, getlink=True)
        data = group.get(each) if type(link).__name__ == "HardLink" else None
        if data is None or not hasattr(data, "shape") or data.external or data.is_virtual:
            continue
        if data.dtype.kind == "S" and data.nbytes > 4 * LONGEST_TEXT:
            raise _TooLong
        if data.dtype.kind == "O" and data.nbytes <= SMALL:
            texts = data[()]
            if sum(map(len, texts.ravel() if hasattr(texts, "ravel") else [texts])) > LONGEST_TEXT:
                raise _TooLong
        elif data.chunks is None:
            if data.nbytes <= SMALL:
                data[()]
        else:
            for number in range(data.id.get_num_chunks()):
                data.id.get_chunk_info(number)

"""Output folders that a command can fill over several runs: one process at a time, complete files, resumable."""

from __future__ import annotations

import fcntl
import json
import lzma
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from nsrecover.errors import InvalidConfiguration, NsrecoverError
from nsrecover.util.atomic_write import atomic_write_bytes

MANIFEST = "manifest.json"
"""File that describes a folder: all settings that decide its contents."""
REVISION = "revision"
"""Key of a manifest: revision of the checkout that began the folder, which decides nothing."""
_LOCK = ".lock"

Row = TypeVar("Row")


def write_xz(path: Path, lines: Iterable[str]) -> int:
    """Write lines into an `xz` file, atomically.

    Returns:
        Size of the file in bytes.
    """
    data = lzma.compress("".join(f"{line}\n" for line in lines).encode(), preset=9 | lzma.PRESET_EXTREME)
    atomic_write_bytes(path, data)
    return len(data)


def write_json(path: Path, data: Any) -> None:
    """Write plain data as JSON, atomically."""
    atomic_write_bytes(path, json.dumps(data, indent=2).encode() + b"\n")


@contextmanager
def claim_folder(folder: Path, manifest: Mapping[str, Any], what: str) -> Iterator[None]:
    """Create an output folder, or continue in one with the same manifest, and lock it for this process.

    Args:
        folder: created if it does not exist.
        manifest: plain data with at least a `format`; a folder with another manifest is refused.
        what: name of its contents in messages, e.g. "a collection".

    Raises:
        InvalidConfiguration: the folder holds something else, or another process works in it.
    """
    _check(folder, manifest, what)
    folder.mkdir(parents=True, exist_ok=True)
    with lock_folder(folder):
        # check again: another process may have started in between
        if not _check(folder, manifest, what):
            write_json(folder / MANIFEST, manifest)
        for path in folder.glob(".*.part*"):
            path.unlink()
        yield


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Lock a folder for this process; the operating system unlocks it when the process ends.

    Raises:
        InvalidConfiguration: another living process has locked it.
    """
    path = folder / _LOCK
    with path.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            raise InvalidConfiguration(
                f"expected no other process at work in {folder}, found process {file.read().strip() or '(unknown)'}; "
                "wait until it is done, end it, or choose another out=DIR"
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def read_ledger(path: Path, parse: Callable[[str], Row], number: Callable[[Row], int] | None) -> list[Row]:
    """Rows that earlier runs wrote, in order; everything after the last complete row is cut off.

    Args:
        path: file with one line per row; it may not exist yet.
        parse: turns a line into a row, or raises an error of the library, `ValueError`, `TypeError` or `KeyError`.
        number: the number of a row, which counts from 0; None if rows may have any order.
    """
    if not path.is_file():
        return []
    rows, whole = list[Row](), 0
    for line in path.read_bytes().splitlines(keepends=True):
        try:
            row = parse(line.decode())
        except (NsrecoverError, ValueError, TypeError, KeyError):
            break
        if not line.endswith(b"\n") or (number and number(row) != len(rows)):
            break
        rows.append(row)
        whole += len(line)
    os.truncate(path, whole)
    return rows


def _check(folder: Path, manifest: Mapping[str, Any], what: str) -> bool:
    """Whether a folder has this manifest; False if it is empty or does not exist."""
    path = folder / MANIFEST
    if path.is_file():
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise InvalidConfiguration(
                f"expected the manifest of {what} in {path}, found other text; choose another out=DIR"
            )
        if found.get("format") != manifest["format"]:
            raise InvalidConfiguration(
                f"expected {folder} to hold {what} of format {manifest['format']}, found format {found.get('format')}, "
                "which another version wrote; choose another out=DIR, or move the folder away to make it again"
            )
        here, there = _flat(manifest), _flat(found)
        differing = [
            key for key in here | there if key not in ("fingerprint", REVISION) and here.get(key) != there.get(key)
        ]
        if differing:
            raise InvalidConfiguration(
                f"expected {folder} to hold {what} with {_listed(here, differing)}, found "
                f"{_listed(there, differing)}{_done(folder, found)}; choose another out=DIR, "
                "the same settings, or delete the folder"
            )
        return True
    # files of a process that was killed right after its start
    begun = re.compile(rf"{re.escape(_LOCK)}|\.{re.escape(MANIFEST)}\..*part.*")
    if folder.exists() and not (folder.is_dir() and all(begun.fullmatch(entry.name) for entry in folder.iterdir())):
        raise InvalidConfiguration(
            f"expected an empty folder or {what} at {folder}, found something else; choose another out=DIR"
        )
    return False


def _done(folder: Path, manifest: Mapping[str, Any]) -> str:
    """How much a folder of another manifest holds, and of which revision."""
    lines = sum(path.read_bytes().count(b"\n") for path in folder.glob("*.jsonl"))
    revision = manifest.get(REVISION)
    return f" ({lines} lines of results" + (f" of revision {revision})" if revision else ")") if lines else ""


def _flat(data: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings as one dictionary with dotted names."""
    flat: dict[str, Any] = {}
    for key, value in data.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
    return flat


def _listed(settings: dict[str, Any], names: list[str], most: int = 4) -> str:
    listed = [f"{name}={json.dumps(settings.get(name))}" for name in names[:most]]
    return ", ".join(listed) + f" and {len(names) - most} others" * (len(names) > most)

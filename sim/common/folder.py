"""Folders that a command fills over several runs: of one maker at a time, never half-written, gone on with."""

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

from nsrecover.core.atomic_write import atomic_write_bytes
from nsrecover.errors import InvalidConfiguration, NsrecoverError

MANIFEST = "manifest.json"
"""Says what a folder holds; what decides its contents is in it."""
_LOCK = ".lock"

Row = TypeVar("Row")


def write_xz(path: Path, lines: Iterable[str]) -> int:
    """Write lines, compressed as `xz` does, whole or not at all.

    Returns:
        Size of the file in bytes.
    """
    data = lzma.compress("".join(f"{line}\n" for line in lines).encode(), preset=9 | lzma.PRESET_EXTREME)
    atomic_write_bytes(path, data)
    return len(data)


def write_json(path: Path, data: Any) -> None:
    """Write plain data as JSON, whole or not at all."""
    atomic_write_bytes(path, json.dumps(data, indent=2).encode() + b"\n")


@contextmanager
def claim_folder(folder: Path, manifest: Mapping[str, Any], what: str) -> Iterator[None]:
    """Make a folder ours, or go on in one that already is, and hold it for this process.

    Args:
        folder: made if need be.
        manifest: plain data with at least a `format`; a folder with another one is left alone.
        what: what to call its contents in messages, e.g. "a collection".

    Raises:
        InvalidConfiguration: it holds something else, or another process works in it.
    """
    _check(folder, manifest, what)
    folder.mkdir(parents=True, exist_ok=True)
    with lock_folder(folder):
        # once more: another process may have begun in between
        if not _check(folder, manifest, what):
            write_json(folder / MANIFEST, manifest)
        for path in folder.glob(".*.part"):
            path.unlink()
        yield


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Hold a folder for this process; the system lets go of it when the process ends, however it ends.

    Raises:
        InvalidConfiguration: another process that is alive holds it.
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
    """Lines that earlier runs wrote, in order; what follows the last whole one is cut away.

    Args:
        path: one line for each row; there need not be a file yet.
        parse: makes a row of a line, or raises an error of the library, `ValueError`, `TypeError` or `KeyError`.
        number: the number of a row, which counts from 0; None where rows stand in any order.
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
    """Whether a folder holds this; False if it holds nothing yet."""
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
        differing = [key for key in here | there if key != "fingerprint" and here.get(key) != there.get(key)]
        if differing:
            raise InvalidConfiguration(
                f"expected {folder} to hold {what} with {_listed(here, differing)}, found "
                f"{_listed(there, differing)}; choose another out=DIR, the same settings, or delete the folder"
            )
        return True
    # what a process that was killed at once leaves
    begun = re.compile(rf"{re.escape(_LOCK)}|\.{re.escape(MANIFEST)}\..*part")
    if folder.exists() and not (folder.is_dir() and all(begun.fullmatch(entry.name) for entry in folder.iterdir())):
        raise InvalidConfiguration(
            f"expected an empty folder or {what} at {folder}, found something else; choose another out=DIR"
        )
    return False


def _flat(data: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings with dotted names."""
    flat: dict[str, Any] = {}
    for key, value in data.items():
        flat |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
    return flat


def _listed(settings: dict[str, Any], names: list[str], most: int = 4) -> str:
    listed = [f"{name}={json.dumps(settings.get(name))}" for name in names[:most]]
    return ", ".join(listed) + f" and {len(names) - most} others" * (len(names) > most)

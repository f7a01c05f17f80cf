"""Files that are made to break a reader: `crafted`."""

from __future__ import annotations

import io
import itertools
import json
import sqlite3
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np

Bytes = Callable[[bytes], bytes]
MANY = 1_000_000

CHANGES: dict[str, Bytes] = {
    "empty": lambda _: b"",
    "a long end": lambda data: data + bytes(50 * MANY),
    "a mark first": lambda data: b"\xef\xbb\xbf" + data,
    "head of a zip file": lambda data: b"PK\3\4" + data[4:],
    "head of HDF5": lambda data: b"\x89HDF\r\n\x1a\n" + data[8:],
    "head of SQLite": lambda data: b"SQLite format 3\0" + data[16:],
    "head of MCAP": lambda data: b"\x89MCAP0\r\n" + data[8:],
    "pickled": lambda _: b"\x80\4\x95cposix\nsystem\n(S'touch owned'\ntR.",
    "a program": lambda _: b"\x7fELF" + b"\1" * 200,
}
"""Changes of any file."""

JSON: dict[str, Bytes] = {
    "null": lambda _: b"null",
    "deep lists": lambda _: b"[" * MANY,
    "deep objects": lambda _: b'{"a":' * 100_000,
    "deep and closed": lambda _: b"[" * 60 + b"]" * 60,
    "long text": lambda _: b'"' + b"x" * (60 * MANY) + b'"',
    "many numbers": lambda _: b"[" + b"0," * (3 * MANY) + b"0]",
    "too many numbers": lambda _: b"[" + b"0," * (20 * MANY) + b"0]",
    "many keys": lambda _: json.dumps({str(number): 0 for number in range(300_000)}).encode(),
    "a long number": lambda _: b"9" * MANY,
    "an infinite number": lambda data: data.replace(b"0.5", b"1e999999").replace(b"0.3", b"-Infinity"),
    "half a pair": lambda data: data.replace(b'": "', b'": "\\ud800'),
    "keys twice": lambda data: data.replace(b"{", b'{"format": "x", ', 1),
    "lists instead of texts": lambda data: data.replace(b'": "', b'": ["').replace(b'",', b'"],'),
    "all numbers large": lambda data: data.replace(b" 0", b" 1e300"),
}
YAML: dict[str, Bytes] = {
    "aliases": lambda _: (
        b"a: &a [x,x,x,x,x,x,x,x,x]\n"
        + b"".join(b"%c: &%c [%s]\n" % (97 + n, 97 + n, b",".join([b"*%c" % (96 + n)] * 9)) for n in range(1, 12))
    ),
    "itself": lambda _: b"a: &a [*a]\n",
    "merged with itself": lambda _: b"a: &a\n  <<: *a\n",
    "objects": lambda _: b"!!python/object/apply:os.system ['touch owned']",
    "deep": lambda _: b"[" * 20_000,
    "deep blocks": lambda _: b"".join(b" " * n + b"a:\n" for n in range(3000)),
    "many keys": lambda _: b"".join(b"k%d: 0\n" % n for n in range(100_000)),
    "a date": lambda _: b"name: 9999-99-99\n",
    "a number of minutes": lambda _: b"name: " + b"1:" * 100_000 + b"1\n",
    "wrong binary": lambda _: b"name: !!binary '==='\n",
    "long text": lambda _: b"name: " + b"x" * (10 * MANY),
    "many marks": lambda _: b"- " * 50_000,
}
PDDL: dict[str, Bytes] = {
    "deep": lambda _: b"(" * MANY,
    "deep and closed": lambda _: b"(define (domain d) " + b"(and " * 50_000 + b")" * 50_001,
    "many words": lambda _: b"(define (domain d) (:predicates " + b"(p ?x) " * 200_000 + b"))",
    "a long name": lambda data: data.replace(b"blocks", b"b" * (5 * MANY)),
    "a comment": lambda data: data + b"\n;" + b"x" * (20 * MANY),
    "a type of itself": lambda data: data.replace(b"(:predicates", b"(:types a - b b - a c - c) (:predicates", 1),
    "parameters": lambda data: data.replace(b"parameters (", b"parameters (?q1 ?q2 ?q3 ?q4 ?q5 ?q6 ?q7 ?q8 ?q9 "),
    "many objects": lambda data: data.replace(b"(:objects ", b"(:objects " + b"".join(b"%d " % n for n in range(3000))),
    "quantifiers": lambda data: data.replace(b":precondition (and", b":precondition (and "
                   + b"".join(b"(forall (?z%d - object) " % n for n in range(9)) + b"(p)" + b")" * 9),
}  # fmt: skip


_ARRAY = "{'descr': %s, 'fortran_order': False, 'shape': %s}"


def _archive(array: str, shape: object, kind: str = "'|u1'", zeros: int = 0, header: str = "") -> Bytes:
    """A recorded run in which one array has another header, and millions of zeros."""
    text = header or _ARRAY % (kind, shape)
    padded = text.encode() + b" " * (-(len(text) + 11) % 64) + b"\n"
    head = b"\x93NUMPY\1\0" + struct.pack("<H", len(padded) & 0xFFFF) + padded

    def make(data: bytes) -> bytes:
        made = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
            for name in old.namelist():
                with new.open(name, "w", force_zip64=True) as file:
                    file.write(head if name == f"{array}.npy" else old.read(name))
                    for _ in range(zeros if name == f"{array}.npy" else 0):
                        file.write(bytes(MANY))
        return made.getvalue()

    return make


NPZ: dict[str, Bytes] = {
    "unpacks to a gigabyte": _archive("rgb", (2, 1, 10_000, 10_000, 3), zeros=600),
    "a long schema": _archive("schema", (300 * MANY,), zeros=300),
    "a long plan": _archive("plan", (MANY,), "'<U100'", 400),
    "long notes": _archive("notes", (), f"'<U{75 * MANY}'", 300),
    "long labels": _archive("labels", (2,), f"'<U{30 * MANY}'", 240),
    "a negative shape": _archive("rgb", (2, -1, 5, 5, 3)),
    "a shape of texts": _archive("rgb", ("a",)),
    "objects": _archive("notes", (), "'|O'"),
    "a deep header": _archive("rgb", (), header="(" * 60_000),
    "a header that computes": _archive("rgb", "(9**9**9,)"),
    "a kind of fields": _archive("rgb", (), "[('a', '<f8', (9999, 9999))]"),
    "wrong marks": lambda data: data.replace(b"PK\1\2", b"PK\1\3", 1),
    "encrypted": lambda data: data.replace(b"\0\0\x08\0", b"\1\0\x08\0"),
    "another compression": lambda data: data.replace(b"\0\0\x08\0", b"\0\0\x63\0"),
}  # fmt: skip


def _hdf5(change: Callable[[Any], object]) -> Bytes:
    """An archive that is changed by the library that wrote it."""

    def make(data: bytes) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "runs.h5"
            path.write_bytes(data)
            with h5py.File(path, "a") as file:
                change(file)
            return path.read_bytes()

    return make


def _replaced(name: str, *given: Any, **settings: Any) -> Bytes:
    """An archive in which one array of the first episode is another one."""

    def change(file: Any) -> None:
        del file[f"episodes/000000/{name}"]
        file["episodes/000000"].create_dataset(name, *given, **settings)

    return _hdf5(change)


_RGB = "episodes/000000/rgb"


def _bomb(file: Any) -> None:
    del file["episodes/000000/rgb"]
    shape = (2, 1, 10_000, 10_000, 3)
    data = file["episodes/000000"].create_dataset("rgb", shape, "u1", chunks=(1, *shape[1:]), compression="gzip")
    for number in range(2):
        data.id.write_direct_chunk((number, 0, 0, 0, 0), zlib.compress(bytes(300 * MANY)))


HDF5: dict[str, Bytes] = {
    "unpacks to a gigabyte": _hdf5(_bomb),
    "tiny chunks": _replaced("rgb", (2, 1, 2000, 2000, 3), "u1", chunks=(1, 1, 1, 1, 1)),
    "huge": _replaced("rgb", (2, 1, 70_000, 70_000, 3), "u1", chunks=(1, 1, 100, 100, 3)),
    "long notes": _replaced("notes", data=b"x" * (300 * MANY)),
    "long labels": _replaced("labels", (2,), f"S{150 * MANY}"),
    "many actions": _replaced("plan", (20 * MANY,), "S20", chunks=(MANY,), compression="gzip"),
    "a group instead of an array": _hdf5(lambda file: (file.pop(_RGB), file.create_group(_RGB))),
    "a circle": _hdf5(lambda file: file.__setitem__("episodes/000001", file["episodes"])),
    "a soft circle": _hdf5(lambda file: file.__setitem__("episodes/000001", h5py.SoftLink("/episodes/000001"))),
    "another file": _hdf5(lambda file: file.__setitem__("episodes/000001", h5py.ExternalLink("/etc/passwd", "/"))),
    "many episodes": _hdf5(lambda file: [file.create_group(f"episodes/{n:06d}") for n in range(1, 20_000)]),
    "names of episodes": _hdf5(lambda file: [file.create_group(f"episodes/{n}") for n in ("-1", "9" * 4000, "x")]),
    "a long attribute": _hdf5(lambda file: file.attrs.__setitem__("format", "x" * 60_000)),
    "an attribute of references": _hdf5(lambda file: file.attrs.__setitem__("format", file["episodes"].ref)),
    "compound": _replaced("rgb", (2, 1, 15, 20, 3), np.dtype([("a", "f8"), ("b", "S9")])),
    "nothing in it": _replaced("rgb", data=h5py.Empty("u1")),
    "texts of any length": _replaced("rgb", (2, 1, 15, 20, 3), h5py.string_dtype()),
}  # fmt: skip


def _sqlite(*statements: str) -> Bytes:
    """A bag in which some statements were carried out."""

    def make(data: bytes) -> bytes:
        if not data.startswith(b"SQLite"):
            return data[:-1]
        with tempfile.NamedTemporaryFile(suffix=".db3") as file:
            Path(file.name).write_bytes(data)
            with sqlite3.connect(file.name) as base:
                for each in statements:
                    base.execute(each)
            base.close()
            return Path(file.name).read_bytes()

    return make


def _endless(table: str, columns: str, where: str = "") -> Bytes:
    """A bag in which a table has endlessly many rows."""
    counted = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
    view = f"CREATE VIEW {table} AS {counted} SELECT i AS id, {columns} FROM n {where}"
    return _sqlite(f"ALTER TABLE {table} RENAME TO old", view)


_MESSAGE = "1 AS topic_id, 1 AS timestamp, x'00' AS data"
_TOPIC = "'a' || i AS name, 'std_msgs/msg/String' AS type, 'cdr' AS serialization_format, '' AS offered_qos_profiles"
SQLITE: dict[str, Bytes] = {
    "endless messages": _endless("messages", _MESSAGE),
    "endless topics": _endless("topics", _TOPIC),
    "endless and silent": _endless("messages", _MESSAGE, "WHERE i < 0"),
    "large messages": _sqlite("UPDATE messages SET data = zeroblob(50000000) WHERE id < 4"),
    "no messages": _sqlite("DROP TABLE messages"),
    "texts instead of numbers": _sqlite("UPDATE messages SET timestamp = 'now', topic_id = 'a'"),
    "late": _sqlite("UPDATE messages SET timestamp = 9223372036854775807"),
    "of no topic": _sqlite("UPDATE messages SET topic_id = 99"),
    "another type": _sqlite("UPDATE topics SET type = 'std_msgs/msg/String'"),
    "a long type": _sqlite("UPDATE topics SET type = hex(zeroblob(20000000)) WHERE id = 1"),
    "no bytes": _sqlite("UPDATE messages SET data = x''"),
    "lengths of all bytes": _sqlite("UPDATE messages SET data = x'0001000000000000ffffffff' || substr(data, 13)"),
}  # fmt: skip


def _record(code: int, body: bytes, length: int | None = None) -> bytes:
    return bytes([code]) + struct.pack("<Q", len(body) if length is None else length) + body


def _summary(*places: int) -> Bytes:
    """A file of MCAP that looks for its summary somewhere else; a negative place counts from the end."""
    return lambda data: data[:-28] + struct.pack("<QQ", *(n + (n < 0) * len(data) for n in places)) + data[-12:]


_MAGIC = b"\x89MCAP0\r\n"
_HEAD = _MAGIC + _record(1, struct.pack("<I", 4) + b"ros2" + struct.pack("<I", 0))
_SCHEMAS = b"".join(_record(3, struct.pack("<H", number) + bytes(12)) for number in range(60_000))
_CHUNK = struct.pack("<QQQII", 0, 9, 2**40, 0, 4) + b"zstd" + struct.pack("<Q", 9) + b"\x28\xb5\x2f\xfd" + bytes(5)
MCAP: dict[str, Bytes] = {
    "endless record": lambda _: _HEAD + _record(5, b"", 2**63) + _MAGIC,
    "no record": lambda _: _HEAD + _MAGIC,
    "a summary that is itself": _summary(-37, -37),
    "a summary at the start": _summary(8, 8),
    "a summary far away": _summary(2**63, 2**63),
    "many schemas": lambda data: data[:-28] + _SCHEMAS + data[-28:],
    "a chunk that unpacks": lambda _: _HEAD + _record(6, _CHUNK) + _MAGIC,
}


SPECIAL: dict[str, dict[str, Bytes]] = {
    "JSON": JSON, "YAML": YAML, "PDDL": PDDL, "zip": NPZ, "HDF5": HDF5, "SQLite": SQLITE, "MCAP": MCAP,
}  # fmt: skip
_HEADS = {b"{": "JSON", b"(": "PDDL", b";": "PDDL", b"P": "zip", b"\x89H": "HDF5", b"\x89M": "MCAP", b"SQL": "SQLite"}


def _kind(data: bytes) -> str:
    """Format of a file, by its first bytes."""
    return next((kind for head, kind in _HEADS.items() if data.startswith(head)), "YAML")


def crafted(examples: Sequence[bytes], most: int | None = None) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """What is wrong with a file, and a function that makes it.

    Args:
        examples: valid ones of a target; the first of each format is changed.
        most: number for each format; all if None.
    """
    for kind, data in {_kind(each): each for each in reversed(examples)}.items():
        changes = {**SPECIAL.get(kind, {}), **CHANGES}
        for what, change in itertools.islice(changes.items(), most):
            yield f"{kind}, {what}:", partial(change, data)

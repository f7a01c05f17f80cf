"""Labels of episodes as LeRobot keeps them: a copy of the dataset with columns for success and subtasks.

`next.success` and `subtask_index`, with its names in meta/subtasks.parquet, are LeRobot's own; `failed_subtask_index`
is the subtask that failed, -1 if none did. meta/labels.json says the rest: object, cause, why, when.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from nsrecover.bridges.lerobot import episodes_of, info_of
from nsrecover.core.discrepancy import Cause
from nsrecover.errors import CannotWrite, InvalidRecording
from nsrecover.util.atomic_write import atomic_path, atomic_write_bytes
from nsrecover.util.extras import needs_extra
from nsrecover.util.untrusted_json import JsonObject

if TYPE_CHECKING:
    import pyarrow as pa

SUCCESS, SUBTASK, FAILED = "next.success", "subtask_index", "failed_subtask_index"
FILE = "meta/labels.json"


@dataclass(frozen=True)
class Label:
    """What is known of an episode.

    Attributes:
        episode: its number.
        task: in words.
        succeeded: whether it did.
        subtask: the one that failed, in words; None: none did, or it cannot be told.
        object: the object that the failure is about.
        cause: what happened to it.
        why: the same in a few words.
        time_s: when it was seen first.
        begun: when each subtask began, in words, and its time in seconds.
    """

    episode: int
    task: str
    succeeded: bool
    subtask: str | None = None
    object: str | None = None
    cause: Cause | None = None
    why: str = ""
    time_s: float | None = None
    begun: tuple[tuple[str, float], ...] = ()

    def to_dict(self) -> JsonObject:
        """Plain data for JSON."""
        return {**vars(self), "begun": [list(each) for each in self.begun]}


def check_place(folder: Path, out: Path) -> None:
    """Refuse a place for a labelled copy that exists, or is inside of the dataset.

    Raises:
        CannotWrite: it does, or it is.
    """
    if out.exists() or out.resolve().is_relative_to(folder.resolve()):
        raise CannotWrite(f"expected a new folder outside of {folder} for the labelled copy, found {out}")


def write_labels(folder: Path, out: Path, labels: Sequence[Label]) -> None:
    """Write a copy of a dataset with labels; it appears whole or not at all.

    Args:
        folder: the dataset.
        out: of the copy; must not exist.
        labels: of all its episodes.

    Raises:
        CannotWrite: see `check_place`, or the disk is full.
    """
    check_place(folder, out)
    subtasks = list(dict.fromkeys(name for each in labels for name, _ in each.begun))
    numbered = {each.episode: each for each in labels}
    lengths = {each.index: int(each.row.get("length", 0)) for each in episodes_of(folder)}
    part = out.with_name(out.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        shutil.copytree(folder, part, ignore=lambda where, _: ["data"] if Path(where) == folder else [])
        for file in sorted((folder / "data").rglob("*.parquet")):
            _label_table(
                file, part / file.relative_to(folder), lambda rows: _columns(rows, numbered, lengths, subtasks)
            )
        info = info_of(folder)
        one: JsonObject = {"shape": [1], "names": None}
        added = {name: {"dtype": "bool" if name == SUCCESS else "int64", **one} for name in _names(subtasks)}
        features = info["features"] | added
        atomic_write_bytes(part / "meta" / "info.json", json.dumps({**info, "features": features}, indent=2).encode())
        atomic_write_bytes(part / FILE, json.dumps([each.to_dict() for each in labels], indent=1).encode())
        if subtasks:
            write_names(part / "meta" / "subtasks.parquet", "subtask", subtasks)
        part.rename(out)
    except OSError as problem:
        raise CannotWrite(f"expected to write {out}, found: {problem}") from problem
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _names(subtasks: Sequence[str]) -> tuple[str, ...]:
    return (SUCCESS, SUBTASK, FAILED) if subtasks else (SUCCESS,)


def _label_table(
    file: Path, out: Path, columns: Callable[[pa.Table], Mapping[str, Sequence[bool] | Sequence[int]]]
) -> None:
    """Copy a table with more columns, one row group after another."""
    with needs_extra("lerobot", "pyarrow"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    with atomic_path(out) as part:
        source, writer = pq.ParquetFile(file), None
        for group in range(source.num_row_groups):
            table = source.read_row_group(group)
            for name, column in columns(table).items():
                if name in table.column_names:
                    table = table.drop_columns([name])
                table = table.append_column(name, pa.array(column))
            table = table.replace_schema_metadata(None)  # it lists the columns, and info.json does so, too
            writer = writer or pq.ParquetWriter(part, table.schema)
            writer.write_table(table)
        if writer is None:
            raise InvalidRecording(f"expected frames in {file}, found none")
        writer.close()


def _columns(
    table: pa.Table, labels: Mapping[int, Label], lengths: Mapping[int, int], subtasks: Sequence[str]
) -> dict[str, list[bool] | list[int]]:
    success, current, failed = list[bool](), list[int](), list[int]()
    columns = (table.column(name).to_pylist() for name in ("episode_index", "frame_index", "timestamp"))
    for episode, frame, time_s in zip(*columns, strict=True):
        label = labels[episode]
        success.append(label.succeeded and frame == lengths[episode] - 1)
        if subtasks:
            begun = [name for name, since in label.begun if since <= time_s]
            current.append(subtasks.index(begun[-1]))
            failed.append(-1 if label.subtask is None else subtasks.index(label.subtask))
    return dict(zip(_names(subtasks), (success, current, failed), strict=False))


def write_names(path: Path, what: str, names: Sequence[str]) -> None:
    """A table of names and their numbers, with the names as its index, as pandas writes it."""
    with needs_extra("lerobot", "pyarrow"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    numbers = f"{what}_index"
    table = pa.table({numbers: pa.array(np.arange(len(names))), what: pa.array(names, pa.string())})
    columns = [
        {"name": name, "field_name": name, "pandas_type": kind, "numpy_type": numpy, "metadata": None}
        for name, kind, numpy in ((numbers, "int64", "int64"), (what, "unicode", "object"))
    ]
    pandas = {"index_columns": [what], "column_indexes": [], "columns": columns, "creator": {}, "pandas_version": "2.0"}
    with atomic_path(path) as part:
        pq.write_table(table.replace_schema_metadata({b"pandas": json.dumps(pandas).encode()}), part)

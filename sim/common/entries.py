"""Data tables: YAML files whose entries are dataclasses."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import TypeAdapter

Entry = TypeVar("Entry")


def read_entries(path: Path, kind: type[Entry], part: str | None = None) -> tuple[Entry, ...]:
    """The entries of a file, with values of the types of their fields.

    Args:
        path: a list of mappings from field to value; or a mapping of parts that have such lists.
        kind: a dataclass.
        part: name of the part; None for a file that is a list.

    Raises:
        ValueError: an entry lacks a field, or a value is of another type.
    """
    listed, adapter = yaml.safe_load(path.read_text("utf-8")), TypeAdapter(kind)
    return tuple(adapter.validate_python(each) for each in (listed if part is None else listed[part]))

"""Records of episodes as lines of JSON, with the number of their format."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def line_of(record: DataclassInstance, form: int) -> str:
    """One line, without a line feed.

    Args:
        record: of plain data.
        form: number of its format.
    """
    return json.dumps({"format": form, **asdict(record)}, sort_keys=True)


def data_of(line: str, form: int) -> dict[str, Any]:
    """The data of a line that `line_of` wrote.

    Raises:
        ValueError, KeyError, TypeError: the line is no record of this format.
    """
    data: dict[str, Any] = json.loads(line)
    if data.pop("format") != form:
        raise ValueError(f"expected a record of format {form}")
    return data

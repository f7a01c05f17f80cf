"""Commands and tables of committed results inside the pages of the manual, between two markers."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from eval.common.command import TABLE
from eval.common.tables import markdown_table
from eval.results.cells import PROVENANCE, standing
from nsrecover.errors import InvalidConfiguration, did_you_mean
from sim.common.origin import RUN

_BLOCK = re.compile(r"<!-- begin: (results/[\w/]+)((?: \d+)*)(?: with (.+?))? -->\n.*?<!-- end -->", re.DOTALL)


def with_tables(text: str, root: Path) -> str:
    """The text of a page with the command, the revision and the tables of every folder that its markers name.

    Args:
        text: has any number of blocks from `<!-- begin: results/NAME -->` to `<!-- end -->`. Numbers after the name
            select tables, and names select columns: `<!-- begin: results/NAME 1 3 with detector; area -->`.
        root: folder that has `results/`.

    Raises:
        InvalidConfiguration: a folder has no table.md or no run.json, or no such table or column.
    """
    return _BLOCK.sub(lambda match: _block(match, root), text)


def _block(match: re.Match[str], root: Path) -> str:
    folder, numbers, columns = root / match[1], [int(each) for each in match[2].split()], match[3]
    head, tables = _committed(folder, match[1].removeprefix("results/"))
    if any(not 1 <= each <= len(tables) for each in numbers):
        raise InvalidConfiguration(f"expected tables from 1 to {len(tables)} in {folder}, found {numbers}")
    chosen = [tables[each - 1] for each in numbers] or tables
    if columns:
        chosen = [_with_columns(table, columns.split("; "), folder) for table in chosen]
    begin = match[0].partition("\n")[0]
    return "\n\n".join([begin, head, *chosen, "<!-- end -->"])


def _committed(folder: Path, name: str) -> tuple[str, list[str]]:
    """Commands with revision, and tables, of a folder of one command."""
    try:
        run = json.loads((folder / (PROVENANCE if (folder / PROVENANCE).is_file() else RUN)).read_text("utf-8"))
        lines = (folder / TABLE).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as problem:
        raise InvalidConfiguration(
            f"expected {RUN} and {TABLE} in {folder}, which a page shows, found: {problem}; run the command again"
        ) from None
    typed = "\n".join(f"    {command}" for command in run.get("commands") or [run["command"]])
    groups = groupby(lines, key=lambda line: line.startswith("|"))
    said = ", ".join(standing(folder, name))
    head = f"{typed}\n\nRevision {run['revision']}{f' ({said})' * bool(said)}."
    return head, ["\n".join(rows) for is_row, rows in groups if is_row]


def _with_columns(table: str, columns: Sequence[str], folder: Path) -> str:
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    for name in columns:
        if name not in cells[0]:
            raise InvalidConfiguration(
                f"expected a column of the table in {folder}, found {name!r}.{did_you_mean(name, cells[0])}"
            )
    places = [cells[0].index(name) for name in columns]
    return markdown_table(columns, [[row[place] for place in places] for row in cells[2:]])

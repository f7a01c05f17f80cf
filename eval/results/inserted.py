"""Commands and tables of committed results inside the pages of the manual, between two markers."""

from __future__ import annotations

import json
import re
from pathlib import Path

from eval.common.command import TABLE
from nsrecover.errors import InvalidConfiguration
from sim.common.origin import RUN

_BLOCK = re.compile(r"<!-- begin: (results/[\w/]+) -->\n.*?<!-- end -->", re.DOTALL)


def with_tables(text: str, root: Path) -> str:
    """The text of a page with the command and the tables of every folder that its markers name.

    Args:
        text: has any number of blocks from `<!-- begin: results/NAME -->` to `<!-- end -->`.
        root: folder that has `results/`.

    Raises:
        InvalidConfiguration: a folder has no table.md or no run.json.
    """
    return _BLOCK.sub(lambda match: _block(match[1], root), text)


def _block(name: str, root: Path) -> str:
    folder = root / name
    try:
        run = json.loads((folder / RUN).read_text(encoding="utf-8"))
        lines = (folder / TABLE).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as problem:
        raise InvalidConfiguration(
            f"expected {RUN} and {TABLE} in {folder}, which a page shows, found: {problem}; run the command again"
        ) from None
    tables = "\n".join(line for line in lines if line.startswith("|") or not line).strip("\n")
    typed = "\n".join(f"    {command}" for command in run.get("commands") or [run["command"]])
    head = f"{typed}\n\nRevision {run['revision']}."
    return f"<!-- begin: {name} -->\n\n{head}\n\n{tables}\n\n<!-- end -->"

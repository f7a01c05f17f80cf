"""`python -m eval.results.notebook`: docs/your_robot.ipynb from the page, so that it can be run cell by cell."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from nsrecover.util.atomic_write import atomic_write_bytes

PAGE = Path(__file__).parents[2] / "docs" / "your_robot.md"
NOTEBOOK = PAGE.with_suffix(".ipynb")

START = """import os
import tempfile

work = tempfile.mkdtemp()  # everything is written here
os.environ["OMP_NUM_THREADS"] = "1"
print(work)"""

PART = "os.chdir(tempfile.mkdtemp(dir=work))"
"""Every part of the page starts in an empty folder."""

_BLOCK = re.compile(r"^```(bash|python)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)


def notebook(page: str) -> dict[str, Any]:
    """The notebook (nbformat 4.5) of a page: its Python and shell blocks are cells, the rest is text between them.

    A shell block stops at the first command that fails. `cd` holds for what follows in its part.
    """
    cells = [_cell("code", START)]
    for part in re.split(r"^(?=## )", page, flags=re.MULTILINE):
        texts = iter(_BLOCK.split(part))
        cells.append(_cell("markdown", next(texts)))
        if part.startswith("## "):
            cells.append(_cell("code", PART))
        for kind, block, text in zip(texts, texts, texts, strict=True):
            cells += [_cell("code", code) for code in ([block] if kind == "python" else _shell(block))]
            cells.append(_cell("markdown", text))
    cells = [cell for cell in cells if cell["source"]]
    return {
        "cells": [{"id": f"cell-{number}", **cell} for number, cell in enumerate(cells)],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _shell(block: str) -> Iterator[str]:
    """Cells of a shell block: changes of the folder apart from the commands between them."""
    for moves, lines in groupby(block.splitlines(), key=lambda line: line.startswith("cd ")):
        text = "\n".join(lines)
        yield "\n".join(f"%{line}" for line in text.splitlines()) if moves else f"%%bash\nset -e\n{text}"


def _cell(kind: str, source: str) -> dict[str, Any]:
    code: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, **code, "source": source.strip("\n").splitlines(keepends=True)}


def main() -> None:
    """Write the notebook."""
    text = json.dumps(notebook(PAGE.read_text(encoding="utf-8")), indent=1, ensure_ascii=False)
    atomic_write_bytes(NOTEBOOK, f"{text}\n".encode())
    print(NOTEBOOK)


if __name__ == "__main__":
    main()

"""`python -m eval.checks.foreign DIR` tries PDDL, bags, masks, logs, plans, runs, and counts refusals and why."""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from conf.command import run_function
from eval.checks.foreign import files, pddl
from eval.common.tables import markdown_table
from nsrecover.errors import InvalidConfiguration, NsrecoverError

MOST_S = 5.0
"""Longest time for one file that is no fault, seconds of the processor."""

Tried = TypeVar("Tried")


def rows_of(what: str, given: Iterable[Tried], read: Callable[[Tried], str]) -> Iterator[tuple[str, ...]]:
    """What became of each file: its kind, outcome and text, and the file.

    The outcome is `read`, `refused`, `slow` or `crashed`.
    """
    for file in given:
        began = time.process_time()
        try:
            outcome, text = "read", read(file)
        except NsrecoverError as error:
            outcome, text = "refused", str(error)
        except Exception as error:  # what this command looks for
            outcome, text = "crashed", repr(error)
        if time.process_time() - began > MOST_S:
            outcome, text = "slow", f"{time.process_time() - began:.0f} s, {outcome}: {text}"
        name = file[0] if isinstance(file, tuple) else file
        yield what, outcome, text, str(name)


def reason(text: str) -> str:
    """The kind of a refusal: what was found, without places and names of files."""
    return re.sub(r" in line \d+ of .*| at /.*|; .*", "", text.partition(", found ")[2] or text)[:70]


def foreign(
    folder: Annotated[
        Path, typer.Argument(help="A folder with PDDL, bags, masks of COCO's format, logs, plans, recorded runs.")
    ],
    each: Annotated[bool, typer.Option(help="Print every file that is not read, and why.")] = False,
) -> None:
    """Try the files of a folder; exit with 1 if one crashes or takes more than 5 s."""
    if not folder.is_dir():
        raise InvalidConfiguration(f"expected a folder, found {str(folder)!r}; give one with bags, PDDL or masks")
    rows = [
        *rows_of("PDDL", pddl.pairs_of(folder), pddl.tried),
        *(row for kind in files.Kind for row in rows_of(kind.value, files.files_in(folder, kind), files.tried)),
    ]
    if not rows:
        raise InvalidConfiguration(
            f"expected PDDL, bags, masks or logs in {str(folder)!r}, found none; give another folder"
        )
    if each:
        for _, outcome, text, name in rows:
            if outcome != "read":
                print(f"{outcome}: {name}: {text}")
    counts = Counter((what, outcome, text if outcome == "read" else reason(text)) for what, outcome, text, _ in rows)
    print(markdown_table(("kind", "outcome", "of", "files"), [(*key, n) for key, n in sorted(counts.items())]))
    if any(outcome in ("crashed", "slow") for _, outcome, *_ in rows):
        print("expected every file to be read or refused within 5 s, found others; see --each", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    run_function(foreign)

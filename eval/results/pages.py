"""docs/reproduce.md, the tables of committed results in other pages, and the numbers of the README."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml

from eval.common.statistics import share
from eval.common.tables import document, markdown_table, milliseconds, number, percent, percent_of, value_at
from eval.results.cells import origin_of, read, standing
from eval.run import METRICS, TABLE
from nsrecover.errors import InvalidConfiguration, require_known
from nsrecover.util.atomic_write import atomic_write_bytes
from sim.common.origin import RUN

_BLOCK = re.compile(r"<!-- begin: (results/[\w/]+)((?: \d+)*)(?: with (.+?))? -->\n.*?<!-- end -->", re.DOTALL)
_HIGHLIGHTS = re.compile(r"(<!-- begin: highlights -->)\n.*?<!-- end -->", re.DOTALL)
_NUMBER = re.compile(r"\{([\w/. ]+)(?::(\w+))?\}")


def with_tables(text: str, root: Path) -> str:
    """The text of a page with the command, the revision and the tables of every folder that its markers name.

    Args:
        text: has any number of blocks from `<!-- begin: results/NAME -->` to `<!-- end -->`. Numbers after the name
            select tables, and names select columns: `<!-- begin: results/NAME 1 3 with detector; area -->`.
        root: folder that has `results/`.

    Raises:
        InvalidConfiguration: a folder has no table.md or no run.json, or no such table or column.
    """
    filled = _BLOCK.sub(lambda match: _block(match, root), text)
    return _HIGHLIGHTS.sub(lambda match: f"{match[1]}\n{highlights(root)}\n\n<!-- end -->", filled)


def highlights(root: Path) -> str:
    """The table that `highlights.yaml` describes: what is shown, the numbers, and where they come from.

    Raises:
        InvalidConfiguration: a result is missing.
    """
    rows = []
    for row in yaml.safe_load((Path(__file__).parent / "highlights.yaml").read_text(encoding="utf-8")):
        folder = root / "results" / row["result"]
        origin = origin_of(folder)
        said = _NUMBER.sub(partial(_shown, read(folder / METRICS)), row["says"])
        link = f"[`{' '.join(origin['commands'][0].split()[:3])} …`](docs/{PAGE}#{row['result']})"
        rows.append([row["what"], said, f"{link}, revision {origin['revision']}{standing(folder)}"])
    return markdown_table(("what", "result", "command"), rows)


def _shown(metrics: Mapping[str, Any], match: re.Match[str]) -> str:
    """A number of some metrics as text."""
    found, kind = value_at(metrics, match[1].split("/")), match[2] or ""
    if kind == "of":
        return str(found["of"])
    if kind == "count":
        return str(round((found["value"] or 0.0) * found["of"]))
    if kind == "ms":
        return milliseconds(found)
    return str(found) if kind == "plain" else percent_of(found, 1)


def _block(match: re.Match[str], root: Path) -> str:
    folder, numbers, columns = root / match[1], [int(each) for each in match[2].split()], match[3]
    head, tables = _committed(folder)
    if any(not 1 <= each <= len(tables) for each in numbers):
        raise InvalidConfiguration(f"expected tables from 1 to {len(tables)} in {folder}, found {numbers}")
    chosen = [tables[each - 1] for each in numbers] or tables
    if columns:
        chosen = [_with_columns(table, columns.split("; "), folder) for table in chosen]
    begin = match[0].partition("\n")[0]
    return "\n\n".join([begin, head, *chosen, "<!-- end -->"])


def _committed(folder: Path) -> tuple[str, list[str]]:
    """Commands with revision, and tables, of a folder of one command."""
    try:
        origin, lines = origin_of(folder), (folder / TABLE).read_text(encoding="utf-8").splitlines()
    except (OSError, InvalidConfiguration) as problem:
        raise InvalidConfiguration(
            f"expected {RUN} and {TABLE} in {folder}, which a page shows, found: {problem}; run the command again"
        ) from None
    typed = "\n".join(f"    {command}" for command in origin["commands"])
    groups = groupby(lines, key=lambda line: line.startswith("|"))
    head = f"{typed}\n\nRevision {origin['revision']}{standing(folder)}."
    return head, ["\n".join(rows) for is_row, rows in groups if is_row]


def _with_columns(table: str, columns: Sequence[str], folder: Path) -> str:
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    for name in columns:
        require_known(name, cells[0], f"a column of the table in {folder}")
    places = [cells[0].index(name) for name in columns]
    return markdown_table(columns, [[row[place] for place in places] for row in cells[2:]])


WIDTH = 80
PAGE = "reproduce.md"


def write_pages(results: Path, docs: Path) -> list[Path]:
    """Write every page that shows committed results; return those that have changed.

    Pages that have lines <!-- begin: results/NAME --> and <!-- end --> get the tables of that folder.
    """
    changed = {docs / PAGE: page(results)}
    for path in (results.parent / "README.md", *sorted(docs.rglob("*.md"))):
        if path != docs / PAGE:
            changed[path] = with_tables(path.read_text(encoding="utf-8"), results.parent)
    written = {path: text for path, text in changed.items() if not path.is_file() or path.read_text("utf-8") != text}
    for path, text in written.items():
        atomic_write_bytes(path, text.encode())
    return list(written)


def page(results: Path) -> str:
    """Return docs/reproduce.md: of every committed metrics.json command, time, revision, hashes and main numbers.

    Args:
        results: folder with a metrics.json in each subfolder.

    Raises:
        InvalidConfiguration: there are no results.
    """
    every = {path.parent: read(path) for path in sorted(results.rglob(METRICS))}
    if not every:
        raise InvalidConfiguration(
            f"expected results in {results}, found no {METRICS}; run this command from the root of the checkout"
        )
    return document(
        "# Reproduce the numbers",
        _filled(
            "`make results` measures what this page lists and writes it, `make results LEVEL=quick` the same with few "
            "episodes, `LEVEL=full` with more. Each result has its revision, its time on 2 shared cores without a GPU, "
            "and hashes of the weights and of the episodes. Where weights are not those of this checkout, this page "
            "and the page with the table say so. `make results LEVEL=check` measures a few episodes of each and says "
            "whose shares have changed since."
        ),
        *(part for folder, metrics in every.items() for part in _section(folder.relative_to(results), folder, metrics)),
    )


def _section(name: Path, folder: Path, metrics: Mapping[str, Any]) -> Iterator[str]:
    """What is said about one folder."""
    yield f"## {name}"
    origin = origin_of(folder)
    yield "\n".join(map(_typed, origin["commands"]))
    facts = ["revision " + origin.get("revision", "not recorded")]
    if "seconds" in origin:
        facts[0] += f", {origin['seconds'] / 60:.0f} min"
    if "weights" in origin:
        facts.append(f"weights {origin['weights'] or 'none'}{standing(folder)}")
    if origin.get("episodes"):
        facts.append(f"episodes {origin['episodes']}")
    facts += _sweep_lines(metrics.get("sweeps", ()))
    yield "\n".join(_item(fact) for fact in [*facts, "; ".join(_numbers(metrics))] if fact)


def _typed(command: str) -> str:
    """A command as indented lines of at most `WIDTH` characters, where its words allow."""
    lines = [""]
    for word in map(shlex.quote, shlex.split(command)):
        if len(lines[-1]) + len(word) > WIDTH - 9 and lines[-1]:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return " \\\n".join(f"    {'  ' * (i > 0)}{line}" for i, line in enumerate(lines))


def _item(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False)


def _filled(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def _sweep_lines(sweeps: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Of whole episodes, what ours reached."""
    for found in (each for each in sweeps if each["planner"] == "ours"):
        yield (
            f"{found['planner']} on {found['dataset']}, {found['episodes']} episodes: goals reached "
            f"{percent(found['completion'], found['intervals']['completion'])}, errors recovered "
            f"{percent(found['recovery'], found['intervals']['recovery'])}, decided right "
            f"{percent(found['decided_right'])}"
            + (f", L/L_opt {number(found['l_over_opt'], 3)}" if "l_over_opt" in found else "")
        )


def _numbers(metrics: Mapping[str, Any]) -> Iterator[str]:
    """Main numbers of a command: shares and plain numbers at the top of its metrics."""
    rates = {name: found["equal_rates"]["0.01"]["detection"] for name, found in metrics.get("detectors", {}).items()}
    if rates:
        yield "detected at 1 % false alarms: " + ", ".join(f"{name} {percent_of(rate)}" for name, rate in rates.items())
    for name, task in metrics.get("tasks", {}).items():
        reached = task.get("reached") or share(task["succeeded"], task["runs"])
        yield f"{name}: {percent_of(reached)} reached"
    for key, value in metrics.items():
        label = key.replace("_", " ")
        if isinstance(value, int | float) and key not in ("seed", "seconds"):
            yield f"{label} {value:g}"
        elif isinstance(value, dict) and {"value", "low", "high", "of"} <= value.keys():
            yield f"{label} {percent_of(value)}"

"""`python -m eval.reproduce`: write docs/reproduce.md, and tables in other pages, from the committed results."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from eval.common.command import METRICS
from eval.common.tables import document, markdown_table, number, percent, percent_of
from eval.reproduce.inserted import with_tables
from eval.sweep.run import PACKED
from nsrecover.errors import InvalidConfiguration
from nsrecover.util.atomic_write import atomic_write_bytes
from sim.common.origin import RUN

PAGES = "results"
"""Folder of the pages about results, next to the page that is written."""
SWEEPS = "sweeps"
"""Key of metrics.json of `python -m eval.tables`, and folder of the kept sweeps."""


def write(
    results: Annotated[Path, typer.Option(help="Folder of the committed results.")] = Path("results"),
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("docs/reproduce.md"),
) -> None:
    """Write a page with the command, the time and the main numbers of every committed metrics.json.

    Pages next to it that have lines <!-- begin: results/NAME --> and <!-- end --> get the tables of that folder.
    """
    changed = {out: page(results, out.parent / PAGES)}
    for path in sorted(out.parent.rglob("*.md")):
        if path != out and (text := path.read_text(encoding="utf-8")) != (found := with_tables(text, results.parent)):
            changed[path] = found
    for path, text in changed.items():
        atomic_write_bytes(path, text.encode())
        print(path)


def page(results: Path, pages: Path) -> str:
    """Return the page.

    Args:
        results: folder with a metrics.json in each subfolder.
        pages: folder of the pages about results.

    Raises:
        InvalidConfiguration: there are no results.
    """
    every = {path.parent: _read(path) for path in sorted(results.rglob(METRICS)) if path.parent.parent.name != SWEEPS}
    if not every:
        raise InvalidConfiguration(
            f"expected results in {results}, found no {METRICS}; run this command from the root of the checkout"
        )
    tables = {folder: metrics for folder, metrics in every.items() if SWEEPS in metrics}
    others = {folder: metrics for folder, metrics in every.items() if SWEEPS not in metrics}
    unkept = [path for path in sorted(pages.glob("*.md")) if path.stem not in {folder.name for folder in every}]
    return document(
        "# Reproduce the numbers",
        "`python -m eval.reproduce` writes this page from the files in `results/`. Run each command from the root of "
        "the checkout. Times are wall times on 2 shared cores without a GPU.",
        *(part for folder, metrics in tables.items() for part in _sweeps(folder, metrics[SWEEPS])),
        "## Other commands",
        markdown_table(
            ("results", "command", "time", "numbers"), [_other(folder, metrics) for folder, metrics in others.items()]
        ),
        "## Numbers without committed files",
        "These pages name the command above each table; only the page is kept: "
        + ", ".join(f"[{path.stem}]({PAGES}/{path.name})" for path in unkept)
        + "."
        if unkept
        else "",
    )


def _sweeps(folder: Path, sweeps: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Heading and table of the episodes of `python -m eval`."""
    seeds = ", ".join(sorted({str(found["seed"]) for found in sweeps}))
    yield f"## Whole episodes: {folder.name} (seed {seeds})"
    yield (
        f"[Tables](results/{folder.name}/tables.md) and figures: `python -m eval.tables {folder}/{SWEEPS} --out "
        f"docs/results/{folder.name}`. Every episode is in `{folder}/{SWEEPS}/PLANNER-DATASET/{PACKED}`."
    )
    rows = []
    for found in sweeps:
        last = found["last_run"]
        asked = found.get("asked") or f"dataset={found['dataset']} planner={found['planner']} seed={found['seed']}"
        time = f"{last['ran']} episodes in {last['seconds'] / 60:.1f} min, {_processes(last['workers'])}"
        revisions = dict.fromkeys(str(run["revision"]) for run in found.get("runs") or [last])
        rows.append(
            [
                f"`python -m eval {asked}`",
                found["episodes"],
                time,
                ", ".join(revisions),
                percent(found["completion"], found["intervals"]["completion"]),
                percent(found["recovery"], found["intervals"]["recovery"]),
                percent(found["decided_right"]),
                number(found["l_over_opt"], 3),
            ]
        )
    head = ("command", "episodes", "time of the last run", "revisions", "goals reached", "errors recovered")
    yield markdown_table([*head, "decided right", "L/L_opt"], rows)


def _processes(count: int) -> str:
    return f"{count} process{'es' * (count > 1)}"


def _other(folder: Path, metrics: Mapping[str, Any]) -> list[str]:
    """Row of any other command."""
    run = _read(folder / RUN) if (folder / RUN).is_file() else {}
    seconds = run.get("seconds", metrics.get("seconds"))
    command = run.get("command", f"python -m eval.{folder.name}")
    time = "not recorded" if seconds is None else f"{seconds / 60:.0f} min"
    return [f"`{folder}`", f"`{command}`", time, "; ".join(_numbers(metrics))]


def _numbers(metrics: Mapping[str, Any]) -> Iterator[str]:
    """Main numbers of a command: shares and plain numbers at the top of its metrics."""
    rates = {name: found["equal_rates"]["0.01"]["detection"] for name, found in metrics.get("detectors", {}).items()}
    if rates:
        yield "detected at 1 % false alarms: " + ", ".join(f"{name} {percent_of(rate)}" for name, rate in rates.items())
    for name, task in metrics.get("tasks", {}).items():
        reached = percent_of(task["policy"]) if "policy" in task else f"{100 * task['share']:.0f} % of {task['runs']}"
        yield f"{name}: {reached} reached"
    for key, value in metrics.items():
        label = key.replace("_", " ")
        if isinstance(value, int | float) and key not in ("seed", "seconds"):
            yield f"{label} {value:g}"
        elif isinstance(value, dict) and {"value", "low", "high", "of"} <= value.keys():
            yield f"{label} {percent_of(value)}"


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise InvalidConfiguration(f"expected results in {path}, found: {problem}") from None
    assert isinstance(found, dict)
    return found

"""Measurements as data: cases, a judge that makes rows of them, and metrics of the rows, each a column of the table.

Rows are long: one for each case and arm. A metric says how rows become a number with its interval, where that is in
metrics.json, and the title of its column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from eval.common.statistics import Share, grouped, p95, share_of, spread
from eval.common.tables import Cell, Columns, columns_table, document, markdown_table, number, percent_of, value_at
from eval.run import Config, Measurement, Row, Run

Rows = Sequence[Any]


@dataclass(frozen=True)
class Metric:
    """A number of some rows.

    Attributes:
        name: where it is in metrics.json; parts apart by points.
        title: of its column; empty for none.
        of: rows -> plain value.
        cell: of the metrics of a row of the table.
    """

    name: str
    title: str
    of: Callable[[Rows], Any]
    cell: Cell


def share(
    name: str,
    title: str,
    good: Callable[[Any], bool | Iterable[bool]],
    where: Callable[[Any], Any] = lambda row: True,
    digits: int = 1,
    counted: bool = False,
) -> Metric:
    """Share of the rows that are good, or of all flags of the rows, with its Wilson interval.

    Args:
        name: see `Metric`.
        title: see `Metric`.
        good: whether a row counts as good; or flags, each of which counts.
        where: which rows count at all.
        digits: decimals of the cell, in per cent.
        counted: whether the cell says of how many.
    """

    def cell(found: Any) -> str:
        value = value_at(found, name.split("."))
        return percent_of(value, digits) + (f" of {value['of']}" if counted else "")

    def of(rows: Rows) -> Any:
        found = (good(row) for row in rows if where(row))
        return share_of(bool(flag) for each in found for flag in (each if isinstance(each, Iterable) else [each]))

    return Metric(name, title, of, cell)


def total(name: str, title: str, count: Callable[[Any], Any] = lambda row: 1) -> Metric:
    """A sum over the rows, their number by default."""
    return Metric(name, title, lambda rows: sum(map(count, rows)), lambda found: value_at(found, name.split(".")))


def levels(name: str, title: str, values: Callable[[Any], Iterable[float]], digits: int = 2, **of: Any) -> Metric:
    """Statistics of all values of the rows, median and 95th percentile by default; the cell has them with slashes."""
    chosen = of or {"median": np.median, "p95": p95}

    def cell(found: Any) -> str:
        return " / ".join(number(value, 1) for value in value_at(found, name.split(".")).values())

    return Metric(name, title, lambda rows: spread([v for r in rows for v in values(r)], digits, **chosen), cell)


FALSE_COMPLETION = share("false_completion", "false completion", lambda row: row.false_completion)
ASKED_FOR_HELP = share("asked_for_help", "asked for help", lambda row: row.asked_for_help)
ENDINGS = (FALSE_COMPLETION, ASKED_FOR_HELP)
"""Of whole episodes: said to be done while the goal does not hold, and ended by asking for help."""


def summary(rows: Rows, metrics: Iterable[Metric]) -> dict[str, Any]:
    """The metrics of some rows, nested as their names say."""
    found: dict[str, Any] = {}
    for metric in metrics:
        *path, last = metric.name.split(".")
        place = found
        for part in path:
            place = place.setdefault(part, {})
        place[last] = metric.of(rows)
    return found


DETECTION = ("accuracy", "precision", "recall")


def of_sweep(
    shares: Mapping[str, Share], ratios: Mapping[str, tuple[float | None, ...]] | None = None, **others: Any
) -> dict[str, Any]:
    """The summary of whole episodes under one planner: plain numbers by name, with their `intervals` and `counts`.

    Args:
        shares: by name; those of `DETECTION` stand together.
        ratios: by name: value, and the bounds of its interval.
        others: what else is known.
    """
    means = ratios or {}
    return {
        "detection": {name: shares[name]["value"] for name in DETECTION},
        **{name: found["value"] for name, found in shares.items() if name not in DETECTION},
        **{name: found[0] for name, found in means.items()},
        **others,
        "intervals": {name: [found["low"], found["high"]] for name, found in shares.items()}
        | {name: list(found[1:]) for name, found in means.items()},
        "counts": {name: found["of"] for name, found in shares.items()},
    }


Planned = tuple[str, Any]
"""Name of a planner, and an episode."""


def under_planners(run: Run, task: Callable[[Planned], Row], planners: Iterable[str]) -> dict[str, list[Row]]:
    """Every episode of a run under every planner: planner -> its rows, in the order of the episodes.

    Args:
        run: with the episodes.
        task: carries out and judges an episode under a planner.
        planners: names.
    """
    cells = [(planner, episode) for episode in run.episodes for planner in planners]
    rows = run.each(task, cells, "episode", lambda cell: f"{cell[0]}: {cell[1].dataset} {cell[1].number}")
    return {name: [row for row, cell in zip(rows, cells, strict=True) if cell[0] == name] for name in planners}


def columns(metrics: Iterable[Metric]) -> Columns:
    """The columns of a table of summaries."""
    return tuple((metric.title, metric.cell) for metric in metrics if metric.title)


def transposed(head: str, summaries: Mapping[str, Any], metrics: Iterable[Metric]) -> str:
    """A table with a line for every metric, and a column for every summary."""
    rows = [[title, *(cell(found) for found in summaries.values())] for title, cell in columns(metrics)]
    return markdown_table([head, *summaries], rows)


def comparison(
    settings: type[Config],
    judge: Callable[..., Sequence[Any]],
    cases: Callable[[Config, Run], Sequence[Any]],
    metrics: Sequence[Metric],
    by: Mapping[str, Callable[[Any], Any]],
    facts: Callable[[Config], Mapping[str, Any]] = lambda config: {"seed": config.seed},
    **others: Any,
) -> Measurement[Config]:
    """A measurement of arms on the same cases.

    Args:
        settings: of the command.
        judge: case, settings -> its rows, of all arms.
        cases: settings, run -> what is judged.
        metrics: of the rows of one arm.
        by: title of a first column -> what the rows of one line of the table have in common.
        facts: settings -> what else is in metrics.json.
        others: `unit` and `key` of the cases, see `Run.each`; `name` of the summaries in metrics.json; and what else
            `Measurement` takes.
    """
    unit, key, name = (others.pop(each, usual) for each, usual in (("unit", "case"), ("key", str), ("name", "arms")))

    def measure(config: Config, run: Run) -> dict[str, Any]:
        every = run.each(partial(judge, config=config), cases(config, run), unit, key)
        groups = grouped_in_order([row for rows in every for row in rows], by)
        return {**facts(config), name: {each: summary(rows, metrics) for each, rows in groups.items()}}

    def table(found: Mapping[str, Any]) -> str:
        lines = {tuple(each.split(SEPARATOR, len(by) - 1)): line for each, line in found[name].items()}
        return document(columns_table(list(by), lines, columns(metrics)))

    measure.__module__ = judge.__module__  # by which the code of the measurement is known
    return Measurement(settings, measure, table, **others)


SEPARATOR = ": "
"""Between the names of a line that has several."""


def grouped_in_order(rows: Rows, by: Mapping[str, Callable[[Any], Any]]) -> dict[str, list[Any]]:
    """Rows by what they have in common, in the order in which they come."""
    names = [SEPARATOR.join(str(of(row)) for of in by.values()) for row in rows]
    order = {name: place for place, name in enumerate(dict.fromkeys(names))}
    found = grouped(zip(names, rows, strict=True), lambda each: order[each[0]])
    return {group[0][0]: [row for _, row in group] for group in found.values()}

"""Contents of the error datasets of the kitchen: histograms of failures, tasks and layouts, as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from sim.common.tables import document, markdown_table
from sim.datasets.household.spec import HouseholdEpisode
from sim.kitchen.faults import FAULTS

HISTOGRAMS = (
    "failures in an episode",
    "class of a failure",
    "cause of a deviation",
    "deviating at a step",
    "goal",
    "part",
)
"""Histograms of a summary besides the one of failures by task."""


def summarise(episodes: Iterable[HouseholdEpisode]) -> dict[str, Any]:
    """Counts over the episodes of one dataset.

    Returns:
        Plain data for metrics.json: numbers of episodes and failures, the number of failures for which something that
        they touch deviates, and histograms by name; `failures_by_task`: failure -> code of the task -> number.
    """
    counts: dict[str, Counter[str]] = {name: Counter() for name in HISTOGRAMS}
    by_task: dict[str, Counter[str]] = {}
    layouts, total, failures, shown, wrong = Counter[int](), 0, 0, 0, 0
    for episode in episodes:
        total += 1
        failures += len(episode.faults)
        wrong += len(episode.errors)
        layouts[episode.layout] += 1
        counts["failures in an episode"][str(len(episode.faults))] += 1
        counts["part"]["held-out layouts" if episode.held_out else "other layouts"] += 1
        counts["goal"]["within reach" if episode.recoverable else "out of reach"] += 1
        errors = {error.step: error for error in episode.errors}
        for fault in episode.faults:
            by_task.setdefault(fault.kind, Counter())[episode.task] += 1
            counts["class of a failure"][str(fault.fault_class)] += 1
            error = errors.get(fault.at_step)
            touched = fault.touched(episode.plan[max(fault.at_step, 0)])
            shown += error is not None and bool(touched & error.deviations.keys())
        for error in episode.errors:
            counts["cause of a deviation"].update(error.causes.values())
            counts["deviating at a step"][str(len(error.deviations))] += 1
    return {
        "episodes": total,
        "failures": failures,
        "failures_that_show": shown,
        "steps_with_errors": wrong,
        "layouts": len(layouts),
        "failures_by_task": {name: dict(by_task[name]) for name in FAULTS if name in by_task},
        **{_key(name): dict(sorted(counter.items())) for name, counter in counts.items()},
    }


def markdown(summaries: Mapping[str, Mapping[str, Any]]) -> str:
    """One table for each histogram, with a column for each dataset, and failures by task for each dataset.

    Args:
        summaries: dataset -> result of `summarise`.
    """
    names = list(summaries)
    totals = ("episodes", "failures", "failures that show", "steps with errors", "layouts")
    tables = [markdown_table(["", *names], [[row, *(one[_key(row)] for one in summaries.values())] for row in totals])]
    for name in HISTOGRAMS:
        columns = [summary[_key(name)] for summary in summaries.values()]
        rows = sorted(
            {row for column in columns for row in column}, key=lambda row: (len(row) if row.isdigit() else 0, row)
        )
        if rows:
            tables.append(
                markdown_table([name, *names], [[row, *(column.get(row, "") for column in columns)] for row in rows])
            )
    for dataset, summary in summaries.items():
        counts: Mapping[str, Mapping[str, int]] = summary["failures_by_task"]
        codes = sorted({code for row in counts.values() for code in row}, key=lambda code: int(code[1:]))
        if counts:
            rows_by_task = [
                [kind, *(row.get(code, "") for code in codes), sum(row.values())] for kind, row in counts.items()
            ]
            tables.append(markdown_table([f"{dataset}: failure", *codes, "all"], rows_by_task))
    return document(*tables)


def _key(name: str) -> str:
    return name.replace(" ", "_")

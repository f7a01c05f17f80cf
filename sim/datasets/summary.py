"""Contents of an error dataset: histograms of causes, culprits, errors and plan lengths, as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sim.common.tables import document, markdown_table
from sim.datasets.spec import ErrorEpisode


def summarise(episodes: Iterable[ErrorEpisode]) -> dict[str, Any]:
    """Counts over the episodes of one dataset.

    Returns:
        Plain data for metrics.json: numbers of episodes and steps, the number of episodes in which every fault
        displaced an object, and histograms by number or name.
    """
    counts: dict[str, Counter[Any]] = {name: Counter() for name in HISTOGRAMS}
    total = shown = faults = wrong_steps = 0
    for episode in episodes:
        total += 1
        faults += len(episode.faults)
        wrong_steps += len(episode.errors)
        shown += all(_shows(episode, step) for step in range(len(episode.plan)))
        counts["plan length"][len(episode.plan)] += 1
        counts["objects"][len(episode.scene.objects)] += 1
        counts["fault"].update(fault.kind for fault in episode.faults)
        counts["error class"].update(str(fault.error_class) for fault in episode.faults)
        counts["way back"][episode.reason or "recoverable"] += 1
        for error in episode.errors:
            counts["cause of a deviation"].update(error.causes.values())
            counts["culprits at a step"][len(error.deviations)] += 1
            counts["faults at a step"][len(episode.faults_at(error.step))] += 1
    return {
        "episodes": total,
        "faults": faults,
        "steps_with_errors": wrong_steps,
        "episodes_in_which_every_fault_shows": shown,
        **{_key(name): {str(key): counter[key] for key in sorted(counter)} for name, counter in counts.items()},
    }


HISTOGRAMS = (
    "plan length",
    "objects",
    "faults at a step",
    "culprits at a step",
    "error class",
    "fault",
    "cause of a deviation",
    "way back",
)
"""Histograms of a summary."""


def markdown(summaries: Mapping[str, Mapping[str, Any]]) -> str:
    """One table for each histogram, with a column for each dataset.

    Args:
        summaries: dataset -> result of `summarise`.
    """
    names = list(summaries)
    totals = ("episodes", "steps with errors", "faults", "episodes in which every fault shows")
    tables = [
        _table("", totals, [{row: summary[_key(row)] for row in totals} for summary in summaries.values()], names)
    ]
    for histogram in HISTOGRAMS:
        columns = [summary[_key(histogram)] for summary in summaries.values()]
        rows = {row for column in columns for row in column}
        ordered = sorted(rows, key=lambda row: (not row.isdigit(), int(row) if row.isdigit() else 0, row))
        tables.append(_table(histogram, ordered, columns, names))
    return document(*tables)


def _table(head: str, rows: Iterable[str], columns: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str:
    return markdown_table([head, *names], [[row, *(column.get(row, "") for column in columns)] for row in rows])


def _key(name: str) -> str:
    return name.replace(" ", "_")


def _shows(episode: ErrorEpisode, step: int) -> bool:
    """Whether every fault of a step displaced an object that it touches."""
    error = next((error for error in episode.errors if error.step == step), None)
    wrong = set() if error is None else set(error.deviations)
    return all(fault.touched(episode.plan[step]) & wrong for fault in episode.faults_at(step))

"""The tables of `python -m eval.detectors`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eval.model_tables import percent

PAPERS = {
    "graph similarity": 0.9297,
    "graph, no structure": 0.8267,
    "graph, no nodes": 0.7467,
    "graph, no edges": 0.7033,
    "image": 0.2665,
    "object count": 0.2999,
}
"""Failure detection rates in Yu et al., tables A4, A6, A10 and A11: means over the thresholds."""


def markdown(metrics: Mapping[str, Any]) -> str:
    """Equal rates first, then each detector as its authors use it, then where they differ."""
    rows: Mapping[str, Mapping[str, Any]] = metrics["detectors"]
    return "\n".join(
        [*_equal(rows), *_own(rows), *_groups(rows, "by_dataset", "dataset"), *_groups(rows, "by_cause", "only cause")]
    )


def _equal(rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    first = next(iter(rows))
    rates = list(rows[first]["equal_rates"])
    titles = [f"detected at {100 * float(rate):g} % false alarms" for rate in rates]
    lines = [
        f"| detector | area | {' | '.join(titles)} | at 1 %: only {first} / only it | lead at 1 % |",
        f"| --- | ---: | {' | '.join('---:' for _ in rates)} | ---: | ---: |",
    ]
    for name, row in rows.items():
        cells = [percent(row["equal_rates"][rate]["detection"]) for rate in rates]
        middle = row["equal_rates"]["0.01"]
        pair = "" if name == first else f"{middle['only_first']} / {middle['only_this']}"
        lines.append(f"| {name} | {_number(row['area'])} | {' | '.join(cells)} | {pair} | {percent(middle['lead'])} |")
    return [*lines, ""]


def _own(rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    lines = [
        "| detector | alarms below | failures detected | false alarms | lead | false alarms before actions "
        "| mean detected | in the paper |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, row in rows.items():
        for index, own in enumerate(row["own_thresholds"]):
            paper = _number(PAPERS[name]) if name in PAPERS else ""
            mean = f"{_number(row['mean_detection'])} | {paper}" if index == 0 else "|"
            lines.append(
                f"| {name if index == 0 else ''} | {own['threshold']:g} | {percent(own['detection'])} | "
                f"{percent(own['false_alarms'])} | {percent(own['lead'])} | {percent(own['false_alarms_before'])} | "
                f"{mean} |"
            )
    return [*lines, ""]


def _groups(rows: Mapping[str, Mapping[str, Any]], key: str, title: str) -> list[str]:
    groups: Sequence[str] = list(next(iter(rows.values()))[key])
    names = list(rows)
    lines = [f"| {title} | errors | {' | '.join(names)} |", f"| --- | ---: | {' | '.join('---:' for _ in names)} |"]
    for group in groups:
        shares = [row[key][group] for row in rows.values()]
        cells = [f"{100 * share['value']:.1f} %" for share in shares]
        lines.append(f"| {group} | {shares[0]['of']} | {' | '.join(cells)} |")
    return [*lines, ""]


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4f}"

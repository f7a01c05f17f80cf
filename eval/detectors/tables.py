"""The tables of `python -m eval.detectors`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eval.models.tables import percent

PAPERS = {
    "graph similarity": "0.9297, without its subtask node 0.8433",
    "graph, no structure": "0.8267",
    "graph, no nodes": "0.7467",
    "graph, no edges": "0.7033",
    "image": "0.2665",
    "image of a twin": "0.2665",
    "object count": "0.2999",
}
"""Failure detection rates in Yu et al., tables A4, A6, A10 and A11: means over the thresholds, before actions."""


def markdown(metrics: Mapping[str, Any]) -> str:
    """Equal rates first, then each detector as its authors use it, then where they differ."""
    rows: Mapping[str, Mapping[str, Any]] = metrics["detectors"]
    return "\n".join(
        [
            *_equal(rows, metrics["moments"]["good"]),
            *_own(rows),
            *_groups(rows, "by_dataset", "dataset"),
            *_groups(rows, "by_cause", "only cause"),
        ]
    )


def _equal(rows: Mapping[str, Mapping[str, Any]], good: int) -> list[str]:
    """A rate that allows not one false alarm among so many good steps says nothing of its own, and is left out."""
    first = next(iter(rows))
    rates = [rate for rate in rows[first]["equal_rates"] if float(rate) * good >= 1] or ["0.05"]
    middle = "0.01" if "0.01" in rates else rates[0]
    titles = [f"detected at {100 * float(rate):g} % false alarms" for rate in rates]
    at = f"at {100 * float(middle):g} %"
    lines = [
        f"| detector | area | {' | '.join(titles)} | on the curve {at} | only {first} / only it | {first} ahead by |",
        f"| --- | ---: | {' | '.join('---:' for _ in rates)} | ---: | ---: | ---: |",
    ]
    for name, row in rows.items():
        cells = [_detected(row["equal_rates"][rate]) for rate in rates]
        chosen = row["equal_rates"][middle]
        pair = ["", ""]
        if name != first:
            pair = [f"{chosen['only_first']} / {chosen['only_this']} (p {chosen['p']:.2g})", _ahead(chosen)]
        curve = "none" if chosen["on_curve"] is None else f"{100 * chosen['on_curve']:.2f} %"
        lines.append(f"| {name} | {_number(row['area'])} | {' | '.join([*cells, curve, *pair])} |")
    lines += ["", f"| detector | area before actions | lead {at} | of the very next action | of failures unprovoked |"]
    lines += ["| --- | ---: | ---: | ---: | ---: |"]
    for name, row in rows.items():
        chosen = row["equal_rates"][middle]
        shares = [percent(chosen[key]) for key in ("lead", "lead_next", "natural_failures_announced")]
        lines.append(f"| {name} | {_number(row['area_before'])} | {' | '.join(shares)} |")
    return [*lines, ""]


def _detected(row: Mapping[str, Any]) -> str:
    """With the rate of false alarms that it truly comes with."""
    alarms = row["false_alarms"]["value"]
    return percent(row["detection"]) + ("" if alarms is None else f" at {100 * alarms:.2f} %")


def _ahead(row: Mapping[str, Any]) -> str:
    lead = row["first_ahead"]
    if lead["value"] is None:
        return "none"
    value, low, high = (100 * lead[key] for key in ("value", "low", "high"))
    return f"{value:.1f} points [{low:.1f}, {high:.1f}]"


def _own(rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    lines = [
        "| detector | alarms below | failures detected | false alarms | lead | false alarms before actions "
        "| mean detected | in the paper |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, row in rows.items():
        for index, own in enumerate(row["own_thresholds"]):
            paper = PAPERS.get(name, "")
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

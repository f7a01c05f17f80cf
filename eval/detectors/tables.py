"""Tables of `python -m eval.detectors`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eval.common.tables import document, markdown_table, number, percent, percent_of, seen_through

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

Rows = Mapping[str, Mapping[str, Any]]


def markdown(metrics: Mapping[str, Any]) -> str:
    """Tables at equal false alarm rates, and at the thresholds of the detectors' authors."""
    rows: Rows = metrics["detectors"]
    return document(
        seen_through([metrics.get("sensor", "clean")]),
        _equal_rates(rows, metrics["moments"]["good"]),
        _own_thresholds(rows),
    )


def _equal_rates(rows: Rows, good: int) -> str:
    """Detection at equal rates. Rates that allow no false alarm among the good steps are left out."""
    first = next(iter(rows))
    rates = [rate for rate in rows[first]["equal_rates"] if float(rate) * good >= 1] or ["0.05"]
    middle = "0.01" if "0.01" in rates else rates[0]
    found = []
    for name, row in rows.items():
        chosen = row["equal_rates"][middle]
        pair = ["", ""]
        if name != first:
            pair = [f"{chosen['only_first']} / {chosen['only_this']} (p {chosen['p']:.2g})", _ahead(chosen)]
        detected = [_detected(row["equal_rates"][rate]) for rate in rates]
        found.append([name, number(row["area"], 4, "none"), *detected, *pair])
    titles = [f"detected at {100 * float(rate):g} % false alarms" for rate in rates]
    return markdown_table(["detector", "area", *titles, f"only {first} / only it", f"{first} ahead by"], found)


def _detected(row: Mapping[str, Any]) -> str:
    """Detection rate with the measured false alarm rate."""
    alarms = row["false_alarms"]["value"]
    return percent_of(row["detection"]) + ("" if alarms is None else f" at {percent(alarms)}")


def _ahead(row: Mapping[str, Any]) -> str:
    lead = row["first_ahead"]
    if lead["value"] is None:
        return "none"
    value, low, high = (100 * lead[key] for key in ("value", "low", "high"))
    return f"{value:.1f} points [{low:.1f}, {high:.1f}]"


def _own_thresholds(rows: Rows) -> str:
    head = (
        "detector", "alarms below", "failures detected", "false alarms", "mean detected", "in the paper",
    )  # fmt: skip
    keys = ("detection", "false_alarms")
    found = []
    for name, row in rows.items():
        mean = number(row["mean_detection"], 4, "none")
        for index, own in enumerate(row["own_thresholds"]):
            cells = [f"{own['threshold']:g}", *(percent_of(own[key]) for key in keys)]
            once = index == 0
            found.append([name * once, *cells, mean * once, PAPERS.get(name, "") * once])
    return markdown_table(head, found)

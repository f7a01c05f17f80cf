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
    """Tables at equal false alarm rates, at the thresholds of the detectors' authors, and by dataset and cause."""
    rows: Rows = metrics["detectors"]
    return document(
        seen_through([metrics.get("sensor", "clean")]),
        *_equal_rates(rows, metrics["moments"]["good"]),
        _own_thresholds(rows),
        _groups(rows, "by_dataset", "dataset"),
        _groups(rows, "by_cause", "only cause"),
    )


def _equal_rates(rows: Rows, good: int) -> tuple[str, str]:
    """Tables after and before actions. Rates that allow no false alarm among the good steps are left out."""
    first = next(iter(rows))
    rates = [rate for rate in rows[first]["equal_rates"] if float(rate) * good >= 1] or ["0.05"]
    middle = "0.01" if "0.01" in rates else rates[0]
    at = f"at {100 * float(middle):g} %"
    after, before = [], []
    for name, row in rows.items():
        chosen = row["equal_rates"][middle]
        pair = ["", ""]
        if name != first:
            pair = [f"{chosen['only_first']} / {chosen['only_this']} (p {chosen['p']:.2g})", _ahead(chosen)]
        detected = [_detected(row["equal_rates"][rate]) for rate in rates]
        curve = "none" if chosen["on_curve"] is None else percent(chosen["on_curve"])
        after.append([name, number(row["area"], 4, "none"), *detected, curve, *pair])
        shares = [percent_of(chosen[key]) for key in ("lead", "lead_next", "natural_failures_announced")]
        before.append([name, number(row["area_before"], 4, "none"), *shares])
    titles = [f"detected at {100 * float(rate):g} % false alarms" for rate in rates]
    head = ["detector", "area", *titles, f"on the curve {at}", f"only {first} / only it", f"{first} ahead by"]
    lead = ["detector", "area before actions", f"lead {at}", "of the very next action", "of failures unprovoked"]
    return markdown_table(head, after), markdown_table(lead, before)


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
        "detector", "alarms below", "failures detected", "false alarms", "lead", "false alarms before actions",
        "mean detected", "in the paper",
    )  # fmt: skip
    keys = ("detection", "false_alarms", "lead", "false_alarms_before")
    found = []
    for name, row in rows.items():
        mean = number(row["mean_detection"], 4, "none")
        for index, own in enumerate(row["own_thresholds"]):
            cells = [f"{own['threshold']:g}", *(percent_of(own[key]) for key in keys)]
            once = index == 0
            found.append([name * once, *cells, mean * once, PAPERS.get(name, "") * once])
    return markdown_table(head, found)


def _groups(rows: Rows, key: str, title: str) -> str:
    found = []
    for group in next(iter(rows.values()))[key]:
        shares = [row[key][group] for row in rows.values()]
        found.append([group, shares[0]["of"], *(percent(share["value"], digits=1) for share in shares)])
    return markdown_table([title, "errors", *rows], found)

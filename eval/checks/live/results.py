"""The table of the measurements of live pages."""

from __future__ import annotations

from typing import Any

from eval.checks.live.measuring import LIMIT_MS
from eval.common.output import write_results
from eval.common.tables import document, markdown_table


def write(config: Any, metrics: dict[str, Any]) -> None:
    """Write metrics and table.

    Args:
        config: with the folder `out`.
        metrics: of delays and of the slowdown.
    """
    delays, slow = metrics["delays"], metrics["slowdown"]
    rows = [(name, *_row(each)) for name, each in (*delays["panels"].items(), ("all", delays))]
    text = (
        f"{delays['episodes']} episodes, {delays['viewers']} browsers on the robot's machine; {delays['late']} of "
        f"{delays['events']} changes took longer than {LIMIT_MS:g} ms."
    )
    head = ("", "longer by", "95 % interval", "median")
    shares = [("by the clock", *_share(slow["clock"])), ("processor time of the robot's process", *_share(slow["cpu"]))]
    more = (
        f"{slow['pairs']} pairs of the same episode without a page and with one that {slow['viewers']} viewers receive;"
        f" medians {slow['without_s']['median']} s and {slow['with_s']['median']} s."
    )
    table = document(
        markdown_table(("panel", "changes", "median", "95th percentile", "longest"), rows), text,
        markdown_table(head, shares), more,
    )  # fmt: skip
    write_results(config.out, metrics, table, config)


def _row(each: dict[str, Any]) -> tuple[str, ...]:
    return (str(each["events"]), *(f"{each[name]:.0f} ms" for name in ("median_ms", "p95_ms", "longest_ms")))


def _share(each: dict[str, float]) -> tuple[str, ...]:
    low, high = (f"{100 * each[name]:.1f}" for name in ("low", "high"))
    return f"{100 * each['value']:.1f} %", f"{low} to {high} %", f"{100 * each['median']:.1f} %"

"""The short table that a sweep ends with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

SHARES = {
    "verdicts right": ("detection", "accuracy"),
    "culprits exact": ("culprits_exact",),
    "recovered": ("recovery",),
    "completed": ("completion",),
    "decided": ("decided_right",),
}
"""Column -> where it is in metrics.json."""


def markdown(sweeps: Sequence[Mapping[str, Any]]) -> str:
    """One line for each sweep.

    Args:
        sweeps: what their metrics.json say.
    """
    head = [
        "planner",
        "dataset",
        "episodes",
        *SHARES,
        "L/N_err",
        "L/L_opt",
        "T/N_err",
        "actions",
        "s/episode",
        "failed",
    ]
    lines = [line(head), line(["---", "---", *["---:"] * (len(head) - 3), "---"])]
    for found in sweeps:
        shares = [percent(value_of(found, path), found["intervals"][path[-1]]) for path in SHARES.values()]
        time = found["t_per_err_s"]
        lines.append(
            line(
                [
                    found["planner"],
                    found["dataset"],
                    str(found["episodes"]),
                    *shares,
                    number(found["l_per_err"]),
                    number(found["l_over_opt"], 3),
                    "-" if time is None else f"{1000 * time:.1f} ms",
                    number(found["actions"]["mean"], 1),
                    number(found["wall_s"]["mean"], 1),
                    ", ".join(f"{reason} {count}" for reason, count in sorted(found["failures"].items())) or "none",
                ]
            )
        )
    return "\n".join(lines) + "\n"


def value_of(found: Mapping[str, Any], path: Sequence[str]) -> float | None:
    """A number in nested metrics."""
    for key in path:
        found = found[key]
    return found  # type: ignore[return-value]


def percent(value: float | None, interval: Sequence[float | None] | None = None) -> str:
    """A share in per cent, with its 95 % interval if it is given."""
    if value is None:
        return "-"
    text = f"{100 * value:.2f} %"
    if interval and interval[0] is not None and interval[1] is not None:
        text += f" [{100 * interval[0]:.2f}, {100 * interval[1]:.2f}]"
    return text


def number(value: float | None, digits: int = 2) -> str:
    """A number, or a dash where there is none."""
    return "-" if value is None else f"{value:.{digits}f}"


def line(cells: Sequence[str]) -> str:
    """A row of a Markdown table."""
    return f"| {' | '.join(cells)} |"

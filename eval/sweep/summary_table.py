"""Short table that a sweep prints at its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eval.common.tables import markdown_table, milliseconds, number, percent, value_at

SHARES = {
    "verdicts right": ("detection", "accuracy"),
    "culprits exact": ("culprits_exact",),
    "recovered": ("recovery",),
    "completed": ("completion",),
    "decided": ("decided_right",),
}
"""Column -> path in metrics.json."""


def markdown(sweeps: Sequence[Mapping[str, Any]]) -> str:
    """Table with one line for each sweep.

    Args:
        sweeps: the contents of their metrics.json.
    """
    rows = []
    for found in sweeps:
        failures = ", ".join(f"{reason} {count}" for reason, count in sorted(found["failures"].items()))
        rows.append(
            [
                found["planner"],
                found["dataset"],
                found["episodes"],
                *(percent(value_at(found, path), found["intervals"][path[-1]]) for path in SHARES.values()),
                number(found["l_per_err"]),
                number(found["l_over_opt"], 3),
                milliseconds(found["t_per_err_s"], none="-"),
                number(found["actions"]["mean"], 1),
                number(found["wall_s"]["mean"], 1),
                failures or "none",
            ]
        )
    head = ["planner", "dataset", "episodes", *SHARES]
    head += ["L/N_err", "L/L_opt", "T/N_err", "actions", "s/episode", "failed"]
    return markdown_table(head, rows) + "\n"

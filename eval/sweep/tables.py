"""Tables of whole episodes: every planner on every dataset, differences from ours, and the paper's numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eval.common.tables import document, markdown_table, milliseconds, number, percent, percent_of, value_at
from eval.sweep.paper import CITATION, TABLES

OURS = "ours"
SHARES = {
    "verdicts right": ("detection", "accuracy"),
    "culprits exact": ("culprits_exact",),
    "recovered": ("recovery",),
    "completed": ("completion",),
    "decided": ("decided_right",),
}
"""Column -> path in metrics.json."""


def markdown(found: Mapping[str, Any]) -> str:
    """All tables for which there are numbers."""
    sweeps = found.get("sweeps", [found])
    parts = [_overview(sweeps)]
    if "ours_minus" in found:
        parts += _compared(found)
    return document(*parts, *_beside_the_paper(sweeps))


def _overview(sweeps: Sequence[Mapping[str, Any]]) -> str:
    """One line for each planner and dataset."""
    rows = [
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
            ", ".join(f"{reason} {count}" for reason, count in sorted(found["failures"].items())) or "none",
        ]
        for found in sweeps
    ]
    head = ["planner", "dataset", "episodes", *SHARES]
    head += ["L/N_err", "L/L_opt", "T/N_err", "actions", "s/episode", "failed"]
    return markdown_table(head, rows)


def _compared(found: Mapping[str, Any]) -> list[str]:
    """Episodes that end as they should, and differences from ours."""
    shares, minus = found["as_they_should"], found["ours_minus"]
    planners = list(next(iter(shares.values())))
    others = [planner for planner in planners if planner != OURS]
    return [
        "Episodes that end as they should: at their goal, or asking for help if there is no way back",
        markdown_table(
            ["dataset", "episodes", *planners],
            [
                [name, each[OURS]["of"], *(percent_of(each[one], 0) for one in planners)]
                for name, each in shares.items()
            ],
        ),
        "Ours minus another planner, on the same episodes; an interval that contains 0 shows no difference",
        markdown_table(
            ["dataset", *others],
            [
                [name, *(percent(each[one]["value"], (each[one]["low"], each[one]["high"]), 0) for one in others)]
                for name, each in minus.items()
            ],
        ),
    ]


def _beside_the_paper(sweeps: Sequence[Mapping[str, Any]]) -> list[str]:
    """Tables III to V, with the paper's numbers in brackets."""
    rows = []
    for found in sweeps:
        if theirs := TABLES.get(found["dataset"], {}).get(found["planner"]):
            mine = (
                percent(found["recovery"]), number(found["l_per_err"]), number(found["l_over_opt"]),
                milliseconds(found["t_per_err_s"], none="-"), milliseconds(found["t_over_opt_s"], none="-"),
                percent(found["completion"]),
            )  # fmt: skip
            both = (f"{ours} ({paper})" for ours, paper in zip(mine, theirs, strict=True))
            rows.append([found["planner"], found["dataset"], *both])
    if not rows:
        return []
    head = ["planner", "dataset", "Rec.", "L/N_err", "L/L_opt", "T/N_err", "T/L_opt", "Comp."]
    return [
        f"Tables III to V, numbers of {CITATION} in brackets; their datasets follow the same recipe, their times are "
        "of another machine, and the L of replan includes the rest of the plan",
        markdown_table(head, rows),
    ]

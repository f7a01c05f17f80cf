"""Tables that compare planners: with the oracle, and pair by pair on the same episodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eval.common.statistics import share
from eval.common.tables import number, percent
from eval.sweep.oracle import OURS
from eval.sweep.records import EpisodeRecord
from eval.tables.document import Section
from eval.tables.load import Sweep
from eval.tables.pairs import compare

ORACLE = "oracle"
"""Planner that shows what is possible at all."""
FIRST = "ours"
"""Planner that the oracle is compared with."""


def oracle_section(sweeps: Sequence[Sweep]) -> Section | None:
    """Episodes that the oracle does not complete: the limit of simulator and arm."""
    ours = {sweep.dataset: sweep for sweep in sweeps if sweep.planner == FIRST}
    rows = []
    every, done, failed, others, run_by_ours = 0, 0, list[str](), 0, 0
    asked, planned = 0, 0
    for sweep in sweeps:
        if sweep.planner != ORACLE:
            continue
        possible = [record for record in sweep.records if record.recoverable and not record.lost]
        short = [record for record in possible if not record.completed]
        every, done = every + len(possible), done + len(possible) - len(short)
        failed += [record.label() for record in short]
        also, ran = _both(short, ours)
        others, run_by_ours = others + also, run_by_ours + ran
        ways = [recovery for record in sweep.records for recovery in record.recoveries if recovery.found]
        asked, planned = asked + sum(way.reason != OURS for way in ways), planned + len(ways)
        mine = _both(possible, ours)
        compared = f"{mine[0]} of {mine[1]}" if mine[1] else ""
        rows.append([*_completed(sweep.dataset, len(possible) - len(short), len(possible)), compared])
    if not rows:
        return None
    rows.append([*_completed("all", done, every), ""])
    least = "nothing."
    if failed:
        beaten = f"; ours completes {others} of {run_by_ours} that it ran" if run_by_ours else ""
        least = f"{100 * len(failed) / every:.2f} points: {', '.join(failed)}{beaten}."
    return Section(
        "What the simulator and the arm allow",
        "The oracle sees the true state and plans optimally: it should complete all episodes without lost objects. "
        f"Episodes that it does not complete are at the limit of the simulator and the arm: this costs {least} "
        f"Fast Downward planned {asked} of its {planned} recoveries. Our own optimal search planned the others: those "
        "with too many arrangements, those that correct small shifts, and those whose places by Fast Downward do not "
        "fit on the table.",
        ("dataset", "nothing lost", "the oracle completes", "share", "ours, of these"),
        rows,
    )


def _completed(name: str, done: int, every: int) -> list[str]:
    found = share(done, every)
    return [name, str(every), str(done), percent(found["value"], [found["low"], found["high"]])]


def _both(records: Sequence[EpisodeRecord], ours: Mapping[str, Sweep]) -> tuple[int, int]:
    """Of some episodes of one dataset: how many our planner completes, and how many it ran."""
    if not records or records[0].dataset not in ours:
        return 0, 0
    chosen = {record.episode for record in records}
    mine = [record for record in ours[records[0].dataset].records if record.episode in chosen]
    return sum(record.completed for record in mine), len(mine)


def pairs_section(sweeps: Sequence[Sweep]) -> Section | None:
    """The first planner of each dataset against every other one, on the same episodes."""
    rows = []
    for dataset in sorted({sweep.dataset for sweep in sweeps}):
        chosen = [sweep for sweep in sweeps if sweep.dataset == dataset]
        for other in chosen[1:]:
            found = compare(chosen[0].records, other.records)
            if found is None:
                continue
            low, high = found.interval
            actions = "-"
            if found.actions is not None and found.actions_interval is not None:
                actions = f"{found.actions:+.2f} [{found.actions_interval[0]:+.2f}, {found.actions_interval[1]:+.2f}]"
            rows.append(
                [
                    dataset,
                    f"{chosen[0].planner} and {other.planner}",
                    str(found.episodes),
                    str(found.both),
                    str(found.first_only),
                    str(found.second_only),
                    "< 0.0001" if found.p_value < 1e-4 else f"{found.p_value:.4f}",
                    f"{100 * found.difference:+.2f} [{100 * low:+.2f}, {100 * high:+.2f}]",
                    actions,
                    number(found.time_ratio, 1),
                ]
            )
    if not rows:
        return None
    return Section(
        "Planners on the same episodes",
        "Episodes that succeed under both planners, under the first only, and under the second only; p by McNemar's "
        "exact test; differences are first minus second, with 95 % intervals by Newcombe's method for pairs. "
        "Actions are counted where both succeed (intervals by resampling episodes). The last column is the median "
        "planning time of the second over that of the first.",
        (
            "dataset", "planners", "episodes", "both", "first only", "second only", "p", "difference, points",
            "actions", "planning time",
        ),
        rows,
    )  # fmt: skip

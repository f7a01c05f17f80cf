"""Table VI of Kalithasan et al. from our sweeps: plan length and time with fewer subgoals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eval.sweep import metrics
from eval.sweep.records import EpisodeRecord, RecoveryRecord
from eval.tables import paper
from eval.tables.load import Sweep

ORIGINAL = "original"
"""Planner that the anytime variants are compared with."""


@dataclass(frozen=True)
class AnytimeVariant:
    """One planner on the scenes of Table VI; None for unknown values.

    Attributes:
        name: in tables.
        episodes: how many count.
        recovered: share of the noticed errors whose plan reaches its subgoal.
        length: of its plans, relative to those of `ORIGINAL`.
        t_per_err_s: planning seconds for each error.
    """

    name: str
    episodes: int
    recovered: float | None
    length: float | None
    t_per_err_s: float | None


def variants(sweeps: Sequence[Sweep]) -> list[AnytimeVariant]:
    """Return all planners that can be compared; none without `ORIGINAL`.

    Lengths are of the first recovery of each episode, where all planners are in the same state.
    """
    low, high = paper.ANYTIME_OBJECTS
    chosen = {
        sweep.planner: {record.episode: record for record in sweep.records if low <= record.objects <= high}
        for sweep in sweeps
        if sweep.dataset == "III"
    }
    original = chosen.get(ORIGINAL)
    if not original:
        return []
    found = []
    for name, records in chosen.items():
        if not (name.startswith(("ours", "relations")) or name == ORIGINAL):
            continue
        costs = [
            (mine.cost or 0.0, theirs.cost or 0.0)
            for episode, record in records.items()
            if episode in original
            and (mine := _first_right(record)) is not None
            and (theirs := _first_right(original[episode])) is not None
        ]
        values = list(records.values())
        recovered = metrics.recovered(values)
        found.append(
            AnytimeVariant(
                name,
                len(records),
                sum(recovered) / len(recovered) if recovered else None,
                sum(a for a, _ in costs) / sum(b for _, b in costs) if costs else None,
                metrics.mean_ratio(values, metrics.time_per_error)[0],
            )
        )
    return found


def _first_right(record: EpisodeRecord) -> RecoveryRecord | None:
    first = record.recoveries[0] if record.recoveries else None
    return first if first is not None and first.right and first.cost is not None else None

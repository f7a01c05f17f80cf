"""`python -m eval.checks.soak`: a thousand episodes in one process, in which robots, sensors and people fail."""

from __future__ import annotations

import contextlib
import logging
import os
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import psutil

from eval.checks.soak.disturbed import OWN, Disturbance
from eval.checks.soak.episodes import ENDS, KINDS, REACHED, kind_of, run_episode
from eval.common.overdue import Overdue, within
from eval.common.statistics import share_of
from eval.common.tables import document, markdown_table, percent_of
from eval.run import Measurement, Run, Settings, run
from sim.common.memory import give_back

CRASHED = "crashed"
LONGEST_S = 300.0
"""Time for one episode; one that takes longer counts as a crash."""
MISLED = {each.name for each in (*OWN, Disturbance.REPEATED, Disturbance.LATE)}
"""Disturbances after which an agent may believe what is not true."""
WARM_UP = 110
"""Episodes of a process before its memory is measured: all modules are loaded and all caches are full then."""


@dataclass
class SoakConfig(Settings):
    """Run episodes in one process in which robots, sensors and people fail.

      python -m eval.checks.soak                          1,000 episodes
      python -m eval.checks.soak episodes=50 out=DIR      a quick look

    Actions do nothing, raise errors or never return, sensors fail, the world changes while the robot plans, and people
    err; the errors of the shipped datasets strike besides. Each episode has to end as reached, impossible or asked for
    help. Whatever raises, or takes more than five minutes, is a crash. Writes metrics.json (ended, crashes, growth_mb)
    and table.md to out=DIR.

    Attributes:
        episodes: number of episodes: of 100, 50 are of facts, 40 in homes, 9 on tables and one in a kitchen
    """

    episodes: int = 1000
    workers: int = 1


@dataclass(frozen=True)
class Record:
    """One episode.

    Attributes:
        number: of the episode.
        kind: of the episode.
        ended: one of `ENDS`, or `CRASHED`.
        reason: why the goal is not reached; of a crash, the traceback.
        disturbances: what struck.
        true: whether the goal is truly reached; None where that is not known.
        refused_at_start: whether the first observations could not be used.
        seconds: of the episode.
        memory_mb: of the process after it.
        process: that ran it; a run that was continued has several.
    """

    number: int
    kind: str
    ended: str
    reason: str
    disturbances: tuple[str, ...]
    true: bool | None
    refused_at_start: bool
    seconds: float
    memory_mb: float
    process: int


def attempt(number: int, seed: int) -> Record:
    """Run an episode; an error is a crash."""
    began = time.perf_counter()
    found: dict[str, Any] = {"disturbances": (), "true": None, "refused_at_start": False}
    try:
        with within(LONGEST_S):
            found |= asdict(run_episode(number, seed))
    except (Exception, Overdue):
        found |= {"ended": CRASHED, "reason": traceback.format_exc()}
    give_back()
    seconds = round(time.perf_counter() - began, 3)
    return Record(
        number,
        kind_of(number),
        **found,
        seconds=seconds,
        memory_mb=round(psutil.Process().memory_info().rss / 1e6, 1),
        process=os.getpid(),
    )


def measure(config: SoakConfig, run: Run) -> dict[str, Any]:
    """Run the episodes."""
    with _quiet():
        records = run.each(partial(attempt, seed=config.seed), range(config.episodes), "episode")
    return metrics_of(records, config.seed)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without the log of errors that are injected, thousands of tracebacks."""
    log = logging.getLogger("nsrecover.agent")
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before


def metrics_of(records: Sequence[Record], seed: int) -> dict[str, Any]:
    """The contents of metrics.json: megabytes, seconds."""
    crashed = [each for each in records if each.ended == CRASHED]
    claimed = [each for each in records if each.ended == REACHED and each.true is not None]
    return {
        "episodes": len(records),
        "seed": seed,
        "ended": {end: sum(each.ended == end for each in records) for end in ENDS},
        "crashes": len(crashed),
        "growth_mb": growth_mb(records),
        "refused_at_start": sum(each.refused_at_start for each in records),
        "truly_reached_of_claimed": share_of(bool(each.true) for each in claimed),
        "truly_reached_where_seen_right": share_of(
            bool(each.true) for each in claimed if not MISLED & {*each.disturbances}
        ),
        "disturbances": dict(sorted(Counter(name for each in records for name in each.disturbances).items())),
        "kinds": {kind: _kind([each for each in records if each.kind == kind]) for kind in KINDS},
        "first_crashes": [f"{each.number}, {each.kind}: {each.reason}" for each in crashed[:5]],
    }


def _kind(records: Sequence[Record]) -> dict[str, Any]:
    seconds = [each.seconds for each in records]
    ends = {end: sum(each.ended == end for each in records) for end in (*ENDS, CRASHED)}
    return {
        "episodes": len(records),
        **ends,
        "seconds_mean": round(sum(seconds) / max(len(seconds), 1), 2),
        "seconds_most": max(seconds, default=0.0),
    }


def growth_mb(records: Sequence[Record]) -> tuple[float, float] | None:
    """Growth of the memory of the process that ran most episodes, in the first and second half after its warm-up.

    The ends are medians of ten episodes, because a single one depends on the kind of the episode before. None if there
    are too few.
    """
    by_process: dict[int, list[float]] = {}
    for each in records:
        by_process.setdefault(each.process, []).append(each.memory_mb)
    memory = max(by_process.values(), key=len, default=[])[WARM_UP:]
    if len(memory) < 30:
        return None
    middle = len(memory) // 2
    first, half, last = (sorted(part)[5] for part in (memory[:10], memory[middle - 5 : middle + 5], memory[-10:]))
    return round(half - first, 1), round(last - half, 1)


def table_of(metrics: dict[str, Any]) -> str:
    """Metrics as a table, with the first crashes."""
    ended, truly = metrics["ended"], metrics["truly_reached_of_claimed"]
    rightly = metrics["truly_reached_where_seen_right"]
    rows = [
        [kind, each["episodes"], *(each[end] for end in (*ENDS, CRASHED)), f"{each['seconds_mean']:.2f}"]
        for kind, each in metrics["kinds"].items()
    ]
    rows.append(["all", metrics["episodes"], *ended.values(), metrics["crashes"], ""])
    growth = metrics["growth_mb"]
    grown = "not measured" if growth is None else f"{growth[0]:+.1f} MB, then {growth[1]:+.1f} MB"
    measured = [
        ["growth of the memory of the process, first and second half", grown],
        ["refused at the start, because the first observations could not be used", metrics["refused_at_start"]],
        ["the goal truly holds where the agent says so (facts, tabletop, kitchen)", percent_of(truly)],
        ["the same without hidden or misperceived facts, old frames and failing cameras", percent_of(rightly)],
        *([f"episodes in which {Disturbance[name].value}", count] for name, count in metrics["disturbances"].items()),
    ]
    return document(
        f"{metrics['episodes']} episodes with seed {metrics['seed']}",
        markdown_table(("kind", "episodes", *(end.replace("_", " ") for end in ENDS), CRASHED, "s each"), rows),
        markdown_table(("measured", "value"), measured),
        "\n".join(metrics["first_crashes"]),
    )


MEASUREMENT = Measurement(SoakConfig, measure, table_of, least={"episodes": 1}, adds=("episodes",))

if __name__ == "__main__":
    run(MEASUREMENT)

"""Metrics of sweeps from the records of episodes (Kalithasan et al., Table II); pure functions.

- **Detection**: every observed action is a decision, and so is every alarm before an action for which a recovery is
  planned. An alarm is right if an object deviates from the result of the ideal executor, or an earlier deviation was
  not noticed.
- **Culprits exact**: share of the noticed errors in which exactly the deviating objects are blamed.
- **Recovery**: share of the noticed, recoverable errors whose plan reaches its subgoal when the ideal executor carries
  it out. An error without a plan counts as not recovered.
- **Completion**: share of the recoverable episodes that end with every object where the fault-free run puts it.
- **L/N_err, L/L_opt, T/N_err, T/L_opt**: means over the right recoveries. N_err counts the errors since the last one, L
  the actions to the chosen state of the plan, L_opt the fewest to the same state.
- **Recovery and rest**: (recovery + remaining plan) / optimal; the paper counts the recovery only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from eval.common.statistics import RESAMPLES, Share, decisions, mean, over, p95, share_of, spread
from eval.metrics import of_sweep
from eval.sweep.records import EpisodeRecord, RecoveryRecord, failure_of
from nsrecover.core.episode import EpisodeStatus

Ratio = Callable[[RecoveryRecord], float | None]
"""Number of a recovery; None if it is undefined."""


def length_per_error(recovery: RecoveryRecord) -> float | None:
    """L/N_err."""
    return len(recovery.actions) / recovery.errors


def length_over_best(recovery: RecoveryRecord) -> float | None:
    """L/L_opt: actions to the chosen state over the fewest; 1 if both are 0."""
    if recovery.best is None or recovery.best.to_subgoal is None:
        return None
    return over(len(recovery.actions), recovery.best.to_subgoal)


def whole_over_best(recovery: RecoveryRecord) -> float | None:
    """(Recovery + remaining plan) / optimal."""
    if recovery.best is None or recovery.cost is None:
        return None
    return over(recovery.cost, recovery.best.cost)


def time_per_error(recovery: RecoveryRecord) -> float | None:
    """T/N_err, seconds of wall time."""
    return recovery.seconds / recovery.errors


def cpu_per_error(recovery: RecoveryRecord) -> float | None:
    """The same as processor time."""
    return recovery.cpu_s / recovery.errors


def time_over_best(recovery: RecoveryRecord) -> float | None:
    """T/L_opt, seconds for each action of the shortest recovery; None if it has no action."""
    if recovery.best is None or not recovery.best.to_subgoal:
        return None
    return recovery.seconds / recovery.best.to_subgoal


RATIOS: Mapping[str, Ratio] = {
    "l_per_err": length_per_error,
    "l_over_opt": length_over_best,
    "whole_over_opt": whole_over_best,
    "t_per_err_s": time_per_error,
    "t_over_opt_s": time_over_best,
    "cpu_per_err_s": cpu_per_error,
}
"""Name in metrics.json -> ratio."""


def summary(records: Sequence[EpisodeRecord]) -> dict[str, Any]:
    """Metrics of one planner on one dataset.

    Returns:
        Plain numbers by name; `intervals` has their 95 % intervals (Wilson for shares, bootstrap over episodes for
        ratios), `counts` the totals of the shares.
    """
    alarms = decisions(decided(records))
    recoverable = [record for record in records if record.recoverable]
    # without observations nothing can be lost
    possible = [record for record in recoverable if not record.lost and any(action.looked for action in record.actions)]
    shares: dict[str, Share] = {
        **alarms,
        "culprits_exact": share_of(_culprits_exact(records)),
        "recovery": share_of(recovered(records)),
        "completion": share_of(record.completed for record in recoverable),
        "completion_where_possible": share_of(record.completed for record in possible),
        "promised": share_of(record.promised for record in recoverable),
        "decided_right": share_of(record.decided_right for record in records),
        "false_completion": share_of(record.false_completion for record in records),
        "asked_for_help": share_of(record.status == EpisodeStatus.ASKED_FOR_HELP for record in records),
        "blamed_right": share_of(blamed_right(record) for record in records if not record.recoverable),
    }
    ratios = {name: mean_ratio(records, ratio) for name, ratio in RATIOS.items()}
    actions = [len(record.actions) for record in records]
    return of_sweep(
        shares,
        ratios,
        failures=dict(Counter(str(reason) for reason in map(failure_of, records) if reason is not None)),
        actions={"total": sum(actions), "mean": mean(actions, 3)},
        faults=_spread([sum(len(action.faults) for action in record.actions) for record in records]),
        recoveries=sum(len(record.recoveries) for record in records),
        errors=sum(recovery.errors for record in records for recovery in record.recoveries),
        optimal=_optimal(records),
        wall_s=_spread([record.seconds for record in records]),
        cpu_s=_spread([record.cpu_s for record in records]),
        planning_s=_spread([record.planning_s for record in records]),
    )


def decided(records: Iterable[EpisodeRecord]) -> Iterator[tuple[bool, bool]]:
    """Of every decision, whether something was wrong, and whether there was an alarm."""
    for record in records:
        after = {recovery.after: recovery for recovery in record.recoveries if recovery.phase == "after"}
        for number, action in enumerate(record.actions, start=1):
            if action.looked:
                yield bool(action.wrong) or (number in after and bool(after[number].wrong)), action.noticed
        yield from ((bool(recovery.wrong), True) for recovery in record.recoveries if recovery.phase == "before")


def to_recover(records: Iterable[EpisodeRecord]) -> list[RecoveryRecord]:
    """Planned recoveries of recoverable errors."""
    return [
        recovery
        for record in records
        if record.recoverable
        for recovery in record.recoveries
        if recovery.errors > 0 and not recovery.lost
    ]


def recovered(records: Iterable[EpisodeRecord]) -> list[bool]:
    """Whether the plan of each noticed, recoverable error reaches its subgoal; False without a plan."""
    found = []
    for record in records:
        found += [recovery.right is True for recovery in to_recover([record])]
        planned = {recovery.after for recovery in record.recoveries}
        if record.recoverable:
            found += [
                False
                for number, action in enumerate(record.actions, start=1)
                if action.noticed and action.wrong and number not in planned
            ]
    return found


def right_recoveries(record: EpisodeRecord) -> list[RecoveryRecord]:
    """Right recoveries of an episode, which count for lengths and times."""
    return [recovery for recovery in to_recover([record]) if recovery.right]


def blamed_right(record: EpisodeRecord) -> bool:
    """Whether an unrecoverable episode asks for help because of exactly the lost objects."""
    last = record.recoveries[-1] if record.recoveries else None
    return record.decided_right and last is not None and bool(last.lost) and set(last.blamed) == set(last.lost)


def mean_ratio(records: Sequence[EpisodeRecord], ratio: Ratio) -> tuple[float | None, float | None, float | None]:
    """Mean of a ratio over all right recoveries, with its 95 % interval from resampled episodes."""
    groups = []
    for record in records:
        values = [value for value in map(ratio, right_recoveries(record)) if value is not None]
        if values:
            groups.append((sum(values), len(values)))
    if not groups:
        return None, None, None
    sums, counts = np.array(groups, dtype=np.float64).T
    chosen = np.random.default_rng(0).integers(len(groups), size=(RESAMPLES, len(groups)))
    means = sums[chosen].sum(axis=1) / counts[chosen].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return round(float(sums.sum() / counts.sum()), 5), round(float(low), 5), round(float(high), 5)


def _culprits_exact(records: Iterable[EpisodeRecord]) -> Iterable[bool]:
    for record in records:
        alarms = set[int]()
        for recovery in record.recoveries:
            alarms.add(recovery.after)
            if recovery.wrong and recovery.culprits:
                yield set(recovery.culprits) == set(recovery.wrong)
        for number, action in enumerate(record.actions, start=1):
            if action.noticed and action.wrong and number not in alarms:
                yield set(action.culprits) == set(action.wrong)


def _optimal(records: Sequence[EpisodeRecord]) -> Share:
    """Share of the right recoveries with a known optimum that are optimal."""
    known = [(recovery.cost, recovery.best) for record in records for recovery in right_recoveries(record)]
    return share_of(cost is not None and cost <= best.cost for cost, best in known if best is not None)


def _spread(values: Sequence[float]) -> dict[str, Any]:
    return spread(values, 3, mean=np.mean, median=np.median, p95=p95)

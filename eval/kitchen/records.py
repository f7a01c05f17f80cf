"""Records of household episodes, and the metrics over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from eval.common.statistics import Share, bootstrap_interval, grouped, p95, share, share_of, spread
from eval.metrics import of_sweep
from nsrecover.core.episode import StopCode

KEPT_FAILING = (StopCode.REPEATED, StopCode.TOO_MANY)
"""Codes of episodes in which recoveries did not help."""


@dataclass(frozen=True)
class KitchenRecord:
    """How a planner did in an episode.

    Attributes:
        dataset: of the episode.
        episode: its number there.
        task: code of the task.
        layout: of the kitchen.
        kinds: of the faults.
        fault_class: of the first fault; "none" without.
        recoverable: whether the goal can be reached after the errors, by the search of the dataset.
        harmless: whether something is wrong, and the plan reaches the goal nevertheless, in the domain.
        wrong: whether anything is wrong by the facts: they deviate, or the plan that the robot is given fails.
        in_time: whether an alarm came before the first action that fails, or right after it. An error of the robot
            makes its own action fail; a change by others, or a wrong plan, the first action that cannot be done then.
        at_once: whether an alarm came before the change, or right after the action during which it happened.
        decisions: of each comparison, whether something was truly wrong, and whether an alarm was raised.
        alarms: number of actions done by each alarm, and whether it was justified.
        culprits: of each alarm about a true deviation, the objects that deviate and those that are blamed.
        explained: whether the first text after the injected fault has its cause, object and step right; empty if no
            fault has struck, and if it was harmless and nothing was said about it.
        reached: whether the goal holds in the end, its purpose included.
        asked: whether it asked for help.
        reason: why.
        why: code of why it asked for help; empty if it did not.
        impossible: whether it found that the goal is lost.
        interrupted: whether it did anything that is not in the plan, or asked for help; it may skip what is done.
        violations: irreversible actions that were begun while a condition did not hold, or that put the goal out of
            reach.
        actions: number of actions that were carried out.
        length: of the plan.
        recovery_actions: actions of all recoveries.
        looks: drives to look at something.
        texts: of the explanations of alarms.
        skills: why skills failed.
        step_s: wall time of each perception and comparison.
        planning_s: wall time of each search that led to actions.
        execution_s: total time of execution: simulated time of what the robot does, and wall time of each comparison
            and search.
        seconds: processor time of the episode.
        crash: error that ended it; empty if none did.
    """

    dataset: str
    episode: int
    task: str
    layout: int
    kinds: tuple[str, ...]
    fault_class: str
    recoverable: bool
    harmless: bool
    wrong: bool
    in_time: bool
    at_once: bool
    decisions: tuple[tuple[bool, bool], ...]
    alarms: tuple[tuple[int, bool], ...]
    culprits: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    explained: tuple[bool, ...]
    reached: bool
    asked: bool
    reason: str
    why: str
    impossible: bool
    interrupted: bool
    violations: int
    actions: int
    length: int
    recovery_actions: int
    looks: int
    texts: tuple[str, ...]
    skills: tuple[str, ...]
    step_s: tuple[float, ...]
    planning_s: tuple[float, ...]
    execution_s: float
    seconds: float
    crash: str = ""

    @property
    def false_completion(self) -> bool:
        """Whether it ended as if the goal held, and it does not."""
        return not (self.asked or self.reached or self.crash)

    @property
    def failure(self) -> str:
        """Why the goal was not reached although it can be; empty if it was, or cannot be."""
        if self.crash:
            return "crashed"
        if self.reached or not self.recoverable:
            return ""
        if self.asked:
            if not self.wrong and not self.skills:
                return "false_alarm"
            return "given_up" if self.impossible else "kept_failing" if self.why in KEPT_FAILING else "asked"
        return "not_noticed" if not any(right for _, right in self.alarms) else "wrong_way"


def summary(records: Sequence[KitchenRecord]) -> dict[str, Any]:
    """The metrics of a sweep, with the keys of those of the tabletop."""
    true, missed, false, quiet = map(_deciding, (True, True, False, False), (True, False, True, False))
    recoverable, lost = [r for r in records if r.recoverable], [r for r in records if not r.recoverable]
    explained = [r for r in records if r.explained]
    shares = {
        "accuracy": ratio(records, lambda r: true(r) + quiet(r), lambda r: len(r.decisions)),
        "precision": ratio(records, true, lambda r: true(r) + false(r)),
        "recall": ratio(records, true, lambda r: true(r) + missed(r)),
        "false_alarm_rate": ratio(records, false, lambda r: false(r) + quiet(r)),
        "in_time": ratio([r for r in records if r.wrong and not r.harmless], lambda r: r.in_time),
        "at_once": ratio([r for r in records if r.wrong], lambda r: r.at_once),
        "culprits_exact": ratio(records, lambda r: sum(set(a) == set(b) for a, b in r.culprits), _alarms),
        "culprits_named": ratio(records, lambda r: sum(bool(set(a) & set(b)) for a, b in r.culprits), _alarms),
        **{
            f"text_{what}": ratio(explained, partial(_explained_right, part=part))
            for part, what in enumerate(("cause", "object", "step"))
        },
        "recovery": ratio([r for r in recoverable if any(right for _, right in r.alarms)], lambda r: r.reached),
        "completion": ratio(recoverable, lambda r: r.reached),
        "decided_right": ratio(records, lambda r: (r.reached and not r.asked) if r.recoverable else r.asked),
        "lost_named": ratio(lost, lambda r: r.impossible and r.asked),
        "harmless_not_interrupted": ratio([r for r in records if r.harmless], lambda r: not r.interrupted),
        "without_violation": ratio(records, lambda r: not r.violations),
        "false_completion": ratio(records, lambda r: r.false_completion),
        "asked_for_help": ratio(records, lambda r: r.asked),
    }
    return of_sweep(
        shares,
        failures=dict(Counter(r.failure for r in records if r.failure)),
        actions=_spread([r.actions for r in records]),
        looks=_spread([r.looks for r in records]),
        recoveries=sum(len(r.planning_s) for r in records),
        violations=sum(r.violations for r in records),
        monitor_ms=_spread([1000 * s for r in records for s in r.step_s]),
        planning_s=_spread([s for r in records for s in r.planning_s]),
        execution_s=_spread([r.execution_s for r in records]),
        processor_s=_spread([r.seconds for r in records]),
        by_task=_by(records, lambda r: r.task),
        by_class=_by(records, lambda r: r.fault_class),
        by_fault=_by(records, lambda r: " and ".join(r.kinds) if r.kinds else "none"),
    )


def ratio(
    records: Sequence[KitchenRecord],
    good: Callable[[KitchenRecord], int],
    of: Callable[[KitchenRecord], int] = lambda record: 1,
) -> Share:
    """Share over records; its interval is the wider of Wilson's and of a bootstrap over kitchens.

    Episodes of one kitchen, and alarms of one episode, are alike.
    """
    found = share(sum(map(good, records)), sum(map(of, records)))
    if found["of"]:
        kitchens = grouped(records, lambda record: (record.task, record.layout)).values()
        above, below = (np.array([sum(map(one, group)) for group in kitchens], float) for one in (good, of))
        low, high = bootstrap_interval(above, below)
        found |= {"low": round(min(low, found["low"]), 5), "high": round(max(high, found["high"]), 5)}
    return found


def _deciding(wrong: bool, alarm: bool) -> Callable[[KitchenRecord], int]:
    """Counts the comparisons of a record with this truth and this alarm."""
    return lambda record: record.decisions.count((wrong, alarm))


def _explained_right(record: KitchenRecord, part: int) -> bool:
    return record.explained[part]


def _alarms(record: KitchenRecord) -> int:
    return len(record.culprits)


def _by(records: Sequence[KitchenRecord], key: Any) -> dict[str, Any]:
    return {
        name: {
            "episodes": len(group),
            "in_time": share_of(r.in_time for r in group if r.wrong and not r.harmless)["value"],
            "completion": share_of(r.reached for r in group if r.recoverable)["value"],
            "text_cause": share_of(r.explained[0] for r in group if r.explained)["value"],
        }
        for name, group in grouped(records, key).items()
    }


def _spread(values: Sequence[float]) -> Mapping[str, Any]:
    return spread(values, 3, mean=np.mean, median=np.median, p95=p95)

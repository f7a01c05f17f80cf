"""Kinds of evidence in logs, each removed once: rates on the same logs, and the differences."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from eval.common.statistics import paired_interval, share_of
from eval.common.tables import markdown_table, percent_of
from nsrecover.domains.household.names import normal
from nsrecover.explanation.logs.reading.records import GRIPPER, HouseholdLog, KeyFrame, Observation, Related, Seen

RATES = ("step_right", "kind_right", "read_right", "accepted", "subgoals_right")
"""What is compared, log by log; `subgoals_right` is true if the verdict on every subgoal of a log is right."""


def _plain_names(log: HouseholdLog) -> HouseholdLog:
    """The log with names that carry no states: `dirty pan` -> `pan`."""
    return _told(
        log, lambda each: replace(each, seen=tuple(Seen(normal(item.name), item.states) for item in each.seen))
    )


def _no_asides(log: HouseholdLog) -> HouseholdLog:
    """The log with a goal in which nothing marks what is said by the way."""
    return replace(log, success_state=re.sub(r"[()\[\]]|e\.g\. ", "", log.success_state))


def _ends_of_steps(log: HouseholdLog) -> HouseholdLog:
    """The log with the frames at the ends of steps alone."""
    return replace(log, events=log.subgoals or log.events)


def _without_end(log: HouseholdLog) -> HouseholdLog:
    """The log with its last frame for a final state."""
    return replace(log, final=log.events[-1].observation if log.events else log.final)


def _told(log: HouseholdLog, change: Callable[[Observation], Observation]) -> HouseholdLog:
    def frames(found: Sequence[KeyFrame]) -> tuple[KeyFrame, ...]:
        return tuple(replace(frame, observation=change(frame.observation)) for frame in found)

    return replace(log, events=frames(log.events), subgoals=frames(log.subgoals), final=change(log.final))


def _silent(log: HouseholdLog) -> HouseholdLog:
    """The log without sounds."""
    return _told(log, lambda each: replace(each, sounds=""))


def _no_gripper(log: HouseholdLog) -> HouseholdLog:
    """The log without what the gripper holds."""
    return _told(log, lambda each: replace(each, sentences=tuple(
        said for said in each.sentences if not (isinstance(said, Related) and said.object == GRIPPER)
    )))  # fmt: skip


def _no_places(log: HouseholdLog) -> HouseholdLog:
    """The log without relations between objects."""
    return _told(log, lambda each: replace(each, sentences=tuple(
        said for said in each.sentences if not isinstance(said, Related) or said.object == GRIPPER
    )))  # fmt: skip


def _no_states(log: HouseholdLog) -> HouseholdLog:
    """The log without states of objects."""
    return _told(log, lambda each: replace(each, seen=tuple(Seen(normal(item.name)) for item in each.seen)))


@dataclass(frozen=True)
class Ablation:
    """One kind of evidence, removed from logs.

    Attributes:
        key: short name, for files.
        name: what is removed.
        of: changes the log so that the evidence is not there.
    """

    key: str
    name: str
    of: Callable[[HouseholdLog], HouseholdLog]


ABLATIONS = (
    Ablation("frames", "frames within steps (only those at their ends)", _ends_of_steps),
    Ablation("end", "the final state", _without_end),
    Ablation("gripper", "what the gripper holds", _no_gripper),
    Ablation("places", "relations between objects", _no_places),
    Ablation("states", "states of objects", _no_states),
    Ablation("sounds", "sounds", _silent),
    Ablation("names", "states in names", _plain_names),
    Ablation("asides", "brackets and examples in goals", _no_asides),
)
"""Every kind of evidence that can be removed on its own."""


def _outcomes(row: Mapping[str, Any]) -> dict[str, bool]:
    """What is right about one log."""
    return {
        **{key: bool(row[key]) for key in RATES[:3]},
        "accepted": not row["refused"],
        "subgoals_right": all(held == verdict for held, verdict in row["subgoals"]),
    }


def ablated_rates(
    full: Sequence[Mapping[str, Any]], fewer: Mapping[str, Sequence[Mapping[str, Any]]]
) -> dict[str, dict[str, Any]]:
    """Rates with everything and without each capability, with differences on the same logs.

    Args:
        full: judged logs.
        fewer: what is removed -> the same logs, judged without it.

    Returns:
        What is removed (`nothing` first) -> rate -> share, and `difference` with its 95 % `interval` (Newcombe 1998).
    """
    base = [_outcomes(row) for row in full]
    found: dict[str, dict[str, Any]] = {"nothing": {key: share_of(one[key] for one in base) for key in RATES}}
    for name, rows in fewer.items():
        if [row["id"] for row in rows] != [row["id"] for row in full]:
            raise ValueError(f"expected the same logs without {name}, found others; remove the runs of another seed")
        found[name] = {}
        for key in RATES:
            pairs = [(_outcomes(row)[key], one[key]) for row, one in zip(rows, base, strict=True)]
            both, gained, lost = (pairs.count(pair) for pair in ((True, True), (True, False), (False, True)))
            low, high = paired_interval(both, gained, lost, len(pairs))
            found[name][key] = {
                **share_of(now for now, _ in pairs),
                "difference": round((gained - lost) / len(pairs), 5), "interval": [low, high], "changed": gained + lost,
            }  # fmt: skip
    return found


def ablation_table(found: Mapping[str, Mapping[str, Any]], words: Mapping[str, str]) -> str:
    """The rates as a table: shares, and in brackets the difference in percentage points with its interval."""
    heads = {"step_right": words["step"], "kind_right": words["kind"], "read_right": words["read_back"],
             "accepted": words["correction_accepted"], "subgoals_right": "every subgoal"}  # fmt: skip
    logs = found["nothing"]["step_right"]["of"]
    cells = [[name, *(_cell(rates[key]) for key in heads)] for name, rates in found.items()]
    return markdown_table([f"removed ({logs} logs)", *heads.values()], cells)


def _cell(rate: Mapping[str, Any]) -> str:
    if "difference" not in rate:
        return percent_of(dict(rate), 1)
    low, high = (100 * each for each in rate["interval"])
    change = f"{100 * rate['difference']:+.1f} [{low:+.1f}, {high:+.1f}]" if rate["changed"] else "no log changes"
    return f"{100 * rate['value']:.1f} % ({change})"

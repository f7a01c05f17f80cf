"""Step numbers of the original plan for the turns of an episode, in which recoveries have been inserted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.episode import Episode, Fate, StepRecord, StopCode
from nsrecover.core.recovery import Recovery
from nsrecover.core.sessions.requests import Answer


@dataclass(frozen=True, eq=False)
class Turn:
    """A turn of an episode with its step in the original plan.

    Attributes:
        record: the record of the turn.
        step: number of the action in the original plan, from 1; None for an action of a recovery.
        discrepancy: that of the record, with step numbers of the original plan where possible.
        recovery: that of the record, likewise.
        carried_out: which actions of the recovery were executed, as their numbers in it, from 0.
        by_hand: who has changed the scene by hand since the turn before, as the records say; empty if they say nothing.
    """

    record: StepRecord
    step: int | None
    discrepancy: Discrepancy
    recovery: Recovery | None
    carried_out: tuple[int, ...] = ()
    by_hand: str = ""


def turns(episode: Episode) -> Iterator[Turn]:
    """Yield the turns of an episode in order.

    Args:
        episode: an episode of the agent, or a reviewed recording.
    """
    numbers: list[int | None] = list(range(1, len(episode.plan) + 1))
    by_hand = ""
    for index, record in enumerate(episode.records):
        carried_out = episode.carried_out(index)
        found, recovery = record.discrepancy, record.recovery
        number = numbers[found.step] if found.step < len(numbers) else None  # in the end only the goal is looked at
        if number is not None:
            found, recovery = _shifted(found, recovery, number - 1 - found.step)
        yield Turn(record, number, found, recovery, carried_out, by_hand)
        by_hand = next((each.by or "a person" for each in record.decided if each.answer == Answer.LOOK_AGAIN), "")
        # A reviewed recording continues as recorded, whatever the review has found.
        if record.recovery is not None and record.fate is Fate.ACCEPTED:
            numbers = record.recovery.in_place_of(numbers)


def distinct_errors(every: Iterable[Turn]) -> list[Turn]:
    """The turns at which something was wrong, each error once: a scene that is judged again is no further error."""
    found: list[Turn] = []
    known = frozenset[str]()
    for turn in every:
        wrong = frozenset(turn.discrepancy.deviating)
        again = turn.record.action is None and bool(found) and bool(wrong) and wrong <= known
        if turn.discrepancy.deviates and not again:
            found.append(turn)
        known = wrong if turn.discrepancy.deviates else frozenset()
    return found


def _shifted(found: Discrepancy, recovery: Recovery | None, by: int) -> tuple[Discrepancy, Recovery | None]:
    """Return discrepancy and recovery with shifted step numbers."""
    if by == 0:
        return found, recovery
    deviations = tuple(
        deviation if deviation.subgoal is None else replace(deviation, subgoal=deviation.subgoal + by)
        for deviation in found.deviations
    )
    if recovery is not None and recovery.subgoal is not None:
        recovery = replace(recovery, subgoal=max(recovery.subgoal + by, 0))
    if found.plan_problem is not None:
        found = replace(found, plan_problem=replace(found.plan_problem, step=found.plan_problem.step + by))
    return replace(found, step=found.step + by, deviations=deviations), recovery


def duration(seconds: float) -> str:
    """Return a time in words: `0.3 s`, `57 s`, `2 min 5 s`."""
    if seconds < 10:
        return f"{max(seconds, 0.0):.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def how_it_stopped(episode: Episode) -> str:
    """Return how a run ended that did not complete its plan: by itself for help, or by a person."""
    reason = episode.reason.rstrip(". ")
    if episode.why is StopCode.STOPPED:
        return f"The run was ended by a person or a program: {reason}."
    return f"The robot stopped and asked for help: {reason}."


def clock(seconds: float) -> str:
    """Return a time in the format of logs: `01:07`."""
    whole = max(int(seconds), 0)
    return f"{whole // 60:02d}:{whole % 60:02d}"

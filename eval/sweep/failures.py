"""Reason of a failed episode: the first that applies."""

from __future__ import annotations

from eval.sweep.records import CRASHED, EpisodeRecord, Failure
from nsrecover.core.episode import EpisodeStatus
from nsrecover.core.recovery import RecoveryStatus


def succeeded(record: EpisodeRecord) -> bool:
    """Whether an episode succeeded: it reached its goal, or asked for help if there is no recovery."""
    return record.completed if record.recoverable else record.decided_right


def failure_of(record: EpisodeRecord) -> Failure | None:
    """Return why an episode failed; None if it succeeded."""
    if succeeded(record):
        return None
    if record.status == CRASHED:
        return Failure.CRASHED
    if not record.recoverable:
        return Failure.WENT_ON
    if record.lost:
        return Failure.LOST
    if record.status == EpisodeStatus.ASKED_FOR_HELP:
        return _asked_in_vain(record)
    gone = set(record.deviations)
    if gone & set(record.unnoticed):
        return Failure.NOT_NOTICED
    answered = {recovery.after for recovery in record.recoveries}
    if any(
        action.noticed and gone & set(action.wrong) and k not in answered for k, action in enumerate(record.actions, 1)
    ):
        return Failure.LEFT
    if any(gone & set(recovery.astray) for recovery in record.recoveries):
        return Failure.WRONG_WAY
    # a consequence of another deviation
    return Failure.NOT_NOTICED if record.unnoticed else Failure.DRIFT


def _asked_in_vain(record: EpisodeRecord) -> Failure:
    """Return why it asked for help although a recovery exists."""
    last = record.recoveries[-1] if record.recoveries else None
    if last is None or last.found:
        return Failure.KEPT_FAILING
    if not last.wrong and not last.errors:
        return Failure.FALSE_ALARM
    if last.status == RecoveryStatus.BUDGET_EXHAUSTED:
        return Failure.OUT_OF_BUDGET
    return Failure.GIVEN_UP

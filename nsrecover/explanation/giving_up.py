"""When a session asks for help, as alarms are so many or so alike, and whether to give up a part of the goal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from nsrecover.core.discrepancy import UNDONE, Discrepancy
from nsrecover.core.episode import StepRecord, StopCode
from nsrecover.core.recovery import Recovery
from nsrecover.core.sessions.requests import Stopped
from nsrecover.domains.domain import Domain
from nsrecover.explanation.facts import violated_texts
from nsrecover.explanation.reasons import reason_text
from nsrecover.util.english import amount, counted, listed

SAME_ALARM = 3
"""At the same alarm with the same recovery for this time a session asks for help."""

IN_VAIN = 3
"""After this many actions in a row that changed nothing, whichever they were, a session asks for help."""


class Alarms:
    """The alarms of a session.

    Args:
        domain: has the words.
        most: recoveries after which the session asks for help.
    """

    def __init__(self, domain: Domain, most: int) -> None:
        self._domain, self._most = domain, most
        self._times = Counter[object]()

    def seen(self, found: Discrepancy[object], recovery: Recovery[object]) -> bool:
        """Return whether this alarm with this recovery was counted before."""
        return self._times[_alarm(found, recovery)] > 0

    def count(
        self, turn: StepRecord[Any], recovery: Recovery[object], earlier: Sequence[StepRecord[Any]]
    ) -> Stopped | None:
        """Count an alarm.

        Args:
            turn: the turn with the alarm.
            recovery: its recovery.
            earlier: the turns before it.

        Returns:
            Why to ask for help; None to go on.
        """
        found = turn.discrepancy
        vain = len(list(takewhile(_changed_nothing, (turn, *reversed(earlier)))))
        alarm = _alarm(found, recovery)
        self._times[alarm] += 1
        what = ", ".join(found.deviating or violated_texts(found, self._domain))
        total, times = self._times.total(), self._times[alarm]
        if total > self._most:
            tried = f"at most {amount(self._most, 'recovery')} may be tried"
            return Stopped(StopCode.TOO_MANY, f"something went wrong {amount(total, 'time')}, and {tried}: {what}")
        if not recovery.found:
            return Stopped(StopCode.NO_WAY_BACK, reason_text(recovery))
        if vain >= IN_VAIN:
            return Stopped(StopCode.REPEATED, f"{counted(vain, 'action')} in a row changed nothing: {what}")
        if times >= SAME_ALARM:
            return Stopped(StopCode.REPEATED, f"failed {counted(times, 'time')} with the same recovery: {what}")
        return None


def _alarm(found: Discrepancy[object], recovery: Recovery[object]) -> object:
    """What was wrong and what is done about it, without places, which vary a little."""
    deviations = frozenset((each.name, each.cause) for each in found.deviations)
    actions = tuple((action.operator, action.arguments) for action in recovery.actions)
    if not actions and found.action is not None:  # it is done again: which action it is says what is repeated
        actions = ((found.action.operator, found.action.arguments),)
    return deviations, found.unmet, recovery.status, actions


def _changed_nothing(turn: StepRecord[Any]) -> bool:
    causes = {each.cause for each in turn.discrepancy.deviations}
    return turn.action is not None and bool(causes) and causes <= UNDONE


def proposal(recovery: Recovery[object], domain: Domain) -> str:
    """Return the question whether to go on with the closest goal that can be reached."""
    assert recovery.closest is not None
    lost = listed(map(domain.text, recovery.closest.lost))
    return f"This part of the goal can no longer be achieved: {lost}. Do the rest of the task?"

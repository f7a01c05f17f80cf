"""When an agent stops trying and asks for help, and why."""

from __future__ import annotations

from collections import Counter

from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.recovery import Recovery
from nsrecover.domains.base import Domain
from nsrecover.explanation.facts import violated_texts
from nsrecover.explanation.reasons import reason_text

SAME_ALARM = 3
"""At the same alarm with the same way back for this time the agent asks for help."""


class Alarms:
    """The alarms of a run.

    Args:
        domain: has the words.
        most: recoveries after which the agent asks for help.
    """

    def __init__(self, domain: Domain, most: int) -> None:
        self._domain, self._most = domain, most
        self._times = Counter[object]()

    def seen(self, found: Discrepancy, recovery: Recovery) -> bool:
        """Return whether this alarm with this way back was counted before."""
        return self._times[_alarm(found, recovery)] > 0

    def why_stop(self, found: Discrepancy, recovery: Recovery) -> str:
        """Count an alarm, and return the reason to ask for help; empty to go on."""
        alarm = _alarm(found, recovery)
        self._times[alarm] += 1
        what = ", ".join(found.deviating or violated_texts(found, self._domain))
        if self._times.total() > self._most:
            return f"something went wrong {self._times.total()} times, the last time with {what}"
        if not recovery.found:
            return reason_text(recovery)
        times = self._times[alarm]
        return f"the same went wrong {times} times, and the same way back did not help: {what}" * (times >= SAME_ALARM)


def _alarm(found: Discrepancy, recovery: Recovery) -> object:
    """What was wrong and what is done about it, without places, which vary a little."""
    deviations = frozenset((each.name, each.cause) for each in found.deviations)
    actions = tuple((action.operator, action.arguments) for action in recovery.actions)
    return deviations, found.unmet, recovery.status, actions

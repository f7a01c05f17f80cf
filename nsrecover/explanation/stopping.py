"""When an agent stops trying and asks for help, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.episode import StepRecord
from nsrecover.core.protocols import TakesVetoes
from nsrecover.core.recovery import Recovery
from nsrecover.core.supervision import Supervisor
from nsrecover.domains.domain import Domain
from nsrecover.explanation.facts import violated_texts
from nsrecover.explanation.reasons import reason_text
from nsrecover.util.english import counted

SAME_ALARM = 3
"""At the same alarm with the same way back for this time the agent asks for help."""

MOST_VETOES = 5
"""After this many vetoes at one turn the agent asks for help."""


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


def agreed(
    record: StepRecord,
    trace: Any,
    system: Any,
    watch: Supervisor,
    budget_s: float | None,
    stopped: Callable[[], bool],
) -> tuple[StepRecord, str]:
    """Ask until a way back is accepted; after a veto another one is searched for.

    Args:
        record: a turn with a way back.
        trace: what the plan was expected to lead through.
        system: has the planner, which finds other ways if it takes vetoes, and the explainer.
        watch: whom to ask.
        budget_s: planning time of one search, seconds.
        stopped: whether the run is to end.

    Returns:
        The turn with the way that was asked for last, and why it may not be taken; empty if it may.
    """
    vetoed: list[Recovery] = []
    while not watch.accepts(record):
        if stopped():
            return record, "it was stopped while a way back waited for a person"
        assert record.recovery is not None
        vetoed.append(record.recovery)
        ways = "the way back" if len(vetoed) == 1 else f"{counted(len(vetoed), 'way')} back"
        if len(vetoed) == MOST_VETOES or not isinstance(system.planner, TakesVetoes):
            return record, f"a person vetoed {ways}"
        found: Any = record.discrepancy
        other = system.planner.instead(found.observed, trace, found, vetoed, budget_s)
        if other is None:
            return record, f"a person vetoed {ways}, and there is no other one"
        record = replace(record, recovery=other, explanation=system.explainer(found, other))
        watch.reconsiders(record)
    return record, ""


def _alarm(found: Discrepancy, recovery: Recovery) -> object:
    """What was wrong and what is done about it, without places, which vary a little."""
    deviations = frozenset((each.name, each.cause) for each in found.deviations)
    actions = tuple((action.operator, action.arguments) for action in recovery.actions)
    return deviations, found.unmet, recovery.status, actions

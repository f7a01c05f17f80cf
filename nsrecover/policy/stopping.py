"""When a session asks for help because alarms repeat: once trying again is hopeless, or was tried too often."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from nsrecover.belief.rates import FailureRates, Rate, dead
from nsrecover.core.discrepancy import UNDONE, Discrepancy, Phase
from nsrecover.core.episode import StepRecord, StopCode
from nsrecover.core.recovery import Recovery
from nsrecover.core.sessions.requests import Stopped
from nsrecover.core.sessions.settings import SessionSettings
from nsrecover.domains.domain import Domain
from nsrecover.explanation.facts import violated_texts
from nsrecover.explanation.reasons import reason_text
from nsrecover.util.english import amount, counted, listed

Turn = StepRecord[object]


def repeated(found: Discrepancy[object], recovery: Recovery[object], earlier: Sequence[Turn]) -> bool:
    """Whether an alarm with the same recovery was raised before."""
    alarm = _alarm(found, recovery)
    return any(_alarm_of(turn) == alarm for turn in earlier)


def why_stop(turn: Turn, earlier: Sequence[Turn], most: int, hopeless: float, domain: Domain) -> Stopped | None:
    """Why to ask for help after a turn with an alarm; None to go on.

    An action is tried again as long as its failures may be chance, given how often the robot's actions failed before.

    Args:
        turn: with its recovery.
        earlier: the turns before it, since a person helped last.
        most: recoveries after which the session asks for help.
        hopeless: probability that trying again cannot work, from which on the session asks for help.
        domain: has the words.
    """
    found, recovery = turn.discrepancy, turn.recovery
    assert recovery is not None
    turns = (*earlier, turn)
    what = ", ".join(found.deviating or violated_texts(found, domain))
    total = sum(each.recovery is not None for each in turns)
    if total > most:
        tried = f"at most {amount(most, 'recovery')} may be tried"
        return Stopped(StopCode.TOO_MANY, f"something went wrong {amount(total, 'time')}, and {tried}: {what}")
    if not recovery.found:
        return Stopped(StopCode.NO_WAY_BACK, reason_text(recovery))
    vain = len(list(takewhile(_changed_nothing, reversed(turns))))
    if dead(_rate(turns[: len(turns) - vain]), vain) > hopeless:
        return Stopped(StopCode.REPEATED, f"{counted(vain, 'action')} in a row changed nothing: {what}")
    alarm = _alarm_of(turn)
    others = [each for each in earlier if _alarm_of(each) != alarm]
    times = len(turns) - len(others)
    if dead(_rate(others, found.action.operator), times) > hopeless:
        return Stopped(StopCode.REPEATED, f"failed {counted(times, 'time')} with the same recovery: {what}")
    return None


def proposal(recovery: Recovery[object], domain: Domain) -> str:
    """Return the question whether to go on with the closest goal that can be reached."""
    assert recovery.closest is not None
    lost = listed(map(domain.text, recovery.closest.lost))
    return f"This part of the goal can no longer be achieved: {lost}. Do the rest of the task?"


def most_recoveries(settings: SessionSettings, num_actions: int) -> int:
    """Recoveries in one episode after which a session asks for help, for a plan of some actions."""
    return max(10, 2 * num_actions) if settings.max_recoveries is None else settings.max_recoveries


def _rate(turns: Sequence[Turn], operator: str | None = None) -> Rate:
    """The failure rate of an operator, or of all, as it was seen in some turns."""
    rates = FailureRates()
    for turn in turns:
        if turn.action is not None:
            failed = turn.discrepancy.phase is Phase.AFTER and bool(_own(turn))
            rates.count(turn.action.operator, failed, not failed)
    return rates.overall() if operator is None else rates.of(operator)


def _own(turn: Turn) -> set[str]:
    """Objects of the action of a turn that deviate."""
    assert turn.action is not None
    return set(turn.discrepancy.deviating) & set(turn.action.arguments)


def _alarm_of(turn: Turn) -> object:
    return None if turn.recovery is None else _alarm(turn.discrepancy, turn.recovery)


def _alarm(found: Discrepancy[object], recovery: Recovery[object]) -> object:
    """What was wrong and what is done about it, without places, which vary a little."""
    deviations = frozenset((each.name, each.cause) for each in found.deviations)
    actions = tuple((action.operator, action.arguments) for action in recovery.actions)
    if not actions:  # the action is done again: which one says what is repeated
        actions = ((found.action.operator, found.action.arguments),)
    return deviations, found.unmet, recovery.status, actions


def _changed_nothing(turn: Turn) -> bool:
    causes = {each.cause for each in turn.discrepancy.deviations}
    return turn.action is not None and bool(causes) and causes <= UNDONE

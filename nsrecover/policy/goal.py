"""The last gate before a plan counts as done: every part of its goal was seen to hold."""

from __future__ import annotations

from nsrecover.core.discrepancy import UnseenReason
from nsrecover.core.episode import StopCode
from nsrecover.core.sessions.requests import Done, Look, Stopped
from nsrecover.core.sessions.settings import SessionSettings
from nsrecover.domains.domain import Domain
from nsrecover.monitoring.monitor import AnyMonitor
from nsrecover.util.english import objects


def at_the_end(monitor: AnyMonitor, looks: int, settings: SessionSettings, domain: Domain) -> Done | Look | Stopped:
    """What to request once every action is done.

    Args:
        monitor: of the plan.
        looks: how often the goal was looked at since.
        settings: how often to look.
        domain: has the words.

    Returns:
        `Done` only if no part of the goal is unconfirmed or missed. A goal that is not seen is looked for first, unless
        the monitor says that it is about to pass.
    """
    unseen = monitor.unconfirmed
    most = settings.max_unusable if _hidden(monitor, unseen) else settings.certainty.looks
    if unseen and looks < most and not monitor.passing:
        return Look(tuple(dict.fromkeys((*monitor.belief.whereabouts(unseen), *unseen))))
    if unseen:
        text = f"every action is done, but {objects(unseen)} could not be seen in place afterwards"
        return Stopped(StopCode.GOAL_UNSEEN, text)
    if missed := monitor.missed:
        text = "; ".join(map(domain.text, missed))
        return Stopped(StopCode.GOAL_MISSED, f"every action is done, but the goal does not hold: {text}")
    return Done()


def _hidden(monitor: AnyMonitor, names: tuple[str, ...]) -> bool:
    """Whether the last look did not show some objects; those on which looks disagree were seen."""
    found = monitor.last_found
    missing = () if found is None else (*found.missing_to_tell, *found.unseen)
    disputed = UnseenReason.LOOKS_DISAGREE
    return any(getattr(each, "name", "") in names and getattr(each, "reason", None) is not disputed for each in missing)

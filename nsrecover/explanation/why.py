"""Why objects are not as expected: an action of the robot, a person whom the records name, or neither is recorded."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection

from nsrecover.core.discrepancy import AnyDeviation, Cause, Discrepancy, Phase
from nsrecover.core.explanation import Fact, Sentence
from nsrecover.domains.domain import Domain
from nsrecover.explanation.audience import participle
from nsrecover.explanation.facts import NOT_FOUND, facts_of
from nsrecover.explanation.templates import WORST_FIRST
from nsrecover.util.english import Forms, capital, objects, the
from nsrecover.util.python310 import StrEnum


class Agent(StrEnum):
    """Who brought something about, as far as the records say."""

    ROBOT = "robot"
    PERSON = "person"
    UNKNOWN = "unknown"


_OWN = (Cause.NOT_LIFTED, Cause.MISTAKEN)
"""Causes that only an action of the robot has; of boxes a drop, too. What did not change may have been changed back."""


def agent_of(deviation: AnyDeviation, by_hand: str) -> Agent:
    """Who brought a deviation about.

    Args:
        deviation: what is not as expected.
        by_hand: who has changed the scene by hand just before, as the records say; empty if they say nothing.
    """
    if deviation.cause in _OWN or (deviation.cause is Cause.DROPPED and math.isfinite(deviation.distance_m)):
        return Agent.ROBOT
    return Agent.PERSON if by_hand and deviation.cause in _OF_OTHERS else Agent.UNKNOWN


_OF_ROBOT = {
    Cause.TOPPLED: "{names} fell {when}; whether the robot touched [them] is not recorded",
    Cause.DROPPED: "the robot lifted {names}, and [they] fell",
    Cause.NOT_LIFTED: "the robot's action should have lifted {names}, and did not",
    Cause.NOT_DONE: "the robot's action should have changed {names}, and did not",
    Cause.MISPLACED: "{names} [is] not where the robot's action should have put [them]; whether the robot or a person "
    "did that is not recorded",
    Cause.MISTAKEN: "the robot's action changed {names} instead of {other}",
}
"""Cause -> what the robot had to do with it."""

_OF_OTHERS = {
    Cause.MISSING: "no action should have taken {names} away",
    Cause.REPLACED: "no action should have put {other} in the place of {names}",
    Cause.SWAPPED: "no action should have swapped {names}",
    Cause.MOVED: "no action should have moved {names}",
    Cause.TURNED: "no action should have turned {names}",
    Cause.LEANING: "no action should have tilted {names}",
    Cause.LYING: "no action should have laid {names} on another side",
    Cause.CHANGED: "no action should have changed {names}",
    Cause.BLOCKING: "no action should have put {names} in the way of {other}",
    Cause.HELPED: "{names} [is] already as a later step leaves [them]",
}
"""Cause -> what no action was to bring about."""

_LOOKED_FOR = "the robot looked for {names} where [they] [was] only assumed to be"
_UNKNOWN = "who or what did it is not recorded"


def why(
    found: Discrepancy[object], by_hand: str, domain: Domain, names: Collection[str] | None = None
) -> tuple[Sentence, ...]:
    """Return why objects are not as expected, the worst cause first.

    Args:
        found: the comparison.
        by_hand: who has changed the scene by hand just before, as the records say; empty if they say nothing.
        domain: of the scene.
        names: only of these objects; None for all that deviate.
    """
    groups: dict[tuple[Cause, str, bool], list[AnyDeviation]] = defaultdict(list)
    missed = {fact.arguments[0] for fact in facts_of(found, None, domain) if NOT_FOUND in fact.arguments[2:]}
    for each in sorted(found.deviations, key=lambda each: WORST_FIRST.index(each.cause)):
        if names is None or each.name in names:
            other = "" if each.cause in (Cause.HELPED, Cause.SWAPPED) else each.other or ""
            groups[each.cause, other, each.name in missed].append(each)
    doing = participle(found.action, domain)
    when = f"while the robot was {doing}" if found.phase is Phase.AFTER else "after the last action"
    return tuple(
        _sentence(cause, group, other, looked_for, when, by_hand)
        for (cause, other, looked_for), group in groups.items()
    )


def _sentence(
    cause: Cause, group: list[AnyDeviation], other: str, looked_for: bool, when: str, by_hand: str
) -> Sentence:
    names = [each.name for each in group]
    partners = [each.other for each in group if each.other and each.other not in names]
    named = [*names, *partners] if cause is Cause.SWAPPED else names
    template = _LOOKED_FOR if looked_for else _OF_ROBOT.get(cause) or _OF_OTHERS[cause]
    if cause in _OF_OTHERS:
        template += f"; {by_hand} had changed the scene by hand just before" if by_hand else f"; {_UNKNOWN}"
    text = Forms.of(named).agree(template).format(names=objects(named), other=the(other or "something"), when=when)
    return Sentence(
        f"{capital(text)}.", (Fact("why", (cause.value, *names)), *[Fact("by_hand", (by_hand,))] * bool(by_hand))
    )

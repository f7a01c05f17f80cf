"""Reader of explanations of household episodes: when something happened, to what, and what it was.

It knows the words only, not the facts behind a text. A text that it cannot read counts as wrong.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_WHEN = (
    re.compile(
        r"(?P<when>Before|After) step \d+, (?P<action>\w+\([^)]*\)), "
        r"(something was not as expected|the scene is already ahead)"
    ),
    re.compile(r"(?P<when>Step) \d+, (?P<action>\w+\([^)]*\)), cannot be done as things are"),
)
_EVENTS = {
    "missing": re.compile(r"The (?P<who>.+) is nowhere to be seen any more: "),
    "dropped": re.compile(r"The robot lost the (?P<who>.+?): "),
    "not_done": re.compile(r"The step did not change the (?P<who>.+?): "),
    "misplaced": re.compile(r"The (?P<who>.+) was put in the wrong place: "),
    "mistaken": re.compile(r"The robot took the (?P<who>.+?) for the "),
    "helped": re.compile(r"The (?P<who>.+) already is as a later step makes it: "),
    "blocking": re.compile(r"The (?P<who>.+?) is in the way of the .+?: "),
    "moved": re.compile(r"The (?P<who>.+) was moved, though no step was to move it: "),
    "changed": re.compile(r"The (?P<who>.+) has changed, though no step was to change it: "),
}
BEFORE = ""
"""Action of what is seen before an action: it has happened since the action before, or was so from the start."""


@dataclass(frozen=True)
class ParsedText:
    """What a text says.

    Attributes:
        action: after which something happened; `BEFORE` if it was seen before an action.
        kinds: object -> what happened to it.
    """

    action: str = BEFORE
    kinds: Mapping[str, str] = field(default_factory=dict)


def read(text: str) -> ParsedText | None:
    """Read the text of an explanation; None if it does not say that something was not as expected."""
    head, *rest = re.split(r"\. (?=[A-Z])", text)
    found = next((match for form in _WHEN if (match := form.match(head))), None)
    if found is None:
        return None
    kinds = {event["who"]: kind for line in rest for kind, form in _EVENTS.items() if (event := form.match(line))}
    return ParsedText(found["action"] if found["when"] == "After" else BEFORE, kinds)


def judged(text: str, events: Mapping[str, tuple[str, str]], last: str = BEFORE) -> tuple[bool, bool, bool]:
    """Whether a text names the right objects, the right time, and the right kinds of events.

    `helped` and `blocking` say what a move or change is good or bad for, and count as such.

    Args:
        text: of the explanation.
        events: object -> the action after which it deviated first (none: from the start), and the kind of its deviation
            by the true facts.
        last: the action that was carried out last.
    """
    parsed = read(text)
    if parsed is None:
        return False, False, False
    kinds = {
        name: ("moved", "changed") if kind in ("helped", "blocking") else (kind,) for name, kind in parsed.kinds.items()
    }
    return (
        set(parsed.kinds) == set(events),
        bool({parsed.action or last, parsed.action} & {action for action, _ in events.values()}),
        all(name in kinds and kind in kinds[name] for name, (_, kind) in events.items()),
    )

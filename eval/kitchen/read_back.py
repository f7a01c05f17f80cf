"""Reader of explanations of household episodes: when something happened, to what, and what it was.

It knows the words only, not the facts behind a text. A text that it cannot read counts as wrong.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_STEP = r"(?:S|s)tep \d+, (?P<action>\w+\([^)]*\)),"
_BEFORE = re.compile(
    rf"(?:Before )?{_STEP} (?:something was not as expected|the scene is already ahead|cannot be done)"
)
_AFTER = re.compile(
    rf"{_STEP} (?:went wrong|worked, but)|After {_STEP.replace('action', 'ahead')} the scene is already"
)
_EVENTS = {
    kind: re.compile(rf"(?:.* (?:wrong:|but|expected:) )?[Tt]he (?P<who>.+?) {words}")
    for kind, words in {
        "missing": "(?:is|are) missing",
        "dropped": "(?:was|were) dropped",
        "not_done": "(?:was|were) not changed by the step",
        "misplaced": "(?:was|were) (?:put in the wrong place|not found)",
        "mistaken": "(?:was|were) mistaken for the ",
        "helped": "(?:is|are) already as (?:it|they) should be",
        "blocking": "(?:is|are) in the way",
        "moved": "(?:has|have) moved, although no action should have",
        "changed": "(?:has|have) changed, although no action should have",
    }.items()
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
    before, after = _BEFORE.match(head), _AFTER.match(head)
    if before is None and after is None:
        return None
    kinds = {
        event["who"]: kind for line in (head, *rest) for kind, form in _EVENTS.items() if (event := form.match(line))
    }
    return ParsedText(BEFORE if after is None else after["action"] or after["ahead"], kinds)


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

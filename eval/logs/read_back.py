"""Kind of failure, time and objects of an explanation, from its words alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

KIND_OF: Mapping[str, str] = {
    "dropped": "dropped", "missed_grasp": "failed_execution", "action_failed": "failed_execution",
    "misplaced": "wrong_place", "wrong_place": "wrong_place", "missing_step": "missing_step",
    "never_opened": "missing_step", "wrong_order": "wrong_order", "wrong_action": "wrong_object",
    "wrong_object": "wrong_object", "mistaken_object": "wrong_object", "ambiguous_name": "wrong_object",
    "occupied": "obstructed", "blocked": "obstructed", "unsuitable": "unsuitable", "already_filled": "unsuitable",
    "already_running": "start_differs", "none": "none",
}  # fmt: skip
"""Root cause -> kind of failure as the generator of logs injects it."""

_SAID: tuple[tuple[str, str], ...] = (
    ("none", r"the task succeeded"),
    ("dropped", r"the robot dropped"),
    ("failed_execution", r"came up empty|it had no effect"),
    ("wrong_place", r"in the wrong place|uses the wrong place"),
    ("missing_step", r"the plan lacks a step|because the plan never opens it"),
    ("wrong_order", r"in the wrong order"),
    ("wrong_object", r"uses the wrong object|mistook|does the wrong thing|does not say which one is meant"),
    ("obstructed", r"took up the room|was in the way of"),
    ("unsuitable", r"is not suitable|was already filled with"),
    ("start_differs", r"was already turned on"),
)


@dataclass(frozen=True)
class Reading:
    """What a text says.

    Attributes:
        kind: kind of failure; empty if the text says none, or several.
        times: the times that it names, in order.
        text: the part that says what went wrong, in lower case.
    """

    kind: str
    times: tuple[str, ...]
    text: str

    def names(self, groups: Sequence[Sequence[str]]) -> bool:
        """Whether the text names an object of every group."""
        return all(any(re.search(rf"\b{re.escape(name)}\b", self.text) for name in group) for group in groups)


def read_back(text: str) -> Reading:
    """Read an explanation.

    Args:
        text: for a lay person.
    """
    cause = text.partition("To finish the task:")[0].lower()
    kinds = [kind for kind, said in _SAID if re.search(said, cause)]
    return Reading(kinds[0] if len(kinds) == 1 else "", tuple(re.findall(r"\b\d+:\d{2}\b", cause)), cause)

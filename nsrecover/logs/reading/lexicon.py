"""What robots and people call states, relations and actions, in one way each."""

from __future__ import annotations

import re
from functools import lru_cache

from nsrecover.language.goals import OPPOSITE_STATE, STATES

_STATE_OF = {word: state for state, words in STATES.items() for word in words.split(", ")}
_STATE_OF |= {f"not {word}": OPPOSITE_STATE[state] for word, state in _STATE_OF.items() if state in OPPOSITE_STATE}
_STATE_OF |= dict.fromkeys(("contains nothing", "containing nothing", "holding nothing", "not filled"), "empty")
_FILLED = re.compile(
    r"(?:filled|full|contains|containing|contain|holding|holds|filled up)(?: with| of)?(?: some)? (.+)"
)
_BEFORE_NAMES = {
    word: state
    for word, state in _STATE_OF.items()
    if " " not in word and word not in ("on", "off", "whole", "cut", "active", "working", "lit", "intact", "idle")
}
_INSIDE = "inside of, inside, in, within, into"
_ON_TOP = "on top of, on, upon, onto, atop"
_OTHERS = (
    "on the left of, on the right of, in front of, above, below, occluding, near, next to, behind, under, occluded by, "
    "blocking, blocked by, beside"
)
RELATIONS = dict.fromkeys(_INSIDE.split(", "), "inside") | dict.fromkeys(_ON_TOP.split(", "), "on top of")
RELATIONS |= {said: said for said in _OTHERS.split(", ")}
"""Preposition -> the relation that it stands for."""

_VERB = r"(?:is|are|lies|sits|stands|rests|stays|remains|was|is located|is placed|is lying|is standing|is sitting)"
RELATED = re.compile(rf"^(.+?) {_VERB} ({'|'.join(sorted(RELATIONS, key=len, reverse=True))}) (.+)$")
"""A sentence about a relation: subject, preposition, object."""

_HAND = r"(?:the )?(?:robot(?:'s)? )?(?:gripper|hand|end effector)"
HAND = re.compile(rf"^{_HAND}$", re.IGNORECASE)
"""A name of the gripper."""
HOLDS = re.compile(rf"^{_HAND} (?:holds|is holding|contains|carries|has) (.+)$", re.IGNORECASE)
"""A sentence that says what the gripper holds."""
EMPTY_HAND = re.compile(rf"^{_HAND} is (?:empty|free)$", re.IGNORECASE)
"""A sentence that says that the gripper holds nothing."""

_ACTIONS = (
    ("move_to", r"(?:move|go|navigate|drive|walk|travel|head|come|approach|move over)(?: to| towards)? (.+)"),
    ("toggle_on", r"(?:toggle|turn|switch|power) on (.+)|(?:activate|start) (.+)|(?:toggle|turn|switch) (.+) on"),
    ("toggle_off", r"(?:toggle|turn|switch|power) off (.+)|(?:deactivate|stop) (.+)|(?:toggle|turn|switch) (.+) off"),
    ("pick_up", r"(?:pick up|take hold of|take|grasp|grab|lift up|lift|fetch|get|collect|pick) (.+)"),
    ("open_obj", r"(?:pull open|open up|open) (.+)|pull (.+) open"),
    ("close_obj", r"(?:close|shut) (.+)|push (.+) (?:shut|closed)"),
    ("pour", r"(?:pour|empty|tip|drain)(?: out)?(?: liquid from| the contents of)? (.+?)(?: out)? "
             r"(?:into|in|onto|over|on|to) (.+)"),
    ("put_in", r"(?:put|place|insert|deposit|set|lay|drop|store|stow)(?: down)? (.+?)(?: down)? "
               r"(?:into|inside|in) (.+)"),
    ("put_on", r"(?:put|place|deposit|set|lay|drop|stand)(?: down)? (.+?)(?: down)? (?:on top of|onto|upon|on) (.+)"),
    ("slice_obj", r"(?:slice|cut up|cut|chop|carve) (.+?)(?: (?:into|in) (?:slices|pieces)| up)?"),
    ("crack_obj", r"(?:crack|break)(?: open)? (.+?)(?: open)?"),
    ("set_aside", r"set (.+) aside"),
    ("put_back", r"bring (.+) back"),
)  # fmt: skip
_PATTERNS = tuple((operator, re.compile(pattern, re.IGNORECASE)) for operator, pattern in _ACTIONS)


@lru_cache(maxsize=4096)
def state_of(word: str) -> str:
    """A state as logs usually write it: `switched on` -> `turned on`; unknown states as they are."""
    plain = " ".join(word.lower().split())
    if plain in _STATE_OF:
        return _STATE_OF[plain]
    found = _FILLED.fullmatch(plain)
    if found:
        return "empty" if found[1] == "nothing" else f"filled with {found[1]}"
    return word


@lru_cache(maxsize=4096)
def states_in(name: str) -> tuple[str, ...]:
    """States that a name carries: `the dirty pan` -> `dirty`."""
    found = []
    for word in name.lower().removeprefix("the ").split()[:-1]:
        if word not in _BEFORE_NAMES:
            break
        found.append(_BEFORE_NAMES[word])
    return tuple(found)


def action_in(text: str) -> tuple[str, tuple[str, ...]] | None:
    """Operator and names of an action in words; None if its verb is unknown."""
    for operator, pattern in _PATTERNS:
        found = pattern.fullmatch(text.strip())
        if found:
            return operator, tuple(group for group in found.groups() if group)
    return None

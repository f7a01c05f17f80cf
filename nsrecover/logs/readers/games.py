"""Transcripts of text games (ALFWorld, TextWorld): commands after `>`, and what the game answers.

Your task is to: put a clean mug in coffeemachine.
> take mug 1 from desk 1
You pick up the mug 1 from the desk 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from nsrecover.core.actions import Action
from nsrecover.logs.readers.common import action_of, ended, name_of
from nsrecover.logs.trace import FactClaim, RawTrace, StepResult, TraceEvent, clock

NAME, NEEDS = "text games (ALFWorld, TextWorld)", "commands after `>`, each followed by the game's answer"
_COMMAND = r"^\s*(?:>|Act(?:ion)? ?\d*:)"
_REFUSED = re.compile(
    r"(?i)nothing happens|you can't|you cannot|can't see|that's not|not a verb|you need to|is closed\b.*first|"
    r"you aren't|you have to"
)
_STATES = re.compile(r"(?i)the ([\w -]+?) is (open|closed|clean|dirty|hot|cool|cold|on|off|turned on|turned off)\b")
_LISTED = re.compile(r"(?i)(on|in) (?:the )?([\w -]+?),? (?:you see|there is|there are|is|are) (.+?)(?:\.|$)")
_TOOK = re.compile(r"(?i)you (?:pick up|take|get) (?:the )?([\w -]+?)(?: from .*)?\.")
_PUT = re.compile(
    r"(?i)you (?:put|move|insert|drop|place) (?:the )?([\w -]+?) (?:in/on|into|in|on|onto|to) (?:the )?([\w -]+)"
)
_DID = re.compile(r"(?i)you (open|close|turn on|turn off|clean|heat|cool) (?:the )?([\w -]+?)(?: (?:using|with) .*)?\.")
_MADE = {"close": "closed", "turn on": "turned_on", "turn off": "turned_off", "heat": "hot", "cool": "cold"}
_LOOKS = {"look", "inventory", "examine", "help", "think", "i"}
_WON = re.compile(r"(?i)you won|task (?:is )?(?:completed|succeeded)|\*\*\* The End|SUCCESS\b")
_LOST = re.compile(r"(?i)you lost|task failed|FAILED\b")


def fits(text: str) -> bool:
    """Whether there are commands with answers."""
    return len(re.findall(_COMMAND, text, re.MULTILINE)) >= 2


def read(text: str, where: str) -> RawTrace:
    """A trace from such a transcript."""
    goal = re.search(r"(?i)(?:your task is to|goal|task)\s*:\s*(.+)", text)
    parts = re.split(_COMMAND + r"\s*", text, flags=re.MULTILINE)
    events, plan = [TraceEvent("00:00", claims=tuple(_claims(parts[0])), text=parts[0].strip())], list[Action]()
    for number, part in enumerate(parts[1:], start=1):
        command, _, answer = part.partition("\n")
        action, refused = action_of(command.strip().replace("in/on", "in")), bool(_REFUSED.search(answer))
        claims = [] if refused else list(_claims(answer))
        if action.operator.split("_")[0] in _LOOKS:
            events.append(TraceEvent(clock(number), claims=tuple(claims), text=command))
            continue
        plan.append(action)
        result = StepResult.FAILED if refused else StepResult.SUCCEEDED
        events.append(ended(action, result, clock(number), answer.strip(), claims))
    result = (
        StepResult.SUCCEEDED if _WON.search(text) else StepResult.FAILED if _LOST.search(text) else StepResult.UNKNOWN
    )
    wish = goal[1].strip() if goal else ""
    return RawTrace(wish, tuple(plan), tuple(events), _goal(wish), result=result)


def _goal(wish: str) -> str:
    """A command as the condition that it asks for: `put a clean mug in coffeemachine`."""
    state = {"heat": "hot", "cool": "cold", "clean": "clean"}.get(wish.partition(" ")[0], "")
    wish = re.sub(
        r"^(?:heat|cool|clean|find|examine) (?:some |a |an |the |two )?(\w+) and (?:then )?put (?:it|them)",
        rf"put a {state} \1".replace("  ", " "), wish,
    )  # fmt: skip
    wish = re.sub(r"^(?:put|place) (?:some |two )?", "", wish.strip().rstrip("."))
    return re.sub(r"^(?:heat|cool|clean) (?:some |a |an |the )?(\w+)$", rf"\1 is {state}", wish)


def _claims(answer: str) -> Iterator[FactClaim]:
    """What the game says about places, doors and the hand."""
    place = ""
    for thing, state in _STATES.findall(answer):
        place = thing
        yield FactClaim(((state.replace(" ", "_").lower(), name_of(thing)),))
    for how, where, things in _LISTED.findall(answer):
        where = place if where.lower() == "it" else where
        for thing in re.split(r",\s*(?:and\s+)?|\s+and\s+", things):
            thing = re.sub(r"^(?:an?|some|the|and) ", "", thing.strip())
            if thing and where and thing != "nothing" and len(thing.split()) < 4:
                yield FactClaim(((how.lower(), name_of(thing), name_of(where)),))
    if held := _TOOK.search(answer):
        yield FactClaim((("holding", name_of(held[1])),))
    if put := _PUT.search(answer):
        yield from (FactClaim((("in", name_of(put[1]), name_of(put[2])),)), FactClaim((("holding", "*"),), False))
    if done := _DID.search(answer):
        yield FactClaim(((_MADE.get(done[1].lower(), done[1].lower()), name_of(done[2])),))

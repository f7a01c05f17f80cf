"""Transcripts of text games (ALFWorld, TextWorld): commands after `>`, and what the game answers.

Your task is to: put a clean mug in coffeemachine.
> take mug 1 from desk 1
You pick up the mug 1 from the desk 1.
"""

from __future__ import annotations

import re

from nsrecover.core.actions import Action
from nsrecover.logs.readers.common import action_of, name_of
from nsrecover.logs.trace import EventPhase, FactClaim, RawTrace, StepResult, TraceEvent, clock

NAME, NEEDS = "text games (ALFWorld, TextWorld)", "commands after `>`, each followed by the game's answer"
_REFUSED = re.compile(
    r"nothing happens|you can't|you cannot|can't see|that's not|not a verb|you need to|is closed\b.*first|"
    r"you aren't|you have to",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"the ([\w -]+?) is (open|closed|clean|dirty|hot|cool|cold|on|off|turned on|turned off)\b", re.IGNORECASE
)
_LISTED = re.compile(
    r"(on|in) (?:the )?([\w -]+?),? (?:you see|there is|there are|is|are) (.+?)(?:\.|$)", re.IGNORECASE
)
_LOOKS = {"look", "inventory", "examine", "help", "think", "i"}


def fits(text: str) -> bool:
    """Whether there are commands with answers."""
    return len(re.findall(r"^\s*(?:>|Act(?:ion)? ?\d*:)", text, re.MULTILINE)) >= 2


def read(text: str, where: str) -> RawTrace:
    """A trace from such a transcript."""
    goal = re.search(r"(?:your task is to|goal|task)\s*:\s*(.+)", text, re.IGNORECASE)
    parts = re.split(r"^\s*(?:>|Act(?:ion)? ?\d*:)\s*", text, flags=re.MULTILINE)
    events, plan = [TraceEvent("00:00", claims=tuple(_claims(parts[0])), text=parts[0].strip())], list[Action]()
    for number, part in enumerate(parts[1:], start=1):
        command, _, answer = part.partition("\n")
        action, refused = _command(command.strip()), bool(_REFUSED.search(answer))
        claims = [] if refused else list(_claims(answer))
        looking = action.operator.split("_")[0] in _LOOKS or command.startswith("think")
        if looking:
            events.append(TraceEvent(clock(number), claims=tuple(claims), text=command))
            continue
        plan.append(action)
        result = StepResult.FAILED if refused else StepResult.SUCCEEDED
        seen = frozenset(fact[1] for claim in claims for fact in claim.facts if fact[-1] != "*")
        events.append(
            TraceEvent(
                clock(number), action, EventPhase.ENDED, result, answer.strip(), tuple(claims), seen, text=command
            )
        )
    won = re.search(r"you won|task (?:is )?(?:completed|succeeded)|\*\*\* The End|SUCCESS\b", text, re.IGNORECASE)
    lost = re.search(r"you lost|task failed|FAILED\b", text, re.IGNORECASE)
    result = StepResult.SUCCEEDED if won else StepResult.FAILED if lost else StepResult.UNKNOWN
    wish = goal[1].strip() if goal else ""
    return RawTrace(wish, tuple(plan), tuple(events), _goal(wish), result=result)


def _goal(wish: str) -> str:
    """A command as the condition that it asks for: `put a clean mug in coffeemachine`."""
    wish = re.sub(
        r"^(?:heat|cool|clean|find|examine) (?:some |a |an |the |two )?(\w+) and (?:then )?put (?:it|them)",
        _heated,
        wish,
    )
    wish = re.sub(r"^(?:put|place) (?:some |two )?", "", wish.strip().rstrip("."))
    return re.sub(r"^(?:heat|cool|clean) (?:some |a |an |the )?(\w+)$", r"\1 is clean", wish)


def _heated(found: re.Match[str]) -> str:
    state = {"heat": "hot", "cool": "cold", "clean": "clean"}.get(found[0].split()[0], "")
    return f"put a {state} {found[1]}".replace("  ", " ")


def _command(text: str) -> Action:
    """A command as an action; tools that heat, cool or clean come last."""
    return action_of(text.replace("in/on", "in"))


def _claims(answer: str) -> list[FactClaim]:
    """What the game says about places, doors and the hand."""
    found = list[FactClaim]()
    for thing, state in _STATES.findall(answer):
        found.append(FactClaim(((state.replace(" ", "_").lower(), name_of(thing)),)))
    for how, place, things in _LISTED.findall(answer):
        for thing in re.split(r",\s*(?:and\s+)?|\s+and\s+", things):
            thing = re.sub(r"^(?:an?|some|the|and) ", "", thing.strip())
            if thing and thing != "nothing" and len(thing.split()) < 4:
                found.append(FactClaim(((how.lower(), name_of(thing), name_of(place)),)))
    if held := re.search(r"you (?:pick up|take|get) (?:the )?([\w -]+?)(?: from .*)?\.", answer, re.IGNORECASE):
        found.append(FactClaim((("holding", name_of(held[1])),)))
    if put := re.search(
        r"you (?:put|move|insert|drop|place) (?:the )?([\w -]+?) (in/on|into|in|on|onto|to) (?:the )?([\w -]+)",
        answer,
        re.IGNORECASE,
    ):
        found += [FactClaim((("in", name_of(put[1]), name_of(put[3])),)), FactClaim((("holding", "*"),), False)]
    if turned := re.search(
        r"you (open|close|turn on|turn off|clean|heat|cool) (?:the )?([\w -]+?)(?: (?:using|with) .*)?\.",
        answer,
        re.IGNORECASE,
    ):
        state = {"open": "open", "close": "closed", "turn on": "turned_on", "turn off": "turned_off", "clean": "clean",
                 "heat": "hot", "cool": "cold"}[turned[1].lower()]  # fmt: skip
        found.append(FactClaim(((state, name_of(turned[2])),)))
    return found

"""What readers share: actions, results and facts in the ways that programs write them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.logs.trace import EventPhase, FactClaim, StepResult, TraceEvent, clock
from nsrecover.logs.understanding import is_verb, operator_of
from nsrecover.util.printable import printable
from nsrecover.util.untrusted_json import Parsed

_APART = re.compile(
    r"\s+(?:in/on|into|inside|onto|on top of|on|in|at|from|to|with|using|near|over|under)\s+", re.IGNORECASE
)
_CALL = re.compile(r"([A-Za-z][\w-]*)\s*\(([^()]*)\)")


def words(text: str) -> list[str]:
    """Its words."""
    return text.split()


_SUCCEEDED = words("success succeeded succeed ok done completed true passed finished 1 4")
_FAILED = words(
    "failure failed fail error aborted abort false canceled cancelled timeout preempted rejected invalid no 0 5 6"
)
ACTION = words("action skill step name node behavior behaviour operator action_name type task")
ARGUMENTS = words("args arguments parameters params objects object target oid obj")
_PLACES, _HANDS = words("location at in on place position inside parent"), ("gripper", "hand", "robot", "robot gripper")
_CHECK = re.compile(r"^(?:is |check(?: if)? )?(?:the )?(?:gripper|hand|robot) (?:holds|has|is holding) (.+)$", re.I)
"""A leaf of a tree, or a step, that only looks: whether the gripper holds something."""


def name_of(text: str) -> str:
    """A name as logs write it: `red_cube`, `mug 1`, `Mug|+01.2|…` -> `red cube`, `mug-1`, `Mug`."""
    plain = printable(text).strip().strip("'\"").split("|")[0]
    plain = re.sub(r"\b(?:the|a|an|my) ", "", plain.replace("_", " ").strip(), flags=re.IGNORECASE)
    return re.sub(r"^(.*[A-Za-z]) (\d+)$", r"\1-\2", plain)


def spaced_words(text: str) -> str:
    """`PickRedCube`, `pick_red_cube` -> words."""
    if " " not in text and "_" not in text:
        text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    return text.replace("_", " ")


def action_of(given: Parsed, arguments: Sequence[Parsed] = ()) -> Action:
    """An action: `pick(cube)`, `(pick cube)`, `pick cube from table`, `PickCube`, a list, or a name with arguments."""
    if isinstance(given, Mapping):
        return action_of(first_of(given, ACTION) or "", values_of(first_of(given, ARGUMENTS)))
    if isinstance(given, list | tuple):
        return action_of(str(given[0]), given[1:])
    text, names = printable(str(given)).strip().rstrip("."), tuple(name_of(str(each)) for each in arguments)
    if names:
        return Action(_plain(text), names)
    if found := _CALL.fullmatch(text):
        return Action(_plain(found[1]), tuple(name_of(part) for part in found[2].split(",") if part.strip()))
    if text.startswith("("):
        name, *rest = text.strip("()").split() or [""]
        return Action(_plain(name), tuple(map(name_of, rest)))
    # A particle may come last (`turn the lamp on`), and a liquid before its vessel.
    said = re.sub(r"^(\w+) (.+) (on|off|open|shut|closed|back|aside|down)$", r"\1 \3 \2", spaced_words(text))
    said = re.sub(r"(?i) (?:liquid from|the contents of) ", " ", said.replace("in/on", "in"))
    spoken = said.split()
    for count in range(max(1, min(3, len(spoken) - 1)), 0, -1):
        verb = "_".join(spoken[:count]).lower()
        if is_verb(verb) or count == 1:
            parts = [part for part in _APART.split(" " + " ".join(spoken[count:])) if part.strip()]
            how = re.search(r" (into|inside|in|on|onto|on top of) ", " ".join(spoken[count:]))
            if how and operator_of(verb) == "put_on":
                verb = "put_on" if how[1].startswith("on") else "put_in"
            return Action(_plain(verb), tuple(map(name_of, parts)))
    return Action(_plain(text), ())


def checked(text: str, result: StepResult) -> FactClaim | None:
    """What a step that only looks claims by its result: `GripperHoldsCube`; None if it is no such step."""
    found = _CHECK.match(spaced_words(text))
    return None if found is None else FactClaim((("holding", name_of(found[1])),), result is StepResult.SUCCEEDED)


def first_of(given: Mapping[str, Parsed], keys: Sequence[str]) -> Parsed:
    """The value of the first of some keys that has one."""
    return next((given[key] for key in keys if given.get(key) is not None), None)


def values_of(given: Parsed) -> tuple[Parsed, ...]:
    """The values of a list, of an object, or a single one."""
    if isinstance(given, Mapping):
        return tuple(given.values())
    return tuple(given) if isinstance(given, list | tuple) else (given,) if given else ()


def _plain(name: str) -> str:
    return re.sub(r"[^\w-]+", "_", name.strip()).strip("_") or "act"


def result_of(given: Parsed) -> StepResult:
    """A result of a step: a word, a truth value, or the number of a status."""
    word = str(given).strip().lower().rpartition(".")[2].removeprefix("status_")
    return StepResult.SUCCEEDED if word in _SUCCEEDED else StepResult.FAILED if word in _FAILED else StepResult.UNKNOWN


def fact_of(text: str) -> tuple[StateFact, bool] | None:
    """A fact: `in(ball, crate)`, `not in(ball, crate)`, `in(ball, crate)=false`, `(on a b)`; None for other text."""
    text = printable(text).strip()
    if found := re.fullmatch(r"(.+\))\s*[=:]\s*(\w+)", text):
        inner = fact_of(found[1])
        return None if inner is None else (inner[0], inner[1] == (result_of(found[2]) is not StepResult.FAILED))
    if found := re.fullmatch(r"(?:not |!|¬)\s*(.+)", text) or re.fullmatch(r"\(not\s+(.+)\)", text):
        inner = fact_of(found[1])
        return None if inner is None else (inner[0], not inner[1])
    if found := _CALL.fullmatch(text):
        return (found[1], *(name_of(part) for part in found[2].split(",") if part.strip())), True
    if found := re.fullmatch(r"\(([\w-]+)((?:\s+[\w.-]+)*)\)", text):
        return (found[1], *map(name_of, found[2].split())), True
    return None


def goal_of(given: Parsed) -> tuple[StateFact, ...] | str:
    """A goal: facts if all of it are facts, else a text."""
    parts = given if isinstance(given, list) else str(given or "").replace(" and ", ";").replace("&", ";").split(";")
    facts = [(tuple(map(str, each)), True) if isinstance(each, list) else fact_of(str(each)) for each in parts if each]
    if facts and all(fact is not None for fact in facts):
        return tuple(fact[0] if fact[1] else ("not", *fact[0]) for fact in facts if fact is not None)
    return " and ".join(map(str, given)) if isinstance(given, list) else str(given or "")


def claims_of(given: Parsed) -> Iterator[FactClaim]:
    """Claims in the ways that programs write states: facts in brackets, with their truth, or properties of objects."""
    if isinstance(given, str):
        found = fact_of(given)
        if found is not None:
            yield FactClaim((found[0],), found[1])
        elif ";" in given:
            yield from claims_of(given.split(";"))
    elif isinstance(given, Mapping):
        for key, value in given.items():
            yield from _said(str(key), value)
    elif isinstance(given, list | tuple):
        for each in given:
            listed = isinstance(each, list | tuple) and len(each) > 1 and all(isinstance(term, str) for term in each)
            yield from [FactClaim(((each[0], *map(name_of, each[1:])),))] if listed else claims_of(each)


def _said(key: str, value: Parsed) -> Iterator[FactClaim]:
    """What an entry of a state says: a fact with its truth, an object with properties, a predicate with objects."""
    found = fact_of(key)
    if found is not None and isinstance(value, bool | int | float):
        yield FactClaim((found[0],), found[1] == (float(value) >= 0.5), max(float(value), 1.0 - float(value)))
    elif isinstance(value, Mapping):
        yield from (claim for what, how in value.items() for claim in _property(key, str(what), how))
    elif key in ("holding", "gripper", "held", "in_gripper", "in_hand"):
        empty = value in (None, "", "none", "None", "empty", False)
        yield FactClaim((("holding", "*"),), False) if empty else FactClaim((("holding", name_of(str(value))),))
    elif isinstance(value, list):
        yield from (FactClaim(((key, *map(name_of, map(str, values_of(each)))),)) for each in value)
    elif isinstance(value, str) and "." in key:
        thing, _, what = key.partition(".")
        yield from _property(thing, what, value)


def _property(thing: str, what: str, value: Parsed) -> Iterator[FactClaim]:
    """A property of an object: `open: true`, `location: shelf`."""
    name = name_of(thing)
    if isinstance(value, bool):
        yield FactClaim(((what, name),), value)
    elif isinstance(value, str) and what.lower() in _PLACES:
        held = value.lower() in _HANDS
        yield FactClaim((("holding", name) if held else ("on" if what == "on" else "in", name, name_of(value)),))
    elif isinstance(value, str):
        yield FactClaim(((value, name),))


def seconds_of(given: Parsed, otherwise: float) -> str:
    """A time as `mm:ss`: seconds, milliseconds since 1970, `hh:mm:ss`, or a date with a time."""
    text = str(given or "")
    if found := re.search(r"(\d{1,2}):(\d{2}):(\d{2})", text):
        hours, minutes, seconds = map(int, found.groups())
        return clock(3600 * hours + 60 * minutes + seconds)
    if re.fullmatch(r"\d{1,6}:\d{2}", text):
        return text
    try:
        return clock(float(text))
    except ValueError:
        return clock(otherwise)


def timed(events: Sequence[TraceEvent]) -> tuple[TraceEvent, ...]:
    """Events whose times start near zero: those since 1970 count from the first one."""
    first = min((event.seconds for event in events), default=0)
    if first < 1e6:
        return tuple(events)
    return tuple(replace(event, time=clock(event.seconds - first)) for event in events)


def ended(
    action: Action, result: StepResult, time: str, message: str = "", claims: Sequence[FactClaim] = ()
) -> TraceEvent:
    """An event at the end of an action."""
    seen = {term for claim in claims if claim.holds for fact in claim.facts for term in fact[1:2] if term != "*"}
    return TraceEvent(time, action, EventPhase.ENDED, result, printable(message), tuple(claims), frozenset(seen))

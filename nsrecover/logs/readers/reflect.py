"""Logs in the text format of REFLECT: JSON with key frames as lines of English (Liu et al. 2023, section 3.1)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from nsrecover.core.actions import Action
from nsrecover.domains.household.names import normal
from nsrecover.domains.instance import Instance
from nsrecover.errors import InvalidRecording
from nsrecover.logs.readers.words import HouseholdWords, SceneWords
from nsrecover.logs.trace import EventPhase, FactClaim, RawTrace, TraceEvent
from nsrecover.util.printable import printable
from nsrecover.util.untrusted_json import Parsed

FIELDS = ("task", "plan", "success_state", "event_summary", "subgoal_summary", "final_state")
VISUAL, AUDITORY = "Visual observation: ", "Auditory observation: "
_TIME = r"(\d{1,6}(?::\d{2})?)"
_FRAME = re.compile(rf"^(?:{_TIME}\. )?(Action|Goal): (.+?)\.(?: (?={VISUAL}|{AUDITORY})(.*))?$")
_CUT = re.compile(rf"^(?:{_TIME}\. )?(Action|Goal): (.+?)\. ?[A-Za-z ]*:?$")
"""A line that ends within `Visual observation: `."""
_TEXTS = ("task", "success_state", "final_state")
_SEEN = re.compile(r"^([^()]+?)(?: \(([^()]*)\))?$")
_MOVES = ("navigate_to_obj", "move_to")

Words = HouseholdWords | SceneWords


def fits(document: Parsed) -> bool:
    """Whether a document has the fields of such a log."""
    return isinstance(document, dict) and bool({"event_summary", "subgoal_summary", "success_state"} & document.keys())


def read(document: Parsed, where: str = "log", scene: Instance | None = None) -> RawTrace:
    """A trace from such a log.

    Args:
        document: what the JSON parser returned.
        where: how to call the place in error messages.
        scene: a domain of one's own; the household if None.

    Raises:
        InvalidRecording: a field has the wrong type, or there is neither a plan nor an event that can be read. What
            else cannot be read is listed in `unread`.
    """
    if not isinstance(document, dict):
        raise InvalidRecording(f"{where}: expected an object with {', '.join(FIELDS)}, found {short(document)}")
    missing = [field for field in FIELDS if field not in document]
    if set(missing) >= {"plan", "event_summary"}:
        raise InvalidRecording(
            f"{where}: expected the fields {', '.join(FIELDS)}, found no {' and no '.join(map(repr, missing))}"
        )
    unread = [f"no field {field!r}" for field in missing]
    given: dict[str, Parsed] = {field: "" if field in _TEXTS else [] for field in missing} | document
    for field in _TEXTS:
        if not isinstance(given[field], str):
            raise InvalidRecording(f"{where}: expected text in {field!r}, found {short(given[field])}")
        given[field] = printable(given[field])
    words: Words = HouseholdWords() if scene is None else SceneWords(scene)
    lines, steps = _lines(given["plan"], "plan", where), list[Action]()
    for number, line in enumerate(lines, start=1):
        try:
            steps.append(_step(line, f"plan, entry {number}", scene))
        except InvalidRecording as error:
            unread.append(str(error))
    if lines and not steps:
        raise InvalidRecording(f"{where}: {unread[-1]}")
    plan = tuple(step for step in steps if step.operator not in _MOVES)
    events = _frames(given["event_summary"], "event_summary", where, unread, words, plan)
    subgoals = _frames(given["subgoal_summary"], "subgoal_summary", where, unread, words, plan)
    if not events and not subgoals and len(unread) > len(missing):
        raise InvalidRecording(f"{where}: {unread[-1]}")
    # The ends of steps are events, too.
    events = _with_ends(events or subgoals, subgoals)
    final = None
    if given["final_state"] or not events:
        claims, seen, sounds, unknown = observation(given["final_state"], words)
        final = TraceEvent(events[-1].time if events else "00:00", claims=claims, seen=seen, heard=sounds)
        unread += [f"final_state: unknown word {word!r}" for word in unknown if scene is not None]
    goal: Parsed = given["success_state"]
    if isinstance(words, SceneWords):
        goal, lost = words.goal(goal)
        unread += [f"success_state: unknown word {word!r}" for word in lost]
    extra = {name: value for name, value in document.items() if name not in FIELDS}
    return RawTrace(
        given["task"],
        plan,
        events,
        goal if isinstance(goal, str) else tuple(goal),
        "household" if scene is None else scene.domain.name,
        final=final,
        unread=tuple(unread),
        extra=extra,
    )


def _lines(value: Parsed, field: str, where: str) -> list[str]:
    """The entries of a field that is a list of text, or one text with a line for each."""
    entries = value.splitlines() if isinstance(value, str) else value
    if not isinstance(entries, list):
        raise InvalidRecording(f"{where}: expected a list of lines in {field!r}, found {short(value)}")
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, str):
            raise InvalidRecording(f"{where}: {field}, entry {number}: expected text, found {short(entry)}")
    return [printable(entry).strip() for entry in entries if entry.strip()]


def _step(line: str, where: str, scene: Instance | None) -> Action:
    """A typed step: `(put_in, pot, sink)`, also numbered or written `put_in (pot, sink)`."""
    found = re.fullmatch(r"(?:\d+[.)]\s*)?(?:\(\s*([\w-]+)\s*,?\s*(.*?)\)|([\w-]+)\s*\((.*?)\))\s*", line.strip())
    if not found:
        raise InvalidRecording(f"{where}: expected a step such as (put_in, pot, sink), found {short(line)}")
    operator, inside = found.group(1) or found.group(3), found.group(2) or found.group(4) or ""
    parts = [part.strip() for part in inside.split(",") if part.strip()]
    if scene is None:
        return Action(operator, tuple(map(normal, parts)))
    named, known = [SceneWords(scene).object_of(part) for part in parts], scene.domain.operators.get(operator)
    lost = [part for part, one in zip(parts, named, strict=True) if one is None]
    if known is None or lost or len(known.parameters) != len(named):
        raise InvalidRecording(f"{where}: unknown {', '.join(lost) or repr(operator)}")
    return Action(operator, tuple(one for one in named if one is not None))


def _frames(
    value: Parsed, field: str, where: str, unread: list[str], words: Words, plan: Sequence[Action]
) -> tuple[TraceEvent, ...]:
    """The key frames of a field; lines that are none are added to `unread`, lines without a time get the last one."""
    frames, lines, rest_of_plan = list[TraceEvent](), _lines(value, field, where), list(plan)
    stops = any(line.endswith(".") for line in lines)
    for number, line in enumerate(lines, start=1):
        found = _FRAME.fullmatch(line)
        cut = found is None and _CUT.fullmatch(line)
        if cut:
            found = _FRAME.fullmatch(line[: cut.end(3) + 1])
        if not found:
            unread.append(
                f"{field}, line {number}: expected 'mm:ss. Action: … . Visual observation: …', found {short(line)}"
            )
            continue
        time, _, text, rest = found.groups()
        if not time:
            unread.append(f"{field}, line {number}: no time")
        if cut or _whole(rest or "") != (rest or "") or (stops and not line.endswith(".")):
            unread.append(f"{field}, line {number}: cut off at {short(line[-30:])}")
        same = bool(frames) and frames[-1].message == text
        action = frames[-1].action if same else words.action(text, rest_of_plan)
        if action is None:
            unread.append(f"{field}, line {number}: unknown action {short(text)}")
        elif isinstance(words, SceneWords) and action in rest_of_plan and not same:
            rest_of_plan = rest_of_plan[rest_of_plan.index(action) + 1 :]
        claims, seen, sounds, unknown = observation(rest or "", words)
        if isinstance(words, SceneWords):
            unread += [f"{field}, line {number}: unknown word {word!r}" for word in unknown]
        frame = TraceEvent(time or (frames[-1].time if frames else "00:00"), action or Action(text.strip().lower(), ()),
                           message=text, claims=claims, seen=seen, heard=sounds, text=line)  # fmt: skip
        if frames and frame.seconds < frames[-1].seconds:
            unread.append(f"{field}, line {number}: the time goes back from {frames[-1].time} to {frame.time}")
        frames.append(frame)
    return tuple(frames)


def _with_ends(events: Sequence[TraceEvent], subgoals: Sequence[TraceEvent]) -> tuple[TraceEvent, ...]:
    """The events, with those that end steps marked: as the subgoals say, and the last of lines that are the same."""
    ends, runs = dict[int, TraceEvent](), [0]
    for one, other in pairwise(events):
        runs.append(runs[-1] + (one.message != other.message))
    for goal in subgoals:
        exact = [n for n, event in enumerate(events) if (event.time, event.message) == (goal.time, goal.message)]
        number = max(exact or [n for n, event in enumerate(events) if event.seconds <= goal.seconds], default=0)
        if goal.action is not None and goal.action.operator != "move_to":
            ends[number] = goal
    covered = {runs[number] for number in ends}
    for number, event in enumerate(events):
        last = number == len(events) - 1 or runs[number + 1] != runs[number]
        if last and runs[number] not in covered and event.action and event.action.operator != "move_to":
            ends[number] = event
    return tuple(
        replace(event, phase=EventPhase.ENDED, action=ends[number].action) if number in ends else event
        for number, event in enumerate(events)
    )


def observation(text: str, words: Words) -> tuple[tuple[FactClaim, ...], frozenset[str], tuple[str, ...], list[str]]:
    """Claims, objects in view, sounds and unknown words of an observation in English."""
    text, _, sounds = _whole(text.strip()).partition(AUDITORY)
    parts = [part.strip() for part in text.strip().removeprefix(VISUAL).rstrip(". ").split(". ") if part.strip()]
    claims, seen, unknown = list[FactClaim](), dict[str, None](), list[str]()
    for position, sentence in enumerate(part.rstrip(".") for part in parts):
        claim = words.relation(sentence)
        items = None if position or claim else _listed(sentence)
        if claim is not None:
            claims.append(claim)
        elif items is None:
            unknown.append(sentence)
        for name, states in items or ():
            found, lost = words.states(name, states)
            claims += found
            unknown += lost
            if (thing := words.object_of(name)) is not None:
                seen[thing] = None
    heard = tuple(part.strip() for part in sounds.strip().rstrip(".").split(", ") if part.strip())
    return tuple(dict.fromkeys(claims)), frozenset(seen), heard, unknown


def _whole(text: str) -> str:
    """A text without an object at its end whose states are cut off: `pot, mug (emp` -> `pot`."""
    if text.rfind("(") <= text.rfind(")"):
        return text
    return text[: max(text.rfind(mark, 0, text.rfind("(")) for mark in (", ", ". ", ": ")) + 1].rstrip(",")


def _listed(sentence: str) -> list[tuple[str, list[str]]] | None:
    """Objects with their states: `pot (empty and clean), sink`; None if it is no such list."""
    items = []
    for part in re.split(r", (?![^()]*\))", sentence):
        found = _SEEN.fullmatch(part.strip())
        if not found or " is " in found.group(1):
            return None
        name, states = found.groups()
        items.append((name, [] if states is None else [state.strip() for state in states.split(" and ")]))
    return items


def short(value: Parsed) -> str:
    """A value for an error message."""
    text = value if isinstance(value, str) else f"{type(value).__name__} {json.dumps(value, default=str)}"
    return repr(text if len(text) <= 60 else f"{text[:57]}...")

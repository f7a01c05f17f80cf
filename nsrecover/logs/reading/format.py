"""Logs in the text format of REFLECT, read and written: JSON with key frames as lines of English."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from nsrecover.core.actions import Action
from nsrecover.domains.household.names import normal
from nsrecover.errors import InvalidRecording
from nsrecover.logs.reading.lexicon import EMPTY_HAND, HAND, HOLDS, RELATED, RELATIONS, action_in
from nsrecover.logs.reading.records import (
    GRIPPER,
    HouseholdLog,
    KeyFrame,
    LogObservation,
    Related,
    Remark,
    Seen,
)
from nsrecover.util.printable import printable
from nsrecover.util.untrusted_json import InvalidJson, parse_json, read_text

FIELDS = ("task", "plan", "success_state", "event_summary", "subgoal_summary", "final_state")
VISUAL, AUDITORY = "Visual observation: ", "Auditory observation: "

_TIME = r"(\d{1,6}(?::\d{2})?)"
_FRAME = re.compile(rf"^{_TIME}\. (Action|Goal): (.+?)\.(?: (?={VISUAL}|{AUDITORY})(.*))?$")
_UNTIMED = re.compile(rf"^()?(Action|Goal): (.+?)\.(?: (?={VISUAL}|{AUDITORY})(.*))?$")
_CUT = re.compile(rf"^(?:{_TIME}\. )?(Action|Goal): (.+?)\. ?[A-Za-z ]*:?$")
"""A line that ends within `Visual observation: `."""
_TEXTS = ("task", "success_state", "final_state")
_OTHER_RELATION = re.compile(r"^([^,()]+?) is ([a-z ]+ (?:of|to|by|with|from|at)) ([^,()]+)$")
_SEEN = re.compile(r"^([^()]+?)(?: \(([^()]*)\))?$")


def is_household_log(path: Path) -> bool:
    """Whether a file looks like such a log, by its content: it starts as JSON, or names three of the fields."""
    try:
        start = read_text(path)[:4096]
    except (OSError, InvalidJson):
        return False
    return start.lstrip()[:1] in ("{", "[") or sum(f'"{field}"' in start for field in FIELDS) >= 3


def read_logs(path: Path) -> tuple[HouseholdLog, ...]:
    """All logs of a file: one JSON object, a list of them, or one a line.

    Raises:
        InvalidRecording: there is no such file, or its contents do not have the format; names the line.
    """
    try:
        text = read_text(path)
    except OSError as error:
        raise InvalidRecording(f"expected a log at {path}, found none ({error.strerror})") from error
    except InvalidJson as error:
        raise InvalidRecording(f"expected text in {path}, found {error}") from error
    return tuple(log_of(document, where) for document, where in _documents(text, path.name))


def _documents(text: str, name: str) -> Iterator[tuple[Any, str]]:
    """Every JSON object of a file, with its place in the file."""
    try:
        whole = parse_json(text)
    except InvalidJson as first:
        lines = [(number, line) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
        # One object over many lines with a mistake in it, rather than an object a line.
        if len(lines) < 2 or first.line is None or not lines[0][1].rstrip().endswith("}"):
            where = name if first.line is None else f"{name}, line {first.line}"
            found = first.problem.lower() if lines else "nothing"
            raise InvalidRecording(
                f"{where}: expected JSON (an object, or an object a line), found: {found}"
            ) from first
        for number, line in lines:
            try:
                yield parse_json(line), f"{name}, line {number}"
            except InvalidJson as error:
                column = "" if error.column is None else f" at column {error.column}"
                raise InvalidRecording(
                    f"{name}, line {number}: expected a JSON object, found: {error.problem.lower()}{column}"
                ) from error
        return
    if isinstance(whole, list):
        yield from ((document, f"{name}, entry {number}") for number, document in enumerate(whole, start=1))
    else:
        yield whole, name


def log_of(document: Any, where: str = "log") -> HouseholdLog:
    """A log from its JSON.

    Args:
        document: what the JSON parser returned.
        where: how to call the place in error messages.

    Raises:
        InvalidRecording: a field has the wrong type, or there is neither a plan nor an event that can be read. What
            else cannot be read is listed in `unread`.
    """
    if not isinstance(document, dict):
        raise InvalidRecording(f"{where}: expected an object with {', '.join(FIELDS)}, found {_short(document)}")
    missing = [field for field in FIELDS if field not in document]
    if set(missing) >= {"plan", "event_summary"}:
        raise InvalidRecording(
            f"{where}: expected the fields {', '.join(FIELDS)}, found no {' and no '.join(map(repr, missing))}"
        )
    unread = [f"no field {field!r}" for field in missing]
    given: dict[str, Any] = {field: "" if field in _TEXTS else [] for field in missing} | document
    for field in _TEXTS:
        if not isinstance(given[field], str):
            raise InvalidRecording(f"{where}: expected text in {field!r}, found {_short(given[field])}")
        given[field] = printable(given[field])
    lines = tuple(_lines(given["plan"], "plan", where))
    steps = list[Action]()
    for number, line in enumerate(lines, start=1):
        try:
            steps.append(step_of(line, f"plan, entry {number}"))
        except InvalidRecording as error:
            unread.append(str(error))
    if lines and not steps:
        raise InvalidRecording(f"{where}: {unread[-1]}")
    events = _frames(given["event_summary"], "event_summary", where, unread)
    subgoals = _frames(given["subgoal_summary"], "subgoal_summary", where, unread)
    if not events and not subgoals and len(unread) > len(missing):
        raise InvalidRecording(f"{where}: {unread[-1]}")
    # The ends of steps are events, too.
    events = events or subgoals
    return HouseholdLog(
        task=given["task"],
        plan=tuple(step for step in steps if step.operator not in ("navigate_to_obj", "move_to")),
        success_state=given["success_state"],
        events=events,
        subgoals=subgoals,
        final=observation_of(given["final_state"]) if given["final_state"] or not events else events[-1].observation,
        plan_lines=lines,
        extra={name: value for name, value in document.items() if name not in FIELDS},
        unread=tuple(unread),
    )


def _lines(value: Any, field: str, where: str) -> list[str]:
    """The entries of a field that is a list of text, or one text with a line for each."""
    entries = value.splitlines() if isinstance(value, str) else value
    if not isinstance(entries, list):
        raise InvalidRecording(f"{where}: expected a list of lines in {field!r}, found {_short(value)}")
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, str):
            raise InvalidRecording(f"{where}: {field}, entry {number}: expected text, found {_short(entry)}")
    return [printable(entry).strip() for entry in entries if entry.strip()]


def step_of(line: str, where: str = "plan") -> Action:
    """A typed step: `(put_in, pot, sink)`, also numbered or written `put_in (pot, sink)`.

    Raises:
        InvalidRecording: it is written in another way.
    """
    found = re.fullmatch(
        r"(?:\d+[.)]\s*)?(?:\(\s*([a-z][\w-]*)\s*,?\s*(.*?)\)|([a-z][\w-]*)\s*\((.*?)\))\s*", line.strip()
    )
    if not found:
        raise InvalidRecording(f"{where}: expected a step such as (put_in, pot, sink), found {_short(line)}")
    operator, inside = found.group(1) or found.group(3), found.group(2) or found.group(4) or ""
    return Action(operator, tuple(normal(part) for part in inside.split(",") if part.strip()))


def action_of(text: str) -> Action:
    """A step from its English: `Put pot in sink`; unknown wording becomes an operator of its own."""
    found = action_in(text)
    if found is None:
        return Action(text.strip().lower(), ())
    return Action(found[0], tuple(normal(normal(name).removeprefix("liquid from ")) for name in found[1]))


def _frames(value: Any, field: str, where: str, unread: list[str]) -> tuple[KeyFrame, ...]:
    """The key frames of a field; lines that are none are added to `unread`, lines without a time get the last one."""
    frames, lines = list[KeyFrame](), _lines(value, field, where)
    stops = any(line.endswith(".") for line in lines)
    for number, line in enumerate(lines, start=1):
        timed = _FRAME.fullmatch(line)
        found = timed or _UNTIMED.fullmatch(line)
        cut = found is None and _CUT.fullmatch(line)
        if cut:
            found = timed = _FRAME.fullmatch(line[: cut.end(3) + 1]) or _UNTIMED.fullmatch(line[: cut.end(3) + 1])
        if not found:
            unread.append(
                f"{field}, line {number}: expected 'mm:ss. Action: … . Visual observation: …', found {_short(line)}"
            )
            continue
        time, label, text, rest = found.groups()
        if not time:
            unread.append(f"{field}, line {number}: no time")
        if cut or _whole(rest or "") != (rest or "") or (stops and not line.endswith(".")):
            unread.append(f"{field}, line {number}: cut off at {_short(line[-30:])}")
        if action_in(text) is None:
            unread.append(f"{field}, line {number}: unknown action {_short(text)}")
        frame = KeyFrame(time or (frames[-1].time if frames else "00:00"), label, text, action_of(text),
                         observation_of(rest or ""))  # fmt: skip
        if frames and frame.seconds < frames[-1].seconds:
            unread.append(f"{field}, line {number}: the time goes back from {frames[-1].time} to {frame.time}")
        frames.append(frame)
    return tuple(frames)


def observation_of(text: str) -> LogObservation:
    """What was seen and heard, from its English."""
    text, _, sounds = _whole(text.strip()).partition(AUDITORY)
    parts = [part.strip() for part in text.strip().removeprefix(VISUAL).rstrip(". ").split(". ") if part.strip()]
    seen: tuple[Seen, ...] = ()
    sentences: list[Related | Remark] = []
    for position, sentence in enumerate(part.rstrip(".") for part in parts):
        related = _related(sentence)
        objects = None if position or related else _listed(sentence)
        if related:
            sentences.append(related)
        elif objects is not None:
            seen = objects
        else:
            sentences.append(Remark(sentence))
    return LogObservation(seen, tuple(sentences), sounds.strip().rstrip("."))


def _whole(text: str) -> str:
    """A text without an object at its end whose states are cut off: `pot, mug (emp` -> `pot`."""
    if text.rfind("(") <= text.rfind(")"):
        return text
    return text[: max(text.rfind(mark, 0, text.rfind("(")) for mark in (", ", ". ", ": ")) + 1].rstrip(",")


def _related(sentence: str) -> Related | None:
    """A relation between two objects, or what the gripper holds; None if a sentence says something else."""
    if found := HOLDS.fullmatch(sentence):
        return Related(found[1], "inside", GRIPPER, sentence)
    if EMPTY_HAND.fullmatch(sentence):
        return Related("nothing", "inside", GRIPPER, sentence)
    if found := RELATED.fullmatch(sentence):
        subject, said, other = found.groups()
        related = Related(subject, RELATIONS[said], GRIPPER if HAND.fullmatch(other) else other)
        plain = f"{related.subject} is {related.relation} {related.object}"
        return replace(related, said="" if plain == sentence else sentence)
    if found := _OTHER_RELATION.fullmatch(sentence):
        return Related(*found.groups())
    return None


def _listed(sentence: str) -> tuple[Seen, ...] | None:
    """Objects with their states: `pot (empty and clean), sink`; None if it is no such list."""
    items = []
    for part in re.split(r", (?![^()]*\))", sentence):
        found = _SEEN.fullmatch(part.strip())
        if not found or " is " in found.group(1):
            return None
        name, states = found.groups()
        items.append(Seen(name, () if states is None else tuple(state.strip() for state in states.split(" and "))))
    return tuple(items)


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else f"{type(value).__name__} {json.dumps(value, default=str)}"
    return repr(text if len(text) <= 60 else f"{text[:57]}...")


def document_of(log: HouseholdLog) -> dict[str, Any]:
    """A log as JSON: the text that was read, where the format has only one way to say it."""
    return {
        **log.extra,
        "task": log.task,
        "plan": list(log.plan_lines),
        "success_state": log.success_state,
        "event_summary": [line_of(frame) for frame in log.events],
        "subgoal_summary": [line_of(frame) for frame in log.subgoals],
        "final_state": seen_text(log.final),
    }


def line_of(frame: KeyFrame) -> str:
    """A key frame as a line."""
    visual, sounds = seen_text(frame.observation), frame.observation.sounds
    line = f"{frame.time}. {frame.label}: {frame.text}."
    line += f" {VISUAL}{visual}" if visual else ""
    return line + (f" {AUDITORY}{sounds}." if sounds else "")


def seen_text(observation: LogObservation) -> str:
    """The visual part of an observation as sentences."""
    items = [f"{item.name} ({' and '.join(item.states)})" if item.states else item.name for item in observation.seen]
    sentences = [", ".join(items)] if items else []
    for sentence in observation.sentences:
        if isinstance(sentence, Related):
            sentences.append(sentence.said or f"{sentence.subject} is {sentence.relation} {sentence.object}")
        else:
            sentences.append(sentence.text)
    return " ".join(f"{sentence}." for sentence in sentences)

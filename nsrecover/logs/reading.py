"""Logs of robots, read: which format a file has, and the fact traces in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nsrecover.domains.instance import Instance
from nsrecover.errors import InvalidRecording
from nsrecover.logs.readers import games, pddl, reflect, ros, steps, table, trees
from nsrecover.logs.trace import FORMAT, FactTrace, RawTrace, trace_of
from nsrecover.logs.understanding import understood
from nsrecover.util.untrusted_json import InvalidJson, Parsed, parse_json, read_text

TEXTS = (trees, ros, games, table, pddl)
"""Readers of texts, in the order in which they are tried."""


def is_log(path: Path) -> bool:
    """Whether a file looks like a log that a reader may have, by its content."""
    try:
        text = read_text(path)
    except (OSError, InvalidJson):
        return False
    start = text[:4096]
    named = sum(f'"{field}"' in start for field in reflect.FIELDS) >= 3
    return start.lstrip()[:1] in ("{", "[") or named or any(reader.fits(text) for reader in TEXTS)


def read_logs(path: Path, scene: Instance | None = None) -> tuple[FactTrace, ...]:
    """All logs of a file as fact traces.

    Args:
        path: the file, in any format of `nsrecover.logs.readers`.
        scene: domain and objects of one's own, from `nsrecover.domains.scene_of`; the household if None.

    Raises:
        InvalidRecording: there is no such file, or its contents do not have the format; names the line.
    """
    return tuple(understood(raw, scene) for raw in raw_logs(path, scene))


def raw_logs(path: Path, scene: Instance | None = None) -> tuple[RawTrace, ...]:
    """All logs of a file as they are written, before names and domain are settled; arguments and errors the same."""
    try:
        text = read_text(path)
    except OSError as error:
        raise InvalidRecording(f"expected a log at {path}, found none ({error.strerror})") from error
    except InvalidJson as error:
        raise InvalidRecording(f"expected text in {path}, found {error}") from error
    for reader in TEXTS:
        if text.lstrip()[:2] not in ('{"', "{\n", "[{") and reader.fits(text):
            return (reader.read(text, path.name),)
    documents = list(_documents(text, path.name))
    if not documents:
        raise InvalidRecording(f"{path.name}: expected a log, found an empty file. {_known()}")
    first = documents[0][0]
    if isinstance(first, dict) and first.get("format") == FORMAT:
        return (trace_of([document for document, _ in documents], path.name),)
    if not reflect.fits(first):
        whole = [document for document, _ in documents]
        if len(whole) > 1 and steps.fits(whole):  # a step a line
            return (steps.read(whole, path.name),)
        if all(steps.fits(document) for document in whole):
            return tuple(steps.read(document, where) for document, where in documents)
    return tuple(_read(document, where, scene) for document, where in documents)


def _read(document: Parsed, where: str, scene: Instance | None) -> RawTrace:
    """A trace from JSON that is taken to be REFLECT's; an error says which format it resembles and what is missing."""
    if reflect.fits(document) or not isinstance(document, dict) or {"task", "plan"} & document.keys():
        return reflect.read(document, where, scene)
    keys = ", ".join(list(map(str, document))[:8])
    raise InvalidRecording(
        f"{where}: expected the fields {', '.join(reflect.FIELDS)}, found {keys}; it resembles {steps.NAME}, "
        f"which needs {steps.NEEDS}. {_known()}"
    )


def _known() -> str:
    return f"Formats: {', '.join(reader.NAME for reader in (steps, *TEXTS))}, REFLECT's, and '{FORMAT}' (docs/logs.md)"


def resembling(text: str) -> str:
    """Which format a text resembles, and what is missing."""
    marks = {trees: ("->", "SUCCESS", "FAILURE", "[x]"), ros: ("[INFO]", "[ERROR]"), games: ("> ", "You "),
             table: (",", "time"), pddl: ("(", "Plan", ":action")}  # fmt: skip
    best = max(TEXTS, key=lambda reader: sum(min(3, text.count(mark)) for mark in marks[reader]) / len(marks[reader]))
    return f"it resembles {best.NAME}, which needs {best.NEEDS}. {_known()}"


def log_of(document: Parsed, where: str = "log", scene: Instance | None = None) -> FactTrace:
    """A trace from the JSON of a log."""
    return understood(reflect.read(document, where, scene), scene)


def _documents(text: str, name: str) -> Iterator[tuple[Parsed, str]]:
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
                f"{where}: expected JSON (an object, or an object a line), found: {found}; {resembling(text)}"
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

"""Shared parts of the readers of recordings: errors of damaged files, versioned JSON documents, plans with targets."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from nsrecover.core import Action, Box, Plan
from nsrecover.errors import InvalidAction, InvalidRecording
from nsrecover.util.json_data import from_json
from nsrecover.util.untrusted_json import Parsed, read_json


@contextmanager
def readable(what: str, advice: str = "it is damaged: record it again or fetch it again") -> Iterator[None]:
    """Turn the errors of a damaged file, which libraries report as they like, into `InvalidRecording`."""
    try:
        yield
    except InvalidRecording:
        raise
    except Exception as problem:
        found = f"no {problem}" if isinstance(problem, KeyError) else str(problem) or type(problem).__name__
        raise InvalidRecording(f"expected {what}, found data that cannot be read ({found}); {advice}") from problem


def read_document(path: str | Path, kinds: tuple[str, ...], what: str, schema: int = 1) -> Parsed:
    """Read a JSON document of some kind.

    Args:
        path: the file.
        kinds: values of its field `format`.
        what: what it holds, for errors.
        schema: its version.

    Raises:
        InvalidRecording: there is no file, or it is no such document.
    """
    try:
        document = read_json(path)
    except OSError as problem:
        raise InvalidRecording(f"expected {what} at {path}, found no file ({problem.strerror})") from problem
    except ValueError as problem:
        raise InvalidRecording(f"expected {what} as JSON in {path}, found: {problem}") from problem
    return check_document(document, kinds, what, str(path), schema)


def check_document(document: Parsed, kinds: tuple[str, ...], what: str, source: str, schema: int = 1) -> Parsed:
    """Return a parsed document, if it is of one of some kinds, and of a version.

    Raises:
        InvalidRecording: it is not.
    """
    if not isinstance(document, dict) or document.get("format") not in kinds:
        raise InvalidRecording(
            f"expected {what} (format {' or '.join(map(repr, kinds))}) in {source}, found something else"
        )
    if document.get("schema") != schema:
        raise InvalidRecording(
            f"expected {what} of schema {schema} in {source}, found schema {document.get('schema')}; write it again"
        )
    return document


def plan_with_targets(lines: Sequence[str], targets: Sequence[Sequence[float] | None] | None) -> Plan:
    """A plan from the texts of its actions, and the box of each one's target, if it has one.

    Raises:
        InvalidAction: a text is no action.
        ValueError: there are not as many targets as actions, or one is no box.
    """
    boxes = from_json(list[Box | None], targets or [None] * len(lines), where="targets")
    actions = map(Action.parse, lines)
    return Plan(tuple(replace(action, target=box) for action, box in zip(actions, boxes, strict=True)))


def check_readable(plan: Plan) -> None:
    """Check that actions can be written as text and read again.

    Raises:
        InvalidRecording: a name has commas, brackets or outer blanks.
    """
    for action in plan:
        try:
            same = Action.parse(str(action)) == action
        except InvalidAction:
            same = False
        if not same:
            raise InvalidRecording(
                f"expected object names that can be written as {str(action)!r} and read again, found "
                f"{list(action.arguments)}; use names without commas, brackets and outer blanks"
            )

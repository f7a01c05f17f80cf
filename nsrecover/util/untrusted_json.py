"""Reader of JSON from files and networks: limited in size and depth, and strict where parsers differ."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from nsrecover.errors import NsrecoverError

Parsed = Any
"""Parsed JSON, of which nothing is known yet."""
JsonObject = dict[str, Any]
"""A JSON object; its values are anything that JSON can represent."""
JsonMapping = Mapping[str, Any]
"""The same, to read from."""

MAX_BYTES = 64_000_000
"""Largest accepted document, bytes."""

MAX_VALUES = 4_000_000
"""Largest accepted number of commas and opening brackets, which determine the memory of the parsed document."""

MAX_DEPTH = 64
"""Largest accepted number of lists and objects inside one another."""

MAX_DIGITS = 300
"""Largest accepted number of characters of an integer."""

MARKS = ",[{"
"""Each value of a document, except the first, needs one of these."""

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class InvalidJson(NsrecoverError, ValueError):
    """Text that is not JSON, or JSON that is refused.

    Attributes:
        problem: what was found, without its place.
        line: line of the problem, from 1; None if it is unknown.
        column: column of the problem, from 1; None if it is unknown.
    """

    def __init__(self, problem: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(problem if line is None else f"{problem}: line {line} column {column}")
        self.problem, self.line, self.column = problem, line, column


def read_json(path: str | Path, max_bytes: int = MAX_BYTES) -> Parsed:
    """Read a JSON file; of a larger file, only the limit is read.

    Args:
        path: the file.
        max_bytes: largest accepted size.

    Raises:
        OSError: the file cannot be read.
        InvalidJson: see `parse_json`.
    """
    with Path(path).open("rb") as file:
        return parse_json(file.read(max_bytes + 1), max_bytes)


def read_text(path: str | Path, max_bytes: int = MAX_BYTES) -> str:
    """Read a text file; of a larger file, only the limit is read.

    Text is UTF-8, with or without a byte order mark, or UTF-16 with one. Text that is not is taken for Windows'
    Latin-1, if all its characters can be printed: files of others have such comments and names.

    Raises:
        OSError: the file cannot be read.
        InvalidJson: the file is larger than the limit, or no text.
    """
    with Path(path).open("rb") as file:
        data = file.read(max_bytes + 1)
    try:
        return _decoded(data, max_bytes)
    except InvalidJson:
        try:
            text = data.decode("utf-16" if data.startswith(_UTF_16) else "cp1252")
        except UnicodeDecodeError:
            text = ""
        if len(data) > max_bytes or not text or not _is_text(text):
            raise
        return text


def parse_json(data: bytes | str, max_bytes: int = MAX_BYTES, max_values: int = MAX_VALUES) -> Parsed:
    """Parse a JSON document.

    Args:
        data: the document; bytes must be UTF-8, and may begin with a byte order mark.
        max_bytes: largest accepted size; of text, the number of characters.
        max_values: largest accepted number of commas and opening brackets.

    Returns:
        The document. All its numbers are finite as floats, all its texts can be written as UTF-8.

    Raises:
        InvalidJson: the document is no JSON, not UTF-8, too large, nested too deeply, has a number that is not finite,
            a key twice in one object, or half of a surrogate pair.
    """
    text = _decoded(data, max_bytes) if isinstance(data, bytes) else data.removeprefix("\ufeff")
    if len(text) > max_bytes:
        raise InvalidJson(_too_large(max_bytes))
    if sum(map(text.count, MARKS)) > max_values:
        raise InvalidJson(f"more than {max_values} values")
    try:
        document = json.loads(text, object_pairs_hook=_object, **_NUMBERS)
    except json.JSONDecodeError as problem:
        raise InvalidJson(problem.msg, problem.lineno, problem.colno) from problem
    except RecursionError:
        raise InvalidJson(_TOO_DEEP) from None
    _check_depth(document)
    if _SURROGATE.search(text):
        try:
            json.dumps(document, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise InvalidJson("half of a surrogate pair, which is no character") from None
    return document


def _decoded(data: bytes, max_bytes: int) -> str:
    if len(data) > max_bytes:
        raise InvalidJson(_too_large(max_bytes))
    if data.startswith(_UTF_16):
        raise InvalidJson("UTF-16, which is not UTF-8; save it as UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise InvalidJson(
            f"byte {problem.start} that is not UTF-8; if it is Latin-1, convert it: iconv -f latin1 -t utf8"
        ) from problem


_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def _is_text(text: str) -> bool:
    return all(each.isprintable() or each in "\t\n\r\f\xa0\xad" for each in text)


def _too_large(max_bytes: int) -> str:
    return f"more than {max_bytes} bytes"


_TOO_DEEP = f"more than {MAX_DEPTH} lists and objects inside one another"


def _object(pairs: list[tuple[str, Parsed]]) -> JsonObject:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidJson(f"the key {twice[:60]!r} twice in one object")
    return found


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise InvalidJson(f"the number {text[:20]}, which is too large")
    return number


def _int(text: str) -> int:
    if len(text) > MAX_DIGITS:  # no float holds it
        raise InvalidJson(f"the number {text[:20]}, which is too large")
    return int(text)


def _constant(text: str) -> NoReturn:
    raise InvalidJson(f"{text}, which is no number of JSON")


_NUMBERS: JsonObject = {"parse_float": _float, "parse_int": _int, "parse_constant": _constant}


def _check_depth(document: Parsed) -> None:
    level, depth = [document], 0
    while level := [each for each in level if isinstance(each, dict | list)]:
        depth += 1
        if depth > MAX_DEPTH:
            raise InvalidJson(_TOO_DEEP)
        level = [inner for each in level for inner in _inside(each)]


def _inside(container: JsonObject | list[Parsed]) -> Iterable[Parsed]:
    return container.values() if isinstance(container, dict) else container

"""Input for fuzz tests: valid examples with some random changes, of their bytes, their words or their parts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import yaml
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

MOST_CHANGES = 6
"""Changes of one example."""

SPECIAL = (
    b"", b"\0", b"\xff\xfe", b"\xc3", b"\x1b[31m", b'"', b"'", b"\\", b"{", b"}", b"[", b"]", b"(", b")", b"<", b">",
    b"&", b"%s", b"{0}", b"{0.__class__}", b",", b";", b":", b"?", b"-", b"\n", b"\r", b"\t", b"=", b"/", b"../",
    b"0", b"-1", b"1e999", b"NaN", b"null", b"true", b"9" * 400, b"(" * 3000, b"[" * 3000, b"not ", b"and ",
    b"a" * 3000,
    "\u202e".encode(), "\u0130".encode(), "\u00b2".encode(), "\u4e2d\u6587".encode(), "\U0001f916".encode(),
)  # fmt: skip
"""Pieces that readers often treat in a special way."""

JUNK: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 1e308, 10**400, "", " ", "\0", "x" * 3000, "{0.__class__}", "[/red]", "\u202e", "..",
    [], {}, [[]], [None], [0] * 300, {"": None}, {"format": 1}, {"name": []},
)  # fmt: skip
"""Values that take the place of parts of documents."""

_WORD = re.compile(rb"\w+|\s+|[^\w\s]")


@st.composite
def changed_bytes(draw: DrawFn, examples: Sequence[bytes]) -> bytes:
    """Examples in which bytes or words are missing, doubled, exchanged or replaced; sometimes anything else."""
    if draw(st.integers(0, 19)) == 0:
        return draw(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
    data = draw(st.sampled_from(examples))
    for _ in range(draw(st.integers(0, MOST_CHANGES))):
        if draw(st.booleans()) and len(data) < 20_000:
            data = _with_other_words(draw, data, examples)
        else:
            data = _with_other_bytes(draw, data)
    return data


def _with_other_bytes(draw: DrawFn, data: bytes) -> bytes:
    start = draw(st.integers(0, len(data)))
    end = min(len(data), start + draw(st.sampled_from((0, 1, 2, 4, 8, 30, 300))))
    piece = data[start:end]
    match draw(st.integers(0, 5)):
        case 0:
            return data[:start] + data[end:]
        case 1:
            return data[:end] + piece + data[end:]
        case 2:
            return data[:start] + draw(st.sampled_from(SPECIAL)) + data[end:]
        case 3:
            return data[:start] + draw(st.binary(min_size=len(piece), max_size=len(piece))) + data[end:]
        case 4:
            return data[:start]
        case _:
            return data[:start] + bytes(255 - byte for byte in piece) + data[end:]


def _with_other_words(draw: DrawFn, data: bytes, examples: Sequence[bytes]) -> bytes:
    words = _WORD.findall(data)
    if not words:
        return data
    at = draw(st.integers(0, len(words) - 1))
    match draw(st.integers(0, 4)):
        case 0:
            del words[at]
        case 1:
            words.insert(at, words[at])
        case 2:
            other = draw(st.integers(0, len(words) - 1))
            words[at], words[other] = words[other], words[at]
        case 3:
            words[at] = draw(st.sampled_from(SPECIAL))
        case _:
            others = _WORD.findall(draw(st.sampled_from(examples))[:2000])
            words[at] = draw(st.sampled_from(others)) if others else b""
    return b"".join(words)


def changed_documents(
    examples: Sequence[bytes], read: Callable[[str], Any] = json.loads, write: Callable[[Any], str] = json.dumps
) -> SearchStrategy[bytes]:
    """Documents of which parts are missing, exchanged or replaced, half of them with changes of their bytes instead.

    Args:
        examples: valid documents.
        read: their format, JSON by default.
        write: the inverse.
    """
    documents = [read(each.decode()) for each in examples]
    return changed_bytes(examples) | _changed(documents).map(lambda found: write(found).encode("utf-8", "replace"))


@st.composite
def _changed(draw: DrawFn, documents: Sequence[Any]) -> Any:
    document = draw(st.sampled_from(documents))
    for _ in range(draw(st.integers(1, MOST_CHANGES))):
        document = _with_other_part(draw, document, document)
    return document


def _with_other_part(draw: DrawFn, part: Any, whole: Any) -> Any:
    """A copy of a part in which one part of it, of any depth, is another one."""
    keys = list(part) if isinstance(part, dict) else range(len(part)) if isinstance(part, list) else []
    if not keys or draw(st.integers(0, 4)) == 0:
        if isinstance(part, str) and part and draw(st.booleans()):
            return _with_other_words(draw, part.encode(), [part.encode()]).decode("utf-8", "replace")
        return draw(st.sampled_from(JUNK)) if draw(st.booleans()) else _any_part(draw, whole)
    key = draw(st.sampled_from(keys))
    copy = dict(part) if isinstance(part, dict) else list(part)
    match draw(st.integers(0, 5)):
        case 0:
            del copy[key]
        case 1 if isinstance(copy, list):
            copy.insert(key, copy[key])
        case 1:
            copy[draw(st.sampled_from(("", "x", "format", *map(str, keys))))] = copy.pop(key)
        case _:
            copy[key] = _with_other_part(draw, part[key], whole)
    return copy


def _any_part(draw: DrawFn, part: Any) -> Any:
    while isinstance(part, dict | list) and part and draw(st.integers(0, 3)):
        part = draw(st.sampled_from(list(part.values()) if isinstance(part, dict) else part))
    return part


def changed_yaml(examples: Sequence[bytes]) -> SearchStrategy[bytes]:
    """The same for YAML."""
    return changed_documents(examples, yaml.safe_load, lambda found: yaml.dump(found, sort_keys=False))

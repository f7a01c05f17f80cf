"""Input for fuzz tests, as strategies of hypothesis: valid examples with some edits of their bytes or parts."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import yaml
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

EDITS = 6
"""Edits of one example at most."""
SPECIAL = (
    b"", b"\0", b"\xff\xfe", b"\xc3", b"\x1b[31m", b'"', b"\\", b"{", b"}", b"[", b"]", b"(", b")", b"&", b"%s",
    b"{0.__class__}", b",", b":", b"-", b"\n", b"../", b"-1", b"1e999", b"NaN", b"null", b"9" * 400, b"(" * 3000,
    b"[" * 3000, b"not ", b"a" * 3000, "\u202e\u0130\u00b2\u4e2d\U0001f916".encode(),
)  # fmt: skip
"""Pieces that readers often treat in a special way."""
PARTS: SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just(10**400) | st.just("x" * 3000),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(("format", "name")), inner),
    max_leaves=5,
)
"""What takes the place of a part of a document."""


def edited(examples: Sequence[bytes]) -> SearchStrategy[bytes]:
    """Examples in which pieces are missing, doubled or replaced; sometimes anything else."""
    words = sorted({word for each in examples for word in re.findall(rb"\w+|[^\w\s]", each[:2000])})
    piece = st.sampled_from(SPECIAL) | st.binary(max_size=8) | st.sampled_from(words or [b""]) | st.none()
    edits = st.lists(
        st.tuples(st.floats(0, 1), st.sampled_from((0, 1, 2, 4, 8, 30, 300, 10**9)), piece), max_size=EDITS
    )
    changed = st.builds(_edited, st.sampled_from(examples), edits)
    return st.integers(0, 19).flatmap(lambda n: changed if n else st.binary(max_size=200) | st.text().map(str.encode))


def _edited(data: bytes, edits: Sequence[tuple[float, int, bytes | None]]) -> bytes:
    for where, length, piece in edits:
        start = int(where * len(data))
        old = data[start : start + length]
        data = data[:start] + (2 * old[:300] if piece is None else piece) + data[start + length :]
    return data


def documents(
    examples: Sequence[bytes], read: Callable[[str], Any] = json.loads, write: Callable[[Any], str] = json.dumps
) -> SearchStrategy[bytes]:
    """Documents of which parts are missing or replaced, half of them with edits of their bytes instead."""

    @st.composite
    def changed(draw: DrawFn) -> bytes:
        document = copy.deepcopy(draw(st.sampled_from([read(each.decode()) for each in examples])))
        for _ in range(draw(st.integers(1, EDITS))):
            part = document
            while keys := list(part) if isinstance(part, dict) else list(range(len(part))):
                key = draw(st.sampled_from(keys))
                if isinstance(part[key], dict | list) and draw(st.integers(0, 4)):
                    part = part[key]
                    continue
                if draw(st.integers(0, 2)):
                    part[key] = draw(PARTS)
                else:
                    del part[key]
                break
        return write(document).encode("utf-8", "replace")

    return edited(examples) | changed()


def yaml_documents(examples: Sequence[bytes]) -> SearchStrategy[bytes]:
    """The same for YAML."""
    return documents(examples, yaml.safe_load, lambda found: yaml.dump(found, sort_keys=False))

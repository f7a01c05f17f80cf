"""JSON from files and networks is read as written, or refused with one error."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsrecover.util.untrusted_json import MAX_DEPTH, InvalidJson, parse_json, read_json

ROOT = Path(__file__).parents[3]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


@settings(deadline=None, max_examples=150)
@given(value=VALUES, ascii=st.booleans())
def test_what_json_can_hold_is_read_back(value: object, ascii: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii)
    assert parse_json(text) == parse_json(text.encode()) == value


@settings(deadline=None, max_examples=300)
@given(data=st.binary(max_size=60) | VALUES.map(lambda each: json.dumps(each).encode()), cut=st.integers(0, 60))
def test_any_bytes_are_a_document_or_one_error(data: bytes, cut: int) -> None:
    try:
        value = parse_json(data[:cut] + data[cut + 1 :])
    except InvalidJson:
        return
    assert parse_json(json.dumps(value, ensure_ascii=False, allow_nan=False).encode()) == value


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "Expecting value"),
        (b'{"a": 1,\n "b": }', "line 2 column 7"),
        (b'{"a": 1} {"a": 1}', "Extra data"),
        (b"\xff\xfe{\x00}\x00", "UTF-16"),
        ('{"größe": 1}'.encode("latin-1"), "iconv -f latin1"),
        (b'{"a": 1, "b": {"c": 1, "c": 2}}', "the key 'c' twice"),
        (b"[NaN]", "NaN"),
        (b"[-Infinity]", "-Infinity"),
        (b"[1, 1e999]", "1e999"),
        (b"[" + b"1" * 5000 + b"]", "the number 11111111111111111111, which is too large"),
        (b"[-" + b"1" * 310 + b"]", "the number -1111111111111111111, which is too large"),
        (b'["\\ud800"]', "surrogate"),
        (b'{"\\uDC00": 1}', "surrogate"),
        (b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), f"more than {MAX_DEPTH} lists"),
        (b'{"a":[' * 40_000, f"more than {MAX_DEPTH} lists"),
        (b"[" + b"[]," * 2_100_000 + b"[]]", "values"),
        (b" " * 64_000_001, "64000000 bytes"),
    ],
)  # fmt: skip
def test_other_documents_are_refused_with_the_reason(data: bytes, said: str) -> None:
    with pytest.raises(InvalidJson, match=re.escape(said)):
        parse_json(data)


def test_the_deepest_document_is_read() -> None:
    assert parse_json("[" * MAX_DEPTH + "]" * MAX_DEPTH)


def test_a_surrogate_pair_is_a_character() -> None:
    assert parse_json(b'["\\ud83e\\udd16"]') == ["\N{ROBOT FACE}"]


def test_an_endless_file_is_read_up_to_the_limit() -> None:
    with pytest.raises(InvalidJson, match="more than 1000 bytes"):
        read_json("/dev/zero", max_bytes=1000)


def test_nothing_in_the_library_reads_json_otherwise() -> None:
    """`client.py` is copied to robots as one file, and reads what the server of its user sends."""
    reads = re.compile(r"\bjson\.loads?\(|model_validate_json\(")
    found = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "nsrecover").rglob("*.py")
        if reads.search(path.read_text(encoding="utf-8"))
    }
    assert found == {
        "nsrecover/util/untrusted_json.py",
        "nsrecover/serving/client.py",
        "nsrecover/records/hdf5_probe.py",  # what its own parent has written
    }

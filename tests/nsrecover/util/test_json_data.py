"""Dataclasses survive JSON, and data of other types are refused with their place."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
import pytest

from nsrecover.core.scene import FloatArray
from nsrecover.util.json_data import from_json, to_json
from nsrecover.util.python310 import StrEnum
from nsrecover.util.untrusted_json import InvalidJson, parse_json

Inner = TypeVar("Inner")


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Leaf:
    name: str
    size: float = math.inf


@dataclass(frozen=True)
class Tree(Generic[Inner]):
    colour: Colour
    leaves: tuple[Leaf, ...]
    inner: Inner
    corner: tuple[int, float] = (1, 0.5)
    flags: frozenset[str] = frozenset({"b", "a"})
    shares: Mapping[tuple[str, str], float] = field(default_factory=lambda: {("at", "mug"): 0.25})
    by_mm: dict[float, int] = field(default_factory=lambda: {5.0: 1})
    other: Leaf | int | None = None


TREE = Tree(Colour.RED, (Leaf("one", 1.0), Leaf("two")), ("x",), other=Leaf("three", 0.1))


def test_what_is_written_is_read_back() -> None:
    text = json.dumps(to_json(TREE), allow_nan=False)
    assert from_json(Tree[tuple[str, ...]], parse_json(text)) == TREE
    assert from_json(Tree[tuple[str, ...]], {"colour": "red", "leaves": [], "inner": []}) == Tree(Colour.RED, (), ())


def test_arrays_and_types_with_readers_of_their_own() -> None:
    array = np.array([[0.123456789, 2.0]], np.float32)
    assert to_json(array, digits=3) == [[0.123, 2.0]]
    back = from_json(FloatArray, [[0.5, 2]])
    assert (back.dtype, back.tolist()) == (np.float32, [[0.5, 2.0]])
    assert to_json([Leaf("a")], {Leaf: lambda leaf: leaf.name}) == ["a"]
    assert from_json(list[Leaf], ["a"], {Leaf: Leaf}) == [Leaf("a")]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"colour": "rad"}, "as colour, found 'rad'.*'red'"),
        ({"leaves": [{"name": "one"}, {"nam": "two"}]}, r"leaves\[1\], found 'nam'. Did you mean 'name'"),
        ({"leaves": [{}]}, r"leaves\[0\].name, found none"),
        ({"corner": [1]}, "2 values as corner, found 1"),
        ({"corner": [1.5, 2]}, r"int as corner\[0\], found 1.5"),
        ({"corner": [True, 2]}, r"int as corner\[0\], found True"),
        ({"shares": [["at", 1]]}, "as shares"),
        ({"shares": 3}, "as shares, found 3"),
        ({"by_mm": {"x": 1}}, "as by_mm"),
        ({"other": "leaf"}, "Leaf as other, found 'leaf'"),
        ({"inner": "leaf"}, "as inner"),
    ],
)
def test_other_data_are_refused_with_their_place(change: dict[str, Any], said: str) -> None:
    document = to_json(TREE)
    assert isinstance(document, dict)
    with pytest.raises(InvalidJson, match=said):
        from_json(Tree[tuple[str, ...]], {**document, **change})


def test_texts_lose_what_terminals_do_not_print() -> None:
    assert from_json(str, "a\x1bb") == "a b"
    with pytest.raises(TypeError, match="found object"):
        to_json(object())
    with pytest.raises(InvalidJson, match="array of numbers"):
        from_json(FloatArray, [["a"]])

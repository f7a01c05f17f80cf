"""Dataclasses as JSON data and back, by the types of their fields."""

import math
import types
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import numpy as np

from nsrecover.errors import did_you_mean
from nsrecover.util.printable import printable
from nsrecover.util.untrusted_json import InvalidJson

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]
"""What JSON can represent."""

T = TypeVar("T")
_Data = Any
"""Data, or a type, of which nothing is known."""
Readers = Mapping[object, Callable[[_Data], object]]
"""Type -> reads what its own writer wrote."""
Writers = Mapping[type, Callable[[_Data], Json]]
"""Type -> makes JSON data of a value that is not written field by field."""

_INFINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def to_json(value: object, writers: Writers = types.MappingProxyType({}), digits: int | None = None) -> Json:
    """Return a value as JSON data.

    Dataclasses become objects, enumerations their values, sets sorted lists, mappings whose keys are no texts or
    numbers lists of pairs, and numbers that are not finite texts.

    Args:
        value: made of these, and of NumPy arrays.
        writers: for types that are written otherwise.
        digits: decimals to which floats are rounded; None: they are not.
    """

    def plain(value: object) -> Json:
        if write := writers.get(type(value)):
            return write(value)
        match value:
            case Enum():
                return plain(value.value)
            case None | bool() | int() | str():
                return value
            case float() | np.floating():
                if not math.isfinite(value):
                    return str(float(value))
                return float(value) if digits is None else round(float(value), digits)
            case np.ndarray() | np.generic():
                return plain(value.tolist())
            case Mapping():
                if all(isinstance(key, str | int | float) for key in value):
                    return {str(plain(key)): plain(each) for key, each in value.items()}
                return [[plain(key), plain(each)] for key, each in sorted(value.items())]
            case Sequence():
                return [plain(each) for each in value]
            case Collection():
                return [plain(each) for each in sorted(value)]
            case _ if is_dataclass(value):
                return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
        raise TypeError(f"expected data that JSON can represent, found {type(value).__name__}")

    return plain(value)


def from_json(kind: type[T], data: object, readers: Readers = types.MappingProxyType({}), where: str = "") -> T:
    """Return the value that `to_json` has written; texts lose characters that cannot be printed.

    Args:
        kind: its type: a dataclass, or anything that the fields of one may be annotated with.
        data: parsed JSON, which may be anything.
        readers: for the types that have writers.
        where: place of the data in their document, for errors.

    Raises:
        InvalidJson: the data are not of this type; says where.
        Exception: what the constructors of the dataclasses raise.
    """
    return cast(T, _read(kind, data, readers, where))


def _read(kind: _Data, data: _Data, readers: Readers, where: str) -> object:
    if kind in readers:
        return readers[kind](data)
    origin: _Data = get_origin(kind) or kind
    if hasattr(origin, "__value__"):  # a `type` statement, as numpy's NDArray from Python 3.12 on
        return _read(origin.__value__[get_args(kind)], data, readers, where)
    parts = get_args(kind)
    if origin in (Union, types.UnionType):
        return _one_of(parts, data, readers, where)
    if kind in (Any, object):
        return data
    if kind is types.NoneType and data is None:
        return None
    if isinstance(origin, type):
        if issubclass(origin, Enum):
            known = [each.value for each in origin]
            if data not in known:
                wanted = f"one of {', '.join(map(str, known))}"
                raise _unfit(wanted, f"{data!r}.{did_you_mean(str(data), known)}", where)
            return origin(data)
        if issubclass(origin, str) and isinstance(data, str):
            return printable(data)
        if issubclass(origin, float) and data in _INFINITE:
            return _INFINITE[data]
        if issubclass(origin, bool | int | float) and isinstance(data, int | float):
            if isinstance(data, bool) == issubclass(origin, bool) and (issubclass(origin, float) or data == int(data)):
                return origin(data)
        elif issubclass(origin, np.ndarray):
            return _array(parts, data, where)
        elif is_dataclass(origin) and isinstance(data, Mapping):
            return _fields(origin, parts, data, readers, where)
        elif issubclass(origin, Mapping) and isinstance(data, Mapping | list):
            return dict(_pairs(parts, data, readers, where))
        elif issubclass(origin, Collection) and isinstance(data, list):
            return _items(origin, parts, data, readers, where)
    raise _unfit(getattr(kind, "__name__", str(kind)), repr(data)[:60], where)


def _unfit(wanted: str, found: str, where: str) -> InvalidJson:
    return InvalidJson(f"expected {wanted}{f' as {where}' if where else ''}, found {found}")


def _one_of(options: Sequence[_Data], data: _Data, readers: Readers, where: str) -> object:
    """The value as the first of several types that it fits."""
    problems = []
    for option in options:
        try:
            return _read(option, data, readers, where)
        except InvalidJson as problem:
            problems.append(problem)
    raise next((each for each, option in zip(problems, options, strict=True) if option is not types.NoneType))


def _fields(kind: type, parts: Sequence[_Data], data: Mapping[str, _Data], readers: Readers, where: str) -> object:
    hints = hints_of(kind)
    bound = dict(zip(getattr(kind, "__parameters__", ()), parts, strict=False))
    values, known = {}, {item.name: item for item in fields(kind) if item.init}
    for name in data.keys() - known.keys():
        raise _unfit(f"fields of {kind.__name__}", f"{name!r}.{did_you_mean(name, known)}", where)
    for name, item in known.items():
        here = f"{where}.{name}" if where else name
        if name in data:
            hint: _Data = bound.get(hints[name], hints[name])
            if inner := getattr(hint, "__parameters__", ()):
                hint = hint[tuple(bound[each] for each in inner)]
            values[name] = _read(hint, data[name], readers, here)
        elif item.default is MISSING and item.default_factory is MISSING:
            raise _unfit(f"a value of {kind.__name__}", "none", here)
    return kind(**values)


@cache
def hints_of(kind: type) -> dict[str, _Data]:
    """Field -> its type."""
    return get_type_hints(kind)


def _pairs(parts: Sequence[_Data], data: _Data, readers: Readers, where: str) -> Iterator[tuple[Any, object]]:
    key_kind, value_kind = parts or (str, Any)
    try:
        for key, value in data.items() if isinstance(data, Mapping) else data:
            number = isinstance(data, Mapping) and key_kind in (int, float)
            known = _read(key_kind, key_kind(key) if number else key, readers, f"{where} key")
            yield known, _read(value_kind, value, readers, f"{where}.{key}")
    except (TypeError, ValueError) as problem:
        raise problem if isinstance(problem, InvalidJson) else _unfit("a mapping", repr(data)[:60], where) from problem


def _items(kind: _Data, parts: Sequence[_Data], data: Sequence[_Data], readers: Readers, where: str) -> object:
    if issubclass(kind, tuple) and parts and parts[-1] is not Ellipsis:
        if len(parts) != len(data):
            raise _unfit(f"{len(parts)} values", f"{len(data)}", where)
        kinds = list(parts)
    else:
        kinds = [parts[0] if parts else Any] * len(data)
    found = [_read(kinds[i], value, readers, f"{where}[{i}]") for i, value in enumerate(data)]
    return kind(found) if issubclass(kind, list | frozenset) else tuple(found)


def _array(parts: Sequence[_Data], data: _Data, where: str) -> object:
    dtype = get_args(parts[1])[0] if len(parts) > 1 and get_args(parts[1]) else float
    try:
        return np.array(data, dtype if isinstance(dtype, type) else float)
    except (TypeError, ValueError) as problem:
        raise _unfit("an array of numbers", repr(data)[:60], where) from problem

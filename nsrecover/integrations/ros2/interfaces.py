"""The message definitions of `nsrecover_interfaces`, for programs without ROS.

The .msg and .srv files in the folder of the same name are those of ros2/nsrecover_interfaces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any

import numpy as np

from nsrecover.errors import InvalidConfiguration
from nsrecover.util.extras import needs_extra

PACKAGE = "nsrecover_interfaces"
SERVICES = ("Check", "Judge", "Recover")
_PLAIN: dict[str, Callable[..., Any]] = {"string": str, "bool": bool}


def type_store() -> Any:
    """The types of ROS 2 Humble and ours, as a type store of rosbags.

    A service `S` has the types `S_Request` and `S_Response`.

    Raises:
        InvalidConfiguration: rosbags is not installed.
    """
    with needs_extra("bags", "rosbags"):
        from rosbags.typesys import Stores, get_types_from_msg, get_typestore
    store = get_typestore(Stores.ROS2_HUMBLE)
    for name, text in definitions().items():
        store.register(get_types_from_msg(text, name))
    return store


def definitions() -> dict[str, str]:
    """Name of each type -> its definition."""
    folder = resources.files("nsrecover.integrations.ros2") / "interfaces"
    found = {
        f"{PACKAGE}/msg/{each.name.removesuffix('.msg')}": each.read_text(encoding="utf-8")
        for each in sorted((folder / "msg").iterdir(), key=lambda each: each.name)
        if each.name.endswith(".msg")
    }
    for service in SERVICES:
        halves = (folder / "srv" / f"{service}.srv").read_text(encoding="utf-8").split("---\n")
        for half, text in zip(("Request", "Response"), halves, strict=True):
            found[f"{PACKAGE}/msg/{service}_{half}"] = text
    return found


def message_of(store: Any, kind: str, fields: Mapping[str, Any]) -> Any:
    """A message with the given fields; what is left out is zero or empty.

    Args:
        store: from `type_store`.
        kind: such as `nsrecover_interfaces/msg/Action`.
        fields: nested mappings and lists.

    Raises:
        InvalidConfiguration: the type has no such field.
    """
    definition = dict(store.fielddefs[kind][1])
    unknown = sorted(set(fields) - set(definition))
    if unknown:
        raise InvalidConfiguration(
            f"expected fields of {kind}, found {', '.join(unknown)}; known: {sorted(definition)}"
        )
    return store.types[kind](**{name: _value(store, how, fields.get(name)) for name, how in definition.items()})


def _value(store: Any, how: Any, given: Any) -> Any:
    node, argument = how
    match node.name:
        case "BASE":
            kind = _PLAIN.get(argument[0], float if argument[0].startswith("float") else int)
            return kind() if given is None else kind(given)
        case "NAME":
            return message_of(store, argument, given or {})
        case _:
            inner, count = argument
            items = [_value(store, inner, each) for each in (() if given is None else given)]
            if inner[0].name == "BASE" and inner[1][0] not in ("string", "bool"):
                items = items or [0] * count
                return np.array(items, dtype=inner[1][0])
            return items

"""The message definitions of the ROS 2 packages as types of rosbags."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from tests.commands import ROOT

FOLDER = ROOT / "ros2" / "nsrecover_interfaces"
PACKAGE = "nsrecover_interfaces/msg/"


@cache
def definitions() -> dict[str, str]:
    """Name of each type -> its definition; a service S has the types S_Request and S_Response."""
    found = {each.stem: each.read_text(encoding="utf-8") for each in FOLDER.glob("msg/*.msg")}
    for service in FOLDER.glob("srv/*.srv"):
        asked, answered = service.read_text(encoding="utf-8").split("---\n")
        found |= {f"{service.stem}_Request": asked, f"{service.stem}_Response": answered}
    return {PACKAGE + name: text for name, text in found.items()}


@cache
def type_store() -> Any:
    """The types of ROS 2 Humble and ours."""
    store = get_typestore(Stores.ROS2_HUMBLE)
    for name, text in definitions().items():
        store.register(get_types_from_msg(text, name))
    return store


def message_of(kind: str, fields: Mapping[str, Any]) -> Any:
    """A message with some fields, each of which has to be in its definition; the others are zero or empty."""
    definition = dict(type_store().fielddefs[kind][1])
    assert not set(fields) - set(definition), kind
    return type_store().types[kind](**{name: _value(how, fields.get(name)) for name, how in definition.items()})


def _value(how: Any, given: Any) -> Any:
    node, argument = how
    if node.name == "NAME":
        return message_of(argument, given or {})
    if node.name == "BASE":
        kind = {"string": str, "bool": bool}.get(argument[0], float if argument[0].startswith("float") else int)
        return kind() if given is None else kind(given)
    inner, count = argument
    items = [_value(inner, each) for each in given or ()]
    if inner[0].name == "BASE" and inner[1][0] != "string":
        return np.array(items or [0] * count, dtype=inner[1][0])
    return items

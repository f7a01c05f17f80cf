"""Messages of ROS from nested dictionaries, and their classes by name."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any


def class_of(kind: str) -> Any:
    """The class of a type such as `sensor_msgs/msg/Image`."""
    package, _, name = kind.split("/")
    return getattr(import_module(f"{package}.msg"), name)


def fill(message: Any, fields: Mapping[str, Any]) -> None:
    """Set fields of a message; messages inside it are dictionaries.

    Raises:
        AttributeError: it has no such field.
    """
    kinds = message.get_fields_and_field_types()
    for name, value in fields.items():
        if isinstance(value, Mapping):
            fill(getattr(message, name), value)
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            package, kind = kinds[name].removeprefix("sequence<").rstrip(">").split("/")
            items = [class_of(f"{package}/msg/{kind}")() for _ in value]
            for item, each in zip(items, value, strict=True):
                fill(item, each)
            setattr(message, name, items)
        else:
            setattr(message, name, value)

"""Checks of the values that describe a sensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from nsrecover.errors import InvalidConfiguration


def check_values(errors: Any, shares: Sequence[str] = (), signed: Sequence[str] = ()) -> None:
    """Check the numbers of a dataclass of errors.

    Args:
        errors: the dataclass; its fields are numbers, or true or false.
        shares: names of the fields between 0 and 1.
        signed: names of the fields that may be negative.

    Raises:
        InvalidConfiguration: a value is no number, or out of range.
    """
    for field in fields(errors):
        value, name = getattr(errors, field.name), f"{field.name} of {type(errors).__name__}"
        if field.type == "bool":
            if not isinstance(value, bool):
                raise InvalidConfiguration(f"expected {name} as true or false, found {value!r}")
            continue
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise InvalidConfiguration(f"expected {name} as a number, found {value!r}")
        if field.type == "int" and value != int(value):
            raise InvalidConfiguration(f"expected {name} as a whole number, found {value}")
        if field.name in shares and not 0 <= value <= 1:
            raise InvalidConfiguration(f"expected {name} between 0 and 1, found {value}")
        if field.name not in signed and value < 0:
            raise InvalidConfiguration(f"expected {name} of at least 0, found {value}")

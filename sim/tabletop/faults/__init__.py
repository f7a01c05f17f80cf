"""Faults that are injected physically: the hooks (`base`) and the concrete faults.

To add one, write a file with a frozen dataclass that overrides the hooks it needs, and add it to `FAULTS`; the
conformance test then checks it.
"""

from collections.abc import Mapping
from typing import Any

from sim.common.faults import fault_from_plain, registry
from sim.tabletop.faults.arm import (
    Drop,
    DropClosing,
    Misled,
    MissedGrasp,
    OffsetPlacement,
    Push,
    PushMidway,
    Slip,
    SlipClosing,
    WrongSupport,
    WrongYaw,
)
from sim.tabletop.faults.base import ErrorClass, Fault, Moment
from sim.tabletop.faults.others import (
    BlockedPlace,
    Displaced,
    HelpingPerson,
    OutOfReach,
    Removed,
    Swap,
    Toppled,
    Turned,
    Unstack,
)

FAULTS: dict[str, type[Fault]] = registry(
    Slip,
    SlipClosing,
    Drop,
    DropClosing,
    MissedGrasp,
    OffsetPlacement,
    WrongSupport,
    WrongYaw,
    Misled,
    Displaced,
    Unstack,
    BlockedPlace,
    HelpingPerson,
    Push,
    PushMidway,
    Swap,
    Removed,
    OutOfReach,
    Toppled,
    Turned,
)
"""Every fault by its name in configurations."""


def fault_from_dict(data: Mapping[str, Any]) -> Fault:
    """Read a fault from plain data, as `Fault.to_dict` writes it.

    Raises:
        InvalidConfiguration: the name is unknown, or a parameter is unknown, missing or of the wrong type.
    """
    return fault_from_plain(FAULTS, data)


__all__ = [
    "FAULTS",
    "BlockedPlace",
    "Displaced",
    "Drop",
    "DropClosing",
    "ErrorClass",
    "Fault",
    "HelpingPerson",
    "Misled",
    "MissedGrasp",
    "Moment",
    "OffsetPlacement",
    "OutOfReach",
    "Push",
    "PushMidway",
    "Removed",
    "Slip",
    "SlipClosing",
    "Swap",
    "Toppled",
    "Turned",
    "Unstack",
    "WrongSupport",
    "WrongYaw",
    "fault_from_dict",
]

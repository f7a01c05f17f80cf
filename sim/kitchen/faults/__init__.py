"""Faults of the kitchen that are injected physically: the hooks (`base`) and the concrete faults.

To add one, write a frozen dataclass that overrides the hooks it needs, and add it to `FAULTS`; the conformance test
then checks it, and the error datasets of the kitchen sample it.
"""

from collections.abc import Mapping
from typing import Any

from sim.common.faults import fault_from_plain, registry
from sim.kitchen.faults import blocking, initial, irreversible, people, planning, robot
from sim.kitchen.faults.base import START, Fault, FaultClass
from sim.kitchen.faults.moment import Moment, Snapshot, snapshot

FAULTS: dict[str, type[Fault]] = registry(
    robot.Dropped,
    robot.Slipped,
    robot.FailedGrasp,
    robot.FailedAction,
    robot.WrongPose,
    robot.WrongObject,
    robot.DoorAjar,
    blocking.Blocked,
    blocking.Occupied,
    blocking.OutOfReach,
    planning.MissingStep,
    planning.WrongOrder,
    planning.WrongInPlan,
    planning.AmbiguousReference,
    initial.DirtyAtStart,
    initial.FilledAtStart,
    initial.OccupiedAtStart,
    people.DoorOpened,
    people.DoorClosed,
    people.Taken,
    people.Added,
    people.Switched,
    people.ApplianceStopped,
    people.ApplianceStarted,
    people.Helped,
    irreversible.WrongLiquid,
    irreversible.CrackedElsewhere,
    irreversible.Cooked,
    irreversible.Sliced,
    irreversible.Broken,
    irreversible.Toppled,
    irreversible.Overheated,
)
"""Every fault that datasets sample, by its name in configurations."""
_WRITTEN: Mapping[str, type[Fault]] = {planning.AddedSteps.kind: planning.AddedSteps}
"""Faults that only the cases of a dataset have."""


def fault_from_dict(data: Mapping[str, Any]) -> Fault:
    """Read a fault from plain data, as `Fault.to_dict` writes it.

    Raises:
        InvalidConfiguration: the name is unknown, or a parameter is unknown, missing or of the wrong type.
    """
    return fault_from_plain({**FAULTS, **_WRITTEN}, data)


__all__ = ["FAULTS", "START", "Fault", "FaultClass", "Moment", "Snapshot", "fault_from_dict", "snapshot"]

"""Topics and services of the monitor, for every transport."""

from __future__ import annotations

from enum import Enum
from typing import Any

from nsrecover.integrations.ros2.answers import Fields
from nsrecover.records.bags.messages import PLAN, TF, seconds

DISCREPANCY, RECOVERY, STATE = (f"/nsrecover/{name}" for name in ("discrepancy", "recovery", "state"))
"""Topics of what the monitor publishes."""

LATCHED = (PLAN, TF[1], STATE)
"""Topics whose last message is kept for those who come later."""


class Request(Enum):
    """What can be asked; the value is the name of the service's type."""

    CHECK = "Check"
    JUDGE = "Judge"
    RECOVER = "Recover"

    @property
    def service(self) -> str:
        """Name of the service."""
        return f"/nsrecover/{self.value.lower()}"


def request_fields(request: Request, message: Any) -> Fields:
    """The fields of a request's message that `MonitorCore.submit` takes."""
    if request is Request.RECOVER:
        return {"budget_s": float(message.budget_s)}
    return {"done": int(message.done), "not_before": seconds(message.not_before)}

"""What a session uses of a system: protocols of planner, explainer and what makes monitors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from nsrecover.core.actions import Plan
from nsrecover.core.certainty import CERTAINTY, Certainty
from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.protocols import Explainer
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneT
from nsrecover.core.traces import Trace
from nsrecover.domains.domain import Domain
from nsrecover.monitoring.during import ActionModel
from nsrecover.monitoring.monitor import Monitor


class Planner(Protocol[SceneT]):
    """Finds recoveries."""

    def recover(
        self,
        observed: SceneT,
        trace: Trace[SceneT],
        discrepancy: Discrepancy[SceneT],
        /,
        *,
        budget_s: float | None = None,
        on_improvement: Callable[[Recovery[SceneT]], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Recovery[SceneT]:
        """The cheapest recovery."""
        ...


class Parts(Protocol[SceneT]):
    """What a session uses of a system."""

    @property
    def domain(self) -> Domain:
        """The words."""
        ...

    @property
    def planner(self) -> Planner[SceneT]:
        """Finds recoveries."""
        ...

    @property
    def explainer(self) -> Explainer:
        """Explains discrepancies."""
        ...

    @property
    def during(self) -> ActionModel | None:
        """What happens while an action runs; None: actions are not watched while they run."""
        ...

    def check_plan(self, plan: Plan) -> None:
        """Refuse a plan that fits no scene."""
        ...

    def monitor(
        self,
        plan: Plan,
        observation: object,
        perceiver: object = None,
        *,
        check_sensors: bool = True,
        certainty: Certainty = CERTAINTY,
    ) -> Monitor[SceneT]:
        """Return a monitor of a plan."""
        ...

"""The parts put together for symbolic domains without images: what `nsrecover.symbolic()` returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from nsrecover.core.actions import Plan
from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.explanation import Explanation
from nsrecover.core.facts import FactScene, StateFact
from nsrecover.core.recovery import Recovery
from nsrecover.domains.domain import Domain
from nsrecover.domains.instance import Instance, check_plan
from nsrecover.errors import InvalidConfiguration
from nsrecover.explanation.fact_explainer import FactExplainer
from nsrecover.monitoring.beliefs import DECAY
from nsrecover.monitoring.fact_monitor import FactMonitor, FactPerceiver, FactWatching
from nsrecover.perception.facts import FactsPerceiver
from nsrecover.planning.symbolic.fact_planner import FactPlanner, contradictions, with_durations
from nsrecover.planning.symbolic.lookahead import FactLookahead
from nsrecover.session import HasSessions

FactsExplainer = Callable[[Discrepancy[FactScene], Recovery | None], Explanation]


@dataclass(frozen=True)
class FactSystem(HasSessions[FactScene]):
    """Monitor, look-ahead, planner and explainer around one instance of a symbolic domain; each usable alone.

    `nsrecover.RecoveryAgent` takes it like a `System`; observations are `nsrecover.FactScene`s or facts.

    Attributes:
        instance: the domain over the objects of the scene.
        goal: conditions that hold in the end; None: what a plan brings about.
        assumed: the facts for which plans are made, where they differ from those at the start; see `FactMonitor`.
        ahead: whether plans are checked ahead before every action.
        check: whether anything is checked before actions.
        explainer: explains discrepancies; by default a `FactExplainer` for the instance.
        perceiver: makes a fresh perceiver for an episode; by default observations are scenes of facts.
        decay: factor of the certainty of what is not seen, for every action; 0 for a monitor without memory.
        visits: whether places are looked at before something is done there; see `FactMonitor`.
    """

    instance: Instance
    goal: tuple[StateFact, ...] | None = None
    assumed: frozenset[StateFact] | None = None
    ahead: bool = True
    check: bool = True
    explainer: FactsExplainer = None  # type: ignore[assignment]  # __post_init__ sets it
    perceiver: Callable[[Instance], FactPerceiver[Any]] = FactsPerceiver
    decay: float = DECAY
    visits: bool = False

    def __post_init__(self) -> None:
        if self.explainer is None:
            object.__setattr__(self, "explainer", FactExplainer(self.instance))
        for one, other in contradictions(self.goal or (), self.instance.domain):
            raise InvalidConfiguration(f"expected a goal that can hold, found {one} and {other} in it; leave one out")

    @property
    def domain(self) -> Domain:
        """The domain, which has the words."""
        return self.instance.domain

    @cached_property
    def planner(self) -> FactPlanner:
        """The recovery planner."""
        return FactPlanner(self.instance)

    @cached_property
    def lookahead(self) -> FactLookahead:
        """The checks before actions."""
        return FactLookahead(self.planner)

    def monitor(
        self, plan: Plan, observation: Any, perceiver: FactPerceiver[Any] | None = None, *, check_sensors: bool = True
    ) -> FactMonitor[Any]:
        """Return a monitor of a plan that another program executes.

        Args:
            plan: the plan.
            observation: the facts before its first action, or what the perceiver takes.
            perceiver: converts observations into scenes of facts.
            check_sensors: facts have no sensors; for the same call as of `System`.

        Raises:
            InvalidAction: the plan has an unknown operator or wrong arguments.
            InvalidObservation: the observation cannot be used.
        """
        lookahead = self.lookahead if self.ahead else None
        watching = FactWatching(self.goal, self.assumed, lookahead, self.check, self.decay, self.visits)
        return FactMonitor(self.instance, perceiver or self.perceiver(self.instance), plan, observation, watching)

    def check_plan(self, plan: Plan) -> None:
        """Refuse a plan with unknown operators, objects or wrong numbers of arguments.

        Raises:
            InvalidAction: an operator or the number of its arguments.
            UnknownObject: an object.
        """
        check_plan(self.instance, plan)


def symbolic(
    instance: Instance, goal: Sequence[StateFact] | None = None, durations: Mapping[str, float] | None = None
) -> FactSystem:
    """A system for a symbolic domain that needs facts only: no images, no checkpoint, no torch.

    Args:
        instance: the domain over the objects of the scene, for example from `nsrecover.domains.household.household`.
        goal: conditions that hold in the end; None: what a plan brings about.
        durations: operator -> seconds, the cost of a recovery; each action costs what its operator says by default.

    Raises:
        InvalidConfiguration: the goal contradicts itself, an operator is unknown, or a duration is not positive.
    """
    if durations is not None:
        instance = replace(instance, domain=with_durations(instance.domain, durations))
    return FactSystem(instance, None if goal is None else tuple(goal))

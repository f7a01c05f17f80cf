"""What is needed to watch the execution of plans: one for scenes of boxes, one for scenes of facts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from nsrecover.core.actions import Plan
from nsrecover.core.certainty import Certainty
from nsrecover.core.observation import Observation
from nsrecover.core.scene import SceneGraph, SceneT
from nsrecover.domains.domain import Domain
from nsrecover.domains.entrances import check_plan
from nsrecover.domains.instance import Instance
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.domains.tabletop.spatial import SpatialDomain
from nsrecover.errors import InvalidConfiguration
from nsrecover.models.geometric import GeometricModels
from nsrecover.models.protocols import SceneModels
from nsrecover.monitoring.boxes.comparison import Comparison
from nsrecover.monitoring.boxes.imagination import Imagination
from nsrecover.monitoring.boxes.monitor import BoxMonitor
from nsrecover.monitoring.facts.monitor import FactMonitor
from nsrecover.monitoring.facts.rules import FactPerceiver, FactRules
from nsrecover.monitoring.monitor import Monitor
from nsrecover.perception.cameras.checks import require_plausible
from nsrecover.perception.facts import FactsPerceiver
from nsrecover.perception.function import as_perceiver
from nsrecover.perception.objects.boxes import BoxesPerceiver

if TYPE_CHECKING:
    from nsrecover.perception.perceiver import ScenePerceiver  # loads torch


class Watching(Protocol[SceneT]):
    """Makes monitors of plans."""

    @property
    def domain(self) -> Domain:
        """What can be in a scene and what can be done to it; it has the words."""
        ...

    def check_plan(self, plan: Plan) -> None:
        """Refuse a plan that fits no scene.

        Raises:
            InvalidAction: it has an unknown operator or wrong arguments.
        """
        ...

    def monitor(
        self, plan: Plan, observation: Any, perceiver: Any, check_sensors: bool, certainty: Certainty
    ) -> Monitor[SceneT]:
        """Return a monitor of a plan, see `System.monitor`."""
        ...


@dataclass(frozen=True)
class BoxWatching:
    """Watches scenes of boxes.

    Attributes:
        models: the learned parts of a checkpoint, or geometry alone.
        domain: what can be in a scene and what can be done to it; another one may only add operators to the tabletop's.
        imagination: of the scenes after an action or a plan; by default with the models.
        comparison: of two scenes; by default with the models.
    """

    models: SceneModels
    domain: SpatialDomain = TABLETOP
    imagination: Imagination = field(default=None)  # type: ignore[assignment]  # __post_init__ sets it
    comparison: Comparison = field(default=None)  # type: ignore[assignment]  # __post_init__ sets it

    def __post_init__(self) -> None:
        for name, part in (("imagination", Imagination), ("comparison", Comparison)):
            if getattr(self, name) is None:
                object.__setattr__(self, name, part(self.models, self.domain))

    def with_models(self, models: SceneModels) -> BoxWatching:
        """The same with other models in every part."""
        return BoxWatching(models, self.domain)

    def perceiver(self, watch_cameras: bool = True) -> ScenePerceiver:
        """A fresh perceiver of camera images.

        Raises:
            InvalidConfiguration: the models are geometry alone.
        """
        if isinstance(self.models, GeometricModels):
            raise InvalidConfiguration(
                "expected a system with learned parts, found one that works by geometry alone; hand it boxes or scene "
                "graphs, or use nsrecover.load()"
            )
        from nsrecover.perception.perceiver import ScenePerceiver

        return ScenePerceiver(self.models, watch_cameras=watch_cameras)  # type: ignore[arg-type]

    def check_plan(self, plan: Plan) -> None:
        """Refuse a plan with unknown operators or wrong numbers of arguments, or one that stacks in a circle."""
        self.domain.check_plan(plan)

    def monitor(
        self, plan: Plan, observation: Any, perceiver: Any, check_sensors: bool, certainty: Certainty
    ) -> Monitor[SceneGraph]:
        """Return a monitor of a plan."""
        if perceiver is None:
            perceiver = self.perceiver(check_sensors) if isinstance(observation, Observation) else BoxesPerceiver()
        if check_sensors and isinstance(observation, Observation):
            require_plausible(observation)
        return BoxMonitor(self, as_perceiver(perceiver), plan, observation, certainty)


@dataclass(frozen=True)
class FactWatching:
    """Watches scenes of facts.

    Attributes:
        instance: the domain over the objects of the scene.
        rules: how scenes are compared.
        perceiver: makes a fresh perceiver for an episode; by default observations are scenes of facts.
    """

    instance: Instance
    rules: FactRules = field(default_factory=FactRules)
    perceiver: Callable[[Instance], FactPerceiver[Any]] = FactsPerceiver

    @property
    def domain(self) -> Domain:
        """The domain, which has the words."""
        return self.instance.domain

    def check_plan(self, plan: Plan) -> None:
        """Refuse a plan with unknown operators or objects, or with arguments that do not fit."""
        check_plan(self.instance, plan)

    def monitor(
        self, plan: Plan, observation: Any, perceiver: Any, check_sensors: bool, certainty: Certainty
    ) -> FactMonitor[Any]:
        """Return a monitor of a plan."""
        return FactMonitor(
            self.instance, perceiver or self.perceiver(self.instance), plan, observation, self.rules, certainty
        )

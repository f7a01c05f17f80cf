"""The parts put together: one system for scenes of boxes or of facts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

from nsrecover.core.actions import Plan
from nsrecover.core.certainty import CERTAINTY, Certainty
from nsrecover.core.entrance import checked_plan
from nsrecover.core.observation import Observation
from nsrecover.core.scene import SceneT
from nsrecover.core.sessions.settings import SessionSettings
from nsrecover.core.sessions.supervision import Listener
from nsrecover.domains.domain import Domain
from nsrecover.domains.tabletop.spatial import SpatialDomain
from nsrecover.errors import InvalidConfiguration
from nsrecover.models.conformal import Calibration, CalibrationWatch, conformal_threshold, lowest
from nsrecover.models.effects.operator import save_operators
from nsrecover.models.geometric import GeometricModels, save_geometric
from nsrecover.models.protocols import SceneModels
from nsrecover.monitoring.boxes.comparison import Comparison
from nsrecover.monitoring.boxes.imagination import Imagination
from nsrecover.monitoring.during import ActionModel
from nsrecover.monitoring.monitor import Monitor
from nsrecover.monitoring.parts import Explains, Planner
from nsrecover.monitoring.watching import BoxWatching, FactWatching, Watching
from nsrecover.perception.objects.boxes import Given
from nsrecover.planning.planner import RecoveryPlanner, Rejoin
from nsrecover.session import Session
from nsrecover.util.english import amount

if TYPE_CHECKING:
    from nsrecover.models.bundle import Bundle  # loads torch, which is for `load` to do
    from nsrecover.perception.perceiver import ScenePerceiver


@dataclass(frozen=True)
class System(Generic[SceneT]):
    """Perception, imagination, comparison, planner and explainer put together; each usable alone and replaceable.

    `load()` and `geometric()` make one for scenes of boxes, `symbolic()` one for scenes of facts.

    Attributes:
        watching: makes monitors: perceiver, imagination, comparison and look-ahead.
        planner: finds recoveries onto a plan.
        explainer: explains discrepancies.
        calibration: what the threshold was set on, if `calibrated` or `load(alpha=)` did that.
        motions: says what should be seen while an action runs, for `Session.glanced`; None: there is no such model.
    """

    watching: Watching[SceneT]
    planner: Planner[SceneT]
    explainer: Explains
    calibration: Calibration | None = None
    motions: ActionModel | None = None

    @property
    def domain(self) -> Domain:
        """What can be in a scene and what can be done to it; it has the words."""
        return self.watching.domain

    def check_plan(self, plan: Plan) -> None:
        """Refuse a plan that fits no scene.

        Raises:
            InvalidAction: it has an unknown operator or wrong arguments.
        """
        self.watching.check_plan(checked_plan(plan))

    def monitor(
        self,
        plan: Plan,
        observation: Any,
        perceiver: Any = None,
        *,
        check_sensors: bool = True,
        certainty: Certainty = CERTAINTY,
    ) -> Monitor[SceneT]:
        """Return a monitor of a plan that another program executes.

        Args:
            plan: the plan.
            observation: the observation before its first action: camera images, a scene graph, boxes by name, or facts.
                Later observations are of the same type.
            perceiver: converts other observations into scenes; a fresh one for each episode.
            check_sensors: whether first camera images are refused if units, poses or masks are implausible, and cameras
                are watched from then on; see `nsrecover.perception.cameras`.
            certainty: how sure a verdict has to be.

        Raises:
            InvalidAction: the plan has an unknown operator or wrong arguments.
            UnknownObject: it names an object that is not in the scene.
            InvalidObservation: the observation cannot be used, or is implausible.
        """
        return self.watching.monitor(checked_plan(plan), observation, perceiver, check_sensors, certainty)

    def session(
        self,
        plan: Plan,
        observation: object = None,
        settings: SessionSettings | None = None,
        *,
        perceiver: object = None,
        listener: Listener | None = None,
    ) -> Session[SceneT]:
        """Return a session that carries out a plan; arguments and errors as for `nsrecover.session.Session`."""
        return Session(self, plan, observation, settings, perceiver=perceiver, listener=listener)

    @property
    def _boxes(self) -> BoxWatching:
        if not isinstance(self.watching, BoxWatching):
            raise InvalidConfiguration(
                "expected a system for scenes of boxes, found one for scenes of facts; use load() or geometric()"
            )
        return self.watching

    @property
    def facts(self) -> FactWatching:
        """What watches scenes of facts.

        Raises:
            InvalidConfiguration: the system is for scenes of boxes.
        """
        if not isinstance(self.watching, FactWatching):
            raise InvalidConfiguration(
                "expected a system for scenes of facts, found one for scenes of boxes; use nsrecover.symbolic()"
            )
        return self.watching

    @property
    def models(self) -> SceneModels:
        """The learned parts, or geometry alone, of a system for boxes."""
        return self._boxes.models

    @property
    def imagination(self) -> Imagination:
        """The imagination of the scenes after an action or a plan, of a system for boxes."""
        return self._boxes.imagination

    @property
    def comparison(self) -> Comparison:
        """The stateless comparison, of a system for boxes; the caller keeps scene, trace and step."""
        return self._boxes.comparison

    @property
    def box_planner(self) -> RecoveryPlanner:
        """The recovery planner of a system for boxes.

        Raises:
            InvalidConfiguration: the planner is another one.
        """
        if not isinstance(self.planner, RecoveryPlanner):
            raise InvalidConfiguration(
                f"expected the library's planner of scenes of boxes, found {type(self.planner).__name__}"
            )
        return self.planner

    def perceiver(self, watch_cameras: bool = True) -> ScenePerceiver:
        """A fresh perceiver of camera images; one for each episode, since it remembers.

        Args:
            watch_cameras: whether cameras that fail or move are named, see `ScenePerceiver`.

        Raises:
            InvalidConfiguration: the system works by geometry alone, or on facts.
        """
        return self._boxes.perceiver(watch_cameras)

    @property
    def bundle(self) -> Bundle:
        """The learned parts.

        Raises:
            InvalidConfiguration: the system works by geometry alone, or on facts.
        """
        if isinstance(self.models, GeometricModels):
            raise InvalidConfiguration(
                "expected a system with learned parts, found one that works by geometry alone; hand it boxes or scene "
                "graphs, or use nsrecover.load()"
            )
        from nsrecover.models.bundle import Bundle

        assert isinstance(self.models, Bundle)
        return self.models

    def with_models(self, models: SceneModels, calibration: Calibration | None = None) -> System[SceneT]:
        """The same system for boxes with other models in every part.

        Args:
            models: the models.
            calibration: what their threshold was set on.
        """
        watching: Any = self._boxes.with_models(models)
        planner: Any = replace(self.box_planner, models=models)
        return replace(self, watching=watching, planner=planner, calibration=calibration or self.calibration)

    def rejoining(self, rejoin: Rejoin) -> System[SceneT]:
        """The same system for boxes with another criterion for being back on the plan."""
        planner: Any = replace(self.box_planner, rejoin=rejoin)
        return replace(self, planner=planner)

    def on_table(self, workspace: tuple[float, float, float, float], room_m: float | None = None) -> System[SceneT]:
        """The same system for another table.

        Args:
            workspace: x_min, y_min, x_max, y_max of the table that things may be put down on, metres.
            room_m: how much wider or higher than expected an object may be, metres, on a table where room is scarce:
                objects that were turned in their place then deviate, too. None: that does not count.
        """
        return self.with_models(self.models.with_table(workspace, room_m))

    def calibrated(
        self,
        successes: Iterable[tuple[Plan, Sequence[Observation | Given]]],
        alpha: float,
        *,
        check_sensors: bool = True,
    ) -> System[SceneT]:
        """The same system with a threshold that keeps false alarms to a rate, from episodes that went well.

        Split-conformal: if the steps to come are like those of the episodes, an alarm is raised at no more than a share
        `alpha` of those that go well.

        Args:
            successes: plans of T actions, each with its T + 1 observations.
            alpha: promised rate of false alarms per step, above 0 and at most 0.2.
            check_sensors: as for `monitor`.

        Raises:
            InvalidConfiguration: the rate is out of its range, there are too few steps to promise it, or an episode has
                not one observation more than actions.
            InvalidObservation: an observation cannot be used.
        """
        scores = []
        for plan, seen in successes:
            if len(seen) != len(plan) + 1:
                raise InvalidConfiguration(
                    f"expected {amount(len(plan) + 1, 'observation')} for {amount(len(plan), 'action')}, "
                    f"found {len(seen)}; give one "
                    "before the first action and one after each"
                )
            monitor = self.monitor(plan, seen[0], check_sensors=check_sensors)
            for after in seen[1:]:
                assert monitor.next_action is not None
                scores.append(float(monitor.step(monitor.next_action, after).probabilities.min()))
        threshold = conformal_threshold(lowest(scores), len(scores), alpha)
        if threshold == 0.0:
            needed, absent = math.ceil(1 / alpha) - 1, sum(score == 0.0 for score in scores)
            raise InvalidConfiguration(
                f"expected at least {needed} successful steps to promise a false-alarm rate of {alpha}, found "
                f"{len(scores)}; give more, or ask for a higher rate"
                if len(scores) < needed
                else f"expected steps that went well, found {absent} of {len(scores)} in which an object was gone from "
                f"its place; leave these episodes out, or ask for a rate above {absent / len(scores):.2g}"
            )
        calibration = Calibration(lowest(scores), len(scores))
        return self.with_models(self.models.with_threshold(threshold), calibration)

    def save(self, folder: str | Path, card: str = "") -> Path:
        """Write models, threshold, what it was set on, and learned operators, for `nsrecover.load(folder)`.

        Args:
            folder: where; made if it does not exist.
            card: text of the model card (Markdown), for learned parts.

        Returns:
            The folder.
        """
        if isinstance(self.domain, SpatialDomain):
            save_operators(self.domain, folder)
        if isinstance(self.models, GeometricModels):
            return save_geometric(self.models, self.calibration, folder)
        bundle = self.bundle
        if self.calibration is not None:
            bundle = bundle.with_calibration(self.calibration)
        return bundle.save(folder, card)

    def calibration_watch(self) -> CalibrationWatch:
        """A watch for steps that no longer look like those of the calibration; one for all episodes of a robot.

        Raises:
            InvalidConfiguration: the system was not calibrated.
        """
        if self.calibration is None:
            raise InvalidConfiguration(
                "expected a calibrated system, found none; use System.calibrated with good runs, or load(alpha=)"
            )
        return CalibrationWatch(self.calibration)

"""The parts put together: one system for scenes of boxes or of facts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, Protocol

from nsrecover.core.actions import Plan
from nsrecover.core.certainty import CERTAINTY, Certainty
from nsrecover.core.entrance import checked_plan
from nsrecover.core.observation import Observation
from nsrecover.core.protocols import Explainer
from nsrecover.core.scene import SceneT
from nsrecover.core.sessions.settings import SessionSettings
from nsrecover.core.sessions.supervision import Listener
from nsrecover.domains.domain import Domain
from nsrecover.errors import InvalidConfiguration
from nsrecover.models.conformal import Calibration, CalibrationWatch
from nsrecover.monitoring.during import ActionModel
from nsrecover.monitoring.expected_trace import Imagines
from nsrecover.monitoring.monitor import Monitor
from nsrecover.monitoring.parts import Planner
from nsrecover.monitoring.scene_model import Compares, Lookahead, SceneModel, TakesModel
from nsrecover.perception.facts import GivenFacts
from nsrecover.perception.objects.boxes import Given
from nsrecover.session import Session
from nsrecover.util.english import amount


class MakesPerceivers(Protocol):
    """Makes perceivers."""

    def __call__(self, observation: Any = None, watch_cameras: bool = True) -> Any:
        """A fresh perceiver, for one episode, since it may remember.

        Args:
            observation: the first observation of the episode; None: one of the usual type.
            watch_cameras: whether cameras that fail or move are named.
        """
        ...


@dataclass(frozen=True)
class System(Generic[SceneT]):
    """Model, perception, imagination, comparison, planner and explainer put together; each usable alone.

    `load()` and `geometric()` make one for scenes of boxes, `symbolic()` one for scenes of facts. Parts are replaced
    with `dataclasses.replace`; what the methods return has the same parts. Those that work with the model get the new
    one by their method `with_model`, if they have one; others stay as they are.

    Attributes:
        model: what scenes are: learned parts and domain of boxes, or the domain over the objects of a scene of facts.
        perceiver: makes what turns observations into scenes; `perceiver()` is one for camera images.
        imagination: of the scenes after an action or a plan.
        comparison: of two scenes; stateless, the caller keeps scene, trace and step.
        planner: finds recoveries onto a plan.
        explainer: explains discrepancies.
        lookahead: says before an action what would go wrong later, in scenes of facts; None: only its conditions count.
        calibration: what the model was calibrated on, if `calibrated` or `load(alpha=)` did that.
        during: says what should be seen while an action runs, for `Session.glanced`; None: there is no such model.
    """

    model: Any  # a `SceneModel[SceneT]`; of boxes, it has models
    perceiver: MakesPerceivers
    imagination: Imagines[SceneT]
    comparison: Compares[SceneT]
    planner: Planner[SceneT]
    explainer: Explainer
    lookahead: Lookahead | None = None
    calibration: Calibration | None = None
    during: ActionModel | None = None

    @property
    def domain(self) -> Domain:
        """What can be in a scene and what can be done to it; it has the words."""
        domain: Domain = self.model.domain
        return domain

    def check_plan(self, plan: Plan) -> None:
        """Refuse a plan that fits no scene.

        Raises:
            InvalidAction: it has an unknown operator or wrong arguments.
        """
        self.model.check_plan(checked_plan(plan))

    def monitor(
        self,
        plan: Plan,
        observation: object,
        perceiver: object = None,
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
        plan, perceiver = checked_plan(plan), perceiver or self.perceiver(observation, check_sensors)
        if check_sensors:
            self.model.check_sensors(observation)
        return Monitor(partial(self.model.believe, self, perceiver, certainty), plan, observation)

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

    def with_model(self, model: SceneModel[SceneT], calibration: Calibration | None = None) -> System[SceneT]:
        """The same system with another model in every part that works with one.

        Args:
            model: the model.
            calibration: what it was calibrated on; None: as before.
        """
        parts = {each.name: getattr(self, each.name) for each in fields(self)}
        fresh: dict[str, Any] = {
            name: part.with_model(model) for name, part in parts.items() if isinstance(part, TakesModel)
        }
        return replace(self, **fresh | {"model": model, "calibration": calibration or self.calibration})

    def calibrated(
        self,
        successes: Iterable[tuple[Plan, Sequence[Observation | Given | GivenFacts]]],
        alpha: float,
        *,
        check_sensors: bool = True,
    ) -> System[SceneT]:
        """The same system, with what its model learns from recorded episodes.

        Of boxes it is a threshold that keeps false alarms to a rate (split-conformal): if the steps to come are like
        those of the episodes, all of which have to have gone well, an alarm is raised at no more than a share `alpha`
        of those that go well. Of facts it is how often each operator of the robot fails, and readings of each state
        variable are wrong: actions that failed and were done again are in the plans as they were done.

        Args:
            successes: plans of T actions, each with its T + 1 observations.
            alpha: promised rate of false alarms per step, above 0 and at most 0.2; of facts it only says how many steps
                are needed.
            check_sensors: as for `monitor`.

        Raises:
            InvalidConfiguration: the rate is out of its range, there are too few steps to promise it, or an episode has
                not one observation more than actions.
            InvalidObservation: an observation cannot be used.
        """
        scores, beliefs = [], []
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
                monitor.step(monitor.next_action, after)
                scores.append(monitor.likelihood)
            beliefs.append(monitor.belief)
        return self.with_model(*self.model.calibrated(scores, beliefs, alpha))

    def save(self, folder: str | Path, card: str = "") -> Path:
        """Write what the model has learned and was calibrated on.

        `nsrecover.load(folder)` reads models, threshold and learned operators of boxes, `nsrecover.symbolic(...,
        calibrated=folder)` the rates of facts.

        Args:
            folder: where; made if it does not exist.
            card: text of the model card (Markdown).

        Returns:
            The folder.
        """
        saved: Path = self.model.save(folder, self.calibration, card)
        return saved

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


AnySystem = System[Any]
"""A system for scenes of any type."""

"""The parts put together: what `nsrecover.load()` and `nsrecover.geometric()` return."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from nsrecover.core.actions import Plan
from nsrecover.core.observation import Observation
from nsrecover.core.protocols import Explainer, Perceiver
from nsrecover.core.scene import SceneGraph
from nsrecover.domains.domain import Domain
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.domains.tabletop.spatial import SpatialDomain
from nsrecover.errors import InvalidCheckpoint, InvalidConfiguration
from nsrecover.explanation import GroundedExplainer
from nsrecover.household_system import HouseholdSystem
from nsrecover.models.conformal import Calibration, CalibrationWatch, conformal_threshold, lowest
from nsrecover.models.geometric import GeometricModels, load_geometric, save_geometric
from nsrecover.models.protocols import SceneModels
from nsrecover.monitoring.box_monitor import BoxMonitor
from nsrecover.monitoring.comparison import Comparison
from nsrecover.monitoring.imagination import Imagination
from nsrecover.monitoring.monitor import Monitor
from nsrecover.perception.cameras.checks import require_plausible
from nsrecover.perception.function import as_perceiver
from nsrecover.perception.objects.boxes import BoxesPerceiver, Given
from nsrecover.perception.perceiver import ScenePerceiver
from nsrecover.planning.planner import RecoveryPlanner, Rejoin
from nsrecover.session import HasSessions
from nsrecover.util.extras import needs_extra

if TYPE_CHECKING:
    from nsrecover.models.bundle import Bundle  # loads torch, which is for `load` to do

Seen = TypeVar("Seen")

HOUSEHOLD_CHECKPOINT = "household"
"""Name of the shipped checkpoint for households."""
_TORCH = "torch (nsrecover.geometric() works with boxes alone, without it)"


@dataclass(frozen=True)
class System(HasSessions[SceneGraph]):
    """Perception, imagination, comparison, planner and explainer around the same models; each usable alone.

    Attributes:
        models: the learned parts of a checkpoint, or geometry alone.
        explainer: explains discrepancies; by default a `GroundedExplainer` for the domain.
        rejoin: what counts as being back on the plan.
        domain: what can be in a scene and what can be done to it; another one may only add operators to the tabletop's.
        calibration: what the threshold was set on, if `calibrated` or `load(alpha=)` did that.
    """

    models: SceneModels
    explainer: Explainer = None  # type: ignore[assignment]  # __post_init__ sets it
    rejoin: Rejoin = Rejoin.POSE
    domain: SpatialDomain = TABLETOP
    calibration: Calibration | None = None

    def __post_init__(self) -> None:
        if self.explainer is None:
            object.__setattr__(self, "explainer", GroundedExplainer(self.domain))

    @property
    def bundle(self) -> Bundle:
        """The learned parts.

        Raises:
            InvalidConfiguration: the system works by geometry alone.
        """
        if isinstance(self.models, GeometricModels):
            raise InvalidConfiguration(
                "expected a system with learned parts, found one that works by geometry alone; hand it boxes or scene "
                "graphs, or use nsrecover.load()"
            )
        from nsrecover.models.bundle import Bundle

        assert isinstance(self.models, Bundle)
        return self.models

    def perceiver(self, watch_cameras: bool = True) -> ScenePerceiver:
        """A fresh perceiver of camera images; one for each episode, since it remembers.

        Args:
            watch_cameras: whether cameras that fail or move are named, see `ScenePerceiver`.

        Raises:
            InvalidConfiguration: the system works by geometry alone.
        """
        return ScenePerceiver(self.bundle, watch_cameras=watch_cameras)

    @property
    def imagination(self) -> Imagination:
        """The imagination of the scenes after an action or a plan."""
        return Imagination(self.models, self.domain)

    @property
    def comparison(self) -> Comparison:
        """The stateless comparison; the caller keeps scene, trace and step."""
        return Comparison(self.models, self.domain)

    @property
    def planner(self) -> RecoveryPlanner:
        """The recovery planner."""
        return RecoveryPlanner(self.models, rejoin=self.rejoin, domain=self.domain)

    def monitor(
        self,
        plan: Plan,
        observation: Any,
        perceiver: Perceiver[Any] | Callable[..., SceneGraph] | None = None,
        *,
        check_sensors: bool = True,
    ) -> BoxMonitor[Any]:
        """Return a monitor of a plan that another program executes.

        Args:
            plan: the plan.
            observation: the observation before its first action: camera images, a scene graph, or boxes by name. Later
                observations are of the same type.
            perceiver: converts other observations into scene graphs; a fresh one for each episode.
            check_sensors: whether first camera images are refused if units, poses or masks are implausible, and cameras
                are watched from then on; see `nsrecover.perception.cameras.checks` and `camera_watch`.

        Raises:
            InvalidAction: the plan has an unknown operator or wrong arguments.
            UnknownObject: it names an object that is not in the scene.
            InvalidObservation: the observation cannot be used, or is implausible.
        """
        if check_sensors and isinstance(observation, Observation):
            require_plausible(observation)
        if perceiver is None:
            perceiver = self.perceiver(check_sensors) if isinstance(observation, Observation) else BoxesPerceiver()
        return BoxMonitor(self.models, as_perceiver(perceiver), plan, observation, self.domain)

    def check_plan(self, plan: Plan) -> None:
        """Refuse a plan with unknown operators or wrong numbers of arguments.

        Raises:
            InvalidAction: an operator or the number of its arguments.
        """
        for action in plan:
            self.domain.operator_of(action)

    def on_table(self, workspace: tuple[float, float, float, float], room_m: float | None = None) -> System:
        """The same system for another table.

        Args:
            workspace: x_min, y_min, x_max, y_max of the table that things may be put down on, metres.
            room_m: how much wider or higher than expected an object may be, metres, on a table where room is scarce:
                objects that were turned in their place then deviate, too. None: that does not count.
        """
        return replace(self, models=self.models.with_table(workspace, room_m))

    def calibrated(
        self,
        successes: Iterable[tuple[Plan, Sequence[Observation | Given]]],
        alpha: float,
        *,
        check_sensors: bool = True,
    ) -> System:
        """The same system with a threshold that keeps false alarms to a rate, from episodes that went well.

        Split-conformal: if the steps to come are like those of the episodes, an alarm is raised at no more than a share
        `alpha` of those that go well.

        Args:
            successes: plans of T actions, and what was to be seen before, between and after them, T + 1 times.
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
                    f"expected {len(plan) + 1} observations for {len(plan)} actions, found {len(seen)}; give one "
                    "before the first action and one after each"
                )
            monitor: Monitor[SceneGraph, Any] = self.monitor(plan, seen[0], check_sensors=check_sensors)
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
        return replace(self, models=self.models.with_threshold(threshold), calibration=calibration)

    def save(self, folder: str | Path, card: str = "") -> Path:
        """Write the models with their threshold and what it was set on, for `nsrecover.load(folder)`.

        Args:
            folder: where; made if it does not exist.
            card: text of the model card (Markdown), for learned parts.

        Returns:
            The folder.
        """
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


@overload
def load(checkpoint: Literal["household"]) -> HouseholdSystem: ...  # type: ignore[overload-overlap]
@overload
def load(  # type: ignore[overload-overlap]
    checkpoint: str | Path | None = None,
    alpha: float | None = None,
    domain: SpatialDomain | None = None,
    tolerance_m: float | None = None,
    sensor: str | None = None,
) -> System: ...
@overload
def load(
    checkpoint: str | Path, alpha: None = None, *, domain: Domain, tolerance_m: None = None, sensor: None = None
) -> HouseholdSystem: ...
def load(
    checkpoint: str | Path | None = None,
    alpha: float | None = None,
    domain: Domain | None = None,
    tolerance_m: float | None = None,
    sensor: str | None = None,
) -> System | HouseholdSystem:
    """Load a checkpoint.

    Args:
        checkpoint: folder of a checkpoint, or the name of a shipped one: "tabletop_sensors", the default, was trained
            behind models of sensors, "tabletop" on exact images, "household" reads states and hears in a kitchen. A
            folder that `nsrecover calibrate` wrote from boxes holds no weights, and needs no torch.
        alpha: false-alarm rate per successful step that the monitor shall keep to, in the long run and in scenes like
            those of training; the lower, the larger a deviation has to be to be noticed. None: the checkpoint's own
            threshold, which is made for deviations of 2 cm.
        domain: what can be in a scene and what can be done to it, see `System`; the tabletop if None, and the
            household for the checkpoint of that name. A folder of another household checkpoint needs it.
        tolerance_m: displacement from which on an object counts as out of place, metres; the one of the training if
            None. Below 1 cm, calibrate on good runs of your own sensor (`System.calibrated`).
        sensor: the sensor for which `alpha` is promised, such as "d435"; all of the training's together if None.

    Raises:
        InvalidCheckpoint: it is missing, damaged, for another domain or does not fit, or was calibrated on too few
            steps for the rate.
        InvalidConfiguration: the rate or the tolerance is out of its range, both are given, the checkpoint was not
            calibrated with the sensor, a sensor is given without a rate, or torch is not installed.
    """
    if checkpoint == HOUSEHOLD_CHECKPOINT or (domain is not None and not isinstance(domain, SpatialDomain)):
        with needs_extra("learned", _TORCH):
            return _household(checkpoint, domain, (alpha, tolerance_m, sensor))
    domain = domain or TABLETOP
    if checkpoint is not None and (boxes := load_geometric(checkpoint)) is not None:
        if alpha is not None or sensor is not None:
            raise InvalidConfiguration(
                f"expected neither alpha nor sensor for {checkpoint}, which was calibrated on boxes, found one; "
                "calibrate again for another rate"
            )
        models, calibration = boxes
        models = models if tolerance_m is None else models.with_tolerance(tolerance_m)
        return System(models, domain=domain, calibration=calibration)
    with needs_extra("learned", _TORCH):
        from nsrecover.models.bundle import Bundle
        from nsrecover.models.household import domain_of

    found = None if checkpoint is None else domain_of(checkpoint)
    if found not in (None, domain.name):
        raise InvalidCheckpoint(
            f"expected a checkpoint for the domain {domain.name!r}, found one for {found!r} in {checkpoint}; give its "
            "domain with load(domain=)"
        )
    bundle = Bundle.load(checkpoint, domain)
    if sensor is not None and alpha is None:
        raise InvalidConfiguration(f"expected alpha with sensor={sensor!r}, found none; the rate to promise for it")
    if tolerance_m is not None:
        if alpha is not None:
            raise InvalidConfiguration(
                "expected either alpha or tolerance_m, found both; a rate is promised for the tolerance of the "
                "training: load with tolerance_m, then use System.calibrated with good runs"
            )
        return System(bundle.with_tolerance(tolerance_m), domain=domain)
    if alpha is None:
        return System(bundle, domain=domain)
    threshold, calibration = bundle.threshold_for(alpha, sensor), bundle.calibration_for(sensor)
    return System(bundle.with_threshold(threshold), domain=domain, calibration=calibration)


def _household(checkpoint: str | Path | None, domain: Domain | None, others: tuple[object, ...]) -> HouseholdSystem:
    """A checkpoint of a household; it has no settings."""
    from nsrecover.domains.household.domain import HOUSEHOLD
    from nsrecover.models.household import HouseholdModels

    if any(each is not None for each in others):
        raise InvalidConfiguration(
            "expected no alpha, tolerance_m or sensor with a checkpoint of a household, found one; its thresholds were "
            "chosen in training"
        )
    return HouseholdSystem(HouseholdModels.load(checkpoint or HOUSEHOLD_CHECKPOINT, domain or HOUSEHOLD))


def geometric(
    tolerance_m: float = GeometricModels.tolerance_m,
    workspace: tuple[float, float, float, float] = GeometricModels.workspace,
    reach_m: tuple[float, float] = GeometricModels.reach_m,
    domain: SpatialDomain = TABLETOP,
) -> System:
    """A system that needs boxes only: no images, no checkpoint, no torch.

    Args:
        tolerance_m: displacement from which on an object counts as out of place, metres; `System.calibrated` puts a
            threshold that keeps a promised rate of false alarms in its place.
        workspace: x_min, y_min, x_max, y_max of the table that things may be put down on, metres.
        reach_m: nearest and farthest distance from the robot's base at which it can grasp from the table.
        domain: what can be in a scene and what can be done to it, see `System`.

    Raises:
        InvalidConfiguration: one of them is out of its range.
    """
    return System(GeometricModels(tolerance_m, workspace=workspace, reach_m=reach_m), domain=domain)

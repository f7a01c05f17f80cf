"""Makes systems: `load` of a checkpoint, `geometric` for boxes alone, `symbolic` for facts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

from nsrecover.core.facts import FactScene, StateFact
from nsrecover.core.scene import SceneGraph
from nsrecover.domains.costs import with_durations
from nsrecover.domains.domain import Domain
from nsrecover.domains.entrances import check_goal
from nsrecover.domains.instance import Instance
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.domains.tabletop.spatial import SpatialDomain
from nsrecover.errors import InvalidCheckpoint, InvalidConfiguration, did_you_mean
from nsrecover.explanation import GroundedExplainer
from nsrecover.models.conformal import Calibration
from nsrecover.models.effects.operator import operators_in, with_operators
from nsrecover.models.geometric import CONFIG, GeometricModels, load_geometric
from nsrecover.models.protocols import SceneModels
from nsrecover.monitoring.box_belief import BoxModel, BoxPerceivers
from nsrecover.monitoring.comparison import Comparison
from nsrecover.monitoring.fact_belief import FactModel, FactPerceivers, rates_in
from nsrecover.monitoring.fact_causes import FactComparison
from nsrecover.monitoring.fact_frames import ConditionModel
from nsrecover.monitoring.imagination import Imagination
from nsrecover.monitoring.motion import FILE as MOTIONS
from nsrecover.monitoring.motion import MotionModel
from nsrecover.monitoring.outlook import FactImagination
from nsrecover.planning.planner import RecoveryPlanner
from nsrecover.planning.symbolic.fact_planner import FactPlanner, contradictions
from nsrecover.planning.symbolic.lookahead import FactLookahead
from nsrecover.system import AnySystem, System
from nsrecover.util.extras import needs_extra
from nsrecover.util.factories import is_factory, load_factory

if TYPE_CHECKING:
    from nsrecover.models.household import HouseholdModels  # loads torch
    from nsrecover.perception.household import HouseholdPerceiver

HOUSEHOLD_CHECKPOINT = "household"
"""Name of the shipped checkpoint for households."""
MISASSUMED = 0.02
"""Odds that one of the facts of a household for which a plan was made is otherwise."""
SHIPPED = Path(__file__).parent / "checkpoints"
"""Folder of the shipped checkpoints."""
_TORCH = "torch (nsrecover.geometric() works with boxes alone, without it)"


@overload
def load(checkpoint: Literal["household"]) -> HouseholdSystem: ...  # type: ignore[overload-overlap]
@overload
def load(  # type: ignore[overload-overlap]
    checkpoint: str | Path | None = None,
    alpha: float | None = None,
    domain: SpatialDomain | None = None,
    tolerance_m: float | None = None,
    sensor: str | None = None,
    rules: bool | Collection[str] | None = None,
) -> System[SceneGraph]: ...
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
    rules: bool | Collection[str] | None = None,
) -> System[SceneGraph] | HouseholdSystem:
    """Load a checkpoint.

    Args:
        checkpoint: folder of a checkpoint, or the name of a shipped one: "tabletop_sensors", the default, was trained
            behind models of sensors, "tabletop" on exact images, "household" reads states and hears in a kitchen. A
            folder that `nsrecover calibrate` wrote from boxes holds no weights, and needs no torch. Operators that
            `nsrecover learn` put into the folder come with it.
        alpha: false-alarm rate per successful step that the monitor shall keep to, in the long run and in scenes like
            those of training; the lower, the larger a deviation has to be to be noticed. None: the checkpoint's own
            threshold, which is made for deviations of 2 cm.
        domain: what can be in a scene and what can be done to it, see `System`; the tabletop if None, and the
            household for the checkpoint of that name. A folder of another household checkpoint needs it.
        tolerance_m: displacement from which on an object counts as out of place, metres; the one of the training if
            None. Below 1 cm, calibrate on good runs of your own sensor (`System.calibrated`).
        sensor: the sensor for which `alpha` is promised, such as "d435"; all of the training's together if None.
        rules: which learned parts hand-written rules replace: a selection of "encoder", "transition", "discriminator"
            and "outcomes" (`Bundle.with_rules`), all of them if True, none if False: the networks of the papers. None:
            all but "outcomes", since these rules were as good wherever they were measured; with `alpha` none,
            since the checkpoint is calibrated for the probabilities of its networks.

    Raises:
        InvalidCheckpoint: it is missing, damaged, for another domain or does not fit, or was calibrated on too few
            steps for the rate.
        InvalidConfiguration: the rate or the tolerance is out of its range, both are given, the checkpoint was not
            calibrated with the sensor, a sensor is given without a rate, or torch is not installed.
    """
    if not isinstance(checkpoint, str | Path | None):
        raise InvalidConfiguration(f"expected the name or folder of a checkpoint, found {type(checkpoint).__name__}")
    if checkpoint == HOUSEHOLD_CHECKPOINT or (domain is not None and not isinstance(domain, SpatialDomain)):
        with needs_extra("learned", _TORCH):
            return _household(checkpoint, domain, (alpha, tolerance_m, sensor, rules))
    domain = domain or TABLETOP
    if checkpoint is not None:
        domain = with_operators(domain, operators_in(checkpoint))
    if checkpoint is not None and (boxes := load_geometric(checkpoint)) is not None:
        if alpha is not None or sensor is not None:
            raise InvalidConfiguration(
                f"expected neither alpha nor sensor for {checkpoint}, which was calibrated on boxes, found one; "
                "calibrate again for another rate"
            )
        models, calibration = boxes
        models = models if tolerance_m is None else models.with_tolerance(tolerance_m)
        return of_boxes(models, domain, calibration)
    with needs_extra("learned", _TORCH):
        from nsrecover.models.bundle import AS_GOOD, RULED_PARTS, Bundle
        from nsrecover.models.checkpoint import DEFAULT
        from nsrecover.models.household import domain_of

    found = None if checkpoint is None else domain_of(checkpoint)
    if found not in (None, domain.name):
        raise InvalidCheckpoint(
            f"expected a checkpoint for the domain {domain.name!r}, found one for {found!r} in {checkpoint}; give its "
            "domain with load(domain=)"
        )
    bundle, motions = Bundle.load(checkpoint, domain), motions_in(checkpoint or DEFAULT)
    if rules is None:
        rules = AS_GOOD if alpha is None else ()
    bundle = bundle.with_rules(RULED_PARTS if rules is True else rules or ())
    if sensor is not None and alpha is None:
        raise InvalidConfiguration(f"expected alpha with sensor={sensor!r}, found none; the rate to promise for it")
    if tolerance_m is not None:
        if alpha is not None:
            raise InvalidConfiguration(
                "expected either alpha or tolerance_m, found both; a rate is promised for the tolerance of the "
                "training: load with tolerance_m, then use System.calibrated with good runs"
            )
        return of_boxes(bundle.with_tolerance(tolerance_m), domain, motions=motions)
    if alpha is None:
        return of_boxes(bundle, domain, motions=motions)
    threshold, calibration = bundle.threshold_for(alpha, sensor), bundle.calibration_for(sensor)
    return of_boxes(bundle.with_threshold(threshold), domain, calibration, motions)


def _household(checkpoint: str | Path | None, domain: Domain | None, others: tuple[object, ...]) -> HouseholdSystem:
    """A checkpoint of a household; it has no settings."""
    from nsrecover.domains.household.domain import HOUSEHOLD
    from nsrecover.models.household import HouseholdModels

    if any(each is not None for each in others):
        raise InvalidConfiguration(
            "expected no alpha, tolerance_m, sensor or rules with a checkpoint of a household, found one; its "
            "thresholds were chosen in training"
        )
    return HouseholdSystem(HouseholdModels.load(checkpoint or HOUSEHOLD_CHECKPOINT, domain or HOUSEHOLD))


def geometric(
    tolerance_m: float = GeometricModels.tolerance_m,
    workspace: tuple[float, float, float, float] = GeometricModels.workspace,
    reach_m: tuple[float, float] = GeometricModels.reach_m,
    domain: SpatialDomain = TABLETOP,
) -> System[SceneGraph]:
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
    if not isinstance(domain, SpatialDomain):
        raise InvalidConfiguration(
            f"expected a domain of boxes, the tabletop with further operators, found {type(domain).__name__}; use "
            "nsrecover.symbolic() for domains of facts"
        )
    return of_boxes(GeometricModels(tolerance_m, workspace=workspace, reach_m=reach_m), domain)


def of_boxes(
    models: SceneModels,
    domain: SpatialDomain = TABLETOP,
    calibration: Calibration | None = None,
    motions: MotionModel | None = None,
) -> System[SceneGraph]:
    """A system for scenes of boxes.

    Args:
        models: learned parts, or geometry alone.
        domain: what can be in a scene and what can be done to it.
        calibration: what the threshold of the models was set on.
        motions: what happens while an action runs.
    """
    return System(
        BoxModel(models, domain),
        BoxPerceivers(models),
        Imagination(models, domain),
        Comparison(models, domain),
        RecoveryPlanner(models, domain=domain),
        GroundedExplainer(domain),
        calibration=calibration,
        during=motions,
    )


def motions_in(checkpoint: str | Path) -> MotionModel | None:
    """What happens while an action runs, from a checkpoint that has it (`python -m train.motions`).

    Raises:
        InvalidCheckpoint: it is damaged.
    """
    folder = next((each for each in (Path(checkpoint), SHIPPED / checkpoint) if (each / MOTIONS).is_file()), None)
    return None if folder is None else MotionModel.load(folder)


def check_place(place: str | Path | None) -> None:
    """Refuse a place without a system at once, before torch is loaded; arguments and errors as for `system_at`."""
    if place is None:
        return
    if is_factory(str(place)):
        file = Path(str(place).rpartition(":")[0])
        if file.suffix == ".py" and not file.is_file():
            load_factory(str(place))
    elif not any((folder / place / CONFIG).is_file() for folder in (Path(), SHIPPED)):
        raise InvalidCheckpoint(
            f"expected a checkpoint in a folder with {CONFIG}, found none in {place}; give the folder that `python -m "
            "train` or `nsrecover calibrate` wrote, file.py:factory, or the name of a shipped one."
            f"{did_you_mean(str(place), [each.name for each in SHIPPED.iterdir()])}"
        )


def system_at(place: str | Path | None) -> AnySystem:
    """A system that a command line names.

    Args:
        place: folder of a checkpoint, or `file.py:factory`, a function that makes a system; None: the shipped
            checkpoint.

    Raises:
        InvalidCheckpoint: the checkpoint is missing or cannot be used.
        InvalidConfiguration: the factory does not exist, or makes something else.
    """
    if place is None or not is_factory(str(place)):
        found: object = load(place)
    else:
        found = load_factory(str(place))()
    if not isinstance(found, System):
        raise InvalidConfiguration(
            f"expected a system at {place}, found {type(found).__name__}; name a function that returns the result of "
            "nsrecover.load(), nsrecover.geometric() or nsrecover.symbolic()"
        )
    return found


def symbolic(
    instance: Instance,
    goal: Sequence[StateFact] | None = None,
    durations: Mapping[str, float] | None = None,
    *,
    assumed: Iterable[StateFact] | None = None,
    ahead: bool = True,
    check: bool = True,
    visits: bool = False,
    calibrated: str | Path | None = None,
) -> System[FactScene]:
    """A system for a symbolic domain that needs facts only: no images, no checkpoint, no torch.

    Args:
        instance: the domain over the objects of the scene, for example from `nsrecover.domains.household.household`.
        goal: conditions that hold in the end; None: what a plan achieves.
        durations: operator -> seconds, the cost of a recovery; each action costs what its operator says by default.
        assumed: the facts for which plans are made, where they differ from those at the start, see `FactModel`.
        ahead: whether plans are checked ahead before every action.
        check: whether anything is checked before actions.
        visits: whether places are looked at before something is done there, see `FactModel`.
        calibrated: folder of a calibrated system (`System.calibrated`, `System.save`), for the rates at which the
            robot's actions fail and its readings are wrong; None: the usual ones.

    Raises:
        InvalidConfiguration: the goal contradicts itself, or has an unknown predicate or value or a wrong number of
            terms; or an operator is unknown, or a duration not positive.
        InvalidCheckpoint: the folder has no rates.
        UnknownObject: the goal names an object that is not in the scene.
    """
    if not isinstance(instance, Instance):
        raise InvalidConfiguration(
            f"expected a domain over the objects of a scene, found {type(instance).__name__}; make one with "
            "nsrecover.domains.instance.Instance(domain, objects)"
        )
    if durations is not None:
        instance = replace(instance, domain=with_durations(instance.domain, durations))
    check_goal(instance, goal or ())
    for one, other in contradictions(goal or (), instance.domain):
        raise InvalidConfiguration(f"expected a goal that can hold, found {one} and {other} in it; leave one out")
    planner = FactPlanner(instance)
    model = FactModel(
        instance,
        None if goal is None else tuple(goal),
        None if assumed is None else frozenset(assumed),
        check,
        visits=visits,
    )
    if calibrated is not None:
        rates, calibration = rates_in(calibrated)
        model = replace(model, rates=rates)
    return System(
        model,
        FactPerceivers(instance),
        FactImagination(instance),
        FactComparison(instance),
        planner,
        GroundedExplainer(instance.domain),
        FactLookahead(planner) if ahead else None,
        calibration if calibrated is not None else None,
    )


@dataclass(frozen=True)
class HouseholdSystem:
    """The learned parts of a household; with the objects of a scene and a goal they make a system.

    Attributes:
        models: the learned parts of a checkpoint.
    """

    models: HouseholdModels

    def system(
        self,
        instance: Instance,
        goal: Sequence[StateFact] | None = None,
        durations: Mapping[str, float] | None = None,
        *,
        assumed: Iterable[StateFact] | None = None,
        reads: bool = True,
        hears: bool = True,
    ) -> System[FactScene]:
        """A system whose observations are `nsrecover.Observation`s: images with the names of objects, and sound.

        Args:
            instance: the household over the objects of the scene, from `nsrecover.domains.household.household`.
            goal: conditions that hold in the end; None: what a plan achieves.
            durations: operator -> seconds, the cost of a recovery; None: as demonstrated.
            assumed: the facts for which plans are made, see `FactModel`.
            reads: whether states are read from images; False for comparisons.
            hears: whether recordings count; False for comparisons.

        Raises:
            InvalidConfiguration: the goal contradicts itself, an operator is unknown, or a duration is not positive.
        """
        known = self.models.config.durations
        costs = {name: known[name] for name in instance.domain.operators if name in known}
        made = symbolic(instance, goal, durations or costs or None, assumed=assumed, visits=True)
        perceiver = HouseholdPerceivers(self.models, made.model.instance, reads, hears)
        model = replace(made.model, misassumed=MISASSUMED)
        return replace(made, model=model, perceiver=perceiver, during=ConditionModel(self.models.config.patience_s))


@dataclass(frozen=True)
class HouseholdPerceivers:
    """Makes perceivers of images and sound in a household.

    Attributes:
        models: the learned parts.
        instance: the household over the objects of the scene.
        reads: whether states are read from images.
        hears: whether recordings count.
    """

    models: HouseholdModels
    instance: Instance
    reads: bool = True
    hears: bool = True

    def with_model(self, model: FactModel) -> HouseholdPerceivers:
        """The same for another model."""
        return replace(self, instance=model.instance)

    def __call__(self, observation: object = None, watch_cameras: bool = True) -> HouseholdPerceiver:
        """A fresh perceiver."""
        return self.models.perceiver(self.instance, self.reads, self.hears)

"""What a monitor works with: a model of scenes, what is believed of one of them, and the parts that can be replaced."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

from nsrecover.core.actions import Action, Plan
from nsrecover.core.certainty import Certainty
from nsrecover.core.discrepancy import Discrepancy, Phase, PlanProblem, Unknown
from nsrecover.core.explanation import Fact
from nsrecover.core.facts import Facts, FactScene, StateFact
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneT
from nsrecover.core.traces import Trace
from nsrecover.domains.domain import Domain
from nsrecover.models.conformal import Calibration
from nsrecover.monitoring.expected_trace import ExpectedTrace, Imagines
from nsrecover.util.python310 import Self

SeenT_contra = TypeVar("SeenT_contra", contravariant=True)
ModelT_contra = TypeVar("ModelT_contra", contravariant=True)
JudgedT = TypeVar("JudgedT")


class Compares(Protocol[SceneT]):
    """Compares the scene that is seen with the expected one; `Comparison` and `FactComparison` are such parts."""

    def before(self, graph: SceneT, trace: Trace[SceneT], step: int, /) -> Discrepancy[SceneT]:
        """The discrepancy before action `step` of a trace, with the unmet preconditions of the action."""
        ...

    def after(self, graph: SceneT, trace: Trace[SceneT], step: int, /) -> Discrepancy[SceneT]:
        """The discrepancy after action `step` of a trace."""
        ...


class Lookahead(Protocol):
    """Says before an action what would go wrong later; `nsrecover.planning.symbolic.lookahead` has one."""

    def problem(
        self, state: Facts, actions: Sequence[Action], goal: Sequence[StateFact], first: int
    ) -> PlanProblem | None:
        """What is wrong with the rest of a plan, whose first action has the number `first`; None if it works."""
        ...

    def needed(self, scene: FactScene, actions: Sequence[Action], goal: Sequence[StateFact]) -> tuple[Unknown, ...]:
        """What has to be known before the first of some actions is done, because it cannot be undone."""
        ...


class SceneParts(Protocol[SceneT]):
    """The parts of a system that judge scenes."""

    @property
    def imagination(self) -> Imagines[SceneT]:
        """Of the scenes after an action or a plan."""
        ...

    @property
    def comparison(self) -> Compares[SceneT]:
        """Of two scenes."""
        ...

    @property
    def lookahead(self) -> Lookahead | None:
        """What would go wrong later; None: only the conditions of the next action count."""
        ...


class SceneModel(Protocol[SceneT]):
    """What scenes of one type are: what a domain and learned parts say of them.

    `nsrecover.monitoring.box_belief.BoxModel` is that of boxes, `nsrecover.monitoring.fact_belief.FactModel` that of
    facts.
    """

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

    def check_sensors(self, observation: object) -> None:
        """Refuse first camera images whose units, poses or masks are implausible; here nothing is known of sensors.

        Raises:
            InvalidObservation: they are.
        """
        return

    def believe(
        self, parts: SceneParts[SceneT], perceiver: Any, certainty: Certainty, plan: Plan, observation: object
    ) -> SceneBelief[Any, SceneT]:
        """What is believed at the beginning of an episode."""
        ...

    def calibrated(self, scores: Sequence[float], beliefs: Sequence[Any], alpha: float) -> tuple[Self, Calibration]:
        """The same model, with what it learns from episodes that went well; see `System.calibrated`."""
        ...

    def save(self, folder: str | Path, calibration: Calibration | None, card: str) -> Path:
        """Write what was learned; see `System.save`."""
        ...


@runtime_checkable
class TakesModel(Protocol[ModelT_contra]):
    """A part of a system that works with its model."""

    def with_model(self, model: ModelT_contra, /) -> Self:
        """The same part with another model."""
        ...


class SceneBelief(Protocol[JudgedT, SceneT]):
    """What is believed of the scene of an episode, from all observations until now."""

    @property
    def expected(self) -> ExpectedTrace[SceneT]:
        """The scenes that the plan is expected to lead through, and how far it is."""
        ...

    @property
    def scene(self) -> SceneT:
        """The scene as it is believed to be."""
        ...

    def begin(self, phase: Phase, action: Action | None, observation: object, last: JudgedT | None) -> JudgedT:
        """Judge a step, or a check before an action, by its first observation.

        Args:
            phase: whether an action was done.
            action: the action of a step; None for a check.
            observation: what is seen; None for a check without a new observation.
            last: what was judged before.

        Raises:
            InvalidObservation: the observation cannot be used; nothing has changed.
        """
        ...

    def look_again(self, judged: JudgedT, observation: object) -> None:
        """Judge the same with one more observation; None: one was made that cannot be used.

        Raises:
            InvalidObservation: the observation cannot be used; nothing has changed.
        """
        ...

    def saw(self, observation: object) -> None:
        """Take in an observation of which nothing is judged.

        Raises:
            InvalidObservation: the observation cannot be used; nothing has changed.
        """
        ...

    def judge_anew(self, judged: JudgedT, observation: object) -> JudgedT:
        """Judge the same by one observation alone: somebody has changed the scene.

        Raises:
            InvalidObservation: the observation cannot be used; nothing has changed.
        """
        ...

    def likelihood(self, judged: JudgedT) -> float:
        """P(as expected) of what is least likely to be."""
        ...

    def wanted(self, judged: JudgedT) -> tuple[str, ...] | None:
        """What another observation should show, the most important first; None: the verdict is settled."""
        ...

    def take_back(self, judged: JudgedT) -> JudgedT:
        """Judge a step as a check, if its action was not begun and something differs from the scene before it."""
        return judged

    def replan(self, plan: Plan, num_executed: int, observation: object) -> None:
        """Go on with another plan; arguments and errors as for `Monitor.set_plan`."""
        ...

    def rejoin(self, recovery: Recovery[SceneT], judged: JudgedT | None) -> JudgedT | None:
        """Go on with a recovery; returns what can be looked at again, if no action is left."""
        ...

    def accepted(self) -> Recovery[SceneT] | None:
        """The recovery that goes on from the scene as it is, if repeating the last action cannot change it."""
        return None

    def whereabouts(self, names: Sequence[str]) -> tuple[str, ...]:
        """Fixed places where some objects are believed to be, if they have names."""
        return ()

    @property
    def unconfirmed(self) -> tuple[str, ...]:
        """Objects of the goal that were not seen since an action may have changed them, in scene order."""
        ...

    @property
    def missed(self) -> tuple[Fact, ...]:
        """Conditions of the goal that do not hold now."""
        ...

    @property
    def passing(self) -> bool:
        """Whether the goal is believed to be reached and soon will not be: another look would cost what it checks."""
        return False


class FactPerceiver(Protocol[SeenT_contra]):
    """Turns observations into scenes of facts; what one of them does not show has certainty 0."""

    def __call__(self, observation: SeenT_contra) -> FactScene:
        """The scene that an observation shows.

        Raises:
            InvalidObservation: the observation cannot be used.
        """
        ...


@runtime_checkable
class ExpectingPerceiver(Protocol):
    """A perceiver that is told what should be seen before the first observation of a step or check."""

    def expect(self, before: Facts, expected: Facts) -> None:
        """Say what was believed before the last action, and what should hold now."""
        ...


@runtime_checkable
class ForkingPerceiver(ExpectingPerceiver, FactPerceiver[SeenT_contra], Protocol[SeenT_contra]):
    """An expecting perceiver that can be copied, for frames that are not to be remembered."""

    def fork(self) -> Self:
        """An independent copy."""
        ...

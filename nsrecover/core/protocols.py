"""Protocols of the parts that users can replace: worlds, perceivers, explainers, language models, operators."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import AnyDiscrepancy, Cause, Unseen
from nsrecover.core.explanation import Explanation, Fact
from nsrecover.core.glances import RobotState
from nsrecover.core.observation import Observation
from nsrecover.core.prompts import Completion, Listener, Prompt
from nsrecover.core.recovery import AnyRecovery, Recovery
from nsrecover.core.scene import Box, FloatArray, SceneGraph
from nsrecover.core.sensing import SensorFinding
from nsrecover.util.python310 import Self

BoundArray = npt.NDArray[np.floating]
"""Lower bounds on costs. In float32 they may be rounded to above the true cost, if costs are not whole numbers."""

State = TypeVar("State")
Step = TypeVar("Step")
SeenT_co = TypeVar("SeenT_co", covariant=True)
SeenT_contra = TypeVar("SeenT_contra", contravariant=True)


@runtime_checkable
class World(Protocol[SeenT_co]):
    """A robot and its sensors, real or simulated.

    Observations are `nsrecover.Observation` for a robot with cameras; any other kind needs a perceiver that takes it.
    """

    def observe(self) -> SeenT_co:
        """Observe the scene with every sensor, the arm out of the way."""
        ...

    def execute(self, action: Action) -> None:
        """Carry out one action.

        Returns when the motion is over, whether it succeeded or not; the next observation shows the result.
        """
        ...


@runtime_checkable
class LookingWorld(Protocol):
    """A world whose robot can go and look; what it looks at is seen from near and from above."""

    def look(self, names: Sequence[str]) -> object:
        """Observe from where some objects or places are seen best.

        Args:
            names: what is in doubt, the most important first; empty: look again from the same place.
        """
        ...


@runtime_checkable
class GlancingWorld(Protocol):
    """A world whose actions can be watched and stopped while they run."""

    def execute_watched(self, action: Action, glance: Callable[[Observation, RobotState], bool]) -> None:
        """Carry out one action, and stop it if it goes wrong.

        Returns when the robot is out of the way, as `World.execute` does.

        Args:
            action: the action.
            glance: to be called with what is seen, 2 to 10 times a second; if it returns false, the motion must be
                stopped, and it is not called any more.
        """
        ...


@runtime_checkable
class Perceiver(Protocol[SeenT_contra]):
    """Turns the observations of an episode into scene graphs; may remember earlier ones.

    Objects keep their names and their order from one scene to the next; new objects come after them. A known object
    that is not visible stays in the graph, with `seen` false, and `occluded` true if it may still be in its place, or
    `unknown` if that place is in view and not empty.

    One that knows more than the scene, or can be copied, is a `ReportingPerceiver`.
    """

    def reset(self, observation: SeenT_contra) -> SceneGraph:
        """The first scene of an episode; earlier scenes are forgotten.

        Raises:
            InvalidObservation: the observation cannot be used.
        """
        ...

    def step(self, observation: SeenT_contra, expected: SceneGraph | None = None) -> SceneGraph:
        """The scene as it is now.

        Args:
            observation: what was observed.
            expected: the expected scene, which helps to find objects.

        Raises:
            InvalidObservation: the observation cannot be used; the memory stays as it was.
        """
        ...


@dataclass(frozen=True)
class Reported:
    """What is known of an observation besides the scene that was made of it.

    Attributes:
        unseen: why objects are not visible.
        findings: what is wrong with cameras.
        unnamed: objects that the detector has not named.
        uncertain_m: how far the centres of objects may be off along the line of sight (95 %), metres, and how much
            shorter their boxes may be, as all cameras look from one side; empty if they do not.
        changed: objects in their places that look different than before, with the share of their surface that does.
        still: objects that no view shows elsewhere than before.
        posed: objects that are where they should be and do not stand as they did; the cause: turned, leaning or lying.
    """

    unseen: Mapping[str, Unseen] = field(default_factory=dict)
    findings: tuple[SensorFinding, ...] = ()
    unnamed: frozenset[str] = frozenset()
    uncertain_m: Mapping[str, float] = field(default_factory=dict)
    changed: Mapping[str, float] = field(default_factory=dict)
    still: frozenset[str] = frozenset()
    posed: Mapping[str, Cause] = field(default_factory=dict)


NOTHING_REPORTED = Reported()


@runtime_checkable
class ReportingPerceiver(Perceiver[SeenT_contra], Protocol[SeenT_contra]):
    """A perceiver that reports what it knows of the last observation besides the scene, and that can be copied."""

    @property
    def reported(self) -> Reported:
        """Report on the last observation besides the scene."""
        ...

    def fork(self) -> Self:
        """An independent copy, so that several observations of a scene are each perceived from the same memory."""
        ...


@runtime_checkable
class OtherWays(Protocol):
    """A planner that knows other ways than the shortest one."""

    def otherwise(
        self,
        observed: object,
        trace: object,
        discrepancy: object,
        *,
        budget_s: float | None,
        cancelled: Callable[[], bool],
    ) -> Recovery[object] | None:
        """Another recovery, for when the shortest one has not helped; None if there is none.

        Args:
            observed: the scene to recover from.
            trace: what the plan was expected to lead through.
            discrepancy: what is wrong.
            budget_s: time for all of it, seconds; None: no limit.
            cancelled: called again and again; if it returns true, there is none.
        """
        ...


@runtime_checkable
class TakesVetoes(Protocol):
    """A planner that finds other ways than those that a person does not want."""

    def instead(
        self,
        observed: object,
        trace: object,
        discrepancy: object,
        vetoed: Sequence[Recovery[object]],
        *,
        budget_s: float | None,
        cancelled: Callable[[], bool],
    ) -> Recovery[object] | None:
        """A recovery that leaves out a part at least of every vetoed way; None if there is none.

        Args:
            observed: the scene to recover from.
            trace: what the plan was expected to lead through.
            discrepancy: what is wrong.
            vetoed: the ways that are not wanted.
            budget_s: time of one search, seconds; None: no limit.
            cancelled: called again and again; if it returns true, the best way so far is returned.
        """
        ...


class WorldModel(Protocol[State, Step]):
    """Model that the recovery search plans over: states, steps, and the distance of each state to each subgoal.

    The search does not look into states. Subgoals are numbered 0..K-1.
    """

    def applicable(self, state: State) -> Sequence[Step]:
        """Steps worth trying in a state that may bring it nearer to a subgoal, most promising first.

        The cheapest way to any subgoal consists of the steps that this method and `detours` return.
        """
        ...

    def detours(self, state: State) -> Sequence[Step]:
        """Further steps worth trying, which lower the bound to no subgoal; requested only if they can pay off."""
        ...

    @property
    def cheapest(self) -> float:
        """No step costs less; positive."""
        ...

    def successors(self, state: State, steps: Sequence[Step]) -> Sequence[State]:
        """The states after each of the steps, evaluated as one batch."""
        ...

    def discrepancy(self, states: Sequence[State]) -> tuple[FloatArray, BoundArray]:
        """Distance of each state to each subgoal.

        Returns:
            The real-valued discrepancy D, (B, K), which orders states of equal cost, and a lower bound on the cost
            still needed, (B, K). The bound never exceeds the true cost, and is 0 exactly where the state is at the
            subgoal. With steps that move one object each, misplaced objects times the cheapest step is such a bound.
        """
        ...

    def cost(self, step: Step) -> float:
        """Cost of a step; positive."""
        ...

    def key(self, state: State) -> Hashable:
        """Equal keys mean that two states need not both be searched."""
        ...


class Explainer(Protocol):
    """Explains a discrepancy and its recovery."""

    def __call__(self, discrepancy: AnyDiscrepancy, recovery: AnyRecovery | None) -> Explanation:
        """The explanation, with the facts each sentence rests on."""
        ...


class LanguageModel(Protocol):
    """A language model that rewords an explanation; its text is always verified."""

    @property
    def name(self) -> str:
        """Name to report as the source of a text."""
        ...

    def complete(self, prompt: Prompt, *, timeout_s: float, on_text: Listener | None = None) -> Completion:
        """The answer to a prompt.

        Args:
            prompt: the question.
            timeout_s: time limit for the whole answer, seconds.
            on_text: called with each piece of the answer, if the model streams it.

        Raises:
            ModelFailure: there is no answer, or none in time.
        """
        ...


class CustomOperator(Protocol):
    """A kind of action: its arguments, the moved object, its preconditions and its effect."""

    @property
    def name(self) -> str:
        """Name of the operator in plans."""
        ...

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of the arguments, the moved object first."""
        ...

    def violated(self, graph: SceneGraph, action: Action) -> Sequence[Fact | str]:
        """Unmet preconditions, as facts or texts; empty if the action can be executed."""
        ...

    def achieved(self, before: SceneGraph, after: SceneGraph, action: Action) -> bool:
        """Whether what the action promises holds, from the scene before it and the scene after it."""
        ...


@runtime_checkable
class PlacingOperator(CustomOperator, Protocol):
    """An operator that computes where the moved object will be, used if no model has learned it."""

    def place(self, graph: SceneGraph, action: Action) -> Box:
        """The moved object's box after a well-formed action in a scene, metres."""
        ...


AnyWorld = World[Any]
"""A world whose observations are of any type."""

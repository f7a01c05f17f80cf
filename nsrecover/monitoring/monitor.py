"""The monitor: compares every observed scene with the one that the plan leads to, in a loop that it does not own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic

from nsrecover.core.actions import Action, Plan
from nsrecover.core.discrepancy import UNDONE, Cause, Discrepancy, Phase
from nsrecover.core.entrance import check_action
from nsrecover.core.explanation import Fact
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneT
from nsrecover.core.traces import Trace
from nsrecover.errors import InvalidObservation, InvalidPlan
from nsrecover.monitoring.scene_model import SceneBelief

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Seen = TypeVar("Seen", default=Any)
else:
    from typing import TypeVar

    Seen = TypeVar("Seen")
"""What the perceiver takes: `nsrecover.Observation`, boxes by name, facts, or anything else."""

LOOKS = 3
"""Largest number of observations that a verdict is based on, unless they leave it unsure."""


class Monitor(Generic[SceneT, Seen]):
    """Says before and after each action of a plan what is not as expected.

    `System.monitor` makes one. Each step is judged from the scene that was seen before it, so an error is reported
    once, and not again after every later step.

    One observation may err. If the verdict is not settled, `wanted` says so: make another observation of the scene and
    give it to `look_again`, or let `confirm` do so. An alarm that further observations do not confirm is withdrawn.

    Args:
        believe: begins what is believed in an episode, from its plan and first observation.
        plan: what will be done.
        observation: what is seen before its first action.

    Attributes:
        belief: what is believed, from all observations until now.

    Raises:
        InvalidAction: the plan has an unknown operator or wrong arguments.
        UnknownObject: it names an object that is not in the scene.
        InvalidObservation: the observation cannot be used.
    """

    def __init__(
        self,
        believe: Callable[[Plan, Seen], SceneBelief[Any, SceneT]],
        plan: Plan,
        observation: Seen,
    ) -> None:
        self._believe = believe
        self.reset(plan, observation)

    def reset(self, plan: Plan, observation: Seen) -> None:
        """Begin a new episode; arguments and errors as for the constructor."""
        self.belief = self._believe(plan, observation)
        self._judged: Any = None

    @property
    def trace(self) -> Trace[SceneT]:
        """The scenes that the last one was compared with, those after the next actions included."""
        return self.belief.expected.complete()

    @property
    def plan(self) -> Plan:
        """The current plan. Its actions say where they lead (`target`), also those that leave it open."""
        return self.belief.expected.plan

    @property
    def num_executed(self) -> int:
        """How many actions of the plan are done."""
        return self.belief.expected.num_executed

    @property
    def graph(self) -> SceneT:
        """The scene as it is believed to be."""
        return self.belief.scene

    @property
    def last_found(self) -> Discrepancy[SceneT] | None:
        """What the observations of the last step or check say together; None if there was none."""
        return None if self._judged is None else self._judged.found

    @property
    def wanted(self) -> tuple[str, ...] | None:
        """What another observation should show, the most important first; None: the verdict is settled."""
        return None if self._judged is None else self.belief.wanted(self._judged)

    @property
    def likelihood(self) -> float:
        """P(as expected) of what is least likely to be, by all observations of the last step or check.

        Raises:
            InvalidPlan: there was no step or check since the plan was set.
        """
        _ = self.found
        return self.belief.likelihood(self._judged)

    @property
    def unconfirmed(self) -> tuple[str, ...]:
        """Objects of the goal of which it is not certain enough that they are as planned, or not."""
        return self.belief.unconfirmed

    @property
    def passing(self) -> bool:
        """Whether the goal is believed to be reached and soon will not be: another look would cost what it checks."""
        return self.belief.passing

    @property
    def missed(self) -> tuple[Fact, ...]:
        """Conditions of the goal that do not hold now."""
        return self.belief.missed

    @property
    def next_action(self) -> Action | None:
        """The action of the plan to be done next; None at its end."""
        return next(iter(self.belief.expected.rest), None)

    @property
    def found(self) -> Discrepancy[SceneT]:
        """What the observations of the last step or check say together.

        Raises:
            InvalidPlan: there was no step or check since the plan was set.
        """
        found = self.last_found
        if found is None:
            raise InvalidPlan("expected a step or a check to look at again, found none since the plan was set")
        return found

    def check(self, observation: Seen | None = None) -> Discrepancy[SceneT]:
        """Compare before an action: whether the next action can be done.

        Args:
            observation: what is seen now, if there is a new observation; it is compared with the last scene.

        Returns:
            What is wrong, and which preconditions of the action do not hold; `as_expected` if all is well.

        Raises:
            InvalidPlan: there is no next action.
            InvalidObservation: the observation cannot be used; nothing has changed, so it can be tried again.
        """
        if self.next_action is None:
            raise InvalidPlan(
                f"expected a plan with an action left, found all {len(self.plan)} done; set another plan with set_plan"
            )
        self._judged = self.belief.begin(Phase.BEFORE, None, observation, self._judged)
        return self.found

    def step(self, action: Action, observation: Seen) -> Discrepancy[SceneT]:
        """Compare after an action: whether it worked and left everything else alone.

        Args:
            action: what was done: the next action of the plan. Its target, if it has one, is where it is expected to
                lead.
            observation: what is seen now.

        Returns:
            What is not as expected; `as_expected` if all is well.

        Raises:
            InvalidPlan: another action was due, or none. Give the monitor the new plan first, by `set_plan`.
            InvalidObservation: the observation cannot be used; nothing has changed, so it can be tried again.
        """
        check_action(action)
        if observation is None:
            raise InvalidObservation("expected what is seen after the action, found None; observe the scene")
        if action != self.next_action:
            step = self.num_executed
            due = f"{self.next_action}, step {step + 1} of the plan" if self.next_action else "no further action"
            raise InvalidPlan(
                f"expected {due}, found {action}; if the plan has changed, say so before acting: "
                "monitor.set_plan(new_plan), or, to try the last action again, "
                f"monitor.set_plan(monitor.plan, num_executed={max(step - 1, 0)})"
            )
        self._judged = self.belief.begin(Phase.AFTER, action, observation, self._judged)
        return self.found

    def stopped(self) -> Discrepancy[SceneT]:
        """Say that the action of the last step was stopped before its end, once its verdict is settled.

        Returns:
            The last discrepancy. If the action has changed nothing and something else has, the action is not done, and
            the scene is compared with the one before it, as by `check`.

        Raises:
            InvalidPlan: nothing was judged yet.
        """
        if self.found.phase is Phase.AFTER and _changed_nothing(self.found):
            self._judged = self.belief.take_back(self._judged)
        return self.found

    def look_again(self, observation: Seen) -> Discrepancy[SceneT]:
        """Judge the last step, or the last check, with one more observation of the same scene.

        What deviates, or does not, if the observations together say so surely enough; otherwise the verdict is *cannot
        tell*. What one observation does not show the next may.
        Each is perceived from the state before the step if the perceiver can be copied, else one after the other.

        Args:
            observation: what is seen now; nothing was executed since the last observation.

        Returns:
            What all observations since `step` or `check` say together.

        Raises:
            InvalidPlan: there is no step or check to look at again.
            InvalidObservation: the observation cannot be used; nothing has changed, so it can be tried again.
        """
        _ = self.found
        self.belief.look_again(self._judged, observation)
        return self.found

    def saw(self, observation: Seen) -> None:
        """Take in an observation of the same scene if there is no step or check to judge, as the plan has no actions.

        Raises:
            InvalidObservation: the observation cannot be used; nothing has changed, so it can be tried again.
        """
        self.belief.saw(observation)

    def look_failed(self) -> None:
        """Count an observation that was wanted and could not be used as made."""
        _ = self.found
        self.belief.look_again(self._judged, None)

    def judge_anew(self, observation: Seen) -> Discrepancy[SceneT]:
        """Judge the last step, or the last check, by one observation alone: somebody has changed the scene.

        Raises:
            InvalidPlan: there is no step or check to judge again.
            InvalidObservation: the observation cannot be used; nothing has changed, so it can be tried again.
        """
        _ = self.found
        self._judged = self.belief.judge_anew(self._judged, observation)
        return self.found

    def confirm(self, observe: Callable[[], Seen], looks: int = LOOKS) -> Discrepancy[SceneT]:
        """Look again until the verdict on the last step or check is settled.

        Args:
            observe: makes another observation of the scene. One that cannot be used counts as made.
            looks: fewer observations than usual, that of the step or check included; `LOOKS`: no further limit.

        Raises:
            InvalidPlan: there is no step or check to look at again.
        """
        found = self.found
        made = 1
        while self.wanted is not None and (looks >= LOOKS or made < looks):
            looked, made = False, made + 1
            with contextlib.suppress(InvalidObservation):
                found, looked = self.look_again(observe()), True
            if not looked:
                self.look_failed()
        return found

    def accepted(self) -> Recovery[SceneT] | None:
        """The recovery that goes on from the scene as it is, if repeating the last action cannot change it.

        Returns:
            None if the last two errors do not show that repeating the action is useless.
        """
        return self.belief.accepted()

    def set_plan(self, plan: Plan, num_executed: int = 0, observation: Seen | None = None) -> None:
        """Go on with another plan, or from another step of this one, from the scene as it was seen last.

        Args:
            plan: what will be done; its end is the new goal.
            num_executed: how many of its actions count as done; their effects are assumed to be as they are seen.
            observation: what is seen now, if the scene has changed since the last observation.

        Raises:
            InvalidAction: the plan has an unknown operator or wrong arguments.
            UnknownObject: it names an object that is not in the scene.
            InvalidPlan: `num_executed` is negative, or more than the plan has.
            InvalidObservation: the observation cannot be used.
        """
        check_done(num_executed, plan)
        self.belief.replan(plan, num_executed, observation)
        self._judged = None

    def rejoin(self, recovery: Recovery[SceneT]) -> Plan:
        """Go on with a recovery that was planned from `trace` and the last discrepancy; the goal stays the same.

        Args:
            recovery: a recovery that was found.

        Returns:
            The new plan: the recovery, then what is left of the old plan.

        Raises:
            InvalidPlan: the recovery has found no way.
        """
        if not recovery.found:
            why = recovery.note or ": ".join(
                filter(None, (str(recovery.reason_code or ""), ", ".join(recovery.blamed)))
            )
            raise InvalidPlan(
                f"expected a recovery, found none ({why}); ask for help, or set another plan with set_plan"
            )
        self._judged = self.belief.rejoin(recovery, self._judged)
        return self.plan


def _changed_nothing(found: Discrepancy[SceneT]) -> bool:
    """Whether what the action should have changed is as before it, whatever others did."""
    causes = {each.cause for each in found.deviations if each.name in found.action.arguments}
    return bool(causes & UNDONE) and causes.isdisjoint({Cause.DROPPED, Cause.MISPLACED})


def check_done(num_executed: int, plan: Plan) -> None:
    """Check a number of actions that count as done.

    Raises:
        InvalidPlan: it is negative, or more than the plan has.
    """
    if not 0 <= num_executed <= len(plan):
        raise InvalidPlan(
            f"expected num_executed to be from 0 to the {len(plan)} actions of the plan, found {num_executed}"
        )


AnyMonitor = Monitor[Any, Any]
"""A monitor of scenes of any type."""

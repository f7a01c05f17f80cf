"""The monitor: compares every observed scene with the one that the plan leads to, in a loop that it does not own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import numpy as np

from nsrecover.core.actions import Action, Plan, Trace
from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.protocols import Perceiver
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneGraph
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.domains.tabletop.spatial import SpatialDomain
from nsrecover.errors import InvalidObservation, InvalidPlan
from nsrecover.models.protocols import SceneModels
from nsrecover.monitoring.comparison import Comparison
from nsrecover.monitoring.expected_trace import ExpectedTrace, RestingPlaces, rejoined
from nsrecover.monitoring.imagination import Imagination
from nsrecover.monitoring.repetition import accept_scene, repeats_itself

Seen = TypeVar("Seen")
"""What the perceiver takes: `nsrecover.Observation`, boxes by name, or anything else."""


class Monitor(Generic[Seen]):
    """Says after each action of a plan which objects are not as expected.

    `System.monitor` makes one. Each step is judged from the scene that was seen before it, so an error is reported
    once, and not again after every later step. An object that drifts slowly is reported once it is farther from where
    it was put than the models' tolerance.

    Args:
        models: what to imagine and compare with.
        perceiver: turns observations into scene graphs; for this monitor alone, since it may remember.
        plan: what will be done.
        observation: what is seen before its first action.
        domain: has the operators.

    Raises:
        InvalidAction: the plan has an unknown operator or wrong arguments.
        UnknownObject: it names an object that is not in the scene.
        InvalidObservation: the observation cannot be used.
    """

    def __init__(
        self,
        models: SceneModels,
        perceiver: Perceiver[Seen],
        plan: Plan,
        observation: Seen,
        domain: SpatialDomain = TABLETOP,
    ) -> None:
        self._models = models
        self._domain = domain
        self._imagination = Imagination(models, domain)
        self._comparison = Comparison(models, domain)
        self._perceiver = perceiver
        self.reset(plan, observation)

    def reset(self, plan: Plan, observation: Seen) -> None:
        """Begin a new episode; arguments and errors as for the constructor."""
        self._graph = self._perceiver.reset(observation)
        found, expected = self._graph.visual.shape[1], self._models.feature_size
        if expected is not None and found != expected:
            raise InvalidObservation(
                f"expected appearance features of length {expected}, as the checkpoint's encoder makes them, found "
                f"{found}; hand in camera images, or use nsrecover.geometric(), which needs boxes only"
            )
        self._domain.check(plan, self._graph)
        self._expected = ExpectedTrace(self._imagination, self._imagination.trace(self._graph, plan))
        self._places = RestingPlaces(self._graph)
        self._num_executed = 0
        self._errors: list[Discrepancy] = []
        # what appears later, a hand for instance, may leave again without being missed
        self._belonging = set(self._graph.names)

    @property
    def plan(self) -> Plan:
        """The current plan. Its actions say where they lead (`target`), also those that leave it open."""
        return self._expected.plan

    @property
    def num_executed(self) -> int:
        """How many actions of the plan are done."""
        return self._num_executed

    @property
    def next_action(self) -> Action | None:
        """The action of the plan to be done next; None at its end."""
        return self.plan[self._num_executed] if self._num_executed < len(self.plan) else None

    @property
    def graph(self) -> SceneGraph:
        """The scene as it was seen last."""
        return self._graph

    @property
    def trace(self) -> Trace:
        """The scenes that the last one was compared with; the recovery planner needs them."""
        return self._expected.complete()

    def check(self, observation: Seen | None = None) -> Discrepancy:
        """Compare before an action: whether the next action can be run.

        Args:
            observation: what is seen now, if there is a new observation; it is compared with the last scene.

        Returns:
            What is wrong, and which preconditions of the action do not hold; false in a condition if all is well.

        Raises:
            InvalidPlan: there is no next action.
        """
        if self.next_action is None:
            raise InvalidPlan(
                f"expected a plan with an action left, found all {len(self.plan)} done; set another plan with set_plan"
            )
        step = self._num_executed
        self._expected.start_from(step, self._graph)
        if observation is not None:
            self._perceive(observation, step)
        found = self._compared(self._comparison.before, step, step)
        self._places.update(self._graph, found.deviating)
        return self._noted(found)

    def step(self, action: Action, observation: Seen) -> Discrepancy:
        """Compare after an action: whether it worked and left everything else alone.

        Args:
            action: what was done: the next action of the plan. Its target, if it has one, is where it is expected to
                lead.
            observation: what is seen now.

        Returns:
            What is not as expected; false in a condition if all is well.

        Raises:
            InvalidPlan: another action was due, or none. Give the monitor the new plan first, by `set_plan`.
            InvalidObservation: the observation cannot be used; nothing has changed, so it can be tried again.
        """
        self._check_due(action)
        step, moved = self._num_executed, action.arguments[0]
        self._expected.start_from(step, self._graph)
        if action.target is not None and action.target != self.plan[step].target:
            self._expected.change_action(step, action)
        self._perceive(observation, step + 1)
        self._num_executed = step + 1
        found = self._compared(self._comparison.after, step, step + 1)
        if not found and self._expect_drifted_in_place(step, moved):
            found = self._comparison.after(self._graph, self.trace, step)
        self._places.update(self._graph, (moved, *found.deviating))
        return self._noted(found)

    def accepted(self) -> Recovery | None:
        """The recovery that goes on from the scene as it is, if repeating the last action cannot change it.

        Returns:
            None if the last two errors do not show that repeating the action is in vain.
        """
        if len(self._errors) < 2 or not repeats_itself(self._errors[0], self._errors[1], self._domain):
            return None
        return accept_scene(self._imagination, self.trace, self._errors[-1])

    def set_plan(self, plan: Plan, num_executed: int = 0, observation: Seen | None = None) -> None:
        """Go on with another plan, or from another step of this one, from the scene as it was seen last.

        Args:
            plan: what will be done.
            num_executed: how many of its actions count as done; their effects are taken to be as they are seen.
            observation: what is seen now, if the scene has changed since the last observation.

        Raises:
            InvalidAction: the plan has an unknown operator or wrong arguments.
            UnknownObject: it names an object that is not in the scene.
            InvalidPlan: `num_executed` is negative, or more than the plan has.
            InvalidObservation: the observation cannot be used.
        """
        if not 0 <= num_executed <= len(plan):
            raise InvalidPlan(
                f"expected num_executed to be from 0 to the {len(plan)} actions of the plan, found {num_executed}"
            )
        if observation is not None:
            self._graph = self._perceiver.step(observation, self._graph)
            self._expected.add_objects_of(self._graph)
        self._domain.check(plan, self._graph)
        rest = self._imagination.trace(self._graph, Plan(plan.actions[num_executed:]))
        executed = plan.actions[:num_executed]
        # of actions that this monitor did not see done, only the outcome is known
        known = executed == self.plan.actions[:num_executed]
        earlier = self._expected.up_to(self._num_executed).graphs if known else (self._graph,) * num_executed
        trace = Trace(Plan(executed + rest.plan.actions), earlier[:num_executed] + rest.graphs)
        self._expected = ExpectedTrace(self._imagination, trace)
        self._places = RestingPlaces(self._graph)
        self._num_executed = num_executed
        self._belonging |= {name for action in plan for name in action.arguments}

    def rejoin(self, recovery: Recovery) -> Plan:
        """Go on with a recovery that was planned from `trace` and the last discrepancy.

        Args:
            recovery: a way back that was found.

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
                f"expected a way back, found none ({why}); ask for help, or set another plan with set_plan"
            )
        self._expected = ExpectedTrace(self._imagination, rejoined(self._graph, self.trace, recovery))
        self._num_executed = 0
        return self.plan

    def _check_due(self, action: Action) -> None:
        if action != self.next_action:
            step = self._num_executed
            due = f"{self.next_action}, step {step + 1} of the plan" if self.next_action else "no further action"
            raise InvalidPlan(
                f"expected {due}, found {action}; if the plan has changed, say so before acting: "
                "monitor.set_plan(new_plan), or, to try the last action again, "
                f"monitor.set_plan(monitor.plan, num_executed={max(step - 1, 0)})"
            )

    def _perceive(self, observation: Seen, number: int) -> None:
        """Perceive the scene, which should be like scene `number` of the expected trace."""
        seen = self._perceiver.step(observation, self._expected.up_to(number).graphs[number])
        gone = {seen.names[i] for i in np.flatnonzero(seen.missing)} - self._belonging
        self._graph = seen.without(gone)
        self._expected.add_objects_of(self._graph)
        self._expected.forget(gone, number)

    def _compared(
        self, compare: Callable[[SceneGraph, Trace, int], Discrepancy], step: int, number: int
    ) -> Discrepancy:
        """Compare with scene `number`, and with all later ones only if something is wrong."""
        found = compare(self._graph, self._expected.up_to(number), step)
        return compare(self._graph, self.trace, step) if found else found

    def _expect_drifted_in_place(self, step: int, moved: str) -> bool:
        """Expect objects that have drifted to be where they were put; returns whether there are any."""
        drifted = self._places.drifted(self._graph, self._models.tolerance_m)
        drifted.pop(moved, None)
        graph = self._expected.up_to(step).graphs[step]
        for name, box in drifted.items():
            graph = graph.with_node(graph.index(name), box)
        self._expected.start_from(step, graph)
        return bool(drifted)

    def _noted(self, found: Discrepancy) -> Discrepancy:
        """Keep the last two errors, for `accepted`."""
        if found:
            self._errors = [*self._errors[-1:], found]
        return found

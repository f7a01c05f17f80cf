"""The monitor follows a plan that somebody else carries out, and says after each action what is not as it should be."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Generic, TypeVar

import numpy as np

from nsrecover.core.actions import Action, Plan, Trace
from nsrecover.core.deprecation import with_old_names
from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.geometry import as_box
from nsrecover.core.protocols import Perceiver
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import FloatArray, SceneGraph
from nsrecover.domains.tabletop.operators import REACHED_M, check_plan
from nsrecover.errors import InvalidObservation, InvalidPlan
from nsrecover.models.protocols import SceneModels
from nsrecover.monitoring.comparison import Comparison
from nsrecover.monitoring.imagination import Imagination

Seen = TypeVar("Seen")
"""What the perceiver takes: `nsrecover.Observation`, boxes by name, or anything else."""


@with_old_names
class Monitor(Generic[Seen]):
    """Watches over one execution of a plan, in a loop that it does not own.

    It is made by `System.monitor`, and lasts for one episode. Each step is judged from the scene that was seen before
    it, so an error is reported once, and not again after every later step. What creeps away bit by bit, each time too
    little to be an error, is reported once it is `REACHED_M` from where it was put.

    Args:
        models: what to imagine and compare with.
        perceiver: turns what is handed in into scene graphs; a fresh one, since it may remember.
        plan: what will be done.
        observation: what is to be seen before its first action.

    Raises:
        InvalidAction: the plan has an unknown operator or wrong arguments.
        UnknownObject: it names an object that is not in the scene.
        InvalidObservation: the observation cannot be used.
    """

    def __init__(self, models: SceneModels, perceiver: Perceiver[Seen], plan: Plan, observation: Seen) -> None:
        self._imagination = Imagination(models)
        self._comparison = Comparison(models)
        self._perceive = perceiver
        self._graph = perceiver(observation)
        self._places = _boxes_of(self._graph)  # where each object was put, or seen first, or told to be wrong
        _check_features(self._graph, models)
        check_plan(plan, self._graph)
        self._trace = self._imagination.trace(self._graph, plan)
        self._done = 0
        self._fresh = len(plan)  # scenes after this one were imagined from an earlier start, and are out of date
        self._moved_on = False  # whether the scene has been looked at since that start

    @property
    def plan(self) -> Plan:
        """The plan that is followed. Its actions say where they lead (`target`), also those that leave it open."""
        return self._trace.plan

    @property
    def num_executed(self) -> int:
        """How many of its actions are done."""
        return self._done

    @property
    def next_action(self) -> Action | None:
        """The action that is expected to be done next; None at the end of the plan."""
        return self.plan[self._done] if self._done < len(self.plan) else None

    @property
    def graph(self) -> SceneGraph:
        """The scene as it was seen last."""
        return self._graph

    @property
    def trace(self) -> Trace:
        """What the last scene was compared with: what a recovery planner has to know beside the discrepancy."""
        self._imagine(len(self.plan))
        return self._trace

    def check(self, observation: Seen | None = None) -> Discrepancy:
        """Whether the next action can be run.

        Args:
            observation: what is to be seen now, if somebody looked again; it is compared with the last scene.

        Returns:
            What is wrong, and which preconditions of the action do not hold; false in a condition if all is well.

        Raises:
            InvalidPlan: there is no next action.
        """
        if self.next_action is None:
            raise InvalidPlan(f"expected a plan with an action left, found all {len(self.plan)} done; follow another")
        self._start_here()
        if observation is not None:
            self._see(observation, self._trace.graphs[self._done])
            self._moved_on = True
        found = self._comparison.before(self._graph, self._trace, self._done)
        if found:
            found = self._comparison.before(self._graph, self.trace, self._done)
        self._remember(found.deviating)
        return found

    def step(self, action: Action, observation: Seen) -> Discrepancy:
        """Whether an action worked and left everything else alone.

        Args:
            action: what was done: the next action of the plan. If it says itself where it was to lead (`target`), that
                is what is expected of it.
            observation: what is to be seen now.

        Returns:
            What is not as expected; false in a condition if all is well.

        Raises:
            InvalidPlan: another action was due, or none. Give the monitor the new plan first, by `set_plan`.
            InvalidObservation: the observation cannot be used; nothing has changed then, and it can be tried again.
        """
        if action != self.next_action:
            due = f"{self.next_action}, step {self._done + 1} of the plan" if self.next_action else "no further action"
            raise InvalidPlan(
                f"expected {due}, found {action}; if the plan has changed, say so before acting: "
                "monitor.set_plan(new_plan), or, to try the last action again, "
                f"monitor.set_plan(monitor.plan, num_executed={max(self._done - 1, 0)})"
            )
        self._start_here()
        step = self._done
        if action.target is not None and action.target != self.plan[step].target:
            actions = self.plan.actions
            self._trace = replace(self._trace, plan=Plan((*actions[:step], action, *actions[step + 1 :])))
            self._fresh = step
        self._imagine(step + 1)
        self._see(observation, self._trace.graphs[step + 1])
        self._done, self._moved_on = step + 1, True
        found = self._comparison.after(self._graph, self._trace, step)
        moved = action.arguments[0]
        if found or self._put_back_what_crept(step, moved):
            # only what is wrong has to be held against all later scenes, too
            found = self._comparison.after(self._graph, self.trace, step)
        self._remember((moved, *found.deviating))
        return found

    def set_plan(self, plan: Plan, num_executed: int = 0, observation: Seen | None = None) -> None:
        """Go on with another plan, or from another place in this one, from the scene as it was seen last.

        Args:
            plan: what will be done.
            num_executed: how many of its actions count as done; what they did is taken to be as it is now.
            observation: what is to be seen now, if the scene has changed since the last look.

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
            self._see(observation, self._graph)
        check_plan(plan, self._graph)
        rest = self._imagination.trace(self._graph, Plan(plan.actions[num_executed:]))
        self._trace = Trace(
            Plan(plan.actions[:num_executed] + rest.plan.actions),
            # of actions that this monitor did not see done, only the outcome is known
            (
                self._trace.graphs[:num_executed]
                if plan.actions[:num_executed] == self.plan.actions[:num_executed]
                else (self._graph,) * num_executed
            )
            + rest.graphs,
        )
        self._done, self._fresh, self._moved_on = num_executed, len(plan), False
        self._places = _boxes_of(self._graph)

    def rejoin(self, recovery: Recovery) -> Plan:
        """Go on by way of a recovery that was planned from `trace` and the last discrepancy.

        Args:
            recovery: a way back that was found.

        Returns:
            The new plan: the recovery, then what is left of the old plan.

        Raises:
            InvalidPlan: the recovery has found no way.
        """
        if not recovery.found:
            raise InvalidPlan(
                f"expected a way back, found none ({recovery.reason}); ask for help, or follow another plan"
            )
        self._trace, self._done, self._moved_on = rejoined(self._graph, self.trace, recovery), 0, False
        self._fresh = len(self.plan)
        return self.plan

    def _see(self, observation: Seen, expected: SceneGraph) -> None:
        self._graph = self._perceive(observation, expected=expected)
        self._trace = self._trace.with_objects_of(self._graph)

    def _remember(self, names: Iterable[str]) -> None:
        """Take the places of some objects, and of those that are new, for those where they belong."""
        seen = _boxes_of(self._graph)
        self._places = seen | self._places | {name: seen[name] for name in names if name in seen}

    def _put_back_what_crept(self, step: int, moved: str) -> bool:
        """Expect what has crept away since it was put somewhere to be there; whether there is such a thing."""
        names = self._graph.names
        places = np.stack([self._places.get(name, box) for name, box in _boxes_of(self._graph).items()])
        away = np.linalg.norm(places[:, :3] - self._graph.boxes[:, :3], axis=1) > REACHED_M
        crept = [i for i in np.flatnonzero(away & ~self._graph.missing).tolist() if names[i] != moved]
        if not crept:
            return False
        graphs = list(self._trace.graphs)
        for i in crept:
            graphs[step] = graphs[step].with_node(i, places[i])
        self._trace, self._fresh = replace(self._trace, graphs=tuple(graphs)), step
        return True

    def _start_here(self) -> None:
        """Take the scene as it was seen last for the start of what follows, so that errors do not pile up."""
        if self._moved_on:
            graphs = self._trace.graphs
            self._trace = replace(self._trace, graphs=(*graphs[: self._done], self._graph, *graphs[self._done + 1 :]))
            self._fresh, self._moved_on = self._done, False

    def _imagine(self, number: int) -> None:
        """Bring the scenes up to one of them up to date; the others wait until somebody asks for them."""
        graphs = list(self._trace.graphs)
        for step in range(self._fresh, number):
            graphs[step + 1] = self._imagination.step(graphs[step], self.plan[step])
        self._trace, self._fresh = replace(self._trace, graphs=tuple(graphs)), max(self._fresh, number)


def rejoined(graph: SceneGraph, trace: Trace, recovery: Recovery) -> Trace:
    """The new course: from the scene as it is, through the recovery, along the rest of the original plan.

    Args:
        graph: the scene as it is.
        trace: the course that was left.
        recovery: a way back that was found.

    Returns:
        A trace whose first `len(recovery.actions)` actions are the recovery.
    """
    subgoal = recovery.subgoal if recovery.subgoal is not None else len(trace.plan)
    rest = tuple(map(_as_imagined, trace.plan.actions[subgoal:], recovery.rest))
    plan = Plan(recovery.actions + rest)
    return Trace(plan, (graph, *recovery.graphs, *recovery.rest))


def _boxes_of(graph: SceneGraph) -> dict[str, FloatArray]:
    return dict(zip(graph.names, graph.boxes, strict=True))


def _as_imagined(action: Action, after: SceneGraph) -> Action:
    """An action with a target, with that where the scene after it has the object."""
    if action.target is None:
        return action
    return replace(action, target=as_box(after.boxes[after.index(action.arguments[0])]))


def _check_features(graph: SceneGraph, models: SceneModels) -> None:
    found, expected = graph.visual.shape[1], models.feature_size
    if expected is not None and found != expected:
        raise InvalidObservation(
            f"expected appearance features of length {expected}, as the checkpoint's encoder makes them, found "
            f"{found}; hand in camera images, or use nsrecover.geometric(), which needs boxes only"
        )

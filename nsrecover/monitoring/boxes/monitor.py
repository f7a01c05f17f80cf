"""The monitor of scene graphs: several looks at a scene, brought together object by object, are compared with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import numpy as np

from nsrecover.core.actions import Action, Plan
from nsrecover.core.certainty import CERTAINTY, Certainty
from nsrecover.core.discrepancy import Cause, Discrepancy, Phase
from nsrecover.core.entrance import check_boxes, check_reserved
from nsrecover.core.explanation import Fact
from nsrecover.core.protocols import ReportingPerceiver
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneGraph, Visibility
from nsrecover.core.traces import Trace
from nsrecover.domains.tabletop.relations import TABLE, without_gaps
from nsrecover.domains.tabletop.spatial import SpatialDomain
from nsrecover.errors import InvalidObservation, InvalidPlan
from nsrecover.models.protocols import SceneModels
from nsrecover.monitoring.boxes.comparison import Circumstances, Comparison
from nsrecover.monitoring.boxes.expected_trace import ExpectedTrace, RestingPlaces, rejoined
from nsrecover.monitoring.boxes.goal import Goal, named
from nsrecover.monitoring.boxes.imagination import Imagination
from nsrecover.monitoring.boxes.looking_again import Judged, Look, MonitorState, agreement
from nsrecover.monitoring.boxes.repetition import accept_scene, repeats_itself
from nsrecover.monitoring.monitor import LOOKS, Monitor, Seen, check_done

_Compare = Callable[[SceneGraph, Trace, int, Circumstances], Discrepancy]


class BoxParts(Protocol):
    """What a monitor of scene graphs works with."""

    @property
    def models(self) -> SceneModels:
        """Learned parts, or geometry."""
        ...

    @property
    def domain(self) -> SpatialDomain:
        """Has the operators."""
        ...

    @property
    def imagination(self) -> Imagination:
        """Imagines scenes."""
        ...

    @property
    def comparison(self) -> Comparison:
        """Compares scenes."""
        ...


class BoxMonitor(Monitor[SceneGraph, Seen]):
    """The monitor of scene graphs.

    An object that drifts slowly is reported once it is farther from where it was put than the models' tolerance.

    Objects that appear during the run, and those that the detector does not name, may be in the way, but they never
    deviate: they are expected where they are seen, and are forgotten once they are gone.

    Args:
        parts: imagine and compare.
        perceiver: turns observations into scene graphs; for this monitor alone, since it may remember.
        plan: what will be done.
        observation: what is seen before its first action.
        certainty: how sure a verdict has to be.

    Raises:
        InvalidAction: the plan has an unknown operator or wrong arguments.
        UnknownObject: it names an object that is not in the scene.
        InvalidObservation: the observation cannot be used.
    """

    def __init__(
        self,
        parts: BoxParts,
        perceiver: ReportingPerceiver[Seen],
        plan: Plan,
        observation: Seen,
        certainty: Certainty = CERTAINTY,
    ) -> None:
        self.certainty = certainty
        self._models, self._domain = parts.models, parts.domain
        self._imagination, self._comparison = parts.imagination, parts.comparison
        self._start(perceiver, plan, observation)

    def reset(self, plan: Plan, observation: Seen) -> None:
        """Begin a new episode; arguments and errors as for the constructor."""
        self._start(self._now.perceiver, plan, observation)

    def _start(self, perceiver: ReportingPerceiver[Seen], plan: Plan, observation: Seen) -> None:
        graph = perceiver.reset(observation)
        found, length = graph.visual.shape[1], self._models.feature_size
        if length is not None and found not in (length, self._models.learned_size):
            raise InvalidObservation(
                f"expected appearance features of length {length}, as the checkpoint's encoder makes them, found "
                f"{found}; hand in camera images, or use nsrecover.geometric(), which needs boxes only"
            )
        check_boxes(graph)
        check_reserved(graph.names, (TABLE,))
        self._domain.check(plan, graph)
        trace = replace(self._imagination.trace(graph, plan), named=named(plan))
        goal = Goal.of(trace, self._domain)
        expected, doubts = ExpectedTrace(self._imagination, trace), goal.believed({}, (), [graph], ())
        self._now = MonitorState(perceiver, graph, expected, RestingPlaces(graph), goal, doubts)
        # what appears later, a hand for instance, or has no name may leave again without being missed
        self._sides = dict(zip(graph.names, graph.boxes[:, 3:], strict=True))
        self._belonging = (set(graph.names) - perceiver.reported.unnamed) | set(named(plan))
        self._judged: Judged[Seen] | None = None

    @property
    def plan(self) -> Plan:
        """The current plan. Its actions say where they lead (`target`), also those that leave it open."""
        return self._now.expected.plan

    @property
    def num_executed(self) -> int:
        """How many actions of the plan are done."""
        return self._now.num_executed

    @property
    def graph(self) -> SceneGraph:
        """The scene as it was seen last."""
        return self._now.graph

    @property
    def trace(self) -> Trace:
        """The scenes that the last one was compared with; the recovery planner needs them."""
        return self._now.expected.complete()

    @property
    def perceiver(self) -> ReportingPerceiver[Seen]:
        """The perceiver as it is after the last observation; after `look_again` it may be a fork of the given one."""
        return self._now.perceiver

    @property
    def unconfirmed(self) -> tuple[str, ...]:
        """Objects, in scene order, of which it is not sure enough after the last action that they are as planned.

        Those of the goal count, and what was moved and not seen since.
        """
        now, missed = self._now, {fact.arguments[0] for fact in self.missed}
        unsure = {name for name, doubt in now.doubts.items() if doubt > self.certainty.done and name not in missed}
        return tuple(name for name in self.graph.names if name in now.unconfirmed | unsure)

    @property
    def missed(self) -> tuple[Fact, ...]:
        """Conditions of the plan's own last scene that surely do not hold now: one of each object, named first."""
        now, sure = self._now, 1.0 - self.certainty.alarm
        found = (now.goal.unmet(self.graph, name) for name, doubt in now.doubts.items() if doubt >= sure)
        return tuple(fact for fact in found if fact is not None)

    @property
    def last_found(self) -> Discrepancy | None:
        """What the observations of the last step or check say together; None if there was none."""
        return None if self._judged is None else self._judged.found

    @property
    def wanted(self) -> tuple[str, ...] | None:
        """What another observation should show: nothing in particular; None: the verdict is settled."""
        last = self._last_judged()
        return None if last.settled or last.made >= (self.certainty.looks if last.unsure else LOOKS) else ()

    def _check(self, observation: Seen | None) -> Discrepancy:
        return self._begin(Phase.BEFORE, None, observation)

    def _step(self, action: Action, observation: Seen) -> Discrepancy:
        return self._begin(Phase.AFTER, action, observation)

    def look_again(self, observation: Seen) -> Discrepancy:
        """Judge the last step, or the last check, with one more observation of the same scene.

        An object deviates, or does not, if the observations together say so surely enough; otherwise the verdict is
        *cannot tell*. What one observation does not show the next may.
        Each is perceived from the state before the step if the perceiver has a method `fork`, else one after the other.

        Args:
            observation: what is seen now; nothing was executed since the last observation.

        Returns:
            What all observations since `step` or `check` say together.

        Raises:
            InvalidPlan: there is no step or check to look at again.
            InvalidObservation: the observation cannot be used; nothing has changed, so it can be tried again.
        """
        last = self._last_judged()
        last.looks.append(self._look(last.before.fork(), last.phase, last.action, observation)[0])
        last.made += 1
        self._now = agreement(last, self._newcomers(last.looks[-1].graph))
        last.found = self._concluded(self._now, last.phase, last.action, len(last.looks))
        self._believe(last)
        return last.found

    def look_failed(self) -> None:
        """Count an observation that was wanted and could not be used as made."""
        self._last_judged().made += 1

    def judge_anew(self, observation: Seen) -> Discrepancy:
        """Judge the last step, or the last check, by one observation alone, after an external change."""
        last = self._last_judged()
        look, now = self._look(last.before.fork(), last.phase, last.action, observation)
        self._now, last.looks, last.found, last.made = now, [look], look.found, 1
        self._believe(last)
        return last.found

    def accepted(self) -> Recovery | None:
        """The recovery that goes on from the scene as it is, if repeating the last action cannot change it.

        Returns:
            None if the last two errors do not show that repeating the action is useless.
        """
        errors = self._now.errors
        if len(errors) < 2 or not repeats_itself(errors[0], errors[1], self._domain):
            return None
        return accept_scene(self._imagination, self.trace, errors[-1])

    def set_plan(self, plan: Plan, num_executed: int = 0, observation: Seen | None = None) -> None:
        """Go on with another plan, or from another step of this one, from the scene as it was seen last.

        Args:
            plan: what will be done.
            num_executed: how many of its actions count as done; their effects are assumed to be as they are seen.
            observation: what is seen now, if the scene has changed since the last observation.

        Raises:
            InvalidAction: the plan has an unknown operator or wrong arguments.
            UnknownObject: it names an object that is not in the scene.
            InvalidPlan: `num_executed` is negative, or more than the plan has.
            InvalidObservation: the observation cannot be used.
        """
        check_done(num_executed, plan)
        now = self._now
        if observation is not None:
            now.graph = now.perceiver.step(observation, now.graph)
            now.expected.add_objects_of(now.graph)
        self._domain.check(plan, now.graph)
        rest = self._imagination.trace(now.graph, Plan(plan.actions[num_executed:]))
        executed = plan.actions[:num_executed]
        # of actions that this monitor did not see done, only the outcome is known
        known = executed == self.plan.actions[:num_executed]
        earlier = now.expected.up_to(now.num_executed).graphs if known else (now.graph,) * num_executed
        graphs = earlier[:num_executed] + rest.graphs
        trace = Trace(Plan(executed + rest.plan.actions), graphs, named=named(plan))
        if plan.actions != self.plan.actions:
            now.goal = Goal.of(trace, self._domain)
            now.doubts = now.goal.believed({}, (), [now.graph], self._newcomers(now.graph))
        now.expected = ExpectedTrace(self._imagination, trace)
        now.places = RestingPlaces(now.graph)
        now.num_executed = num_executed
        self._belonging |= set(named(plan))
        self._judged = None

    def _rejoin(self, recovery: Recovery) -> None:
        trace = rejoined(self.graph, self.trace, recovery)
        self._now.expected = ExpectedTrace(self._imagination, trace)
        self._now.goal = self._now.goal.without(recovery.lost)
        self._now.num_executed = 0
        self._judged = None

    def _last_judged(self) -> Judged[Seen]:
        if self._judged is None:
            raise InvalidPlan("expected a step or a check to look at again, found none since the plan was set")
        return self._judged

    def _begin(self, phase: Phase, action: Action | None, observation: Seen | None) -> Discrepancy:
        """Judge the first observation of a step or check, or no observation at all."""
        before, looks = self._now.fork(), list[Look[Seen]]()
        if observation is None:
            self._now.expected.start_from(self.num_executed, self.graph)
            found = self._concluded(self._now, phase, action)
        else:
            look, self._now = self._look(self._now, phase, action, observation)
            found = look.found
            looks.append(look)
        self._judged = Judged(before, phase, action, looks, found, self.certainty.alarm)
        if looks:
            self._believe(self._judged)
        return found

    def _believe(self, judged: Judged[Seen]) -> None:
        """Take over what the looks at a step or check say of the goal."""
        looks, doubts = [look.graph for look in judged.looks], judged.before.doubts
        self._now.doubts = self._now.goal.believed(doubts, judged.moved, looks, self._newcomers(looks[-1]))

    def _look(
        self, state: MonitorState[Seen], phase: Phase, action: Action | None, observation: Seen
    ) -> tuple[Look[Seen], MonitorState[Seen]]:
        """What one observation says alone, and the state after it."""
        step = state.num_executed
        state.expected.start_from(step, state.graph)
        if action is not None and action.target is not None and action.target != state.expected.plan[step].target:
            state.expected.change_action(step, action)
        self._perceive(state, observation, step + 1 if phase is Phase.AFTER else step)
        concluded = state.copy()
        return Look(state, self._concluded(concluded, phase, action)), concluded

    def _perceive(self, state: MonitorState[Seen], observation: Seen, number: int) -> None:
        """Perceive the scene, which should be like scene `number` of the expected trace."""
        expected, earlier = state.expected.up_to(number).graphs[number], state.graph
        seen = state.perceiver.step(observation, expected)
        check_boxes(seen)
        check_reserved(seen.names, (TABLE,))
        absent = expected.chosen([name for name in expected.names if name in self._belonging - set(seen.names)])
        absent = replace(absent, seen=np.zeros(len(absent), np.bool_), occluded=None, unknown=None)
        seen = without_gaps(seen.with_objects_of(absent), self._sides)
        there = [name for row, name in enumerate(seen.names) if name in self._belonging or _is_there(seen, row)]
        known = [name for name in expected.names if name in there]
        state.graph = seen.chosen([*known, *(name for name in there if name not in known)])
        state.expected.forget([name for name in expected.names if name not in there], number)
        state.expected.add_objects_of(state.graph)
        state.expected.place(state.graph, self._newcomers(state.graph))
        reported = state.perceiver.reported
        unmoved = [name for name in reported.still if _stays(name, earlier, expected)]
        if unmoved:
            state.expected.start_from(number, state.expected.up_to(number).graphs[number].with_nodes_of(seen, unmoved))
            state.places.update(seen, unmoved)
        state.unseen, state.sensors = dict(reported.unseen), reported.findings
        state.changed = {**dict.fromkeys(reported.changed, Cause.CHANGED), **reported.posed}

    def _newcomers(self, graph: SceneGraph) -> tuple[str, ...]:
        return tuple(name for name in graph.names if name not in self._belonging)

    def _concluded(self, state: MonitorState[Seen], phase: Phase, action: Action | None, looks: int = 1) -> Discrepancy:
        """Judge what was perceived, and take it as the state from which the next step begins."""
        step = state.num_executed
        reported = state.perceiver.reported
        known = Circumstances(
            unseen=state.unseen,
            unconfirmed=state.unconfirmed,
            newcomers=self._newcomers(state.graph),
            sensors=state.sensors,
            looks=looks,
            uncertain_m=reported.uncertain_m,
            changed=state.changed,
        )
        if phase is Phase.BEFORE or action is None:
            found = self._compared(self._comparison.before, state, step, step, known)
            state.places.update(state.graph, found.deviating)
            moved = frozenset[str]()
        else:
            found = self._compared(self._comparison.after, state, step, step + 1, known)
            if not found.deviates and self._expect_drifted_in_place(state, step, action.arguments[0]):
                found = self._comparison.after(state.graph, state.expected.complete(), step, known)
            state.places.update(state.graph, (action.arguments[0], *found.deviating))
            moved = frozenset(action.arguments[:1])
            state.num_executed = step + 1
        possible = {each.name for each in found.unseen}
        state.unconfirmed = (state.unconfirmed | moved) & possible
        if found.deviates:
            state.errors = (*state.errors[-1:], found)
        return found

    def _compared(
        self, compare: _Compare, state: MonitorState[Seen], step: int, number: int, known: Circumstances
    ) -> Discrepancy:
        """Compare with scene `number`, and with all later ones only if something is wrong."""
        found = compare(state.graph, state.expected.up_to(number), step, known)
        return compare(state.graph, state.expected.complete(), step, known) if found.deviates else found

    def _expect_drifted_in_place(self, state: MonitorState[Seen], step: int, moved: str) -> bool:
        """Expect objects that have drifted to be where they were put; returns whether there are any."""
        drifted = state.places.drifted(state.graph, self._models.tolerance_m)
        for name in (moved, *self._newcomers(state.graph)):
            drifted.pop(name, None)
        graph = state.expected.up_to(step).graphs[step]
        for name, box in drifted.items():
            graph = graph.with_node(graph.index(name), box)
        state.expected.start_from(step, graph)
        return bool(drifted)


def _stays(name: str, earlier: SceneGraph, expected: SceneGraph) -> bool:
    """Whether an object that has not moved is where it is expected."""
    if name not in earlier.names or name not in expected.names:
        return False
    boxes = earlier.boxes[earlier.index(name)], expected.boxes[expected.index(name)]
    return bool(np.allclose(*boxes, atol=1e-4))


def _is_there(graph: SceneGraph, row: int) -> bool:
    """Whether an object that appeared during the run still is in the scene: seen, or behind something."""
    return graph.visibility(row) in (Visibility.SEEN, Visibility.OCCLUDED)

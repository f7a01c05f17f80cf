"""What is believed of a scene of boxes: several looks at it, brought together object by object."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from nsrecover.core.actions import Action, Plan
from nsrecover.core.certainty import Certainty
from nsrecover.core.discrepancy import Cause, Discrepancy, Phase
from nsrecover.core.entrance import check_boxes, check_reserved
from nsrecover.core.explanation import Fact
from nsrecover.core.observation import Observation
from nsrecover.core.protocols import ReportingPerceiver
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneGraph, Visibility
from nsrecover.core.traces import Trace
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.domains.tabletop.relations import TABLE, without_gaps
from nsrecover.domains.tabletop.spatial import SpatialDomain
from nsrecover.errors import InvalidConfiguration, InvalidObservation
from nsrecover.models.conformal import Calibration, check_rate, conformal_threshold, lowest
from nsrecover.models.effects.operator import save_operators
from nsrecover.models.geometric import GeometricModels, save_geometric
from nsrecover.models.protocols import SceneModels
from nsrecover.monitoring.box_goal import GoalScene, named
from nsrecover.monitoring.box_looks import JudgedBoxes, MonitorState, SettledLook, agreement
from nsrecover.monitoring.comparison import Circumstances, Comparison
from nsrecover.monitoring.expected_trace import ExpectedTrace
from nsrecover.monitoring.imagination import Imagination
from nsrecover.monitoring.monitor import LOOKS
from nsrecover.monitoring.repetition import accept_scene, repeats_itself
from nsrecover.monitoring.resting_places import RestingPlaces, rejoined
from nsrecover.monitoring.scene_model import SceneBelief, SceneModel, SceneParts
from nsrecover.perception.cameras.checks import require_plausible
from nsrecover.perception.function import as_perceiver
from nsrecover.perception.objects.boxes import BoxesPerceiver

if TYPE_CHECKING:
    from nsrecover.models.bundle import Bundle  # loads torch, which is for `load` to do
    from nsrecover.perception.perceiver import ScenePerceiver

WITHOUT_LEARNED_PARTS = (
    "expected a system with learned parts, found one that works by geometry alone; hand it boxes or scene graphs, or "
    "use nsrecover.load()"
)
_Compare = Callable[[SceneGraph, Trace, int, Circumstances], Discrepancy]


class BoxBelief(SceneBelief[JudgedBoxes, SceneGraph]):
    """What is believed of a scene of boxes.

    An object that drifts slowly is reported once it is farther from where it was put than the models' tolerance.

    Objects that appear during the run, and those that the detector does not name, may be in the way, but they never
    deviate: they are expected where they are seen, and are forgotten once they are gone.

    Args:
        model: compares.
        parts: a system, whose parts imagine and compare.
        perceiver: turns observations into scene graphs; for this belief alone, since it may remember.
        certainty: how sure a verdict has to be.
        plan: what will be done.
        observation: what is seen before its first action.

    Raises:
        InvalidAction: the plan has an unknown operator or wrong arguments.
        UnknownObject: it names an object that is not in the scene.
        InvalidObservation: the observation cannot be used.
    """

    def __init__(
        self,
        model: BoxModel,
        parts: SceneParts[SceneGraph],
        perceiver: ReportingPerceiver[Any],
        certainty: Certainty,
        plan: Plan,
        observation: object,
    ) -> None:
        self.certainty, self._models, self._domain = certainty, model.models, model.domain
        self._imagination = cast("Imagination", parts.imagination)
        self._comparison = cast("Comparison", parts.comparison)
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
        goal = GoalScene.of(trace, self._domain)
        expected, doubts = ExpectedTrace(self._imagination, trace), goal.believed({}, (), [graph], ())
        self._now = MonitorState(perceiver, graph, expected, RestingPlaces(graph), goal, doubts)
        # what appears later, a hand for instance, or has no name may leave again without being missed
        self._sides = dict(zip(graph.names, graph.boxes[:, 3:], strict=True))
        self._belonging = (set(graph.names) - perceiver.reported.unnamed) | set(named(plan))

    @property
    def expected(self) -> ExpectedTrace[SceneGraph]:
        """The scenes that the plan is expected to lead through."""
        return self._now.expected

    @property
    def scene(self) -> SceneGraph:
        """The scene as it was seen last."""
        return self._now.graph

    @property
    def perceiver(self) -> ReportingPerceiver[Any]:
        """The perceiver as it is after the last observation; after `look_again` it may be a fork of the given one."""
        return self._now.perceiver

    @property
    def unconfirmed(self) -> tuple[str, ...]:
        """Objects, in scene order, of which it is not sure enough after the last action that they are as planned.

        Those of the goal count, and what was moved and not seen since.
        """
        now, missed = self._now, {fact.arguments[0] for fact in self.missed}
        unsure = {name for name, doubt in now.doubts.items() if doubt > self.certainty.done and name not in missed}
        return tuple(name for name in self.scene.names if name in now.unconfirmed | unsure)

    @property
    def missed(self) -> tuple[Fact, ...]:
        """Conditions of the plan's own last scene that surely do not hold now: one of each object, named first."""
        now, sure = self._now, 1.0 - self.certainty.alarm
        found = (now.goal.unmet(self.scene, name) for name, doubt in now.doubts.items() if doubt >= sure)
        return tuple(fact for fact in found if fact is not None)

    def likelihood(self, judged: JudgedBoxes) -> float:
        """The lowest P(as expected) of the objects."""
        return float(judged.found.probabilities.min())

    def wanted(self, judged: JudgedBoxes) -> tuple[str, ...] | None:
        """What another observation should show: nothing in particular; None: the verdict is settled."""
        return None if judged.settled or judged.made >= (self.certainty.looks if judged.unsure else LOOKS) else ()

    def begin(self, phase: Phase, action: Action | None, observation: object, last: object = None) -> JudgedBoxes:
        """Judge the first observation of a step or check, or no observation at all."""
        before, looks = self._now.fork(), list[SettledLook]()
        if observation is None:
            self.expected.start_from(self.expected.num_executed, self.scene)
            found = self._concluded(self._now, phase, action)
        else:
            look, self._now = self._look(self._now, phase, action, observation)
            found = look.found
            looks.append(look)
        judged = JudgedBoxes(before, phase, action, looks, found, self.certainty.alarm)
        if looks:
            self._believe(judged)
        return judged

    def look_again(self, judged: JudgedBoxes, observation: object) -> None:
        """Judge the same with one more observation; None: one was made that cannot be used."""
        if observation is not None:
            look, _ = self._look(judged.before.fork(), judged.phase, judged.action, observation)
            judged.looks.append(look)
            self._now = agreement(judged, self._newcomers(look.graph))
            judged.found = self._concluded(self._now, judged.phase, judged.action, len(judged.looks))
            self._believe(judged)
        judged.made += 1

    def saw(self, observation: object) -> None:
        """Take in an observation of which nothing is judged."""
        now = self._now
        now.graph = now.perceiver.step(observation, now.graph)
        now.doubts = now.goal.believed(now.doubts, (), [now.graph], self._newcomers(now.graph))

    def judge_anew(self, judged: JudgedBoxes, observation: object) -> JudgedBoxes:
        """Judge the same by one observation alone, after an external change."""
        look, self._now = self._look(judged.before.fork(), judged.phase, judged.action, observation)
        anew = replace(judged, looks=[look], found=look.found, made=1)
        self._believe(anew)
        return anew

    def accepted(self) -> Recovery | None:
        """The recovery that goes on from the scene as it is, if repeating the last action cannot change it."""
        errors = self._now.errors
        if len(errors) < 2 or not repeats_itself(errors[0], errors[1], self._domain):
            return None
        return accept_scene(self._imagination, self.expected.complete(), errors[-1])

    def replan(self, plan: Plan, num_executed: int, observation: object) -> None:
        """Go on with another plan; arguments and errors as for `Monitor.set_plan`."""
        now = self._now
        if observation is not None:
            now.graph = now.perceiver.step(observation, now.graph)
            now.expected.edit(lambda trace: trace.with_objects_of(now.graph))
        self._domain.check(plan, now.graph)
        fresh = plan.actions != now.expected.plan.actions
        now.expected.replan(plan, num_executed, now.graph)
        now.expected.edit(lambda trace: replace(trace, named=named(plan)))
        if fresh:
            now.goal = GoalScene.of(now.expected.complete(), self._domain)
            now.doubts = now.goal.believed({}, (), [now.graph], self._newcomers(now.graph))
        now.places = RestingPlaces(now.graph)
        self._belonging |= set(named(plan))

    def rejoin(self, recovery: Recovery, judged: object = None) -> None:
        """Go on with a recovery."""
        now = self._now
        now.expected.set(rejoined(now.graph, now.expected.complete(), recovery))
        now.goal = now.goal.without(recovery.lost)
        if recovery.exchanged:
            now.goal = now.goal.exchanged(dict(recovery.exchanged))
            now.doubts = now.goal.believed({}, (), [now.graph], self._newcomers(now.graph))

    def _believe(self, judged: JudgedBoxes) -> None:
        """Take over what the looks at a step or check say of the goal."""
        looks, doubts = [look.graph for look in judged.looks], judged.before.doubts
        self._now.doubts = self._now.goal.believed(doubts, judged.moved, looks, self._newcomers(looks[-1]))

    def _look(
        self, state: MonitorState, phase: Phase, action: Action | None, observation: object
    ) -> tuple[SettledLook, MonitorState]:
        """What one observation says alone, and the state after it."""
        step = state.expected.num_executed
        state.expected.start_from(step, state.graph)
        if action is not None and action.target is not None and action.target != state.expected.plan[step].target:
            state.expected.change_action(step, action)
        self._perceive(state, observation, step + 1 if phase is Phase.AFTER else step)
        concluded = state.copy()
        return SettledLook(state, self._concluded(concluded, phase, action)), concluded

    def _perceive(self, state: MonitorState, observation: object, number: int) -> None:
        """Perceive the scene, which should be like scene `number` of the expected trace."""
        expected, earlier = state.expected.scene(number), state.graph
        seen = state.perceiver.step(observation, expected)
        check_boxes(seen)
        check_reserved(seen.names, (TABLE,))
        absent = expected.chosen([name for name in expected.names if name in self._belonging - set(seen.names)])
        absent = replace(absent, seen=np.zeros(len(absent), np.bool_), occluded=None, unknown=None)
        seen = without_gaps(seen.with_objects_of(absent), self._sides)
        there = [name for row, name in enumerate(seen.names) if name in self._belonging or _is_there(seen, row)]
        known = [name for name in expected.names if name in there]
        state.graph = seen.chosen([*known, *(name for name in there if name not in known)])
        if gone := set(expected.names) - set(there):
            state.expected.drop_actions(gone, number)
            state.expected.edit_scenes(lambda graph: graph.without(gone))
        state.expected.edit(lambda trace: trace.with_objects_of(state.graph))
        if newcomers := self._newcomers(state.graph):  # expected where they are, at every step
            state.expected.edit_scenes(lambda graph: graph.with_nodes_of(state.graph, newcomers))
        reported = state.perceiver.reported
        unmoved = [name for name in reported.still if _stays(name, earlier, expected)]
        if unmoved:
            state.expected.start_from(number, state.expected.scene(number).with_nodes_of(seen, unmoved))
            state.places.update(seen, unmoved)
        state.unseen, state.sensors = dict(reported.unseen), reported.findings
        state.changed = {**dict.fromkeys(reported.changed, Cause.CHANGED), **reported.posed}

    def _newcomers(self, graph: SceneGraph) -> tuple[str, ...]:
        return tuple(name for name in graph.names if name not in self._belonging)

    def _concluded(self, state: MonitorState, phase: Phase, action: Action | None, looks: int = 1) -> Discrepancy:
        """Judge what was perceived, and take it as the state from which the next step begins."""
        step = state.expected.num_executed
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
            state.expected.num_executed = step + 1
        possible = {each.name for each in found.unseen}
        state.unconfirmed = (state.unconfirmed | moved) & possible
        if found.deviates:
            state.errors = (*state.errors[-1:], found)
        return found

    def _compared(
        self, compare: _Compare, state: MonitorState, step: int, number: int, known: Circumstances
    ) -> Discrepancy:
        """Compare with scene `number`, and with all later ones only if something is wrong."""
        found = compare(state.graph, state.expected.up_to(number), step, known)
        return compare(state.graph, state.expected.complete(), step, known) if found.deviates else found

    def _expect_drifted_in_place(self, state: MonitorState, step: int, moved: str) -> bool:
        """Expect objects that have drifted to be where they were put; returns whether there are any."""
        drifted = state.places.drifted(state.graph, self._models.tolerance_m)
        for name in (moved, *self._newcomers(state.graph)):
            drifted.pop(name, None)
        graph = state.expected.scene(step)
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


@dataclass(frozen=True)
class BoxModel(SceneModel[SceneGraph]):
    """The model of scenes of boxes: learned parts or geometry alone, and the domain.

    Attributes:
        models: the learned parts of a checkpoint, or geometry alone.
        domain: what can be in a scene and what can be done to it; another one may only add operators to the tabletop's.
    """

    models: SceneModels
    domain: SpatialDomain = TABLETOP

    def check_plan(self, plan: Plan) -> None:
        """Refuse a plan with unknown operators or wrong numbers of arguments, or one that stacks in a circle."""
        self.domain.check_plan(plan)

    def check_sensors(self, observation: object) -> None:
        """Refuse first camera images whose units, poses or masks are implausible."""
        if isinstance(observation, Observation):
            require_plausible(observation)

    def believe(
        self, parts: SceneParts[SceneGraph], perceiver: Any, certainty: Certainty, plan: Plan, observation: object
    ) -> BoxBelief:
        """What is believed at the beginning of an episode; errors as for `BoxBelief`."""
        return BoxBelief(self, parts, as_perceiver(perceiver), certainty, plan, observation)

    @property
    def bundle(self) -> Bundle:
        """The learned parts.

        Raises:
            InvalidConfiguration: the scenes are judged by geometry alone.
        """
        if isinstance(self.models, GeometricModels):
            raise InvalidConfiguration(WITHOUT_LEARNED_PARTS)
        return cast("Bundle", self.models)

    def on_table(self, workspace: tuple[float, float, float, float], room_m: float | None = None) -> BoxModel:
        """The same model for another table.

        Args:
            workspace: x_min, y_min, x_max, y_max of the table that things may be put down on, metres.
            room_m: how much wider or higher than expected an object may be, metres, on a table where room is scarce:
                objects that were turned in their place then deviate, too. None: that does not count.
        """
        return replace(self, models=self.models.with_table(workspace, room_m))

    def calibrated(
        self, scores: Sequence[float], beliefs: Sequence[object], alpha: float
    ) -> tuple[BoxModel, Calibration]:
        """The same model with a threshold that keeps false alarms to a rate; see `System.calibrated`."""
        check_rate(scores, alpha)
        threshold = conformal_threshold(lowest(scores), len(scores), alpha)
        if threshold == 0.0:
            absent = sum(score == 0.0 for score in scores)
            raise InvalidConfiguration(
                f"expected steps that went well, found {absent} of {len(scores)} in which an object was gone from "
                f"its place; leave these episodes out, or ask for a rate above {absent / len(scores):.2g}"
            )
        model = replace(self, models=self.models.with_threshold(threshold))
        return model, Calibration(lowest(scores), len(scores))

    def save(self, folder: str | Path, calibration: Calibration | None, card: str) -> Path:
        """Write models, threshold, what it was set on, and learned operators; see `System.save`."""
        save_operators(self.domain, folder)
        if isinstance(self.models, GeometricModels):
            return save_geometric(self.models, calibration, folder)
        bundle = self.bundle if calibration is None else self.bundle.with_calibration(calibration)
        return bundle.save(folder, card)


@dataclass(frozen=True)
class BoxPerceivers:
    """Makes perceivers of camera images, and of boxes that are given.

    Attributes:
        models: describe what objects look like.
    """

    models: SceneModels

    def with_model(self, model: BoxModel) -> BoxPerceivers:
        """The same with the models of another model."""
        return replace(self, models=model.models)

    def __call__(self, observation: object = None, watch_cameras: bool = True) -> ScenePerceiver | BoxesPerceiver:
        """A fresh perceiver.

        Args:
            observation: the first observation of the episode; None: camera images.
            watch_cameras: whether cameras that fail or move are named, see `ScenePerceiver`.

        Raises:
            InvalidConfiguration: it is for camera images, and the models are geometry alone.
        """
        if observation is not None and not isinstance(observation, Observation):
            return BoxesPerceiver()
        if isinstance(self.models, GeometricModels):
            raise InvalidConfiguration(WITHOUT_LEARNED_PARTS)
        from nsrecover.perception.perceiver import ScenePerceiver

        return ScenePerceiver(cast("Bundle", self.models), watch_cameras=watch_cameras)

"""The comparison of the expected with the observed scene, before and after an action."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import STANCES, Cause, Deviation, Discrepancy, Phase, Unseen, UnseenReason
from nsrecover.core.explanation import Fact
from nsrecover.core.geometry import SAME_SIZE_M, near_enough, shared_room, with_sides
from nsrecover.core.scene import SceneGraph, Visibility
from nsrecover.core.sensing import SensorFinding
from nsrecover.core.traces import Trace
from nsrecover.domains.tabletop.operators import PUSH, TABLETOP, moved_object
from nsrecover.domains.tabletop.relations import DIRECTIONS, Relation
from nsrecover.domains.tabletop.spatial import SpatialDomain
from nsrecover.models.protocols import PushOutcomes, RecoveryModels
from nsrecover.models.same_place import well_placed
from nsrecover.monitoring.box_causes import Situation, cause_of
from nsrecover.monitoring.imagination import ModelAndDomain, as_expected, surely_itself
from nsrecover.util.python310 import Self


@dataclass(frozen=True)
class Circumstances:
    """What is known of an observation besides the scene that was made of it.

    Attributes:
        unseen: why objects are not seen, as far as perception says so.
        unconfirmed: objects that an action should have moved and that have not been seen since.
        newcomers: objects that are neither in the first scene nor in the plan.
        sensors: what is wrong with the cameras.
        looks: number of observations behind the scene.
        changed: objects in their places that look different than before, or stand otherwise, and the cause.
        uncertain_m: how far the centres of objects may be off along the line of sight, and how much shorter their boxes
            may be, as all cameras look from one side, metres. An object that is put beside such a one may stand that
            much farther away than expected.
    """

    unseen: Mapping[str, Unseen] = field(default_factory=dict)
    unconfirmed: Collection[str] = ()
    newcomers: Collection[str] = ()
    sensors: tuple[SensorFinding, ...] = ()
    looks: int = 1
    uncertain_m: Mapping[str, float] = field(default_factory=dict)
    changed: Mapping[str, Cause] = field(default_factory=dict)


NOTHING_KNOWN = Circumstances()

TAKEN = 0.4
"""A new object whose box shares this part of the smaller one of both is in the other's place."""


@dataclass(frozen=True)
class Comparison:
    """Finds the objects that deviate from the expected scene, with causes (Kalithasan et al., section IV-C).

    It is stateless: the caller hands over the scene, the trace and the step. `nsrecover.Monitor` keeps these.

    Attributes:
        models: their discriminator and calibrated threshold are used.
        domain: has the operators.
    """

    models: RecoveryModels
    domain: SpatialDomain = TABLETOP

    def with_model(self, model: ModelAndDomain) -> Self:
        """The same comparison with another model."""
        return replace(self, models=model.models, domain=model.domain)

    def before(
        self, graph: SceneGraph, trace: Trace, step: int, circumstances: Circumstances = NOTHING_KNOWN
    ) -> Discrepancy:
        """The discrepancy before an action, with the unmet preconditions of the action.

        Args:
            graph: the scene as it is now.
            trace: the expected scenes.
            step: number of the action, from 0.
            circumstances: what is known besides the scene.

        Returns:
            A discrepancy that is false in a condition if nothing deviates and the preconditions hold.
        """
        action = trace.plan[step]
        without = {name for name, why in circumstances.unseen.items() if why.reason is UnseenReason.NO_DEPTH}
        unmet = self.domain.operator_of(action).violated(graph, action)
        unmet = tuple(fact for fact in unmet if without.isdisjoint(fact.arguments))
        return self._compare(graph, trace, step, Phase.BEFORE, unmet, circumstances)

    def after(
        self, graph: SceneGraph, trace: Trace, step: int, circumstances: Circumstances = NOTHING_KNOWN
    ) -> Discrepancy:
        """The discrepancy after an action, over all objects; arguments as for `before`."""
        return self._compare(graph, trace, step, Phase.AFTER, (), circumstances)

    def _compare(
        self,
        graph: SceneGraph,
        trace: Trace,
        step: int,
        phase: Phase,
        unmet: tuple[Fact, ...],
        known: Circumstances,
    ) -> Discrepancy:
        action = trace.plan[step]
        done = step + 1 if phase is Phase.AFTER else step
        moved = moved_object(graph, action) if phase is Phase.AFTER else None
        expected = trace.graphs[done]
        if moved is not None and known.uncertain_m:
            expected = _farther(expected, graph, action, moved, known.uncertain_m.get(action.arguments[-1], 0.0))
        itself = surely_itself(self.models, expected, graph)
        probabilities = np.zeros(len(graph), np.float32)
        for likely in dict.fromkeys((expected, _with_sides_of(trace.graphs[0], expected))):
            each = as_expected(self.models, likely, graph, itself)
            if moved is not None and graph.seen[moved] and itself[moved]:
                row = slice(moved, moved + 1)
                each[row] = well_placed(self.models, likely.boxes[row], graph.boxes[row])
            probabilities = np.maximum(probabilities, each)
        if moved is not None and action.operator == PUSH.name and isinstance(self.models, PushOutcomes):
            probabilities = self._pushed(self.models, graph, trace.graphs[step], action, probabilities)
        known_gone = graph.missing & trace.graphs[done].missing  # reported when it was noticed
        probabilities[[i for i in np.flatnonzero(known_gone) if i != moved]] = 1.0
        judged = np.array([name not in known.newcomers for name in graph.names])
        causes = [known.changed.get(name) for name in graph.names]
        posed = np.array([each in STANCES for each in causes], np.bool_)
        in_place = probabilities >= self.models.threshold
        if posed.any():  # their boxes are others, around the same centre
            in_place |= posed & (near_enough(expected.boxes, graph.boxes, self.models.tolerance_m) >= 0.5)
        changed = in_place & np.array([each is not None for each in causes], np.bool_)
        if moved is not None and causes[moved] is Cause.CHANGED:
            changed[moved] = False
        probabilities[changed] = 0.0
        wrong = tuple(int(i) for i in np.flatnonzero(judged & (probabilities < self.models.threshold)))
        deviations: tuple[Deviation, ...] = ()
        if wrong:
            later = np.zeros((len(trace.graphs), len(graph)), dtype=np.bool_)
            for number, imagined in enumerate(trace.graphs[done + 1 :], done + 1):
                later[number] = as_expected(self.models, imagined, graph) >= self.models.threshold
            situation = Situation(
                trace=trace,
                done=done,
                moved=moved,
                observed=graph,
                probabilities=probabilities,
                wrong=wrong,
                later=later,
                newcomers=known.newcomers,
                changed={i: cause for i, cause in enumerate(causes) if cause is not None and changed[i]},
            )
            found = (cause_of(situation, index) for index in wrong)
            deviations = tuple(replace(each, uncertain_m=known.uncertain_m.get(each.name, 0.0)) for each in found)
        unseen = _unseen(graph, action if phase is Phase.AFTER else None, known, {each.name for each in deviations})
        return Discrepancy(
            step=step,
            phase=phase,
            action=action,
            expected=trace.graphs[done],
            observed=graph,
            before=trace.graphs[step] if phase is Phase.AFTER else None,
            probabilities=probabilities,
            threshold=self.models.threshold,
            deviations=deviations,
            unmet=unmet,
            unseen=unseen,
            missing_to_tell=_missing_to_tell(graph, action, phase, unseen, known),
            sensors=known.sensors,
            newcomers=tuple(name for name in graph.names if name in known.newcomers),
            looks=known.looks,
        )

    def _pushed(
        self, models: PushOutcomes, graph: SceneGraph, before: SceneGraph, action: Action, otherwise: np.ndarray
    ) -> np.ndarray:
        """P(as expected) of the objects that are seen after a push, by the distribution of its outcomes.

        The pushed object also has to be as far as its operator promises: the good pushes of the training were.
        """
        if before.names != graph.names or action.target is None:
            return otherwise
        moved = moved_object(before, action)
        found = np.array(models.push_as_expected(before.boxes, moved, action.target, graph.boxes))
        if not self.domain.operator_of(action).achieved(before, graph, action):
            found[moved] = 0.0
        return np.where(graph.seen & before.seen, found, otherwise)


def _with_sides_of(first: SceneGraph, expected: SceneGraph) -> SceneGraph:
    """The expected scene with the sides that objects had at first: those that were seen last may be hidden in part.

    Not those of objects that stood on another side.
    """
    if first.names != expected.names:
        return expected
    before, now = first.boxes[:, 3:], expected.boxes[:, 3:]
    alike = np.abs(np.sort(before, axis=1) - np.sort(now, axis=1)).max(axis=1) < SAME_SIZE_M
    turned = alike & (np.abs(before[:, 2] - now[:, 2]) > SAME_SIZE_M)
    sides = np.where((first.seen & ~turned)[:, None], before, now)
    return expected if np.array_equal(sides, now) else replace(expected, boxes=with_sides(expected.boxes, sides))


def _farther(expected: SceneGraph, observed: SceneGraph, action: Action, moved: int, most_m: float) -> SceneGraph:
    """The expected scene with an object that was put beside another one as far away as it is, by `most_m` at most."""
    if action.target is not None or action.operator not in DIRECTIONS:
        return expected
    axis, sign = DIRECTIONS[Relation(action.operator)]
    box = expected.boxes[moved].copy()
    box[axis] += sign * np.clip(sign * (observed.boxes[moved, axis] - box[axis]), 0.0, most_m)
    return expected.with_node(moved, box, expected.visual[moved])


def _unseen(
    graph: SceneGraph, action: Action | None, known: Circumstances, deviating: Collection[str]
) -> tuple[Unseen, ...]:
    """The objects that are not seen, do not deviate and may be in their places, in scene order."""
    unseen = []
    moved = {*known.unconfirmed, *(action.arguments[:1] if action is not None else ())}
    reasons = {Visibility.OCCLUDED: UnseenReason.OCCLUDED, Visibility.UNKNOWN: UnseenReason.NO_MASK}
    for row, name in enumerate(graph.names):
        visibility = graph.visibility(row)
        if visibility in reasons and name not in deviating and name not in known.newcomers:
            taker = next((new for new in known.newcomers if _takes_place(graph, new, row)), None)
            why = known.unseen.get(name) or Unseen(name, reasons[visibility])
            if taker is not None:
                why = Unseen(name, UnseenReason.MERGED_MASKS, taker)
            unseen.append(replace(why, moved=name in moved))
    return tuple(unseen)


def _takes_place(graph: SceneGraph, newcomer: str, row: int) -> bool:
    """Whether a new object is seen where another one should be, so that it cannot merely hide it."""
    if newcomer not in graph.names or not graph.seen[index := graph.index(newcomer)]:
        return False
    new, own = graph.boxes[[index, row]]
    return bool(shared_room(new, own[None])[0] > TAKEN * min(new[3:].prod(), own[3:].prod()))


def _missing_to_tell(
    graph: SceneGraph, action: Action, phase: Phase, unseen: tuple[Unseen, ...], known: Circumstances
) -> tuple[Unseen | SensorFinding, ...]:
    """What keeps one from saying that the scene is as expected.

    Objects that were moved and not seen since matter, and those on which observations disagree; before an action only
    if it uses them. Objects matter if a new object is seen in their places: it may be the same one, standing otherwise.
    Objects without depth matter if the action uses them, and every object if none at all is seen.
    """
    matters = [
        each
        for each in unseen
        if not graph.seen.any()
        or (each.reason is UnseenReason.NO_DEPTH and each.name in action.arguments)
        or each.other in known.newcomers
        or (
            (each.moved or each.reason is UnseenReason.LOOKS_DISAGREE)
            and (phase is Phase.AFTER or each.name in action.arguments)
        )
    ]
    return (*matters, *known.sensors) if matters else ()

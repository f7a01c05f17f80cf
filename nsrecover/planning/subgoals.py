"""Which states of a trace a recovery may lead back to (Kalithasan et al., section V)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nsrecover.core.discrepancy import Discrepancy, Phase
from nsrecover.core.scene import SceneGraph
from nsrecover.core.traces import Trace
from nsrecover.models.protocols import RecoveryModels
from nsrecover.models.same_place import same_place
from nsrecover.util.python310 import StrEnum


class Subgoal(NamedTuple):
    """A scene of one of several traces of a plan.

    Attributes:
        trace: number of the trace; 0 is the expected one.
        step: number of plan steps that are done in the scene.
    """

    trace: int
    step: int


class Subgoals(StrEnum):
    """Which states of the trace count as subgoals."""

    ALL = "all"
    """Every state."""
    STEP = "step"
    """Only the state in which the error was noticed (Kalithasan et al., section V, the first strategy)."""
    GOAL = "goal"
    """Only the last state: plan anew and ignore the plan that was followed."""


def steps_expected(discrepancy: Discrepancy) -> int:
    """Number of actions that should have been done when the discrepancy was noticed."""
    return discrepancy.step + (discrepancy.phase is Phase.AFTER)


def chosen_subgoals(
    models: RecoveryModels,
    graph: SceneGraph,
    traces: Sequence[Trace],
    discrepancy: Discrepancy,
    subgoals: Subgoals | int,
) -> Sequence[Subgoal]:
    """The scenes to plan for, ascending.

    Args:
        models: compare scenes, where only the nearest are wanted.
        graph: the scene to recover from.
        traces: the expected trace first, then other traces of the same plan.
        discrepancy: what is wrong.
        subgoals: which scenes are wanted.
    """
    length, done = len(traces[0].graphs), steps_expected(discrepancy)
    # alternative traces agree with the plan from the step on at which the discrepancy was noticed
    known = [Subgoal(c, t) for c in range(len(traces)) for t in range(done if c else 0, length)]
    if discrepancy.unmet and not discrepancy.deviations and length > 1:
        # every object is in place and still the action cannot be run: going on from here would fail again
        known = [subgoal for subgoal in known if subgoal.step != discrepancy.step]
    if subgoals is Subgoals.STEP:
        return [subgoal for subgoal in known if subgoal.step == done] or known
    if subgoals is Subgoals.GOAL:
        return [subgoal for subgoal in known if subgoal.step == length - 1] or known
    if isinstance(subgoals, Subgoals) or subgoals >= len(known):
        return known
    scenes = [traces[subgoal.trace].graphs[subgoal.step] for subgoal in known]
    n = len(graph)
    same = same_place(
        models,
        np.concatenate([scene.visual for scene in scenes]),
        np.concatenate([scene.boxes for scene in scenes]),
        np.tile(graph.visual, (len(scenes), 1)),
        np.tile(graph.boxes, (len(scenes), 1)),
    ).reshape(len(scenes), n)
    # by objects that differ; of equally many the later state, from where less of the plan is left
    wrong = (same < models.threshold).sum(axis=1)
    nearest = np.lexsort((n - same.sum(axis=1), [-subgoal.step for subgoal in known], wrong))[:subgoals]
    return sorted(known[i] for i in nearest)

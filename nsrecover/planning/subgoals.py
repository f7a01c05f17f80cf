"""Which states of an imagined trace a recovery may lead back to (Kalithasan et al., section V)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from nsrecover.core.actions import Trace
from nsrecover.core.discrepancy import Discrepancy, Phase
from nsrecover.core.scene import SceneGraph
from nsrecover.models.protocols import RecoveryModels
from nsrecover.models.same_place import same_place


class Subgoals(StrEnum):
    """Which states of the trace count as subgoals."""

    ALL = "all"
    """Every one of them."""
    STEP = "step"
    """Only the one in which the error was noticed (Kalithasan et al., section V, the first strategy)."""
    GOAL = "goal"
    """Only the last one: planning anew, with no use for the plan that was followed."""


def done_by(discrepancy: Discrepancy) -> int:
    """How many actions should have been done when it was noticed."""
    return discrepancy.step + (discrepancy.phase is Phase.AFTER)


def considered(
    models: RecoveryModels,
    graph: SceneGraph,
    courses: Sequence[Trace],
    discrepancy: Discrepancy,
    subgoals: Subgoals | int,
) -> Sequence[int]:
    """Numbers of the imagined scenes to plan for, ascending; scene t of course c is number c (T + 1) + t.

    Args:
        models: compare scenes, where only the nearest are wanted.
        graph: the scene to recover from.
        courses: imagined traces of one plan.
        discrepancy: what is wrong.
        subgoals: which of them are wanted.
    """
    length, done = len(courses[0].graphs), done_by(discrepancy)
    # what was checked of another course is what is still to come
    scenes = [*range(length), *range(length + done, len(courses) * length)]
    imagined = [scene for course in courses for scene in course.graphs]
    if discrepancy.unmet and not discrepancy.deviations and length > 1:
        # all is where the plan has it and still the action cannot be run: going on from here would fail again
        scenes = [scene for scene in scenes if scene % length != discrepancy.step]
    if subgoals is Subgoals.STEP:
        return [scene for scene in scenes if scene % length == done] or scenes
    if subgoals is Subgoals.GOAL:
        return [scene for scene in scenes if scene % length == length - 1] or scenes
    if isinstance(subgoals, Subgoals) or subgoals >= len(scenes):
        return scenes
    n = len(graph)
    same = same_place(
        models,
        np.concatenate([imagined[scene].visual for scene in scenes]),
        np.concatenate([imagined[scene].boxes for scene in scenes]),
        np.tile(graph.visual, (len(scenes), 1)),
        np.tile(graph.boxes, (len(scenes), 1)),
    ).reshape(len(scenes), n)
    # by objects that differ; of equally many the later state, from where less of the plan is left
    wrong = (same < models.threshold).sum(axis=1)
    nearest = np.lexsort((n - same.sum(axis=1), [-(scene % length) for scene in scenes], wrong))[:subgoals]
    return sorted(scenes[i] for i in nearest)

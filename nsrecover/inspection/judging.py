"""Whether an episode of a task succeeded; if not, at which subtask, with which object, and why."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nsrecover.core import Discrepancy, Plan, SceneGraph
from nsrecover.core.discrepancy import Cause, Phase
from nsrecover.core.traces import Trace
from nsrecover.explanation.facts import facts_of
from nsrecover.explanation.templates import in_short
from nsrecover.inspection.subtasks import ON_M, FrameStep, SubtaskOrder, follow, left_at
from nsrecover.inspection.watching import WatchedEpisode
from nsrecover.monitoring.box_causes import Situation, cause_of

AHEAD = 2.0
"""An object that is in the place of a later subtask up to this share of the limit was put there by that subtask."""


@dataclass(frozen=True, eq=False)
class LabelledEpisode:
    """The label of an episode.

    Attributes:
        episode: its number.
        succeeded: whether all subtasks are done and nothing else has changed.
        score: the greatest misfit at the end, or at the failure; a success has at most the limit of the task.
        done: subtasks in the order in which they were done, and the frame of each.
        subtask: number of the one that failed; None: none did.
        frame: number of the frame that showed the failure first; the last one if something was not done.
        discrepancy: what deviates; None: nothing does.
    """

    episode: int
    succeeded: bool
    score: float
    done: tuple[tuple[int, int], ...]
    subtask: int | None = None
    frame: int | None = None
    discrepancy: Discrepancy[SceneGraph] | None = None

    @property
    def object(self) -> str | None:
        """The object that the failure is about; None: there is no failure."""
        return None if self.discrepancy is None else self.discrepancy.deviations[0].name

    @property
    def cause(self) -> Cause | None:
        """What happened to it."""
        return None if self.discrepancy is None else self.discrepancy.deviations[0].cause

    @property
    def why(self) -> str:
        """What happened, in a few words; empty if nothing did."""
        return "" if self.discrepancy is None else in_short(facts_of(self.discrepancy, None))


def judge(task: SubtaskOrder, watched: WatchedEpisode) -> LabelledEpisode:
    """Label an episode of a task; one that recovers from what went wrong succeeds."""
    scenes = task.scenes(watched)
    steps = list(follow(task, watched, task.limit))
    last = steps[-1]
    done = tuple((number, next(step.frame for step in steps if number in step.done)) for number in last.done)
    if last.score > task.limit:
        right = max((step.frame for step in steps if step.score <= task.limit), default=-1)
        first = steps[right + 1]
        number, objects = _blamed(task, watched, scenes, first, done)
    elif len(last.done) == len(task.subtasks):
        return LabelledEpisode(watched.index, True, last.score, done)
    else:
        first, number = last, task.enabled(last.done)[0]
        objects = [scenes[0].index(task.subtasks[number].action.arguments[0])]
    found = _discrepancy(task, scenes, first, number, objects)
    return LabelledEpisode(watched.index, False, first.score, done, number, first.frame, found)


def _blamed(
    task: SubtaskOrder,
    watched: WatchedEpisode,
    scenes: Sequence[SceneGraph],
    first: FrameStep,
    done: Sequence[tuple[int, int]],
) -> tuple[int, list[int]]:
    """The subtask that failed, and the rows of its objects, first the one that the failure is about."""
    scene, possible = scenes[first.frame], task.enabled(first.done)
    stayed = task.misfits(scene, first.accepted)
    moved = {n: scene.index(task.subtasks[n].action.arguments[0]) for n in range(len(task.subtasks))}
    number = next((n for n in possible if stayed[moved[n]] > task.limit), possible[0] if possible else None)
    if number is None:
        return first.done[-1], np.flatnonzero(stayed > task.limit).tolist()
    after = task.misfits(scene, task.subtasks[number].after(first.accepted), number)
    wrong = np.flatnonzero(np.minimum(stayed, after) > task.limit).tolist() or [int(after.argmax())]
    if moved[number] in wrong:
        return number, sorted(wrong, key=lambda row: row != moved[number])
    later = [n for n in range(len(task.subtasks)) if n not in (*first.done, *possible)]
    if any(_ahead(task, scene, n, row) for row in wrong for n in later):
        return number, [moved[number], *wrong]  # the policy went on without it
    expected = task.subtasks[number].after(first.accepted).boxes[moved[number]]
    taken = float(np.linalg.norm(scene.boxes[wrong[0], :2] - expected[:2])) <= ON_M  # by another object
    if done and not taken:
        name, box = scene.names[wrong[0]], first.accepted.boxes[wrong[0]]
        since = watched.times_s[left_at(watched, name, box, first.frame)] - watched.times_s[done[-1][1]]
        if since <= task.subtasks[number].begins_s / 2:  # the robot had not turned to the next subtask
            return done[-1][0], wrong
    return number, wrong


def _ahead(task: SubtaskOrder, scene: SceneGraph, number: int, row: int) -> bool:
    """Whether a subtask that cannot come yet has put an object where it belongs."""
    own = task.subtasks[number]
    if scene.names[row] != own.action.arguments[0]:
        return False
    return bool(task.misfits(scene, own.after(scene), number)[row] <= AHEAD * task.limit)


def _discrepancy(
    task: SubtaskOrder, scenes: Sequence[SceneGraph], first: FrameStep, number: int, objects: Sequence[int]
) -> Discrepancy[SceneGraph]:
    """What deviates from the scene after a subtask, with causes."""
    scene, own = scenes[first.frame], task.subtasks[number]
    row = scene.index(own.action.arguments[0])
    if number in first.done:  # it went wrong after it had been done
        before, expected = first.accepted.with_node(row, scenes[0].boxes[row]), first.accepted
    else:
        before, expected = first.accepted, own.after(first.accepted)
    past = [each for each in first.done if each != number]
    rest = [each for each in range(len(task.subtasks)) if each not in (*past, number)]
    graphs = [*[before] * (len(past) + 1), expected]
    for each in rest:
        graphs.append(task.subtasks[each].after(graphs[-1]))
    plan = Plan(tuple(task.subtasks[each].action for each in (*past, number, *rest)))
    misfits = np.stack([task.misfits(scene, each) for each in graphs])
    later = misfits <= task.limit
    step = len(past)
    later[: step + 2] = False
    probabilities = 1 / (1 + (misfits[step + 1] / task.limit) ** 2)
    situation = Situation(
        Trace(plan, tuple(graphs)), step + 1, row, scene, probabilities.astype(np.float32), tuple(objects), later
    )
    deviations = tuple(cause_of(situation, each) for each in objects)
    return Discrepancy(
        step, Phase.AFTER, plan[step], expected, scene, deviations, probabilities=situation.probabilities, before=before
    )

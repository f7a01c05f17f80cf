"""What happened to an object that is not where it should be: a typed cause, read off the two scene graphs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nsrecover.operators import REACHED_M
from nsrecover.scene.geometry import as_box, top
from nsrecover.scene.relations import support_name
from nsrecover.structs import Cause, Culprit, FloatArray, SceneGraph, Trace

NEAR_PLACE_M = 0.07
"""Landing this close to its place counts as misplaced rather than dropped: about one object and a half."""


@dataclass(frozen=True)
class Situation:
    """Everything the cause of a deviation is read off.

    Attributes:
        trace: the imagined scenes.
        done: number of actions after which the expected scene is `trace.graphs[done]`.
        moved: index of the object the last action was to move; None before an action.
        observed: the seen scene.
        probabilities: (N,) P(as expected).
        wrong: indices of the objects that are not as expected.
        later: (T + 1, N) whether an object is as it should be after a later step.
    """

    trace: Trace
    done: int
    moved: int | None
    observed: SceneGraph
    probabilities: FloatArray
    wrong: tuple[int, ...]
    later: np.ndarray

    @property
    def expected(self) -> SceneGraph:
        """The imagined scene."""
        return self.trace.graphs[self.done]


def _distance(a: FloatArray, b: FloatArray) -> float:
    return float(np.linalg.norm(a[:3] - b[:3]))


def _swap_partner(situation: Situation, index: int) -> int | None:
    """An object that stands where this one should, while this one stands where that one should."""
    expected, observed = situation.expected.boxes, situation.observed.boxes
    for other in situation.wrong:
        if other == index or situation.observed.missing[other]:
            continue
        here = np.linalg.norm(observed[index, :2] - expected[other, :2]) < 1.5 * REACHED_M
        there = np.linalg.norm(observed[other, :2] - expected[index, :2]) < 1.5 * REACHED_M
        if here and there:
            return other
    return None


def cause_of(situation: Situation, index: int) -> Culprit:
    """Why one object is not as expected."""
    expected, observed = situation.expected, situation.observed
    box, seen_box = expected.boxes[index], observed.boxes[index]

    def culprit(cause: Cause, other: str | None = None, subgoal: int | None = None) -> Culprit:
        missing = cause is Cause.MISSING
        return Culprit(
            name=expected.names[index],
            cause=cause,
            probability=float(situation.probabilities[index]),
            distance_m=float("inf") if missing else _distance(box, seen_box),
            expected=as_box(box),
            observed=None if missing else as_box(seen_box),
            other=other,
            subgoal=subgoal,
        )

    if observed.missing[index]:
        return culprit(Cause.MISSING)
    helped = np.flatnonzero(situation.later[:, index])
    if len(helped) and index != situation.moved:
        return culprit(Cause.HELPED, support_name(observed, index), int(helped[0]))
    partner = _swap_partner(situation, index)
    if partner is not None:
        return culprit(Cause.SWAPPED, expected.names[partner])
    support = support_name(observed, index)
    if index == situation.moved:
        before = situation.trace.graphs[situation.done - 1].boxes[index]
        if _distance(before, seen_box) < REACHED_M:
            return culprit(Cause.NOT_LIFTED, support)
        near = np.linalg.norm(box[:2] - seen_box[:2]) < NEAR_PLACE_M
        fell = float(top(box)) - float(top(seen_box)) > box[5] / 2
        return culprit(Cause.MISPLACED if near and not fell else Cause.DROPPED, support)
    if float(box[2] - seen_box[2]) > float(box[5]) / 2:
        return culprit(Cause.TOPPLED, support)
    return culprit(Cause.MOVED, support)

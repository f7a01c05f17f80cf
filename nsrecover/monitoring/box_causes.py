"""Typed causes of deviations, derived from the expected and the observed scene graph."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from nsrecover.core.discrepancy import Cause, Deviation
from nsrecover.core.geometry import as_box, same_room, top, turned_over
from nsrecover.core.scene import FloatArray, SceneGraph
from nsrecover.core.traces import Trace
from nsrecover.domains.tabletop.operators import REACHED_M
from nsrecover.domains.tabletop.relations import TABLE, support_name

TUMBLED_M = 0.006
"""The box of an object that rolled over or lies askew differs by more than this along some axis."""

FALL_REACH_M = 0.1
"""A falling object that does not roll lands this close to its place: about the width of two objects."""

ON_THE_WAY_M = 0.03
"""An object that falls out of the gripper lands this close to the straight carry path."""

ON_THE_LINE_M = 0.003
"""Within this distance of the carry path a coincidence is unlikely."""

SAME_PILE_M = 0.04
"""Objects whose places are this close in x and y belong to one pile."""

NEAR_PLACE_M = 0.07
"""An object this close to its place, at its level, was put there: about one and a half objects."""

OVERLAP_M = 0.003
"""Boxes that overlap more than this along every axis block each other."""


@dataclass(frozen=True)
class Situation:
    """The evidence from which the cause of a deviation is derived.

    Attributes:
        trace: the imagined scenes.
        done: number of actions after which the expected scene is `trace.graphs[done]`.
        moved: index of the object that the last action should have moved; None before an action.
        observed: the observed scene.
        probabilities: (N,) P(as expected).
        wrong: indices of the objects that are not as expected.
        later: (T + 1, N) whether an object is as it should be after a later step.
        newcomers: objects that were not there before.
        changed: index of an object in its place that looks different than before, or stands otherwise -> the cause.
    """

    trace: Trace
    done: int
    moved: int | None
    observed: SceneGraph
    probabilities: FloatArray
    wrong: tuple[int, ...]
    later: np.ndarray
    newcomers: Collection[str] = ()
    changed: Mapping[int, Cause] = field(default_factory=dict)

    @property
    def expected(self) -> SceneGraph:
        """The imagined scene."""
        return self.trace.graphs[self.done]


def _distance(a: FloatArray, b: FloatArray) -> float:
    return float(np.linalg.norm(a[:3] - b[:3]))


def _swap_partner(situation: Situation, index: int) -> int | None:
    """The object that exchanged its place with this one; None if there is none."""
    expected, observed = situation.expected.boxes, situation.observed.boxes
    for other in situation.wrong:
        here = np.linalg.norm(observed[index, :2] - expected[other, :2]) < 1.5 * REACHED_M
        there = np.linalg.norm(observed[other, :2] - expected[index, :2]) < 1.5 * REACHED_M
        if here and there and other != index and not situation.observed.missing[other]:
            return other
    return None


def _taker(situation: Situation, index: int) -> str | None:
    """The new object that is where this one should be; None if there is none."""
    observed = situation.observed
    there = same_room(situation.expected.boxes[index], observed.boxes) & observed.seen
    new = [name for name, here in zip(observed.names, there, strict=True) if here and name in situation.newcomers]
    return new[0] if new else None


def cause_of(situation: Situation, index: int) -> Deviation:
    """The deviation of one object with its cause.

    The first cause that applies: missing, or replaced by a new object; changed in appearance alone; swapped with
    another object; not lifted by the action that should have moved it; helped (already where a later step puts it).
    Then, for the object that was moved: dropped or misplaced. For all others: toppled, blocking a later step, or moved.
    """
    expected, observed = situation.expected, situation.observed
    box, seen_box = expected.boxes[index], observed.boxes[index]

    def deviation(cause: Cause, other: str | None = None, subgoal: int | None = None) -> Deviation:
        missing = cause in (Cause.MISSING, Cause.REPLACED)
        return Deviation(
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
        taker = _taker(situation, index)
        return deviation(Cause.MISSING) if taker is None else deviation(Cause.REPLACED, taker)
    if index in situation.changed:
        return deviation(situation.changed[index])
    partner = _swap_partner(situation, index)
    if partner is not None:
        return deviation(Cause.SWAPPED, expected.names[partner])
    support, moved = support_name(observed, index), index == situation.moved
    if moved and _distance(situation.trace.graphs[situation.done - 1].boxes[index], seen_box) < REACHED_M:
        return deviation(Cause.NOT_LIFTED, support)
    helped = np.flatnonzero(situation.later[:, index])
    if len(helped):
        return deviation(Cause.HELPED, support, int(helped[0]))
    if moved:
        return deviation(Cause.DROPPED if _lost(situation, index, support) else Cause.MISPLACED, support)
    tipped = turned_over(box, seen_box) and _offset_m(situation, index) < REACHED_M  # in its place
    if tipped or (_came_down(situation, index) and _fell_over(situation, index)):
        return deviation(Cause.TOPPLED, support)
    hindered = _hindered(situation, index, support)
    return deviation(Cause.MOVED, support) if hindered is None else deviation(Cause.BLOCKING, hindered)


def _offset_m(situation: Situation, index: int) -> float:
    """Horizontal distance of an object from its place, metres."""
    return float(np.linalg.norm(situation.expected.boxes[index, :2] - situation.observed.boxes[index, :2]))


def _came_down(situation: Situation, index: int) -> bool:
    """Whether the top of an object is lower than it should be by more than half its height."""
    box = situation.expected.boxes[index]
    return float(top(box)) - float(top(situation.observed.boxes[index])) > float(box[5]) / 2


def _tumbled(situation: Situation, index: int) -> bool:
    """Whether the sides of an object differ from the expected ones; an object that is set down keeps its sides."""
    sides = situation.observed.boxes[index, 3:] - situation.expected.boxes[index, 3:]
    return bool(np.abs(sides).max() > TUMBLED_M)


def _fell_over(situation: Situation, index: int) -> bool:
    """Whether an object that came down fell: it or another one of its pile tumbled, or lies at the foot of the pile."""
    places, gone = situation.expected.boxes[:, :2], situation.observed.missing
    # a load that tipped off the pile says nothing about the pile
    return any(
        _came_down(situation, other) and (_tumbled(situation, other) or _offset_m(situation, other) < FALL_REACH_M)
        for other in situation.wrong
        if other != situation.moved and not gone[other] and np.linalg.norm(places[other] - places[index]) < SAME_PILE_M
    )


def _lost(situation: Situation, index: int, support: str) -> bool:
    """Whether the moved object fell, out of the gripper or from its place; otherwise it was put down elsewhere.

    The motion itself is not observed. A falling object rolls over, lands next to its place or below the carry path, and
    hardly ever ends up on top of something.
    """
    if support != TABLE:
        return False
    offset_m = _offset_m(situation, index)
    if _tumbled(situation, index) or (_came_down(situation, index) and offset_m < FALL_REACH_M):
        return True
    start, goal = (situation.trace.graphs[done].boxes[index, :2] for done in (situation.done - 1, situation.done))
    way = goal - start
    length = float(np.linalg.norm(way))
    offset = situation.observed.boxes[index, :2] - start
    if length < REACHED_M:
        return False
    along, across = float(offset @ way) / length, abs(float(way[0] * offset[1] - way[1] * offset[0])) / length
    # it may fly a little beyond its place
    narrow = ON_THE_LINE_M if offset_m < NEAR_PLACE_M else ON_THE_WAY_M
    return across < narrow and REACHED_M < along < length + 2 * FALL_REACH_M


def _hindered(situation: Situation, index: int, support: str) -> str | None:
    """The object that the rest of the plan cannot move, or not put into its place, because this one blocks it."""
    plan, graphs = situation.trace.plan, situation.trace.graphs
    name, box = situation.observed.names[index], situation.observed.boxes[index]
    for step in range(situation.done, len(plan)):
        moved = plan[step].arguments[0]
        if moved == name:
            # it is moved before it can block anything later
            return support if support in plan[step].arguments[1:] else None
        wanted = graphs[step + 1].boxes[graphs[step + 1].index(moved)]
        shared = (box[3:] + wanted[3:]) / 2 - np.abs(box[:3] - wanted[:3])
        if support == moved or bool(np.all(shared > OVERLAP_M)):
            return moved
    return None

"""The steps of a plan and the lines of a log about them: each step has a stretch of events in which it may happen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product

from nsrecover.core.actions import Action
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.logs.reading.records import HouseholdLog, KeyFrame
from nsrecover.logs.reading.things import carries_out


@dataclass(frozen=True)
class Slot:
    """A step that may have been carried out.

    Attributes:
        step: with the names of its line, if there is one.
        planned: the same as the plan has it.
        early: the first event at which it may have its effect, if lines are late.
        first: the first event at which it is likely to have it.
        last: the last one; the number of events if that may be after all of them.
        told: whether a line tells of its end.
        again: how often it was tried again, by the lines.
    """

    step: Action
    planned: Action
    first: int
    last: int
    told: bool = True
    again: int = 0
    early: int = 0


def slots_of(log: HouseholdLog) -> list[Slot]:
    """Every step of the plan in order, with or without a line; and lines about steps that the plan does not have."""
    log = replace(log, plan=tuple(step if _is_known(step) else Action(str(step), ()) for step in log.plan))
    runs, ends = _runs(log.events), _ends(log)
    matched = _aligned(log.plan, [frame.step for _, frame in ends])
    slots, done = list[Slot](), 0
    for (event, frame), number in zip(ends, matched, strict=True):
        previous = slots[-1] if slots else None
        if number is None:
            if previous and previous.told and previous.planned == frame.step:
                slots[-1] = replace(previous, last=event, again=previous.again + 1)
                continue
            slots.append(Slot(frame.step, frame.step, event, event))
            continue
        slots += (Slot(step, step, -1, -1, told=False) for step in log.plan[done:number])
        meant = log.plan[number]
        step = frame.step if carries_out(frame.step, meant) else meant
        slots.append(Slot(step, meant, min(event, runs.get(event, event)), event))
        done = number + 1
    slots += (Slot(step, step, -1, -1, told=False) for step in log.plan[done:])
    return _stretched(slots, len(log.events))


def _is_known(step: Action) -> bool:
    operator = HOUSEHOLD.operators.get(step.operator)
    return operator is None or len(operator.parameters) == len(step.arguments)


def _stretched(slots: Sequence[Slot], events: int) -> list[Slot]:
    """Steps without a line may happen anywhere between those that have one."""
    found, begin = list[Slot](), 0
    for number, slot in enumerate(slots):
        if slot.told:
            first = max(slot.first, begin)
            found.append(replace(slot, first=first, early=max(first - 1, begin)))
            begin = slot.last
        else:
            later = (each.last for each in slots[number:] if each.told)
            found.append(replace(slot, first=begin, last=next(later, events), early=begin))
    return found


def _runs(events: Sequence[KeyFrame]) -> dict[int, int]:
    """Event -> the first of the events without a break whose lines have the same words."""
    found = {0: 0}
    for number, (one, other) in enumerate(pairwise(events)):
        found[number + 1] = found[number] if one.text == other.text else number + 1
    return found


def _ends(log: HouseholdLog) -> list[tuple[int, KeyFrame]]:
    """The events that end steps: those of the summary of subgoals, and the last ones of a run that has none there."""
    events, found = log.events, list[tuple[int, KeyFrame]]()
    known = [(_event_of(events, frame), frame) for frame in log.subgoals if frame.step.operator != "move_to"]
    runs = _runs(events)
    covered = {runs.get(event, 0) for event, _ in known}
    for number, frame in enumerate(events):
        ends = runs.get(number + 1) == number + 1 or number == len(events) - 1
        if ends and frame.step.operator != "move_to" and runs[number] not in covered:
            found.append((number, frame))
    found = sorted((*found, *known), key=lambda each: each[0])
    if len(found) != len(log.plan):
        return found
    # An action in unknown words is the one that the plan has there.
    return [
        (event, frame if frame.step.operator in HOUSEHOLD.operators else replace(frame, step=step))
        for (event, frame), step in zip(found, log.plan, strict=True)
    ]


def _event_of(events: Sequence[KeyFrame], end: KeyFrame) -> int:
    """The event that is the end of a subgoal: the same moment and words, or else the last one up to then."""
    exact = [number for number, frame in enumerate(events) if frame.time == end.time and frame.text == end.text]
    return max(exact or [number for number, frame in enumerate(events) if frame.seconds <= end.seconds], default=0)


def _aligned(plan: Sequence[Action], done: Sequence[Action]) -> list[int | None]:
    """The index of the planned step that each line is about, in order; None where there is none.

    The best alignment of the two: lines that match by `carries_out`, then lines that name another object.
    """
    best: dict[tuple[int, int], tuple[int, tuple[tuple[int, int], ...]]] = defaultdict(lambda: (0, ()))
    for row, column in product(reversed(range(len(done))), reversed(range(len(plan)))):
        options = [best[row + 1, column], best[row, column + 1]]
        score = 3 if carries_out(done[row], plan[column]) else int(done[row].operator == plan[column].operator)
        if score:
            total, pairs = best[row + 1, column + 1]
            options.insert(0, (total + score, ((row, column), *pairs)))
        best[row, column] = max(options, key=lambda each: each[0])
    planned = dict(best[0, 0][1])
    return [planned.get(row) for row in range(len(done))]

"""The cause in the plan where every subgoal holds: the success condition regressed through the steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.household.names import noun, same, same_stuff, slice_of, whole
from nsrecover.domains.household.scene import apply, holds, liquid, unmet
from nsrecover.explanation.logs.findings import Finding, RootCause
from nsrecover.explanation.logs.inference.effects import (
    OPERATORS,
    SETS,
    SWITCHES,
    literal_of,
    machine_for,
    needs_of_law,
    one_with,
    opposite,
)
from nsrecover.explanation.logs.reading.goal import order_of
from nsrecover.explanation.logs.run import Run

_WEIGHT = {RootCause.CAME_UNDONE: 2, RootCause.MISSING_STEP: 3, RootCause.UNKNOWN: 4}
"""Of several findings the most specific one is reported: a wrong step before a missing one."""


def explain_plan(run: Run) -> Finding:
    """What in the plan prevented the success condition."""
    missing = [condition for condition in order_of(run.wanted, run.home) if not holds(run.final, condition, run.home)]
    if not missing:
        return Finding(RootCause.NONE, (), ())
    findings = [explain_condition(run, condition, len(run.subgoals)) for condition in missing]
    first = min(findings, key=lambda finding: _WEIGHT.get(finding.cause, 1))
    others = [one for one in findings if one.cause is first.cause and not set(one.objects) & set(first.objects)]
    if first.cause not in (RootCause.WRONG_ACTION, RootCause.WRONG_OBJECT) or not others:
        return first
    alike = (first, *others)
    return replace(
        first,
        times=tuple(sorted({time for finding in alike for time in finding.times})),
        objects=tuple(dict.fromkeys(name for finding in alike for name in finding.objects)),
        steps=tuple(finding.step for finding in alike if finding.step is not None),
        missing=tuple(step for finding in alike for step in finding.missing),
    )


def explain_condition(run: Run, condition: StateFact, end: int, depth: int = 4) -> Finding:
    """Why a condition does not hold after the first `end` subgoals.

    Args:
        run: the log.
        condition: with objects for names.
        end: how many subgoals count.
        depth: how far causes of causes are followed.
    """
    lost = _lost(run, condition, end)
    if lost is not None:
        return lost
    for number in range(end - 1, -1, -1):
        needs = _needs(run, run.steps[number], condition)
        found = None if needs is None else _ineffective(run, condition, number, needs, depth)
        if found is not None:
            return found
    return _wrong_action(run, condition, end) or _wrong_object(run, condition, end) or _missing(run, condition, end)


def _about(run: Run, cause: RootCause, number: int, condition: StateFact, **details: object) -> Finding:
    """A finding about a step and the object of a condition."""
    return run.finding(cause, number, condition[1], *run.steps[number].arguments, unmet=condition, **details)


def _lost(run: Run, condition: StateFact, end: int) -> Finding | None:
    """What ended a condition that held once."""
    last_event = run.subgoals[end - 1].event if end else -1
    held = [number for number in range(last_event + 1) if holds(run.states[number], condition, run.home)]
    if not held:
        return None
    if held[-1] == last_event:
        # Only the final state contradicts the condition, and it counts.
        unseen = _unseen_undoing(run, condition, end) or _unseen_failure(run, condition, end)
        time = run.log.events[len(run.states) - 1].time
        return unseen or Finding(RootCause.CAME_UNDONE, (time,), condition[1:2], unmet=condition)
    event = held[-1] + 1
    number = next((n for n, item in enumerate(run.subgoals[:end]) if item.event >= event), None)
    if number is not None and _ends(run, run.states[held[-1]], run.steps[number], condition):
        again = any(_needs(run, step, condition) is not None for step in run.steps[number + 1 : end])
        return None if again else _about(run, RootCause.UNDONE_BY_PLAN, number, condition, earlier=run.steps[number])
    if condition[0] == "at":
        return Finding(RootCause.CAME_UNDONE, (run.log.events[event].time,), condition[1:], unmet=condition)
    return None


def _ends(run: Run, state: frozenset[StateFact], step: Action, condition: StateFact) -> bool:
    """Whether a condition does not hold after a step."""
    return step.operator in HOUSEHOLD.operators and not holds(apply(state, step, run.home), condition, run.home)


def _unseen_undoing(run: Run, condition: StateFact, end: int) -> Finding | None:
    """A step that ends a condition out of view."""
    for number in range(end - 1, -1, -1):
        step = run.steps[number]
        if _needs(run, step, condition) is not None:
            return None
        if _ends(run, run.before(number) | {condition}, step, condition):
            return _about(run, RootCause.UNDONE_BY_PLAN, number, condition, earlier=step)
    return None


def _unseen_failure(run: Run, condition: StateFact, end: int) -> Finding | None:
    """The step that should have switched an object out of view, and that can only have failed."""
    if literal_of(condition[0]) not in SWITCHES.values():
        return None
    tried = [number for number in range(end) if _needs(run, run.steps[number], condition) is not None]
    return _about(run, RootCause.ACTION_FAILED, tried[-1], condition) if tried else None


def _needs(run: Run, step: Action, condition: StateFact) -> list[StateFact] | None:
    """What has to hold for a step to bring a condition about; None if it never does.

    Names of a plan may leave ordinals out, so that objects are compared by `same`.
    """
    match condition, step.operator, step.arguments:
        case (("at", thing, place), "put_in" | "put_on", (one, target)):
            return [] if same_stuff(one, thing) and same(target, place) else None
        case ("sliced", slices), "slice_obj", (one,):
            return [] if slice_of(one) == slices else None
        case ("filled", thing, content), "pour", (source, target):
            return [("filled", source, content)] if same(target, thing) else None
        case ("empty", thing), "pour", (source, _):
            return [] if same(source, thing) else None
        case (_, thing, *_), _, (one,) if SETS.get(step.operator) == literal_of(condition[0]):
            return [] if same(one, thing) else None
        # A house plant cannot be put under the tap.
        case _, "toggle_on", (machine,) if condition[0] != "filled" or run.home.has(condition[1], Trait.PORTABLE):
            return needs_of_law(run.home, condition, machine)
    return None


def _ineffective(run: Run, condition: StateFact, number: int, needs: list[StateFact], depth: int) -> Finding | None:
    """Why a step that could have brought a condition about did not."""
    state = run.after(number)
    for need in needs:
        if need[0] == "empty" and liquid(run.before(number), need[1]) not in (None, condition[-1]):
            return _already_filled(run, need[1], number)
        if need[0] == "empty" or holds(state, need, run.home):
            continue
        later = next((n for n in range(number + 1, len(run.subgoals)) if holds(run.after(n), need, run.home)), None)
        again = any(_needs(run, step, condition) is not None for step in run.steps[number + 1 :])
        if later is not None and not again:
            times = (run.subgoals[number].time, run.subgoals[later].time)
            return _about(run, RootCause.WRONG_ORDER, number, condition, times=times, earlier=run.steps[number])
        if depth:
            return explain_condition(run, need, number, depth - 1)
    if not any(need[0] == "filled" for need in needs) and not holds(state, condition, run.home):
        return _about(run, RootCause.ACTION_FAILED, number, condition)
    return None


def _already_filled(run: Run, vessel: str, number: int) -> Finding:
    """A vessel held another liquid when it was to be filled."""
    content = liquid(run.before(number), vessel) or ""
    emptying = Action("pour", (vessel, one_with(run.home, Trait.BASIN)))
    # Filled by the plan, or before it began.
    filled = any(_needs(run, step, ("filled", vessel, content)) is not None for step in run.steps[:number])
    cause = RootCause.MISSING_STEP if filled else RootCause.ALREADY_FILLED
    times = (_place_for(run, emptying, number),)
    return run.finding(cause, number, vessel, times=times, missing=(emptying,), liquid=content)


def _place_for(
    run: Run, step: Action, end: int, needs: Sequence[StateFact] = (), prior: Iterable[StateFact] = ()
) -> str:
    """The time of the step before which a missing one would have fitted, as late as possible."""
    last = min(end, len(run.subgoals))
    for number in range(last, 0, -1):
        state = run.after(number - 1)
        possible = all(need[0] == "remote" for need in unmet(state, step, run.home))
        if possible and all(holds(state, need, run.home) for need in needs):
            return run.subgoals[min(number, len(run.subgoals) - 1)].time
    # The object was never in the place for that: it should have gone there when it was first taken.
    for number in range(last - 1 if needs else 0):
        if all(holds(run.after(number), fact, run.home) for fact in (*prior, ("holding", needs[0][1]))):
            return run.subgoals[number + 1].time
    if run.subgoals:
        return run.subgoals[min(end, len(run.subgoals) - 1)].time
    return run.log.events[-1].time if run.log.events else "00:00"


def _wrong_action(run: Run, condition: StateFact, end: int) -> Finding | None:
    """The plan does something else with the object than what was to be done with it."""
    wanted = OPERATORS.get(literal_of(condition[0]))
    if wanted not in SWITCHES:
        return None
    for number in range(end - 1, -1, -1):
        step = run.steps[number]
        # Opening a microwave is not confused with turning it on; turning a laptop on is confused with closing it.
        wrong = step.operator in SWITCHES and (
            step.operator == opposite(wanted) or not run.home.has(condition[1], Trait.DOOR)
        )
        if wrong and step.operator != wanted and same(step.arguments[0], condition[1]):
            needed = Action(wanted, condition[1:2])
            return run.finding(RootCause.WRONG_ACTION, number, condition[1], missing=(needed,), unmet=condition)
    return None


def _wrong_object(run: Run, condition: StateFact, end: int) -> Finding | None:
    """The plan does what was needed, but with another object or place that the goal does not ask for."""
    for number in range(end - 1, -1, -1):
        mixed_up = _mixed_up(run, condition, number, end)
        if mixed_up is not None:
            meant, used, *times = mixed_up
            item = run.subgoals[number]
            # A word of the plan may leave open which object is meant, and this is the one that it led to.
            vague = [word for word in {*item.planned.arguments, *item.step.arguments} if run.home.ambiguous(word)]
            cause = RootCause.AMBIGUOUS_NAME if vague else RootCause.WRONG_OBJECT
            return run.finding(cause, number, meant, used, *vague, times=(*times, item.time), unmet=condition)
    return None


def _mixed_up(run: Run, condition: StateFact, number: int, end: int) -> tuple[str, ...] | None:
    """The object that a step should have used, the one that it used, and times of earlier steps that were wrong."""
    home, step, before = run.home, run.steps[number], run.before(number)
    wanted_names = {name for fact in run.wanted for name in fact[1:]}
    match condition, step.operator, step.arguments:
        case (("at", thing, place), "put_in" | "put_on", (one, target)):
            needed = ("at", one, target) in run.wanted
            if same(target, place) and not same_stuff(one, thing) and not needed:
                return thing, one, *_taken(run, number, one)
            again = any(done.operator == "pick_up" and same_stuff(done.arguments[0], one)
                        for done in run.steps[number + 1 : end])  # fmt: skip
            moved = holds(run.final, ("at", target, place), home)
            if not same(target, place) and same_stuff(one, thing) and not needed and not again and not moved:
                return place, target
        case (("running", thing), "toggle_on", (other,)) if not same(other, thing) and other not in wanted_names:
            if noun(other) == noun(thing):
                put = [item for item in run.subgoals[:end] if item.step.operator in ("put_in", "put_on")]
                placed = [item.time for item in put if same(item.step.arguments[1], thing)]
                return thing, other, *placed[-1:]
        case (("sliced", slices), "slice_obj", (other,)) if slice_of(other) not in wanted_names:
            return whole(slices), other
        case (("filled", thing, content), "pour", (source, target)) if not same(target, thing):
            if not home.has(target, Trait.BASIN) and liquid(before, source) == content:
                return thing, target
        case (("filled", _, content), "pour", (source, _)) if liquid(before, source) != content:
            full = [v for v in home.all(Trait.VESSEL) if liquid(before, v) == content and v != source]
            return (full[0], source, *_taken(run, number, source)) if full else None
        case (("cracked", thing), "crack_obj", (other,)) if not same(other, thing):
            return thing, other
        case ("closed" | "open", thing), "close_obj" | "open_obj", (other,) if other not in wanted_names:
            if SETS[step.operator] == literal_of(condition[0]) and noun(other) == noun(thing):
                return thing, other
    return None


def _taken(run: Run, number: int, thing: str) -> list[str]:
    """The time at which an object had been picked up before a step."""
    taken = [item.time for item in run.subgoals[:number]
             if item.step.operator == "pick_up" and same_stuff(item.step.arguments[0], thing)]  # fmt: skip
    return taken[-1:]


def _missing(run: Run, condition: StateFact, end: int) -> Finding:
    """The plan has no step for a condition: which step, and where it would have fitted."""
    home, things, needs = run.home, condition[1:2], list[StateFact]()
    operator, machine = OPERATORS.get(literal_of(condition[0])), machine_for(home, condition)
    match condition:
        case ("at", _, place):
            things = condition[1:]
            lacking = Action("put_on" if home.has(place, Trait.SURFACE) else "put_in", things)
        case ("sliced", slices):
            lacking, things = Action("slice_obj", (whole(slices),)), (whole(slices),)
        case (_, _, *_) if machine is not None:
            lacking = Action("toggle_on", (machine,))
            needs = (needs_of_law(home, condition, machine) or [])[:1]
        case (_, thing):
            lacking = Action(operator, (thing,)) if operator else Action("pour", (thing, "sink"))
        case _:
            last = run.subgoals[-1] if run.subgoals else run.log.events[-1]
            return Finding(RootCause.UNKNOWN, (last.time,), things, unmet=condition)
    ordered = order_of(run.wanted, home)
    earlier = ordered[: ordered.index(condition)] if condition in ordered else []
    prior = [fact for fact in earlier if fact[0] in ("clean", "filled", "hot") and fact[1] == condition[1]]
    time = _place_for(run, lacking, end, needs, prior)
    step = next((item.step for item in reversed(run.subgoals) if item.time == time), None)
    return Finding(RootCause.MISSING_STEP, (time,), things, step, missing=(lacking,), unmet=condition)

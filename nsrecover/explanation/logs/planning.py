"""What was wrong with a plan whose steps all did what they should: the success condition regressed through it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nsrecover.domains.base import Fact, State
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.household.names import is_slice, noun, same, same_stuff, slice_of, whole
from nsrecover.domains.household.scene import apply, holds, liquid, unmet
from nsrecover.explanation.logs.findings import Finding, RootCause
from nsrecover.explanation.logs.goal import order_of
from nsrecover.explanation.logs.records import Step
from nsrecover.explanation.logs.run import Run

_OPPOSITES = {"open_obj": "close_obj", "close_obj": "open_obj", "toggle_on": "toggle_off", "toggle_off": "toggle_on"}


def explain_plan(run: Run) -> Finding:
    """What in the plan kept the success condition from coming about."""
    missing = [condition for condition in order_of(run.wanted, run.home) if not holds(run.final, condition, run.home)]
    if not missing:
        return Finding(RootCause.NONE, (), ())
    findings = [explain_condition(run, condition, len(run.subgoals)) for condition in missing]
    first = min(findings, key=lambda finding: _WEIGHT.get(finding.cause, 1))
    same_kind = [
        other for other in findings if other.cause is first.cause and not set(other.objects) & set(first.objects)
    ]
    if first.cause not in (RootCause.WRONG_ACTION, RootCause.WRONG_OBJECT) or not same_kind:
        return first
    times = sorted({time for finding in (first, *same_kind) for time in finding.times})
    things = tuple(dict.fromkeys(thing for finding in (first, *same_kind) for thing in finding.objects))
    return replace(
        first,
        times=tuple(times),
        objects=things,
        steps=tuple(finding.step for finding in (first, *same_kind) if finding.step is not None),
        missing=tuple(step for finding in (first, *same_kind) for step in finding.missing),
    )


_WEIGHT = {RootCause.CAME_UNDONE: 2, RootCause.MISSING_STEP: 3, RootCause.UNKNOWN: 4}
"""Of several findings the one that says most is told: a wrong step before a missing one."""


def explain_condition(run: Run, condition: Fact, end: int, depth: int = 4) -> Finding:
    """Why a condition is not so after the first `end` subgoals.

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
        step = run.subgoals[number].step
        extras = _extras(run, step, condition)
        if extras is not None:
            found = _ineffective(run, condition, number, extras, depth)
            if found is not None:
                return found
    return _wrong_action(run, condition, end) or _wrong_object(run, condition, end) or _missing(run, condition, end)


def _lost(run: Run, condition: Fact, end: int) -> Finding | None:
    """The condition was so once, and what ended it."""
    last_event = run.subgoals[end - 1].event if end else -1
    held = [number for number in range(last_event + 1) if holds(run.states[number], condition, run.home)]
    if not held:
        return None
    if held[-1] == last_event:
        # Only the view at the end denies it; what the final state says counts.
        undoing = _unseen_undoing(run, condition, end)
        if undoing is not None:
            return undoing
        unseen = _unseen_failure(run, condition, end)
        if unseen is not None:
            return unseen
        last = len(run.states) - 1
        return Finding(RootCause.CAME_UNDONE, (run.log.events[last].time,), condition[1:2], unmet=condition)
    event = held[-1] + 1
    time = run.log.events[event].time
    number = next((n for n, item in enumerate(run.subgoals) if item.event >= event), None)
    if number is not None and number < end:
        item = run.subgoals[number]
        if item.step.operator in HOUSEHOLD.operators:
            before = run.states[held[-1]]
            ends = not holds(apply(before, item.step, run.home), condition, run.home)
            again = _done_again(run, condition, number, end)
            if ends and again is None:
                return Finding(
                    RootCause.UNDONE_BY_PLAN, (item.time,), tuple(dict.fromkeys((condition[1], *item.step.arguments))),
                    item.step, earlier=item.step, unmet=condition,
                )  # fmt: skip
            if ends:
                return None
    if condition[0] == "at":
        return Finding(RootCause.CAME_UNDONE, (time,), condition[1:], unmet=condition)
    return None


def _unseen_undoing(run: Run, condition: Fact, end: int) -> Finding | None:
    """A step that ends a condition although nobody saw it end."""
    for number in range(end - 1, -1, -1):
        step = run.subgoals[number].step
        if _extras(run, step, condition) is not None:
            return None
        if step.operator in HOUSEHOLD.operators and not holds(
            apply(run.before(number) | {condition}, step, run.home), condition, run.home
        ):
            things = tuple(dict.fromkeys((condition[1], *step.arguments)))
            return Finding(
                RootCause.UNDONE_BY_PLAN, (run.subgoals[number].time,), things, step, earlier=step, unmet=condition
            )
    return None


def _unseen_failure(run: Run, condition: Fact, end: int) -> Finding | None:
    """The step that was to bring a condition about out of view, and that can only have failed."""
    if condition[0] not in ("running", "off", "open", "closed"):
        return None
    for number in range(end - 1, -1, -1):
        item = run.subgoals[number]
        if _extras(run, item.step, condition) is not None:
            return Finding(
                RootCause.ACTION_FAILED, (item.time,), tuple(dict.fromkeys((condition[1], *item.step.arguments))),
                item.step, unmet=condition,
            )  # fmt: skip
    return None


def _done_again(run: Run, condition: Fact, number: int, end: int) -> int | None:
    """A later step that was to bring the condition about once more."""
    return next((n for n in range(number + 1, end) if _extras(run, run.subgoals[n].step, condition) is not None), None)


def _extras(run: Run, step: Step, condition: Fact) -> list[Fact] | None:
    """What has to be so for a step to bring a condition about; None if it is none that can."""
    home = run.home
    match condition, step.operator, step.arguments:
        case (("at", thing, place), "put_in" | "put_on", (one, target)) if same_stuff(one, thing) and same(
            target, place
        ):
            return []
        case (("running", thing), "toggle_on", (one,)) | (("open", thing), "open_obj", (one,)) if same(one, thing):
            return []
        case (("closed", thing), "close_obj", (one,)) | (("off", thing), "toggle_off", (one,)) if same(one, thing):
            return []
        case ("sliced", slices), "slice_obj", (one,) if slice_of(one) == slices:
            return []
        case ("cracked", thing), "crack_obj", (one,) if same(one, thing):
            return []
        case ("filled", thing, "water"), "toggle_on", (one,) if home.has(one, Trait.POURS_WATER) and home.has(
            thing, Trait.PORTABLE
        ):
            return [("at", thing, basin) for basin in home.all(Trait.BASIN)[:1]] + [("empty", thing)]
        case ("clean", thing), "toggle_on", (one,) if home.has(one, Trait.POURS_WATER):
            return [("at", thing, basin) for basin in home.all(Trait.BASIN)[:1]]
        case ("filled", thing, "coffee"), "toggle_on", (one,) if home.has(one, Trait.POURS_COFFEE):
            return [("at", thing, one), ("empty", thing)]
        case ("hot", thing), "toggle_on", (one,) if home.has(one, Trait.HEATS) and not home.has(
            one, Trait.POURS_COFFEE
        ):
            return [("at", thing, one)]
        case ("filled", thing, what), "pour", (source, target) if same(target, thing):
            return [("filled", source, what)]
        case ("empty", thing), "pour", (source, _) if same(source, thing):
            return []
    return None


def _ineffective(run: Run, condition: Fact, number: int, extras: list[Fact], depth: int) -> Finding | None:
    """Why a step that could have brought a condition about did not."""
    item, before = run.subgoals[number], run.after(number)
    for extra in extras:
        if extra[0] == "empty" and liquid(run.before(number), extra[1]) not in (None, condition[-1]):
            return _already_filled(run, extra[1], number)
        if extra[0] == "empty" or holds(before, extra, run.home):
            continue
        later = next((n for n in range(number + 1, len(run.subgoals)) if holds(run.after(n), extra, run.home)), None)
        things = tuple(dict.fromkeys((condition[1], *item.step.arguments)))
        again = _done_again(run, condition, number, len(run.subgoals))
        if later is not None and again is None:
            times = (item.time, run.subgoals[later].time)
            return Finding(RootCause.WRONG_ORDER, times, things, item.step, earlier=item.step, unmet=condition)
        if depth:
            return explain_condition(run, extra, number, depth - 1)
    if not any(extra[0] == "filled" for extra in extras) and not holds(before, condition, run.home):
        things = tuple(dict.fromkeys((condition[1], *item.step.arguments)))
        return Finding(RootCause.ACTION_FAILED, (item.time,), things, item.step,
                       unmet=condition)  # fmt: skip
    return None


def _already_filled(run: Run, vessel: str, number: int) -> Finding:
    """A vessel was full of something else when it was to be filled."""
    what = liquid(run.before(number), vessel) or ""
    emptying = Step("pour", (vessel, (run.home.all(Trait.BASIN) or ["sink"])[0]))
    # Filled by the plan, or by somebody before.
    filled = any(_extras(run, item.step, ("filled", vessel, what)) is not None for item in run.subgoals[:number])
    times = (_place_for(run, emptying, number, ()),)
    cause = RootCause.MISSING_STEP if filled else RootCause.ALREADY_FILLED
    return Finding(cause, times, (vessel,), run.subgoals[number].step, missing=(emptying,), liquid=what)


def _place_for(
    run: Run, step: Step, end: int, extras: tuple[Fact, ...] | list[Fact], prior: Sequence[Fact] = ()
) -> str:
    """The time of the step before which a missing one would have fitted, as late as possible."""
    for number in range(min(end, len(run.subgoals)), 0, -1):
        state = run.after(number - 1)
        if _fits(run, state, step) and all(holds(state, extra, run.home) for extra in extras):
            return run.subgoals[min(number, len(run.subgoals) - 1)].time
    # It never was where that could be done: it should have gone there when it was first taken up.
    for number in range(min(end, len(run.subgoals)) - 1 if extras else 0):
        needed = (*prior, ("holding", extras[0][1]))
        if all(holds(run.after(number), fact, run.home) for fact in needed):
            return run.subgoals[number + 1].time
    if run.subgoals:
        return run.subgoals[min(end, len(run.subgoals) - 1)].time
    return run.log.events[-1].time if run.log.events else "00:00"


def _fits(run: Run, state: State, step: Step) -> bool:
    return not [need for need in unmet(state, step, run.home) if need[0] != "remote"]


def _wrong_action(run: Run, condition: Fact, end: int) -> Finding | None:
    """The plan does something else with the very thing than what was to be done with it."""
    wanted = {"running": "toggle_on", "off": "toggle_off", "open": "open_obj", "closed": "close_obj"}.get(condition[0])
    if wanted is None:
        return None
    for number in range(end - 1, -1, -1):
        item = run.subgoals[number]
        operator = item.step.operator
        # Opening a microwave is no mistake for turning it on; turning a laptop on is one for closing it.
        wrong = operator in _OPPOSITES.values() and (
            operator == _OPPOSITES[wanted] or not run.home.has(condition[1], Trait.DOOR)
        )
        if wrong and operator != wanted and same(item.step.arguments[0], condition[1]):
            return Finding(
                RootCause.WRONG_ACTION, (item.time,), condition[1:2], item.step,
                missing=(Step(wanted, condition[1:2]),), unmet=condition,
            )  # fmt: skip
    return None


def _wrong_object(run: Run, condition: Fact, end: int) -> Finding | None:
    """The plan does what was to be done, but with another thing or at another place, for no purpose of the goal."""
    goal_names = {name for fact in run.wanted for name in fact[1:]}
    for number in range(end - 1, -1, -1):
        item = run.subgoals[number]
        step = item.step
        match condition, step.operator, step.arguments:
            case (("at", thing, place), "put_in" | "put_on", (other, target)) if same(target, place):
                if same_stuff(other, thing) or (other, target) in _needed_places(run):
                    continue
                taken = _taken(run, number, other)
                return _mix_up(run, number, (thing, other), (*taken, item.time), condition)
            case (("at", thing, place), "put_in" | "put_on", (one, target)) if same_stuff(one, thing):
                if (
                    (one, target) in _needed_places(run)
                    or _moved_on(run, number, one, end)
                    or holds(run.final, ("at", target, place), run.home)
                ):
                    continue
                return _mix_up(run, number, (place, target), (item.time,), condition)
            case (("running", thing), "toggle_on", (other,)) if not same(other, thing) and other not in goal_names:
                if noun(other) != noun(thing):
                    continue
                placed = [run.subgoals[n].time for n in range(end) if _puts_on(run.subgoals[n].step, thing)]
                return _mix_up(run, number, (thing, other), (*placed[-1:], item.time), condition)
            case (("sliced", slices), "slice_obj", (other,)) if slice_of(other) not in goal_names:
                return _mix_up(run, number, (whole(slices), other), (item.time,), condition)
            case (("filled", thing, what), "pour", (source, target)) if not same(target, thing):
                if run.home.has(target, Trait.BASIN) or liquid(run.before(number), source) != what:
                    continue
                return _mix_up(run, number, (thing, target), (item.time,), condition)
            case (("filled", _, what), "pour", (source, _)):
                if liquid(run.before(number), source) == what:
                    continue
                full = [v for v in run.home.all(Trait.VESSEL) if liquid(run.before(number), v) == what and v != source]
                if full:
                    return _mix_up(run, number, (full[0], source), (*_taken(run, number, source), item.time), condition)
            case (("cracked", thing), "crack_obj", (other,)) if not same(other, thing):
                return _mix_up(run, number, (thing, other), (item.time,), condition)
            case ("closed" | "open", thing), "close_obj" | "open_obj", (other,) if other not in goal_names:
                same_act = (condition[0] == "closed") == (step.operator == "close_obj")
                if same_act and noun(other) == noun(thing):
                    return _mix_up(run, number, (thing, other), (item.time,), condition)
    return None


def _mix_up(run: Run, number: int, names: tuple[str, str], times: tuple[str, ...], condition: Fact) -> Finding:
    """The wrong object, or the one that a vague word of the plan happened to reach."""
    item = run.subgoals[number]
    vague = [word for word in {*item.planned.arguments, *item.step.arguments} if run.home.ambiguous(word)]
    cause = RootCause.AMBIGUOUS_NAME if vague else RootCause.WRONG_OBJECT
    return Finding(cause, tuple(dict.fromkeys(times)), (*names, *vague), item.step, unmet=condition)


def _taken(run: Run, number: int, thing: str) -> list[str]:
    """The time at which a thing that was put somewhere had been picked up for it."""
    for earlier in range(number - 1, -1, -1):
        item = run.subgoals[earlier]
        if item.step.operator == "pick_up" and same_stuff(item.step.arguments[0], thing):
            return [item.time]
    return []


def _needed_places(run: Run) -> set[tuple[str, str]]:
    return {(fact[1], fact[2]) for fact in run.wanted if fact[0] == "at"}


def _moved_on(run: Run, number: int, thing: str, end: int) -> bool:
    """Whether the plan takes a thing up again after a step."""
    return any(
        run.subgoals[n].step.operator == "pick_up" and same_stuff(run.subgoals[n].step.arguments[0], thing)
        for n in range(number + 1, end)
    )


def _puts_on(step: Step, place: str) -> bool:
    return step.operator in ("put_in", "put_on") and same(step.arguments[1], place)


def _missing(run: Run, condition: Fact, end: int) -> Finding:
    """The plan has no step for a condition: which one, and where it would have fitted."""
    home, things = run.home, condition[1:2]
    extras: tuple[Fact, ...] = ()
    match condition:
        case ("filled", thing, "water") | ("clean", thing):
            lacking = Step("toggle_on", ((home.all(Trait.POURS_WATER) or ["faucet"])[0],))
            extras = (("at", thing, (home.all(Trait.BASIN) or ["sink"])[0]),)
        case ("filled", thing, "coffee"):
            machine = (home.all(Trait.POURS_COFFEE) or ["coffee machine"])[0]
            lacking, extras = Step("toggle_on", (machine,)), (("at", thing, machine),)
        case ("hot", thing):
            heater = (home.all(Trait.SHUT_TO_RUN) or home.all(Trait.HEATS) or ["microwave"])[0]
            lacking, extras = Step("toggle_on", (heater,)), (("at", thing, heater),)
        case ("at", thing, place):
            lacking, things = Step("put_in", (thing, place)), (thing, place)
            lacking = Step("put_on" if home.has(place, Trait.SURFACE) else "put_in", (thing, place))
        case ("sliced", slices):
            lacking, things = Step("slice_obj", (whole(slices),)), (whole(slices),)
        case (state, thing):
            operator = {"running": "toggle_on", "off": "toggle_off", "open": "open_obj", "closed": "close_obj",
                        "cracked": "crack_obj"}.get(state)  # fmt: skip
            lacking = Step(operator, (thing,)) if operator else Step("pour", (thing, "sink"))
        case _:
            return Finding(RootCause.UNKNOWN, (_last_time(run),), things, unmet=condition)
    step = None
    ordered = order_of(run.wanted, run.home)
    earlier = ordered[: ordered.index(condition)] if condition in ordered else []
    prior = [fact for fact in earlier if fact[0] in ("clean", "filled", "hot") and fact[1] == condition[1]]
    time = _place_for(run, lacking, end, extras, prior)
    for item in run.subgoals:
        if item.time == time:
            step = item.step
    if is_slice(condition[1]) and condition[0] == "at":
        things = (condition[1], *condition[2:3])
    return Finding(RootCause.MISSING_STEP, (time,), things, step, missing=(lacking,), unmet=condition)


def _last_time(run: Run) -> str:
    return run.subgoals[-1].time if run.subgoals else run.log.events[-1].time

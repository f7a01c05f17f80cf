"""The cause of a subgoal that failed, looked for in what happened before it (REFLECT, section 3.2)."""

from __future__ import annotations

from nsrecover.domains.base import Fact, State
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.household.names import noun, same, same_stuff, whole
from nsrecover.domains.household.scene import apply, contents, cover_of, holding, holds, occupant, shut_in, unmet
from nsrecover.explanation.logs import planning
from nsrecover.explanation.logs.findings import Checked, Finding, RootCause
from nsrecover.explanation.logs.records import Observation, Step
from nsrecover.explanation.logs.run import Run

_IN_FRONT = ("occluding", "blocking", "above", "in front of", "on top of")
_HIDING = ("occluding", "blocking", "in front of", "occluded by", "blocked by", "behind")
_BEHIND = ("below", "under", "behind", "occluded by", "blocked by", "inside")


def explain_failure(run: Run, number: int) -> Finding:
    """Why a subgoal failed.

    Args:
        run: the log.
        number: index of the first subgoal that does not hold.
    """
    failed = run.subgoals[number]
    step = _definite(run, number)
    if failed.step.operator == "pick_up" and failed.instead:
        ambiguous = _ambiguous(run, number, failed.step.arguments[0])
        return ambiguous or _mistaken(failed, failed.step.arguments[0])
    needs = unmet(run.before(number), step, run.home) if step.operator in HOUSEHOLD.operators else []
    # What should have been in the gripper comes before what that should have been like.
    for need in sorted(needs, key=lambda need: need[0] not in ("holding", "tool")):
        finding = _of_need(run, number, step, need)
        if finding is not None:
            return finding
    if failed.instead:
        return _done_to_another(run, number, failed)
    return _unexplained(run, number, step)


def _definite(run: Run, number: int) -> Step:
    """The step with the object that was in the gripper, where the plan names it differently or vaguely."""
    step = run.subgoals[number].step
    held = holding(run.before(number))
    if held and step.operator in ("put_in", "put_on", "pour", "crack_obj") and same_stuff(step.arguments[0], held):
        return Step(step.operator, (held, *step.arguments[1:]))
    return step


def _mistaken(failed: Checked, thing: str) -> Finding:
    assert failed.instead is not None
    return Finding(RootCause.MISTAKEN_OBJECT, (failed.time,), (thing, failed.instead), failed.step)


def _done_to_another(run: Run, number: int, failed: Checked) -> Finding:
    """The right thing was done to another object than the one that was named."""
    assert failed.instead is not None
    operator = failed.step.operator
    if operator in ("put_in", "put_on") and holding(run.before(number)) != failed.instead:
        thing, place = failed.step.arguments
        cause = RootCause.MISTAKEN_OBJECT if noun(place) != noun(failed.instead) else RootCause.MISPLACED
        if run.home.has(failed.instead, Trait.SURFACE):
            cause = RootCause.MISPLACED
        names = (place, failed.instead) if cause is RootCause.MISTAKEN_OBJECT else (thing, failed.instead)
        return Finding(cause, (failed.time,), names, failed.step, where=failed.instead)
    return _mistaken(failed, failed.step.arguments[-1 if operator == "pour" else 0])


def _of_need(run: Run, number: int, step: Step, need: Fact) -> Finding | None:
    """The cause of an unmet need of the failed step; None if it does not explain the failure."""
    failed = run.subgoals[number]
    match need:
        case ("holding", thing):
            return _not_in_hand(run, number, step, thing)
        case ("tool",):
            return _tool_missing(run, number, step)
        case ("remote",):
            remote = run.home.all(Trait.REMOTE)[0]
            if _last_held(run, failed.event, remote) is not None:
                return _let_go(run, number, step, remote)
            return _out_of_order_or_missing(run, number, step, Step("pick_up", (remote,)), ("holding", remote))
        case ("full", thing):
            ambiguous = _ambiguous(run, number, thing)
            return ambiguous or planning.explain_condition(run, _what_was_to_flow(run, step, thing), number)
        case ("accessible", place):
            shut = place if ("open", place) not in run.before(number) else shut_in(run.before(number), place, run.home)
            return _shut(run, number, step, shut or place)
        case ("reachable", thing):
            return _shut(run, number, step, shut_in(run.before(number), thing, run.home) or thing)
        case ("closed", thing):
            return _out_of_order_or_missing(run, number, step, Step("close_obj", (thing,)), need)
        case ("off", thing):
            earlier = _last_done(run, number, Step("toggle_on", (thing,)))
            off = _out_of_order_or_missing(run, number, step, Step("toggle_off", (thing,)), need)
            if off.cause is RootCause.WRONG_ORDER:
                return off
            if earlier is None:
                return Finding(RootCause.ALREADY_RUNNING, (failed.time,), (thing,), step, unmet=need)
            times = (run.subgoals[earlier].time, failed.time)
            return Finding(RootCause.WRONG_ORDER, times, (thing,), step, earlier=run.subgoals[earlier].step, unmet=need)
        case ("room", place, thing):
            other = occupant(run.before(number), place, thing, run.home) or ""
            return Finding(RootCause.OCCUPIED, (failed.time,), (place, other), step, unmet=need)
        case ("uncovered", thing):
            other = cover_of(run.before(number), thing, run.home) or ""
            return Finding(RootCause.BLOCKED, (failed.time,), (thing, other), step, unmet=need)
        case ("hand_free",):
            held = holding(run.before(number)) or ""
            return Finding(RootCause.MISSING_STEP, (failed.time,), (held, step.arguments[0]), step,
                           missing=(_put_down(run, held),), unmet=need)  # fmt: skip
        case ("exists", thing):
            return _out_of_order_or_missing(run, number, step, Step("slice_obj", (whole(thing),)), need)
        case ("set_down", thing):
            return Finding(RootCause.MISSING_STEP, (failed.time,), (thing,), step,
                           missing=(_put_down(run, thing),), unmet=need)  # fmt: skip
    return None


def _what_was_to_flow(run: Run, step: Step, thing: str) -> Fact:
    """What the vessel should have been filled with to be poured from."""
    wanted = next((fact for fact in run.wanted if fact[0] == "filled" and fact[1] == step.arguments[-1]), None)
    return ("filled", thing, wanted[2] if wanted else "water")


def _put_down(run: Run, thing: str) -> Step:
    spots = run.home.all(Trait.SURFACE)
    return Step("put_on", (thing, noun(spots[0]) if spots else "countertop"))


def _not_in_hand(run: Run, number: int, step: Step, thing: str) -> Finding | None:
    """The gripper should have held something and did not."""
    failed, held = run.subgoals[number], holding(run.before(number))
    if held is not None and not same_stuff(held, thing):
        return _other_thing_held(run, number, step, thing, held)
    ambiguous = _ambiguous(run, number, thing)
    if ambiguous:
        return ambiguous
    if _last_held(run, failed.event, thing) is not None:
        return _let_go(run, number, step, thing)
    return Finding(
        RootCause.MISSING_STEP, (failed.time,), (thing,), step, missing=(Step("pick_up", (thing,)),),
        unmet=("holding", thing),
    )  # fmt: skip


def _other_thing_held(run: Run, number: int, step: Step, thing: str, held: str) -> Finding:
    """The plan took one thing and goes on with another."""
    failed = run.subgoals[number]
    taken = _last_done(run, number, Step("pick_up", (held,)))
    times = (run.subgoals[taken].time, failed.time) if taken is not None else (failed.time,)
    ambiguous = _ambiguous(run, number, held)
    return ambiguous or Finding(RootCause.WRONG_OBJECT, times, (thing, held), step, unmet=("holding", thing))


def _last_held(run: Run, event: int, thing: str) -> int | None:
    """The last event before another in which the gripper held a thing."""
    for earlier in range(event - 1, -1, -1):
        held = holding(run.states[earlier])
        if held is not None and same_stuff(held, thing):
            return earlier
    return None


def _let_go(run: Run, number: int, step: Step, thing: str) -> Finding:
    """What was held is not any more: put down by the plan, or dropped."""
    failed = run.subgoals[number]
    last = _last_held(run, failed.event, thing)
    assert last is not None
    frame = run.log.events[last + 1]
    if frame.step.operator in ("put_in", "put_on") and same_stuff(frame.step.arguments[0], thing):
        placed = next((n for n in range(number) if run.subgoals[n].event == last + 1), None)
        if placed is not None and _may_follow(run, placed, number, step):
            return Finding(
                RootCause.WRONG_ORDER, (frame.time, failed.time), _once(thing, *step.arguments[:1]), step,
                earlier=frame.step, unmet=("holding", thing),
            )  # fmt: skip
        return Finding(
            RootCause.MISSING_STEP, (failed.time,), (thing,), step, missing=(Step("pick_up", (thing,)),),
            unmet=("holding", thing),
        )  # fmt: skip
    return Finding(
        RootCause.DROPPED, (frame.time,), (holding(run.states[last]) or thing,), step,
        earlier=frame.step, where=_seen_afterwards(run, last + 1, thing),
    )  # fmt: skip


def _seen_afterwards(run: Run, event: int, thing: str) -> str:
    """In or on what a lost thing was seen, as long as nobody touched it."""
    for frame in run.log.events[event : event + 4]:
        for name in frame.observation.states():
            places = frame.observation.places(name) if same_stuff(name, thing) else []
            if places:
                return places[0][1]
    return ""


def _may_follow(run: Run, placed: int, number: int, step: Step) -> bool:
    """Whether an earlier step could have waited until after the failed one, with all steps between as they are."""
    between = [item.step for item in run.subgoals[placed + 1 : number]]
    return _possible(run, run.before(placed), [*between, step, run.subgoals[placed].step])


def _possible(run: Run, state: State, steps: list[Step]) -> bool:
    """Whether steps can be done one after the other."""
    for step in steps:
        if step.operator in HOUSEHOLD.operators:
            if unmet(state, step, run.home):
                return False
            state = apply(state, step, run.home)
    return True


def _once(*names: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _tool_missing(run: Run, number: int, step: Step) -> Finding:
    """There is nothing in the gripper to cut with."""
    failed = run.subgoals[number]
    tools = run.home.all(Trait.CUTS)
    for tool in tools:
        if _last_held(run, failed.event, tool) is not None:
            return _let_go(run, number, step, tool)
    tool = tools[0] if tools else "knife"
    later = _next_done(run, number, Step("pick_up", (tool,)))
    if later is not None:
        times = (failed.time, run.subgoals[later].time)
        return Finding(RootCause.WRONG_ORDER, times, (tool, step.arguments[0]), step, earlier=step,
                       unmet=("holding", tool))  # fmt: skip
    return Finding(
        RootCause.MISSING_STEP, (failed.time,), (tool, step.arguments[0]), step,
        missing=(Step("pick_up", (tool,)),), unmet=("holding", tool),
    )  # fmt: skip


def _shut(run: Run, number: int, step: Step, door: str) -> Finding:
    """Something had to be open and was not."""
    opening = Step("open_obj", (door,))
    failed = run.subgoals[number]
    closed = _last_done(run, number, Step("close_obj", (door,)))
    if closed is not None and _may_follow(run, closed, number, step):
        times = (run.subgoals[closed].time, failed.time)
        return Finding(
            RootCause.WRONG_ORDER, times, (door, *step.arguments[:1]), step, earlier=run.subgoals[closed].step,
            unmet=("open", door),
        )  # fmt: skip
    finding = _out_of_order_or_missing(run, number, step, opening, ("open", door))
    if finding.cause is RootCause.MISSING_STEP:
        return Finding(
            RootCause.NEVER_OPENED, finding.times, (door, *step.arguments[:1]), step, missing=(opening,),
            unmet=("open", door),
        )  # fmt: skip
    return finding


def _out_of_order_or_missing(run: Run, number: int, step: Step, lacking: Step, need: Fact) -> Finding:
    """A step that should have come before the failed one: it comes later, or not at all."""
    failed, later = run.subgoals[number], _next_done(run, number, lacking)
    if later is not None:
        rest = [item.step for item in (*run.subgoals[number + 1 : later], *run.subgoals[later + 1 :])]
        # Moved here it must not be missed there.
        later = later if _possible(run, run.before(number), [lacking, step, *rest]) else None
    things = tuple(dict.fromkeys((*lacking.arguments, *step.arguments[:1])))
    if later is not None:
        times = (failed.time, run.subgoals[later].time)
        return Finding(RootCause.WRONG_ORDER, times, things, step, missing=(lacking,), earlier=step, unmet=need)
    return Finding(RootCause.MISSING_STEP, (failed.time,), things, step, missing=(lacking,), unmet=need)


def _same_step(one: Step, other: Step) -> bool:
    return one.operator == other.operator and all(
        same_stuff(a, b) for a, b in zip(one.arguments, other.arguments, strict=False)
    )


def _last_done(run: Run, number: int, step: Step) -> int | None:
    """The last subgoal before another that does a step and holds."""
    return next(
        (n for n in range(number - 1, -1, -1) if _same_step(run.subgoals[n].step, step) and run.subgoals[n].satisfied),
        None,
    )


def _next_done(run: Run, number: int, step: Step) -> int | None:
    """The first subgoal after another that does a step."""
    return next((n for n in range(number + 1, len(run.subgoals)) if _same_step(run.subgoals[n].step, step)), None)


def _ambiguous(run: Run, number: int, thing: str) -> Finding | None:
    """An earlier step, or this one, whose words leave open which object is meant, and that led to this object."""
    for earlier in range(number, -1, -1):
        item = run.subgoals[earlier]
        for word in {*item.planned.arguments, *item.step.arguments}:
            if not run.home.ambiguous(word) or run.home.has(word, Trait.SURFACE):
                continue
            reached = holding(run.after(earlier)) if item.step.operator == "pick_up" else None
            if thing in (reached, word) or (reached and same(reached, thing)):
                objects = tuple(dict.fromkeys((reached or thing, word)))
                return Finding(RootCause.AMBIGUOUS_NAME, (item.time,), objects, item.step)
    return None


def _unexplained(run: Run, number: int, step: Step) -> Finding:
    """Everything the step is known to need was so: what stood in the way, or was it the hand?"""
    failed, home = run.subgoals[number], run.home
    time = (failed.time,)
    if step.operator in ("put_in", "put_on"):
        place = step.arguments[1]
        # What is hidden at that moment may be seen later.
        views = (run.before(number), run.after(number), run.final)
        inside = [thing for view in views for thing in contents(view, place) if home.has(thing, Trait.PORTABLE)]
        # What the plan itself puts there is not in its way.
        own = {item.step.arguments[0] for item in run.subgoals if item.step.operator in ("put_in", "put_on")}
        inside = [thing for thing in inside if thing not in own]
        if inside and not home.traits(place) & {Trait.SURFACE, Trait.BASIN, Trait.DISH} and _small(run, place):
            return Finding(RootCause.OCCUPIED, time, (place, inside[0]), step)
    if step.operator in ("pick_up", "open_obj", "toggle_on", "toggle_off", "slice_obj"):
        thing = step.arguments[0]
        door = _unopened(run, number, thing) if step.operator == "pick_up" else None
        if door:
            return _shut(run, number, step, door)
        other = _in_the_way(run, number, thing, step.operator == "pick_up")
        if other:
            return Finding(RootCause.BLOCKED, time, (thing, other), step)
    cause = RootCause.MISSED_GRASP if step.operator == "pick_up" else RootCause.ACTION_FAILED
    return Finding(cause, time, step.arguments, step)


def _unopened(run: Run, number: int, thing: str) -> str | None:
    """The closed door behind which a thing that nobody has seen must be."""
    frames = run.log.events[: run.subgoals[number].event + 1]
    if any(frame.observation.sees(thing) or holding(state) == thing
           for frame, state in zip(frames, run.states, strict=False)):  # fmt: skip
        return None
    shut = [
        name
        for frame in reversed(frames)
        for name, words in frame.observation.states().items()
        if run.home.has(name, Trait.DOOR)
        and "closed" in words
        and holds(run.before(number), ("closed", name), run.home)
    ]
    return shut[0] if shut else None


def _small(run: Run, place: str) -> bool:
    """Whether a place has room for one thing, as far as is known."""
    return run.home.has(place, Trait.ONE_PLACE) or not run.home.known(place)


def _in_the_way(run: Run, number: int, thing: str, taking: bool) -> str | None:
    """What was seen right at a thing, between it and the robot."""
    event = run.subgoals[number].event
    start = run.subgoals[number - 1].event + 1 if number else 0
    for frame in reversed(run.log.events[start : event + 1]):
        found = _near(run, frame.observation, thing, taking)
        if found:
            return found
    return None


def _near(run: Run, observation: Observation, thing: str, taking: bool) -> str | None:
    for subject, relation, other in observation.relations():
        # What lies on or under something keeps it from being taken, not from being turned on.
        if not taking and relation not in _HIDING:
            continue
        # A dish may well be the place where the thing belongs.
        at_home = relation == "inside" and run.home.has(other, Trait.DISH)
        if same(subject, thing) and relation in _BEHIND and _loose(run, other) and not at_home:
            return other
        carried = relation == "on top of" and run.home.has(thing, Trait.DISH)
        if same(other, thing) and relation in _IN_FRONT and _loose(run, subject) and not carried:
            return subject
    return None


def _loose(run: Run, name: str) -> bool:
    return run.home.has(name, Trait.PORTABLE)

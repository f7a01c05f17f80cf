"""From the most likely course of events to what went wrong: in execution, in the plan, or in the scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains.base import Atom
from nsrecover.domains.household.kinds import Trait, could_mean, is_category
from nsrecover.domains.household.names import noun
from nsrecover.domains.household.scene import contents, holding, holds, occupant, shut_in
from nsrecover.logs.edits import Edit, Editor
from nsrecover.logs.effects import OPERATORS, literal_of
from nsrecover.logs.findings import Finding, RootCause
from nsrecover.logs.observer import Observer
from nsrecover.logs.run import LogRun
from nsrecover.logs.simulation import Course, CourseDeviation

_PUTTING = ("put_in", "put_on")
PLAN_CAUSES = (RootCause.MISSING_STEP, RootCause.NEVER_OPENED, RootCause.WRONG_ORDER, RootCause.WRONG_ACTION,
               RootCause.WRONG_OBJECT, RootCause.WRONG_PLACE, RootCause.UNDONE_BY_PLAN)  # fmt: skip
"""Causes in the plan: there are several ways to mend it, and people call them by either kind."""
_HARMED = Atom("harmed", ("?o", "?p"))
_SCENE = ("aside", "forced")
"""What may come of a step that was not possible: no failure of its own."""


@dataclass(frozen=True)
class Diagnosis:
    """What went wrong, and how sure that is.

    Attributes:
        finding: the root cause.
        share: the probability of all courses that name the same step and kind.
        edits: how many edits of the plan are as good as the chosen one; 0 if none was looked for.
        strangeness: cost of the most likely course per frame.
        rivals: other courses with their probabilities, the most likely first.
    """

    finding: Finding
    share: float
    edits: int
    strangeness: float
    rivals: tuple[tuple[Course, float], ...]


def diagnose(run: LogRun) -> Diagnosis:
    """Diagnose a log.

    Args:
        run: from `nsrecover.logs.run.run_of`.
    """
    finding, edits = _finding(run)
    if run.unread and (finding.cause is RootCause.NONE or finding.cause in PLAN_CAUSES):
        finding, edits = _unachieved(run, run.course), 0

    def key(course: Course) -> tuple[object, ...]:
        first = course.first()
        return () if first is None else (first.mode in _SCENE, first.number)

    same = sum(chance for one, chance in run.courses if key(one) == key(run.course))
    rivals = [(one, chance) for one, chance in run.courses if chance > 0.02 and key(one) != key(run.course)]
    return Diagnosis(finding, same, edits, run.course.cost / max(1, len(run.log.events)), tuple(rivals[:4]))


def _achieved(run: LogRun, course: Course) -> bool:
    return bool(run.wanted) and all(holds(course.final, condition, run.home) for condition in run.goal)


def _finding(run: LogRun) -> tuple[Finding, int]:
    """The root cause, and how many edits of the plan are as good as the chosen one."""
    course = run.course
    failures = [one for one in course.deviations if one.mode not in _SCENE]
    if _achieved(run, course):
        return _in_spite(run, failures), 0
    vague = _vague(run)
    mistaken = {one.number for one in course.deviations if one.instead is not None}
    if vague is not None and (is_category(vague.objects[0]) or any(vague.step == run.steps[k] for k in mistaken)):
        return vague, 0
    # A step that was skipped may be one that the plan had better not have.
    for given in ((*_SCENE, "skipped"), _SCENE):
        base = tuple(one for one in course.deviations if one.mode in given)
        plain = run.believer.course(course.start, base, course.when)
        failures = [one for one in course.deviations if one not in base]
        sound = not plain.refused and _achieved(run, plain)
        if sound:
            break
    culprit = _culprit(run, base, failures, sound)
    if culprit is not None and sound:
        return _in_execution(run, culprit), 0
    scene = _in_scene(run, plain)
    first = min(plain.refused, default=len(run.subgoals))
    if culprit is not None and culprit.number <= first:
        return _in_execution(run, culprit), 0
    if scene is not None:
        return scene, 0
    if vague is not None:
        return vague, 0
    edits = (
        Editor(run.believer, course.start, run.goal, first, tuple(run.steps)).edits()
        if run.subgoals and run.wanted
        else []
    )
    if edits:
        return _in_plan(run, edits[0], first, plain), len({(e.kind, e.steps, e.names) for e in edits})
    if first < len(run.subgoals):
        return _refused(run, first, plain.refused[first]), 0
    return _unachieved(run, plain), 0


def _in_spite(run: LogRun, failures: Sequence[CourseDeviation]) -> Finding:
    """What went wrong although the success condition holds: an obstacle, or a failure that is not in doubt."""
    scene = _in_scene(run, run.course) if run.course.refused else None
    if scene is not None and (scene.cause is RootCause.BLOCKED or run.course.deviations):
        return replace(scene, reason="holds")
    if not failures:
        return Finding(RootCause.NONE, (), ())
    return replace(_in_execution(run, failures[0]), reason="holds")


def _culprit(
    run: LogRun, base: tuple[CourseDeviation, ...], failures: Sequence[CourseDeviation], sound: bool
) -> CourseDeviation | None:
    """The first failure after which the goal is not achieved; the first one if the plan would not achieve it either."""
    start, when = run.course.start, run.course.when
    for count in range(1, len(failures) + 1 if sound else 0):
        found = sorted((*base, *failures[:count]), key=lambda one: (one.number, one.event))
        if not _achieved(run, run.believer.course(start, tuple(found), when)):
            return failures[count - 1]
    return failures[0] if failures else None


def _vague(run: LogRun) -> Finding | None:
    """A word of the plan that leaves open what is meant."""
    changed = {one.number for one in run.course.deviations}
    for number, item in sorted(enumerate(run.subgoals), key=lambda each: each[0] not in changed):
        for word in item.planned.arguments:
            if run.home.ambiguous(word) and not run.home.has(word, Trait.SURFACE):
                return run.finding(RootCause.AMBIGUOUS_NAME, number, _reached(run, number, word), word)
    return None


def _reached(run: LogRun, number: int, word: str) -> str:
    """The object that a step with an ambiguous word was carried out with, by what was seen afterwards, or changed."""
    item = run.subgoals[number]
    found = list[str]()
    for frame in run.log.events[item.event : item.event + 3]:
        found += [other for one, _, other in frame.observation.relations() if one == item.step.arguments[0]]
        active = frame.observation.states().items()
        found += [name for name, words in active if {"turned on", "open"} & set(words)]
    found += [name for fact in sorted(run.after(number) ^ run.before(number)) for name in fact[1:]]
    return next((name for name in found if name != word and could_mean(word, name)), "")


def _in_execution(run: LogRun, happened: CourseDeviation) -> Finding:
    """A failed execution, something dropped, or another object or place."""
    number, item = happened.number, run.subgoals[happened.number]
    event = min(happened.event, len(run.log.events) - 1)
    since = (run.log.events[event - 1].time, run.log.events[event].time) if event > 0 else ()
    names = item.step.arguments
    other = _in_the_place(run, number) if item.step.operator in _PUTTING and happened.mode != "dropped" else ""
    if other:
        return run.finding(RootCause.OCCUPIED, number, names[1], other, since=since)
    if happened.mode == "dropped":
        frame, before = run.log.events[event], run.course.states[event - 1] if event else run.course.start
        lost = holding(before) or names[0]
        return run.finding(RootCause.DROPPED, number, lost, times=(frame.time,), earlier=frame.step,
                           where=happened.place, since=since)  # fmt: skip
    if happened.instead is not None:
        used = happened.instead.arguments
        if item.step.operator in _PUTTING:
            cause = RootCause.MISPLACED
            if noun(used[1]) != noun(names[1]) and not run.home.has(used[1], Trait.SURFACE):
                cause = RootCause.MISTAKEN_OBJECT
            objects = (names[1], used[1]) if cause is RootCause.MISTAKEN_OBJECT else (names[0], used[1])
            return run.finding(cause, number, *objects, where=used[1], since=since)
        return run.finding(RootCause.MISTAKEN_OBJECT, number, names[0], used[0], since=since)
    doubted = run.believer.observer != Observer()
    if doubted and happened.mode == "no_effect" and run.believer.fell(event) and item.step.operator in _PUTTING:
        time = run.log.events[event].time
        return run.finding(RootCause.DROPPED, number, names[0], times=(time,), earlier=item.step, since=since)
    if item.step.operator == "pick_up":
        other = _obstacle(run, number, names[0])
        if other:
            return run.finding(RootCause.BLOCKED, number, names[0], other, since=since)
        clear = run.log.events[item.event].observation.sees(names[0])
        return run.finding(RootCause.MISSED_GRASP, number, *names, since=since, clear=clear)
    return run.finding(RootCause.ACTION_FAILED, number, *names, since=since)


def _in_the_place(run: LogRun, number: int) -> str:
    """What was in a small place before the plan put something there."""
    place = run.steps[number].arguments[1]
    roomy = run.home.has(place, Trait.DOOR) and not run.home.has(place, Trait.ONE_PLACE)
    if roomy or run.home.traits(place) & {Trait.SURFACE, Trait.BASIN}:
        return ""
    own = {step.arguments[0] for step in run.steps if step.operator in _PUTTING}
    inside = [one for one in contents(run.course.start, place) if run.home.has(one, Trait.PORTABLE) and one not in own]
    return next(iter(inside), "")


def _obstacle(run: LogRun, number: int, thing: str) -> str:
    """What two frames show in front of an object around an attempt to take it; or on it, if that was repeated."""
    end, counts = run.subgoals[number].event, dict[str, int]()
    begin = run.subgoals[number - 1].event + 1 if number else 0
    hiding = ("below", "under", "behind", "occluded by", "blocked by")
    slot = run.believer.slots[number]
    lying = "on top of" if slot.again or slot.first < slot.last else ""
    for frame in run.log.events[begin : end + 3]:
        for subject, relation, other in frame.observation.relations():
            found = other if relation in hiding and subject == thing else ""
            found = subject if relation == lying and other == thing else found
            if found and run.home.has(found, Trait.PORTABLE):
                counts[found] = counts.get(found, 0) + 1
    best = max(counts, key=lambda name: counts[name], default="")
    return best if counts.get(best, 0) >= 2 else ""


def _in_scene(run: LogRun, course: Course) -> Finding | None:
    """What the plan did not reckon with: an obstacle, a running machine, an object that is not suitable."""
    home, start = run.home, course.start
    number = min(course.refused, default=len(run.subgoals))
    for need in course.refused.get(number, ()):
        state = course.before[number]
        match need:
            case ("room", place, thing):
                other = occupant(state, place, thing, home) or ""
                if other in contents(start, place):
                    return run.finding(RootCause.OCCUPIED, number, place, other, unmet=need)
            case ("uncovered", thing):
                others = [f[1] for f in start if f[0] == "covers" and f[2] == thing] + contents(start, thing)
                if others:
                    return run.finding(RootCause.BLOCKED, number, thing, others[0], unmet=need)
            case ("off" | "idle", machine) if ("running", machine) in start:
                if not any(s.operator == "toggle_on" and s.arguments == (machine,) for s in run.steps[:number]):
                    return run.finding(RootCause.ALREADY_RUNNING, number, machine, unmet=need)
            case ("fits", thing, place):
                return _unsuitable(run, thing, f"it does not fit into the {place}", place)
            case ("safe", place):
                inside = [n for n in home.names if home.holds(state, _HARMED, {"?o": n, "?p": place})]
                metal = home.has(place, Trait.MICROWAVES)
                why = f"it is of metal, which the {place} must not heat" if metal else "it does not stand the heat"
                return _unsuitable(run, inside[0], why, place) if inside else None
            case ("unmixed", target, _) if any(fact[:2] == ("filled", target) for fact in start):
                return _already_filled(run, number, target, course, need)
    unsaid = [fact for fact in run.goal if fact not in run.wanted and not holds(course.final, fact, home)]
    spoiled = next((fact for fact in unsaid if fact[0] == "away_from"), None)
    if spoiled is not None:
        used = next((n for n, step in enumerate(run.steps) if spoiled[2] in step.arguments), None)
        if used is not None and used <= number:
            return run.finding(RootCause.OCCUPIED, used, spoiled[2], spoiled[1], unmet=spoiled)
    if number == len(run.subgoals) or run.steps[number].operator in ("pick_up", *_PUTTING, "pour"):
        for condition in unsaid:
            if condition[0] == "clean" and not course.refused:
                return _unsuitable(run, condition[1], "it is dirty", "")
    return None


def _already_filled(run: LogRun, number: int, target: str, course: Course, need: StateFact) -> Finding:
    liquid = next(fact[2] for fact in course.start if fact[:2] == ("filled", target))
    emptying = (Action("pour", (target, "sink")),)
    return run.finding(RootCause.ALREADY_FILLED, number, target, missing=emptying, liquid=liquid, unmet=need)


def _unsuitable(run: LogRun, thing: str, reason: str, place: str) -> Finding:
    """An object that was not suitable, at the step that chose it, with another one that is."""
    number = next((n for n, step in enumerate(run.steps) if thing in step.arguments), 0)
    kind = noun(thing).split()[-1]
    wanted = [name for fact in run.wanted for name in fact[1:2]]
    others = [n for n in (*wanted, *run.home.names) if n != thing and noun(n).split()[-1] == kind]
    traits = run.home.traits(thing) & {Trait.VESSEL, Trait.DISH}
    others += [n for n in run.home.names if n != thing and traits and traits <= run.home.traits(n)]
    fits = [
        name for name in others
        if run.home.has(name, Trait.PORTABLE) and ("dirty", name) not in run.final
        and not (place and _is_refused(run, name, place))
    ]  # fmt: skip
    return run.finding(RootCause.UNSUITABLE, number, thing, *fits[:1], reason=reason)


def _is_refused(run: LogRun, name: str, place: str) -> bool:
    """Whether an object is not suitable for a place, either."""
    inside = frozenset({("at", name, place), ("holding", name)})
    return not holds(inside, ("fits", name, place), run.home) or not holds(inside, ("safe", place), run.home)


def _in_plan(run: LogRun, edit: Edit, first: int, plain: Course) -> Finding:
    """An edit of the plan as a finding."""
    count = len(run.subgoals)
    number = min(edit.number, count - 1)
    unmet = next((c for c in run.goal if not holds(plain.final, c, run.home)), None)
    match edit.kind:
        case "order":
            early, late = edit.steps
            times = (run.subgoals[number].time, *(i.time for i in run.subgoals[number + 1 :] if i.step == late))[:2]
            step, missing = (early, (late,)) if number in plain.refused else (late, ())
            need = next(iter(plain.refused.get(number, ())), None)
            return run.finding(RootCause.WRONG_ORDER, number, *early.arguments, *late.arguments, times=times,
                               step=step, earlier=early, missing=missing, unmet=need)  # fmt: skip
        case "object":
            return run.finding(RootCause.WRONG_OBJECT, number, *edit.names, unmet=unmet)
        case "place":
            return run.finding(RootCause.WRONG_PLACE, number, *edit.names, edit.steps[0].arguments[0], unmet=unmet)
        case "action":
            needed = edit.steps[1:]
            return run.finding(RootCause.WRONG_ACTION, number, *needed[0].arguments, missing=needed, unmet=unmet)
        case "undone":
            names = edit.steps[0].arguments
            return run.finding(RootCause.UNDONE_BY_PLAN, number, *names, earlier=edit.steps[0], unmet=unmet)
    lacking = edit.steps[0]
    emptying = lacking.operator == "pour" and run.home.has(lacking.arguments[1], Trait.BASIN)
    if emptying and any(fact[:2] == ("filled", lacking.arguments[0]) for fact in plain.start):
        return replace(_already_filled(run, number, lacking.arguments[0], plain, unmet or ()), missing=(lacking,))
    number = first if first < count else number
    need = next(iter(plain.refused.get(number, ())), unmet)
    return _lacking(run, number, lacking, need)


def _lacking(run: LogRun, number: int, lacking: Action, need: StateFact | None) -> Finding:
    """A step that the plan lacks before another one."""
    if lacking.operator == "open_obj":
        names = (*lacking.arguments, *run.steps[number].arguments[:1])
        return run.finding(RootCause.NEVER_OPENED, number, *names, missing=(lacking,), unmet=need)
    return run.finding(RootCause.MISSING_STEP, number, *lacking.arguments, missing=(lacking,), unmet=need)


def _refused(run: LogRun, number: int, needs: Sequence[StateFact]) -> Finding:
    """A step that was not possible, where no edit of the plan would do: what it needs first."""
    state, need = run.before(number), needs[0]
    match need:
        case ("accessible" | "reachable", thing):
            door = shut_in(state, thing, run.home) or thing
            return _lacking(run, number, Action("open_obj", (door,)), need)
        case ("holding", thing):
            held = holding(state)
            if held is not None:
                return run.finding(RootCause.WRONG_OBJECT, number, thing, held, unmet=need)
            return _lacking(run, number, Action("pick_up", (thing,)), need)
        case ("tool",):
            tools = run.home.all(Trait.CUTS)
            return _lacking(run, number, Action("pick_up", (tools[0] if tools else "knife",)), need)
        case ("hand_free" | "operable", *_):
            held = holding(state) or run.steps[number].arguments[0]
            spots = run.home.all(Trait.SURFACE)
            return _lacking(run, number, Action("put_on", (held, spots[0] if spots else "countertop")), need)
        case ("room", place, thing):
            return run.finding(RootCause.OCCUPIED, number, place, occupant(state, place, thing, run.home) or "",
                               unmet=need)  # fmt: skip
        case (predicate, thing) if operator := OPERATORS.get(literal_of(predicate)):
            return _lacking(run, number, Action(operator, (thing,)), need)
    return run.finding(RootCause.ACTION_FAILED, number, *run.steps[number].arguments, unmet=need)


def _unachieved(run: LogRun, plain: Course) -> Finding:
    """A condition that does not hold in the end, where no edit of the plan would do."""
    unmet = next((c for c in run.goal if not holds(plain.final, c, run.home)), None)
    number = len(run.subgoals) - 1
    if unmet is None or number < 0:
        time = run.log.events[-1].time if run.log.events else "00:00"
        return Finding(RootCause.UNKNOWN, (time,), unmet[1:2] if unmet else ("the run",), unmet=unmet)
    used = [n for n, step in enumerate(run.steps) if unmet[1] in step.arguments]
    return run.finding(RootCause.UNKNOWN, used[-1] if used else number, unmet[1], unmet=unmet)

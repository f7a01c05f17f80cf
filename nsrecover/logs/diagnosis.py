"""From the most likely course of events to what went wrong: in execution, in the plan, or in the scene."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains.household.kinds import could_mean, is_category
from nsrecover.domains.household.names import noun
from nsrecover.logs.correction import correct
from nsrecover.logs.courses import Course, CourseDeviation
from nsrecover.logs.edits import Edit, Editor
from nsrecover.logs.findings import Finding, RootCause
from nsrecover.logs.roles import static
from nsrecover.logs.run import LogRun
from nsrecover.logs.trace import StepResult
from nsrecover.logs.unsaid import ambiguous

PLAN_CAUSES = (RootCause.MISSING_STEP, RootCause.NEVER_OPENED, RootCause.WRONG_ORDER, RootCause.WRONG_ACTION,
               RootCause.WRONG_OBJECT, RootCause.WRONG_PLACE, RootCause.UNDONE_BY_PLAN)  # fmt: skip
"""Causes in the plan: there are several ways to mend it, and people call them by either kind."""
_SCENE = ("aside", "forced")
"""What may come of a step that was not possible: no failure of its own."""
_REASONS = (
    (RootCause.DROPPED, ("drop", "slip", "fell", "fallen", "lost")),
    (RootCause.OCCUPIED, ("occupied", "is full", "no space", "no room", "not empty", "already contains")),
    (RootCause.BLOCKED, ("blocked", "obstacle", "obstruct", "collision", "in the way", "occluded")),
    (RootCause.NEVER_OPENED, ("is closed", "not open", "is locked", "is shut")),
    (RootCause.MISSING_STEP, ("should be true", "precondition", "requires")),
)
"""Words of a source for why a step failed -> the cause."""


@dataclass(frozen=True)
class Diagnosis:
    """What went wrong, and how sure that is.

    Attributes:
        finding: the root cause.
        share: the probability of all courses that name the same step and kind.
        edits: how many edits of the plan are as good as the chosen one; 0 if none was looked for.
        strangeness: cost of the most likely course per event.
        rivals: other courses with their probabilities, the most likely first.
    """

    finding: Finding
    share: float
    edits: int
    strangeness: float
    rivals: tuple[tuple[Course, float], ...]


def diagnose(run: LogRun) -> Diagnosis:
    """Diagnose a trace, from `nsrecover.logs.run.run_of`."""
    finding, edits = _finding(run)
    if run.log.unread_goal and (finding.cause is RootCause.NONE or finding.cause in PLAN_CAUSES):
        finding, edits = _unachieved(run, run.course), 0

    def key(course: Course) -> tuple[object, ...]:
        first = course.first()
        return () if first is None else (first.mode in _SCENE, first.number)

    same = sum(chance for one, chance in run.courses if key(one) == key(run.course))
    rivals = [(one, chance) for one, chance in run.courses if chance > 0.02 and key(one) != key(run.course)]
    return Diagnosis(finding, same, edits, run.course.cost / max(1, len(run.log.events)), tuple(rivals[:4]))


def _achieved(run: LogRun, course: Course) -> bool:
    """Whether the goal holds at the end of a course; without one, whether all steps of the plan did what they are for.

    What the source says of the whole run decides if it has no goal, and all that is known of its steps agrees.
    """
    if not all(run.scene.holds(course.final, condition) for condition in run.goal):
        return False
    if run.log.goal or run.log.goal_text:
        return bool(run.wanted)
    slots, failed = run.believer.slots, [one for one in course.deviations if one.mode not in _SCENE]
    if run.log.result is not StepResult.UNKNOWN:
        return run.log.result is StepResult.SUCCEEDED
    known = bool(run.wanted) or (bool(slots) and all(slot.result is StepResult.SUCCEEDED for slot in slots))
    return known and not failed and not any(slot.result is StepResult.FAILED for slot in slots)


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
        sound = not plain.refused and (_achieved(run, plain) or not run.log.goal)
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
    editor = Editor(run.believer, course.start, _due(run), first, tuple(run.steps))
    # A plan that would succeed needs no edit.
    edits = editor.edits() if run.subgoals and run.wanted and not editor.succeeds(editor.steps) else []
    if edits:
        return _in_plan(run, edits[0], first, plain), len({(e.kind, e.steps, e.names) for e in edits})
    if first < len(run.subgoals):
        return _refused(run, editor, first, plain), 0
    return _unachieved(run, plain), 0


def _due(run: LogRun) -> tuple[StateFact, ...]:
    """The goal; of a run that ends at a step that failed, the effects that its steps should have had."""
    told = [slot for slot in run.believer.slots if slot.told]
    if not any(slot.result is StepResult.FAILED for slot in told[-2:]):
        return run.goal
    now = run.course.start
    for step in run.steps:
        now = run.believer.after(now, step)
    return tuple(fact for fact in run.goal if run.scene.holds(now, fact)) or run.goal


def _in_spite(run: LogRun, failures: Sequence[CourseDeviation]) -> Finding:
    """What went wrong although the success condition holds: an obstacle, or a failure that is not in doubt."""
    if run.unseen:
        return _unachieved(run, run.course)
    told = [run.believer.slots[number].result is not StepResult.FAILED for number in run.course.refused]
    scene = _in_scene(run, run.course) if any(told) else None
    if scene is not None and (scene.cause is RootCause.BLOCKED or run.course.deviations):
        return replace(scene, reason="holds")
    # What the source itself says to have failed was put right.
    failures = [one for one in failures if run.believer.slots[one.number].result is not StepResult.FAILED]
    if not failures:
        return Finding(RootCause.NONE, (), ())
    return replace(_in_execution(run, failures[0]), reason="holds")


def _culprit(
    run: LogRun, base: tuple[CourseDeviation, ...], failures: Sequence[CourseDeviation], sound: bool
) -> CourseDeviation | None:
    """The first failure after which the goal is not achieved; the first one if the plan would not achieve it either."""
    start, when = run.course.start, run.course.when
    for count in range(1, len(failures) + 1 if sound and run.log.goal else 0):
        found = sorted((*base, *failures[:count]), key=lambda one: (one.number, one.event))
        if not _achieved(run, run.believer.course(start, tuple(found), when)):
            # A second try that fails is no cause.
            again = run.steps[failures[count - 1].number] in run.steps[: failures[count - 1].number]
            return failures[count - 2 if again and count > 1 else count - 1]
    return failures[0] if failures else None


def _vague(run: LogRun) -> Finding | None:
    """A word of the plan that leaves open what is meant."""
    changed = {one.number for one in run.course.deviations}
    for number, item in sorted(enumerate(run.subgoals), key=lambda each: each[0] not in changed):
        for word in item.planned.arguments:
            if ambiguous(word, run.home):
                return run.finding(RootCause.AMBIGUOUS_NAME, number, _reached(run, number, word), word)
    return None


def _reached(run: LogRun, number: int, word: str) -> str:
    """The object that a step with an ambiguous word was carried out with, by what was seen afterwards, or changed."""
    item, found, states = run.subgoals[number], list[str](), {state for state, _ in run.scene.switches.values()}
    for event in run.log.events[item.event : item.event + 3]:
        facts = [fact for claim in event.claims if claim.holds for fact in claim.facts]
        found += [fact[2] for fact in facts if len(fact) == 3 and fact[1] == item.step.arguments[0]]
        found += [fact[1] for fact in facts if len(fact) == 2 and fact[0] in states]
    found += [name for fact in sorted(run.after(number) ^ run.before(number)) for name in fact[1:]]
    return next((name for name in found if name != word and could_mean(word, name)), "")


def _in_execution(run: LogRun, happened: CourseDeviation) -> Finding:
    """A failed execution, something dropped, or another object or place."""
    number, item, scene = happened.number, run.subgoals[happened.number], run.scene
    event = max(0, min(happened.event, len(run.log.events) - 1))
    since = (run.time(event - 1), run.time(event)) if event > 0 else ()
    names, releasing = item.step.arguments, scene.puts(item.step)

    def found(cause: RootCause, *objects: str, **details: Any) -> Finding:
        return run.finding(cause, number, *objects, since=since, **details)

    if happened.mode == "dropped":
        lost = scene.held(run.course.states[event - 1] if event else run.course.start) or names[0]
        meanwhile, when = run.log.events[event].action, event
        if meanwhile is None and run.believer.written and number:
            # What is seen between two steps happened during the first one.
            meanwhile, when = run.steps[number - 1], run.subgoals[number - 1].event
        return found(RootCause.DROPPED, lost, times=(run.time(when),), step=meanwhile or item.step, earlier=meanwhile,
                     where=happened.place)  # fmt: skip
    if happened.mode == "moved" and happened.instead is not None:
        thing, *places = happened.instead.arguments
        step = run.log.events[event].action or item.step
        return found(RootCause.MISPLACED, thing, *places, where=happened.place, times=(run.time(event),), step=step)
    if releasing and (other := _in_the_place(run, number)):
        return found(RootCause.OCCUPIED, names[1], other)
    if happened.instead is not None:
        used = happened.instead.arguments
        if not releasing:
            return found(RootCause.MISTAKEN_OBJECT, names[0], used[0])
        apart = noun(used[1]) != noun(names[1]) and used[1] in run.home.objects
        if apart and scene.surfaces() and used[1] not in scene.surfaces():
            return found(RootCause.MISTAKEN_OBJECT, names[1], used[1], where=used[1])
        return found(RootCause.MISPLACED, names[0], used[1], where=used[1])
    told = run.believer.slots[number].message.lower()
    for cause, words in _REASONS:
        if any(word in told for word in words):
            return found(cause, *(names[-1:] if cause is RootCause.OCCUPIED else names))
    if item.step.operator not in scene.grasping:
        return found(RootCause.ACTION_FAILED, *names)
    if other := _obstacle(run, number, names[0]):
        return found(RootCause.BLOCKED, names[0], other)
    clear = bool(run.log.events) and names[0] in run.log.events[item.event].seen
    return found(RootCause.MISSED_GRASP, *names, clear=clear)


def _in_the_place(run: LogRun, number: int) -> str:
    """What was in a small place before the plan put something there."""
    place, scene = run.steps[number].arguments[1], run.scene
    traits = run.home.objects.get(place, frozenset[str]())
    small = "one_place" in traits or ("dish" in traits and "door" not in traits)
    if not small or traits & {"surface", "basin"}:
        return ""
    own = {step.arguments[0] for step in run.steps if scene.puts(step)}
    inside = (one for one in scene.contents(run.course.start, place) if scene.carried(one) and one not in own)
    return next(inside, "")


def _obstacle(run: LogRun, number: int, thing: str) -> str:
    """What two events show in front of an object that a step tries to take, or on it without the plan's doing."""
    end, scene = run.subgoals[number].event, run.scene
    events = run.log.events[run.subgoals[number - 1].event + 1 if number else 0 : end + 3]
    own = {step.arguments[0] for step in run.steps if scene.puts(step)}
    counts = Counter(
        name
        for event in events
        for name in {
            fact[1] for claim in event.claims if claim.holds for fact in claim.facts
            if len(fact) == 3 and fact[2] == thing and scene.carried(fact[1])
            and (fact[0] in scene.covers or (fact[0] in scene.locations and fact[1] not in own))
        }
    )  # fmt: skip
    best, times = next(iter(counts.most_common(1)), ("", 0))
    return best if times >= min(2, len(events)) else ""


def _in_scene(run: LogRun, course: Course) -> Finding | None:
    """What is unexpected: an obstacle, a running machine, an object that is not suitable.

    A fact is to blame for a condition if the condition holds without it. One that was there at the start is
    unexpected.
    """
    scene, start = run.scene, course.start
    number = min(course.refused, default=len(run.subgoals))
    for need in course.refused.get(number, ()):
        step, before = run.steps[number], course.before[number]
        if static(need, run.home) and len(need) > 1:
            return _unsuitable(run, need[1], need)
        for fact in scene.blamed(before, need):
            variable = run.home.domain.variables.get(fact[0])
            there = fact[0] in scene.locations and fact[1] in scene.contents(start, fact[2])
            if fact[0] in scene.covers and fact in start:
                return run.finding(RootCause.BLOCKED, number, fact[2], fact[1], unmet=need)
            if there and fact[1] not in step.arguments and scene.puts(step) and fact[2] in step.arguments:
                return run.finding(RootCause.OCCUPIED, number, fact[2], fact[1], unmet=need)
            if there and fact[1] not in step.arguments and step.operator in scene.grasping:
                return run.finding(RootCause.BLOCKED, number, step.arguments[0], fact[1], unmet=need)
            if fact[0] in scene.locations and step.operator in scene.switches:
                return _unsuitable(run, fact[1], need)
            if variable is None or fact not in start:
                continue
            if len(variable.values) > 2:
                return _already_filled(run, number, fact, need)
            setter = Action(str(scene.setter(fact[0], value=True)), fact[1:])
            if variable.dangers and setter not in run.steps[:number] and need[1:2] == fact[1:2]:
                return run.finding(RootCause.ALREADY_RUNNING, number, fact[1], unmet=need)
    return _unsaid(run, course, number)


def _unsaid(run: LogRun, course: Course, number: int) -> Finding | None:
    """What does not hold of what goes without saying: something else in a dish, a dirty dish."""
    unsaid = [fact for fact in run.goal if fact not in run.wanted and not run.scene.holds(course.final, fact)]
    spoiled = next((fact for fact in unsaid if fact[0] == "away_from"), None)
    if spoiled is not None:
        used = next((n for n, step in enumerate(run.steps) if spoiled[2] in step.arguments), None)
        if used is not None and used <= number:
            return run.finding(RootCause.OCCUPIED, used, spoiled[2], spoiled[1], unmet=spoiled)
    dirty = next((fact for fact in unsaid if fact[0] == "clean"), None)
    return _unsuitable(run, dirty[1], dirty) if dirty is not None and not course.refused else None


def _already_filled(run: LogRun, number: int, fact: StateFact, need: StateFact) -> Finding:
    way = correct(run.course.before[number], [("empty", fact[1])], run.home, until=run.believer.until) or ()
    emptying = tuple(step for step in way[-1:])
    return run.finding(RootCause.ALREADY_FILLED, number, fact[1], missing=emptying, liquid=fact[2], unmet=need)


def _unsuitable(run: LogRun, thing: str, need: StateFact) -> Finding:
    """An object that was not suitable, at the step that chose it, with another one that is."""
    number = next((n for n, step in enumerate(run.steps) if thing in step.arguments), 0)
    kind, objects = noun(thing).split()[-1], run.home.objects
    others = [name for fact in run.wanted for name in fact[1:2]]
    others += [name for name in objects if noun(name).split()[-1] == kind]
    shared = objects.get(thing, frozenset()) & {"vessel", "dish"}
    others += [name for name in objects if shared and shared <= objects[name]]

    def suits(name: str) -> bool:
        state = frozenset(tuple(name if term == thing else term for term in fact) for fact in run.final)
        return run.scene.holds_need(state, tuple(name if term == thing else term for term in need))

    named = set(getattr(run.home, "names", objects))
    fits = [name for name in others if name != thing and name in named and run.scene.carried(name) and suits(name)]
    return run.finding(RootCause.UNSUITABLE, number, thing, *fits[:1], reason=_why(run, need, thing))


def _why(run: LogRun, need: StateFact, thing: str) -> str:
    place = next((name for name in need[1:] if name != thing), "")
    match need[0]:
        case "fits":
            return f"it does not fit into the {place}"
        case "safe":
            metal = "metal" in run.home.objects.get(thing, ())
            return f"it is of metal, which the {place} must not heat" if metal else "it does not stand the heat"
        case "clean":
            return "it is dirty"
    return f"'{run.home.domain.text(need)}' does not hold"


def _in_plan(run: LogRun, edit: Edit, first: int, plain: Course) -> Finding:
    """An edit of the plan as a finding."""
    count = len(run.subgoals)
    number = min(edit.number, count - 1)
    unmet = next((c for c in run.goal if not run.scene.holds(plain.final, c)), None)
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
    full = next((fact for fact in plain.start if fact[0] == "filled" and fact[1] == lacking.arguments[0]), None)
    emptying = len(lacking.arguments) == 2 and run.scene.has(lacking.arguments[1], "basin")
    if full is not None and emptying and lacking.operator not in run.scene.releasing:
        return replace(_already_filled(run, number, full, unmet or full), missing=(lacking,))
    number = first if first < count else number
    need = next(iter(plain.refused.get(number, ())), unmet)
    return _lacking(run, number, lacking, need)


def _lacking(run: LogRun, number: int, lacking: Action, need: StateFact | None) -> Finding:
    """A step that the plan lacks before another one."""
    setter = run.scene.setter("open", value=True)
    if lacking.operator == setter:
        names = (*lacking.arguments, *run.steps[number].arguments[:1])
        return run.finding(RootCause.NEVER_OPENED, number, *names, missing=(lacking,), unmet=need)
    return run.finding(RootCause.MISSING_STEP, number, *lacking.arguments, missing=(lacking,), unmet=need)


def _refused(run: LogRun, editor: Editor, number: int, plain: Course) -> Finding:
    """A step that was not possible, where no edit of the plan would do: the cheapest way to what it needs."""
    state, needs = plain.before[number], plain.refused[number]
    held, step = run.scene.held(state), run.steps[number]
    if held is not None and any(need[0] in run.scene.holding for need in needs) and held not in step.arguments:
        return run.finding(RootCause.WRONG_OBJECT, number, step.arguments[0], held, unmet=needs[0])
    way = correct(state, needs[:1], run.home, run.steps, until=run.believer.until)
    if way:
        key = editor.key(state, way, needs[0])
        late = next((n for n in range(number + 1, len(run.steps)) if run.steps[n] == key), None)
        if late is not None:
            times, names = (run.subgoals[number].time, run.subgoals[late].time), (*step.arguments, *key.arguments)
            return run.finding(RootCause.WRONG_ORDER, number, *names, times=times, missing=(key,), earlier=step,
                               unmet=needs[0])  # fmt: skip
        return _lacking(run, number, key, needs[0])
    return run.finding(RootCause.ACTION_FAILED, number, *step.arguments, unmet=needs[0])


def _able(run: LogRun, fact: StateFact, holds: bool, steps: Sequence[Action]) -> bool:
    """Whether one of some steps can bring about a fact, or end it."""
    used = {step.operator for step in steps} & run.home.domain.operators.keys()
    effects = (effect for name in used for effect in run.home.domain.operators[name].effects)
    return any(one[0] == fact[0] for effect in effects for one in (effect.adds if holds else effect.deletes))


def _unachieved(run: LogRun, plain: Course) -> Finding:
    """A condition that does not hold in the end, or that nobody has seen, where no edit of the plan would do."""
    unmet = next((c for c in run.goal if not run.scene.holds(plain.final, c)), next(iter(run.unseen), None))
    wanted = unmet is None or unmet[0] != "not"
    unmet = unmet if wanted or unmet is None else unmet[1:]
    number = len(run.subgoals) - 1
    if unmet is None or number < 0 or len(unmet) < 2:
        time = run.log.events[-1].time if run.log.events else "00:00"
        return Finding(RootCause.UNKNOWN, (time,), unmet[1:2] if unmet else ("the run",), unmet=unmet)
    used = [n for n, step in enumerate(run.steps) if unmet[1] in step.arguments]
    at = used[-1] if used else number
    if run.believer.written and len(run.unseen) < len(run.wanted) and not run.log.unread_goal:
        idle = [n for n in used if plain.before[n] == plain.after[n] and n not in plain.refused
                and _able(run, unmet, not wanted, run.steps[n : n + 1])]  # fmt: skip
        if idle and not _able(run, unmet, wanted, run.steps):
            return run.finding(RootCause.WRONG_ACTION, idle[-1], *unmet[1:], unmet=unmet)
        if not _able(run, unmet, wanted, run.steps):
            return run.finding(RootCause.MISSING_STEP, at, *unmet[1:], unmet=unmet)
    # Nothing is known of what such an operator does: what the goal asks of its object is what it should have done.
    failed = bool(used) and run.scene.opaque(run.steps[at]) and unmet not in run.unseen and not run.log.unread_goal
    names = run.steps[at].arguments if failed else unmet[1:2]
    return run.finding(RootCause.ACTION_FAILED if failed else RootCause.UNKNOWN, at, *names, unmet=unmet)

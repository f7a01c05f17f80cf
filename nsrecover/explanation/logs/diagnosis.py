"""From the most likely course of a run to what went wrong: in execution, in the plan, or in the scene."""

from __future__ import annotations

from dataclasses import dataclass, replace

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains.base import Atom, State
from nsrecover.domains.household.kinds import Trait, traits_of
from nsrecover.domains.household.names import is_slice, noun, same_stuff
from nsrecover.domains.household.scene import contents, holding, holds, occupant
from nsrecover.explanation.logs.belief import Believer
from nsrecover.explanation.logs.edits import Edit, Editor
from nsrecover.explanation.logs.execution import explain_failure
from nsrecover.explanation.logs.findings import Checked, Finding, RootCause
from nsrecover.explanation.logs.inference.courses import Course, Hypothesis, posterior
from nsrecover.explanation.logs.planning import explain_plan
from nsrecover.explanation.logs.run import Run

_PUTTING = ("put_in", "put_on")
_FOOD = {Trait.SLICEABLE, Trait.CRACKABLE, Trait.COOKS}
_CERTAIN = 2.0
"""Difference in cost from which a failed step is reported although the goal was reached."""
_SUCCEEDED = 2.0
"""Cost of a run in which nothing went wrong: what is handed over for an explanation mostly failed."""
_HARMED = Atom("harmed", ("?o", "?p"))


@dataclass(frozen=True)
class Diagnosis:
    """What went wrong, and how sure that is.

    Attributes:
        finding: the root cause.
        run: the log with the states and subgoals of the most likely course.
        course: the most likely course.
        share: its probability among all courses, those that name the same step and kind included.
        edits: how many edits of the plan, of the smallest kind, would make it succeed; 0 if none was looked for.
        strangeness: cost of the course per frame.
        rivals: other courses with their probabilities, the most likely first.
    """

    finding: Finding
    run: Run
    course: Course
    share: float
    edits: int
    strangeness: float
    rivals: tuple[tuple[Course, float], ...]


def diagnose(run: Run) -> Diagnosis:
    """Diagnose a prepared log.

    Args:
        run: from `nsrecover.explanation.logs.run.run_of`.
    """
    believer = Believer(run.log, run.home, run.steps, [item.event for item in run.subgoals], run.able)
    if not run.able.belief:
        return _by_subgoals(run, believer)
    courses = sorted((_weighed(run, one) for one in believer.courses()), key=lambda one: one.cost)
    chances = posterior(courses)
    best = courses[0]
    believed = _believed(run, believer, list(zip(courses, chances, strict=True)))
    same = [
        chance for one, chance in zip(courses, chances, strict=True)
        if (one.hypothesis.mode, one.hypothesis.number) == (best.hypothesis.mode, best.hypothesis.number)
    ]  # fmt: skip
    planned = min(one.cost for one in courses if one.hypothesis.mode == "as_planned")
    finding, edits = _finding(believed, believer, best, certain=planned - best.cost > _CERTAIN)
    rivals = [(one, chance) for one, chance in zip(courses[1:], chances[1:], strict=True) if chance > 0.02]
    frames = max(1, len(run.log.events))
    return Diagnosis(finding, believed, best, sum(same), edits, best.cost / frames, tuple(rivals[:4]))


def _by_subgoals(run: Run, believer: Believer) -> Diagnosis:
    """The diagnosis by the first subgoal that does not hold in the frame at its end, else by the plan."""
    failed = next((number for number, item in enumerate(run.subgoals) if not item.satisfied), None)
    finding = explain_plan(run) if failed is None else explain_failure(run, failed)
    return Diagnosis(finding, run, believer.course(believer.first_guess(), Hypothesis("as_planned")), 1.0, 0, 0.0, ())


def _weighed(run: Run, course: Course) -> Course:
    """A course with the cost of success, if nothing went wrong in it."""
    fine = course.hypothesis.mode == "as_planned" and not course.refused and run.wanted
    goal = (*run.wanted, *implied(run, course.start))
    if not fine or not all(holds(course.final, condition, run.home) for condition in goal):
        return course
    return replace(course, cost=course.cost + _SUCCEEDED)


def _believed(run: Run, believer: Believer, weighed: list[tuple[Course, float]]) -> Run:
    """The log with the states of the most likely course, and every subgoal by its probability over all courses."""
    best = weighed[0][0]
    subgoals = list[Checked]()
    for number, item in enumerate(run.subgoals):
        chance = sum(
            share for one, share in weighed if share > 1e-3 and _done(item.step, one.after[number]) is not False
        )
        held = chance >= 0.5 * sum(share for _, share in weighed if share > 1e-3)
        why = item.why if held == item.satisfied else "that fits best with everything that was seen"
        instead = best.hypothesis.instead
        other = item.instead if held == item.satisfied else None
        if instead is not None and best.hypothesis.number == number:
            other = next((n for n in instead.arguments if n not in item.step.arguments), None)
        subgoals.append(replace(item, satisfied=held, why=why, instead=other))
    return replace(run, states=best.states, final=best.final, subgoals=tuple(subgoals))


def _done(step: Action, state: State) -> bool | None:
    """Whether what a step is for holds in a state; None if its operator is unknown."""
    match step.operator, step.arguments:
        case "pick_up", (thing,):
            held = holding(state)
            return held is not None and (held == thing or same_stuff(held, thing))
        case "put_in" | "put_on", (thing, place):
            return holding(state) != thing and any(
                fact[0] in ("at", "atop") and fact[1] == thing and fact[2] == place for fact in state
            )
        case "open_obj" | "close_obj", (thing,):
            return (("open", thing) in state) == (step.operator == "open_obj")
        case "toggle_on" | "toggle_off", (thing,):
            return (("running", thing) in state) == (step.operator == "toggle_on")
        case "slice_obj", (thing,):
            return ("sliced", f"{thing} slice") in state
        case "crack_obj", (thing,):
            return ("cracked", thing) in state
        case "pour", (source, target):
            full = {fact[1] for fact in state if fact[0] == "filled"}
            return source not in full and (target in full or Trait.VESSEL not in traits_of(target))
    return None


def implied(run: Run, start: State) -> tuple[StateFact, ...]:
    """What has to hold without being said: what food and drink is in is clean."""
    home, found = run.home, dict[StateFact, None]()
    if not run.able.suitability:
        return ()
    for fact in run.wanted:
        if fact[0] == "filled" and home.has(fact[1], Trait.DISH):
            found["clean", fact[1]] = None
        elif fact[0] == "at" and home.has(fact[2], Trait.DISH) and (is_slice(fact[1]) or home.traits(fact[1]) & _FOOD):
            found["clean", fact[2]] = None
    return tuple(fact for fact in found if ("dirty", fact[1]) in start and fact not in run.wanted)


def _finding(run: Run, believer: Believer, course: Course, certain: bool) -> tuple[Finding, int]:
    """The root cause, and how many edits of the plan are as small as the chosen one."""
    goal = (*run.wanted, *implied(run, course.start))
    happened = course.hypothesis
    if run.wanted and all(holds(course.final, condition, run.home) for condition in goal):
        scene = _in_scene(run, course, goal) if course.refused else None
        if scene is not None and scene.cause is RootCause.BLOCKED:
            return replace(scene, reason="holds"), 0
        if not certain or happened.mode not in ("no_effect", "dropped", "instead"):
            return Finding(RootCause.NONE, (), ()), 0
        return replace(_in_execution(run, course), reason="holds"), 0
    vague = _vague(run) if run.able.ambiguity else None
    if vague is not None:
        return vague, 0
    if happened.mode in ("no_effect", "dropped", "instead"):
        return _in_execution(run, course), 0
    scene = _in_scene(run, course, goal)
    if scene is not None:
        return scene, 0
    first = min(course.refused, default=len(run.subgoals))
    # a finding about an edit names the subgoal at which it shows
    edits = Editor(believer, course.start, goal, first).edits() if run.able.edits and run.subgoals else []
    if edits:
        return _in_plan(run, edits[0], first, goal, course), len({(e.kind, e.steps, e.names) for e in edits})
    if first < len(run.subgoals):
        return explain_failure(run, first), 0
    return explain_plan(run), 0


def _vague(run: Run) -> Finding | None:
    """A word of the plan that leaves open what is meant, where that led to the failure."""
    if not any(run.home.ambiguous(word) for item in run.subgoals for word in item.planned.arguments):
        return None
    failed = next((number for number, item in enumerate(run.subgoals) if not item.satisfied), None)
    finding = explain_plan(run) if failed is None else explain_failure(run, failed)
    return finding if finding.cause is RootCause.AMBIGUOUS_NAME else None


def _in_execution(run: Run, course: Course) -> Finding:
    """A failed execution, something dropped, or another object or place."""
    happened = course.hypothesis
    number, item = happened.number, run.subgoals[happened.number]
    since = _interval(run, happened.event)
    if happened.mode == "dropped":
        frame = run.log.events[happened.event]
        lost = holding(run.states[happened.event - 1] if happened.event else course.start) or item.step.arguments[0]
        return run.finding(
            RootCause.DROPPED, number, lost, times=(frame.time,), earlier=frame.step, where=happened.place, since=since
        )
    if happened.instead is not None:
        meant, used = item.step, happened.instead
        if meant.operator in _PUTTING and meant.arguments[0] == used.arguments[0]:
            return run.finding(
                RootCause.MISPLACED, number, meant.arguments[0], used.arguments[1], where=used.arguments[1], since=since
            )
        return run.finding(RootCause.MISTAKEN_OBJECT, number, meant.arguments[0], used.arguments[0], since=since)
    names = item.step.arguments
    if item.step.operator == "pick_up":
        other = _obstacle(run, number, names[0])
        if other:
            return run.finding(RootCause.BLOCKED, number, names[0], other, since=since)
        clear = run.log.events[item.event].observation.sees(names[0])
        return run.finding(RootCause.MISSED_GRASP, number, *names, since=since, clear=clear)
    return run.finding(RootCause.ACTION_FAILED, number, *names, since=since)


def _interval(run: Run, event: int) -> tuple[str, ...]:
    """The times of the last frame before an event and of that event."""
    return (run.log.events[event - 1].time, run.log.events[event].time) if event > 0 else ()


def _obstacle(run: Run, number: int, thing: str) -> str:
    """What was seen in front of an object in at least two frames around an attempt to take it."""
    end, counts = run.subgoals[number].event, dict[str, int]()
    begin = run.subgoals[number - 1].event + 1 if number else 0
    for frame in run.log.events[begin : end + 3] if run.able.obstacles else ():
        for subject, relation, other in frame.observation.relations():
            hidden = relation in ("below", "under", "behind", "occluded by", "blocked by") and subject == thing
            if hidden and run.home.has(other, Trait.PORTABLE):
                counts[other] = counts.get(other, 0) + 1
    best = max(counts, key=lambda name: counts[name], default="")
    return best if counts.get(best, 0) >= 2 else ""


def _in_scene(run: Run, course: Course, goal: tuple[StateFact, ...]) -> Finding | None:
    """What the plan did not reckon with: an obstacle, a running machine, an object that is not suitable."""
    home, start = run.home, course.start
    if course.refused:
        number = min(course.refused)
        state, step = course.before[number], run.subgoals[number].step
        for need in course.refused[number]:
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
                    return _unsuitable(run, inside[0], f"{why}", place) if inside else None
                case ("unmixed", target, _) if any(fact[:2] == ("filled", target) for fact in start):
                    liquid = next(fact[2] for fact in start if fact[:2] == ("filled", target))
                    emptying = Action("pour", (target, "sink"))
                    return run.finding(
                        RootCause.ALREADY_FILLED, number, target, missing=(emptying,), liquid=liquid, unmet=need
                    )
        if step.operator not in ("pick_up", "put_in", "put_on", "pour"):
            return None
    unsaid = implied(run, start)
    for condition in goal:
        if condition in unsaid and not holds(course.final, condition, home) and not course.refused:
            return _unsuitable(run, condition[1], "it is dirty", "")
    return None


def _unsuitable(run: Run, thing: str, reason: str, place: str) -> Finding:
    """An object that was not suitable, at the step that chose it, with another one that is."""
    number = next((n for n, step in enumerate(run.steps) if thing in step.arguments), 0)
    kind = noun(thing).split()[-1]
    wanted = [name for fact in run.wanted for name in fact[1:2]]
    alike = [n for n in (*wanted, *run.home.names) if n != thing and noun(n).split()[-1] == kind]
    traits = run.home.traits(thing) & {Trait.VESSEL, Trait.DISH}
    alike += [n for n in run.home.names if n != thing and traits and traits <= run.home.traits(n)]
    fits = [
        name for name in alike
        if run.home.has(name, Trait.PORTABLE) and ("dirty", name) not in run.final
        and not (place and _refused(run, name, place))
    ]  # fmt: skip
    return run.finding(RootCause.UNSUITABLE, number, thing, *fits[:1], reason=reason)


def _refused(run: Run, name: str, place: str) -> bool:
    """Whether an object is not suitable for a place, either."""
    home = run.home
    inside = frozenset({("at", name, place), ("holding", name)})
    return not holds(inside, ("fits", name, place), home) or not holds(inside, ("safe", place), home)


def _in_plan(run: Run, edit: Edit, first: int, goal: tuple[StateFact, ...], course: Course) -> Finding:
    """An edit of the plan as a finding."""
    count = len(run.subgoals)
    number = min(edit.number, count - 1)
    unmet = next((c for c in goal if not holds(course.final, c, run.home)), None)
    match edit.kind:
        case "order":
            early, late = edit.steps
            times = (run.subgoals[number].time, *(i.time for i in run.subgoals[number + 1 :] if i.step == late))[:2]
            step, missing = (early, (late,)) if number in course.refused else (late, ())
            names = (*early.arguments, *late.arguments)
            return run.finding(
                RootCause.WRONG_ORDER, number, *names, times=times, step=step, earlier=early, missing=missing
            )
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
    (lacking,) = edit.steps
    liquid = next((fact[2] for fact in course.start if fact[:2] == ("filled", lacking.arguments[0])), "")
    if lacking.operator == "pour" and liquid and run.home.has(lacking.arguments[1], Trait.BASIN):
        return run.finding(
            RootCause.ALREADY_FILLED, number, lacking.arguments[0], missing=(lacking,), liquid=liquid, unmet=unmet
        )
    number = first if first < count else number
    need = next(iter(course.refused.get(number, ())), unmet)
    if lacking.operator == "open_obj":
        names = (*lacking.arguments, *run.subgoals[number].step.arguments[:1])
        return run.finding(RootCause.NEVER_OPENED, number, *names, missing=(lacking,), unmet=need)
    return run.finding(RootCause.MISSING_STEP, number, *lacking.arguments, missing=(lacking,), unmet=need)

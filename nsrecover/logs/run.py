"""A trace, read: the most likely course of events, and what became of every step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains.base import State
from nsrecover.domains.household.names import same_stuff
from nsrecover.domains.instance import Instance
from nsrecover.domains.properties import literal
from nsrecover.logs.courses import Believer, Course, posterior
from nsrecover.logs.findings import Checked, Finding, RootCause
from nsrecover.logs.roles import RoledScene
from nsrecover.logs.trace import FactTrace, StepResult
from nsrecover.logs.unsaid import bound, implied

_SUCCEEDED = 2.0
"""Cost of a run in which nothing went wrong: what is handed over for an explanation mostly failed."""
_DENIED = 3.0
"""Further cost of a success that the facts of a program do not show."""
_UNSEEN = 1.5
"""Further cost of a condition of success about an object that the final observation does not show."""


@dataclass(frozen=True)
class LogRun:
    """A trace, read.

    Attributes:
        log: the trace.
        believer: simulates steps.
        courses: courses of events with their probabilities, the most likely first.
        subgoals: every step, in order, with what became of it.
        wanted: the success condition with objects for names.
    """

    log: FactTrace
    believer: Believer
    courses: tuple[tuple[Course, float], ...]
    subgoals: tuple[Checked, ...]
    wanted: tuple[StateFact, ...]

    @property
    def home(self) -> Instance:
        """The domain and its objects."""
        return self.log.scene

    @property
    def scene(self) -> RoledScene:
        """The scene, asked by role."""
        return self.believer.scene

    @property
    def course(self) -> Course:
        """The most likely course of events."""
        return self.courses[0][0]

    @property
    def final(self) -> State:
        """The state at the end."""
        return self.course.final

    @property
    def steps(self) -> list[Action]:
        """The steps, with the names of their lines."""
        return [item.step for item in self.subgoals]

    @property
    def goal(self) -> tuple[StateFact, ...]:
        """What has to hold in the end, with what goes without saying."""
        return (*self.wanted, *implied(self.wanted, self.course.start, self.home))

    @cached_property
    def unseen(self) -> tuple[StateFact, ...]:
        """Conditions of success that nothing shows: no claim agrees since the last step that changed them."""
        return self.unseen_in(self.course)

    def unseen_in(self, course: Course) -> tuple[StateFact, ...]:
        """The same if a course is what happened."""
        return tuple(fact for fact in self.wanted if len(fact) > 1 and not self._shown(fact, course))

    def _shown(self, fact: StateFact, course: Course) -> bool:
        """Whether anything is claimed about what a condition is about, or the step that brings it about is reported."""
        base, wanted = literal(fact[1:] if fact[0] == "not" else fact, self.home.domain)
        wanted = wanted != (fact[0] == "not")
        variable = self.home.domain.variables.get(base[0])
        if variable is not None and not variable.visible:
            return True
        placed = {*self.scene.locations, *self.scene.holding}
        kinds = placed if base[0] in (*placed, "away_from") else {base[0]}
        changes = [
            number
            for number, (one, other) in enumerate(zip(course.before, course.after, strict=True))
            if any(each[0] in kinds and same_stuff(each[1], base[1]) for each in one ^ other if len(each) > 1)
        ]
        last = changes[-1] if changes else None
        since = 0 if last is None else course.when[last]
        about = [
            claim
            for event in (*self.log.events[since:], self.log.final)
            for claim in event.claims
            for each in claim.facts
            if len(each) > 1
            and each[0] in kinds
            and same_stuff(each[-1 if each[0] in self.scene.holding else 1], base[1])
        ]
        reported = last is not None and self.believer.slots[last].result is StepResult.SUCCEEDED
        denied = any(claim.facts == (base,) and claim.holds != wanted for claim in about)
        if reported or self.log.result is StepResult.SUCCEEDED:
            return not denied
        return any(self.believer.agrees(claim, course.final) for claim in about)

    def before(self, number: int) -> State:
        """The state before a step was tried."""
        return self.course.before[number]

    def after(self, number: int) -> State:
        """The state after a step was tried."""
        return self.course.after[number]

    def time(self, event: int) -> str:
        """The time of an event."""
        return self.log.events[min(event, len(self.log.events) - 1)].time if self.log.events else "00:00"

    def finding(self, cause: RootCause, number: int, *objects: str, **details: Any) -> Finding:
        """A finding about a step; times and step are its own unless `details` has others."""
        item = self.subgoals[number]
        times = tuple(dict.fromkeys(details.pop("times", (item.time,))))
        return Finding(cause, times, tuple(dict.fromkeys(filter(None, objects))), **{"step": item.step, **details})


def run_of(log: FactTrace, until: float = math.inf) -> LogRun:
    """Read a trace.

    Args:
        log: with its scene.
        until: when the search has to end, seconds of `time.thread_time`.
    """
    believer = Believer(log, until)
    courses = believer.courses()
    run = LogRun(log, believer, tuple((one, 0.0) for one in courses), (), ())
    goal = log.goal if log.goal or log.goal_text else _aim(believer, courses[0])
    run = replace(run, wanted=bound(goal, courses[0].final, log.scene, believer.steps))
    courses = sorted((_weighed(run, one) for one in courses), key=lambda one: one.cost)
    weighed = tuple(zip(courses, posterior(courses), strict=True))
    return replace(run, courses=weighed, subgoals=tuple(_checked(run, weighed)))


def _aim(believer: Believer, course: Course) -> tuple[StateFact, ...]:
    """What a plan is for, if nothing says so: the facts that it brings about when all goes well."""
    planned = believer.course(course.start)
    own = {number for number, step in enumerate(believer.steps) if believer.scene.opaque(step)} | {*planned.refused}
    return (
        tuple(sorted(planned.final - planned.start)) if len(own) < len(believer.steps) and not planned.refused else ()
    )


def _weighed(run: LogRun, course: Course) -> Course:
    """A course with the cost of success, if nothing went wrong in it."""
    if course.deviations or course.refused or not run.wanted:
        return course
    if not all(run.scene.holds(course.final, condition) for condition in run.wanted):
        return course
    # What nobody has seen is no success.
    denied = run.believer.written and bool(run.unseen_in(course))
    views = [run.believer.last, *(run.believer.views if run.log.final in run.log.events else ())]
    shown = set[str]().union(*(view.names for view in views))
    unseen = [fact for fact in run.wanted if not shown & set(fact[1:2])]
    unsaid = implied(run.wanted, course.start, run.home)
    achieved = all(run.scene.holds(course.final, condition) for condition in unsaid)
    reported = all(slot.result is StepResult.SUCCEEDED for slot in run.believer.slots)
    cost = course.cost + _SUCCEEDED * (achieved and not reported) + _UNSEEN * len(unseen[:2])
    cost += _DENIED * denied
    return replace(course, cost=cost)


def _checked(run: LogRun, weighed: Sequence[tuple[Course, float]]) -> list[Checked]:
    """Every step, by its probability over all courses."""
    best, found = weighed[0][0], list[Checked]()
    for number, slot in enumerate(run.believer.slots):
        chance = sum(share for one, share in weighed if _done(run, number, one))
        event = min(slot.last if slot.result else best.when[number], max(0, len(run.log.events) - 1))
        instead = next((one.instead for one in best.deviations if one.instead and one.number == number), None)
        others = (name for name in (instead.arguments if instead else ()) if name not in slot.step.arguments)
        why = f"that fits best with what was seen, at {chance:.0%}"
        found.append(
            Checked(run.time(event), slot.step, slot.planned, chance >= 0.5, why, next(others, None), event, slot.told)
        )
    return found


def _done(run: LogRun, number: int, course: Course) -> bool:
    """Whether what a step is for holds after it in a course."""
    step, state, scene = run.believer.steps[number], course.after[number], run.scene
    if scene.opaque(step):
        return not any(one.number == number for one in course.deviations)
    if step.operator in scene.grasping:
        held = scene.held(state)
        return held is not None and same_stuff(held, step.arguments[0])
    if scene.puts(step):
        return scene.held(state) != step.arguments[0] and step.arguments[1] in scene.places(state, step.arguments[0])
    if step.operator in scene.sets:
        predicate, value = scene.sets[step.operator]
        return ((predicate, *step.arguments) in state) == value
    if not run.believer.unmet(course.before[number], step):
        expected = run.believer.after(course.before[number], step)
        return state == expected or course.before[number] != state
    return course.before[number] != state

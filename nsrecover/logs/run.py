"""A log, read: its objects, the most likely course of events, and what became of every step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains.base import State
from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.household.names import is_slice, same_stuff
from nsrecover.domains.household.scene import HouseholdScene, contents, holding, holds
from nsrecover.logs.belief import Believer
from nsrecover.logs.findings import Checked, Finding, RootCause
from nsrecover.logs.observer import trusted
from nsrecover.logs.reading.records import HouseholdLog
from nsrecover.logs.reading.things import household_of, merged, named
from nsrecover.logs.reading.timeline import Slot, slots_of
from nsrecover.logs.reading.wanted import goal_of
from nsrecover.logs.simulation import Course, posterior

_SUCCEEDED = 2.0
"""Cost of a run in which nothing went wrong: what is handed over for an explanation mostly failed."""
_UNSEEN = 1.5
"""Further cost of a condition of success about an object that the final observation does not show."""
_FOOD = {Trait.SLICEABLE, Trait.CRACKABLE, Trait.COOKS}


@dataclass(frozen=True)
class LogRun:
    """A log, read.

    Attributes:
        log: the log, with one name for each object.
        home: its objects.
        believer: simulates steps.
        courses: courses of events with their probabilities, the most likely first.
        subgoals: every step, in order, with what became of it.
        wanted: the success condition with objects for names.
        unread: what of the success condition is no condition about the objects of the log.
    """

    log: HouseholdLog
    home: HouseholdScene
    believer: Believer
    courses: tuple[tuple[Course, float], ...]
    subgoals: tuple[Checked, ...]
    wanted: tuple[StateFact, ...]
    unread: tuple[str, ...] = ()

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
        return (*self.wanted, *implied(self, self.course.start))

    def before(self, number: int) -> State:
        """The state before a step was tried."""
        return self.course.before[number]

    def after(self, number: int) -> State:
        """The state after a step was tried."""
        return self.course.after[number]

    def finding(self, cause: RootCause, number: int, *objects: str, **details: Any) -> Finding:
        """A finding about a step; times and step are its own unless `details` has others."""
        item = self.subgoals[number]
        times = tuple(dict.fromkeys(details.pop("times", (item.time,))))
        return Finding(cause, times, tuple(dict.fromkeys(filter(None, objects))), **{"step": item.step, **details})


def run_of(log: HouseholdLog) -> LogRun:
    """Read a log.

    Args:
        log: from `nsrecover.logs.reading.format`.
    """
    raw, log = log, merged(log)
    home, slots = household_of(log), slots_of(log)
    believer = Believer(log, home, slots, trusted(raw, home))
    courses = believer.courses()
    goal = goal_of(log, named(log))
    wanted = goal.bound(courses[0].final, home, believer.steps)
    run = LogRun(log, home, believer, tuple((one, 0.0) for one in courses), (), wanted, goal.unread)
    courses = sorted((_weighed(run, one) for one in courses), key=lambda one: one.cost)
    weighed = tuple(zip(courses, posterior(courses), strict=True))
    return replace(run, courses=weighed, subgoals=tuple(_checked(log, slots, weighed)))


def _weighed(run: LogRun, course: Course) -> Course:
    """A course with the cost of success, if nothing went wrong in it."""
    if course.deviations or course.refused or not run.wanted:
        return course
    goal = (*run.wanted, *implied(run, course.start))
    if not all(holds(course.final, condition, run.home) for condition in goal):
        return course
    # What nobody has seen is no success.
    unseen = [fact for fact in run.wanted if not run.believer.last.names & set(fact[1:2])]
    return replace(course, cost=course.cost + _SUCCEEDED + _UNSEEN * len(unseen[:2]))


def _checked(log: HouseholdLog, slots: Sequence[Slot], weighed: Sequence[tuple[Course, float]]) -> list[Checked]:
    """Every step, by its probability over all courses."""
    best, found = weighed[0][0], list[Checked]()
    for number, slot in enumerate(slots):
        chance = sum(share for one, share in weighed if _done(slot.step, one.after[number]) is not False)
        event = min(best.when[number], len(log.events) - 1)
        time = log.events[event].time if log.events else "00:00"
        instead = next((one.instead for one in best.deviations if one.instead and one.number == number), None)
        others = (name for name in (instead.arguments if instead else ()) if name not in slot.step.arguments)
        other = next(others, None)
        why = f"that fits best with what was seen, at {chance:.0%}"
        found.append(Checked(time, slot.step, slot.planned, chance >= 0.5, why, other, event, slot.told))
    return found


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
        case "pour", (source, _):
            return not any(fact[:2] == ("filled", source) for fact in state)
    return None


def implied(run: LogRun, start: State) -> tuple[StateFact, ...]:
    """What has to hold without being said: what food and drink is in is clean, and holds nothing else."""
    home, found = run.home, dict[StateFact, None]()
    vessels = list[str]()
    for fact in run.wanted:
        if fact[0] == "filled" and home.has(fact[1], Trait.DISH):
            vessels.append(fact[1])
        elif fact[0] == "at" and home.has(fact[2], Trait.DISH) and (is_slice(fact[1]) or home.traits(fact[1]) & _FOOD):
            vessels.append(fact[2])
    for vessel in dict.fromkeys(vessels):
        if ("dirty", vessel) in start:
            found["clean", vessel] = None
        meant = {fact[1] for fact in run.wanted if fact[0] == "at"}
        for other in contents(start, vessel):
            if home.has(other, Trait.PORTABLE) and other not in meant and not is_slice(other):
                found["away_from", other, vessel] = None
    return tuple(fact for fact in found if fact not in run.wanted)

"""A log prepared for questions: its things, the state at every moment, every subgoal with its verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nsrecover.domains.base import Fact, State
from nsrecover.domains.household.kinds import could_mean
from nsrecover.domains.household.names import same_stuff
from nsrecover.domains.household.scene import Household
from nsrecover.explanation.logs.findings import Checked
from nsrecover.explanation.logs.goal import Goal, goal_of
from nsrecover.explanation.logs.household import household_of
from nsrecover.explanation.logs.records import HouseholdLog, KeyFrame, Observation, Step
from nsrecover.explanation.logs.subgoals import verify
from nsrecover.explanation.logs.tracking import at_the_end, track

_SWITCHING = ("open_obj", "close_obj", "toggle_on", "toggle_off")


@dataclass(frozen=True)
class Run:
    """A log, read.

    Attributes:
        log: the log.
        home: its things.
        states: what was believed at every event.
        final: what is believed at the end.
        subgoals: every subgoal, checked, in order.
        goal: the success condition.
        wanted: the same with objects for names.
    """

    log: HouseholdLog
    home: Household
    states: tuple[State, ...]
    final: State
    subgoals: tuple[Checked, ...]
    goal: Goal
    wanted: tuple[Fact, ...]

    def before(self, number: int) -> State:
        """What was believed just before the last moment of a subgoal's action."""
        event = self.subgoals[number].event
        return self.states[event - 1] if event else frozenset()

    @property
    def plan(self) -> list[Step]:
        """The steps that were carried out, then those of the plan that are definite and were not."""
        done = [item.step for item in self.subgoals]
        definite = [step for step in self.log.plan if not any(map(self.home.ambiguous, step.arguments))]
        return [*done, *(step for step in definite if step not in done)]

    def after(self, number: int) -> State:
        """What was believed at the end of a subgoal."""
        return self.states[self.subgoals[number].event]


def run_of(log: HouseholdLog) -> Run:
    """Prepare a log.

    Args:
        log: from `nsrecover.explanation.logs.reading`.
    """
    home = household_of(log)
    states = tuple(track(log, home))
    ends = _ends(log)
    planned = aligned(log.plan, [frame.step for frame in ends])
    checked = []
    for frame, meant in zip(ends, planned, strict=True):
        event = _event_of(log.events, frame)
        before = states[event - 1] if event > 0 else frozenset()
        now = states[event] if states else frozenset()
        verdict = verify(frame.step, before, _look(log.events, event, frame), now, home)
        step = _definite(frame.step, before, now, home)
        checked.append(
            Checked(frame.time, step, meant or frame.step, verdict.satisfied, verdict.why, verdict.instead, event)
        )
    final = at_the_end(log, states[-1] if states else frozenset(), home)
    goal = goal_of(log.success_state, log.plan)
    wanted = goal.bound(final, home, [item.step for item in checked])
    return Run(log, home, states, final, tuple(checked), goal, wanted)


def _look(events: Sequence[KeyFrame], event: int, end: KeyFrame) -> Observation:
    """The observation that decides: where what was opened or switched is out of view, the next one that shows it."""
    if end.step.operator not in _SWITCHING:
        return end.observation
    thing = end.step.arguments[0]
    for frame in (end, *events[event + 1 :]):
        acts_on_it = frame.step.operator in _SWITCHING and frame.step.arguments[:1] == (thing,)
        if frame is not end and acts_on_it and frame.text != end.text:
            break
        if frame.observation.sees(thing):
            return frame.observation
    return end.observation


def _definite(step: Step, before: State, now: State, home: Household) -> Step:
    """The step with the objects that it changed, where its words leave open which these are."""
    new = now - before
    names = list(step.arguments)
    for position, word in enumerate(names):
        if not home.ambiguous(word):
            continue
        match step.operator:
            case "pick_up":
                reached = [fact[1] for fact in new if fact[0] == "holding"]
            case "put_in" | "put_on" if position == 1:
                reached = [fact[2] for fact in new if fact[0] in ("at", "atop")]
            case "toggle_on":
                reached = [fact[1] for fact in new if fact[0] == "running"]
            case "toggle_off":
                reached = [fact[1] for fact in before - now if fact[0] == "running"]
            case _:
                reached = []
        names[position] = next((name for name in sorted(reached) if could_mean(word, name)), word)
    return Step(step.operator, tuple(names))


def _ends(log: HouseholdLog) -> list[KeyFrame]:
    """The key frames that end a subgoal; from the events, if the log has no summary of them."""
    if log.subgoals:
        return [frame for frame in log.subgoals if frame.step.operator != "move_to"]
    events = log.events
    return [
        frame
        for number, frame in enumerate(events)
        if frame.step.operator != "move_to" and (number + 1 == len(events) or events[number + 1].text != frame.text)
    ]


def _event_of(events: Sequence[KeyFrame], end: KeyFrame) -> int:
    """The event that is the end of a subgoal: the same moment and words, or else the last one up to then."""
    exact = [number for number, frame in enumerate(events) if frame.time == end.time and frame.text == end.text]
    if exact:
        return exact[-1]
    return max((number for number, frame in enumerate(events) if frame.seconds <= end.seconds), default=0)


def aligned(plan: Sequence[Step], done: Sequence[Step]) -> list[Step | None]:
    """For every step that was done the step of the plan that it carries out, in order; None where there is none."""
    rows, columns = len(done), len(plan)
    best = [[0] * (columns + 1) for _ in range(rows + 1)]
    for row in range(rows - 1, -1, -1):
        for column in range(columns - 1, -1, -1):
            fits = carries_out(done[row], plan[column])
            best[row][column] = max(
                best[row + 1][column], best[row][column + 1], best[row + 1][column + 1] + 1 if fits else 0
            )
    found: list[Step | None] = [None] * rows
    row = column = 0
    while row < rows and column < columns:
        if carries_out(done[row], plan[column]) and best[row][column] == best[row + 1][column + 1] + 1:
            found[row] = plan[column]
            row, column = row + 1, column + 1
        elif best[row + 1][column] >= best[row][column + 1]:
            row += 1
        else:
            column += 1
    return found


def carries_out(done: Step, planned: Step) -> bool:
    """Whether a step that was done can be what the plan meant."""
    family = {"put_on": "put", "put_in": "put"}
    if family.get(done.operator, done.operator) != family.get(planned.operator, planned.operator):
        return False
    return len(done.arguments) == len(planned.arguments) and all(
        could_mean(word, name) or could_mean(name, word) or same_stuff(word, name)
        for word, name in zip(planned.arguments, done.arguments, strict=True)
    )

"""A shift: sessions carry out tasks of facts, and one person answers their questions; time is simulated."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from eval.household.fact_world import FactWorld
from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.facts import FactScene
from nsrecover.core.recovery import Recovery
from nsrecover.core.sessions.requests import Act, Ask, Decision, Done, Look, Question
from nsrecover.core.sessions.settings import SessionSettings
from nsrecover.core.traces import Trace
from nsrecover.domains.instance import Instance
from nsrecover.loading import symbolic
from nsrecover.planning.symbolic.fact_planner import FactPlanner
from nsrecover.serving.live.deciding import AGREES
from nsrecover.serving.live.order import Stake, order
from nsrecover.session import AnySession
from sim.datasets.household import HouseholdEpisode

PLANNING_S = 60.0
"""Planning time of one recovery: so long that the limit on states, which is the same everywhere, ends a search."""
Rule = Callable[[Mapping[str, Stake], float], list[str]]
"""Orders questions, which are given in the order in which they were asked, and the time of one answer."""


class RememberingPlanner(FactPlanner):
    """Finds the same recoveries, and remembers them for the other rules."""

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance)
        self._known: dict[object, Recovery[FactScene]] = {}

    def recover(self, observed: FactScene, trace: Trace[FactScene], discrepancy: Discrepancy[FactScene] | None = None,
                **limits: Any) -> Recovery[FactScene]:  # fmt: skip
        """See `FactPlanner.recover`."""
        deviating = () if discrepancy is None else discrepancy.deviating
        key = (observed.facts, trace.plan.actions, trace.goal, trace.tidy, deviating)
        if key not in self._known:
            self._known[key] = super().recover(observed, trace, discrepancy, **limits)
        return self._known[key]


class Task:
    """An episode of a dataset as a task of a robot, with the system that plans for it.

    Args:
        line: the episode as in the file of its dataset.
    """

    def __init__(self, line: str) -> None:
        self.episode = HouseholdEpisode.from_json(line)
        world = FactWorld(self.episode, 0.0, 0.0, 0)
        made = symbolic(world.home, world.goal, assumed=world.expected_start)
        self.system = replace(made, planner=RememberingPlanner(world.home))


@dataclass(frozen=True)
class Robot:
    """A robot in a shift.

    Attributes:
        tasks: which it carries out one after the other.
        begins_s: when it begins, seconds.
        limit_s: time after which it gives up the rest of a task without an answer, seconds.
        agreeing: for each of its questions in turn, whether the person wants the rest of the task.
    """

    tasks: tuple[Task, ...]
    begins_s: float
    limit_s: float
    agreeing: tuple[bool, ...]


@dataclass(frozen=True)
class Times:
    """Durations of a shift, seconds: of an action, of an answer, and of the whole shift."""

    action_s: float
    answer_s: float
    shift_s: float


@dataclass(frozen=True)
class Outcome:
    """What came of a shift.

    Attributes:
        actions: number of actions that were carried out.
        goals: number of tasks whose goal, or what was left of it, was reached.
        asked: number of questions.
        answered: number of questions that were answered in time.
        ran_out: number of questions that had a limit and were not answered within it.
        busiest: most questions that were open at the same time.
    """

    actions: int
    goals: int
    asked: int
    answered: int
    ran_out: int
    busiest: int


@dataclass(frozen=True)
class Asked:
    """A question that a robot waits with.

    Attributes:
        number: of the robot's questions, from 1.
        approve: whether it is about a recovery, which the person always wants.
        stake: expected number of actions that are done thanks to an answer.
        at_s: when it was asked.
        until_s: when the robot goes on without the rest of the task; infinite: it waits.
    """

    number: int
    approve: bool
    stake: float
    at_s: float
    until_s: float


class Worker:
    """A robot at work: sessions that carry out its tasks, and what it waits for.

    Attributes:
        wakes_s: when it goes on by itself.
        question: that it waits with; None if it does not.
        actions: number of actions that were carried out, and so on; see `Outcome`.
    """

    def __init__(self, robot: Robot, times: Times) -> None:
        self.robot, self._times, self._tasks = robot, times, iter(robot.tasks)
        self.wakes_s, self.question = robot.begins_s, cast(Asked | None, None)
        self.actions = self.goals = self.asked = self.answered = self.ran_out = 0
        self._session: AnySession | None = None
        self._world: FactWorld | None = None

    def goes_on(self, now_s: float) -> None:
        """End the action that runs, or the wait for an answer; then begin what is next."""
        session, world = self._session, self._world
        if self.question is not None:
            self.ran_out += 1
            self.answer(False, now_s)
            return
        if session is not None and world is not None and isinstance(session.request, Act):
            world.execute(session.request.action)
            self.actions += 1
            session.observed(world.observe())
        self._begin(now_s)

    def answer(self, yes: bool, now_s: float) -> None:
        """Take an answer."""
        assert self._session is not None
        self.question = None
        self._session.answered(yes)
        self._begin(now_s)

    def _begin(self, now_s: float) -> None:
        """Look as often as it is asked for, then begin an action or ask; after a task, begin the next one."""
        while True:
            session, world = self._session, self._world
            match None if session is None else session.request:
                case Look():
                    assert session is not None
                    assert world is not None
                    session.observed(world.observe())
                case Act():
                    self.wakes_s = now_s + self._times.action_s
                    return
                case Ask(decision):
                    self._ask(decision, now_s)
                    return
                case ended:
                    self.goals += isinstance(ended, Done)
                    if (task := next(self._tasks, None)) is None:
                        self._session, self.wakes_s = None, math.inf
                        return
                    self._world = FactWorld(task.episode, 0.0, 0.0, 0)
                    settings = SessionSettings(budget_s=PLANNING_S, approve=True)
                    self._session = task.system.session(task.episode.robots_plan, self._world.observe(), settings)

    def _ask(self, decision: Decision[FactScene], now_s: float) -> None:
        recovery, plan, approve = decision.recovery, decision.plan, decision.question is Question.APPROVE
        assert recovery is not None
        rest = len(recovery.actions) + len(plan) - recovery.resumes_at(len(plan))
        self.asked += 1
        self.wakes_s = math.inf if approve else now_s + self.robot.limit_s
        stake = float(recovery.actions_left(len(plan))) if approve else AGREES * rest
        self.question = Asked(self.asked, approve, stake, now_s, self.wakes_s)


@dataclass
class Person:
    """Somebody who answers the questions of some robots, one after the other.

    Attributes:
        served: the robots.
        rule: the order of the answers.
        busiest: most questions that were open when one was chosen.
        chosen: the robot whose question is answered next, and when; None while there is nothing to answer.
    """

    served: Sequence[Worker]
    rule: Rule
    busiest: int = 0
    chosen: tuple[Worker, Asked, float] | None = None

    def choose(self, now_s: float, answer_s: float) -> None:
        """Choose a question unless one is being answered; one that has run out is let go."""
        if self.chosen is not None and self.chosen[0].question is self.chosen[1]:
            return
        self.chosen = None
        asking = sorted(
            ((each, each.question) for each in self.served if each.question is not None), key=lambda each: each[1].at_s
        )
        if not asking:
            return
        self.busiest = max(self.busiest, len(asking))
        stakes = {
            str(place): Stake(each.stake, None if math.isinf(each.until_s) else each.until_s - now_s)
            for place, (_, each) in enumerate(asking)
        }
        worker, question = asking[int(self.rule(stakes, answer_s)[0])]
        self.chosen = worker, question, now_s + answer_s

    def answers(self) -> None:
        """Answer the chosen question: recoveries are accepted, the rest of a task is wanted or not."""
        assert self.chosen is not None
        worker, question, now_s = self.chosen
        agreeing = worker.robot.agreeing
        worker.answered += 1
        worker.answer(question.approve or agreeing[question.number % len(agreeing)], now_s)


def run_shift(robots: Sequence[Robot], times: Times, rule: Rule | None) -> Outcome:
    """Run a shift.

    Args:
        robots: that take part.
        times: durations.
        rule: the order in which the person answers; None: each robot has a person of its own.
    """
    workers, now_s = [Worker(robot, times) for robot in robots], 0.0
    people = [Person([each], order) for each in workers] if rule is None else [Person(workers, rule)]
    while True:
        for person in people:
            person.choose(now_s, times.answer_s)
        first = min(workers, key=lambda each: each.wakes_s)
        ready = min((each for each in people if each.chosen), key=lambda each: each.chosen[2], default=None)  # type: ignore[index]
        answer_s = math.inf if ready is None or ready.chosen is None else ready.chosen[2]
        now_s = min(first.wakes_s, answer_s)
        if now_s >= times.shift_s:
            break
        if ready is not None and answer_s < first.wakes_s:
            ready.answers()
        else:
            first.goes_on(now_s)
    totals = {name: sum(getattr(each, name) for each in workers)
              for name in ("actions", "goals", "asked", "answered", "ran_out")}  # fmt: skip
    return Outcome(**totals, busiest=max(each.busiest for each in people))


def drawn_robots(pool: Sequence[Task], count: int, tasks: int, limits_s: Sequence[float], begin_s: float,
                 agrees: float, rng: np.random.Generator) -> list[Robot]:  # fmt: skip
    """Robots with tasks of a pool.

    Args:
        pool: the tasks.
        count: number of robots.
        tasks: number of tasks of each.
        limits_s: one of these is the time after which a robot gives up the rest of a task.
        begin_s: every robot begins within this time, seconds.
        agrees: probability that the person wants the rest of a task.
        rng: decides.
    """
    return [
        Robot(
            tuple(pool[int(place)] for place in rng.integers(len(pool), size=tasks)),
            float(rng.uniform(0.0, begin_s)),
            float(rng.choice(np.array(limits_s))),
            tuple(bool(each) for each in rng.random(64) < agrees),
        )
        for _ in range(count)
    ]

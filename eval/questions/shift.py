"""A shift: real agents carry out tasks of facts, and one person answers the questions at their desks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from eval.household.fact_world import FactWorld
from eval.questions.simulated_time import SimulatedTime
from nsrecover.agent import RecoveryAgent
from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.episode import EpisodeStatus
from nsrecover.core.facts import FactScene
from nsrecover.core.recovery import Recovery
from nsrecover.core.traces import Trace
from nsrecover.domains.instance import Instance
from nsrecover.loading import symbolic
from nsrecover.planning.symbolic.fact_planner import FactPlanner
from nsrecover.serving.live.deciding import DO, Deciding
from nsrecover.serving.live.desk import Decision, Desk
from nsrecover.serving.live.order import Stake, order
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


class _Worker:
    """A robot at work.

    Attributes:
        asked: number of each question -> when it was asked, seconds.
        answered: numbers of the questions that were answered in time.
        ran_out: number of questions that had a limit, which passed.
    """

    def __init__(self, robot: Robot, clock: SimulatedTime, times: Times) -> None:
        self.robot, self._clock, self._times = robot, clock, times
        self.desk = Desk(False, True, self._note, clock)
        self._supervisor = Deciding(self.desk, robot.limit_s)
        self._agent: RecoveryAgent[FactScene] | None = None
        self._inside: Any = None
        self._open: Decision | None = None
        self.asked, self.answered = dict[int, float](), set[int]()
        self.actions = self.goals = self.ran_out = 0

    @property
    def over(self) -> bool:
        """Whether the shift is over."""
        return self._clock.time_s >= self._times.shift_s

    def work(self) -> None:
        """Carry out the tasks until the shift is over."""
        self._clock.sleep(self.robot.begins_s)
        for task in self.robot.tasks:
            if self.over:
                return
            self._inside = FactWorld(task.episode, 0.0, 0.0, 0)
            agent = self._agent = RecoveryAgent[FactScene](task.system, self, PLANNING_S, supervisor=self._supervisor)
            episode = agent.run(task.episode.robots_plan)
            self.goals += episode.status is EpisodeStatus.COMPLETED and not self.over

    def stop(self) -> None:
        """The shift is over."""
        if self._agent is not None:
            self._agent.stop()

    def observe(self) -> FactScene:
        """Observe the facts."""
        scene: FactScene = self._inside.observe()
        return scene

    def execute(self, action: Action) -> None:
        """Carry out an action, which takes its time."""
        self._clock.sleep(self._times.action_s)
        self.actions += not self.over
        self._inside.execute(action)

    def asks_still(self, decision: Decision) -> bool:
        """Whether a question is open."""
        return self.desk.decision is decision

    def answer(self, decision: Decision) -> None:
        """Think for the time of one answer, or until the robot goes on without it; then answer as the person does.

        Recoveries are accepted, and the rest of a task is wanted or not.
        """
        self._clock.wait_for(lambda: self.over or not self.asks_still(decision), self._times.answer_s)
        if self.over or not self.asks_still(decision):
            return
        agreeing = "yes" if self.robot.agreeing[decision.number % len(self.robot.agreeing)] else "no"
        self.desk.answer(decision.number, DO if DO in dict(decision.options) else agreeing)
        self.answered.add(decision.number)
        self._clock.wait_for(lambda: not self.asks_still(decision), None)

    def _note(self) -> None:
        """Note when questions are asked, and when they run out."""
        before, self._open = self._open, self.desk.decision
        if self._open is not None:
            self.asked.setdefault(self._open.number, self._clock.time_s)
        elif before is not None and before.until is not None and before.number not in self.answered:
            self.ran_out += not self.over


def run_shift(robots: Sequence[Robot], times: Times, rule: Rule | None) -> Outcome:
    """Run a shift.

    Args:
        robots: that take part.
        times: durations.
        rule: the order in which the person answers; None: each robot has a person of its own.
    """
    clock, busiest = SimulatedTime(), 0
    workers = [_Worker(robot, clock, times) for robot in robots]

    def person(served: Sequence[_Worker], ordered: Rule) -> None:
        nonlocal busiest
        while clock.time_s < times.shift_s:
            asking = [(each, each.desk.decision) for each in served if each.desk.decision is not None]
            asking.sort(key=lambda each: each[0].asked[each[1].number])
            if not asking:
                left_s = times.shift_s - clock.time_s
                clock.wait_for(lambda: any(each.desk.decision is not None for each in served), left_s)
                continue
            busiest = max(busiest, len(asking))
            stakes = {
                str(place): Stake(each.stake, None if each.until is None else each.until - clock.time_s)
                for place, (_, each) in enumerate(asking)
            }
            worker, decision = asking[int(ordered(stakes, times.answer_s)[0])]
            worker.answer(decision)

    def end_of_shift() -> None:
        clock.sleep(times.shift_s)
        for worker in workers:
            worker.stop()

    clock.start(end_of_shift)
    for worker in workers:
        clock.start(worker.work)
    for served in [[worker] for worker in workers] if rule is None else [workers]:
        clock.start(partial(person, served, rule or order))
    clock.run()
    return Outcome(
        actions=sum(worker.actions for worker in workers),
        goals=sum(worker.goals for worker in workers),
        asked=sum(len(worker.asked) for worker in workers),
        answered=sum(len(worker.answered) for worker in workers),
        ran_out=sum(worker.ran_out for worker in workers),
        busiest=busiest,
    )


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

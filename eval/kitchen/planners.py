"""What carries out a plan in the kitchen: the agent on images and sound, its ablations, and reactive baselines."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as replaced
from functools import lru_cache
from typing import Any

from eval.household.controllers import ATTEMPTS, ENDS_SUBGOAL
from eval.kitchen.read_back import judged
from eval.kitchen.robot import KitchenRobot
from nsrecover.agent import RecoveryAgent
from nsrecover.core.actions import Action, Plan
from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.episode import EpisodeStatus, StepRecord
from nsrecover.core.facts import FactScene
from nsrecover.core.recovery import Recovery, RecoveryStatus
from nsrecover.domains.domain import Domain
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.domains.properties import by_property, changed
from nsrecover.loading import HouseholdSystem, symbolic, with_facts
from nsrecover.models.household import SHIPPED, HouseholdModels
from nsrecover.monitoring.beliefs import DECAY
from nsrecover.monitoring.fact_monitor import FactMonitor, imagined_trace
from nsrecover.monitoring.monitor import Monitor
from nsrecover.monitoring.outlook import unmet_goal
from nsrecover.monitoring.watching import FactWatching
from nsrecover.planning.symbolic.fact_planner import FactPlanner
from nsrecover.system import System


@dataclass(frozen=True)
class Planner:
    """A way to carry out plans.

    Attributes:
        meaning: in a sentence.
        microphone: whether the robot hears.
        reads: whether states are read from images.
        checks: whether anything is checked before actions.
        ahead: whether plans are checked ahead before actions.
        memory: whether what is not seen is remembered.
        visits: whether the robot looks at a place before it acts there, and at those of the goal in the end.
        looks: whether the robot drives to where it sees better.
        facts: whether it is given the true facts instead of images.
        subgoals: operators after which the plan is verified, instead of before and after every action; empty: only at
            its end; None: the agent.
        corrects: whether plans are corrected at all.
    """

    meaning: str
    microphone: bool = True
    reads: bool = True
    checks: bool = True
    ahead: bool = True
    memory: bool = True
    visits: bool = True
    looks: bool = True
    facts: bool = False
    subgoals: tuple[str, ...] | None = None
    corrects: bool = True


PLANNERS: Mapping[str, Planner] = {
    "ours": Planner("the agent, on images and sound"),
    "oracle": Planner("the agent, given the true facts", facts=True),
    "no_sound": Planner("the agent without a microphone", microphone=False),
    "no_states": Planner("the agent without states from images", reads=False),
    "no_lookahead": Planner("the agent, which checks only the conditions of the next action", ahead=False),
    "no_checks": Planner("the agent without checks before actions", ahead=False, checks=False),
    "no_memory": Planner("the agent, for which what is not seen is unknown", memory=False),
    "no_visits": Planner("the agent, which does not look at a place before it acts there", visits=False),
    "no_looking": Planner("the agent, which looks again from where it stands", looks=False),
    "after_subgoal": Planner("REFLECT online: verify and correct after each subgoal", subgoals=ENDS_SUBGOAL),
    "after_task": Planner("REFLECT: verify and correct after the task", subgoals=()),
    "none": Planner("carry out the plan and never look", corrects=False),
}
"""Every planner by its name."""


@dataclass
class Course:
    """What happened when a plan was carried out.

    Attributes:
        decisions: of each comparison, whether something was truly wrong, and whether an alarm was raised.
        alarms: number of actions done by each alarm, and whether it was justified.
        culprits: of each justified alarm, the objects that truly deviate and those that were blamed.
        recovery_actions: actions of all recoveries.
        impossible: whether it was found that the goal is lost.
        asked: whether it asked for help.
        reason: why.
        texts_right: of each explained alarm about a true deviation, whether its text has right objects, time and kinds.
        texts: of the explanations of alarms.
        step_s: wall time of each perception and comparison after an action.
        planning_s: wall time of each search that led to actions.
    """

    decisions: list[tuple[bool, bool]] = field(default_factory=list)
    alarms: list[tuple[int, bool]] = field(default_factory=list)
    culprits: list[tuple[tuple[str, ...], tuple[str, ...]]] = field(default_factory=list)
    recovery_actions: int = 0
    impossible: bool = False
    asked: bool = False
    reason: str = ""
    texts_right: list[tuple[bool, bool, bool]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    step_s: list[float] = field(default_factory=list)
    planning_s: list[float] = field(default_factory=list)

    def judged(
        self,
        robot: KitchenRobot,
        found: Discrepancy[FactScene] | None,
        rest: Sequence[Action],
        before: bool,
        text: str = "",
    ) -> None:
        """Note a comparison; None as its result is no alarm.

        Args:
            robot: knows the truth.
            found: the discrepancy; None if none is reported.
            rest: of the plan.
            before: whether it was made before an action; without an alarm that is no decision of its own.
            text: of its explanation; empty without one.
        """
        wrong = bool(robot.pending)
        if found is None:
            if not before:
                self.decisions.append((wrong, False))
            return
        wrong = wrong or (before and not robot.works(rest))
        self.decisions.append((wrong, True))
        self.alarms.append((robot.executed, wrong))
        true = robot.noticed()
        if true:
            self.culprits.append((tuple(sorted(true)), tuple(sorted(found.deviating))))
            if text and found.deviations:
                self.texts_right.append(judged(text, true, robot.last))
        if text:
            self.texts.append(text)

    def recovered(self, recovery: Recovery[FactScene] | None) -> None:
        """Note a recovery."""
        if recovery is not None:
            self.impossible |= recovery.status is RecoveryStatus.IMPOSSIBLE
            self.recovery_actions += len(recovery.actions)
            if recovery.actions:
                self.planning_s.append(recovery.seconds)


def carry_out(planner: Planner, robot: KitchenRobot, plan: Plan, checkpoint: str | None) -> Course:
    """Carry out a plan with a planner."""
    course = Course()
    if not planner.corrects:
        for action in plan:
            robot.execute(action)
            course.judged(robot, None, (), False)
        return course
    system = system_for(planner, robot, checkpoint)
    system = replaced(system, watching=_Timed(system.facts, course.step_s))
    if planner.subgoals is not None:
        _reactive(system, robot, plan, planner.subgoals, course)
        return course

    def note(record: StepRecord[FactScene]) -> None:
        found: Any = record.discrepancy
        done = found.step + (found.phase == "after")
        text = record.explanation.text if found.deviates and record.explanation is not None else ""
        course.judged(robot, found if found.deviates else None, record.plan.actions[done:], record.action is None, text)
        course.recovered(record.recovery)

    episode = RecoveryAgent(system, robot).run(plan, note)
    course.asked, course.reason = episode.status is EpisodeStatus.ASKED_FOR_HELP, episode.reason
    return course


def system_for(planner: Planner, robot: KitchenRobot, checkpoint: str | None) -> System[FactScene]:
    """The system with which a planner carries out the robot's task."""
    learned = models(checkpoint)
    if planner.facts:
        known = learned.config.durations
        system = symbolic(robot.home, robot.goal, known or None, assumed=robot.assumed)
    else:
        made = HouseholdSystem(learned)
        system = made.system(
            robot.home, robot.goal, assumed=robot.assumed, reads=planner.reads, hears=planner.microphone
        )
    rules = system.facts.rules
    rules = replaced(
        rules,
        lookahead=rules.lookahead if planner.ahead else None,
        check=planner.checks,
        decay=DECAY if planner.memory else 0.0,
        visits=rules.visits and planner.visits and planner.looks,
    )
    return with_facts(system, rules=rules)


@lru_cache(maxsize=2)
def models(checkpoint: str | None) -> HouseholdModels:
    """The learned parts, once for each process."""
    return HouseholdModels.load(checkpoint or SHIPPED, HOUSEHOLD)


def _reactive(
    system: System[FactScene], robot: KitchenRobot, plan: Plan, ends_subgoal: Sequence[str], course: Course
) -> None:
    """Verify subgoals after they were carried out, and correct the plan then (Liu et al. 2023; online: Yu et al.).

    A subgoal is verified by what its actions were to change; after the last action, the goal is.
    """
    domain = robot.home.domain
    monitor = system.monitor(plan, robot.observe())
    attempts, group = 0, 0
    trace = imagined_trace(robot.home, monitor.graph, plan, robot.goal)
    while True:
        while (action := monitor.next_action) is not None:
            robot.execute(action)
            found = monitor.step(action, robot.observe())
            if action.operator in ends_subgoal or monitor.next_action is None:
                break
            course.judged(robot, None, (), False)
        step, at_end = monitor.num_executed, monitor.next_action is None
        if not len(plan):
            return
        before, after = trace.graphs[group].facts, trace.graphs[step].facts
        expected, now = by_property(after, domain), by_property(monitor.graph.facts, domain)
        unchanged = [
            p for p in changed(before, after, domain) if monitor.graph.knows(p) and expected.get(p) != now.get(p)
        ]
        failed = bool(unchanged) and bool(ends_subgoal)
        if not failed and not (at_end and unmet_goal(robot.home, monitor.graph.facts, robot.goal)):
            course.judged(robot, None, (), False)
            if at_end:
                return
            group = step
            continue
        course.judged(robot, found, monitor.plan.actions[step:], False)
        recovery = FactPlanner(system.facts.instance).recover(FactScene(monitor.graph.facts), monitor.trace)
        course.recovered(recovery)
        attempts += 1
        if not recovery.found or attempts > ATTEMPTS:
            course.asked, course.reason = True, "the goal is lost" if not recovery.found else "too many corrections"
            return
        plan, group = monitor.rejoin(recovery), 0
        trace = imagined_trace(robot.home, monitor.graph, plan, robot.goal)
        if not len(plan):
            return


@dataclass(frozen=True)
class _Timed:
    """Makes monitors that note how long their steps take."""

    inner: FactWatching
    spent: list[float]

    @property
    def domain(self) -> Domain:
        return self.inner.domain

    def check_plan(self, plan: Plan) -> None:
        self.inner.check_plan(plan)

    def monitor(self, plan: Plan, observation: Any, perceiver: Any, check_sensors: bool) -> Monitor[FactScene]:
        perceiver = perceiver or self.inner.perceiver(self.inner.instance)
        return _TimedMonitor(self.spent, self.inner.instance, perceiver, plan, observation, self.inner.rules)


class _TimedMonitor(FactMonitor[Any]):
    def __init__(self, spent: list[float], *parts: Any) -> None:
        super().__init__(*parts)
        self._spent = spent

    def step(self, action: Action, observation: Any) -> Discrepancy[FactScene]:
        began = time.perf_counter()
        found = super().step(action, observation)
        self._spent.append(time.perf_counter() - began)
        return found

"""What carries out a plan in a world of facts: the agent, its ablations, and reactive baselines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from eval.household.fact_world import FactWorld
from nsrecover.agent import RecoveryAgent
from nsrecover.core.actions import Action, Plan
from nsrecover.core.episode import EpisodeStatus, StepRecord
from nsrecover.core.facts import FactScene
from nsrecover.core.recovery import RecoveryStatus
from nsrecover.domains.properties import by_property, changed
from nsrecover.loading import symbolic
from nsrecover.monitoring.fact_monitor import imagined_trace
from nsrecover.monitoring.outlook import unmet_goal
from nsrecover.planning.symbolic.fact_planner import FactPlanner

ATTEMPTS = 3
"""Corrections of a reactive baseline at most."""

ENDS_SUBGOAL = ("put_in", "put_on", "close_obj", "toggle_on", "toggle_off", "pour", "slice_obj", "crack_obj")
"""Operators that end a subgoal: taking and opening something only prepares the next step."""


@dataclass
class Course:
    """What happened when a plan was carried out.

    Attributes:
        alarms: number of actions that were done by each alarm, whether it was false, and whether it led to actions.
        turns: number of comparisons.
        impossible: whether it was found that the goal is lost.
        asked: whether it asked for help.
        seconds: of each search for a way back that led to actions.
    """

    alarms: list[tuple[int, bool, bool]] = field(default_factory=list)
    turns: int = 0
    impossible: bool = False
    asked: bool = False
    seconds: list[float] = field(default_factory=list)


Controller = Callable[[FactWorld, Plan], Course]


def agent(world: FactWorld, plan: Plan, ahead: bool = True, check: bool = True) -> Course:
    """The recovery agent on a system of facts.

    Args:
        world: the world.
        plan: the plan that the robot is given.
        ahead: whether plans are checked ahead before every action.
        check: whether anything is checked before actions.
    """
    course, events = Course(), [0]
    system = symbolic(world.home, world.goal, assumed=world.expected_start, ahead=ahead, check=check)

    def note(record: StepRecord[FactScene]) -> None:
        course.turns += 1
        found, new = record.discrepancy, world.events - events[0]
        events[0] = world.events
        if found.deviates:
            done = found.step + (found.phase == "after")
            justified = bool(new) or not world.works(record.plan.actions[done:])
            acts = record.recovery is not None and bool(record.recovery.actions)
            course.alarms.append((world.executed, not justified, acts))
        if record.recovery is not None:
            course.impossible |= record.recovery.status is RecoveryStatus.IMPOSSIBLE
            if record.recovery.actions:
                course.seconds.append(record.recovery.seconds)

    episode = RecoveryAgent(system, world).run(plan, note)
    course.asked = episode.status is EpisodeStatus.ASKED_FOR_HELP
    return course


def reactive(world: FactWorld, plan: Plan, ends_subgoal: Sequence[str]) -> Course:
    """Verify subgoals after they were carried out, and correct the plan then (Liu et al. 2023, online as in Yu et al.).

    A subgoal is verified by what its actions were to change; after the last action, the goal is.

    Args:
        world: the world.
        plan: the plan that the robot is given.
        ends_subgoal: operators that end a subgoal; none: the whole task is one.
    """
    course, system = Course(), symbolic(world.home, world.goal)
    domain, actions, step, group = world.home.domain, list(plan), 0, 0
    start = FactScene(world.expected_start)
    while True:
        trace = imagined_trace(world.home, start, Plan(tuple(actions)), world.goal)
        while step < len(actions):
            world.execute(actions[step])
            step += 1
            if actions[step - 1].operator in ends_subgoal:
                break
        course.turns += 1
        seen = world.observe()
        before, after = trace.graphs[group].facts, trace.graphs[step].facts
        expected, now = by_property(after, domain), by_property(seen.facts, domain)
        unchanged = [p for p in changed(before, after, domain) if seen.knows(p) and expected.get(p) != now.get(p)]
        failed = bool(unchanged) and bool(ends_subgoal)
        at_end = step == len(actions)
        if not failed and not (at_end and unmet_goal(world.home, seen.facts, world.goal)):
            if at_end:
                return course
            group = step
            continue
        recovery = FactPlanner(system.facts.instance).recover(seen, trace)
        course.alarms.append((world.executed, not world.events and world.works(actions[step:]), bool(recovery.actions)))
        course.impossible |= recovery.status is RecoveryStatus.IMPOSSIBLE
        if recovery.actions:
            course.seconds.append(recovery.seconds)
        if not recovery.found or len(course.alarms) > ATTEMPTS:
            course.asked = True
            return course
        rest: tuple[Action, ...] = tuple(actions[recovery.subgoal :])
        actions, step, group, start = [*recovery.actions, *rest], 0, 0, seen


def open_loop(world: FactWorld, plan: Plan) -> Course:
    """Carry out the plan and never look."""
    for action in plan:
        world.execute(action)
    return Course()


CONTROLLERS: dict[str, Controller] = {
    "ours": agent,
    "without look-ahead": lambda world, plan: agent(world, plan, ahead=False),
    "without checks before actions": lambda world, plan: agent(world, plan, ahead=False, check=False),
    "after each subgoal": lambda world, plan: reactive(world, plan, ENDS_SUBGOAL),
    "after the task": lambda world, plan: reactive(world, plan, ()),
    "no replanning": open_loop,
}
"""Name of a row -> what carries out the plan."""

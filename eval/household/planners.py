"""Ways to carry out plans of a household: the agent, its ablations, and reactive baselines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nsrecover.agent import RecoveryAgent
from nsrecover.core.actions import Action, Plan
from nsrecover.core.discrepancy import Phase
from nsrecover.core.episode import Fate, StepRecord, StopCode
from nsrecover.core.explanation import Fact
from nsrecover.core.facts import FactScene
from nsrecover.core.protocols import World
from nsrecover.core.recovery import RecoveryStatus
from nsrecover.core.sessions.supervision import Supervisor
from nsrecover.core.traces import Trace
from nsrecover.domains.domain import Domain
from nsrecover.domains.properties import by_property, changed
from nsrecover.errors import NsrecoverError
from nsrecover.system import System

CORRECTIONS = 3
"""Corrections of a reactive baseline at most."""

ENDS_SUBGOAL = ("put_in", "put_on", "close_obj", "toggle_on", "toggle_off", "pour", "slice_obj", "crack_obj")
"""Operators that end a subgoal: taking and opening something only prepares the next step."""


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

    def of(self, system: System[FactScene]) -> System[FactScene]:
        """The system as this planner uses it."""
        visits = system.model.visits and self.visits and self.looks
        model = replace(system.model, check=self.checks, memory=self.memory, visits=visits)
        return replace(system, model=model, lookahead=system.lookahead if self.ahead else None)

    def carry_out(self, system: System[FactScene], world: World[Any], plan: Plan, course: Course) -> None:
        """Carry out a plan.

        Args:
            system: that `of` returned.
            world: the world.
            plan: the plan that the robot is given.
            course: is told what happens.
        """
        if not self.corrects:
            for action in plan:
                world.execute(action)
                course.unwatched()
            return
        try:
            system.check_plan(plan)
        except NsrecoverError as problem:
            course.refused(str(problem))
            return
        if self.subgoals is None:
            episode = RecoveryAgent(system, world, supervisor=course).run(plan)
            course.asked, course.reason, course.why = episode.why is not None, episode.reason, episode.why
        else:
            _reactive(system, world, plan, self.subgoals, course)


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


class Course(Supervisor):
    """What happens when a plan is carried out; subclasses note more.

    Attributes:
        impossible: whether it was found that the goal is lost.
        asked: whether it asked for help.
        reason: why.
        why: code of why it asked for help; None if it did not.
        planning_s: wall time of each search that led to actions.
    """

    def __init__(self) -> None:
        self.impossible, self.asked, self.reason = False, False, ""
        self.why: StopCode | None = None
        self.planning_s: list[float] = []

    def refused(self, problem: str) -> None:
        """The plan cannot be meant, and nothing was done."""
        self.asked, self.reason = True, problem

    def unwatched(self) -> None:
        """An action was carried out, and its result is not judged."""

    def recorded(self, record: StepRecord[FactScene]) -> None:
        """A comparison was made, and a correction, if there is one, was planned."""
        if record.recovery is not None:
            self.impossible |= record.recovery.status is RecoveryStatus.IMPOSSIBLE
            if record.recovery.actions:
                self.planning_s.append(record.recovery.seconds)


def rest_of(record: StepRecord[FactScene]) -> tuple[Action, ...]:
    """The actions of the plan that were not done when a comparison was made."""
    found = record.discrepancy
    return record.plan.actions[found.step + (found.phase is Phase.AFTER) :]


def _reactive(
    system: System[FactScene], world: World[Any], plan: Plan, ends_subgoal: Sequence[str], course: Course
) -> None:
    """Verify subgoals after they were carried out, and correct the plan then (Liu et al. 2023; online: Yu et al.).

    A subgoal is verified by what its actions should have changed; after the last action, the goal is.
    """
    monitor = system.monitor(plan, world.observe())
    trace, begun, recovering, corrections = monitor.trace, 0, 0, 0
    while (action := monitor.next_action) is not None:
        world.execute(action)
        seen = world.observe()
        course.observes(seen)
        found = monitor.step(action, seen)
        course.compares(found)
        done, at_end = monitor.num_executed, monitor.next_action is None
        if action.operator not in ends_subgoal and not at_end:
            course.unwatched()
            continue
        unmet = _unchanged(system.domain, trace, begun, done, monitor.graph) if ends_subgoal else ()
        unmet += monitor.missed if at_end else ()
        judged = replace(found, deviations=found.deviations if unmet else (), unmet=unmet)
        recovery = None
        if judged.deviates:
            recovery = system.planner.recover(FactScene(monitor.graph.facts), monitor.trace, judged)
        follows = recovery is not None and recovery.found and corrections < CORRECTIONS
        fate = Fate.ACCEPTED if follows else Fate.PROPOSED
        course.recorded(
            StepRecord(action, done <= recovering, monitor.graph, judged, monitor.plan, recovery, fate=fate)
        )
        begun = done
        if recovery is not None:
            corrections += 1
            if not follows:
                course.asked = True
                course.reason = "too many corrections" if recovery.found else "the goal is lost"
                course.why = StopCode.TOO_MANY if recovery.found else StopCode.NO_WAY_BACK
                return
            monitor.rejoin(recovery)
            trace, begun, recovering = monitor.trace, 0, len(recovery.actions)


def _unchanged(domain: Domain, trace: Trace[FactScene], begun: int, done: int, scene: FactScene) -> tuple[Fact, ...]:
    """What some actions should have changed, and what is known to be otherwise."""
    before, after = trace.graphs[begun].facts, trace.graphs[done].facts
    expected, now = by_property(after, domain), by_property(scene.facts, domain)
    return tuple(
        Fact(name, (thing,))
        for name, thing in changed(before, after, domain)
        if scene.knows((name, thing)) and expected.get((name, thing)) != now.get((name, thing))
    )

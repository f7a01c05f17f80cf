"""The world as a planner sees it, with somebody in the wings who knows the truth and keeps the books."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from eval.common.optimum import Puzzle, fewest, puzzle_between
from eval.common.results import Course
from eval.sweep.ideal import IdealHand
from eval.sweep.records import ActionRecord, Best, RecoveryRecord
from eval.sweep.strikes import Strikes
from nsrecover.core.actions import Action, Plan
from nsrecover.core.discrepancy import Phase
from nsrecover.core.episode import EpisodeStatus
from nsrecover.core.observation import Observation
from nsrecover.core.recovery import Recovery
from sim.datasets.spec import ErrorEpisode
from sim.tabletop.kinematic import REACH_M
from sim.tabletop.truth import TOLERANCE_M, Truth, deviations
from sim.tabletop.world import TabletopWorld


@dataclass(frozen=True, eq=False)
class Turn:
    """What a planner says after an action, or in place of one.

    Attributes:
        plan: what it is carrying out; its recovery first, if it is recovering.
        step: number of the action in that plan, from 0.
        ran: whether the action was carried out; if not, the planner says something is wrong before it.
        looked: whether it looked at the scene at all.
        culprits: objects that it says are wrong -> what happened to them.
        violated: preconditions of the action that it says do not hold.
        recovery: what it means to do about it; `subgoal` counts steps of `plan`.
        cpu_s: processor time that planning took.
    """

    plan: Plan
    step: int
    ran: bool = True
    looked: bool = True
    culprits: Mapping[str, str] = field(default_factory=dict)
    violated: tuple[str, ...] = ()
    recovery: Recovery | None = None
    cpu_s: float = 0.0

    @property
    def noticed(self) -> bool:
        """Whether it says that something is wrong."""
        return bool(self.culprits or self.violated)


@dataclass(frozen=True)
class Ending:
    """How an episode ended, as the planner says.

    Attributes:
        status: completed, or help is needed.
        reason: why it stopped, in words.
    """

    status: EpisodeStatus
    reason: str = ""


class Controller(Protocol):
    """A planner with everything that it takes to carry out a plan; one `run` is one episode.

    It acts through `Stage.execute` and sees through `Stage.observe`, and tells the stage about every turn it takes
    (`Stage.turned`), which is how its detections, recoveries and their cost are counted. What the stage knows of the
    truth (`now`, `wrong`, `true_course`, ...) is for planners only that say openly that they use it.
    """

    @property
    def name(self) -> str:
        """What tables call it."""
        ...

    def prepare(self) -> None:
        """Load what it needs, before any episode begins; what is missing raises an error of the library."""
        ...

    def run(self, stage: Stage) -> Ending:
        """Carry out `stage.plan`."""
        ...


class Stage:
    """A simulated world in which a plan is carried out; implements `nsrecover.core.protocols.World`.

    Args:
        world: the simulator, with the faults of the episode.
        episode: what is to be done.
        hand: of the same scene.
        strikes: what goes wrong besides, while the planner recovers.
    """

    def __init__(self, world: TabletopWorld, episode: ErrorEpisode, hand: IdealHand, strikes: Strikes) -> None:
        self._world, self._hand, self._strikes = world, hand, strikes
        self.episode = episode
        self.plan = episode.plan
        self.now = world.truth()
        """Where everything really is. Privileged."""
        self.course: tuple[Truth, ...] = (self.now, *hand.after(self.now, self.plan.actions))
        """(T + 1) where everything would be along the plan if nothing went wrong. Privileged."""
        self.actions: list[ActionRecord] = []
        self.recoveries: list[RecoveryRecord] = []
        self.unnoticed: dict[str, str] = {}
        self.wrong: Mapping[str, str] = {}
        """What the last action left elsewhere than an unerring hand would have. Privileged."""
        self._should = self.now
        self._present = Course(self.plan)
        self._states: dict[int, Truth] = {0: self.now}
        self._passed: dict[int, Truth] = {0: self.now}
        self._executed: Action | None = None
        self._since: list[Action] = []
        """What was carried out since the state 0 of the present plan."""
        self._errors, self._faults = 0, list[str]()

    # -- for planners

    def observe(self) -> Observation:
        """What the robot's cameras see."""
        return self._world.observe()

    def execute(self, action: Action) -> None:
        """Carry out an action; things may go wrong."""
        self._should = self.ahead(self.now, [action])
        self._world.log.clear()
        self._strikes.execute(self._world, action, self._should)
        self.now = self._world.truth()
        self.wrong = deviations(self.now, self._should)
        self._executed = action
        self._since.append(action)

    def turned(self, turn: Turn) -> None:
        """Take a planner's turn down. To be called once after every action, and when it stops before one."""
        done = turn.step + 1 if turn.ran else turn.step
        if turn.ran:
            self._take_down(turn)
        if turn.recovery is not None:
            self.recoveries.append(self._judged(turn, done))
            self._errors, self._faults = 0, []
            self.unnoticed = {}
            self._should = self.now
            if turn.recovery.found:
                self._present.advance(turn)
                self._states = {0: self.now}
                self._since = []
            return
        if turn.ran and not turn.noticed:
            self.unnoticed |= self.wrong
        self._states[done] = self.now
        passed = self._present.steps_done(done)
        if passed is not None:
            self._passed[passed] = self.now

    # -- privileged

    def true_course(
        self, plan: Plan, done: int, should: Truth | None = None
    ) -> tuple[dict[int, Truth], tuple[Truth, ...]]:
        """Where everything really should be: along the present plan, and along the original one.

        What has been passed is as it was then; what is to come is what an unerring hand would make of the scene as it
        should be now. States of the original plan that were jumped over are those of the undisturbed course.

        Args:
            plan: what is being carried out.
            done: how many of its actions are done.
            should: the scene as it should be now; as an unerring hand would have left it at the last action if None.

        Returns:
            Number of actions done -> state, of the present plan; (T + 1) states of the original plan.
        """
        should = self._should if should is None else should
        ahead = self._hand.after(should, plan.actions[done:])
        states = self._states | {done: should} | {done + 1 + k: truth for k, truth in enumerate(ahead)}
        original = dict(enumerate(self.course)) | self._passed
        for number, truth in states.items():
            passed = self._present.steps_done(number)
            if passed is not None:
                original[passed] = truth
        return states, tuple(original[t] for t in range(len(self.plan) + 1))

    def ahead(self, truth: Truth, actions: Sequence[Action]) -> Truth:
        """Where an unerring hand leads from a true state."""
        return [truth, *self._hand.after(truth, actions)][-1]

    def lost(self, course: tuple[Truth, ...]) -> dict[str, str]:
        """Objects that are gone or out of the arm's reach, and not where the rest of the course can do with them."""
        found = {}
        for i, name in enumerate(self.now.names):
            if not self.now.present[i]:
                found[name] = "gone"
            elif name in self.out_of_reach() and all(name in deviations(self.now, state) for state in course):
                found[name] = "out of reach"
        return found

    def out_of_reach(self) -> tuple[str, ...]:
        """Objects on the table that the arm cannot take."""
        near, far = REACH_M
        distances = {name: math.hypot(*self.now.position(name)[:2]) for name in self.now.names}
        return tuple(
            name
            for name, present in zip(self.now.names, self.now.present, strict=True)
            if present and not near <= distances[name] <= far
        )

    def puzzle(self, course: tuple[Truth, ...], tolerance_m: float = TOLERANCE_M) -> Puzzle | None:
        """The way back as a puzzle, in which less than a tolerance is in place; None if something is gone."""
        return puzzle_between(self.now, course, self.episode.scene, self.out_of_reach(), tolerance_m)

    def original(self, step: int) -> int | None:
        """How many steps of the original plan are done after so many of the present one; None within a recovery."""
        return self._present.steps_done(step)

    # -- inside

    def _take_down(self, turn: Turn) -> None:
        faults = tuple(fault.kind for fault in self._world.struck)
        if self.wrong:
            self._errors += max(len(faults), 1)
            self._faults += faults
        number = self._present.original_step(turn.step)
        self.actions.append(
            ActionRecord(
                action=str(self._executed),
                step=None if number is None else number - 1,
                faults=faults,
                wrong=dict(self.wrong),
                looked=turn.looked,
                noticed=turn.noticed,
                culprits=dict(turn.culprits),
                notes=tuple(self._world.log),
            )
        )

    def _judged(self, turn: Turn, done: int) -> RecoveryRecord:
        recovery = turn.recovery
        assert recovery is not None
        wrong = self.unnoticed | (self.wrong if turn.ran else {})
        states, course = self.true_course(turn.plan, done)
        accepted = [states]
        if self.unnoticed or not wrong:
            # what went wrong before the last action, or little by little, shows against a course without any of it
            should = self.ahead(self._states[0], self._since)
            late = deviations(self.now, should)
            if late:
                wrong |= late
                self._errors = max(self._errors, 1)
                states, course = self.true_course(turn.plan, done, should)
                accepted.append(states)
        lost = self.lost(course)
        to, subgoal = None, None
        right, astray = None, dict[str, str]()
        if recovery.found:
            to = len(turn.plan) if recovery.subgoal is None else recovery.subgoal
            subgoal = self.original(to)
            end = self.ahead(self.now, recovery.actions)
            off = [deviations(end, states[to]) for states in accepted]
            astray = {name: why for name, why in off[-1].items() if all(name in others for others in off)}
            right = not astray
        number = self._present.original_step(turn.step)
        return RecoveryRecord(
            after=len(self.actions),
            step=None if number is None else number - 1,
            phase=(Phase.AFTER if turn.ran else Phase.BEFORE).value,
            errors=self._errors,
            faults=tuple(self._faults),
            wrong=wrong,
            culprits=dict(turn.culprits),
            violated=turn.violated,
            lost=lost,
            status=recovery.status.value,
            actions=tuple(str(action) for action in recovery.actions),
            subgoal=subgoal,
            cost=None if to is None else float(len(recovery.actions) + len(turn.plan) - to),
            proven=recovery.proven_optimal,
            expansions=recovery.expansions,
            seconds=recovery.seconds,
            cpu_s=turn.cpu_s,
            reason=recovery.reason,
            blamed=recovery.blamed,
            right=right,
            astray=astray,
            best=None if lost else self._best(course, None if to is None else states[to]),
        )

    def _best(self, course: tuple[Truth, ...], chosen: Truth | None) -> Best | None:
        puzzle, there = self.puzzle(course), None if chosen is None else self.puzzle((chosen,))
        found = None if puzzle is None else fewest(puzzle)
        if found is None:
            return None
        way = None if there is None else fewest(there)
        return Best(found.cost, len(found.steps), None if way is None else len(way.steps))

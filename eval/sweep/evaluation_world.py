"""World wrapper that records ground truth and metrics."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from eval.common.optimum import Puzzle, fewest, puzzle_between
from eval.common.plan_progress import PlanProgress
from eval.sweep.fault_schedule import FaultSchedule
from eval.sweep.ideal_executor import IdealExecutor
from eval.sweep.records import ActionRecord, OptimumRecord, RecoveryRecord
from nsrecover.core import Action, EpisodeStatus, Observation, Phase, Plan, Recovery
from nsrecover.explanation.reasons import reason_text
from sim.datasets.spec import ErrorEpisode
from sim.sensors.sensor import EXACT, Sensor
from sim.sensors.world import SensedWorld
from sim.tabletop.kinematic import REACH_M
from sim.tabletop.truth import TOLERANCE_M, Truth, deviations
from sim.tabletop.world import TabletopWorld


@dataclass(frozen=True, eq=False)
class PlannerTurn:
    """What a planner reports after an action, or when it stops before one.

    Attributes:
        plan: the plan in execution; it begins with the recovery during a recovery.
        step: number of the action in that plan, from 0.
        ran: whether the action was executed; if not, the planner reports an error before it.
        looked: whether the planner observed the scene.
        culprits: deviating objects -> cause, as the planner says.
        violated: preconditions of the action that do not hold, as the planner says.
        recovery: the planned recovery; its `subgoal` counts steps of `plan`.
        cpu_s: processor time of planning.
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
        """Whether the planner reports an error."""
        return bool(self.culprits or self.violated)


@dataclass(frozen=True)
class EpisodeEnd:
    """How an episode ended, as the planner says.

    Attributes:
        status: completed, or asked for help.
        reason: why it stopped, in words.
    """

    status: EpisodeStatus
    reason: str = ""


class Controller(Protocol):
    """A planner together with everything it needs to execute a plan; one `run` is one episode.

    It acts through `EvaluationWorld.execute`, observes through `EvaluationWorld.observe`, and reports every turn with
    `EvaluationWorld.turned`, which is how detections, recoveries and their cost are counted. The ground truth of the
    world (`now`, `wrong`, `true_states`, ...) is only for planners that declare its use.
    """

    @property
    def name(self) -> str:
        """Name in tables."""
        ...

    def prepare(self) -> None:
        """Load what the planner needs, before the first episode; a missing part raises an error of the library."""
        ...

    def run(self, world: EvaluationWorld, /) -> EpisodeEnd:
        """Execute `world.plan`."""
        ...


class EvaluationWorld:
    """World wrapper that records ground truth and metrics; implements `nsrecover.core.protocols.World`.

    Args:
        world: the simulator, with the faults of the episode.
        episode: scene, plan and faults.
        ideal: executor without errors, of the same scene.
        schedule: faults during recoveries.
        sensor: that planners see through; its errors follow from the seed of the episode.
    """

    def __init__(
        self,
        world: TabletopWorld,
        episode: ErrorEpisode,
        ideal: IdealExecutor,
        schedule: FaultSchedule,
        sensor: Sensor = EXACT,
    ) -> None:
        self._world, self._ideal, self._schedule = world, ideal, schedule
        self._sensed = SensedWorld(world, sensor.stream(len(world.rig.views), episode.seed))
        self.episode = episode
        self.plan = episode.plan
        self.now = world.truth()
        """True state of the scene. Privileged."""
        self.fault_free: tuple[Truth, ...] = (self.now, *ideal.after(self.now, self.plan.actions))
        """(T + 1) true states along the plan without faults. Privileged."""
        self.actions: list[ActionRecord] = []
        self.recoveries: list[RecoveryRecord] = []
        self.unnoticed: dict[str, str] = {}
        self.wrong: Mapping[str, str] = {}
        """Objects that the last action left elsewhere than the ideal executor would have. Privileged."""
        self._should = self.now
        self._progress = PlanProgress(self.plan)
        self._states: dict[int, Truth] = {0: self.now}
        self._passed: dict[int, Truth] = {0: self.now}
        self._executed: Action | None = None
        self._since: list[Action] = []
        """Actions executed since state 0 of the present plan."""
        self._errors, self._faults = 0, list[str]()

    # -- for planners

    def observe(self) -> Observation:
        """Return what the robot's cameras see."""
        return self._sensed.observe()

    def execute(self, action: Action) -> None:
        """Execute an action; faults may strike."""
        self._should = self.ahead(self.now, [action])
        self._world.log.clear()
        self._schedule.execute(self._world, action, self._should)
        self.now = self._world.truth()
        self.wrong = deviations(self.now, self._should)
        self._executed = action
        self._since.append(action)

    def turned(self, turn: PlannerTurn) -> None:
        """Record a planner's turn. Call it once after every action, and when the planner stops before one."""
        done = turn.step + 1 if turn.ran else turn.step
        if turn.ran:
            self._record_action(turn)
        if turn.recovery is not None:
            self.recoveries.append(self._judged(turn, turn.recovery, done))
            self._errors, self._faults = 0, []
            self.unnoticed = {}
            self._should = self.now
            if turn.recovery.found:
                self._progress.recovered(turn.recovery)
                self._states = {0: self.now}
                self._since = []
            return
        if turn.ran and not turn.noticed:
            self.unnoticed |= self.wrong
        self._states[done] = self.now
        passed = self._progress.steps_done(done)
        if passed is not None:
            self._passed[passed] = self.now

    # -- privileged

    def true_states(
        self, plan: Plan, done: int, should: Truth | None = None
    ) -> tuple[dict[int, Truth], tuple[Truth, ...]]:
        """Reference states along the present plan and along the original plan.

        Past states are the recorded ones; future states come from the ideal executor, which starts from the reference
        state of now. States of the original plan that a recovery skipped are those of the fault-free run.

        Args:
            plan: the plan in execution.
            done: how many of its actions are done.
            should: the reference state of now; the ideal result of the last action if None.

        Returns:
            Number of actions done -> state, of the present plan; (T + 1) states of the original plan.
        """
        should = self._should if should is None else should
        ahead = self._ideal.after(should, plan.actions[done:])
        states = self._states | {done: should} | {done + 1 + k: truth for k, truth in enumerate(ahead)}
        original = dict(enumerate(self.fault_free)) | self._passed
        for number, truth in states.items():
            passed = self._progress.steps_done(number)
            if passed is not None:
                original[passed] = truth
        return states, tuple(original[t] for t in range(len(self.plan) + 1))

    def ahead(self, truth: Truth, actions: Sequence[Action]) -> Truth:
        """Return the state that the ideal executor reaches from a true state."""
        return [truth, *self._ideal.after(truth, actions)][-1]

    def lost(self, reference: tuple[Truth, ...]) -> dict[str, str]:
        """Objects that are gone, or out of reach and at no place that a reference state accepts: name -> which."""
        found = {}
        for i, name in enumerate(self.now.names):
            if not self.now.present[i]:
                found[name] = "gone"
            elif name in self.out_of_reach() and all(name in deviations(self.now, state) for state in reference):
                found[name] = "out of reach"
        return found

    def out_of_reach(self) -> tuple[str, ...]:
        """Objects on the table that the arm cannot reach."""
        near, far = REACH_M
        distances = {name: math.hypot(*self.now.position(name)[:2]) for name in self.now.names}
        return tuple(
            name
            for name, present in zip(self.now.names, self.now.present, strict=True)
            if present and not near <= distances[name] <= far
        )

    def puzzle(self, reference: tuple[Truth, ...], tolerance_m: float = TOLERANCE_M) -> Puzzle | None:
        """The recovery problem from the true state to any reference state; None if an object is gone."""
        return puzzle_between(self.now, reference, self.episode.scene, self.out_of_reach(), tolerance_m)

    def original(self, step: int) -> int | None:
        """Number of original steps done after `step` steps of the present plan; None within a recovery."""
        return self._progress.steps_done(step)

    # -- inside

    def _record_action(self, turn: PlannerTurn) -> None:
        faults = tuple(fault.kind for fault in self._world.last_faults)
        if self.wrong:
            self._errors += max(len(faults), 1)
            self._faults += faults
        number = self._progress.original_step(turn.step)
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

    def _judged(self, turn: PlannerTurn, recovery: Recovery, done: int) -> RecoveryRecord:
        wrong = self.unnoticed | (dict(self.wrong) if turn.ran else {})
        states, reference = self.true_states(turn.plan, done)
        accepted = [states]
        if self.unnoticed or not wrong:
            # Earlier or gradual deviations show only against reference states that contain none of them.
            should = self.ahead(self._states[0], self._since)
            late = deviations(self.now, should)
            if late:
                wrong |= late
                self._errors = max(self._errors, 1)
                states, reference = self.true_states(turn.plan, done, should)
                accepted.append(states)
        lost = self.lost(reference)
        to, subgoal = None, None
        right, astray = None, dict[str, str]()
        if recovery.found:
            to = len(turn.plan) if recovery.subgoal is None else recovery.subgoal
            subgoal = self.original(to)
            end = self.ahead(self.now, recovery.actions)
            off = [deviations(end, states[to]) for states in accepted]
            astray = {name: why for name, why in off[-1].items() if all(name in others for others in off)}
            right = not astray
        number = self._progress.original_step(turn.step)
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
            reason=reason_text(recovery),
            blamed=recovery.blamed,
            right=right,
            astray=astray,
            best=None if lost else self._best(reference, None if to is None else states[to]),
        )

    def _best(self, reference: tuple[Truth, ...], chosen: Truth | None) -> OptimumRecord | None:
        puzzle, there = self.puzzle(reference), None if chosen is None else self.puzzle((chosen,))
        found = None if puzzle is None else fewest(puzzle)
        if found is None:
            return None
        way = None if there is None else fewest(there)
        return OptimumRecord(found.cost, len(found.steps), None if way is None else len(way.steps))

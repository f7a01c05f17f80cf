"""The kitchen's robot as a world for the agent, with the ground truth of what has gone wrong for judging."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from nsrecover.core.actions import Action
from nsrecover.core.facts import FactScene
from nsrecover.core.glances import RobotState
from nsrecover.core.observation import Observation
from nsrecover.domains.base import State
from nsrecover.domains.household import LASTING, HouseholdScene
from nsrecover.monitoring.outlook import imagine, outlook, unmet_conditions
from nsrecover.planning.symbolic.fact_planner import FactPlanner
from nsrecover.planning.symbolic.lookahead import FactLookahead
from nsrecover.util.closing import ClosedByWith
from sim.datasets.household.truth import goal_of
from sim.kitchen.faults import START, Fault, FaultClass
from sim.kitchen.performing import PASSING
from sim.kitchen.sounding import LISTENS_STEPS, microphone_in
from sim.kitchen.tasks import TaskSpec
from sim.kitchen.truth import differences, true_state, unmet_goal
from sim.kitchen.world import KitchenWorld, OnFrame
from sim.sensors.sensor import EXACT, Sensor
from sim.sensors.watched import Motion, watch

Glance = Callable[[Observation, RobotState], bool]
"""See `nsrecover.core.protocols.GlancingWorld`."""

LOOK = "look_at"
"""Skill that drives in front of something, and to another side of it if the robot stands there."""


class KitchenRobot(ClosedByWith):
    """World and looking world of a task; it also knows what is true, for judging only.

    An action has failed, or something else has happened, if the true facts after it are not those that the domain
    expects from the true facts before it; what is hot or cooked may differ.

    Attributes:
        home: the household.
        goal: of the task, its purpose included.
        assumed: the facts for which the plan was made.
        executed: number of actions that were carried out.
        last: the last of them.
        pending: objects with deviations that were not noticed yet.
        injected: number of actions after which a fault of the simulator had struck first; None if none has.
        struck: number of actions after which something deviated first; None if nothing has.
        failed: number of actions after which one could not be done first.
        violations: irreversible actions that were begun while a condition did not hold, or that put the goal out of
            reach.
        looks: drives to look at something.
        stream: the sensor through which it sees.
        motions: the actions that were carried out.
        spoilt: whether each of them failed or was interrupted.
        carried_out: all that the world had carried out by the end of each of them.
        rate_hz: frames a second of simulated time while an action is watched.
    """

    rate_hz = 5.0

    def __init__(
        self,
        spec: TaskSpec,
        faults: Sequence[Fault] = (),
        microphone: bool = True,
        looks: bool = True,
        facts: bool = False,
        on_frame: OnFrame | None = None,
        frame_steps: int = 20,
        sensor: Sensor = EXACT,
    ) -> None:
        """Begin.

        Args:
            spec: the task in its kitchen, with the right plan.
            faults: what goes wrong.
            microphone: whether the robot hears.
            looks: whether it drives to where it sees better.
            facts: whether observations are the true facts.
            on_frame: see `KitchenWorld`.
            frame_steps: see `KitchenWorld`.
            sensor: through which it sees.
        """
        self._spec = spec
        self.home: HouseholdScene = replace(spec.home, domain=LASTING)
        self.goal, self.assumed = goal_of(spec), spec.start
        self._drives, self._facts = looks, facts
        self.world = KitchenWorld(
            spec.kitchen,
            faults=faults,
            plan=spec.plan,
            microphone=microphone_in(spec.kitchen, seed=spec.seed) if microphone and not facts else None,
            on_frame=on_frame,
            frame_steps=frame_steps,
        )
        self.stream = sensor.stream(len(self.world.rig.views), spec.seed)
        self.executed, self.violations, self.looks = 0, 0, 0
        self.motions: list[Motion] = []
        self.spoilt: list[bool] = []
        self.carried_out: list[tuple[Action, ...]] = []
        self.last = ""
        self.injected = 0 if any(fault.at_step == START or _in_plan(fault) for fault in faults) else None
        self.struck: int | None = None
        self.failed: int | None = None
        self.pending: set[str] = set()
        self._judge(self.assumed, self.truth)

    @property
    def truth(self) -> State:
        """The true facts."""
        return true_state(self.world.cell)

    def observe(self) -> Any:
        """What the cameras and the microphone give, or the true facts."""
        if self._facts:
            return FactScene(self.truth)
        if self.world.hearing is not None:
            self.world.cell.settle(LISTENS_STEPS)
        return self.stream.observe(self.world.observe_from)

    def look(self, names: Sequence[str]) -> Any:
        """Drive to where the first of several fixtures is seen, and observe; where a thing truly is plays no part."""
        place = next((name for name in names if name in self.world.cell.fixtures), None)
        if place is not None and self._drives and not self._facts:
            self.looks += 1
            self.drive(Action(LOOK, (place,)))
        return self.observe()

    def drive(self, action: Action) -> None:
        """Drive in front of something."""
        self.world.execute(action)

    def execute(self, action: Action) -> None:
        """Carry out an action, and judge what it did."""
        self._execute(action, None)

    def execute_watched(self, action: Action, glance: Glance) -> None:
        """The same, and stop the action if `glance` returns false."""
        self._execute(action, glance)

    def _execute(self, action: Action, glance: Glance | None) -> None:
        before = self.truth
        unmet = bool(unmet_conditions(self.home, before, action))
        ahead = FactLookahead(FactPlanner(self.home))
        if ahead.irreversible(before, action) and (unmet or ahead.loses(before, action, self.goal)):
            self.violations += 1
        expected = imagine(self.home, before, action)
        self.motions.append(watch(self.world, action, self.stream, self.rate_hz, glance))
        self.spoilt.append(bool(self.world.failures[-1]))
        self.carried_out.append(self.world.save().actions)
        self.executed, self.last = self.executed + 1, str(action)
        if self.injected is None and self.world.last_faults:
            self.injected = self.executed
        if self.failed is None and (unmet or self.world.failures[-1]):
            self.failed = self.executed
        self._judge(expected, self.truth)

    def fails_unwatched(self, number: int) -> bool:
        """Whether an action of `motions` failed, or one that was interrupted fails unwatched and without a fault."""
        if math.isinf(self.motions[number].interrupted_s):
            return self.spoilt[number]
        with KitchenWorld(self._spec.kitchen, plan=self._spec.plan) as world:
            for action in self.carried_out[number]:
                world.execute(action)
            return bool(world.failures[-1])

    def noticed(self) -> frozenset[str]:
        """The deviating objects that an alarm now is about; from now on they are known."""
        found, self.pending = frozenset(self.pending), set()
        return found

    def reached(self) -> bool:
        """Whether the goal holds."""
        return not unmet_goal(self.world.cell, self.goal, self.home)

    def works(self, actions: Sequence[Action]) -> bool:
        """Whether actions lead to the goal from the true state, in the domain."""
        return outlook(self.home, self.truth, actions, self.goal).good

    def close(self) -> None:
        """End the physics."""
        self.world.close()

    def _judge(self, expected: State, actual: State) -> None:
        missing, excess = differences(expected, actual, PASSING)
        if missing or excess:
            self.struck = self.executed if self.struck is None else self.struck
            self.pending |= {fact[1] for fact in (*missing, *excess)}


def _in_plan(fault: Fault) -> bool:
    return fault.fault_class is FaultClass.PLANNING

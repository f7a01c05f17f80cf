"""What happens when a planner carries out a plan in the kitchen, judged by the truth."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any

from eval.household.planners import Course, Planner, rest_of
from eval.kitchen.robot import KitchenRobot
from nsrecover.core.discrepancy import Discrepancy, Phase
from nsrecover.core.episode import StepRecord
from nsrecover.core.facts import FactScene
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.loading import HouseholdSystem, symbolic
from nsrecover.models.household import SHIPPED, HouseholdModels
from nsrecover.system import System


class KitchenCourse(Course):
    """What happens when a plan is carried out.

    Attributes:
        decisions: of each comparison, whether something was truly wrong, and whether an alarm was raised.
        alarms: number of actions done by each alarm, and whether it was justified.
        culprits: of each justified alarm, the objects that truly deviate and those that were blamed.
        recovery_actions: actions of all recoveries.
        told: of each explained alarm, the number of actions done by then, the last of them, the text, and the objects
            that truly deviate.
        step_s: wall time of each perception and comparison after an action; after several looks, of the last one.
    """

    def __init__(self, robot: KitchenRobot) -> None:
        super().__init__()
        self._robot, self._seen_s = robot, 0.0
        self.decisions: list[tuple[bool, bool]] = []
        self.alarms: list[tuple[int, bool]] = []
        self.culprits: list[tuple[tuple[str, ...], tuple[str, ...]]] = []
        self.recovery_actions = 0
        self.told: list[tuple[int, str, str, frozenset[str]]] = []
        self.step_s: list[float] = []

    def observes(self, observation: Any) -> None:
        """Note when a comparison begins."""
        self._seen_s = time.perf_counter()

    def compares(self, discrepancy: Discrepancy[FactScene]) -> None:
        """Note how long a comparison took."""
        if discrepancy.phase is Phase.AFTER:
            self.step_s.append(time.perf_counter() - self._seen_s)

    def refused(self, problem: str) -> None:
        """Note an alarm before the first action."""
        super().refused(problem)
        self.decisions.append((True, True))
        self.alarms.append((0, True))

    def unwatched(self) -> None:
        """Note that there was no alarm."""
        self.decisions.append((bool(self._robot.pending), False))

    def recorded(self, record: StepRecord[FactScene]) -> None:
        """Note a comparison; without an alarm, one before an action is no decision of its own."""
        super().recorded(record)
        robot, found = self._robot, record.discrepancy
        if not found.deviates:
            if record.action is not None:
                self.unwatched()
            return
        wrong = bool(robot.pending) or (record.action is None and not robot.works(rest_of(record)))
        self.decisions.append((wrong, True))
        self.alarms.append((robot.executed, wrong))
        text = "" if record.explanation is None else record.explanation.text
        if true := robot.noticed():
            self.culprits.append((tuple(sorted(true)), tuple(sorted(found.deviating))))
        if text:
            self.told.append((robot.executed, robot.last, text, true))
        if record.recovery is not None:
            self.recovery_actions += len(record.recovery.actions)


def system_for(planner: Planner, robot: KitchenRobot, checkpoint: str | None) -> System[FactScene]:
    """The system with which a planner carries out the robot's task."""
    learned = models(checkpoint)
    if planner.facts:
        system = symbolic(robot.home, robot.goal, learned.config.durations or None, assumed=robot.assumed)
    else:
        system = HouseholdSystem(learned).system(
            robot.home, robot.goal, assumed=robot.assumed, reads=planner.reads, hears=planner.microphone
        )
    return planner.of(system)


@lru_cache(maxsize=2)
def models(checkpoint: str | None) -> HouseholdModels:
    """The learned parts, once for each process."""
    return HouseholdModels.load(checkpoint or SHIPPED, HOUSEHOLD)

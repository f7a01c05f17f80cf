"""What happens when a planner carries out a plan in a world of facts, judged by the truth."""

from __future__ import annotations

from eval.household.fact_world import FactWorld
from eval.household.planners import Course, rest_of
from nsrecover.core.episode import StepRecord
from nsrecover.core.facts import FactScene


class FactCourse(Course):
    """What happens when a plan is carried out.

    Attributes:
        alarms: number of actions that were done by each alarm, whether it was false, and whether it led to actions.
        turns: number of comparisons.
    """

    def __init__(self, world: FactWorld) -> None:
        super().__init__()
        self._world, self._events = world, 0
        self.alarms: list[tuple[int, bool, bool]] = []
        self.turns = 0

    def refused(self, problem: str) -> None:
        """Note an alarm before the first action."""
        super().refused(problem)
        self.turns += 1
        self.alarms.append((0, False, False))

    def recorded(self, record: StepRecord[FactScene]) -> None:
        """Note a comparison; an alarm is false if no fact has changed since the last one, and the plan works."""
        super().recorded(record)
        world = self._world
        self.turns += 1
        changed, self._events = world.events > self._events, world.events
        if record.discrepancy.deviates:
            acts = record.recovery is not None and bool(record.recovery.actions)
            self.alarms.append((world.executed, not changed and world.works(rest_of(record)), acts))

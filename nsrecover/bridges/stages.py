"""Stages of a task, as those of MoveIt Task Constructor, and the steps of a plan that they carry out."""

from dataclasses import dataclass

from nsrecover.core.recovery import Recovery
from nsrecover.errors import InvalidPlan, did_you_mean


@dataclass(frozen=True)
class StageMap:
    """Ids of stages in the order of their execution, each with the step of the plan that it belongs to.

    One step may have several stages (approach, grasp, lift, place).

    Attributes:
        stages: id and number of the step, from 0. Steps do not fall, and none is left out.

    Raises:
        InvalidPlan: ids are repeated, or steps fall or are left out.
    """

    stages: tuple[tuple[str, int], ...]

    def __post_init__(self) -> None:
        ids, steps = [name for name, _ in self.stages], [step for _, step in self.stages]
        if not ids or len(set(ids)) < len(ids):
            raise InvalidPlan(f"expected an id of its own for every stage, found {ids}; number those that are alike")
        if steps != sorted(steps) or set(steps) != set(range(steps[-1] + 1)):
            raise InvalidPlan(
                f"expected stages of the steps 0, 1, ... in order, found {steps}; give every step a stage"
            )

    @property
    def steps(self) -> int:
        """Number of steps."""
        return self.stages[-1][1] + 1

    def step_of(self, stage: str) -> int:
        """The step that a stage belongs to.

        Raises:
            InvalidPlan: there is no such stage.
        """
        for name, step in self.stages:
            if name == stage:
                return step
        names = [name for name, _ in self.stages]
        raise InvalidPlan(f"expected a stage of the task, found {stage!r}.{did_you_mean(stage, names)}")

    def first_stage(self, step: int) -> str | None:
        """The stage with which a step begins; None at the end of the plan.

        Raises:
            InvalidPlan: there is no such step.
        """
        if step == self.steps:
            return None
        if not 0 <= step < self.steps:
            raise InvalidPlan(f"expected a step from 0 to {self.steps}, found {step}")
        return next(name for name, number in self.stages if number == step)

    def ids(self) -> tuple[str, ...]:
        """The first stage of every step, for `stages` of a published plan."""
        return tuple(str(self.first_stage(step)) for step in range(self.steps))

    def resume(self, recovery: Recovery) -> tuple[str, ...]:
        """The stages that are left after a recovery, the first one to resume at; empty if the plan is done then.

        Args:
            recovery: planned from the trace of the original plan.

        Raises:
            InvalidPlan: it has found no way.
        """
        if not recovery.found:
            raise InvalidPlan(f"expected a recovery that was found, found {recovery.status.value}; ask for help")
        subgoal = recovery.resumes_at(self.steps)
        return tuple(name for name, step in self.stages if step >= subgoal)

"""Progress in the original plan while recoveries are inserted before the rest of it."""

from __future__ import annotations

from nsrecover.core import Plan, Recovery


class PlanProgress:
    """Maps steps of the present plan to steps of the original plan.

    A recovery is put in front of what is left of the plan, so that step numbers change.

    Args:
        plan: the original plan.
    """

    def __init__(self, plan: Plan) -> None:
        self._numbers: list[int | None] = [*range(1, len(plan) + 1)]
        self._total = len(plan)
        self._recovery = 0

    def original_step(self, step: int) -> int | None:
        """Number (from 1) in the original plan of a step of the present plan; None for a recovery action."""
        return self._numbers[step]

    def steps_done(self, step: int) -> int | None:
        """How many original steps are done when the first `step` steps of the present plan are.

        None in the middle of a recovery, where the scene is at no state of the original plan.
        """
        if step > 0 and self._numbers[step - 1] is not None:
            return self._numbers[step - 1]
        if step < len(self._numbers):
            following = self._numbers[step]
            return None if following is None else following - 1
        return self._total if step == len(self._numbers) else None

    def label(self, step: int) -> str:
        """Name of a step of the present plan: `step 4 of 6`, or `recovery 2 of 5`."""
        number = self._numbers[step]
        return f"recovery {step + 1} of {self._recovery}" if number is None else f"step {number} of {self._total}"

    def recovered(self, recovery: Recovery | None) -> None:
        """Continue with a recovery and the plan from its subgoal; nothing changes if no recovery was found."""
        if recovery is None or not recovery.found:
            return
        subgoal = len(self._numbers) if recovery.subgoal is None else recovery.subgoal
        self._recovery = len(recovery.actions)
        self._numbers = [*[None] * self._recovery, *self._numbers[subgoal:]]

"""Steps of the original plan while recoveries are inserted."""

from eval.common.plan_progress import PlanProgress
from nsrecover.core import Action, Plan, Recovery, RecoveryStatus

PLAN = Plan.parse("top(b, a); top(c, b); top(d, c); top(e, d)")


def recovered(count: int, subgoal: int) -> Recovery:
    return Recovery(RecoveryStatus.RECOVERED, (Action("free", ("a",)),) * count, subgoal=subgoal)


def test_after_a_recovery_the_plan_goes_on_with_its_own_numbers() -> None:
    progress = PlanProgress(PLAN)
    progress.recovered(recovered(2, 3))
    assert [progress.label(step) for step in range(3)] == ["recovery 1 of 2", "recovery 2 of 2", "step 4 of 4"]
    assert [progress.original_step(step) for step in range(3)] == [None, None, 4]
    assert [progress.steps_done(step) for step in range(4)] == [None, None, 3, 4]

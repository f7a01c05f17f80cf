"""Which step the agent is at, and what a run leaves behind as numbers."""

from __future__ import annotations

import numpy as np

from eval.common.results import Course
from nsrecover.core.actions import Action, Plan
from nsrecover.core.discrepancy import Discrepancy, Phase
from nsrecover.core.episode import StepRecord
from nsrecover.core.recovery import Recovery, RecoveryStatus
from nsrecover.core.scene import SceneGraph

PLAN = Plan.parse("top(b, a); top(c, b); top(d, c); top(e, d)")
GRAPH = SceneGraph(("a",), np.ones((1, 2), np.float32), np.full((1, 6), 0.04, np.float32), np.ones(1, np.bool_))


def record(step: int, recovery: Recovery | None) -> StepRecord:
    action = PLAN[0]
    discrepancy = Discrepancy(step, Phase.AFTER, action, GRAPH, GRAPH, np.ones(1, np.float32), 0.0, 0.5, ())
    return StepRecord(action, False, GRAPH, discrepancy, PLAN, recovery)


def recovered(count: int, subgoal: int) -> Recovery:
    return Recovery(RecoveryStatus.RECOVERED, (Action("free", ("a",)),) * count, subgoal=subgoal)


def test_without_errors_a_step_is_its_number() -> None:
    course = Course(PLAN)
    assert [course.label(step) for step in range(4)] == [f"step {n} of 4" for n in (1, 2, 3, 4)]
    assert [course.steps_done(step) for step in range(5)] == [0, 1, 2, 3, 4]


def test_after_a_recovery_the_plan_goes_on_with_its_own_numbers() -> None:
    course = Course(PLAN)
    course.advance(record(2, recovered(2, 3)))
    assert [course.label(step) for step in range(3)] == ["recovery 1 of 2", "recovery 2 of 2", "step 4 of 4"]
    assert [course.original_step(step) for step in range(3)] == [None, None, 4]
    assert [course.steps_done(step) for step in range(4)] == [None, None, 3, 4]


def test_a_recovery_within_a_recovery() -> None:
    course = Course(PLAN)
    course.advance(record(2, recovered(2, 3)))
    course.advance(record(0, recovered(1, 2)))  # subgoal 2 of the present plan: both recovery actions done
    assert [course.label(step) for step in range(2)] == ["recovery 1 of 1", "step 4 of 4"]
    assert [course.steps_done(step) for step in range(3)] == [None, 3, 4]


def test_a_recovery_to_the_goal_leaves_no_step() -> None:
    course = Course(PLAN)
    course.advance(record(1, recovered(1, 4)))
    assert [course.steps_done(step) for step in range(2)] == [None, 4]


def test_skipped_steps_count_as_done() -> None:
    course = Course(PLAN)
    course.advance(record(0, Recovery(RecoveryStatus.ALREADY_AT_SUBGOAL, subgoal=3)))
    assert course.label(0) == "step 4 of 4"
    assert course.steps_done(0) == 3


def test_giving_up_changes_nothing() -> None:
    course = Course(PLAN)
    course.advance(record(2, Recovery(RecoveryStatus.IMPOSSIBLE, reason="it is gone")))
    assert course.label(2) == "step 3 of 4"

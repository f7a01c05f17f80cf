"""Every kind of failure, injected into every task, is found and corrected."""

from itertools import islice

import pytest

from eval.logs.household_world import conditions_of, judge, world_at_the_end
from nsrecover.explanation.audience import Audience
from nsrecover.logs import explain_log, log_of, report_of
from nsrecover.logs.readers import reflect
from nsrecover.logs.trace import EventPhase
from tests.nsrecover.logs.household_failures import TASKS, failures, success
from tests.nsrecover.logs.household_runs import Fault, Injected, Task, steps_of, story, world_of

by_name = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)


@by_name
def test_injected_failures_are_named_and_put_right(task: Task) -> None:
    """Every second one; which one begins alternates from task to task."""
    wrong = []
    for name, told in islice(failures(task, seed=11), TASKS.index(task) % 2, None, 2):
        log = log_of(told.document)
        explained = explain_log(log)
        finding = explained.finding
        wanted = conditions_of(task.success, log.plan)
        assert wanted is not None
        if finding.cause.value not in told.injected.causes:
            wrong.append(f"{name}: cause {finding.cause}")
        if not set(told.injected.objects) <= set(finding.objects):
            wrong.append(f"{name}: objects {finding.objects}")
        if not finding.times or finding.times[0] not in told.times:
            wrong.append(f"{name}: times {finding.times}")
        if explained.correction is None or judge(told.world, explained.correction, wanted) is not None:
            wrong.append(f"{name}: correction {explained.correction}")
        if (
            explained.correction is None
            or judge(world_at_the_end(reflect.read(told.document)), explained.correction, wanted) is not None
        ):
            wrong.append(f"{name}: correction by the log {explained.correction}")
        for audience in Audience:
            if not report_of(log, explained, audience)["text_agrees"]:
                wrong.append(f"{name}: text {report_of(log, explained, audience)['text']}")
    assert not wrong, wrong


@by_name
def test_a_run_that_succeeds_is_not_called_a_failure(task: Task) -> None:
    explained = explain_log(log_of(success(task, seed=5).document))
    assert explained.finding.cause.value == "none"
    assert explained.correction == ()
    assert [item.why for item in explained.subgoals if not item.satisfied] == []


def test_with_things_unnoticed_and_misread_nearly_all_is_still_found() -> None:
    found = total = right = subgoals = 0
    for task in TASKS[1::2]:
        for _, told in islice(failures(task, seed=3, noise=0.15), 0, None, 3):
            explained = explain_log(log_of(told.document))
            total += 1
            found += explained.finding.cause.value in told.injected.causes
            subgoals += len(told.held)
            right += sum(item.satisfied == held for item, held in zip(explained.subgoals, told.held, strict=True))
    assert total >= 40
    assert found >= 0.97 * total
    assert right >= 0.98 * subgoals


@pytest.mark.parametrize(
    ("number", "start", "end", "noticed"), [(4, 1, 6, 1), (0, 1, 5, 1), (9, 5, 14, 5)], ids=["coffee", "kettle", "mug"]
)
def test_a_detour_that_is_left_out_is_missed_where_it_should_have_begun(
    number: int, start: int, end: int, noticed: int
) -> None:
    task = TASKS[number]
    plan = steps_of(task.plan)
    # The way to the sink and back, or to the microwave and back, is not in the plan.
    short = plan[:start] + plan[end:]
    log = log_of(story(task, short, world_of(task), Fault(), Injected((), (), 0, 0), seed=2).document)
    finding = explain_log(log).finding
    assert finding.cause.value == "missing_step"
    assert finding.missing[0].operator == "toggle_on"
    assert finding.times == ([event for event in log.events if event.phase is EventPhase.ENDED][noticed].time,)


def test_the_judge_refuses_what_does_not_lead_to_success() -> None:
    task = TASKS[0]
    _, story = next(failures(task, seed=11))
    log = log_of(story.document)
    wanted = conditions_of(task.success, log.plan)
    correction = explain_log(log).correction
    assert wanted is not None
    assert correction
    assert judge(story.world, correction, wanted) is None
    for missing in range(len(correction)):
        if correction[missing].operator != "toggle_off":
            shorter = correction[:missing] + correction[missing + 1 :]
            assert judge(story.world, shorter, wanted) is not None

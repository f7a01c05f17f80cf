"""Every kind of failure, injected into every task, is found and corrected."""

import pytest

from eval.logs.household_world import conditions_of, judge, world_at_the_end
from nsrecover.explanation.audience import Audience
from nsrecover.logs import explain_log, log_of, report_of
from nsrecover.logs.readers import reflect
from nsrecover.logs.trace import EventPhase
from tests.nsrecover.logs.household_logs import ToldLog, told_logs


@pytest.mark.parametrize("told", told_logs("failure"), ids=lambda told: f"{told.task}, {told.name}")
def test_injected_failures_are_named_and_put_right(told: ToldLog) -> None:
    log = log_of(told.document)
    explained = explain_log(log)
    finding, wanted = explained.finding, conditions_of(told.document["success_state"], log.plan)
    assert wanted is not None
    assert finding.cause.value in told.causes
    assert set(told.objects) <= set(finding.objects)
    assert finding.times[0] in told.times
    assert explained.correction is not None
    assert judge(world_at_the_end(reflect.read(told.document)), explained.correction, wanted) is None
    assert all(report_of(log, explained, audience)["text_agrees"] for audience in Audience)


@pytest.mark.parametrize("told", told_logs("success"), ids=lambda told: told.task)
def test_a_run_that_succeeds_is_not_called_a_failure(told: ToldLog) -> None:
    explained = explain_log(log_of(told.document))
    assert explained.finding.cause.value == "none"
    assert explained.correction == ()
    assert [item.why for item in explained.subgoals if not item.satisfied] == []


def test_with_things_unnoticed_and_misread_nearly_all_is_still_found() -> None:
    found = right = 0
    for told in told_logs("noisy"):
        explained = explain_log(log_of(told.document))
        found += explained.finding.cause.value in told.causes
        right += sum(item.satisfied == held for item, held in zip(explained.subgoals, told.held, strict=True))
    assert found >= 0.97 * len(told_logs("noisy")) > 40
    assert right >= 0.98 * sum(len(told.held) for told in told_logs("noisy"))


@pytest.mark.parametrize("told", told_logs("detour"), ids=lambda told: told.task)
def test_a_detour_that_is_left_out_is_missed_where_it_should_have_begun(told: ToldLog) -> None:
    """The way to the sink and back, or to the microwave and back, is not in the plan."""
    log = log_of(told.document)
    finding = explain_log(log).finding
    assert finding.cause.value == "missing_step"
    assert finding.missing[0].operator == "toggle_on"
    assert finding.times == ([event for event in log.events if event.phase is EventPhase.ENDED][told.noticed].time,)

"""Metrics computed by hand, reasons of failures, and paired comparisons."""

from dataclasses import fields

import pytest

from eval.common.statistics import paired_interval
from eval.sweep.metrics import summary
from eval.sweep.records import ActionRecord, EpisodeRecord, Failure, OptimumRecord, RecoveryRecord, failure_of
from tests.commands import ROOT
from tests.eval.sweep.records import action, record, recovery


def test_lengths_and_times_by_hand() -> None:
    """Three recoveries that are right, one that is not, and one that answers no error."""
    longer = recovery(actions=("x",) * 3, cost=6.0, errors=3, seconds=0.3)
    first = record(recoveries=(recovery(), longer))
    second = record(
        1,
        recoveries=(
            recovery(status="already_at_subgoal", actions=(), cost=0.0, best=OptimumRecord(0, 0, 0), seconds=0.01),
            recovery(right=False, astray={"a": "off"}, actions=("x",) * 50, seconds=9.0),
            recovery(errors=0, wrong={}, actions=("x",) * 50, seconds=9.0),
        ),
    )
    found = summary([first, second])
    # 2/1, 3/3 and 0/1 actions for each error
    assert found["l_per_err"] == pytest.approx((2 + 1 + 0) / 3, abs=1e-4)
    # 2 of 2, 3 of 2 to the state that was chosen, and nothing where nothing has to be done
    assert found["l_over_opt"] == pytest.approx((1 + 1.5 + 1) / 3, abs=1e-4)
    # with the rest of the plan 4 of 4, 6 of 4, and nothing
    assert found["whole_over_opt"] == pytest.approx((1 + 1.5 + 1) / 3, abs=1e-4)
    # 20 ms for one error, 300 ms for three, 10 ms for one
    assert found["t_per_err_s"] == pytest.approx((0.02 + 0.1 + 0.01) / 3, abs=1e-4)
    # by the two actions of the shortest recovery; the third has none
    assert found["t_over_opt_s"] == pytest.approx((0.02 / 2 + 0.3 / 2) / 2, abs=1e-4)
    assert found["recovery"] == pytest.approx(3 / 4)
    assert found["optimal"]["value"] == pytest.approx(2 / 3, abs=1e-4)
    low, high = found["intervals"]["l_per_err"]
    assert low <= found["l_per_err"] <= high


def test_a_noticed_error_without_a_recovery_is_not_recovered() -> None:
    """One of two errors has no recovery; unrecoverable episodes and false alarms do not count."""
    actions = (action("a", culprits="a"), action("b", culprits="b"), action(culprits="c"), action("d"))
    found = summary([record(actions=actions), record(1, actions=actions, recoverable=False)])
    assert (found["recovery"], found["counts"]["recovery"]) == (0.5, 2)
    assert found["l_per_err"] == 2.0


def test_detection_by_hand() -> None:
    """Two hits of which one names the wrong object, a miss, a false alarm, and quiet actions."""
    actions = (action("a", culprits="a"), action("ab", culprits="a"), action("c"), action(culprits="d"), action())
    recoveries = (
        recovery(1),
        recovery(2, wrong=dict.fromkeys("ab", "off")),
        recovery(4, errors=0, wrong={}, culprits={"d": "moved"}),
    )
    found = summary([record(actions=actions, recoveries=recoveries)])
    assert found["detection"] == pytest.approx({"accuracy": 3 / 5, "precision": 2 / 3, "recall": 2 / 3}, abs=1e-4)
    assert found["culprits_exact"] == pytest.approx(1 / 2)


def test_completion_and_its_interval() -> None:
    failed = record(9, deviations={"a": "30 mm off"})
    found = summary([record(number) for number in range(9)] + [failed])
    assert found["completion"] == 0.9
    # Wilson's interval of 9 in 10
    assert found["intervals"]["completion"] == pytest.approx([0.59585, 0.98212], abs=1e-4)
    assert found["failures"] == {"drift": 1}
    assert found["actions"] == {"total": 50, "mean": 5.0}
    assert found["faults"]["mean"] == 1.0


def test_decisions_whether_a_recovery_exists() -> None:
    gone = recovery(status="impossible", right=None, lost={"a": "gone"}, blamed=("a",), best=None, cost=None)
    help_asked = {"status": "asked_for_help", "reason": "a is gone", "deviations": {"a": "gone"}}
    right = record(0, recoverable=False, recoveries=(gone,), **help_asked)
    # it asks for help, for no reason that it names
    silent = record(4, recoverable=False, recoveries=(recovery(status="impossible", right=None),), **help_asked)
    assert summary([silent])["decided_right"] == 1.0
    assert summary([silent])["blamed_right"] == 0.0
    wrong = record(1, recoverable=False, deviations={"a": "gone"})
    needless = record(2, recoveries=(recovery(status="impossible", right=None),), **help_asked)
    found = summary([right, wrong, needless, record(3)])
    assert found["decided_right"] == 0.5
    assert found["blamed_right"] == 0.5
    assert [failure_of(item) for item in (right, wrong, needless)] == [None, Failure.WENT_ON, Failure.GIVEN_UP]
    # half of them have a way back, and one of these was completed
    assert found["completion"] == 0.5


FAILURES = {
    Failure.LOST: {"recoveries": (recovery(lost={"a": "gone"}),), "deviations": {"a": "gone"}},
    Failure.NOT_NOTICED: {"unnoticed": ("a",), "deviations": {"a": "off"}},
    Failure.FALSE_ALARM: {
        "status": "asked_for_help",
        "recoveries": (recovery(errors=0, wrong={}, status="impossible", right=None),),
    },
    Failure.GIVEN_UP: {"status": "asked_for_help", "recoveries": (recovery(status="impossible", right=None),)},
    Failure.OUT_OF_BUDGET: {
        "status": "asked_for_help",
        "recoveries": (recovery(status="budget_exhausted", right=None),),
    },
    Failure.KEPT_FAILING: {"status": "asked_for_help"},
    Failure.LEFT: {"recoveries": (), "deviations": {"a": "off"}},
    Failure.WRONG_WAY: {"recoveries": (recovery(right=False, astray={"b": "off"}),), "deviations": {"b": "off"}},
    Failure.DRIFT: {"deviations": {"b": "21 mm off"}},
    Failure.CRASHED: {"status": "crashed"},
}


@pytest.mark.parametrize("reason", FAILURES)
def test_every_failure_has_its_reason(reason: Failure) -> None:
    assert failure_of(record(**FAILURES[reason])) is reason


@pytest.mark.parametrize(
    ("counts", "interval"),
    [
        # the worked example of Newcombe (1998), table II
        ((36, 12, 2), (0.0569, 0.3404)),
        # all alike: as much as fifty episodes can say, and not nothing
        ((50, 0, 0), (-0.0714, 0.0714)),
    ],
)
def test_the_interval_of_a_paired_difference(counts: tuple[int, int, int], interval: tuple[float, float]) -> None:
    assert paired_interval(*counts, 50) == pytest.approx(interval, abs=2e-4)


# -- the page says what a record of an episode has


@pytest.mark.parametrize("record", [EpisodeRecord, ActionRecord, RecoveryRecord, OptimumRecord])
def test_the_page_names_every_key_of_a_record(record: type) -> None:
    page = (ROOT / "docs/evaluation.md").read_text(encoding="utf-8")
    section = page.partition("### Records\n")[2].partition("```python")[0]
    assert [each.name for each in fields(record) if f"`{each.name}`" not in section] == []

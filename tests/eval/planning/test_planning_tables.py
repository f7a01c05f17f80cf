"""The numbers of `python -m eval.planning`, worked by hand."""

import pytest

from eval.common.optimum import Move, Optimum
from eval.common.plans import Planned, PlannerSetting
from eval.common.rejoin import RecoveryRoute, RejoinOutcome
from eval.planning.__main__ import succeeded, summary
from eval.planning.cases import PlanningCase
from nsrecover.core.actions import Action
from nsrecover.planning.planner import Rejoin

SETTINGS = {"ours": PlannerSetting(), "original": PlannerSetting(subgoals="step")}
MOVE = Action("restore", ("a",))


def planned(actions: int, cost: float, seconds: float = 0.01, subgoal: int = 2, proven: bool = True) -> Planned:
    return Planned("recovered", RecoveryRoute((MOVE,) * actions, (), subgoal), cost, proven, 5, seconds, seconds)


def case(
    ours: Planned, original: Planned | None = None, best: int = 4, wrong: dict[str, str] | None = None, **facts: object
) -> PlanningCase:
    known = {"dataset": "III", "episode": 0, "step": 1, "objects": 6, "errors": 2, "length": 5, "causes": ("push",)}
    plans = {"ours": ours, "original": original or ours}
    outcomes = {"ours": RejoinOutcome(wrong or {}), "original": RejoinOutcome()}
    best_way = Optimum(2, (Move(0, 0),) * 2, best, 5)
    return PlanningCase(**(known | facts), recoverable=True, lost={}, plans=plans, outcomes=outcomes, best=best_way)  # type: ignore[arg-type]


def test_lengths_and_times() -> None:
    cases = [case(planned(2, 4, 0.01)), case(planned(4, 6, 0.03), best=4)]
    figures = summary(cases, SETTINGS)
    row = figures["planners"]["ours"]["datasets"]["III"]
    assert row["recovery"]["value"] == 1.0
    assert row["l_per_err"] == pytest.approx(1.5)  # 2 and 4 actions, 2 errors each
    assert row["l_over_opt"] == pytest.approx((1.0 + 1.5) / 2)
    assert row["t_per_err_s"]["median"] == pytest.approx(0.01)  # 5 and 15 ms an error


def test_anytime_lengths_have_the_rest_of_the_plan_in_them() -> None:
    cases = [case(planned(2, 3), planned(3, 6)), case(planned(2, 4), planned(2, 4)), case(planned(9, 9), objects=9)]
    rows = summary(cases, SETTINGS)["anytime"]
    assert rows["ours"]["l_plan_over_l_orig"] == pytest.approx(0.7)
    assert rows["ours"]["actions_to_subgoal_over_orig"] == pytest.approx(0.8)
    assert rows["original"]["l_plan_over_l_orig"] == 1.0


def test_with_the_relations_criterion_promised_relations_count() -> None:
    setting = {"ours": PlannerSetting(rejoin=Rejoin.RELATIONS)}
    elsewhere = case(planned(2, 4), wrong={"a": "90 mm off"})
    assert succeeded(elsewhere, "ours", setting)
    assert not succeeded(elsewhere, "ours", SETTINGS)


@pytest.mark.parametrize(
    ("status", "blamed", "reason", "right"),
    [
        ("impossible", ("a",), "the a cannot be found, and the plan needs it", True),
        ("impossible", ("b",), "the b cannot be found, and the plan needs it", False),
        ("impossible", ("a",), "the a is out of the robot's reach", False),
        ("recovered", (), "", False),
    ],
)
def test_an_impossible_recovery_needs_the_right_reason(
    status: str, blamed: tuple[str, ...], reason: str, right: bool
) -> None:
    plan = Planned(status, None, float("inf"), True, 0, 0.01, 0.01, reason=reason, blamed=blamed)
    hopeless = PlanningCase("V", 0, 1, 5, 1, 5, ("removed",), False, {"a": "removed"}, {"ours": plan})
    figures = summary([hopeless], {"ours": PlannerSetting()})
    assert figures["decisions"]["ours"]["explained"]["value"] == float(right)
    assert figures["decisions"]["ours"]["decided"]["value"] == float(status == "impossible")

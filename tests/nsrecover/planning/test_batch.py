"""Recovery from many error states in one call, in this process and in a pool."""

import pytest

from nsrecover.core import RecoveryStatus, SceneGraph
from nsrecover.errors import InvalidConfiguration, InvalidPlan
from nsrecover.planning.planner import RecoveryPlanner, Request
from tests.nsrecover.planning.geometric import SIDE, GeometricModels, compare, imagine, moved, plan, table, unseen

H = SIDE / 2
PLACES = ((0.5, 0.0), (0.4, 0.2), (0.4, -0.2), (0.6, 0.2), (0.6, -0.2), (0.4, 0.1), (0.7, 0.0))
TOWER = "top green red; top blue green; top yellow blue; top white yellow"


def request(models: GeometricModels, graph: SceneGraph, text: str, number: int) -> Request:
    """An error state after step `number` of a plan that began with `graph`; the green cube fell off."""
    trace = imagine(models, graph, plan(text))
    fallen = moved(trace.graphs[number + 1], green=(0.6, 0.08, H))
    return Request(fallen, trace, compare(models, fallen, trace, number))


@pytest.mark.parametrize("workers", [1, 2])
def test_answers_are_those_of_recover_in_the_order_of_the_requests(models: GeometricModels, workers: int) -> None:
    asked = [request(models, table(*PLACES[:count]), "top green red", 0) for count in (5, 3, 7, 4)]
    gone = unseen(asked[0].graph, "red")
    asked.insert(2, Request(gone, asked[0].trace, compare(models, gone, asked[0].trace, 0)))
    planner = RecoveryPlanner(models)
    found = planner.recover_many(asked, workers=workers)
    assert [len(recovery.graphs[0]) if recovery.graphs else 0 for recovery in found] == [5, 3, 0, 7, 4]
    assert found[2].blamed == ("red cube",)
    for one, recovery in zip(asked, found, strict=True):
        alone = planner.recover(one.graph, one.trace, one.discrepancy)
        assert (recovery.status, recovery.actions, recovery.cost) == (alone.status, alone.actions, alone.cost)


def test_no_requests_no_answers(models: GeometricModels) -> None:
    assert RecoveryPlanner(models).recover_many([], workers=2) == []


def test_a_wrong_request_is_named_before_anything_is_planned(models: GeometricModels) -> None:
    good = request(models, table(*PLACES[:5]), TOWER, 1)
    wrong = Request(table(*PLACES[:4]), good.trace, good.discrepancy)
    with pytest.raises(InvalidPlan, match=r"request 2 \(counted from 0\): expected a trace over"):
        RecoveryPlanner(models).recover_many([good, good, wrong])


def test_budgets_count_for_all_together(models: GeometricModels) -> None:
    asked = [request(models, table(*PLACES[:5]), TOWER, 2)] * 2
    planner = RecoveryPlanner(models)
    for budget in ({"max_expansions": 0}, {"budget_s": 0.0}):
        for stopped in planner.recover_many(asked, **budget):
            assert stopped.status is RecoveryStatus.BUDGET_EXHAUSTED
    for wrong in ({"budget_s": -1.0}, {"workers": 0}, {"subgoals": 0}):
        with pytest.raises(InvalidConfiguration, match=next(iter(wrong)).split("_")[0]):
            planner.recover_many(asked, **wrong)


def test_a_planner_that_cannot_be_sent_to_other_processes_is_refused(models: GeometricModels) -> None:
    asked = [request(models, table(*PLACES[:5]), TOWER, 2)] * 2
    planner = RecoveryPlanner(models, action_cost=lambda action: 2.0)
    assert all(recovery.found for recovery in planner.recover_many(asked))
    with pytest.raises(InvalidConfiguration, match="module-level functions"):
        planner.recover_many(asked, workers=2)

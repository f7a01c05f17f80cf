"""Many recoveries planned together are those that are planned one by one."""

from __future__ import annotations

import numpy as np
import pytest

from nsrecover.core.actions import Action, Trace
from nsrecover.core.discrepancy import Cause
from nsrecover.core.recovery import Recovery, RecoveryStatus
from nsrecover.core.scene import SceneGraph
from nsrecover.domains.tabletop.operators import operator_of
from nsrecover.errors import InvalidConfiguration, InvalidPlan
from nsrecover.planning.fleet_tables import packed_models
from nsrecover.planning.neural_model import NeuralModel
from nsrecover.planning.placement import enumerated_places
from nsrecover.planning.planner import RecoveryPlanner, Rejoin
from nsrecover.planning.problem import Request
from nsrecover.planning.subgoals import Subgoals
from nsrecover.records.recording import example
from nsrecover.system import load
from tests.nsrecover.planning.geometric import (
    COLOURS,
    SIDE,
    GeometricModels,
    compare,
    imagine,
    moved,
    plan,
    step,
    table,
    unseen,
)

H = SIDE / 2
PLACES = ((0.5, 0.0), (0.4, 0.2), (0.4, -0.2), (0.6, 0.2), (0.6, -0.2), (0.5, 0.28), (0.7, 0.0))
TOWER = "top green red; top blue green; top yellow blue; top white yellow"


def request(models: GeometricModels, graph: SceneGraph, trace: Trace, number: int, **causes: Cause) -> Request:
    return Request(graph, trace, compare(models, graph, trace, number, **causes))


def disturbed(models: GeometricModels, rng: np.random.Generator) -> Request:
    """A random plan, and something that went wrong in it."""
    count = int(rng.integers(3, len(PLACES) + 1))
    colours = list(COLOURS[:count])
    text, base = [], "red"
    for colour in rng.permutation(colours[1:])[: int(rng.integers(1, 5))]:
        operator = str(rng.choice(["top", "top", "left", "right", "front", "behind"]))
        text.append(f"{operator} {colour} {base}")
        base = str(colour)
    trace = imagine(models, table(*PLACES[:count]), plan("; ".join(text)))
    number = int(rng.integers(len(text)))
    graph = trace.graphs[number + 1]
    kind = str(rng.choice(["pushed", "pushed", "collapsed", "swapped", "missing", "far", "ahead", "under"]))
    chosen = [str(colour) for colour in rng.permutation(colours)]
    if kind in ("pushed", "collapsed"):
        for colour in chosen[: int(rng.integers(1, 4)) if kind == "pushed" else count]:
            place = float(rng.uniform(0.33, 0.72)), float(rng.uniform(-0.3, 0.3)), H
            others = np.delete(graph.boxes, graph.index(f"{colour} cube"), axis=0)
            if (np.abs(others[:, :2] - np.array(place[:2])).max(axis=1) > SIDE + 0.005).all():
                graph = moved(graph, **{colour: place})
    elif kind == "swapped":
        first, second = (tuple(map(float, graph.boxes[graph.index(f"{c} cube"), :3])) for c in chosen[:2])
        graph = moved(graph, **{chosen[0]: second, chosen[1]: first})
    elif kind == "missing":
        graph = unseen(graph, chosen[0])
    elif kind == "far":
        graph = moved(graph, **{chosen[0]: (0.5, 1.2, H)})
    elif kind == "ahead":
        graph = trace.graphs[-1]
    else:  # something was put where the plan's first object belongs
        where = trace.graphs[-1].boxes[trace.graphs[-1].index(f"{text[0].split()[1]} cube"), :3]
        graph = moved(graph, **{chosen[0]: tuple(map(float, where))})
    return request(models, graph, trace, number)


@pytest.fixture(scope="module")
def fleet() -> list[Request]:
    rng = np.random.default_rng(11)
    return [disturbed(GeometricModels(), rng) for _ in range(70)]


def same(one: Recovery, other: Recovery) -> None:
    assert (one.status, one.subgoal, one.blamed, one.reason) == (
        other.status,
        other.subgoal,
        other.blamed,
        other.reason,
    )
    assert one.cost == pytest.approx(other.cost)
    assert one.proven_optimal == other.proven_optimal
    assert one.staying == other.staying
    assert len(one.rest) == len(other.rest)


def sound(models: GeometricModels, asked: Request, recovery: Recovery) -> None:
    """What its actions do is what it imagines."""
    now = asked.graph
    for action, imagined in zip(recovery.actions, recovery.graphs, strict=True):
        now = step(models, now, action)
        np.testing.assert_allclose(now.boxes, imagined.boxes, atol=1e-5)


@pytest.mark.parametrize("rejoin", list(Rejoin))
@pytest.mark.parametrize("subgoals", [Subgoals.ALL, Subgoals.STEP, Subgoals.GOAL, 2])
def test_answers_are_those_of_one_by_one(
    models: GeometricModels, fleet: list[Request], rejoin: Rejoin, subgoals: Subgoals | int
) -> None:
    planner = RecoveryPlanner(models, rejoin=rejoin)
    together = planner.recover_many(fleet, subgoals=subgoals)
    assert len(together) == len(fleet)
    for asked, found in zip(fleet, together, strict=True):
        alone = planner.recover(asked.graph, asked.trace, asked.discrepancy, budget_s=None, subgoals=subgoals)
        same(found, alone)
        sound(models, asked, found)
        broken = [
            sum(
                len(operator_of(action).violated(before, action))
                for action, before in zip(answer.actions, (asked.graph, *answer.graphs), strict=False)
            )
            for answer in (found, alone)
        ]
        assert broken[0] <= broken[1]
    if subgoals is Subgoals.ALL:
        seen = {recovery.status for recovery in together}
        assert seen >= {RecoveryStatus.RECOVERED, RecoveryStatus.ALREADY_AT_SUBGOAL, RecoveryStatus.IMPOSSIBLE}
        assert any(action.operator == "free" for recovery in together for action in recovery.actions)


def test_tables_are_those_of_the_model_for_one(models: GeometricModels, fleet: list[Request]) -> None:
    planner = RecoveryPlanner(models, rejoin=Rejoin.RELATIONS)
    problems = [planner._problem(asked, Subgoals.ALL) for asked in fleet]
    problems = [problem for problem in problems if not isinstance(problem, Recovery)]
    assert len({len(problem.courses) for problem in problems}) == 2
    for problem, packed in zip(problems, packed_models(models, problems), strict=True):
        alone = NeuralModel(
            models, problem.graph, problem.courses, problem.subgoals, problem.order, problem.fixed, problem.ignored
        )
        tables = packed.tables
        assert tables.owner == alone._owner
        np.testing.assert_array_equal(tables.boxes, np.stack([place.box for place in alone.places]))
        np.testing.assert_array_equal(tables.goal_place, alone._goal_place)
        np.testing.assert_array_equal(tables.below, alone._below)
        np.testing.assert_allclose(tables.probability, alone._probability, atol=1e-6)
        assert (tables.clash, tables.above, tables.carriers) == (alone._clash, alone._above, alone._carriers_of)
        assert [sorted(row) for row in packed.targets] == [sorted(row) for row in alone._targets]


def test_answers_come_in_the_order_of_the_requests(models: GeometricModels) -> None:
    asked = []
    for count in (5, 3, 7, 4):
        trace = imagine(models, table(*PLACES[:count]), plan("top green red"))
        asked.append(request(models, moved(trace.graphs[1], green=(0.6, 0.08, H)), trace, 0))
    asked.insert(2, request(models, unseen(asked[0].graph, "red"), asked[0].trace, 0))
    found = RecoveryPlanner(models).recover_many(asked)
    assert [len(recovery.graphs[0]) if recovery.graphs else 0 for recovery in found] == [5, 3, 0, 7, 4]
    assert found[2].blamed == ("red cube",)
    assert all(recovery.seconds > 0 for recovery in found)


def test_no_requests_no_answers(models: GeometricModels) -> None:
    assert RecoveryPlanner(models).recover_many([]) == []


def test_a_wrong_request_is_named(models: GeometricModels) -> None:
    trace = imagine(models, table(*PLACES[:5]), plan(TOWER))
    good = request(models, trace.graphs[1], trace, 1)
    wrong = Request(table(*PLACES[:4]), trace, good.discrepancy)
    with pytest.raises(InvalidPlan, match=r"request 2 \(counted from 0\): expected a trace over"):
        RecoveryPlanner(models).recover_many([good, good, wrong])


def test_no_room_is_said_of_one_and_not_of_its_neighbours() -> None:
    models = GeometricModels(workspace=(0.46, -0.06, 0.54, 0.06))
    start = table((0.5, 0.03), (0.5, -0.03))
    trace = Trace(plan("right green red"), (start, start))
    swapped = request(models, moved(start, red=(0.5, -0.03, H), green=(0.5, 0.03, H)), trace, 0)
    fine = request(models, start, trace, 0)
    found = RecoveryPlanner(models).recover_many([fine, swapped, fine])
    assert [recovery.status is RecoveryStatus.IMPOSSIBLE for recovery in found] == [False, True, False]
    assert "no room" in found[1].reason
    alone = RecoveryPlanner(models).recover(swapped.graph, swapped.trace, swapped.discrepancy)
    assert (found[1].blamed, found[1].reason) == (alone.blamed, alone.reason)


def test_budgets_end_it(models: GeometricModels) -> None:
    trace = imagine(models, table(*PLACES[:5]), plan(TOWER))
    fallen = moved(trace.graphs[3], green=(0.56, 0.04, H), blue=(0.42, 0.05, H), yellow=(0.5, -0.1, H))
    asked = [request(models, fallen, trace, 2), request(models, trace.graphs[2], trace, 1)]
    planner = RecoveryPlanner(models)
    for budget in ({"max_expansions": 1}, {"budget_s": 0.0}):
        stopped = planner.recover_many(asked, **budget)
        assert stopped[0].status is RecoveryStatus.BUDGET_EXHAUSTED
        assert "stopped" in stopped[0].reason
        assert stopped[1].status is RecoveryStatus.ALREADY_AT_SUBGOAL
    with pytest.raises(InvalidConfiguration, match="budgets"):
        planner.recover_many(asked, budget_s=-1.0)


def test_a_long_search_looks_for_any_way_first(
    models: GeometricModels, fleet: list[Request], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The phases that most searches never need."""
    monkeypatch.setattr("nsrecover.planning.fleet_search.DIRECT_EXPANSIONS", 1)
    planner = RecoveryPlanner(models)
    for asked, found in zip(fleet, planner.recover_many(fleet), strict=True):
        same(found, planner.recover(asked.graph, asked.trace, asked.discrepancy, budget_s=None))


def test_costs_of_ones_own_and_enumerated_places_are_supported(models: GeometricModels, fleet: list[Request]) -> None:
    def dear_towers(action: Action) -> float:
        return 3.0 if action.operator == "top" else 1.0

    for planner in (
        RecoveryPlanner(models, action_cost=dear_towers),
        RecoveryPlanner(models, free_places=enumerated_places),
    ):
        for asked, found in zip(fleet[:12], planner.recover_many(fleet[:12]), strict=True):
            alone = planner.recover(asked.graph, asked.trace, asked.discrepancy, budget_s=None)
            assert found.status is alone.status
            assert found.cost == pytest.approx(alone.cost)


def test_the_learned_models_agree_with_themselves() -> None:
    """What cameras saw in the shipped episode, held against every step of the plan, with the shipped checkpoint."""
    system = load()
    recording = example()
    perceive = system.perceiver()
    graphs = [perceive(observation) for observation in recording.observations]
    start = system.imagination.trace(graphs[0], recording.plan)
    asked = []
    for graph in graphs:
        trace = start.with_objects_of(graph)
        for number in range(len(recording.plan)):
            discrepancy = system.comparison.after(graph, trace, number)
            if graph.names == trace.graphs[0].names and discrepancy:
                asked.append(Request(graph, trace, discrepancy))
    assert len(asked) >= 4
    for rejoin in Rejoin:
        planner = RecoveryPlanner(system.bundle, rejoin=rejoin)
        together = planner.recover_many(asked)
        assert any(recovery.actions for recovery in together)
        for request_, found in zip(asked, together, strict=True):
            same(found, planner.recover(request_.graph, request_.trace, request_.discrepancy, budget_s=None))

"""The world model over places, against exhaustive search with the operators' own preconditions and no pruning."""

from collections import deque
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from nsrecover.core import Action, RecoveryStatus, SceneGraph, Trace
from nsrecover.domains.tabletop.operators import operator_of
from nsrecover.errors import InvalidConfiguration
from nsrecover.planning.neural_model import NeuralModel
from nsrecover.planning.planner import RecoveryPlanner
from nsrecover.planning.subgoals import Subgoal
from tests.nsrecover.planning.geometric import MODELS, SIDE, compare, imagine, moved, plan, recovered, table

SPOTS = tuple((x, y) for x in (0.38, 0.52, 0.66) for y in (-0.2, 0.0, 0.2))


def unit_cost(_: Action) -> float:
    return 1.0


def disturb(rng: np.random.Generator, graph: SceneGraph) -> SceneGraph:
    """Some blocks stay; all others are set down again at random: on spots of the table or on each other."""
    boxes = graph.boxes.copy()
    tops = [i for i in range(len(graph)) if boxes[i, 2] < SIDE and rng.random() < 0.3]
    spots = [spot for spot in rng.permutation(SPOTS) if all(np.abs(spot - boxes[top, :2]).max() > SIDE for top in tops)]
    for i in [i for i in rng.permutation(len(graph)) if i not in tops]:
        if tops and rng.random() < 0.5:
            below = tops.pop(int(rng.integers(len(tops))))
            boxes[i, :3] = boxes[below, :3] + np.array([0, 0, SIDE])
        else:
            boxes[i, :3] = (*spots.pop(), SIDE / 2)
        tops.append(i)
    return replace(graph, boxes=boxes)


def exhaustive(graph: SceneGraph, trace: Trace, action_cost: Callable[[Action], float] = unit_cost) -> float:
    """Cheapest total cost when any clear block may go to any place known for it, or to a free corner of its own."""
    left = [sum(map(action_cost, trace.plan.actions[t:])) for t in range(len(trace.graphs))]
    corners = [(0.33, -0.32), (0.33, 0.32), (0.72, -0.32), (0.72, 0.32)]
    places = []
    for i in range(len(graph)):
        boxes = [graph.boxes[i], *(g.boxes[i] for g in trace.graphs)]
        boxes.append(np.array([*corners[i], SIDE / 2, SIDE, SIDE, SIDE], dtype=np.float32))
        places.append(np.unique(np.round(boxes, 5), axis=0).astype(np.float32))

    def at(state: tuple[int, ...]) -> SceneGraph:
        scene = graph
        for i, place in enumerate(state):
            scene = scene.with_node(i, places[i][place])
        return scene

    start = tuple(int(np.abs(options - graph.boxes[i]).sum(axis=1).argmin()) for i, options in enumerate(places))
    cost, queue, best = {start: 0.0}, deque([start]), np.inf
    while queue:
        state = queue.popleft()
        scene = at(state)
        for t, goal in enumerate(trace.graphs):
            if (MODELS.same(goal.visual, goal.boxes, scene.visual, scene.boxes) >= MODELS.threshold).all():
                best = min(best, cost[state] + left[t])
        for i, options in enumerate(places):
            for place in range(len(options)):
                after = (*state[:i], place, *state[i + 1 :])
                action = Action("restore", (graph.names[i],), tuple(map(float, options[place])))
                total = cost[state] + action_cost(action)
                if total < cost.get(after, np.inf) - 1e-12 and not operator_of(action).violated(scene, action):
                    cost[after] = total
                    queue.append(after)
    return float(best)


@pytest.mark.parametrize("seed", range(24))
def test_pruning_loses_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    start = table(*(SPOTS[i] for i in rng.permutation(len(SPOTS))[:4]))
    trace = imagine(start, plan("top green red; top blue green" if seed % 2 else "top blue yellow; top red green"))
    graph = disturb(rng, trace.graphs[2 if seed % 3 else 1])
    recovery = recovered(graph, trace, 1, budget_s=None)
    best = exhaustive(graph, trace)
    assert recovery.found
    assert recovery.proven_optimal or recovery.status is RecoveryStatus.ALREADY_AT_SUBGOAL
    assert recovery.cost == best


def test_refined_actions_that_cost_more_than_the_search_counted_are_not_called_optimal() -> None:
    """The search counts `top`; the robot has to turn the brick, too, which is what `restore` does."""
    graph = table((0.45, 0.06), (0.45, -0.06), (0.6, 0.2))
    brick = graph.index("red cube")
    trace = imagine(graph.with_node(brick, (*graph.boxes[brick, :3], 1.5 * SIDE, SIDE, SIDE)), plan("top red green"))
    lying = graph.with_node(brick, (0.6, -0.2, 0.75 * SIDE, SIDE, SIDE, 1.5 * SIDE))
    planner = RecoveryPlanner(MODELS, lambda action: 3.0 if action.operator == "restore" else 1.0)
    found = planner.recover(lying, trace, compare(lying, trace, 0), budget_s=None)
    assert [action.operator for action in found.actions] == ["restore"]
    assert (found.cost, found.lower_bound, found.proven_optimal) == (3.0, 0.0, False)


def test_an_action_without_cost_is_refused() -> None:
    trace = imagine(table(*SPOTS[:4]), plan("top green red"))
    graph = moved(trace.graphs[1], green=(0.6, 0.1, 0.025))
    with pytest.raises(InvalidConfiguration, match="expected action costs > 0, found 0"):
        RecoveryPlanner(MODELS, lambda _: 0.0).recover(graph, trace, compare(graph, trace, 0))


def test_order_comes_from_the_plan() -> None:
    trace = imagine(table(*SPOTS[:4]), plan("top green red; left yellow blue"))
    graph = moved(trace.graphs[2], green=(0.6, 0.1, 0.025), yellow=(0.6, -0.1, 0.025))
    first = NeuralModel(MODELS, graph, [trace], [Subgoal(0, 2)], {"green cube": 0, "yellow cube": 1})
    second = NeuralModel(MODELS, graph, [trace], [Subgoal(0, 2)], {"green cube": 1, "yellow cube": 0})
    assert [move.owner for move in first.applicable(first.start)] == [1, 3]
    assert [move.owner for move in second.applicable(second.start)] == [3, 1]

"""The bound from the order of moves, against exhaustive search over all moves that the tables of places allow."""

import heapq
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

from nsrecover.planning.move_order import Blocking, MoveOrder
from nsrecover.planning.neural_model import NeuralModel, State, Untouched
from nsrecover.planning.subgoals import Subgoal
from tests.nsrecover.planning.geometric import MODELS, imagine, plan, table
from tests.nsrecover.planning.test_neural_model import SPOTS, disturb

PLANS = ("top green red; top blue green", "top blue yellow; top red green", "left green red; top blue green")


def successors(model: NeuralModel, state: State) -> list[State]:
    """Every object that carries nothing goes to any place known for it, wanted there or not."""
    after = []
    for place, (owner, *_) in enumerate(model.places):
        here = state.places[owner]
        rest = state.occupied & ~(1 << here)
        below = model.blocking.carriers[place]
        lifted = owner not in model.fixed and not model.blocking.above[here] & rest
        if lifted and place != here and not model.blocking.clash[place] & rest and (not below or below & rest):
            after.append(state.moved(owner, place))
    return after


def least_moves(model: NeuralModel, subgoal: int) -> dict[State, float]:
    """Fewest moves to a subgoal from every state that can be reached from the start, inf where there is no way."""
    into, known, waiting = defaultdict(list), {model.start}, [model.start]
    while waiting:
        state = waiting.pop()
        for after in successors(model, state):
            into[after].append(state)
            if after not in known:
                known.add(after)
                waiting.append(after)
    least = dict.fromkeys(known, np.inf)
    queue = [(0.0, state) for state in known if not model.misplaced(state, subgoal)]
    while queue:
        cost, state = heapq.heappop(queue)
        if cost < least[state]:
            least[state] = cost
            for before in into[state]:
                heapq.heappush(queue, (cost + 1.0, before))
    return least


def scrambled(seed: int, fixed: frozenset[int] = frozenset()) -> NeuralModel:
    """Four cubes of a plan, set down anew at random, or (odd seeds) in each other's places."""
    rng = np.random.default_rng(seed)
    start = table(*(SPOTS[i] for i in rng.permutation(len(SPOTS))[:4]))
    trace = imagine(start, plan(PLANS[seed % 3]))
    graph = disturb(rng, trace.graphs[2])
    if seed % 2:
        graph = replace(graph, boxes=trace.graphs[2].boxes[rng.permutation(4)])
    model = NeuralModel(MODELS, graph, [trace], [Subgoal(0, step) for step in range(3)], {}, Untouched(fixed))
    model.detours(model.start)  # free places join the table
    return model


@pytest.mark.parametrize("seed", range(40))
def test_the_bound_never_exceeds_the_fewest_moves_and_is_zero_exactly_at_the_subgoal(seed: int) -> None:
    model = scrambled(seed, frozenset({seed % 4}) if seed % 5 == 0 else frozenset())
    for subgoal in range(3):
        for state, least in least_moves(model, subgoal).items():
            bound = model.least_cost(state, subgoal)
            (plain,) = model.discrepancy([state])[1][:, subgoal]
            assert plain <= bound <= least
            assert (bound == 0) == (least == 0)


def test_the_bound_of_cubes_in_each_others_places_is_mostly_exact() -> None:
    exact, better, states = 0, 0, 0
    for seed in range(1, 40, 2):
        model = scrambled(seed)
        for subgoal in range(3):
            least = least_moves(model, subgoal)[model.start]
            bound = model.least_cost(model.start, subgoal)
            exact += bound == least
            better += bound > model.discrepancy([model.start])[1][0, subgoal]
            states += 1
    assert exact >= 0.8 * states
    assert better >= 0.3 * states


def test_what_is_right_but_stands_in_the_way_moves_twice() -> None:
    """Object 1 rests on object 0, which has to go from place 0 to place 2; object 1 is to end where it is."""
    blocking = Blocking(owner=[0, 1, 0], clash=[0, 0, 0], above=[2, 0, 0], carriers=[0, 0, 0])
    order = MoveOrder(blocking, right=0b110, fixed=frozenset())
    assert order.moves((0, 1), 0b011) == 3
    assert MoveOrder(blocking, right=0b110, fixed=frozenset({1})).moves((0, 1), 0b011) == np.inf

"""The search on blocksworld, against the true optimum found by breadth-first search over every state."""

from collections import deque
from dataclasses import dataclass, field

import numpy as np
import pytest

from nsrecover.core.recovery import ReasonCode, RecoveryStatus
from nsrecover.planning.search import SearchResult, search

TABLE = -1
Below = tuple[int, ...]  # what each block stands on


@dataclass
class Blocksworld:
    """Blocks on a table; a step (a, b) puts the clear block a on the clear block b or on the table.

    `fixed` blocks cannot be picked up, so some problems have no solution. `weights` are the costs of moving each block.
    """

    subgoals: tuple[Below, ...]
    fixed: frozenset[int] = frozenset()
    weights: tuple[float, ...] | None = None
    batches: list[int] = field(default_factory=list)

    def steps(self, state: Below) -> list[tuple[int, int]]:
        clear = [block for block in range(len(state)) if block not in state]
        places = [*clear, TABLE]
        return [(a, b) for a in clear if a not in self.fixed for b in places if b not in (a, state[a])]

    def wanted(self, step: tuple[int, int]) -> bool:
        return any(goal[step[0]] == step[1] for goal in self.subgoals)

    def applicable(self, state: Below) -> list[tuple[int, int]]:
        return [step for step in self.steps(state) if self.wanted(step)]

    def detours(self, state: Below) -> list[tuple[int, int]]:
        return [step for step in self.steps(state) if not self.wanted(step)]

    @property
    def cheapest(self) -> float:
        return 1.0 if self.weights is None else min(self.weights)

    def successors(self, state: Below, steps: list[tuple[int, int]]) -> list[Below]:
        return [(*state[:a], b, *state[a + 1 :]) for a, b in steps]

    def discrepancy(self, states: list[Below]) -> tuple[np.ndarray, np.ndarray]:
        self.batches.append(len(states))
        wrong = np.array(states)[:, None] != np.array(self.subgoals)[None]
        # the real-valued part weighs wrong blocks unevenly, as a learned discriminator would
        uneven = (wrong * np.linspace(0.7, 1.0, wrong.shape[-1])).sum(-1)
        return uneven.astype(np.float32), (wrong.sum(-1) * self.cheapest).astype(np.float32)

    def cost(self, step: tuple[int, int]) -> float:
        return 1.0 if self.weights is None else self.weights[step[0]]

    def key(self, state: Below) -> Below:
        return state


def random_state(rng: np.random.Generator, blocks: int) -> Below:
    """Blocks stacked at random."""
    state, tops = [TABLE] * blocks, [TABLE]
    for block in rng.permutation(blocks):
        below = tops[int(rng.integers(len(tops)))]
        state[block] = int(below)
        tops = [top for top in tops if top == TABLE or top != below] + [int(block)]
    return tuple(state)


def optimum(model: Blocksworld, start: Below, to_go: list[float]) -> float:
    """Cheapest total by uniform-cost search over every reachable state (Bellman-Ford on a queue: costs may differ)."""
    known, queue = {start: 0.0}, deque([start])
    while queue:
        state = queue.popleft()
        steps = model.steps(state)
        for step, after in zip(steps, model.successors(state, steps), strict=True):
            cost = known[state] + model.cost(step)
            if cost < known.get(after, np.inf) - 1e-9:
                known[after] = cost
                queue.append(after)
    totals = [known[goal] + rest for goal, rest in zip(model.subgoals, to_go, strict=True) if goal in known]
    return min(totals, default=np.inf)


def check(model: Blocksworld, start: Below, to_go: list[float], result: SearchResult) -> None:
    """The path is one of the model's, ends where it says and costs what it says."""
    state, spent = start, 0.0
    for step, expected in zip(result.path, result.states, strict=True):
        assert step in model.steps(state)
        (state,) = model.successors(state, [step])
        assert state == expected
        spent += model.cost(step)
    assert state == model.subgoals[result.subgoal]
    assert result.cost == pytest.approx(spent + to_go[result.subgoal])


@pytest.mark.parametrize("seed", range(60))
def test_finds_the_optimum_and_proves_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    blocks, goals = int(rng.integers(3, 6)), int(rng.integers(1, 7))
    weights = tuple(rng.choice([1.0, 1.5, 4.0], blocks)) if seed % 3 == 0 else None
    fixed = frozenset(int(i) for i in range(blocks) if rng.random() < 0.2)
    model = Blocksworld(tuple(random_state(rng, blocks) for _ in range(goals)), fixed, weights)
    start = random_state(rng, blocks)
    to_go = [float(cost) for cost in rng.integers(0, 6, goals)]

    result = search(model, start, to_go)
    best = optimum(model, start, to_go)
    if start in model.subgoals:
        assert result.status is RecoveryStatus.ALREADY_AT_SUBGOAL
    elif best == np.inf:
        assert result.status is RecoveryStatus.IMPOSSIBLE
        assert result.reason_code is None
        assert result.lower_bound == np.inf
    else:
        assert result.status is RecoveryStatus.RECOVERED
        assert result.proven_optimal
        assert result.cost == pytest.approx(best)
        assert result.lower_bound == pytest.approx(best)
        check(model, start, to_go, result)


@pytest.mark.parametrize("seed", range(60))
def test_costs_as_small_as_the_tie_breaking_constants_are_told_apart(seed: int) -> None:
    rng = np.random.default_rng(2000 + seed)
    blocks = int(rng.integers(3, 6))
    # differences as small as that, between large costs or between small ones
    base, small = ((1.0, [1e-6, 2e-6, 3e-6]), (0.0, [1e-6, 2e-6, 1e-3, 2e-3]))[seed % 2]
    weights = tuple(base + float(weight) for weight in rng.choice(small, blocks))
    model = Blocksworld((random_state(rng, blocks),), weights=weights)
    start, plan = random_state(rng, blocks), []
    for _ in range(4):  # subgoals along a plan: many ways with equally many steps
        steps = model.steps(model.subgoals[-1])
        plan.append(steps[int(rng.integers(len(steps)))])
        model.subgoals += tuple(model.successors(model.subgoals[-1], plan[-1:]))
    noise = rng.choice(small, len(plan) + 1)
    to_go = [sum(map(model.cost, plan[t:])) + float(noise[t]) for t in range(len(plan) + 1)]
    result = search(model, start, to_go, settle=False)
    assert result.proven_optimal
    assert result.cost == pytest.approx(optimum(model, start, to_go), rel=0, abs=1e-9)
    check(model, start, to_go, result)


@pytest.mark.parametrize("seed", range(20))
def test_a_budget_gives_the_best_so_far_and_a_true_bound(seed: int) -> None:
    rng = np.random.default_rng(1000 + seed)
    model = Blocksworld(tuple(random_state(rng, 5) for _ in range(4)))
    start, to_go = random_state(rng, 5), [6.0, 4.0, 2.0, 0.0]
    best = optimum(model, start, to_go)
    costs = []
    for nodes in (1, 3, 10, 40, 1000):
        result = search(model, start, to_go, max_expansions=nodes)
        assert result.expansions <= nodes
        assert result.lower_bound <= best + 1e-9
        assert result.cost >= best - 1e-9
        if result.subgoal is not None:
            check(model, start, to_go, result)
        else:
            assert result.status is RecoveryStatus.BUDGET_EXHAUSTED
        costs.append(result.cost)
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] == pytest.approx(best)


def test_unsolvable_is_told_from_out_of_budget() -> None:
    model = Blocksworld(((1, TABLE, TABLE), (2, TABLE, TABLE)), fixed=frozenset({0}))
    assert search(model, (TABLE,) * 3, [1.0, 0.0]).status is RecoveryStatus.IMPOSSIBLE
    stopped = search(model, (TABLE,) * 3, [1.0, 0.0], max_expansions=1)
    assert stopped.status is RecoveryStatus.BUDGET_EXHAUSTED
    assert stopped.reason_code is ReasonCode.NODE_BUDGET
    assert search(model, (TABLE,) * 3, [1.0, 0.0], budget_s=0.0).reason_code is ReasonCode.TIME_BUDGET


def test_already_there_takes_the_subgoal_nearest_to_the_goal() -> None:
    here = (TABLE, 0, 1)
    result = search(Blocksworld(((TABLE, 0, TABLE), here, here, (1, TABLE, 0))), here, [3.0, 2.0, 1.0, 0.0])
    assert result.status is RecoveryStatus.ALREADY_AT_SUBGOAL
    assert (result.path, result.subgoal, result.cost, result.expansions) == ((), 2, 1.0, 0)


def test_a_start_at_a_subgoal_can_still_be_searched_for_something_cheaper() -> None:
    here, nearly = (TABLE, 0, 1), (TABLE, 0, TABLE)
    model, costs = Blocksworld((here, nearly)), [5.0, 1.0]
    assert search(model, here, costs).subgoal == 0
    better = search(model, here, costs, settle=False)
    assert (better.status, better.cost, better.subgoal) == (RecoveryStatus.RECOVERED, 2.0, 1)
    assert better.proven_optimal
    kept = search(model, here, [1.5, 1.0], settle=False)
    assert (kept.status, kept.path, kept.cost, kept.proven_optimal) == (
        RecoveryStatus.ALREADY_AT_SUBGOAL, (), 1.5, True,
    )  # fmt: skip


def test_of_equal_cost_it_rejoins_the_plan_early() -> None:
    plan = ((TABLE,) * 4, (TABLE, 0, TABLE, TABLE), (TABLE, 0, 1, TABLE), (TABLE, 0, 1, 2))
    # block 1 fell off: redoing the step costs 1 and two remain; redoing everything in the recovery costs 3 as well
    result = search(Blocksworld(plan[1:]), (TABLE, 3, TABLE, TABLE), [2.0, 1.0, 0.0])
    assert (result.cost, len(result.path), result.subgoal) == (3.0, 1, 0)

"""The true optimum: worked by hand, against brute force, and against an independent planner."""

from collections import deque
from dataclasses import replace

import numpy as np
import pytest

from eval.common.optimum import ASIDE, Move, Puzzle, Spot, fewest
from eval.common.optimum_check import placings

SIDE = 0.05


def puzzle(start: list[tuple[float, int | None]], reference: list[list[tuple[float, int | None]]]) -> Puzzle:
    """Cubes in a row: the column x of every object and what it stands on, at the start and along the reference."""
    spots, right = list[Spot](), list[list[bool]]()
    states = [start, *reference]

    def height(state: list[tuple[float, int | None]], i: int) -> float:
        below = state[i][1]
        return SIDE / 2 if below is None else height(state, below) + SIDE

    def key(state: list[tuple[float, int | None]], i: int) -> tuple[float, float, int | None]:
        return state[i][0], round(height(state, i), 3), state[i][1]

    keys: list[tuple[int, tuple[float, float, int | None]]] = [(i, key(start, i)) for i in range(len(start))]
    keys += [(i, key(state, i)) for state in reference for i in range(len(start)) if (i, key(state, i)) not in keys]
    keys = list(dict.fromkeys(keys))
    for i, (x, z, below) in keys:
        spots.append(Spot(i, np.array([x, 0.0, z]), np.array([0.0, 0.0, 0.0, 1.0]), below))
        right.append([key(state, i) == (x, z, below) for state in reference])
    count = len(spots)
    clash, above = np.zeros((count, count), bool), np.zeros((count, count), bool)
    for a, one in enumerate(spots):
        for b, other in enumerate(spots):
            if one.owner == other.owner:
                continue
            clash[a, b] = bool((np.abs(one.position - other.position)[[0, 2]] < SIDE - 0.004).all())
            together = any(
                keys[a] == (one.owner, key(state, one.owner)) and keys[b] == (other.owner, key(state, other.owner))
                for state in states
            )
            above[a, b] = other.support == one.owner and together
    names = tuple("abcdefgh"[: len(start)])
    area = (0.30, -0.35, 0.75, 0.35, 0.28, 0.81)
    return Puzzle(names, tuple(spots), np.array(right), clash, above, np.full((len(start), 3), SIDE), area)


def brute_force(given: Puzzle) -> int | None:
    """Breadth-first search without a bound."""
    waiting, cost, best = deque([given.start]), {given.start: 0}, None
    while waiting:
        now = waiting.popleft()
        for t in range(given.length + 1):
            if given.reached(now, t):
                total = cost[now] + given.length - t
                best = total if best is None else min(best, total)
        for step in given.steps(now):
            after = (*now[: step.owner], step.spot, *now[step.owner + 1 :])
            if after not in cost:
                cost[after] = cost[now] + 1
                waiting.append(after)
    return best


@pytest.mark.parametrize("seed", range(15))
def test_it_is_what_brute_force_finds(seed: int) -> None:
    given = random_puzzle(seed)
    best = fewest(given)
    assert (None if best is None else best.cost) == brute_force(given)


def random_puzzle(seed: int) -> Puzzle:
    rng = np.random.default_rng(seed)
    count, columns = 4, [0.40, 0.46, 0.52, 0.58, 0.64]

    def arrangement() -> list[tuple[float, int | None]]:
        state, tops = list[tuple[float, int | None]](), dict[float, int | None]()
        for i in range(count):
            x = float(rng.choice(columns))
            state.append((x, tops.get(x)))
            tops[x] = i
        return state

    return puzzle(arrangement(), [arrangement() for _ in range(3)])


def test_there_is_room_to_set_things_aside_or_there_is_not() -> None:
    given = puzzle([(0.5, None), (0.4, None)], [[(0.4, None), (0.5, None)]])
    steps = [Move(0, ASIDE), Move(1, 3), Move(0, 2)]
    assert placings(given, steps) is not None
    assert placings(replace(given, area=(0.39, -0.01, 0.51, 0.01, 0.3, 0.8)), steps) is None

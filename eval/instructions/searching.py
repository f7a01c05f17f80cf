"""Expected cost of finding an object: the robot's order of places next to the best order under the true prior."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from eval.instructions.episodes import carried_out
from nsrecover.domains.service.home import Home
from nsrecover.instructions.belief import Belief
from sim.home.scenes import drawn_home, drawn_world

Costs = npt.NDArray[np.float64]


def best_expected_cost(chances: Costs, first: Costs, between: Costs) -> float:
    """The least expected cost of visiting places until the object is found; exact, by dynamic programming over sets.

    Args:
        chances: (N,) probability of every place; sums to 1.
        first: (N,) cost of the first visit.
        between: (N, N) cost of going from one place to another.
    """
    n = len(chances)
    sets = np.arange(1 << n, dtype=np.int32)
    inside = [(sets >> j) & 1 == 1 for j in range(n)]
    left, size = np.ones(1 << n, np.float32), np.zeros(1 << n, np.int8)
    for j in range(n):
        left[inside[j]] -= chances[j]
        size += inside[j]
    order = np.argsort(size, kind="stable")
    starts = np.searchsorted(size[order], np.arange(n + 2))
    cost = np.zeros((1 << n, n), np.float32)  # of what is still to come, in a set's last place
    between = between.astype(np.float32)
    for k in range(n - 1, 0, -1):
        layer = order[starts[k] : starts[k + 1]]
        best = np.full((len(layer), n), np.inf, np.float32)
        for j in range(n):
            out = np.flatnonzero(~inside[j][layer])
            members = layer[out]
            onward = cost[members | (1 << j), j][:, None] + left[members][:, None] * between[:, j][None, :]
            best[out] = np.minimum(best[out], onward)
        cost[layer] = best
    return float(min(first[j] + cost[1 << j, j] for j in range(n)))


def searched(home: Home, noun: str) -> list[str]:
    """The order in which the robot looks at places for an object that is nowhere."""
    world = drawn_world(home, 0, None, [])
    carried_out(home, world, f"find the {noun}")
    looks = [each.arguments[-1] for each in world.executed if each.operator.startswith("find_concrete")]
    return list(dict.fromkeys(looks))


def search_costs(homes: int, seed: int) -> dict[str, Any]:
    """The expected cost of finding one object in each of some drawn homes, next to the optimum.

    Args:
        homes: number of homes.
        seed: of the set.
    """
    ratios, robot, optimum = list[float](), list[float](), list[float]()
    for i in range(homes):
        rng = np.random.default_rng([seed, i, 7])
        home = drawn_home(int(rng.integers(1, 1_000_000)))
        own = {item.kind for item in home.items.values()}
        noun = str(rng.choice([each for each in home.nouns if each not in home.categories and each not in own]))
        belief, prior = Belief.at_start(home), home.prior(noun)
        order, here, spent, expected = searched(home, noun), home.robot, 0.0, 0.0
        if set(order) != set(prior):
            raise AssertionError(
                f"expected a look at every place for the {noun}, found {sorted(set(prior) - {*order})}"
            )
        for place in order:
            spent += belief.cost(here, place)
            expected += prior[place] * spent
            here = place
        first = np.array([belief.cost(home.robot, place) for place in prior])
        between = np.array([[belief.cost(one, other) for other in prior] for one in prior])
        robot.append(expected)
        optimum.append(best_expected_cost(np.array(list(prior.values())), first, between))
        ratios.append(expected / optimum[-1])
    return {
        "homes": homes,
        "over_optimum": float(np.sum(robot) / np.sum(optimum)),
        "worst": float(np.max(ratios)),
        "p95": float(np.quantile(ratios, 0.95)),
        "robot_s": float(np.mean(robot)),
        "optimum_s": float(np.mean(optimum)),
    }

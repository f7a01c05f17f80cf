"""Expected cost of finding an object: the robot's order of places next to the best order under the true prior."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from eval.instructions.episodes import ScriptedOperator
from nsrecover.domains.service.home import Home
from nsrecover.instructions.agent import ServiceAgent
from nsrecover.instructions.belief import Belief
from nsrecover.instructions.understanding import Understanding
from nsrecover.testing.simulated_home import drawn_home, drawn_world

Costs = npt.NDArray[np.float64]


def _least(chances: Costs, first: Costs, between: Costs) -> float:
    """The least expected cost, by dynamic programming over the sets of places that were visited."""
    n = len(chances)
    left = np.ones(1 << n, np.float32)
    cost = np.zeros((1 << n, n), np.float32)  # of what is still to come, in the last place of a set
    for visited in range(1, 1 << n):
        last = 0
        while not (visited >> last) & 1:
            last += 1
        left[visited] = left[visited & (visited - 1)] - chances[last]
    for visited in range((1 << n) - 2, 0, -1):
        for here in range(n):
            if (visited >> here) & 1:
                best = np.float32(np.inf)
                for there in range(n):
                    if not (visited >> there) & 1:
                        onward = left[visited] * between[here, there] + cost[visited | (1 << there), there]
                        best = min(best, onward)
                cost[visited, here] = best
    least = first[0] + cost[1, 0]
    for place in range(1, n):
        least = min(least, first[place] + cost[1 << place, place])
    return float(least)


_compiled: Any = numba.njit(_least)


def best_expected_cost(chances: Costs, first: Costs, between: Costs) -> float:
    """The least expected cost of visiting places until the object is found; exact.

    Args:
        chances: (N,) probability of every place; sums to 1.
        first: (N,) cost of the first visit.
        between: (N, N) cost of going from one place to another.
    """
    return float(_compiled(chances, first, between))


def searched(home: Home, noun: str) -> list[str]:
    """The order in which the robot looks at places for an object that is nowhere."""
    world = drawn_world(home, 0, None, [])
    ServiceAgent(Understanding(home), world, ScriptedOperator(), attempts=1).run(f"find the {noun}")
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

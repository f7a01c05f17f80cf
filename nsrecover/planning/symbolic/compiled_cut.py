"""The rounds of LM-cut compiled by Numba, an optional accelerator: the same landmarks as `landmark_cut`, sooner.

Every loop visits actions and propositions in the order of `landmark_cut`, so results do not depend on whether Numba is
installed (`pip install 'nsrecover[fast]'`). The first call compiles for some seconds; the machine code is kept on disk.
"""

import itertools
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

Landmark = tuple[float, list[int]]


class RaggedRows(NamedTuple):
    """Rows of numbers of different lengths, one after the other; row i is `items[starts[i]:starts[i + 1]]`."""

    starts: npt.NDArray[np.int64]
    items: npt.NDArray[np.int64]


def table(rows: Sequence[Sequence[int]]) -> RaggedRows:
    """Rows as a table."""
    starts = np.cumsum([0, *map(len, rows)])
    return RaggedRows(
        starts.astype(np.int64), np.fromiter(itertools.chain.from_iterable(rows), np.int64, int(starts[-1]))
    )


class CompiledCut:
    """The rounds of `LandmarkCut`.

    Args:
        tables: rows of needs and results of each action, and of users and makers of each proposition.
        costs: of the actions.
        goal: the proposition that stands for the goal.
        zero: smaller remaining costs are rounding errors.
    """

    def __init__(
        self, tables: Sequence[Sequence[Sequence[int]]], costs: Sequence[float], goal: int, zero: float
    ) -> None:
        self._tables = tuple(map(table, tables))
        self._costs, self._goal, self._zero = np.array(costs), goal, zero

    def __call__(self, start: Sequence[int], known: Sequence[Landmark], enough: float) -> list[Landmark] | None:
        """The further landmarks of a state; None if there is no way.

        Args:
            start: the propositions that hold.
            known: landmarks known before.
            enough: a bound that is large enough.
        """
        costs, total = self._costs.copy(), 0.0
        for least, cut in known:
            total += least
            rest = costs[cut] - least
            costs[cut] = np.where(rest > self._zero, rest, 0.0)
        possible, charges, starts, actions = _rounds(
            np.array(start), costs, total, enough, self._goal, self._zero, *self._tables
        )
        if not possible:
            return None
        listed, ends = actions.tolist(), starts.tolist()
        return [(least, listed[a:b]) for least, a, b in zip(charges.tolist(), ends[:-1], ends[1:], strict=True)]


@njit(cache=True)
def _rounds(start, costs, total, enough, goal, zero, before, achieved, users, makers):  # type: ignore[no-untyped-def] # pragma: no cover
    """All rounds; see `LandmarkCut` for what its parts do."""
    size, count = len(users.starts) - 1, len(before.starts) - 1
    charges, starts, actions = [0.0 for _ in range(0)], [0], [0 for _ in range(0)]
    # h-max; entries of equal cost are taken in the order in which they were made
    value = np.full(size, np.inf)
    support = np.full(count, -1)
    missing = before.starts[1:] - before.starts[:-1]
    queue = [(0.0, 0, 0) for _ in range(0)]
    made = 0
    for p in start:
        value[p] = 0.0
        heappush(queue, (0.0, made, p))
        made += 1
    level = 0.0
    while queue:
        cost, _, p = heappop(queue)
        if cost > level:
            if value[goal] == 0.0:
                break
            level = cost
        if value[p] < cost:
            continue
        for i in range(users.starts[p], users.starts[p + 1]):
            action = users.items[i]
            missing[action] -= 1
            if missing[action] == 0:
                support[action] = p
                after = cost + costs[action]
                for j in range(achieved.starts[action], achieved.starts[action + 1]):
                    q = achieved.items[j]
                    if after < value[q]:
                        value[q] = after
                        heappush(queue, (after, made, q))
                        made += 1
    possible = value[goal] < np.inf
    stack = np.empty(size + 1, np.int64)
    while possible and value[goal] > zero and total < enough:
        # cut
        zone = np.zeros(size, np.uint8)
        zone[goal] = 1
        stack[0], top = goal, 1
        while top:
            top -= 1
            q = stack[top]
            for i in range(makers.starts[q], makers.starts[q + 1]):
                action = makers.items[i]
                p = support[action]
                if p >= 0 and costs[action] == 0.0 and zone[p] == 0:
                    zone[p] = 1
                    stack[top] = p
                    top += 1
        for p in start:
            zone[p] = 2
            stack[top] = p
            top += 1
        first, least = len(actions), np.inf
        while top:
            top -= 1
            p = stack[top]
            for i in range(users.starts[p], users.starts[p + 1]):
                action = users.items[i]
                if support[action] == p:
                    crosses = False
                    for j in range(achieved.starts[action], achieved.starts[action + 1]):
                        q = achieved.items[j]
                        if zone[q] == 0:
                            zone[q] = 2
                            stack[top] = q
                            top += 1
                        elif zone[q] == 1:
                            crosses = True
                    if crosses:
                        actions.append(action)
                        least = min(least, costs[action])
        charges.append(least)
        starts.append(len(actions))
        total += least
        if total >= enough:
            break
        for i in range(first, len(actions)):
            rest = costs[actions[i]] - least
            costs[actions[i]] = rest if rest > zero else 0.0
        # update
        lowered = [(0.0, 0) for _ in range(0)]
        for i in range(first, len(actions)):
            action = actions[i]
            after = value[support[action]] + costs[action]
            for j in range(achieved.starts[action], achieved.starts[action + 1]):
                q = achieved.items[j]
                if after < value[q]:
                    value[q] = after
                    heappush(lowered, (after, q))
        while lowered:
            cost, p = heappop(lowered)
            if cost > value[p]:
                continue
            for i in range(users.starts[p], users.starts[p + 1]):
                action = users.items[i]
                if support[action] == p:
                    dearest, most = p, cost
                    for j in range(before.starts[action], before.starts[action + 1]):
                        q = before.items[j]
                        if value[q] > most:
                            dearest, most = q, value[q]
                    support[action] = dearest
                    after = most + costs[action]
                    for j in range(achieved.starts[action], achieved.starts[action + 1]):
                        q = achieved.items[j]
                        if after < value[q]:
                            value[q] = after
                            heappush(lowered, (after, q))
    return possible, np.array(charges), np.array(starts), np.array(actions)

"""LM-cut, a lower bound on the cost of reaching a goal.

Helmert & Domshlak, "Landmarks, critical paths and abstractions: what's the difference anyway?" (2009). Each round finds
a landmark, a set of actions of which every plan uses at least one. The cost of its cheapest action is added to the
bound and subtracted from all actions of the landmark, until the goal costs nothing. The data are plain lists, because a
round touches few of their items.
"""

import heapq
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property
from importlib.util import find_spec

INFINITY = float("inf")
ZERO = 1e-9
"""Smaller remaining costs are rounding errors."""
_FEW = 20
"""States up to which a task is not worth loading Numba, which takes longer than they do."""
_loaded = threading.Event()


@cache
def load_compiled() -> threading.Event:
    """Load the machine code in the background: that takes some tenths of a second, which no time budget pays for.

    Returns:
        What is set when it is loaded.
    """

    def load() -> None:
        from nsrecover.planning.symbolic.compiled_cut import CompiledCut

        CompiledCut(([(0,)], [(1,)], [[0], []], [[], [0]]), [1.0], 1, ZERO)([0], (), INFINITY)
        _loaded.set()

    threading.Thread(target=load, daemon=True).start()
    return _loaded


Landmark = tuple[float, list[int]]
"""Its share of the bound, and the actions of which every plan uses one."""


class LandmarkCut:
    """The bound for one goal of one task, for any state.

    Args:
        size: number of propositions.
        before: for each action the propositions it needs.
        achieved: for each action the propositions it makes true.
        costs: what each action costs; not negative.
        goal: propositions that must hold in the end.
    """

    def __init__(
        self,
        size: int,
        before: Sequence[Sequence[int]],
        achieved: Sequence[Sequence[int]],
        costs: Sequence[float],
        goal: Iterable[int],
    ) -> None:
        # two more propositions: one that always holds, for actions that need nothing, and one that stands for the goal,
        # which an action without cost achieves
        self._always, self._goal, self._size = size, size + 1, size + 2
        self._before = [tuple(dict.fromkeys(row)) or (self._always,) for row in (*before, goal)]
        self._achieved = [
            tuple(p for p in dict.fromkeys(row) if p not in need)
            for row, need in zip(achieved, self._before, strict=False)
        ]
        self._achieved.append((self._goal,))
        self._costs = [*map(float, costs), 0.0]
        self._users: list[list[int]] = [[] for _ in range(self._size)]
        self._makers: list[list[int]] = [[] for _ in range(self._size)]
        self._counts = [len(row) for row in self._before]
        self._calls = 0
        for action, row in enumerate(self._before):
            for p in row:
                self._users[p].append(action)
        for action, row in enumerate(self._achieved):
            for p in row:
                self._makers[p].append(action)

    @cached_property
    def compiled(self) -> Callable[[Sequence[int], Sequence[Landmark], float], list[Landmark] | None] | None:
        """The same rounds in machine code; None without Numba."""
        if find_spec("numba") is None:
            return None
        from nsrecover.planning.symbolic.compiled_cut import CompiledCut

        return CompiledCut((self._before, self._achieved, self._users, self._makers), self._costs, self._goal, ZERO)

    def __call__(
        self,
        holds: Iterable[int],
        known: Sequence[Landmark] = (),
        stop: Callable[[], bool] = lambda: False,
        enough: float = INFINITY,
    ) -> list[Landmark]:
        """Landmarks of a state; the sum of what is charged for them is the bound.

        Args:
            holds: the propositions that hold in it.
            known: landmarks of this state that were found before. Those of the state before an action are, except for
                those that contain the action (Pommerening & Helmert, "Incremental LM-cut", 2013).
            stop: called after every landmark; if it returns True, those found so far are returned.
            enough: a bound that is large enough; none above is looked for.

        Returns:
            The landmarks. No plan costs less than all their charges together; where even without deletes there is no
            plan, there is one landmark without actions, charged inf.
        """
        start = [*holds, self._always]
        self._calls += 1
        if self._calls == _FEW and find_spec("numba") is not None:
            load_compiled()
        if _loaded.is_set() and self.compiled is not None and not stop():
            further = self.compiled(start, known, enough)
            return [(INFINITY, [])] if further is None else [*known, *further]
        costs = self._costs[:]
        found = list(known)
        for least, cut in known:
            for action in cut:
                rest = costs[action] - least
                costs[action] = rest if rest > ZERO else 0.0
        value, support = self._cheapest_way(start, costs)
        if value[self._goal] == INFINITY:
            return [(INFINITY, [])]
        total = sum([least for least, _ in known])
        while value[self._goal] > ZERO and total < enough and not stop():
            cut = self._cut(start, costs, support)
            least = min([costs[action] for action in cut])
            found.append((least, cut))
            total += least
            if total >= enough:
                break
            for action in cut:
                rest = costs[action] - least
                costs[action] = rest if rest > ZERO else 0.0
            self._update(cut, costs, value, support)
        return found

    def _cheapest_way(self, start: Sequence[int], costs: Sequence[float]) -> tuple[list[float], list[int]]:
        """Cost of each proposition (h-max), and the most expensive need of each action (-1: it cannot be reached).

        Stops where the goal costs nothing. Propositions of equal cost wait in one list, because there are few costs.
        """
        users, achieved, goal = self._users, self._achieved, self._goal
        value = [INFINITY] * self._size
        missing = self._counts[:]
        support = [-1] * len(missing)
        for p in start:
            value[p] = 0.0
        waiting: dict[float, list[int]] = {0.0: list(start)}
        levels = [0.0]
        while levels:
            cost = heapq.heappop(levels)
            level = waiting.pop(cost)
            for p in level:  # grows
                if value[p] < cost:
                    continue
                for action in users[p]:
                    missing[action] -= 1
                    if not missing[action]:
                        support[action] = p  # the last of its needs to be met is the dearest
                        after = cost + costs[action]
                        for q in achieved[action]:
                            if after < value[q]:
                                value[q] = after
                                if after == cost:
                                    level.append(q)
                                elif after in waiting:
                                    waiting[after].append(q)
                                else:
                                    waiting[after] = [q]
                                    heapq.heappush(levels, after)
            if value[goal] == 0.0:
                break
        return value, support

    def _cut(self, start: Iterable[int], costs: Sequence[float], support: Sequence[int]) -> list[int]:
        """Actions on the border between what costs nothing to the goal and what is reached before that."""
        makers, users, achieved = self._makers, self._users, self._achieved
        zone = bytearray(self._size)  # 1: from there the goal costs nothing; 2: reached without entering that
        zone[self._goal] = 1
        stack = [self._goal]
        while stack:
            for action in makers[stack.pop()]:
                p = support[action]
                if p >= 0 and costs[action] == 0.0 and not zone[p]:
                    zone[p] = 1
                    stack.append(p)
        cut: list[int] = []
        for p in start:
            zone[p] = 2
            stack.append(p)
        while stack:
            p = stack.pop()
            for action in users[p]:
                if support[action] == p:
                    crosses = False
                    for q in achieved[action]:
                        if not zone[q]:
                            zone[q] = 2
                            stack.append(q)
                        elif zone[q] == 1:
                            crosses = True
                    if crosses:
                        cut.append(action)
        return cut

    def _update(self, cut: Iterable[int], costs: Sequence[float], value: list[float], support: list[int]) -> None:
        """Lower the values that depend on the actions of the cut, which have become cheaper."""
        users, achieved, before = self._users, self._achieved, self._before
        queue: list[tuple[float, int]] = []
        pop, push = heapq.heappop, heapq.heappush
        for action in cut:
            after = value[support[action]] + costs[action]
            for q in achieved[action]:
                if after < value[q]:
                    value[q] = after
                    push(queue, (after, q))
        while queue:
            cost, p = pop(queue)
            if cost > value[p]:
                continue
            for action in users[p]:
                if support[action] == p:
                    dearest, most = p, cost
                    for q in before[action]:
                        if value[q] > most:
                            dearest, most = q, value[q]
                    support[action] = dearest
                    after = most + costs[action]
                    for q in achieved[action]:
                        if after < value[q]:
                            value[q] = after
                            push(queue, (after, q))

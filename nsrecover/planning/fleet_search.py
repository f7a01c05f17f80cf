"""One search of a fleet: the same as `nsrecover.planning.search` for a packed model, on integers alone.

It is a generator, so that many can be under way at once: where it needs a free place it says so and waits, and whoever
runs it (`nsrecover.planning.fleet`) asks the networks for all that wait together.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Generator, Sequence
from math import inf
from operator import add
from typing import NamedTuple

from nsrecover.core.recovery import RecoveryStatus
from nsrecover.planning.neural_model import Move, State
from nsrecover.planning.packed import PackedModel
from nsrecover.planning.search import GREEDY_WEIGHT
from nsrecover.planning.search_tree import REJOIN_EARLY, Ending, SearchResult

DIRECT_EXPANSIONS = 256
"""Nodes expanded best first before a way is looked for greedily: most searches need fewer to prove theirs best."""

TURN = 256
"""Nodes expanded before the others have their turn."""

STEP = 1.0 + REJOIN_EARLY
"""What an action counts in the objective."""

STEPS = tuple(STEP * count for count in range(256))
"""What so many actions count."""


class Wanted(NamedTuple):
    """A free place that a search waits for: for the object in a place, with these places occupied."""

    here: int
    occupied: int


Node = tuple[int, int, int, int, int]
"""How a state was reached: actions so far, who is misplaced in it, from which state, and the move (from, to)."""


NEW, LATE = -2, -1
"""Kinds of things to try in a state: moves to places of subgoals, or to free space. Numbers from 0 are places whose
object has to get out of the way, for which a free place has to be found first."""

_Entry = tuple[float, int, int, int, int]
"""Promise, actions so far (negative: more are better), when it was made, state, kind."""


class _Judge:
    """What states promise, from who is misplaced in them.

    Args:
        to_go: (K,) cost-to-go of each subgoal; infinite for those that cannot be reached.
    """

    def __init__(self, to_go: Sequence[float]) -> None:
        self.to_go = to_go
        self.known: dict[int, tuple[float, float, int | None]] = {}

    def __call__(self, misplaced: int) -> tuple[float, float, int | None]:
        """The least that the way to a subgoal and on to the goal may cost; where one is already, the rest and which."""
        judged = self.known.get(misplaced)
        if judged is None:
            counts = misplaced.to_bytes(len(self.to_go), "little")
            least = min(map(add, map(STEPS.__getitem__, counts), self.to_go))
            at: tuple[float, int | None] = (inf, None)
            if 0 in counts:
                at = min([(rest, k) for k, (n, rest) in enumerate(zip(counts, self.to_go, strict=True)) if not n])
                if at[0] == inf:
                    at = (inf, None)
            judged = self.known[misplaced] = (least, *at)
        return judged

    def weighted(self, misplaced: int, weight: float) -> float:
        """The bound with more weight on the way to the subgoal."""
        if weight == 1.0:
            return self(misplaced)[0]
        counts = misplaced.to_bytes(len(self.to_go), "little")
        return min([weight * STEP * n + rest for n, rest in zip(counts, self.to_go, strict=True)])

    def cheapest(self, misplaced: int) -> float:
        """The bound, and nothing but what actions cost and the cost-to-go in it."""
        counts = misplaced.to_bytes(len(self.to_go), "little")
        return min([n + rest for n, rest in zip(counts, self.to_go, strict=True)])


Search = Generator[Wanted | None, Sequence[int], SearchResult[State, Move]]
"""Waits for free places, or has had its turn (None); is told the numbers of the places that were made."""


class FleetSearch:
    """Finds the cheapest way from the start of a model to any of its subgoals.

    Best first with an admissible bound, so that the first way that is not worse than what is open is the cheapest; only
    if that takes long a way is looked for greedily, to have one when the budget ends. A free place is not asked for
    before it is the most promising thing to try.

    Args:
        model: what is searched; free places are added to it by whoever runs this.
        max_expansions: nodes that may be expanded; None: no limit.
        time_is_up: asked before every expansion; if it says true, the best so far is returned.
    """

    def __init__(self, model: PackedModel, max_expansions: int | None, time_is_up: Callable[[], bool]) -> None:
        problem, lanes = model.problem, model.tables.misplaced
        subgoals, count = len(problem.subgoals), len(problem.graph)
        misplaced = sum(lanes[:count])
        to_go = problem.to_go(misplaced.to_bytes(subgoals, "little"))
        for i in problem.fixed:  # what cannot be moved stays wrong for good
            to_go = [
                inf if wrong else rest for wrong, rest in zip(lanes[i].to_bytes(subgoals, "little"), to_go, strict=True)
            ]
        self.model = model
        self.judge = _Judge(to_go)
        self.max_expansions = max_expansions
        self.time_is_up = time_is_up
        self.everywhere_wrong = int.from_bytes(bytes([1] * subgoals), "little")
        self.start = (1 << count) - 1
        self.nodes: dict[int, Node] = {self.start: (0, misplaced, self.start, -1, -1)}
        self.best, self.reached = inf, self.start
        self.subgoal: int | None = None
        self.weight = 1.0
        self.made = self.expansions = 0
        self.waiting: list[_Entry] = [(0.0, 0, 0, self.start, NEW)]

    def promise(self, occupied: int, kind: int, weight: float) -> float:
        """What the objective will be at least, if all goes well and the bound counts as much as the weight says."""
        cost, misplaced, *_ = self.nodes[occupied]
        if kind >= 0:
            misplaced += self.everywhere_wrong - self.model.tables.misplaced[kind]
            cost += 1
        # detours lower no bound: a way through one costs an action more than the node promised
        return self.judge.weighted(misplaced, weight) + (cost + (weight if kind == LATE else 0)) * STEP

    def push(self, occupied: int, kind: int) -> None:
        """Something to be tried, unless what it promises is no better than what has been found."""
        promise = self.promise(occupied, kind, 1.0)
        if promise < self.best:
            if self.weight > 1.0:
                promise = self.promise(occupied, kind, self.weight)
            self.made += 1
            heapq.heappush(self.waiting, (promise, -self.nodes[occupied][0], self.made, occupied, kind))

    def follow(self, occupied: int, steps: Sequence[tuple[int, int]]) -> bool:
        """Make the states after some moves (from, to); true if one of them is the best end so far."""
        nodes, lanes = self.nodes, self.model.tables.misplaced
        cost, misplaced, *_ = nodes[occupied]
        cost += 1
        so_far = cost * STEP
        better = False
        for here, place in steps:
            after = occupied ^ (1 << here) ^ (1 << place)
            known = nodes.get(after)
            if known is not None and known[0] <= cost:
                continue
            then = misplaced - lanes[here] + lanes[place]
            nodes[after] = (cost, then, occupied, here, place)
            bound, rest, at = self.judge(then)
            if at is not None and so_far + rest < self.best:
                self.best, self.reached, self.subgoal, better = so_far + rest, after, at, True
            if bound + so_far < self.best:
                self.made += 1
                promise = bound if self.weight == 1.0 else self.judge.weighted(then, self.weight)
                heapq.heappush(self.waiting, (promise + so_far, -cost, self.made, after, NEW))
        return better

    def expand(self, occupied: int, kind: int) -> Generator[Wanted | None, Sequence[int], bool]:
        """Try what an entry stands for; true if that gave the best end so far."""
        model = self.model
        if kind == NEW:
            self.expansions += 1
            steps = model.steps(occupied)
            self.push(occupied, LATE)
        elif kind == LATE:
            self.expansions += 1
            steps = []
            for here in model.ready(occupied, model.needed(occupied)[1]):
                places = model.usable(here, occupied)
                if places is None:
                    self.push(occupied, here)
                else:
                    steps += [(here, place) for place in places]
        else:
            known = model.usable(kind, occupied)
            found = (yield Wanted(kind, occupied)) if known is None else known
            if known is None and not found:
                model.no_room.add(model.tables.owner[kind])
            steps = [(kind, place) for place in found]
        return self.follow(occupied, steps)

    def interruption(self) -> Ending | None:
        """Whether, and why, to stop before the next expansion."""
        if self.max_expansions is not None and self.expansions >= self.max_expansions:
            return Ending.NODES
        return Ending.TIME if self.time_is_up() else None

    def run(self) -> Search:
        """The search, as a generator."""
        _, rest, self.subgoal = self.judge(self.nodes[self.start][1])
        if self.subgoal is not None:
            self.best = rest  # a plan that moves something twice may be shortened all the same
        for self.weight, spend in ((1.0, DIRECT_EXPANSIONS), (GREEDY_WEIGHT, None), (1.0, None)):
            if self.weight > 1.0 and self.subgoal is not None:
                continue
            self.waiting = [(self.promise(o, kind, self.weight), g, n, o, kind) for _, g, n, o, kind in self.waiting]
            heapq.heapify(self.waiting)
            until = inf if spend is None else self.expansions + spend
            while self.waiting and self.expansions < until:
                entry = heapq.heappop(self.waiting)
                promise, done, _, occupied, kind = entry
                if self.weight > 1.0:
                    promise = self.promise(occupied, kind, 1.0)
                if self.nodes[occupied][0] < -done or promise >= self.best:
                    continue
                ending = self.interruption()
                if ending is not None:
                    self.waiting.append(entry)
                    return self.result(ending, self.least())
                if self.expansions % TURN == TURN - 1:
                    yield None
                if (yield from self.expand(occupied, kind)) and self.weight > 1.0:
                    break
        return self.result(Ending.EXHAUSTED if self.subgoal is None else Ending.PROVEN, proven=self.subgoal is not None)

    def least(self) -> float:
        """What no way through anything that is left to be tried costs less than."""
        left = [inf]
        for _, done, _, occupied, kind in self.waiting:
            cost, misplaced, *_ = self.nodes[occupied]
            if cost == -done:
                left.append(self.judge.cheapest(misplaced) + cost + (kind == LATE))
        return min(left)

    def result(self, ending: Ending, least: float = inf, proven: bool = False) -> SearchResult[State, Move]:
        """The way that was found, or that there is none; `least` is what none costs less than."""
        if self.subgoal is None:
            exhausted = ending is Ending.EXHAUSTED
            status = RecoveryStatus.IMPOSSIBLE if exhausted else RecoveryStatus.BUDGET_EXHAUSTED
            return SearchResult(status, lower_bound=least, expansions=self.expansions, ending=ending)
        path: list[Move] = []
        state = self.reached
        while state != self.start:
            _, _, before, here, place = self.nodes[state]
            path.append(self.model.move(here, place, before))
            state = before
        cost = self.nodes[self.reached][0] + self.judge.to_go[self.subgoal]
        return SearchResult(
            RecoveryStatus.RECOVERED if path else RecoveryStatus.ALREADY_AT_SUBGOAL,
            tuple(reversed(path)),
            subgoal=self.subgoal,
            cost=cost,
            lower_bound=min(least, cost),
            proven_optimal=proven,
            expansions=self.expansions,
            ending=ending,
        )

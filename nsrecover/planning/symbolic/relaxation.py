"""The delete relaxation of a grounded task, in which actions make nothing false.

Negative conditions are compiled away: a fact that something forbids gets a second proposition, its negation, which the
actions achieve that delete the fact. Propositions that hold in the state cost nothing.
"""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nsrecover.planning.symbolic.strips import Condition, GroundAction, bits_of

Costs = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.intp]


class Propositions:
    """Facts, and the negations of those that something forbids, numbered; facts keep their numbers.

    Args:
        facts: how many there are.
        actions: whose negative conditions count.
        conditions: further conditions that count.
    """

    def __init__(self, facts: int, actions: Iterable[GroundAction], conditions: Iterable[Condition]) -> None:
        negated = {fact for action in actions for fact in action.forbids}
        negated.update(*(bits_of(condition.forbids) for condition in conditions))
        self.facts = facts
        self.negation = {fact: facts + i for i, fact in enumerate(sorted(negated))}
        self._negated = np.array(sorted(negated), dtype=np.intp)

    def __len__(self) -> int:
        return self.facts + len(self.negation)

    def true_in(self, state: int) -> npt.NDArray[np.bool_]:
        """(P,) which propositions hold in a state."""
        holds: npt.NDArray[np.bool_] = self.true_in_all([state])[0]
        return holds

    def true_in_all(self, states: Sequence[int]) -> npt.NDArray[np.bool_]:
        """(B, P) which propositions hold in which state."""
        size = (self.facts + 7) // 8
        packed = np.frombuffer(b"".join(state.to_bytes(size, "little") for state in states), dtype=np.uint8)
        holds = np.unpackbits(packed.reshape(len(states), size), axis=1, count=self.facts, bitorder="little")
        return np.concatenate([holds, 1 - holds[:, self._negated]], axis=1).astype(np.bool_)

    def bits(self, state: int) -> int:
        """The propositions that hold in a state, as bits."""
        for fact, p in self.negation.items():
            if not state >> fact & 1:
                state |= 1 << p
        return state

    def of(self, condition: Condition) -> list[int]:
        """The propositions that a condition is made of."""
        return [*bits_of(condition.needs), *[self.negation[fact] for fact in bits_of(condition.forbids)]]

    def before(self, action: GroundAction) -> list[int]:
        """The propositions an action needs."""
        return [*action.needs, *[self.negation[fact] for fact in action.forbids]]

    def achieved(self, action: GroundAction) -> list[int]:
        """The propositions an action makes true."""
        if not self.negation:
            return list(action.adds)
        undone = set(action.deletes) - set(action.adds)
        return [*action.adds, *(self.negation[fact] for fact in sorted(undone) if fact in self.negation)]

    def undone(self, action: GroundAction) -> list[int]:
        """The propositions an action makes false."""
        gone = [fact for fact in action.deletes if fact not in action.adds]
        return [*gone, *(self.negation[fact] for fact in action.adds if fact in self.negation)]


@dataclass(frozen=True, eq=False)
class RelaxedPlan:
    """A plan that reaches a condition if actions make nothing false.

    Attributes:
        actions: numbers of the actions, those that can be run at once first.
        helpful: those of them that can be run at once.
        cost: their cost.
    """

    actions: tuple[int, ...]
    helpful: tuple[int, ...]
    cost: float


class Relaxation:
    """Relaxed costs by value iteration over all actions at once (Bonet & Geffner 2001, the additive heuristic).

    Args:
        propositions: the numbering.
        actions: what can be done.
        costs: what each action costs; positive.
    """

    def __init__(self, propositions: Propositions, actions: Sequence[GroundAction], costs: Sequence[float]) -> None:
        self.propositions = propositions
        self.before = [propositions.before(action) for action in actions]
        self.achieved = [propositions.achieved(action) for action in actions]
        self.undone = [propositions.undone(action) for action in actions]
        self.costs = np.asarray(costs, dtype=np.float64)
        size = len(propositions)
        # one more proposition, which always holds, fills the rows of actions that need less than others
        width = max((len(row) for row in self.before), default=0)
        filled = [row + [size] * (max(width, 1) - len(row)) for row in self.before]
        self._needs = np.ascontiguousarray(np.array(filled, dtype=np.intp).reshape(len(actions), max(width, 1)).T)
        counts = [len(row) for row in self.achieved]
        results = np.fromiter((p for row in self.achieved for p in row), dtype=np.intp, count=sum(counts))
        makers = np.repeat(np.arange(len(actions)), counts)
        order = np.argsort(results, kind="stable")
        self._makers: Numbers = makers[order]
        self._results, self._starts = np.unique(results[order], return_index=True)
        self._ends = np.append(self._starts[1:], len(order))
        self._row_of = np.full(size + 1, -1, dtype=np.intp)
        self._row_of[self._results] = np.arange(len(self._results))

    def additive(self, holds: npt.NDArray[np.bool_]) -> tuple[Costs, Costs]:
        """Estimated cost of each proposition and of each action's conditions, from a state; inf if there is no way.

        Args:
            holds: (P,) the propositions that hold.

        Returns:
            (P + 1,) of the propositions, the last of which always holds, and (A,) of the conditions.
        """
        value = np.full(len(holds) + 1, np.inf)
        value[:-1][holds] = 0.0
        value[-1] = 0.0
        if len(self._starts) == 0:
            return value, value[self._needs].sum(axis=0)
        old = value[self._results]
        while True:
            need = value[self._needs[0]]
            for row in self._needs[1:]:
                need += value[row]
            through = (need + self.costs)[self._makers]
            new = np.minimum(old, np.minimum.reduceat(through, self._starts))
            if np.array_equal(new, old):
                return value, need
            value[self._results] = new
            old = new

    def plan(
        self, goal: Sequence[int], value: Costs, need: Costs, supporters: dict[int, list[int]] | None = None
    ) -> RelaxedPlan:
        """A relaxed plan for some propositions (Hoffmann & Nebel 2001), by the cheapest supporters.

        The most expensive proposition is supported first. Of equally cheap supporters the search takes one that is
        already chosen, or else the one that achieves most of the goal: side effects need no action of their own.

        Args:
            goal: the propositions; their value must be finite.
            value: from `additive`.
            need: from `additive`.
            supporters: the cheapest supporters of propositions, filled as they are worked out; pass the same for
                further goals in the same state.
        """
        known = {} if supporters is None else supporters
        chosen: set[int] = set()
        wanted = {p for p in goal if value[p] > 0.0}
        seen = set(wanted)
        waiting = [(-value[p], p) for p in seen]
        heapq.heapify(waiting)
        while waiting:
            _, p = heapq.heappop(waiting)
            cheapest = known.get(p)
            if cheapest is None:
                row = self._row_of[p]
                makers = self._makers[self._starts[row] : self._ends[row]]
                through = need[makers] + self.costs[makers]
                cheapest = known[p] = makers[through <= through.min() + 1e-9].tolist()
            if not chosen.isdisjoint(cheapest):
                continue
            best = max(cheapest, key=lambda a: sum(q in wanted for q in self.achieved[a]))
            chosen.add(best)
            for q in self.before[best]:
                if q not in seen and value[q] > 0.0:
                    seen.add(q)
                    heapq.heappush(waiting, (-value[q], q))
        helpful = tuple(sorted(a for a in chosen if need[a] == 0.0))
        rest = sorted(a for a in chosen if need[a] > 0.0)
        return RelaxedPlan((*helpful, *rest), helpful, float(sum(self.costs[a] for a in chosen)))

    def destroyed(self, plan: RelaxedPlan, goal: Sequence[int], holds: npt.NDArray[np.bool_]) -> list[int]:
        """The propositions of a goal that hold (P,) and that a relaxed plan makes false and never true again."""
        undone = {p for a in plan.actions for p in self.undone[a]}
        redone = {p for a in plan.actions for p in self.achieved[a]}
        return [p for p in goal if p in undone and p not in redone and holds[p]]

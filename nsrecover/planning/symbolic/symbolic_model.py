"""The search's world model over a grounded task.

The subgoals are the kernels of the old plan (`strips`); the last one is the goal itself, so that the
cheapest way to any of them, counting the rest of the plan from there, is the cheapest way to the goal.
"""

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from nsrecover.core.protocols import BoundArray
from nsrecover.core.scene import FloatArray
from nsrecover.planning.symbolic.landmark_cut import Landmark, LandmarkCut
from nsrecover.planning.symbolic.mutexes import Mutexes
from nsrecover.planning.symbolic.relaxation import Costs, Propositions, Relaxation, RelaxedPlan
from nsrecover.planning.symbolic.strips import Condition, GroundAction, StripsTask, bits_of, mask
from nsrecover.planning.symbolic.stubborn import StubbornSets

SUBGOALS_CONSIDERED = 3
"""Subgoals for which a relaxed plan is made in a state: those that look cheapest by the additive costs."""

MOST_PROPOSITIONS = 3000
"""Largest number of propositions whose pairs are examined; the time grows with its cube, 0.7 s for 2,600."""

SETTLING = 256
"""Expansions by which the first way is improved before it is announced: about 0.1 s."""

SETTLING_ACTIONS = 250_000
"""The same times the number of actions, at most."""

INFERENCE = 1e-5
"""Cost of a rule in the estimate; it keeps rules from supporting each other."""

_FAR = 1e12  # stands for infinity in matrix products, where inf times 0 is not 0


class SymbolicModel:
    """`LazyModel` over a grounded task; states are ints, steps are numbers of the task's actions.

    The first bound is the number of missing literals over the most that one action supplies; the tight one is LM-cut
    to the goal, less what the plan costs from a subgoal on. The estimate is the cost of a relaxed plan (FF) to subgoals
    that look nearest, plus the cost of restoring the parts of the subgoal that the relaxed plan destroys.
    Without that term the estimate rewards building the top of a tower before its middle.

    Args:
        task: what can be done; its initial state is the start of the search; its goal is not used.
        subgoals: K conditions, the last of which is the goal.
        costs_to_go: what reaching the goal costs from each of them, 0 for the last.
        preferred: actions in the order in which they are to be tried, for example the old plan's.
        costs: (A,) what each action counts, positive; the actions' own costs by default.
        stop: asked regularly by what takes long; if it returns true, that ends without an answer.
    """

    def __init__(
        self,
        task: StripsTask,
        subgoals: Sequence[Condition],
        costs_to_go: Sequence[float],
        preferred: Sequence[GroundAction] = (),
        costs: Sequence[float] | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self.actions, self._stop = task.actions, stop
        # fewer in large tasks, where each takes longer
        self.settling = min(SETTLING, SETTLING_ACTIONS // max(1, len(task.actions)))
        self.costs = [float(action.cost) for action in task.actions] if costs is None else list(costs)
        self.cheapest = min(self.costs, default=1.0)
        self.costs_to_go = np.asarray(costs_to_go, dtype=np.float64)
        self._start, self._facts, self._goal = task.initial, task.facts, subgoals[-1]
        relaxed = (*task.actions, *task.rules)
        estimated = [*self.costs, *[INFERENCE] * len(task.rules)]
        self._propositions = Propositions(len(task.facts), relaxed, subgoals)
        self._relaxation = Relaxation(self._propositions, relaxed, estimated)
        self._goals = [self._propositions.of(subgoal) for subgoal in subgoals]
        self._relevant = np.unique([p for goal in self._goals for p in goal]).astype(np.intp)
        row_of = {int(p): row for row, p in enumerate(self._relevant)}
        self._member = np.zeros((len(self._relevant), len(subgoals)))
        for k, goal in enumerate(self._goals):
            self._member[[row_of[p] for p in goal], k] = 1.0
        self._most, makeable = 1, set[int]()
        self._restore: dict[int, float] = {}
        for cost, row in zip(estimated, self._relaxation.achieved, strict=True):
            makeable.update(row)
            supplied = row_of.keys() & row
            self._most, cost = max(self._most, len(supplied)), max(cost, self.cheapest)
            self._restore |= {p: min(cost, self._restore.get(p, np.inf)) for p in supplied}
        never = np.array([int(p) not in makeable for p in self._relevant], dtype=np.bool_)
        self._unmakeable, self._hopeless = self._member * never[:, None], bool(never.any())
        first = {(action.name, action.arguments): i for i, action in reversed(list(enumerate(preferred)))}
        self._rank = [first.get((action.name, action.arguments), len(self.costs)) for action in task.actions]
        self._recommended: dict[int, tuple[int, ...]] = {}
        self._came_by: dict[int, tuple[int, int]] = {}
        self._landmarks: dict[int, list[Landmark]] = {}
        self._charged: tuple[int, float, dict[int, float]] = -1, 0.0, {}  # of the state expanded last
        self._needs = [action.precondition.needs for action in self.actions]
        self._forbids = [action.precondition.forbids for action in self.actions]
        self._index()

    def _index(self) -> None:
        """File every action under the one of its needs that fewest actions share."""
        users = Counter(itertools.chain.from_iterable([action.needs for action in self.actions]))
        self._filed = defaultdict[int, list[int]](list)  # -1: those without needs
        for a, action in enumerate(self.actions):
            self._filed[min(action.needs, key=users.__getitem__, default=-1)].append(a)
        self._keys = mask(self._filed.keys() - {-1})

    # -- what a state is

    def _bits(self, state: int) -> int:
        """The facts that hold in a state, as bits."""
        return state

    def _after(self, state: int, action: int) -> int:
        return self.actions[action].apply(state)

    def _helpful(self, state: int, plan: RelaxedPlan, need: Costs) -> Sequence[int]:
        """The actions of a relaxed plan that can be run at once."""
        return plan.helpful

    # -- what the search asks for

    def applicable(self, state: int) -> Sequence[int]:
        """The relaxed plan's actions that can be run, those of the old plan first; none before `estimate`."""
        return self._recommended.get(state, ())

    def detours(self, state: int) -> Sequence[int]:
        """Every other action that can be run."""
        known = self._recommended.get(state, ())
        filed = itertools.chain.from_iterable(self._filed[fact] for fact in (-1, *bits_of(state & self._keys)))
        needs, forbids = self._needs, self._forbids
        return [a for a in filed if not needs[a] & ~state and not forbids[a] & state and a not in known]

    def successors(self, state: int, steps: Sequence[int]) -> list[int]:
        """The states after each of some actions."""
        after = [self._after(state, a) for a in steps]
        self._came_by.setdefault(state, (state, -1))  # only the start was not reached from elsewhere before
        for a, reached in zip(steps, after, strict=True):
            self._came_by.setdefault(reached, (state, a))
        return after

    def discrepancy(self, states: Sequence[int]) -> tuple[FloatArray, BoundArray]:
        """Missing literals, and the bound that follows from them, (B, K) each."""
        # as floats, for which matrix products are fast
        missing = (~self._propositions.true_in_all(states)[:, self._relevant]).astype(np.float64)
        count = missing @ self._member
        bound = np.ceil(count / self._most) * self.cheapest
        if self._hopeless:
            bound[missing @ self._unmakeable > 0] = np.inf
        return count.astype(np.float32), bound

    def estimate(self, state: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        """Relaxed cost to each subgoal, (K,); inf only where even without deletes there is no way."""
        holds = self._propositions.true_in(self._bits(state))
        value, need = self._relaxation.additive(holds)
        expected = np.minimum(value[self._relevant], _FAR) @ self._member
        expected[expected >= _FAR] = np.inf
        plans, supporters = {}, dict[int, list[int]]()
        for k in np.argsort(expected + self.costs_to_go, kind="stable")[:SUBGOALS_CONSIDERED]:
            if np.isfinite(expected[k]):
                plans[k] = self._relaxation.plan(self._goals[k], value, need, supporters)
        for k, plan in plans.items():
            lost = self._relaxation.destroyed(plan, self._goals[k], holds)
            expected[k] = plan.cost + sum(self._restore.get(p, 0.0) for p in lost)
        if plans:
            best = plans[min(plans, key=lambda k: expected[k] + self.costs_to_go[k])]
            helpful = self._helpful(state, best, need)
            self._recommended[state] = tuple(sorted(helpful, key=lambda a: (self._rank[a], a)))
        return expected

    def tighten(
        self, state: int, stop: Callable[[], bool], enough: float = np.inf
    ) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        """LM-cut to the goal, less the cost to go of each subgoal, (K,)."""
        chain = [state]  # what is known of the states on the way here saves most of the work
        while chain[-1] not in self._landmarks and self._came_by.get(chain[-1], (chain[-1], -1))[1] >= 0:
            chain.append(self._came_by[chain[-1]][0])
        for here in reversed(chain):
            if here in self._landmarks:
                continue
            before, action = self._came_by.get(here, (here, -1))
            known = [landmark for landmark in self._landmarks.get(before, ()) if action not in landmark[1]]
            holds = bits_of(self._propositions.bits(self._bits(here)))
            self._landmarks[here] = self._cut(holds, known, stop, enough if here == state else np.inf)
        return self._bound(sum([least for least, _ in self._landmarks[state]]))

    def bound_after(self, state: int, step: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        """The bound of the state after an action that follows from the landmarks of the state before it."""
        if self._charged[0] != state:
            charges = defaultdict[int, float](float)
            for least, cut in self._landmarks[state]:
                for action in cut:
                    charges[action] += least
            self._charged = state, sum([least for least, _ in self._landmarks[state]]), charges
        _, total, charged = self._charged
        return self._bound(total - charged.get(step, 0.0))

    def sufficient(self, state: int, steps: Sequence[int]) -> Sequence[int]:
        """The steps of a strong stubborn set."""
        if not self._stubborn.worthwhile:
            return steps
        landmarks = [cut for _, cut in self._landmarks[state]]
        return self._stubborn(self._propositions.bits(state), steps, landmarks)

    def _bound(self, cost: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        return np.maximum(cost - self.costs_to_go, 0.0)

    def cost(self, step: int) -> float:
        """Cost of an action."""
        return self.costs[step]

    def key(self, state: int) -> int:
        """The state."""
        return state

    @cached_property
    def _stubborn(self) -> StubbornSets:
        relaxed = self._relaxation
        size = len(self._propositions)
        return StubbornSets(size, relaxed.before, relaxed.achieved, relaxed.undone, self.mutexes)

    # -- for explanations

    @cached_property
    def _cut(self) -> LandmarkCut:
        relaxed = self._relaxation
        costs = [*self.costs, *[0.0] * (len(relaxed.before) - len(self.costs))]
        return LandmarkCut(len(self._propositions), relaxed.before, relaxed.achieved, costs, self._goals[-1])

    @cached_property
    def mutexes(self) -> Mutexes:
        """Pairs of propositions that exclude each other in every state that can be reached from the start."""
        relaxed = self._relaxation
        holds = bits_of(self._propositions.bits(self._start))
        return Mutexes(len(self._propositions), relaxed.before, relaxed.achieved, relaxed.undone, holds, self._stop)

    def solvable(self) -> bool:
        """False if pairs of propositions prove that there is no way from the start; True if they say nothing."""
        if len(self._propositions) > MOST_PROPOSITIONS:
            return True
        return not self.mutexes.conflicts(self._goals[-1])

    def lost(self) -> tuple[str, ...]:
        """Literals of the goal for which there is no way from the start, even without deletes or one at a time."""
        goal = self._goals[-1]
        value, _ = self._relaxation.additive(self._propositions.true_in(self._start))
        lost = [p for p in goal if np.isinf(value[p])]
        if not lost and not self.solvable():
            lost = [p for p, q in self.mutexes.conflicts(goal) if p == q]
        return tuple(map(self._text, lost))

    def conflicts(self) -> tuple[tuple[str, str], ...]:
        """Pairs of literals of the goal that exclude each other."""
        if self.solvable():
            return ()
        return tuple((self._text(p), self._text(q)) for p, q in self.mutexes.conflicts(self._goals[-1]))

    def _text(self, proposition: int) -> str:
        if proposition < len(self._facts):
            return self._facts[proposition]
        fact_of = {p: fact for fact, p in self._propositions.negation.items()}
        return f"not {self._facts[fact_of[proposition]]}"

"""The search's world model over a domain that is more than STRIPS: laws, derived predicates, conditional effects."""

from collections.abc import Sequence

import numpy as np

from nsrecover.core.protocols import BoundArray
from nsrecover.core.scene import FloatArray
from nsrecover.domains.base import Formula, State
from nsrecover.domains.instance import Instance
from nsrecover.planning.symbolic.grounding import Grounding
from nsrecover.planning.symbolic.relaxation import Costs, RelaxedPlan
from nsrecover.planning.symbolic.strips import GroundAction, mask
from nsrecover.planning.symbolic.symbolic_model import SymbolicModel

_AT_ONCE = 0.5  # an action that needs less than this can be run at once


class SimulatedModel(SymbolicModel):
    """`SymbolicModel` whose states are those of an instance of a domain, numbered as they are found; 0 is the start.

    The instance says what can be done in a state, what comes of it, and whether the goal holds. Estimates and bounds
    are those of the grounded task, whose rules stand for everything that is more than STRIPS.

    Args:
        instance: the domain over the objects of a scene.
        grounding: its relaxation from the start.
        start: the facts at the start.
        goal: what has to hold in the end.
        preferred: actions in the order in which they are to be tried.
        costs: (A,) what each action counts, positive.
    """

    def __init__(
        self,
        instance: Instance,
        grounding: Grounding,
        start: State,
        goal: Sequence[Formula],
        preferred: Sequence[GroundAction],
        costs: Sequence[float],
    ) -> None:
        self._instance, self._wanted, self._number = instance, tuple(goal), grounding.numbers
        self._states, self._known = [start], {start: 0}
        self._seen, self._always = dict[int, int](), 0
        super().__init__(grounding.task, [grounding.task.goal], [0.0], preferred, costs)
        self._always = self._unconfirmed(start)
        self._seen.clear()

    def _unconfirmed(self, start: State) -> int:
        """The derived literals of the start that no rule confirms; they count as always true."""
        value, _ = self._relaxation.additive(self._propositions.true_in(self._bits(0)))
        return mask(
            number
            for key, number in self._number.items()
            if isinstance(key, tuple) and len(key) == 2 and isinstance(key[1], bool)
            and value[number] >= _AT_ONCE and self._instance.atom(start, key[0]) is key[1]
        )  # fmt: skip

    def _bits(self, state: int) -> int:
        known = self._seen.get(state)
        if known is None:
            facts = (*self._states[state], *self._instance.static)
            known = self._seen[state] = mask(self._number[f] for f in facts if f in self._number) | self._always
        return known

    def _after(self, state: int, action: int) -> int:
        step = self.actions[action]
        after = self._instance.apply(self._states[state], step.name, step.arguments)
        number = self._known.setdefault(after, len(self._states))
        if number == len(self._states):
            self._states.append(after)
        return number

    def _runs(self, state: int, action: int) -> bool:
        step = self.actions[action]
        return self._instance.applicable(self._states[state], step.name, step.arguments)

    def _helpful(self, state: int, plan: RelaxedPlan, need: Costs) -> Sequence[int]:
        return [a for a in plan.actions if a < len(self.actions) and need[a] < _AT_ONCE and self._runs(state, a)]

    def detours(self, state: int) -> Sequence[int]:
        """Every other action that can be run."""
        known = self._recommended.get(state, ())
        return [a for a in range(len(self.actions)) if a not in known and self._runs(state, a)]

    def discrepancy(self, states: Sequence[int]) -> tuple[FloatArray, BoundArray]:
        """Conditions of the goal that do not hold, and the bound that follows from them, (B, 1) each."""
        missing = [[sum(not self._instance.holds(self._states[s], part) for part in self._wanted)] for s in states]
        count = np.array(missing, dtype=np.float32).reshape(len(states), 1)
        return count, np.minimum(count, 1.0).astype(np.float64) * self.cheapest

    def solvable(self) -> bool:
        """Nothing is proven."""
        return True

    def sufficient(self, state: int, steps: Sequence[int]) -> Sequence[int]:
        """All steps."""
        return steps

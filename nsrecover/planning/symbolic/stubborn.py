"""Strong stubborn sets: actions that suffice in a state, because the others can wait (partial-order reduction).

If actions do not interfere, their order does not matter, and a search need not try every order. From every state that
has a plan, some cheapest plan starts with an action of the set (Wehrle & Helmert, "Efficient stubborn sets: generalized
algorithms and selection strategies", 2014), so the search stays complete and optimal.
"""

from collections.abc import Collection, Iterable, Sequence

from nsrecover.planning.symbolic.mutexes import Mutexes
from nsrecover.planning.symbolic.strips import bits_of, mask

TRIAL = 200
"""States after which the reduction is judged."""

WORTHWHILE = 0.1
"""Share of the actions that it has to spare; with less it costs more than it saves, and is given up."""


class StubbornSets:
    """The reduction for one task.

    Args:
        size: number of propositions.
        before: for each action the propositions it needs.
        achieved: for each action the propositions it makes true.
        undone: for each action the propositions it makes false.
        mutexes: pairs of propositions that exclude each other; actions whose needs do never interfere.
    """

    def __init__(
        self,
        size: int,
        before: Sequence[Sequence[int]],
        achieved: Sequence[Sequence[int]],
        undone: Sequence[Sequence[int]],
        mutexes: Mutexes,
    ) -> None:
        self._before, self._achieved, self._undone, self._mutexes = before, achieved, undone, mutexes
        self._needs = [mask(row) for row in before]
        self._users, self._makers, self._breakers = ([0] * size for _ in range(3))
        for rows, index in ((before, self._users), (achieved, self._makers), (undone, self._breakers)):
            for action, row in enumerate(rows):
                if mutexes.possible[action]:
                    for p in row:
                        index[p] |= 1 << action
        self._interfering: dict[int, int] = {}
        self._seen = self._offered = self._spared = 0

    @property
    def worthwhile(self) -> bool:
        """Whether the reduction has spared enough so far, or is not judged yet."""
        return self._seen < TRIAL or self._spared >= WORTHWHILE * self._offered

    def __call__(self, holds: int, steps: Sequence[int], landmarks: Iterable[Collection[int]]) -> list[int]:
        """Those of the actions that can be run in a state that suffice.

        Args:
            holds: the propositions that hold in the state, as bits.
            steps: the actions that can be run.
            landmarks: sets of actions of which every plan from the state uses one.
        """
        runnable = mask(steps)
        seed = min(landmarks, key=len, default=None)
        if seed is None:
            return list(steps)
        chosen = new = mask(seed)
        while new:
            further = 0
            for action in bits_of(new):
                if runnable >> action & 1:
                    further |= self._interferes(action)
                else:
                    further |= self._enabling(action, holds, chosen | further)
            new = further & ~chosen
            chosen |= new
            if not runnable & ~chosen:
                break
        kept = [action for action in steps if chosen >> action & 1]
        self._seen += 1
        self._offered += len(steps)
        self._spared += len(steps) - len(kept)
        return kept

    def _enabling(self, action: int, holds: int, chosen: int) -> int:
        """The actions that make true a proposition that an action lacks: one of them comes before it in every plan."""
        best, fewest = 0, -1
        for p in self._before[action]:
            if not holds >> p & 1:
                makers = self._makers[p]
                count = (makers & ~chosen).bit_count()
                if fewest < 0 or count < fewest:
                    best, fewest = makers, count
        return best

    def _interferes(self, action: int) -> int:
        """The actions that can be run in a state in which this one can, and do not commute with it there."""
        known = self._interfering.get(action)
        if known is None:
            known = 0
            for p in self._undone[action]:
                known |= self._users[p] | self._makers[p]
            for p in self._before[action]:
                known |= self._breakers[p]
            for p in self._achieved[action]:
                known |= self._breakers[p]
            compatible = self._mutexes.compatible(self._before[action])
            known = mask(other for other in bits_of(known) if not self._needs[other] & ~compatible)
            self._interfering[action] = known
        return known

"""Pairs of propositions that hold together in no reachable state (h^2 of Haslum & Geffner, 2000).

Reachability is computed for pairs instead of single propositions: an action can be run if all pairs of what it needs
are reachable; afterwards what it achieves holds together with everything that was compatible with its needs and that it
does not make false. A row of the relation is a Python int, so that an action costs a few operations on ints.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from nsrecover.planning.symbolic.strips import bits_of, mask

CHECKED_EVERY = 64
"""Actions between two questions whether there is time left."""


class Mutexes:
    """Pairs that are reachable together from a state.

    Args:
        size: number of propositions.
        before: for each action the propositions it needs.
        achieved: for each action the propositions it makes true.
        undone: for each action the propositions it makes false.
        holds: the propositions that hold in the state.
        stop: asked regularly; if it returns true, nothing is known to exclude anything.

    Attributes:
        together: for each proposition those that can hold together with it, as bits; itself if it can hold at all.
        possible: whether each action can ever be run.
    """

    def __init__(
        self,
        size: int,
        before: Sequence[Sequence[int]],
        achieved: Sequence[Sequence[int]],
        undone: Sequence[Sequence[int]],
        holds: Iterable[int],
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self._size = size
        now = mask(holds)
        self.together = [now if now >> p & 1 else 0 for p in range(size)]
        self.possible = [False] * len(before)
        needs, adds = [mask(row) for row in before], [mask(row) for row in achieved]
        kept = [~mask(row) for row in undone]
        everything = (1 << size) - 1
        waiting = list(range(len(before)))
        last = [-1] * len(before)  # the compatible propositions when the action was last applied
        grown = True
        while grown:
            grown = False
            single = mask(p for p, row in enumerate(self.together) if row)
            for a in waiting:
                if a % CHECKED_EVERY == 0 and stop():
                    self.together, self.possible = [everything] * size, [True] * len(before)
                    return
                compatible = single if not before[a] else everything
                for p in before[a]:
                    compatible &= self.together[p]
                if compatible == last[a] or needs[a] & ~compatible:
                    continue
                last[a], self.possible[a] = compatible, True
                after = compatible & kept[a] | adds[a]
                for p in achieved[a]:
                    if after & ~self.together[p]:
                        self.together[p] |= after
                        grown = True
            if grown:
                self._symmetric()

    def _symmetric(self) -> None:
        """Complete the relation so that it is symmetric."""
        width = (self._size + 7) // 8
        packed = np.frombuffer(b"".join(row.to_bytes(width, "little") for row in self.together), dtype=np.uint8)
        bits = np.unpackbits(packed.reshape(self._size, width), axis=1, count=self._size, bitorder="little")
        bits |= bits.T.copy()
        packed = np.packbits(bits, axis=1, bitorder="little")
        self.together = [int.from_bytes(row.tobytes(), "little") for row in packed]

    def compatible(self, propositions: Iterable[int]) -> int:
        """The propositions that can hold together with each of some others, as bits."""
        found = (1 << self._size) - 1
        for p in propositions:
            found &= self.together[p]
        return found

    def conflicts(self, propositions: Sequence[int]) -> list[tuple[int, int]]:
        """Pairs of some propositions that exclude each other; one that can never hold is paired with itself."""
        wanted = mask(propositions)
        return [(p, q) for p in propositions for q in bits_of(wanted & ~self.together[p]) if p <= q]

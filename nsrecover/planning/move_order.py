"""Lower bound on the number of moves to a subgoal, from the order in which objects have to leave and arrive.

An object leaves its place with its first move and arrives with its last one. Some of these moves have to come before
others: what stands on an object leaves before it; what occupies a place leaves before another object arrives there; a
carrier arrives before what it carries. An object with one move leaves and arrives at once. If a cycle of the order
follows from that, one of its objects needs a second move. (Slaney and Thiébaux, "Blocks World revisited", 2001, call
such cycles deadlocks.)
"""

from collections import deque
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from nsrecover.planning.symbolic.strips import bits_of

BRANCHINGS = 3
"""Cycles for which each object is tried as the one that moves twice; further cycles count only if they are disjoint."""


class Blocking(NamedTuple):
    """How places exclude and carry each other; masks have bit p set for place p.

    Attributes:
        owner: the object of each place.
        clash: places that exclude a place.
        above: places on top of a place: while one is occupied, the object there cannot be picked up.
        carriers: places of which one has to be occupied before something is put at a place; 0: none.
    """

    owner: Sequence[int]
    clash: Sequence[int]
    above: Sequence[int]
    carriers: Sequence[int]


Arcs = frozenset[tuple[int, int]]
"""Pairs of events of which the first has to come before the second; leaving of object i is 2i, arriving 2i + 1."""


class _Arrival(NamedTuple):
    """What excludes all places where an object may end, and the object that carries it there, or -1."""

    excluded: int
    carrier: int


class MoveOrder:
    """Least numbers of moves to one subgoal.

    Args:
        blocking: the places.
        right: mask of the places at which the subgoal has their objects.
        fixed: objects that cannot be moved.
    """

    def __init__(self, blocking: Blocking, right: int, fixed: frozenset[int]) -> None:
        self.blocking = blocking
        self.right = right
        self.fixed = fixed
        self._places = dict.fromkeys(blocking.owner, 0)
        for place in bits_of(right):
            self._places[blocking.owner[place]] |= 1 << place
        self._arrivals: dict[int, _Arrival] = {}

    def moves(self, places: Sequence[int], occupied: int) -> float:
        """Lower bound on the moves from a state to the subgoal; inf if something fixed would have to move.

        Args:
            places: the place of each object.
            occupied: mask of them.
        """
        before = set[tuple[int, int]]()
        twice, waiting = set[int](), [self.blocking.owner[place] for place in bits_of(occupied & ~self.right)]
        moving = set(waiting)
        while waiting:
            i = waiting.pop()
            if i in self.fixed:
                return float("inf")
            on_top, excluded = self.blocking.above[places[i]], self._arrival(i).excluded
            for event, mask in ((2 * i, on_top), (2 * i + 1, excluded)):
                for place in bits_of(mask & occupied & ~(1 << places[i])):
                    j = self.blocking.owner[place]
                    before.add((2 * j, event))
                    if j not in moving:
                        moving.add(j)
                        waiting.append(j)
                    if self.right >> place & 1 and not self._places[j] & ~(mask | 1 << place):
                        twice.add(j)  # it is where it should be, and has to return
        for i in moving:
            carrier = self._arrival(i).carrier
            if carrier in moving:
                before.add((2 * carrier + 1, 2 * i + 1))
        return len(moving) + len(twice) + _second_moves(_on_cycles(before), frozenset(twice), BRANCHINGS)

    def _arrival(self, i: int) -> _Arrival:
        """What has to be so before an object arrives, whichever of its places it goes to."""
        known = self._arrivals.get(i)
        if known is not None:
            return known
        excluded, carriers, carried = -1, 0, True
        for place in bits_of(self._places[i]):
            below = self.blocking.carriers[place]
            excluded &= self.blocking.clash[place]
            carried &= below != 0
            carriers |= below & self.right  # a carrier cannot move any more
        owners = {self.blocking.owner[place] for place in bits_of(carriers)} if carried else set()
        known = _Arrival(excluded, owners.pop() if len(owners) == 1 else -1)
        self._arrivals[i] = known
        return known


def _on_cycles(before: Iterable[tuple[int, int]]) -> Arcs:
    """Those of some arcs that may be on cycles: between objects that arcs lead to and from."""
    arcs, count = list(before), -1
    while len(arcs) != count:
        count = len(arcs)
        both = {first // 2 for first, _ in arcs} & {second // 2 for _, second in arcs}
        arcs = [arc for arc in arcs if arc[0] // 2 in both and arc[1] // 2 in both]
    return frozenset(arcs)


@lru_cache(maxsize=10_000)
def _second_moves(before: Arcs, twice: frozenset[int], branchings: int) -> int:
    """Least number of further objects that have to move twice.

    Most moves leave the cycles as they are; therefore answers are kept.

    Args:
        before: what has to come before what.
        twice: objects that move twice.
        branchings: cycles of which each object is tried; then whole cycles are broken.
    """
    cycle = _cycle(before, twice)
    if not cycle:
        return 0
    if len(cycle) == 1 or branchings == 0:
        return 1 + _second_moves(before, twice | cycle, branchings)
    return 1 + min(_second_moves(before, twice | {i}, branchings - 1) for i in sorted(cycle))


def _cycle(before: Arcs, twice: frozenset[int]) -> frozenset[int]:
    """Fewest objects of which one has to move twice; none if there is no cycle."""
    later: dict[int, list[int]] = {}
    for first, second in sorted(before):
        later.setdefault(first, []).append(second)
    arriving = {second for _, second in before}
    best: frozenset[int] = frozenset()
    for leaving in later:
        if leaving % 2 == 0 and leaving // 2 not in twice and leaving + 1 in arriving:
            found = _way_round(later, twice, leaving)
            if found and (not best or len(found) < len(best)):
                best = found
                if len(best) == 1:
                    break
    return best


def _way_round(later: dict[int, list[int]], twice: frozenset[int], start: int) -> frozenset[int]:
    """The fewest objects that must move once for an object's leaving to come before its arriving; itself among them.

    An object with one move arrives before it leaves, too; every object leaves before it arrives.
    """
    once = {start: frozenset((start // 2,))}  # event -> the objects on the way to it that move once
    events = deque((start,))
    while events:
        event = events.popleft()
        passed, j = once[event], event // 2
        if event == start + 1:
            return passed
        for each in (*later.get(event, ()), *((event + 1,) if event % 2 == 0 and event != start else ())):
            if each not in once or len(passed) < len(once[each]):
                once[each] = passed
                events.appendleft(each)
        if event % 2 == 1 and j not in twice and (event - 1 not in once or len(passed) + 1 < len(once[event - 1])):
            once[event - 1] = passed | {j}
            events.append(event - 1)
    return frozenset()

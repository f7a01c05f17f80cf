"""Symmetries of a grounded task: permutations of facts under which its actions, their costs and its goal stay the same.

Two hands, or balls that have to get into the same room, are interchangeable, wherever they are now. States that differ
only by a symmetry need equally expensive plans, so a search keeps one of them (Pochter, Zohar & Rosenschein,
"Exploiting problem symmetries in state-based planners", 2011; with plain states in the tree as in Domshlak, Katz &
Shleyfman, "Symmetry breaking in deterministic planning as forward search: orbit space search algorithm", 2015). The
initial state need not be symmetric. Strong stubborn sets may be used at the same time (Wehrle, Helmert, Shleyfman &
Katz, "Integrating partial order reduction and symmetry elimination for cost-optimal classical planning", 2015).

Symmetries are found as automorphisms of the graph of facts and actions: colours are refined until neighbours no longer
tell facts apart, one fact is singled out, and so on. Every symmetry is checked against all actions before it is used;
those that are not found cost time only.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from nsrecover.planning.symbolic.strips import Condition, GroundAction, bits_of

MOST_REFINEMENTS = 400
"""Refinements of the colours after which no more symmetries are looked for; each visits all actions some times."""

MOST_INCIDENCES = 20_000
"""Largest number of needs and effects of all actions together for which symmetries are looked for."""

MOST_IMAGES = 8
"""Largest group whose images of a state are all compared; of larger groups only generators are applied."""

Permutation = tuple[int, ...]
_Colours = npt.NDArray[np.intp]
_Images = tuple[int, list[tuple[int, list[int]]]]
_Action = tuple[float, tuple[tuple[int, ...], ...]]


class Symmetries:
    """The symmetries of one task.

    Args:
        facts: how many there are.
        actions: what can be done.
        costs: what each action costs.
        goal: what must hold in the end.
        start: the initial state; it says which of the facts that no action changes hold.
        stop: asked regularly; if it returns true, no more symmetries are looked for.

    Attributes:
        generators: permutations of which all symmetries that were found are made; fact f becomes `permutation[f]`.
        whole: whether all symmetries are applied to a state, so that those of an orbit have the same canonical state.
    """

    def __init__(
        self,
        facts: int,
        actions: Sequence[GroundAction],
        costs: Sequence[float],
        goal: Condition,
        start: int,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self._size, self._stop = facts, stop
        self.generators: list[Permutation] = []
        if sum(len((*a.needs, *a.forbids, *a.adds, *a.deletes)) for a in actions) <= MOST_INCIDENCES:
            self._index(actions, costs, start)
            self._find(goal)
        self._images = [_images_of(each) for each in _closed(self.generators, facts)]
        self.whole = len(self._images) > 0
        if not self.whole:
            self._images = [_images_of(each) for each in self.generators]
        self._known: dict[int, int] = {}

    def _index(self, actions: Sequence[GroundAction], costs: Sequence[float], start: int) -> None:
        """The actions over the facts that change, and which fact has which part in which of them."""
        changed = frozenset(itertools.chain.from_iterable((*action.adds, *action.deletes) for action in actions))
        self._fixed = sorted({*range(self._size)} - changed)
        true, false = (frozenset(fact for fact in self._fixed if start >> fact & 1 == bit) for bit in (1, 0))
        self._actions: dict[_Action, int] = {}
        for action, cost in zip(actions, costs, strict=True):
            needs, forbids, adds = {*action.needs}, {*action.forbids}, {*action.adds}
            if not needs & false and not forbids & true:  # else it can never be run
                parts = (needs - true, forbids - false, adds, {*action.deletes} - adds)
                self._actions.setdefault((cost, tuple(tuple(sorted(part)) for part in parts)), len(self._actions))
        edges = [
            (number, part, fact)
            for (_, parts), number in self._actions.items()
            for part, facts in enumerate(parts)
            for fact in facts
        ]
        self._acting, parts_played, self._touched = np.array(edges, dtype=np.intp).reshape(-1, 3).T
        self._parts = parts_played.astype(np.uint64)
        prices = np.array([cost for cost, _ in self._actions])
        self._prices = np.unique(prices, return_inverse=True)[1].astype(np.uint64)

    def canonical(self, state: int) -> int:
        """An image of a state under the symmetries, mostly the same one for all states that differ by one."""
        known = self._known.get(state)
        if known is None:
            known = self._known[state] = self._least(state)
        return known

    def _least(self, state: int) -> int:
        width = (self._size + 7) // 8
        while True:
            packed, least = state.to_bytes(width, "little"), state
            for kept, table in self._images:
                image = state & kept
                for byte, row in table:
                    image |= row[packed[byte]]
                least = min(least, image)
            if self.whole or least == state:
                return least
            state = least

    # -- the search for them

    def _find(self, goal: Condition) -> None:
        """Find generators: fix one fact after the other, and map each to every other fact that looks the same."""
        self._left, self._goal = MOST_REFINEMENTS, [[*bits_of(goal.needs)], [*bits_of(goal.forbids)]]
        colours = np.zeros(self._size, dtype=np.intp)
        colours[self._goal[0]] = 1
        colours[self._goal[1]] = 2
        colours[self._fixed] = np.arange(len(self._fixed)) + 3
        same = self._refined(colours, colours)
        while same is not None:
            cell = _smallest_cell(same[0])
            if cell is None:
                return
            orbit, found_here = {cell[0]}, list[Permutation]()
            for fact in cell[1:]:
                if fact in orbit:
                    continue
                found = self._extended(_single(same[0], cell[0]), _single(same[0], fact))
                if found is not None:
                    found_here.append(found)
                    orbit = _orbit(cell[0], found_here)
            self.generators += found_here
            same = self._refined(_single(same[0], cell[0]), _single(same[0], cell[0]))

    def _extended(self, here: _Colours, there: _Colours) -> Permutation | None:
        """A symmetry that maps the colours of one colouring to those of another; None if none is found."""
        refined = self._refined(here, there)
        if refined is None:
            return None
        here, there = refined
        cell = _smallest_cell(here)
        if cell is None:
            image = np.empty(self._size, dtype=np.intp)
            image[np.argsort(here)] = np.argsort(there)
            found = tuple(image.tolist())
            return found if self._holds(found) else None
        colour = here[cell[0]]
        others = np.flatnonzero(there == colour).tolist()
        for other in sorted(others, key=lambda fact: fact != cell[0]):  # as few facts as possible move
            found_below = self._extended(_single(here, cell[0]), _single(there, other))
            if found_below is not None:
                return found_below
        return None

    def _refined(self, here: _Colours, there: _Colours) -> tuple[_Colours, _Colours] | None:
        """Two colourings, refined until equal colours have equal neighbours; None if they come to differ."""
        self._left -= 1
        if self._left < 0 or self._stop():
            return None
        both, count = np.stack([here, there]), -1
        while True:
            _, flat = np.unique(both, return_inverse=True)
            both = flat.reshape(2, self._size)
            colours = int(flat.max()) + 1
            if not np.array_equal(np.bincount(both[0], minlength=colours), np.bincount(both[1], minlength=colours)):
                return None
            if colours == count:
                return both[0], both[1]
            count = colours
            both = np.stack([self._neighbours(row.astype(np.uint64)) for row in both])

    def _neighbours(self, colours: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        """A number for each fact that depends on its colour and on those of all facts of its actions."""
        acts = _mixed(self._prices)
        np.add.at(acts, self._acting, _mixed(colours[self._touched] * np.uint64(4) + self._parts))
        sums = _mixed(colours)
        np.add.at(sums, self._touched, _mixed(acts[self._acting] * np.uint64(4) + self._parts))
        return sums

    def _holds(self, image: Permutation) -> bool:
        """Whether a permutation of facts is a symmetry."""
        if any(sorted([image[fact] for fact in part]) != part for part in self._goal):
            return False
        return all(
            (cost, tuple(tuple(sorted([image[fact] for fact in part])) for part in parts)) in self._actions
            for cost, parts in self._actions
        )


def _mixed(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Numbers scattered over 64 bits (SplitMix64), so that sums tell most sets apart."""
    mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ mixed >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return mixed ^ mixed >> np.uint64(31)


def _smallest_cell(colours: _Colours) -> list[int] | None:
    """The facts of the rarest colour that several facts share; None if there is none."""
    counts = np.bincount(colours)
    counts[counts < 2] = len(colours) + 1
    colour = int(counts.argmin())
    return None if counts[colour] > len(colours) else np.flatnonzero(colours == colour).tolist()


def _single(colours: _Colours, fact: int) -> _Colours:
    """Colours with one of its own for a fact."""
    single = colours.copy()
    single[fact] = len(colours)
    return single


def _orbit(fact: int, generators: Sequence[Permutation]) -> set[int]:
    """The facts to which some permutations together map a fact."""
    orbit, waiting = {fact}, [fact]
    while waiting:
        at = waiting.pop()
        further = {image[at] for image in generators} - orbit
        orbit |= further
        waiting += further
    return orbit


def _closed(generators: Sequence[Permutation], size: int) -> list[Permutation]:
    """All permutations that generators make, without the identity; none if they are more than `MOST_IMAGES`."""
    identity = tuple(range(size))
    group, waiting = {identity}, [identity]
    while waiting:
        at = waiting.pop()
        for image in generators:
            product = tuple([image[f] for f in at])
            if product not in group:
                group.add(product)
                waiting.append(product)
                if len(group) > MOST_IMAGES:
                    return []
    return sorted(group - {identity})


def _images_of(permutation: Permutation) -> _Images:
    """The bits of a state that stay, and for every other byte of it and each of its values the bits of the image."""
    kept, table = 0, []
    for first in range(0, len(permutation), 8):
        images = permutation[first : first + 8]
        if images == tuple(range(first, first + len(images))):
            kept |= 0xFF << first
            continue
        row = [0]
        for fact in images:  # each bit doubles the number of values
            row += [value | 1 << fact for value in row]
        table.append((first // 8, row))
    return kept, table

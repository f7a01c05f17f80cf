"""One error state's places and what stands in whose way, as integers: what a search in a fleet works on.

The same as `NeuralModel` knows, for actions that all cost one. A set of places is an integer
with one bit for each; a state of the search is such a set, with one place for each object. Which objects are misplaced
for which subgoal is an integer too, with one byte for each subgoal, so that the bytes of a sum are counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from nsrecover.core.actions import Action, Plan
from nsrecover.core.geometry import as_box
from nsrecover.core.scene import FloatArray, SceneGraph
from nsrecover.models.free_place import is_free
from nsrecover.models.protocols import RecoveryModels
from nsrecover.planning.neural_model import MAX_FREE_PLACES, Move, State, unit_cost
from nsrecover.planning.places import BoolArray, Place, masks, meeting
from nsrecover.planning.problem import Problem

MAX_OBJECTS = 255
"""More could not be counted in a byte."""


def bits(mask: int) -> Iterator[int]:
    """Which bits are set, lowest first."""
    while mask:
        lowest = mask & -mask
        mask ^= lowest
        yield lowest.bit_length() - 1


@dataclass(eq=False)
class Tables:
    """What is worked out for all states together and grows with free places; P places, S imagined scenes, N objects.

    Attributes:
        owner: (P,) the object of each place; place i is where object i is seen.
        boxes: (P, 6).
        visual: (P, D).
        goal_place: (S, N) where each scene has each object.
        below: (S, N) what carries it there, -1 for the table.
        probability: (P, S) that a place is where the scene has its object.
        right: (P, S) whether that is likely enough.
        clash: for each place those that it excludes.
        above: for each place those whose objects would rest on it.
        carriers: for each place those that carry it; none of them if it is on the table.
        misplaced: for each place a byte for each subgoal that has its object elsewhere.
        targets: the places that subgoals have for their objects, one for each that tells apart.
        movable: the places of objects that can be moved.
        present: the places of objects that play a part.
        wrong: the places that some subgoal does not have for its object.
    """

    owner: list[int]
    boxes: FloatArray
    visual: FloatArray
    goal_place: npt.NDArray[np.intp]
    below: npt.NDArray[np.intp]
    probability: FloatArray
    right: BoolArray
    clash: list[int]
    above: list[int]
    carriers: list[int]
    misplaced: list[int]
    targets: int
    movable: int
    present: int
    wrong: int


class PackedModel:
    """The places of one error state.

    Args:
        problem: the error state and where it may go.
        models: the learned parts.
        tables: its places.
    """

    def __init__(self, problem: Problem, models: RecoveryModels, tables: Tables) -> None:
        self.problem = problem
        self.models = models
        self.tables = tables
        self.no_room: set[int] = set()
        count = len(problem.graph)
        self.free: list[list[int]] = [[] for _ in range(count)]
        self.reserved: dict[int, int] = {}  # free place -> places whose footprint it shares
        self.ranks = [problem.order.get(name, len(problem.order)) for name in problem.graph.names]
        self.targets: list[list[int]] = [[] for _ in range(count)]
        for place in bits(tables.targets):
            self.targets[tables.owner[place]].append(place)
        self.movable, self.present, self.wrong = tables.movable, tables.present, tables.wrong
        self.turn = [(self.ranks[owner], owner) for owner in tables.owner]
        # for each place, whatever has to go before its object can leave it for any place that a subgoal has for it
        wanted = [0] * count
        for owner, targets in enumerate(self.targets):
            for target in targets:
                wanted[owner] |= tables.clash[target]
        self.block = [above | wanted[owner] for above, owner in zip(tables.above, tables.owner, strict=True)]
        for place in bits(tables.targets):  # one does not have to make room for oneself where one is
            self.block[place] = tables.above[place] | self._wanted_beside(place)

    def _wanted_beside(self, place: int) -> int:
        """Places that exclude those, other than the given one, that subgoals have for its object."""
        mask = 0
        for target in self.targets[self.tables.owner[place]]:
            if target != place:
                mask |= self.tables.clash[target]
        return mask

    def needed(self, occupied: int) -> tuple[int, int]:
        """Places whose objects may have to move, and those of them that others wait for; see `NeuralModel`."""
        seen = waiting = occupied & self.wrong
        in_way = 0
        block = self.block
        while waiting:
            lowest = waiting & -waiting
            waiting ^= lowest
            blocking = block[lowest.bit_length() - 1] & occupied & ~lowest
            in_way |= blocking
            fresh = blocking & ~seen
            seen |= fresh
            waiting |= fresh
        return seen, in_way

    def ready(self, occupied: int, wanted: int) -> list[int]:
        """Those of the wanted places whose objects can be picked up, earlier ones of the plan first."""
        above, left, chosen = self.tables.above, wanted & self.movable, []
        while left:
            lowest = left & -left
            left ^= lowest
            place = lowest.bit_length() - 1
            if not above[place] & occupied:
                chosen.append(place)
        if len(chosen) > 1:
            chosen.sort(key=self.turn.__getitem__)
        return chosen

    def steps(self, occupied: int) -> list[tuple[int, int]]:
        """Moves (from, to) to places of subgoals: of objects that one wants elsewhere, and of what is in their way."""
        clash, carriers = self.tables.clash, self.tables.carriers
        found = []
        for here in self.ready(occupied, self.needed(occupied)[0]):
            rest = occupied & ~(1 << here)
            for place in self.targets[self.tables.owner[here]]:
                if place != here and not clash[place] & rest and (not carriers[place] or carriers[place] & rest):
                    found.append((here, place))
        return found

    def usable(self, here: int, occupied: int) -> list[int] | None:
        """Free places that serve for an object; None if a new one should be looked for."""
        owner = self.tables.owner[here]
        if here in self.reserved:
            return []  # it is out of the way already
        rest = occupied & self.present & ~(1 << here)
        usable = [place for place in self.free[owner] if not self.reserved[place] & rest]
        return usable if usable or len(self.free[owner]) >= MAX_FREE_PLACES else None

    def obstacles(self, here: int, occupied: int) -> list[FloatArray]:
        """What a free place for an object should keep clear of: all that is or will be; failing that, what is now."""
        rest = occupied & self.present & ~(1 << here)
        now = [*bits(rest), here]
        boxes = self.tables.boxes
        everything = boxes if not self.problem.ignored else boxes[list(bits(self.present))]
        return [everything, boxes[now]]

    def goals_of(self, owner: int) -> list[int]:
        """The different places that imagined scenes have for an object."""
        return sorted(set(self.tables.goal_place[:, owner].tolist()))

    def grow(self, here: int, box: FloatArray, same: Mapping[int, float]) -> int:
        """Add a free place for the object that is in a place, and return its number.

        Args:
            here: where the object is.
            box: (6,) the free place.
            same: for each goal place of the object, the probability that this is the same.
        """
        tables, number = self.tables, len(self.tables.owner)
        owner, bit = tables.owner[here], 1 << number
        both = np.stack([np.broadcast_to(box, tables.boxes.shape), tables.boxes])
        (clash, _), (deep, _), (rests, rested) = meeting(both, both[::-1])
        owners = np.array(tables.owner)
        other = owners != owner
        if self.problem.ignored:
            other &= ~np.isin(owners, list(self.problem.ignored))
        probability = np.array([[same[place] for place in tables.goal_place[:, owner].tolist()]], dtype=np.float32)
        right = probability >= self.models.threshold
        carried, carrying = np.zeros_like(other), np.zeros_like(other)
        if right.any():
            below_other = np.where(owners >= 0, tables.below[:, owners].T, -1)  # (P, S)
            carried = np.any(right & tables.right & (tables.below[:, owner] == owners[:, None]), axis=1) & other
            carrying = np.any(right & tables.right & (below_other == owner), axis=1) & other
        clash &= other & ~(np.any(right & tables.right, axis=1) & ~deep)
        gap = np.abs(box[:2] - tables.boxes[:, :2]) - (box[3:5] + tables.boxes[:, 3:5]) / 2
        in_clash, under, over, on_it, shares = masks(
            np.stack([clash, carried, carrying, (rested & other) | carrying, np.all(gap < 0, axis=1)])
        )
        for place in bits(in_clash):
            tables.clash[place] |= bit
            if tables.targets >> place & 1:
                for waiting, whose in enumerate(tables.owner):
                    if whose == tables.owner[place] and waiting != place:
                        self.block[waiting] |= bit
        for place in bits(over):
            tables.carriers[place] |= bit
        for place in np.flatnonzero((rests & other) | carried).tolist():
            tables.above[place] |= bit
            self.block[place] |= bit
        for place in self.reserved:
            if shares >> place & 1:
                self.reserved[place] |= bit
        usable = is_free(box, np.zeros((0, 6), dtype=np.float32), self.models, 0.0)
        self.reserved[number] = shares if usable else -1
        misplaced = bytes((~right[0, list(self.problem.subgoals)]).astype(np.uint8))
        tables.owner.append(owner)
        self.turn.append(self.turn[here])
        tables.boxes = np.concatenate([tables.boxes, box[None]])
        tables.visual = np.concatenate([tables.visual, tables.visual[here][None]])
        tables.probability = np.concatenate([tables.probability, probability])
        tables.right = np.concatenate([tables.right, right])
        tables.clash.append(in_clash)
        tables.above.append(on_it)
        tables.carriers.append(under)
        tables.misplaced.append(int.from_bytes(misplaced, "little"))
        self.free[owner].append(number)
        self.movable |= bit if self.movable >> here & 1 else 0
        self.present |= bit
        self.wrong |= bit if any(misplaced) else 0
        self.block.append(on_it | self._wanted_beside(number))
        return number

    # -- what an answer is made of (see `nsrecover.planning.refine`)

    @property
    def graph(self) -> SceneGraph:
        """The scene to recover from."""
        return self.problem.graph

    @property
    def plan(self) -> Plan:
        """The plan."""
        return self.problem.courses[0].plan

    @property
    def scenes(self) -> Sequence[SceneGraph]:
        """The imagined scenes of all courses."""
        return self.problem.scenes

    @property
    def subgoals(self) -> tuple[int, ...]:
        """Numbers of the scenes that are subgoals."""
        return self.problem.subgoals

    @property
    def fixed(self) -> frozenset[int]:
        """Objects that cannot be moved."""
        return self.problem.fixed

    @cached_property
    def places(self) -> Sequence[Place]:
        """All places; to be asked for when no more are added."""
        return [Place(*place) for place in zip(self.tables.owner, self.tables.boxes, self.tables.visual, strict=True)]

    @property
    def start(self) -> State:
        """The state to recover from."""
        return State.seen(len(self.graph))

    def action_cost(self, action: Action) -> float:
        """Every action costs one."""
        return unit_cost(action)

    def successors(self, state: State, steps: Sequence[Move]) -> list[State]:
        """One object in another place."""
        return [state.moved(step.owner, step.place) for step in steps]

    def right_place(self, place: int, scene: int) -> bool:
        """Whether a place is where an imagined scene has its object."""
        return bool(self.tables.right[place, scene])

    def carried_by(self, move: Move, state: State) -> int | None:
        """The object that carries the moved one at its new place, in the state before the move; None for the table."""
        below = self.tables.carriers[move.place] & state.occupied & ~(1 << state.places[move.owner])
        return self.tables.owner[below.bit_length() - 1] if below else None

    def move(self, here: int, place: int, occupied: int) -> Move:
        """The move between two places in the plan's own words, if its reference is where the plan has it."""
        tables, owner, rest = self.tables, self.tables.owner[here], occupied & ~(1 << here)
        name, target = self.graph.names[owner], as_box(tables.boxes[place])
        if place in self.reserved:
            return Move(owner, place, Action("free", (name,), target))
        length = len(self.plan) + 1
        steps = [step for step, action in enumerate(self.plan) if action.arguments[0] == name]
        for before in [course + step for course in range(0, len(self.scenes), length) for step in steps]:
            if tables.right[place, before + 1]:
                action = self.plan[before % length]
                references = [self.graph.index(other) for other in action.arguments[1:]]
                standing = [other for other in bits(rest) if tables.owner[other] in references]
                if all(tables.right[other, before] for other in standing):
                    return Move(owner, place, action, before)
        return Move(owner, place, Action("restore", (name,), target))

    # -- what tells why there is no answer

    def blocks(self, index: int) -> bool:
        """Whether, at the start, something waits for an object to get out of the way."""
        return bool(self.needed(self.start.occupied)[1] >> index & 1)

    def nearest(self) -> tuple[int, ...]:
        """Objects that the subgoal nearest to the start, by discrepancy, has elsewhere."""
        count = len(self.graph)
        wanted = self.tables.probability[:count, list(self.subgoals)]
        nearest = int((1.0 - wanted).sum(axis=0).argmin())
        return tuple(np.flatnonzero(~self.tables.right[:count, self.subgoals[nearest]]).tolist())

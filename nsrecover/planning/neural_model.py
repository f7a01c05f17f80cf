"""The learned world model of the recovery search: scene graphs, compared and completed by the networks.

Every object is in one of a few places: where it is seen, where a subgoal of the expected trace has it, or free space.
The trace holds the predictions of the transition model for the plan's actions. They are relative to the reference
object and hold wherever it stands. Therefore the search asks the networks only about new places: once for all pairs of
an object's places, and once for every free place that is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nsrecover.core.actions import Action
from nsrecover.core.geometry import as_box, fits_into
from nsrecover.core.protocols import BoundArray
from nsrecover.core.scene import FloatArray, SceneGraph
from nsrecover.core.traces import Trace
from nsrecover.domains.costs import cost_of
from nsrecover.domains.tabletop.operators import PUT_BACK, SET_ASIDE, TABLETOP
from nsrecover.domains.tabletop.spatial import SpatialDomain
from nsrecover.errors import InvalidConfiguration
from nsrecover.models.free_place import is_free
from nsrecover.models.protocols import RecoveryModels
from nsrecover.models.same_place import same_place
from nsrecover.planning.move_order import Blocking, MoveOrder
from nsrecover.planning.places import BoolArray, OwnedBox, carried, carriers_along, contained, masks, pairwise
from nsrecover.planning.setting_aside import PlacementSampler, nearest_place
from nsrecover.planning.subgoals import Subgoal
from nsrecover.planning.symbolic.strips import bits_of

UNTURNED = 0.95
"""Least P(needs no more room) of an object that the plan's own action, which keeps its orientation, takes."""

MAX_FREE_PLACES = 3
"""Most free places sampled for one object; more are needed only on a nearly full table."""


class State(NamedTuple):
    """Which place each object is in, and the same as a bit mask."""

    places: tuple[int, ...]
    occupied: int

    def moved(self, owner: int, place: int) -> State:
        """One object in another place."""
        here = self.places[owner]
        places = (*self.places[:owner], place, *self.places[owner + 1 :])
        return State(places, self.occupied & ~(1 << here) | 1 << place)


@dataclass(frozen=True)
class Move:
    """One object goes to a place; `before` is the scene in which the plan itself has this action, if it has."""

    owner: int
    place: int
    action: Action
    before: Subgoal | None = None


class _PlanText(NamedTuple):
    """The plan has this action in scene `before`; it needs its objects in places of the masks `reference`, `start`."""

    before: Subgoal
    action: Action
    reference: int
    start: int


@dataclass(frozen=True)
class Untouched:
    """Objects that the search does not move, by their indices.

    Attributes:
        fixed: objects that cannot be moved.
        ignored: objects that are neither compared nor obstacles.
    """

    fixed: frozenset[int] = frozenset()
    ignored: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Means:
    """What the search can do.

    Attributes:
        action_cost: what an action costs; None: what its operator says.
        placement_sampler: finds free places for what is in the way.
        domain: has the operators.
    """

    action_cost: Callable[[Action], float] | None = None
    placement_sampler: PlacementSampler = nearest_place
    domain: SpatialDomain = TABLETOP


class NeuralModel:
    """`WorldModel` over the places of a scene's objects.

    Args:
        models: the learned parts.
        graph: the scene to recover from.
        traces: traces of one plan over the same objects, the expected one first; S scenes in all.
        subgoals: the scenes that are subgoals, in the order of the search's K.
        order: name -> rank, see `nsrecover.planning.order`; earlier objects are tried first.
        untouched: objects that are not moved.
        means: what actions cost, and where things are set aside.
    """

    def __init__(
        self,
        models: RecoveryModels,
        graph: SceneGraph,
        traces: Sequence[Trace],
        subgoals: Sequence[Subgoal],
        order: Mapping[str, int],
        untouched: Untouched | None = None,
        means: Means | None = None,
    ) -> None:
        untouched, means = untouched or Untouched(), means or Means()
        self.models, self.graph = models, graph
        self.traces = tuple(traces)
        self.plan = traces[0].plan
        self.scenes = {Subgoal(c, t): scene for c, trace in enumerate(traces) for t, scene in enumerate(trace.graphs)}
        self._column = {scene: number for number, scene in enumerate(self.scenes)}
        self.subgoals = tuple(subgoals)
        self._wanted = [self._column[subgoal] for subgoal in subgoals]
        self.fixed, self.ignored = untouched.fixed, untouched.ignored
        self.action_cost = means.action_cost or partial(cost_of, domain=means.domain)
        self.placement_sampler, self.domain = means.placement_sampler, means.domain
        self.no_room: set[int] = set()
        self._ranks = [order.get(name, len(order)) for name in graph.names]
        # place i is where object i is seen
        self.places = [OwnedBox(i, graph.boxes[i], graph.visual[i]) for i in range(len(graph))]
        self.start = State(tuple(range(len(graph))), (1 << len(graph)) - 1)
        self._free: list[list[int]] = [[] for _ in range(len(graph))]
        self._goal_place = self._add_goal_places()
        self._below = np.concatenate([carriers_along(np.stack([s.boxes for s in trace.graphs])) for trace in traces])
        self._inside = np.any([contained(trace) for trace in traces], axis=0)
        self._probability = self._compare(range(len(self.places)))
        self._index()

    # -- building the table of places

    def _add_goal_places(self) -> npt.NDArray[np.intp]:
        """Append the different places that the imagined scenes have for each object; (S, N) which is which."""
        goal_place = np.zeros((len(self.scenes), len(self.graph)), dtype=np.intp)
        for i in range(len(self.graph)):
            known: dict[bytes, int] = {}
            for t, graph in enumerate(self.scenes.values()):
                key = graph.boxes[i].tobytes()
                if key not in known:
                    known[key] = len(self.places)
                    self.places.append(OwnedBox(i, graph.boxes[i], graph.visual[i]))
                goal_place[t, i] = known[key]
        return goal_place

    def _compare(self, fresh: Sequence[int]) -> FloatArray:
        """P(as in scene t) of places: (len(fresh), S); 1 where the boxes are identical, as restoring makes them."""
        probability = np.ones((len(fresh), len(self.scenes)), dtype=np.float32)
        pairs: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for row, place in enumerate(fresh):
            owner, box, _ = self.places[place]
            if owner in self.ignored:
                continue
            here = box.tobytes()
            for t, goal in enumerate(self._goal_place[:, owner].tolist()):
                if goal != place and here != self.places[goal].box.tobytes():
                    pairs.setdefault((place, goal), []).append((row, t))
        if pairs:
            compared = [[self.places[pair[side]] for pair in pairs] for side in (1, 0)]
            nodes = [
                np.stack([getattr(place, part) for place in row]) for row in compared for part in ("visual", "box")
            ]
            for value, cells in zip(same_place(self.models, *nodes), pairs.values(), strict=True):
                for cell in cells:
                    probability[cell] = value
        return probability

    def _index(self) -> None:
        """Compute which places exclude and carry each other."""
        owner = np.array([place.owner for place in self.places])
        boxes = np.stack([place.box for place in self.places])
        right = self._probability >= self.models.threshold  # (places, S)
        clash, deep, rests = pairwise(boxes)
        deep &= ~self._inside[np.ix_(owner, owner)]
        other = owner[:, None] != owner[None]
        if self.ignored:
            apart = np.isin(owner, list(self.ignored))
            other &= ~(apart[:, None] | apart[None])
        # places that occur together in a scene, seen or imagined, do not exclude each other despite the boxes' errors;
        # but boxes of objects that lie askew may overlap so far that no robot could put one back next to the other
        together = ((right.astype(np.float32) @ right.T.astype(np.float32)) > 0) & ~deep
        together[: len(self.graph), : len(self.graph)] = True
        carriers = carried(owner, right, self._below, self.ignored)
        above = rests & other | carriers  # i rests on j if a subgoal says so
        tables = clash & other & ~together, above.T.copy(), carriers
        self.blocking = Blocking(owner.tolist(), *map(masks, tables))
        wanted = right[:, self._wanted]
        self._misplaced = np.where(wanted, 0.0, 1.0)
        for i in self.fixed:  # what cannot be moved stays wrong for good
            self._misplaced[i] = np.where(wanted[i], 0.0, np.inf)
        self._orders = [MoveOrder(self.blocking, mask, self.fixed) for mask in masks(wanted.T.copy())]
        self._distance = (1.0 - self._probability[:, self._wanted]).astype(np.float32)
        self._wrong: list[bool] = np.any(~wanted, axis=1).tolist()
        self._targets = self._target_places(right)
        self._restore = [Action(PUT_BACK, (self.graph.names[place.owner],), as_box(place.box)) for place in self.places]
        self._texts = self._plan_texts(owner, right)
        frees = [Action(SET_ASIDE, (name,)) for name in self.graph.names]
        every = [text.action for texts in self._texts for text in texts] + self._restore + frees
        self.cheapest = min((self.action_cost(action) for action in every), default=1.0)
        if not self.cheapest > 0:
            raise InvalidConfiguration(
                f"expected action costs > 0, found {self.cheapest}; give actions that should be free a small cost"
            )

    def _target_places(self, right: BoolArray) -> list[list[int]]:
        """For each object the places that subgoals have for it, one for each that tells apart; seen ones stand in."""
        targets: list[list[int]] = []
        for i in range(len(self.graph)):
            chosen: list[int] = []
            for t in self._wanted:
                if i not in self.ignored and not any(right[place, t] for place in [i, *chosen]):
                    chosen.append(int(self._goal_place[t, i]))
            if any(right[i, t] for t in self._wanted):
                chosen.insert(0, i)  # where it is seen is right for some subgoal
            targets.append(chosen)
        return targets

    def _plan_texts(self, owner: npt.NDArray[np.intp], right: BoolArray) -> list[list[_PlanText]]:
        """For each place the plan's own actions that lead there, and where their reference has to stand.

        Those that cost more than `restore` are left out; the cheapest is first.
        """
        texts: list[list[_PlanText]] = [[] for _ in self.places]
        for before, t in self._column.items():
            if before.step == len(self.plan):
                continue
            action = self.plan[before.step]
            moved = self.graph.index(action.arguments[0])
            reference = -1  # every bit: no reference has to stand anywhere
            for name in action.arguments[1:]:
                held = (owner == self.graph.index(name)) & right[:, t]
                reference = masks(held[None])[0]
            start = masks(right[None, :, t])[0] if self.domain.operator_of(action).relative else -1
            for place in np.flatnonzero((owner == moved) & right[:, t + 1]):
                if self.action_cost(action) <= self.action_cost(self._restore[place]):
                    texts[place].append(_PlanText(before, action, reference, start))
        return [sorted(each, key=lambda text: self.action_cost(text.action)) for each in texts]

    # -- what the search asks for

    def applicable(self, state: State) -> list[Move]:
        """Moves to places of subgoals: of objects that one wants elsewhere, and of what stands in their way."""
        moves: list[Move] = []
        for i in self._movable(state, self._needed(state)[0]):
            here = state.places[i]
            rest = state.occupied & ~(1 << here)
            for place in self._targets[i]:
                below = self.blocking.carriers[place]
                if place != here and not self.blocking.clash[place] & rest and (not below or below & rest):
                    moves.append(self._move(i, place, rest, here))
        return moves

    def detours(self, state: State) -> list[Move]:
        """Moves to free space of objects that others wait for."""
        moves: list[Move] = []
        for i in self._movable(state, self._needed(state)[1]):
            for place in self._free_places(i, state):
                target = as_box(self.places[place].box)
                moves.append(Move(i, place, Action(SET_ASIDE, (self.graph.names[i],), target)))
        return moves

    def successors(self, state: State, steps: Sequence[Move]) -> list[State]:
        """One object in another place."""
        return [state.moved(step.owner, step.place) for step in steps]

    def discrepancy(self, states: Sequence[State]) -> tuple[FloatArray, BoundArray]:
        """D = N - sum of P(same) (section IV-C), and misplaced objects times the cheapest action, both (B, K)."""
        places = np.array([state.places for state in states])
        return self._distance[places].sum(axis=1), self._misplaced[places].sum(axis=1) * self.cheapest

    def least_cost(self, state: State, subgoal: int) -> float:
        """A tighter lower bound for one subgoal: the moves of `MoveOrder`, times the cheapest action."""
        return self._orders[subgoal].moves(state.places, state.occupied) * self.cheapest

    def cost(self, step: Move) -> float:
        """Cost of the action."""
        return self.action_cost(step.action)

    def key(self, state: State) -> tuple[int, ...]:
        """The places."""
        return state.places

    def misplaced(self, state: State, subgoal: int) -> tuple[int, ...]:
        """Objects that are not where the k-th subgoal has them."""
        return tuple(i for i, place in enumerate(state.places) if self._misplaced[place, subgoal] > 0)

    def nearest(self) -> tuple[int, ...]:
        """Objects that the subgoal nearest to the start, by discrepancy, has elsewhere."""
        distance, _ = self.discrepancy([self.start])
        return self.misplaced(self.start, int(distance[0].argmin()))

    def right_place(self, place: int, scene: Subgoal) -> bool:
        """Whether a place is where a scene of the traces has its object."""
        return bool(self._probability[place, self._column[scene]] >= self.models.threshold)

    def blocks(self, index: int) -> bool:
        """Whether, at the start, something waits for an object to get out of the way."""
        return index in self._needed(self.start)[1]

    def carried_by(self, move: Move, state: State) -> int | None:
        """The object that carries the moved one at its new place, in the state before the move; None for the table."""
        below = self.blocking.carriers[move.place] & state.occupied & ~(1 << state.places[move.owner])
        return self.blocking.owner[below.bit_length() - 1] if below else None

    # -- helpers

    def _movable(self, state: State, objects: set[int]) -> list[int]:
        """Those of the objects that can be picked up, earlier ones of the plan first."""
        return [
            i
            for i in sorted(objects, key=lambda j: (self._ranks[j], j))
            if i not in self.fixed
            and i not in self.ignored
            and not self.blocking.above[state.places[i]] & state.occupied
        ]

    def _needed(self, state: State) -> tuple[set[int], set[int]]:
        """Objects that may have to move, and those of them that others wait for: they stand on them or at their place.

        Leaving everything else alone loses no solution: an object that is right, carries nothing that has to move and
        stands in no place that is wanted gains nothing by moving.
        """
        needed = {i for i, place in enumerate(state.places) if self._wrong[place]}
        in_way: set[int] = set()
        waiting = list(needed)
        while waiting:
            i = waiting.pop()
            here = state.places[i]
            blocking = self.blocking.above[here]
            for place in self._targets[i]:
                if place != here:
                    blocking |= self.blocking.clash[place]
            blocking &= state.occupied & ~(1 << here)
            found = {self.blocking.owner[j] for j in bits_of(blocking)}
            in_way |= found
            waiting += found - needed
            needed |= found
        return needed, in_way

    def _move(self, owner: int, place: int, rest: int, here: int) -> Move:
        """A move in the plan's own words if its reference is where the plan has it, else `restore`.

        The plan's own action leaves a turned object turned.
        """
        for text in self._texts[place]:
            if text.reference & rest and text.start >> here & 1 and self._unturned(here, text.before):
                return Move(owner, place, text.action, text.before)
        return Move(owner, place, self._restore[place])

    def _unturned(self, place: int, scene: Subgoal) -> bool:
        """Whether an object clearly has the orientation in a place that it has in a scene, where room counts."""
        owner, box, _ = self.places[place]
        room_m = self.models.room_m
        return room_m is None or bool(fits_into(box, self.scenes[scene].boxes[owner], room_m) >= UNTURNED)

    def _free_places(self, i: int, state: State) -> list[int]:
        """Free places of an object on the table, sampled when they are first needed."""
        if state.places[i] in self._free[i]:
            return []  # it is in free space already
        others = [self.places[p].box for j, p in enumerate(state.places) if j != i and j not in self.ignored]
        now = np.array(others, dtype=np.float32).reshape(-1, 6)
        usable = [p for p in self._free[i] if is_free(self.places[p].box, now, self.models, 0.0)]
        if usable or len(self._free[i]) >= MAX_FREE_PLACES:
            return usable
        here = self.places[state.places[i]]
        # keep clear of all places, present and future; failing that, of the present ones
        everything = np.stack([place.box for place in self.places if place.owner not in self.ignored])
        found = self.placement_sampler(self.models, here.box, [everything, np.concatenate([now, here.box[None]])])
        known, self.places = len(self.places), self.places + [OwnedBox(i, box, here.visual) for box in found]
        probability = self._compare(range(known, len(self.places)))
        # a place that is right for a subgoal is not free space: bounds that were computed without it stay true
        aside = np.all(probability[:, self._wanted] < self.models.threshold, axis=1)
        self.places[known:] = [self.places[known + row] for row in np.flatnonzero(aside)]
        fresh = range(known, len(self.places))
        if not fresh:
            self.no_room.add(i)
            return []
        self._free[i] += fresh
        self._probability = np.concatenate([self._probability, probability[aside]])
        self._index()
        return list(fresh)

"""Random four-operator blocksworld problems for unified-planning, plans for them, and disturbances of those plans."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from unified_planning.model import FNode, Object
from unified_planning.plans import ActionInstance, SequentialPlan
from unified_planning.shortcuts import BoolType, Fluent, InstantaneousAction, Problem, UserType

Step = tuple[str, tuple[int, ...]]
"""An operator and the blocks it is applied to."""


@dataclass(frozen=True)
class Blocks:
    """State of the blocks.

    Attributes:
        below: support of each block; -1 for the table, None if it is in the hand or lost.
        held: the block in the hand.
        pinned: blocks under an unknown object: they are never clear.
        lost: blocks that are gone.
    """

    below: tuple[int | None, ...]
    held: int | None = None
    pinned: frozenset[int] = frozenset()
    lost: frozenset[int] = frozenset()

    @property
    def clear(self) -> list[int]:
        """Clear blocks within reach."""
        away = {self.held, *self.below, *self.pinned, *self.lost}
        return [block for block in range(len(self.below)) if block not in away]

    def put(self, block: int, place: int | None) -> Blocks:
        """Return the state with one block elsewhere."""
        return replace(self, below=(*self.below[:block], place, *self.below[block + 1 :]))

    def after(self, step: Step) -> Blocks | None:
        """Return the state after a step; None if it is not applicable."""
        name, (block, *others) = step
        if name in ("pick-up", "unstack"):
            place = others[0] if others else -1
            possible = self.held is None and block in self.clear and self.below[block] == place
            return replace(self.put(block, None), held=block) if possible else None
        place = others[0] if others else -1
        possible = self.held == block and (place == -1 or place in self.clear)
        return replace(self.put(block, place), held=None) if possible else None


def reaches(state: Blocks, plan: Sequence[Step], goal: Sequence[int | None]) -> bool:
    """Whether a plan is applicable in a state and reaches the goal."""
    here: Blocks | None = state
    for step in plan:
        here = here.after(step) if here is not None else None
    return here is not None and all(place in (-1, here.below[block]) for block, place in enumerate(goal))


def random_towers(rng: random.Random, count: int) -> tuple[int, ...]:
    """Return random towers."""
    below, tops = [-1] * count, list[int]()
    for block in rng.sample(range(count), count):
        place = rng.randrange(len(tops) + 1)
        if place == len(tops):
            tops.append(block)
        else:
            below[block], tops[place] = tops[place], block
    return tuple(below)


def simple_plan(start: Sequence[int], goal: Sequence[int]) -> list[Step]:
    """Return a plan that unstacks misplaced blocks and then builds: at most twice the least length."""
    below = list(start)

    def settled(block: int) -> bool:
        return below[block] == goal[block] and (goal[block] == -1 or settled(goal[block]))

    plan = list[Step]()
    for block in [top for top in range(len(below)) if top not in start]:
        while block != -1 and not settled(block):
            under = below[block]
            if under != -1:
                plan += [("unstack", (block, under)), ("put-down", (block,))]
                below[block] = -1
            block = under
    waiting = [block for block in range(len(below)) if goal[block] == -1]
    while waiting:
        under = waiting.pop()
        for block in [above for above in range(len(below)) if goal[above] == under]:
            if below[block] != under:
                plan += [("pick-up", (block,)), ("stack", (block, under))]
                below[block] = under
            waiting.append(block)
    return plan


def disturbed(rng: random.Random, state: Blocks, kind: str) -> Blocks:
    """Return a state after a disturbance.

    Args:
        rng: draws the blocks.
        state: before.
        kind: `moved` (up to three blocks are displaced), `dropped` (the held block falls), `toppled` (a tower falls),
            `lost` (a block is gone, the one on it falls) or `pinned` (an unknown object is on a block).

    Returns:
        The state afterwards; the same if no block qualifies.
    """
    if kind == "dropped" and state.held is not None:
        place = rng.choice([-1, *state.clear])
        return replace(state.put(state.held, place), held=None)
    if kind == "moved":
        for _ in range(rng.randint(1, 3)):
            block = rng.choice(state.clear or [-1])
            if block != -1:
                state = state.put(block, rng.choice([-1, *(b for b in state.clear if b != block)]))
        return state
    if kind == "toppled":
        tops = [block for block in state.clear if state.below[block] != -1]
        block = rng.choice(tops or [-1])
        while block != -1:
            under = state.below[block]
            assert under is not None
            state, block = state.put(block, -1), under
        return state
    there = [block for block in range(len(state.below)) if block != state.held]
    if kind == "lost":
        gone = rng.choice(there)
        above = [block for block in range(len(state.below)) if state.below[block] == gone]
        for block in above:
            state = state.put(block, -1)
        return replace(state.put(gone, None), lost=state.lost | {gone})
    if kind == "pinned" and state.clear:
        return replace(state, pinned=state.pinned | {rng.choice(state.clear)})
    return state


class Domain:
    """The four operators in unified-planning.

    Args:
        count: number of blocks.
    """

    def __init__(self, count: int) -> None:
        kind = UserType("block")
        one, two = {"x": kind}, {"x": kind, "y": kind}
        self.on, self.on_table = Fluent("on", BoolType(), **two), Fluent("on-table", BoolType(), **one)
        self.clear, self.holding = Fluent("clear", BoolType(), **one), Fluent("holding", BoolType(), **one)
        self.hand_empty = Fluent("hand-empty")
        self.blocks = [Object(f"b{i}", kind) for i in range(count)]
        self.actions = {name: InstantaneousAction(name, **one) for name in ("pick-up", "put-down")} | {
            name: InstantaneousAction(name, **two) for name in ("stack", "unstack")
        }
        for name, action in self.actions.items():
            block, *others = action.parameters
            standing = [self.on(block, others[0]) if others else self.on_table(block), self.clear(block)]
            free = self.hand_empty()
            under = [self.clear(place) for place in others]
            if name in ("pick-up", "unstack"):
                needs, adds = [*standing, free], [self.holding(block), *under]
            else:
                needs, adds = [self.holding(block), *under], [*standing, free]
            for fluent in needs:
                action.add_precondition(fluent)
                action.add_effect(fluent, False)
            for fluent in adds:
                action.add_effect(fluent, True)

    def true_in(self, state: Blocks) -> list[FNode]:
        """Return the fluents that hold in a state."""
        true = [self.clear(self.blocks[block]) for block in state.clear]
        for block, place in enumerate(state.below):
            if place == -1:
                true.append(self.on_table(self.blocks[block]))
            elif place is not None:
                true.append(self.on(self.blocks[block], self.blocks[place]))
        true.append(self.hand_empty() if state.held is None else self.holding(self.blocks[state.held]))
        return true

    def problem(self, state: Blocks, goal: Sequence[int]) -> Problem:
        """Return a problem; blocks whose goal is the table may end anywhere."""
        problem = Problem("blocksworld")
        for fluent in (self.on, self.on_table, self.clear, self.holding, self.hand_empty):
            problem.add_fluent(fluent, default_initial_value=False)
        problem.add_objects(self.blocks)
        problem.add_actions(self.actions.values())
        for fluent in self.true_in(state):
            problem.set_initial_value(fluent, True)
        for block, place in enumerate(goal):
            if place != -1:
                problem.add_goal(self.on(self.blocks[block], self.blocks[place]))
        return problem

    def changes(self, start: Blocks, now: Blocks) -> Mapping[Any, bool]:
        """Return the fluents that differ between two states, with their values in the second."""
        before, after = self.true_in(start), self.true_in(now)
        return dict.fromkeys(before, False) | dict.fromkeys(after, True)

    def plan(self, steps: Sequence[Step]) -> SequentialPlan:
        """Return a plan of unified-planning."""
        manager = self.on.environment.expression_manager
        return SequentialPlan(
            [
                ActionInstance(self.actions[name], tuple(manager.ObjectExp(self.blocks[block]) for block in blocks))
                for name, blocks in steps
            ]
        )

    def steps(self, plan: SequentialPlan) -> list[Step]:
        """Return the steps of a plan of unified-planning."""
        number = {block.name: i for i, block in enumerate(self.blocks)}
        return [
            (step.action.name, tuple(number[argument.object().name] for argument in step.actual_parameters))
            for step in plan.actions
        ]

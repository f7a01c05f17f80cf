"""The places of many error states and what stands in whose way, worked out for all of them together.

What `NeuralModel` works out for one state, with two differences: states of similar size are
put side by side, padded, a few at a time so that the tables stay in the processor's cache; and the networks compare all
pairs of places of all states in one call.

Shape letters: B states side by side, N objects, S imagined scenes, P places, K subgoals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nsrecover.core.scene import FloatArray
from nsrecover.models.protocols import RecoveryModels
from nsrecover.models.same_place import same_place
from nsrecover.planning.packed import PackedModel, Tables
from nsrecover.planning.places import BoolArray, carriers_along, pairwise
from nsrecover.planning.problem import Problem

CELLS = 60_000
"""Pairs of places (B P P) that are looked at side by side: what fits a processor's second cache."""

COMPARED = 2048
"""Pairs of places that the networks compare at once on a processor; for the same reason."""

Integers = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class _Block:
    """Problems side by side.

    Attributes:
        problems: B of them.
        exists: (B, N) and (B, S), False for padding.
        owner: (B, P) the object of each place, -1 for padding.
        boxes: (B, P, 6).
        visual: (B, P, D).
        goal_place: (B, S, N) where each scene has each object.
        below: (B, S, N) what carries it there, -1 for the table.
        compared: (B, P, P) pairs, the first before the second, that the networks have to compare.
    """

    problems: Sequence[Problem]
    exists: tuple[BoolArray, BoolArray]
    owner: Integers
    boxes: FloatArray
    visual: FloatArray
    goal_place: Integers
    below: Integers
    compared: tuple[Integers, ...]


def packed_models(models: RecoveryModels, problems: Sequence[Problem]) -> list[PackedModel]:
    """What a search works on, for each problem.

    Args:
        models: the learned parts; `same` has to be symmetric.
        problems: the error states.
    """
    order = sorted(range(len(problems)), key=lambda i: (len(problems[i].graph), len(problems[i].scenes)))
    blocks = [_block([problems[i] for i in chosen]) for chosen in _side_by_side(problems, order)]
    if not blocks:
        return []
    # the second place of a pair is one that a scene has
    nodes = [
        (block.visual[b, q], block.boxes[b, q], block.visual[b, p], block.boxes[b, p])
        for block in blocks
        for b, p, q in [block.compared]
    ]
    values = compared(models, *(np.concatenate(arrays) for arrays in zip(*nodes, strict=True)))
    found: list[PackedModel] = []
    ends = np.cumsum([len(block.compared[0]) for block in blocks])
    for block, part in zip(blocks, np.split(values, ends[:-1]), strict=True):
        tables = _tables(block, part, models.threshold)
        found += [PackedModel(problem, models, table) for problem, table in zip(block.problems, tables, strict=True)]
    return [model for _, model in sorted(zip(order, found, strict=True), key=lambda pair: pair[0])]


def compared(
    models: RecoveryModels, visual_a: FloatArray, boxes_a: FloatArray, visual_b: FloatArray, boxes_b: FloatArray
) -> FloatArray:
    """P(same) of pairs of nodes (M,), some thousand at a time."""
    parts = [slice(i, i + COMPARED) for i in range(0, len(boxes_a), COMPARED)]
    values = [same_place(models, visual_a[part], boxes_a[part], visual_b[part], boxes_b[part]) for part in parts]
    return np.concatenate([np.zeros(0, dtype=np.float32), *values])


def _side_by_side(problems: Sequence[Problem], order: Sequence[int]) -> Iterator[list[int]]:
    """Problems of similar size, as many at a time as there are cells for."""
    chosen: list[int] = []
    for i in order:
        # seldom more than two places that scenes have for an object, and where it is seen
        cells = (3 * len(problems[i].graph)) ** 2
        if chosen and cells * (len(chosen) + 1) > CELLS:
            yield chosen
            chosen = []
        chosen.append(i)
    if chosen:
        yield chosen


def _block(problems: Sequence[Problem]) -> _Block:
    """Number the different places of each problem: where objects are seen, then where scenes have them."""
    count = max(len(problem.graph) for problem in problems)
    length = max(len(problem.scenes) for problem in problems)
    features = problems[0].graph.visual.shape[1]
    batch = len(problems)
    # scene 0 is what is seen, the others are imagined
    boxes = np.zeros((batch, length + 1, count, 6), dtype=np.float32)
    visual = np.zeros((batch, length + 1, count, features), dtype=np.float32)
    objects, scenes = np.zeros((batch, count), dtype=np.bool_), np.zeros((batch, length), dtype=np.bool_)
    ignored = np.zeros((batch, count), dtype=np.bool_)
    for b, problem in enumerate(problems):
        n = len(problem.graph)
        objects[b, :n], scenes[b, : len(problem.scenes)] = True, True
        ignored[b, list(problem.ignored)] = True
        for t, scene in enumerate((problem.graph, *problem.scenes)):
            boxes[b, t, :n], visual[b, t, :n] = scene.boxes, scene.visual
    goals = boxes[:, 1:]
    bits = goals.view(np.int32)
    alike = np.all(bits[:, :, None] == bits[:, None], axis=-1)  # (B, S, S, N)
    first = alike.argmax(axis=2)  # the first scene with that place
    new = (first == np.arange(length)[:, None]) & scenes[:, :, None] & objects[:, None]
    by_object = new.transpose(0, 2, 1)
    seen = objects.sum(axis=1)
    number = np.cumsum(by_object.reshape(batch, -1), axis=1).reshape(by_object.shape) - 1 + seen[:, None, None]
    goal_place = np.take_along_axis(number, first.transpose(0, 2, 1), axis=2).transpose(0, 2, 1)
    many = int((seen + by_object.sum(axis=(1, 2))).max())
    owner = np.full((batch, many), -1)
    place_scene = np.zeros((batch, many), dtype=np.intp)
    state, who = np.nonzero(objects)
    owner[state, who] = who
    state, who, scene_number = np.nonzero(by_object)
    place = number[state, who, scene_number]
    owner[state, place] = who
    place_scene[state, place] = scene_number + 1
    rows = np.arange(batch)[:, None]
    place_boxes = boxes[rows, place_scene, owner]
    place_boxes[owner < 0] = 0.0
    below = _below(problems, goals)
    return _Block(
        problems,
        (objects, scenes),
        owner,
        place_boxes,
        visual[rows, place_scene, owner],
        np.where(scenes[:, :, None] & objects[:, None], goal_place, 0),
        below,
        np.nonzero(_unlike(owner, place_boxes, seen, ignored)),
    )


def _unlike(owner: Integers, boxes: FloatArray, seen: Integers, ignored: BoolArray) -> BoolArray:
    """(B, P, P) pairs of places of one object, the second of them one that a scene has for it, with other boxes."""
    many = owner.shape[1]
    later = np.arange(many)[:, None] < np.arange(many)
    plays = (owner >= 0) & ~np.take_along_axis(ignored, np.maximum(owner, 0), axis=1)
    pairs = (owner[:, :, None] == owner[:, None]) & later & plays[:, :, None]
    pairs &= (np.arange(many) >= seen[:, None])[:, None]
    b, p, q = np.nonzero(pairs)
    pairs[b, p, q] = np.any(boxes[b, p] != boxes[b, q], axis=1)
    return np.asarray(pairs)


def _below(problems: Sequence[Problem], goals: FloatArray) -> Integers:
    """(B, S, N) what carries each object in each scene; courses are traces of their own."""
    below = np.full(goals.shape[:3], -1)
    for courses in sorted({len(problem.courses) for problem in problems}):
        for length in sorted({len(problem.courses[0].graphs) for problem in problems}):
            chosen = [
                b
                for b, problem in enumerate(problems)
                if len(problem.courses) == courses and len(problem.courses[0].graphs) == length
            ]
            for course in range(courses if chosen else 0):
                part = slice(course * length, (course + 1) * length)
                below[chosen, part] = carriers_along(goals[chosen, part])
    return below


def _tables(block: _Block, values: FloatArray, threshold: float) -> Iterator[Tables]:
    """What excludes and carries what, in each problem, given what the networks say about the compared pairs."""
    owner, (objects, scenes) = block.owner, block.exists
    batch, many = owner.shape
    exists, who = owner >= 0, np.maximum(owner, 0)
    alike = np.ones((batch, many, many), dtype=np.float32)
    b, p, q = block.compared
    alike[b, p, q] = alike[b, q, p] = values
    goal = np.take_along_axis(block.goal_place.transpose(0, 2, 1), who[:, :, None], axis=1)  # (B, P, S)
    probability = np.take_along_axis(alike, goal, axis=2)
    right = (probability >= threshold) & exists[:, :, None] & scenes[:, None]
    clash, deep, rests = pairwise(block.boxes)
    ignored, fixed = np.zeros_like(objects), np.zeros_like(objects)
    for row, problem in enumerate(block.problems):
        ignored[row, list(problem.ignored)] = True
        fixed[row, list(problem.fixed)] = True
    plays = exists & ~np.take_along_axis(ignored, who, axis=1)
    other = (owner[:, :, None] != owner[:, None]) & plays[:, :, None] & plays[:, None]
    weight = right.astype(np.float32)
    together = (weight @ weight.transpose(0, 2, 1) > 0) & ~deep
    seen = np.arange(many) < objects.sum(axis=1)[:, None]
    together |= seen[:, :, None] & seen[:, None]
    clash &= other & ~together
    carriers = np.zeros_like(clash)
    below = np.take_along_axis(block.below.transpose(0, 2, 1), who[:, :, None], axis=1)  # (B, P, S)
    below = np.where(right, below, -2)
    standing = np.where(right, owner[:, :, None], -3)
    for t in range(right.shape[2]):
        if np.any(below[:, :, t] >= 0):
            carriers |= below[:, :, None, t] == standing[:, None, :, t]
    carriers &= other
    above = (rests & other) | carriers
    excluded, on_it, under = (_integers(rows) for rows in (clash, above.transpose(0, 2, 1), carriers))
    misplaced, wrong, targets = _wanted(block, right, ignored)
    movable = plays & ~np.take_along_axis(fixed, who, axis=1)
    marks = _integers(np.stack([targets, movable, plays, wrong & exists], axis=1))
    for row, problem in enumerate(block.problems):
        n, s = len(problem.graph), len(problem.scenes)
        size = int(exists[row].sum())
        yield Tables(
            owner[row, :size].tolist(),
            block.boxes[row, :size],
            block.visual[row, :size],
            block.goal_place[row, :s, :n],
            block.below[row, :s, :n],
            probability[row, :size, :s],
            right[row, :size, :s],
            excluded[row][:size],
            on_it[row][:size],
            under[row][:size],
            misplaced[row][:size],
            *marks[row],
        )


def _wanted(block: _Block, right: BoolArray, ignored: BoolArray) -> tuple[list[list[int]], BoolArray, BoolArray]:
    """For each place the subgoals that have its object elsewhere, whether any has, and whether any has it just there.

    As in `NeuralModel`, of places that are right for the same subgoals the first one stands for all; a seen one first.
    """
    objects = block.exists[0]
    batch, count = objects.shape
    most = max(len(problem.subgoals) for problem in block.problems)
    scene, asked = np.zeros((batch, most), dtype=np.intp), np.zeros((batch, most), dtype=np.bool_)
    for row, problem in enumerate(block.problems):
        scene[row, : len(problem.subgoals)], asked[row, : len(problem.subgoals)] = problem.subgoals, True
    wanted = np.take_along_axis(right, scene[:, None], axis=2)  # (B, P, K)
    wrong = ~wanted & asked[:, None]
    targets = np.zeros(block.owner.shape, dtype=np.bool_)
    covered = wanted[:, :count] | (ignored | ~objects)[:, :, None]
    targets[:, :count] = np.any(wanted[:, :count] & asked[:, None], axis=2) & objects
    for k in range(most):
        b, i = np.nonzero(~covered[:, :, k] & asked[:, k, None])
        place = block.goal_place[b, scene[b, k], i]
        targets[b, place] = True
        covered[b, i] |= wanted[b, place]
    lanes = [[int.from_bytes(place, "little") for place in row] for row in _bytes(wrong)]
    return lanes, np.asarray(wrong.any(axis=2)), np.asarray(targets)


def _bytes(flags: BoolArray) -> list[list[bytes]]:
    """(B, P, K) flags as one byte each: for every place K bytes."""
    width = flags.shape[2]
    joined = np.ascontiguousarray(flags).view(f"V{width}")[..., 0]
    return [[bytes(place) for place in row] for row in joined.tolist()]


def _integers(rows: BoolArray) -> list[list[int]]:
    """Each row (B, R, P) as an integer with bit j set where the row is true."""
    packed = np.packbits(rows, axis=-1, bitorder="little")
    words = np.zeros((*packed.shape[:-1], -(-packed.shape[-1] // 8) * 8), dtype=np.uint8)
    words[..., : packed.shape[-1]] = packed
    parts = words.view("<u8")
    found: list[list[int]] = parts[..., 0].tolist()
    for i in range(1, parts.shape[-1]):
        high = parts[..., i].tolist()
        found = [
            [low | up << (64 * i) for low, up in zip(lower, upper, strict=True)]
            for lower, upper in zip(found, high, strict=True)
        ]
    return found

"""Random scenes, and random plans that the arm can carry out on them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import StrEnum
from itertools import product

import numpy as np

from nsrecover.errors import InvalidConfiguration
from nsrecover.operators import operator_of
from nsrecover.scene.geometry import bottom, footprint_overlap, top
from nsrecover.scene.relations import DIRECTIONS, Relation, supporter
from nsrecover.structs import Action, Box, FloatArray, Plan, SceneGraph
from sim.scenes import COLOURS, WORKSPACE_X_M, WORKSPACE_Y_M, ObjectKind, ObjectSpec, SceneSpec, footprint_gap

START_X_M = (0.36, 0.68)
"""Where objects stand at the start: off the edge of the workspace, so that something can be put on every side."""
START_Y_M = (-0.27, 0.27)

START_GAP_M = 0.045
"""Gap between objects at the start: an open finger passes between them."""

BESIDE_GAP_M = 0.03
"""Gap between the faces of two objects that are put beside each other."""

YAW_JITTER = math.radians(4.0)
"""Objects stand along the axes, up to this error."""

MAX_HEIGHT_M = 0.36
"""Highest tower: the hand still comes over it with a block."""

REACH_M = 0.76
"""Farthest place from the robot base that things are put at."""

PLACE_CLEARANCE_M = 0.02
"""Horizontal gap to everything else that a placed object keeps."""

HAND_HALF_M = (0.11, 0.04)
"""Half the hand's extent along the finger axis and across it, with some air."""
HAND_ABOVE_M = 0.015
"""The hand's underside is at least this much above the top of what it holds."""
FINGER_M = (0.028, 0.014)
"""An open finger: how far it reaches out beyond the object's face, and half its width."""

SCENE_TRIES = 60
PLAN_TRIES = 200


class Structure(StrEnum):
    """What a plan builds."""

    TOWER = "tower"
    """One block on another, from an object that stays where it is."""
    ROW = "row"
    """Blocks beside each other on the table."""
    MIXED = "mixed"
    """Anything: stacks, rows, objects put aside or moved again."""


def sample_scene(
    rng: np.random.Generator,
    count: int,
    kinds: tuple[ObjectKind, ...] = tuple(ObjectKind),
    seed: int = 0,
) -> SceneSpec:
    """A table with objects of random kinds, colours, sizes, places and yaws; no two share colour and kind.

    Args:
        rng: the source of randomness.
        count: number of objects.
        kinds: what they may be.
        seed: what to note in the scene as its origin.

    Returns:
        A scene whose objects keep `START_GAP_M` from each other.

    Raises:
        InvalidConfiguration: so many objects have no distinct names or no place on the table.
    """
    known = sorted(product(COLOURS, kinds))
    if not 1 <= count <= len(known):
        raise InvalidConfiguration(
            f"expected 1 to {len(known)} objects of {len(COLOURS)} colours and the kinds {', '.join(kinds)}, "
            f"found {count}; ask for fewer, or allow more kinds"
        )
    for _ in range(SCENE_TRIES):
        objects: list[ObjectSpec] = []
        for choice in rng.permutation(len(known))[:count]:
            colour, kind = known[choice]
            placed = _place(rng, colour, kind, objects)
            if placed is None:
                break
            objects.append(placed)
        else:
            return SceneSpec(tuple(objects), seed)
    raise InvalidConfiguration(
        f"expected a place on the table for {count} objects at least {1000 * START_GAP_M:.0f} mm apart, found none in "
        f"{SCENE_TRIES} tries; ask for fewer objects"
    )


def sample_plan(rng: np.random.Generator, scene: SceneSpec, structure: Structure, length: int) -> Plan:
    """A plan that the arm can carry out, if nothing goes wrong.

    Towers and rows that use up all objects before the plan is long enough go on with arbitrary moves.

    Args:
        rng: the source of randomness.
        scene: where it starts.
        structure: what to build.
        length: number of actions, 1 to 8.

    Returns:
        Actions whose preconditions hold one after the other; places are inside the workspace and leave room for the
        gripper; every `free` has a target box on the table.

    Raises:
        InvalidConfiguration: the length is out of range, or no such plan was found.
    """
    if not 1 <= length <= 8:
        raise InvalidConfiguration(f"expected a plan length of 1 to 8, found {length}; ask for a shorter plan")
    if len(scene.objects) < 2:
        raise InvalidConfiguration(f"expected at least 2 objects to plan with, found {len(scene.objects)}")
    for _ in range(PLAN_TRIES):
        graph, actions = nominal_graph(scene), list[Action]()
        while len(actions) < length:
            step = next((a for a in _candidates(rng, graph, structure, actions) if _feasible(graph, a)), None)
            if step is None:
                break
            graph = graph.with_node(graph.index(step.arguments[0]), nominal_box(graph, step))
            actions.append(step)
        else:
            return Plan(tuple(actions))
    raise InvalidConfiguration(
        f"expected a {structure} plan of {length} actions with {len(scene.objects)} objects, found none in "
        f"{PLAN_TRIES} tries; ask for a shorter plan or another scene"
    )


def is_feasible(scene: SceneSpec, plan: Plan) -> bool:
    """Whether the arm can carry out a plan, by the nominal geometry: the rules that `sample_plan` keeps."""
    graph = nominal_graph(scene)
    for action in plan:
        if not _feasible(graph, action):
            return False
        graph = graph.with_node(graph.index(action.arguments[0]), nominal_box(graph, action))
    return True


def nominal_graph(scene: SceneSpec) -> SceneGraph:
    """The scene at its start as a graph with exact boxes and no appearance."""
    boxes = np.zeros((len(scene.objects), 6), np.float32)
    for i, item in enumerate(scene.objects):
        corners = item.corners()
        boxes[i] = (*item.position, item.size[2] / 2, *np.ptp(corners, axis=0), item.size[2])
    return SceneGraph(scene.names, np.zeros((len(boxes), 0), np.float32), boxes, np.ones(len(boxes), bool))


def nominal_box(graph: SceneGraph, action: Action) -> Box:
    """Where an action puts its object if all goes well: centres aligned on top, `BESIDE_GAP_M` apart beside."""
    moved = graph.boxes[graph.index(action.arguments[0])].astype(float)
    if action.target is not None:
        return action.target
    reference = graph.boxes[graph.index(action.arguments[1])].astype(float)
    centre = reference[:3].copy()
    if action.operator == "top":
        centre[2] = reference[2] + (reference[5] + moved[5]) / 2
    else:
        axis, sign = DIRECTIONS[Relation(action.operator)]
        centre[axis] += sign * ((reference[3 + axis] + moved[3 + axis]) / 2 + BESIDE_GAP_M)
        centre[2] = bottom(reference) + moved[5] / 2
    x, y, z = (float(value) for value in centre)
    return (x, y, z, float(moved[3]), float(moved[4]), float(moved[5]))


def sample_size(rng: np.random.Generator, kind: ObjectKind) -> tuple[float, float, float]:
    """Sides of an object of a kind, metres: dice are smallest, a lego is long and flat."""
    if kind is ObjectKind.LEGO:
        width = round(float(rng.uniform(0.034, 0.042)), 4)
        return (round(float(rng.uniform(0.056, 0.068)), 4), width, width)
    low, high = (0.036, 0.046) if kind is ObjectKind.DIE else (0.040, 0.055)
    side = round(float(rng.uniform(low, high)), 4)
    return (side, side, side)


def sample_target(rng: np.random.Generator, graph: SceneGraph, name: str) -> Box:
    """A place on the table for one object, inside the workspace; whether it is empty is not checked."""
    size = graph.boxes[graph.index(name), 3:].astype(float)
    x, y = (float(rng.uniform(low, high)) for low, high in (START_X_M, START_Y_M))
    return (round(x, 4), round(y, 4), float(size[2]) / 2, float(size[0]), float(size[1]), float(size[2]))


def _place(rng: np.random.Generator, colour: str, kind: ObjectKind, others: list[ObjectSpec]) -> ObjectSpec | None:
    size = sample_size(rng, kind)
    for _ in range(50):
        item = ObjectSpec(
            name=f"{colour} {kind}",
            kind=kind,
            colour=colour,
            size=size,
            position=(round(float(rng.uniform(*START_X_M)), 4), round(float(rng.uniform(*START_Y_M)), 4)),
            yaw=float(rng.integers(2) * math.pi / 2 + rng.uniform(-YAW_JITTER, YAW_JITTER)),
        )
        if all(footprint_gap(item, other) >= START_GAP_M for other in others):
            return item
    return None


def _candidates(
    rng: np.random.Generator, graph: SceneGraph, structure: Structure, done: list[Action]
) -> Iterator[Action]:
    """Actions to consider next, best first; most of them will not be feasible."""
    used = {name for action in done for name in action.arguments}
    fresh = [str(name) for name in rng.permutation([n for n in graph.names if n not in used])]
    names = [str(name) for name in rng.permutation(graph.names)]
    if structure is not Structure.MIXED and not done:
        references = names
    elif structure is Structure.TOWER:
        references = [done[-1].arguments[0]]
    else:
        references = [str(name) for name in rng.permutation(sorted(used))]
    if structure is Structure.TOWER:
        yield from (Action("top", (name, below)) for below in references for name in fresh if name != below)
    elif structure is Structure.ROW:
        # a row mostly goes on in the direction it has
        sides = [str(side) for side in rng.permutation([str(side) for side in DIRECTIONS])]
        if done and rng.random() < 0.7:
            sides.insert(0, done[-1].operator)
            references.insert(0, done[-1].arguments[0])
        sides = [side for side in sides if side in DIRECTIONS]
        yield from (
            Action(side, (name, beside)) for side in sides for beside in references for name in fresh if name != beside
        )
    if structure is Structure.MIXED or not fresh:
        yield from _any_move(rng, graph, done, fresh)


def _any_move(rng: np.random.Generator, graph: SceneGraph, done: list[Action], fresh: list[str]) -> Iterator[Action]:
    """Arbitrary moves of one object; mostly of one that was not used yet."""
    last = done[-1].arguments[0] if done else None
    for _ in range(60):
        # moving the same object twice in a row is rarely of use, but sometimes all that is left
        again = rng.random() < 0.1
        movable = fresh if fresh and rng.random() < 0.8 else [n for n in graph.names if again or n != last]
        name = str(rng.choice(movable))
        kind = rng.random()
        if kind < 0.12:
            yield Action("free", (name,), sample_target(rng, graph, name))
            continue
        other = str(rng.choice([n for n in graph.names if n != name]))
        yield Action("top" if kind < 0.55 else str(rng.choice(list(DIRECTIONS))), (name, other))


def _feasible(graph: SceneGraph, action: Action) -> bool:
    """Whether an action changes something, its preconditions hold, and there is room to carry it out."""
    operator = operator_of(action)
    if operator.violated(graph, action) or (action.target is None and operator.achieved(graph, action)):
        return False
    moved = graph.index(action.arguments[0])
    box = np.asarray(nominal_box(graph, action), np.float32)
    inside = all(
        low + 0.01 <= value <= high - 0.01
        for value, (low, high) in zip(box[:2], (WORKSPACE_X_M, WORKSPACE_Y_M), strict=True)
    )
    in_reach = math.hypot(float(box[0]), float(box[1])) < REACH_M
    if not inside or not in_reach or top(box) > MAX_HEIGHT_M:
        return False
    others = np.delete(graph.boxes, moved, axis=0)
    if action.operator == "top":
        below = graph.boxes[graph.index(action.arguments[1])]
        # wide blocks on narrow ones tip over as soon as they are a little off
        if np.any(box[3:5] > 1.7 * below[3:5]):
            return False
    elif action.target is None and supporter(graph, graph.index(action.arguments[1])) is not None:
        return False  # beside something that stands on a tower there is only air
    if _near(box, others, PLACE_CLEARANCE_M):
        return False
    return any(_hand_fits(graph.boxes[moved], others, axis) and _hand_fits(box, others, axis) for axis in (0, 1))


def _near(box: FloatArray, others: FloatArray, clearance_m: float) -> bool:
    """Whether something as high as a box (6,) stands within a horizontal distance of it."""
    grown = box + np.array([0, 0, 0, 2 * clearance_m, 2 * clearance_m, 0], np.float32)
    return bool(np.any((footprint_overlap(grown, others) > 0) & (top(others) > bottom(box) + 0.005)))


def _hand_fits(box: FloatArray, others: FloatArray, axis: int) -> bool:
    """Whether the gripper can hold an object (6,) with its fingers along x (0) or y (1) among others (M, 6)."""
    hand, fingers = box.copy(), box.copy()
    hand[3 + axis], hand[4 - axis] = 2 * HAND_HALF_M[0], 2 * HAND_HALF_M[1]
    fingers[3 + axis], fingers[4 - axis] = box[3 + axis] + 2 * FINGER_M[0], 2 * FINGER_M[1]
    hits_hand = (footprint_overlap(hand, others) > 0) & (top(others) > top(box) + HAND_ABOVE_M)
    hits_fingers = (footprint_overlap(fingers, others) > 0) & (top(others) > top(box) - 0.02)
    return not bool(np.any(hits_hand | hits_fingers))

"""Random scenes, and random plans that the arm can carry out in them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import product

import numpy as np

from nsrecover.core import Action, Box, FloatArray, Plan, SceneGraph
from nsrecover.core.geometry import as_box, bottom, footprint_overlap, top
from nsrecover.domains.tabletop.operators import has_own_effect, operator_of, reference_name
from nsrecover.domains.tabletop.relations import DIRECTIONS, Relation, supporter
from nsrecover.errors import InvalidConfiguration
from nsrecover.util.english import amount
from sim.tabletop.scene_mix import DEFAULT_MIX, MOST, SceneMix
from sim.tabletop.scenes import (
    BOX_KINDS,
    FLAT_KINDS,
    TABLE,
    ObjectKind,
    ObjectSpec,
    SceneSpec,
    Span,
    TableSpec,
    footprint_gaps,
)

BESIDE_GAP_M = 0.03
"""Gap between two objects that are placed next to each other."""

SCENE_TRIES = 60
PLAN_TRIES = 200
LONGEST = 40
"""Maximum number of actions of a plan."""


@dataclass(frozen=True)
class Margins:
    """Room that a plan keeps so that the arm succeeds; with less, some plans fail without a fault.

    Attributes:
        max_height_m: maximum height of a tower; at 0.36 the hand still passes above it with a block.
        reach_m: maximum distance of a place from the robot base.
        edge_m: minimum distance of places from the edge of the workspace.
        clearance_m: minimum horizontal gap between a placed object and all others.
        widest: maximum width of an object as a multiple of its support's; wide ones tip over when slightly misplaced.
        hand_half_m: half the hand's extent along the finger axis and across it, with a margin.
        hand_above_m: minimum height of the hand's underside above the top of the object.
        finger_m: an open finger: its extent beyond the object's face, and half its width.
        hand_room: whether the hand and the fingers need room at all.
    """

    max_height_m: float = 0.36
    reach_m: float = 0.76
    edge_m: float = 0.01
    clearance_m: float = 0.02
    widest: float = 1.7
    hand_half_m: Span = (0.11, 0.04)
    hand_above_m: float = 0.015
    finger_m: Span = (0.028, 0.014)
    hand_room: bool = True


SAFE = Margins()
"""Margins of demonstrations."""
RISKY = Margins(
    max_height_m=0.45,
    clearance_m=0.004,
    widest=2.5,
    hand_half_m=(0.10, 0.032),
    hand_above_m=0.005,
    finger_m=(0.018, 0.011),
)
"""Margins that do not always suffice: towers of seven or eight, tight gaps, wide blocks on narrow ones."""


class Structure(StrEnum):
    """The structure that a plan builds."""

    TOWER = "tower"
    """One block on another, from an object that stays where it is."""
    ROW = "row"
    """Blocks next to each other on the table."""
    MIXED = "mixed"
    """Stacks, rows, objects that are moved aside or moved again."""


def sample_scene(
    rng: np.random.Generator, count: int | None = None, mix: SceneMix = DEFAULT_MIX, seed: int = 0
) -> SceneSpec:
    """A random scene: kinds, colours, sizes, places and yaws.

    Args:
        rng: the source of randomness.
        count: number of objects, 1 to `sim.tabletop.scene_mix.MOST`; one of the mix's counts if None.
        mix: distribution of scenes.
        seed: seed of the scene's textures.

    Returns:
        A scene whose objects keep the mix's gap from each other.

    Raises:
        InvalidConfiguration: the table has no room for so many objects; the message says for how many it has.
    """
    if count is None:
        count = int(rng.choice(mix.counts))
    if not 1 <= count <= MOST:
        raise InvalidConfiguration(f"expected 1 to {MOST} objects, found {count}; ask for fewer, or for more scenes")
    known, most = sorted(product(mix.colours, mix.kinds)), 0
    for _ in range(SCENE_TRIES):
        objects: list[ObjectSpec] = []
        choices = rng.permutation(len(known))
        while len(choices) < count:
            choices = np.concatenate([choices, rng.permutation(len(known))])
        for number, choice in enumerate(choices[:count]):
            colour, kind = known[choice]
            # the second object of a colour and kind is called "red cube 2"
            suffix = f" {number // len(known) + 1}" if number >= len(known) else ""
            placed = _place(rng, f"{colour} {kind}{suffix}", colour, kind, mix, objects)
            if placed is None:
                break
            objects.append(placed)
        else:
            return _finished(rng, objects, mix, seed)
        most = max(most, len(objects))
    (x_low, x_high), (y_low, y_high) = mix.table.start
    raise InvalidConfiguration(
        f"expected a place on the table for {count} objects at least {1000 * mix.gap_m:.0f} mm apart, found places for "
        f"at most {most} in {SCENE_TRIES} tries on {x_high - x_low:.2f} x {y_high - y_low:.2f} m; ask for at most "
        f"{most}, or configure smaller sides, a smaller gap_m or a larger table (scene=crowd holds {MOST})"
    )


def add_object(rng: np.random.Generator, scene: SceneSpec, kind: ObjectKind, mix: SceneMix) -> SceneSpec:
    """A scene with one more object of a kind and a colour that no object of the kind has.

    Raises:
        InvalidConfiguration: the colours of the mix are used up, or there is no room.
    """
    used = {item.colour for item in scene.objects if item.kind is kind}
    colours = [colour for colour in mix.colours if colour not in used]
    objects = list(scene.objects)
    for colour in rng.permutation(colours).tolist():
        placed = _place(rng, f"{colour} {kind}", colour, kind, mix, objects)
        if placed is not None:
            return replace(scene, objects=(*scene.objects, placed))
    raise InvalidConfiguration(
        f"expected room and a colour for another {kind}, found none beside {amount(len(objects), 'object')}; "
        "ask for fewer"
    )


def _finished(rng: np.random.Generator, objects: list[ObjectSpec], mix: SceneMix, seed: int) -> SceneSpec:
    """A scene with random textures. With a single texture, no random number is drawn."""
    textures = [mix.textures[0]] * len(objects)
    if len(mix.textures) > 1:
        textures = [mix.textures[int(rng.integers(len(mix.textures)))] for _ in objects]
    objects = [
        replace(item, texture=texture) if item.kind in BOX_KINDS else item
        for item, texture in zip(objects, textures, strict=True)
    ]
    table = mix.table
    if mix.table_textures:
        table = replace(table, texture=mix.table_textures[int(rng.integers(len(mix.table_textures)))])
    return SceneSpec(tuple(objects), seed, table)


def sample_plan(
    rng: np.random.Generator,
    scene: SceneSpec,
    structure: Structure,
    length: int,
    margins: Margins = SAFE,
    tries: int = PLAN_TRIES,
) -> Plan:
    """A random plan that the arm can carry out if no fault strikes.

    If a tower or row uses all objects before the plan is long enough, arbitrary moves follow.

    Args:
        rng: the source of randomness.
        scene: start of the plan.
        structure: structure to build.
        length: number of actions, 1 to `LONGEST`.
        margins: room that the plan keeps; with `RISKY`, some plans fail without a fault.
        tries: number of plans that are begun.

    Returns:
        Actions whose preconditions hold in order; places are inside the workspace and leave room for the gripper; every
        `free` has a target box on the table.

    Raises:
        InvalidConfiguration: the length is out of range, or no such plan was found.
    """
    if not 1 <= length <= LONGEST:
        raise InvalidConfiguration(f"expected a plan length of 1 to {LONGEST}, found {length}; ask for a shorter plan")
    if len(scene.objects) < 2:
        raise InvalidConfiguration(f"expected at least 2 objects to plan with, found {len(scene.objects)}")
    for _ in range(tries):
        graph, actions = nominal_graph(scene), list[Action]()
        while len(actions) < length:
            candidates = _candidates(rng, graph, structure, actions, scene.table)
            fitting = (each for each in candidates if _feasible(graph, each, scene.table, margins))
            step = next((each for each in fitting if _has_flat_support(scene, each)), None)
            if step is None:
                break
            graph = graph.with_node(graph.index(step.arguments[0]), nominal_box(graph, step))
            actions.append(step)
        else:
            return Plan(tuple(actions))
    raise InvalidConfiguration(
        f"expected a {structure} plan of {length} actions with {amount(len(scene.objects), 'object')}, found none in "
        f"{tries} tries; ask for a shorter plan or another scene"
    )


def _has_flat_support(scene: SceneSpec, action: Action) -> bool:
    """Whether an action that stacks does so on something with a flat top."""
    return action.operator != "top" or scene[action.arguments[1]].kind in FLAT_KINDS


def is_feasible(scene: SceneSpec, plan: Plan, margins: Margins = SAFE) -> bool:
    """Whether a plan keeps the rules of `sample_plan`, by nominal geometry."""
    graph = nominal_graph(scene)
    for action in plan:
        if not _feasible(graph, action, scene.table, margins) or not _has_flat_support(scene, action):
            return False
        graph = graph.with_node(graph.index(action.arguments[0]), nominal_box(graph, action))
    return True


def nominal_graph(scene: SceneSpec) -> SceneGraph:
    """Scene graph of the start, with exact boxes and no appearance."""
    boxes = np.zeros((len(scene.objects), 6), np.float32)
    for i, item in enumerate(scene.objects):
        corners = item.corners()
        boxes[i] = (*item.position, item.size[2] / 2, *np.ptp(corners, axis=0), item.size[2])
    return SceneGraph(scene.names, np.zeros((len(boxes), 0), np.float32), boxes, np.ones(len(boxes), bool))


def nominal_box(graph: SceneGraph, action: Action) -> Box:
    """Nominal box of the object after an action: centres aligned when stacked, `BESIDE_GAP_M` apart in rows.

    An operator with one argument puts it where its `place` says, or leaves it where it is.
    """
    moved = graph.boxes[graph.index(action.arguments[0])].astype(float)
    if action.target is not None:
        return action.target
    if len(action.arguments) == 1:
        place = operator_of(action).place
        return as_box(moved) if place is None else place(graph, action)
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


def sample_target(rng: np.random.Generator, graph: SceneGraph, name: str, table: TableSpec = TABLE) -> Box:
    """A random place for one object in the start region of the table; it may be occupied."""
    size = graph.boxes[graph.index(name), 3:].astype(float)
    x, y = (float(rng.uniform(low, high)) for low, high in table.start)
    return (round(x, 4), round(y, 4), float(size[2]) / 2, float(size[0]), float(size[1]), float(size[2]))


def _place(
    rng: np.random.Generator, name: str, colour: str, kind: ObjectKind, mix: SceneMix, others: list[ObjectSpec]
) -> ObjectSpec | None:
    size, model = mix.sample_shape(rng, kind)
    x_m, y_m = mix.table.start
    corners = np.array([other.corners() for other in others]).reshape(-1, 4, 2)
    yaws = np.array([other.yaw for other in others])
    for _ in range(50):
        item = ObjectSpec(
            name=name,
            kind=kind,
            colour=colour,
            size=size,
            position=(round(float(rng.uniform(*x_m)), 4), round(float(rng.uniform(*y_m)), 4)),
            yaw=float(rng.integers(2) * math.pi / 2 + rng.uniform(-mix.yaw_jitter, mix.yaw_jitter)),
            model=model,
        )
        if bool(np.all(footprint_gaps(item, corners, yaws) >= mix.gap_m)):
            return item
    return None


def _candidates(
    rng: np.random.Generator, graph: SceneGraph, structure: Structure, done: list[Action], table: TableSpec
) -> Iterator[Action]:
    """Candidates for the next action, best first; most of them are not feasible."""
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
        # a row mostly continues in its direction
        sides = [str(side) for side in rng.permutation([str(side) for side in DIRECTIONS])]
        if done and rng.random() < 0.7:
            sides.insert(0, done[-1].operator)
            references.insert(0, done[-1].arguments[0])
        sides = [side for side in sides if side in DIRECTIONS]
        yield from (
            Action(side, (name, beside)) for side in sides for beside in references for name in fresh if name != beside
        )
    if structure is Structure.MIXED or not fresh:
        yield from _any_move(rng, graph, done, fresh, table)


def _any_move(
    rng: np.random.Generator, graph: SceneGraph, done: list[Action], fresh: list[str], table: TableSpec
) -> Iterator[Action]:
    """Arbitrary moves of one object, mostly of an unused one."""
    last = done[-1].arguments[0] if done else None
    for _ in range(60):
        # moving the same object twice in a row is rarely useful, but sometimes the only option
        again = rng.random() < 0.1
        movable = fresh if fresh and rng.random() < 0.8 else [n for n in graph.names if again or n != last]
        name = str(rng.choice(movable))
        kind = rng.random()
        if kind < 0.12:
            yield Action("free", (name,), sample_target(rng, graph, name, table))
            continue
        other = str(rng.choice([n for n in graph.names if n != name]))
        yield Action("top" if kind < 0.55 else str(rng.choice(list(DIRECTIONS))), (name, other))


def _feasible(graph: SceneGraph, action: Action, table: TableSpec, margins: Margins) -> bool:
    """Whether an action changes something, its preconditions hold, and it has enough room."""
    operator = operator_of(action)
    if operator.violated(graph, action) or (action.target is None and operator.achieved(graph, graph, action)):
        return False
    moved = graph.index(action.arguments[0])
    box = np.asarray(nominal_box(graph, action), np.float32)
    inside = all(
        low + margins.edge_m <= value <= high - margins.edge_m
        for value, (low, high) in zip(box[:2], (table.x_m, table.y_m), strict=True)
    )
    in_reach = math.hypot(float(box[0]), float(box[1])) < margins.reach_m
    if not inside or not in_reach or top(box) > margins.max_height_m:
        return False
    others = np.delete(graph.boxes, moved, axis=0)
    if action.operator == "top":
        below = graph.boxes[graph.index(action.arguments[1])]
        if np.any(box[3:5] > margins.widest * below[3:5]):
            return False
    elif has_own_effect(action) and supporter(graph, graph.index(reference_name(action))) is not None:
        return False  # next to an object on a tower there is no support
    if _near(box, others, margins.clearance_m):
        return False
    if not margins.hand_room:
        return True
    return any(
        _hand_fits(graph.boxes[moved], others, axis, margins) and _hand_fits(box, others, axis, margins)
        for axis in (0, 1)
    )


def _near(box: FloatArray, others: FloatArray, clearance_m: float) -> bool:
    """Whether an object as high as a box (6,) stands within a horizontal distance of it."""
    grown = box + np.array([0, 0, 0, 2 * clearance_m, 2 * clearance_m, 0], np.float32)
    return bool(np.any((footprint_overlap(grown, others) > 0) & (top(others) > bottom(box) + 0.005)))


def _hand_fits(box: FloatArray, others: FloatArray, axis: int, margins: Margins) -> bool:
    """Whether the gripper can hold an object (6,) with its fingers along x (0) or y (1) among others (M, 6)."""
    hand, fingers = box.copy(), box.copy()
    hand[3 + axis], hand[4 - axis] = 2 * margins.hand_half_m[0], 2 * margins.hand_half_m[1]
    fingers[3 + axis], fingers[4 - axis] = box[3 + axis] + 2 * margins.finger_m[0], 2 * margins.finger_m[1]
    hits_hand = (footprint_overlap(hand, others) > 0) & (top(others) > top(box) + margins.hand_above_m)
    hits_fingers = (footprint_overlap(fingers, others) > 0) & (top(others) > top(box) - 0.02)
    return not bool(np.any(hits_hand | hits_fingers))

"""Draws episodes of dataset XI: clutter, a push or a drop in it, what is seen, and what goes wrong."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from tabulate import tabulate

from nsrecover.models.outcomes.episode import ERRORS, GOOD, ContactEpisode
from nsrecover.models.outcomes.rigid import outline_gaps, outlines
from nsrecover.models.outcomes.scene import (
    APPROACH_M,
    DRAWN,
    FINGER_M,
    Array,
    ContactAction,
    ContactScene,
    Shape,
)
from sim.tabletop.contact import TIP_HEIGHT_M, ContactTable, Fault, Hidden

CENTRE_NOISE_M, HEIGHT_NOISE_M, SIDE_NOISE_M, YAW_NOISE = 0.0030, 0.0015, 0.0030, math.radians(3.0)
"""Standard deviations of what is seen. Behind the model of a D435, boxes of the library's own perception in scenes of
six objects are off by 4.4 mm along x and y, 1.4 mm in height and 3 to 7 mm in their sides, of which a part is the error
of the cameras' poses, which is the same before and after."""
AIM_M = 0.002
"""Standard deviation of where the fingers begin, across the push."""
REDRAWS = 400
_MIDDLE_M = (0.52, 0.0)
_REACHED = 0.6
"""Share of the distance by which the object of a good push moves at least."""
_LIES = math.radians(60.0)
_TOPPLE_AT = 0.8
"""Height at which an object is toppled, as a share of its own."""


@dataclass(frozen=True, eq=False)
class _Attempt:
    """A drawn action before it is carried out."""

    scene: ContactScene
    seen: ContactScene
    hidden: Hidden
    action: ContactAction
    height_m: float


def draw(
    table: ContactTable, seed: int, number: int, faulty: float, operators: Sequence[str] = DRAWN
) -> ContactEpisode:
    """Episode `number` of the dataset with a seed; the same for the same arguments.

    Args:
        table: carries it out.
        seed: of the dataset.
        number: of the episode.
        faulty: share of faulty episodes.
        operators: those that are drawn, in turn.
    """
    rng = np.random.default_rng([seed, number, 11])
    operator = operators[number % len(operators)]
    errors = [kind for kind in ERRORS if operator != "drop_into" or kind not in ("blocked", "stuck")]
    kind = str(rng.choice(errors)) if rng.random() < faulty else GOOD
    for _ in range(REDRAWS):
        attempt = _attempt(rng, operator)
        found = None if attempt is None else _carry_out(table, attempt, kind, rng, number)
        if found is not None:
            return found
    raise AssertionError(f"expected episode {number} of seed {seed} within {REDRAWS} draws")


def _attempt(rng: np.random.Generator, operator: str) -> _Attempt | None:
    scene = _binned(rng) if operator == "drop_into" else _clutter(rng, operator)
    seen = _noisy(scene, rng)
    hidden = Hidden.drawn(rng, len(scene))
    if operator == "drop_into":
        release = scene.centres[0]
        action = ContactAction(
            operator, 0, release[:2] + rng.normal(0, 0.002, 2), np.array([1.0, 0.0]), float(release[2])
        )
        # where it is released is known from the arm
        seen.centres[0] = np.array([*action.start, release[2]])
        return _Attempt(scene, seen, hidden, action, 0.0)
    # the pushed object is the first one
    height = _TOPPLE_AT * float(scene.sizes[0, 2]) if operator == "topple" else TIP_HEIGHT_M
    distance = float(rng.uniform(0.04, 0.07) if operator == "topple" else rng.uniform(0.05, 0.12))
    for _ in range(20):
        action = _aimed(seen, 0, operator, float(rng.uniform(0, 2 * math.pi)), distance)
        if _is_free(seen, action.start, height, 0.004):
            return _Attempt(scene, seen, hidden, action, height)
    return None


def _aimed(scene: ContactScene, target: int, operator: str, angle: float, distance: float) -> ContactAction:
    """A push through the middle of an object, from `APPROACH_M` behind it."""
    direction = np.array([math.cos(angle), math.sin(angle)])
    outline = outlines(scene)[target]
    behind = float((scene.centres[target, :2] @ direction) - (outline @ direction).min())
    start = scene.centres[target, :2] - direction * (behind + FINGER_M + APPROACH_M)
    return ContactAction(operator, target, start, direction, distance)


def _is_free(scene: ContactScene, start: Array, height_m: float, room_m: float) -> bool:
    """Whether the fingers can stand at the beginning of a push."""
    turns = np.arange(8) * math.pi / 4
    finger = start + FINGER_M * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    reaching = outlines(scene)[scene.sizes[:, 2] > height_m - 0.012]
    return bool((outline_gaps(finger, reaching)[0] > room_m).all())


def _carry_out(
    table: ContactTable, attempt: _Attempt, kind: str, rng: np.random.Generator, number: int
) -> ContactEpisode | None:
    scene, action = attempt.scene, attempt.action
    performed, who, fault = action, action.target, Fault()
    if kind == "wrong_object":
        others = _others(attempt)
        if not others:
            return None
        who = int(rng.choice(others))
        if action.operator != "drop_into":
            angle = math.atan2(action.direction[1], action.direction[0])
            performed = _aimed(attempt.seen, who, action.operator, angle, action.distance)
    elif kind == "missed":
        fault = Fault(raised_m=float(scene.sizes[0, 2]) - attempt.height_m + float(rng.uniform(0.016, 0.025)))
    elif kind == "blocked":
        fault = Fault(travel=float(rng.uniform(0.3, 0.7)))
    elif kind == "stuck":
        turn, far = rng.uniform(0, 2 * math.pi), rng.uniform(0.03, 0.06)
        fault = Fault(drag_m=(float(far * math.cos(turn)), float(far * math.sin(turn))))
    if action.operator == "drop_into":
        outcome = _dropped(table, attempt, kind, who, rng)
    else:
        across = np.array([-action.direction[1], action.direction[0]]) * rng.normal(0.0, AIM_M)
        performed = replace(performed, start=performed.start + across)
        outcome = table.push(scene, attempt.hidden, performed, attempt.height_m, fault)
    if outcome is None:
        return None
    after, tilts = outcome
    if kind in (GOOD, "neighbour_moved") and not _succeeded(scene, action, after, tilts):
        return None  # it is not known whose fault it would be
    culprits: tuple[int, ...] = () if kind == GOOD else (action.target,)
    if kind == "wrong_object":
        culprits = (action.target, who)
    if kind == "neighbour_moved":
        moved = _displaced(scene, after, action.target, rng)
        if moved is None:
            return None
        after, culprits = moved
    noise = rng.normal(0.0, (CENTRE_NOISE_M, CENTRE_NOISE_M, HEIGHT_NOISE_M), after.shape)
    noise[scene.shapes == Shape.BIN] = 0.0
    return ContactEpisode(number, kind, attempt.seen, action, after + noise, scene.centres, after, culprits)


def _others(attempt: _Attempt) -> list[int]:
    """Objects that could be pushed, or dropped, instead."""
    seen, action = attempt.seen, attempt.action
    if action.operator == "drop_into":
        return [i for i in range(1, len(seen)) if seen.shapes[i] != Shape.BIN and not _inside(seen, i)]
    angle = math.atan2(action.direction[1], action.direction[0])
    starts = ((i, _aimed(seen, i, action.operator, angle, action.distance).start) for i in range(1, len(seen)))
    tall = seen.sizes[:, 2] > attempt.height_m
    return [i for i, start in starts if tall[i] and _is_free(seen, start, attempt.height_m, 0.004)]


def _dropped(
    table: ContactTable, attempt: _Attempt, kind: str, who: int, rng: np.random.Generator
) -> tuple[Array, Array] | None:
    """The outcome of a drop. It is missed if the object is released beside the bin."""
    scene, centres = attempt.scene, attempt.scene.centres.copy()
    release = centres[0].copy()
    if kind == "wrong_object":
        # the object itself stays where it was grasped, and another one is dropped
        centres[0], centres[who] = centres[who], release
        centres[0, 2], centres[who, 2] = scene.sizes[0, 2] / 2, release[2]
    elif kind == "missed":
        turn, far = rng.uniform(0, 2 * math.pi), rng.uniform(0.14, 0.20)
        centres[0, :2] += far * np.array([math.cos(turn), math.sin(turn)])
    return table.drop(replace(scene, centres=centres), attempt.hidden)


def _succeeded(scene: ContactScene, action: ContactAction, after: Array, tilts: Array) -> bool:
    """Whether an action did what it is for, by the truth."""
    moved = action.to_action(after - scene.centres)[action.target]
    if action.operator == "drop_into":
        return _inside(replace(scene, centres=after), 0) and bool(after[0, 2] < 0.12)
    if action.operator == "topple":
        return bool(tilts[action.target] > _LIES)
    return bool(moved[0] >= _REACHED * action.distance)


def _inside(scene: ContactScene, index: int) -> bool:
    """Whether an object's centre is inside the walls of the bin."""
    (bin_,) = np.flatnonzero(scene.shapes == Shape.BIN)
    away = np.abs(scene.centres[index, :2] - scene.centres[bin_, :2])
    return bool((away < scene.sizes[bin_, :2] / 2).all())


def _displaced(
    scene: ContactScene, after: Array, target: int, rng: np.random.Generator
) -> tuple[Array, tuple[int, ...]] | None:
    """A neighbour is displaced by 3 to 6 cm to a free place: the centres, and which one it was."""
    extents = np.linalg.norm(scene.sizes[:, :2], axis=1) / 2
    things = scene.shapes != Shape.BIN
    choices = [i for i in np.flatnonzero(things) if i != target]
    for _ in range(60):
        moved = int(rng.choice(choices))
        turn, far = rng.uniform(0, 2 * math.pi), rng.uniform(0.03, 0.06)
        place = after[moved, :2] + far * np.array([math.cos(turn), math.sin(turn)])
        others = things & (np.arange(len(scene)) != moved)
        away = np.linalg.norm(after[others, :2] - place, axis=1)
        if (away > 0.85 * (extents[others] + extents[moved])).all():
            centres = after.copy()
            centres[moved, :2] = place
            return centres, (moved,)
    return None


def _size(rng: np.random.Generator, shape: Shape) -> Array:
    if shape is Shape.BOX:
        if rng.random() < 0.6:
            return rng.uniform((0.030, 0.030, 0.032), (0.060, 0.060, 0.065))
        return rng.uniform((0.080, 0.030, 0.032), (0.120, 0.045, 0.045))
    if shape is Shape.STANDING:
        across = rng.uniform(0.036, 0.060)
        return np.array([across, across, rng.uniform(0.035, 0.065)])
    across = rng.uniform(0.036, 0.060)
    return np.array([rng.uniform(0.06, 0.11) if shape is Shape.LYING else across, across, across])


def _tall(rng: np.random.Generator) -> tuple[Shape, Array]:
    """A box or a can that is high enough to be toppled."""
    shape = Shape.BOX if rng.random() < 0.5 else Shape.STANDING
    sides = rng.uniform(0.030, 0.050, 2) if shape is Shape.BOX else np.full(2, rng.uniform(0.036, 0.060))
    return shape, np.array([*sides, rng.uniform(0.09, 0.14)])


def _clutter(rng: np.random.Generator, operator: str) -> ContactScene:
    """4 to 8 objects close together; the first one suits the operator."""
    first = {"push": (Shape.BOX, Shape.STANDING), "roll": (Shape.LYING, Shape.BALL)}
    count, spread = int(rng.integers(4, 9)), float(rng.uniform(0.06, 0.11))
    shapes, sizes = [], []
    for i in range(count):
        if operator == "topple" and (i == 0 or rng.random() < 0.3):
            shape, size = _tall(rng)
        else:
            shape = Shape(int(rng.choice(4, p=(0.55, 0.25, 0.12, 0.08))))
            if i == 0:
                shape = first[operator][int(rng.random() < 0.4)]
            size = _size(rng, shape)
        shapes.append(shape)
        sizes.append(size)
    return _spread_out(rng, shapes, sizes, spread)


def _has_room(outline: Array, others: list[Array]) -> bool:
    """Whether an object is 3 mm away from others at least."""
    return not others or bool((outline_gaps(outline, np.array(others))[0] > 0.003).all())


def _spread_out(rng: np.random.Generator, shapes: list[Shape], sizes: list[Array], spread: float) -> ContactScene:
    """Objects at random places within a radius that grows until they fit, 3 mm apart at least."""
    outlines_, centres, yaws = list[Array](), list[Array](), list[float]()
    for shape, size in zip(shapes, sizes, strict=True):
        while True:
            turn, far = rng.uniform(0, 2 * math.pi), spread * math.sqrt(rng.uniform())
            centre = np.array([_MIDDLE_M[0] + far * math.cos(turn), _MIDDLE_M[1] + far * math.sin(turn), size[2] / 2])
            yaw = float(rng.uniform(-math.pi / 2, math.pi / 2)) if shape in (Shape.BOX, Shape.LYING) else 0.0
            one = ContactScene(np.array([int(shape)]), centre[None], size[None], np.array([yaw]))
            outline = outlines(one)[0]
            if _has_room(outline, outlines_):
                break
            spread += 0.002
        outlines_.append(outline)
        centres.append(centre)
        yaws.append(yaw)
    return ContactScene(np.array([int(each) for each in shapes]), np.array(centres), np.array(sizes), np.array(yaws))


def _binned(rng: np.random.Generator) -> ContactScene:
    """The object over a bin with 0 to 4 others in it, one or two beside it."""
    sides = np.array([rng.uniform(0.16, 0.22), rng.uniform(0.14, 0.18), rng.uniform(0.04, 0.06)])
    bin_ = ContactScene(np.array([int(Shape.BIN)]), np.array([[*_MIDDLE_M, sides[2] / 2]]), sides[None], np.zeros(1))
    inner, placed, kept = sides[:2] / 2 - 0.008, list[Array](), list[tuple[Shape, Array, Array, float]]()
    for _ in range(int(rng.integers(0, 5))):
        shape = Shape(int(rng.choice(4, p=(0.5, 0.2, 0.15, 0.15))))
        size = _size(rng, shape)
        for _ in range(20):
            yaw = float(rng.uniform(-math.pi / 2, math.pi / 2)) if shape in (Shape.BOX, Shape.LYING) else 0.0
            centre = np.array([*(_MIDDLE_M + rng.uniform(-1, 1, 2) * inner), size[2] / 2 + 0.006])
            outline = outlines(ContactScene(np.array([int(shape)]), centre[None], size[None], np.array([yaw])))[0]
            fits = (np.abs(outline - _MIDDLE_M) < inner).all()
            if fits and _has_room(outline, placed):
                placed.append(outline)
                kept.append((shape, size, centre, yaw))
                break
    aside = int(rng.integers(1, 3))
    for k in range(aside):
        shape = Shape(int(rng.choice((0, 1))))
        size = _size(rng, shape)
        side = (-1) ** k * (sides[1] / 2 + rng.uniform(0.08, 0.10))
        centre = np.array([_MIDDLE_M[0] + rng.uniform(-0.06, 0.06), _MIDDLE_M[1] + side, size[2] / 2])
        kept.append((shape, size, centre, 0.0))
    shape = Shape(int(rng.choice(4, p=(0.4, 0.2, 0.2, 0.2))))
    size = _size(rng, shape)
    over = (
        *(np.array(_MIDDLE_M) + rng.uniform(-0.5, 0.5, 2) * inner),
        sides[2] + size[2] / 2 + rng.uniform(0.03, 0.12),
    )
    kept.insert(0, (shape, size, np.array(over), float(rng.uniform(-math.pi / 2, math.pi / 2))))
    return ContactScene(
        np.array([*(int(each[0]) for each in kept), int(Shape.BIN)]),
        np.concatenate([np.array([each[2] for each in kept]), bin_.centres]),
        np.concatenate([np.array([each[1] for each in kept]), bin_.sizes]),
        np.array([*(each[3] for each in kept), 0.0]),
    )


def _noisy(scene: ContactScene, rng: np.random.Generator) -> ContactScene:
    """The scene as it is seen; the bin is known."""
    centres = scene.centres + rng.normal(0.0, (CENTRE_NOISE_M, CENTRE_NOISE_M, HEIGHT_NOISE_M), scene.centres.shape)
    sizes = np.maximum(scene.sizes + rng.normal(0.0, SIDE_NOISE_M, scene.sizes.shape), 0.012)
    yaws = scene.yaws + rng.normal(0.0, YAW_NOISE, scene.yaws.shape)
    known = scene.shapes == Shape.BIN
    centres[known], sizes[known], yaws[known] = scene.centres[known], scene.sizes[known], scene.yaws[known]
    return ContactScene(scene.shapes, centres, sizes, yaws)


CONTACT_DATASETS = {"XI": 0.5, "XI_demos": 0.0}
"""Datasets of actions whose outcome is a distribution, with their share of faulty episodes."""
BATCH = 20
"""Episodes that are drawn by one task."""


@cache
def _table_of_process() -> ContactTable:
    return ContactTable()


def drawn_lines(dataset: str, seed: int, batch: int) -> tuple[str, ...]:
    """The lines of a batch of `BATCH` episodes; the table is kept for the next one of the process."""
    table, numbers = _table_of_process(), range(batch * BATCH, (batch + 1) * BATCH)
    return tuple(draw(table, seed, number, CONTACT_DATASETS[dataset]).to_json() for number in numbers)


def summarise_contact(episodes: Sequence[ContactEpisode]) -> dict[str, object]:
    """Episodes by operator and kind."""
    counts = Counter((each.action.operator, each.kind) for each in episodes)
    return {
        "episodes": len(episodes),
        "objects": sum(len(each.scene) for each in episodes),
        "by_operator": {op: {kind: counts[op, kind] for kind in (GOOD, *ERRORS)} for op in DRAWN},
    }


def contact_table(summaries: Mapping[str, Mapping[str, Any]]) -> str:
    """The table of episodes by operator and kind, Markdown."""
    rows = [
        [name, operator, *kinds.values()]
        for name, summary in summaries.items()
        for operator, kinds in summary["by_operator"].items()
    ]
    return str(tabulate(rows, ["dataset", "operator", GOOD, *ERRORS], tablefmt="github")) + "\n"

"""Scenes, demonstrations and episodes of a world with its own operator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.datasets.own_operators.conventions import KINDS, Array, Boxes, Convention

OPERATOR = "place"
TABLE = (0.25, -0.6, 1.05, 0.6)
"""x_min, y_min, x_max, y_max, metres."""
COLOURS = ("red", "blue", "green", "yellow", "white", "black", "brown", "grey", "pink")
CENTRE_NOISE_M, SIDE_NOISE_M, ARM_NOISE_M = 0.0015, 0.0015, 0.001
"""Standard deviations of seen centres and sides, and of where the arm puts an object, on each axis."""
CLEAR_M = 0.004
TRIES = 400


@dataclass(frozen=True)
class Demonstration:
    """What is seen before and after one action.

    Attributes:
        arguments: of the action, the moved object first.
        before: boxes by name.
        after: boxes by name.
    """

    arguments: tuple[str, ...]
    before: Boxes
    after: Boxes


@dataclass(frozen=True)
class Episode:
    """A plan of the operator and the exact scenes that it should lead through.

    Attributes:
        actions: arguments of each action.
        scenes: T + 1 exact scenes.
        fault: number of the action at which something goes wrong; None: nothing does.
        shift: (2,) where the object ends then, away from its place, metres.
    """

    actions: tuple[tuple[str, ...], ...]
    scenes: tuple[Boxes, ...]
    fault: int | None
    shift: Array


def clashes(box: Array, others: Sequence[Array], gap_m: float = 0.0) -> bool:
    """Whether a box is nearer to others than a gap."""
    return any(np.all(np.abs(box[:3] - o[:3]) - (box[3:] + o[3:]) / 2 < gap_m - 1e-9) for o in others)


def inside(box: Array) -> bool:
    """Whether a box stands on the table."""
    low, high = box[:2] - box[3:5] / 2, box[:2] + box[3:5] / 2
    return bool(np.all(low >= np.array(TABLE[:2]) - 1e-6) and np.all(high <= np.array(TABLE[2:]) + 1e-6))


def noisy(rng: np.random.Generator, boxes: Boxes) -> dict[str, Array]:
    """What a sensor sees of exact boxes."""
    sigma = np.repeat([CENTRE_NOISE_M, SIDE_NOISE_M], 3)
    return {name: box + rng.normal(size=6) * sigma for name, box in boxes.items()}


def _thing(rng: np.random.Generator, kind: str) -> Array:
    sides = np.array([rng.uniform(*span) for span in KINDS[kind]])
    if rng.integers(2):
        sides = sides[[1, 0, 2]]
    x, y = (rng.uniform(TABLE[i] + sides[i] / 2, TABLE[i + 2] - sides[i] / 2) for i in (0, 1))
    return np.array([x, y, sides[2] / 2, *sides])


def _scene(rng: np.random.Generator, world: Convention, moves: int) -> tuple[dict[str, Array], list[str], list[str]]:
    """Boxes, what moves, and the other arguments of all actions; other objects stand about."""
    kinds = [str(rng.choice(world.moved)) for _ in range(moves)]
    wanted = (world.arguments - 1) * (1 if world.row else moves)
    kinds += [str(rng.choice(world.references)) for _ in range(wanted)]
    kinds += [str(rng.choice(world.moved)) for _ in range(int(rng.integers(1, 4)))]
    boxes: dict[str, Array] = {}
    for colour, kind in zip(rng.permutation(COLOURS), kinds, strict=False):
        for _ in range(60):
            box = _thing(rng, kind)
            if not clashes(box, list(boxes.values()), 0.03):
                boxes[f"{colour} {kind}"] = box
                break
    names = list(boxes)
    return boxes, names[:moves], names[moves : moves + wanted]


def _with_row(
    rng: np.random.Generator, world: Convention, boxes: dict[str, Array], first: str, free: list[str]
) -> None:
    """Some objects already stand in the row."""
    for name in free[: int(rng.integers(0, 4))]:
        boxes[name] = world.place({k: v for k, v in boxes.items() if k not in free or k == name}, (name, first))
        free = [other for other in free if other != name]


def draw(rng: np.random.Generator, world: Convention, moves: int) -> tuple[tuple[tuple[str, ...], ...], list[Boxes]]:
    """Actions that can be carried out one after the other, and the exact scenes that they lead through."""
    for _ in range(TRIES):
        boxes, moved, others = _scene(rng, world, moves)
        count = world.arguments - 1
        actions = tuple(
            (name, *(others[:count] if world.row else others[count * i :][:count])) for i, name in enumerate(moved)
        )
        if len(moved) < moves or any(len(action) <= count for action in actions):
            continue
        if world.row is not None:
            _with_row(rng, world, boxes, others[0], [n for n in boxes if n not in (*moved, *others)])
            if any(clashes(box, [o for m, o in boxes.items() if m != n]) for n, box in boxes.items()):
                continue
        scenes: list[Boxes] = [boxes]
        for name, *own in actions:
            placed = world.place(scenes[-1], (name, *own))
            rest = [box for other, box in scenes[-1].items() if other != name and other not in own]
            solid = [scenes[-1][o] for o in own] if world.family not in ("nested in a tray", "inserted") else []
            if not inside(placed) or clashes(placed, rest, CLEAR_M) or clashes(placed, solid, -1e-6):
                break
            scenes.append({**scenes[-1], name: placed})
        else:
            if all(inside(box) for box in boxes.values()):
                return actions, scenes
    raise RuntimeError(f"no scene for {world.family} in {TRIES} tries")


def demonstrations(seed: int, number: int, world: Convention, count: int) -> list[Demonstration]:
    """The first so many demonstrations of a world."""
    found = []
    for index in range(count):
        rng = np.random.default_rng([seed, number, 1, index])
        (arguments,), (before, after) = draw(rng, world, 1)
        moved = after[arguments[0]].copy()
        moved[:3] += rng.normal(size=3) * np.array([ARM_NOISE_M, ARM_NOISE_M, 0.0])
        found.append(Demonstration(arguments, noisy(rng, before), noisy(rng, {**after, arguments[0]: moved})))
    return found


def episode(seed: int, number: int, world: Convention, index: int) -> Episode:
    """An episode of two actions; in half of them one goes wrong by 3 to 8 cm."""
    rng = np.random.default_rng([seed, number, 2, index])
    stacks = world.family in ("on it, flush", "nested in a tray", "inserted", "a home for every kind")
    actions, scenes = draw(rng, world, 1 if stacks else 2)
    fault = int(rng.integers(len(actions))) if rng.integers(2) else None
    angle = rng.uniform(0, 2 * np.pi)
    shift = rng.uniform(0.03, 0.08) * np.array([np.cos(angle), np.sin(angle)])
    return Episode(actions, tuple(scenes), fault, shift)

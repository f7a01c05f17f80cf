"""Conventions of laboratories: where their own operator puts its first argument."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Boxes = Mapping[str, Array]
"""Name -> exact box (6,): centre and size, metres."""

KINDS = {
    "cup": ((0.05, 0.08), (0.05, 0.08), (0.06, 0.12)),
    "plate": ((0.12, 0.18), (0.12, 0.18), (0.02, 0.03)),
    "carton": ((0.10, 0.18), (0.05, 0.08), (0.04, 0.10)),
    "tray": ((0.22, 0.28), (0.15, 0.19), (0.04, 0.05)),
    "peg": ((0.025, 0.04), (0.025, 0.04), (0.07, 0.12)),
    "tool": ((0.12, 0.18), (0.025, 0.04), (0.02, 0.04)),
    "block": ((0.05, 0.09), (0.05, 0.09), (0.05, 0.09)),
}
"""Kind -> range of each side, metres."""

SMALL = ("cup", "carton", "peg", "tool", "block")
ROW_GAP_M = 0.10
"""Objects with smaller gaps in the direction of a row belong to it."""
WALL_M, FLOOR_M = 0.008, 0.006
"""Walls and floor of a tray."""


def kind_of(name: str) -> str:
    """The kind of an object: the last word of its name."""
    return name.rsplit(" ", 1)[-1]


@dataclass(frozen=True)
class Convention:
    """What one laboratory means by its operator.

    Attributes:
        family: name of the family.
        place: exact boxes and arguments -> the moved object's box (6,).
        arguments: number of arguments.
        references: kinds that the second argument may have.
        moved: kinds that the first argument may have.
        row: step from one object of a row to the next as (axis, sign), if there are rows.
        pitch_m: distance of slots, if there are slots.
        tolerance_m: how near a place has to be.
    """

    family: str
    place: Callable[[Boxes, Sequence[str]], Array]
    arguments: int = 2
    references: tuple[str, ...] = tuple(KINDS)
    moved: tuple[str, ...] = SMALL
    row: tuple[int, int] | None = None
    pitch_m: float | None = None
    tolerance_m: float = 0.01
    notes: Mapping[str, object] = field(default_factory=dict)


def _turned(box: Array, swap: bool) -> Array:
    """A box with its horizontal sides exchanged, if it is turned by a quarter."""
    return box[[0, 1, 2, 4, 3, 5]] if swap else box.copy()


def _beside(box: Array, other: Array, axis: int, sign: int, gap: float, align: int) -> Array:
    """A box on one side of another one; aligned on the other axis by the centre (0) or an edge (-1, 1)."""
    found, across = box.copy(), 1 - axis
    found[axis] = other[axis] + sign * ((other[3 + axis] + box[3 + axis]) / 2 + gap)
    found[across] = other[across] + align * (other[3 + across] - box[3 + across]) / 2
    found[2] = other[2] - other[5] / 2 + box[5] / 2
    return found


def row_end(boxes: Boxes, first: str, axis: int, sign: int, moved: str) -> str:
    """The last object of the row that begins with an object."""
    last = first
    while True:
        here, near = boxes[last], []
        for name, box in boxes.items():
            gap = sign * (box[axis] - here[axis]) - (box[3 + axis] + here[3 + axis]) / 2
            aligned = abs(box[1 - axis] - here[1 - axis]) < 0.02
            if name not in (last, moved) and aligned and -0.005 < gap < ROW_GAP_M:
                near.append((gap, name))
        if not near:
            return last
        last = min(near)[1]


def _side(rng: np.random.Generator) -> tuple[int, int]:
    return int(rng.integers(2)), int(rng.choice([-1, 1]))


def _fixed_side(rng: np.random.Generator) -> Convention:
    (axis, sign), gap, align = _side(rng), rng.uniform(0.01, 0.08), int(rng.integers(-1, 2))
    return Convention("beside", lambda b, a: _beside(b[a[0]], b[a[1]], axis, sign, gap, align))


def _robot_side(rng: np.random.Generator) -> Convention:
    """On the side of the reference that faces the robot, or the side across."""
    away, gap, align = int(rng.choice([-1, 1])), rng.uniform(0.01, 0.07), int(rng.integers(-1, 2))

    def place(b: Boxes, a: Sequence[str]) -> Array:
        other = b[a[1]]
        axis = int(np.abs(other[:2]).argmax())
        return _beside(b[a[0]], other, axis, away * int(np.sign(other[axis]) or 1), gap, align)

    return Convention("side towards or away from the robot", place)


def _radial(rng: np.random.Generator) -> Convention:
    """Farther from the robot, or nearer, on the line through the reference: centre to centre."""
    along, across = rng.choice([-1, 1]) * rng.uniform(0.18, 0.26), rng.uniform(-0.05, 0.05)

    def place(b: Boxes, a: Sequence[str]) -> Array:
        found, other = b[a[0]].copy(), b[a[1]]
        out = other[:2] / np.linalg.norm(other[:2])
        found[:2] = other[:2] + along * out + across * np.array([-out[1], out[0]])
        found[2] = found[5] / 2
        return found

    return Convention("on the robot's line of sight", place)


def _nearest_side(rng: np.random.Generator) -> Convention:
    """On the side of the reference where the object stands already, or across."""
    across, gap = int(rng.choice([1, 1, -1])), rng.uniform(0.01, 0.07)

    def place(b: Boxes, a: Sequence[str]) -> Array:
        way = b[a[0]][:2] - b[a[1]][:2]
        axis = int(np.abs(way).argmax())
        return _beside(b[a[0]], b[a[1]], axis, across * int(np.sign(way[axis]) or 1), gap, 0)

    return Convention("side where the object comes from", place)


def _long_end(rng: np.random.Generator) -> Convention:
    """At an end of a long object, or along it, parallel to it or across it."""
    end, sign, parallel = bool(rng.integers(2)), int(rng.choice([-1, 1])), bool(rng.integers(2))
    gap = rng.uniform(0.01, 0.06)

    def place(b: Boxes, a: Sequence[str]) -> Array:
        other = b[a[1]]
        long = int(other[4] > other[3])
        wanted = long if parallel else 1 - long
        box = _turned(b[a[0]], int(b[a[0]][4] > b[a[0]][3]) != wanted)
        return _beside(box, other, long if end else 1 - long, sign, gap, 0)

    return Convention(
        "in the reference's own frame, turned", place, references=("carton", "tray", "tool"), moved=("carton", "tool")
    )


def _gap_by_size(rng: np.random.Generator) -> Convention:
    (axis, sign), base, factor = _side(rng), rng.uniform(0.005, 0.03), rng.uniform(0.3, 1.0)
    which = int(rng.integers(3))

    def place(b: Boxes, a: Sequence[str]) -> Array:
        size = (b[a[0]][5], max(b[a[0]][3:5]), b[a[1]][5])[which]
        return _beside(b[a[0]], b[a[1]], axis, sign, base + factor * size, 0)

    return Convention("gap by size", place)


def _gap_by_kind(rng: np.random.Generator) -> Convention:
    (axis, sign), gaps = _side(rng), {kind: rng.uniform(0.005, 0.10) for kind in KINDS}
    by = int(rng.integers(2))
    return Convention("gap by kind", lambda b, a: _beside(b[a[0]], b[a[1]], axis, sign, gaps[kind_of(a[by])], 0))


def _side_by_kind(rng: np.random.Generator) -> Convention:
    sides, gap = {kind: _side(rng) for kind in KINDS}, rng.uniform(0.01, 0.06)
    return Convention(
        "side by kind",
        lambda b, a: _beside(b[a[0]], b[a[1]], *sides[kind_of(a[0])], gap, 0),
        references=("plate", "tray"),
    )


def _side_by_height(rng: np.random.Generator) -> Convention:
    """Tall objects on one side, low ones on the other."""
    axis, sign = _side(rng)
    gap, limit = rng.uniform(0.01, 0.05), rng.uniform(0.055, 0.075)
    return Convention(
        "side by height",
        lambda b, a: _beside(b[a[0]], b[a[1]], axis, sign if b[a[0]][5] > limit else -sign, gap, 0),
    )


def _stack(rng: np.random.Generator) -> Convention:
    """On the reference, flush with a corner or an edge."""
    corner = rng.choice([-1, 0, 1], 2)

    def place(b: Boxes, a: Sequence[str]) -> Array:
        found, other = b[a[0]].copy(), b[a[1]]
        found[:2] = other[:2] + corner * (other[3:5] - found[3:5]) / 2
        found[2] = other[2] + (other[5] + found[5]) / 2
        return found

    return Convention("on it, flush", place, references=("tray", "plate"), moved=("cup", "peg", "block"))


def _nest(rng: np.random.Generator) -> Convention:
    """In a tray, against two of its walls or in the middle; the corner may depend on the kind."""
    corners = {kind: rng.choice([-1, 0, 1], 2) for kind in KINDS}
    if rng.integers(2):
        corners = dict.fromkeys(KINDS, corners["cup"])

    def place(b: Boxes, a: Sequence[str]) -> Array:
        found, other = b[a[0]].copy(), b[a[1]]
        found[:2] = other[:2] + corners[kind_of(a[0])] * ((other[3:5] - found[3:5]) / 2 - WALL_M)
        found[2] = other[2] - other[5] / 2 + FLOOR_M + found[5] / 2
        return found

    return Convention("nested in a tray", place, references=("tray",), moved=("cup", "peg", "block"))


def _insert(rng: np.random.Generator) -> Convention:
    """Into a hole: at a share of the reference's sides, a share of the peg deep."""
    hole, deep = rng.uniform(-0.25, 0.25, 2), rng.uniform(0.015, 0.03)

    def place(b: Boxes, a: Sequence[str]) -> Array:
        found, other = b[a[0]].copy(), b[a[1]]
        found[:2] = other[:2] + hole * other[3:5]
        found[2] = other[2] + other[5] / 2 - deep + found[5] / 2
        return found

    return Convention("inserted", place, references=("block", "carton"), moved=("peg",), tolerance_m=0.006)


def _row(rng: np.random.Generator) -> Convention:
    (axis, sign), gap = _side(rng), rng.uniform(0.01, 0.05)

    def place(b: Boxes, a: Sequence[str]) -> Array:
        return _beside(b[a[0]], b[row_end(b, a[1], axis, sign, a[0])], axis, sign, gap, 0)

    return Convention(
        "end of a row", place, row=(axis, sign), moved=("cup", "peg", "block"), references=("cup", "block")
    )


def _slots(rng: np.random.Generator) -> Convention:
    """The next slot after the last one that is taken; slots are centres at a pitch."""
    (axis, sign), pitch = _side(rng), rng.uniform(0.10, 0.13)

    def place(b: Boxes, a: Sequence[str]) -> Array:
        found, last = b[a[0]].copy(), b[row_end(b, a[1], axis, sign, a[0])]
        found[axis], found[1 - axis] = last[axis] + sign * pitch, last[1 - axis]
        found[2] = found[5] / 2
        return found

    return Convention(
        "next slot", place, row=(axis, sign), pitch_m=pitch, moved=("cup", "peg", "block"), references=("cup", "block")
    )


def _between(rng: np.random.Generator) -> Convention:
    share = rng.uniform(0.3, 0.7)

    def place(b: Boxes, a: Sequence[str]) -> Array:
        found = b[a[0]].copy()
        found[:2] = (1 - share) * b[a[1]][:2] + share * b[a[2]][:2]
        found[2] = found[5] / 2
        return found

    return Convention("between two others", place, arguments=3)


def _across(rng: np.random.Generator) -> Convention:
    """Beside the second argument, on the side that faces the third one, or across."""
    away, gap = int(rng.choice([-1, 1])), rng.uniform(0.01, 0.06)

    def place(b: Boxes, a: Sequence[str]) -> Array:
        way = b[a[2]][:2] - b[a[1]][:2]
        axis = int(np.abs(way).argmax())
        return _beside(b[a[0]], b[a[1]], axis, away * int(np.sign(way[axis]) or 1), gap, 0)

    return Convention("side that faces a third object", place, arguments=3)


def _push(rng: np.random.Generator) -> Convention:
    """By a distance, in the table's frame or away from the robot; it may depend on the kind."""
    angle, radial = rng.uniform(-np.pi, np.pi), bool(rng.integers(2))
    far = {kind: rng.uniform(0.04, 0.15) for kind in KINDS}
    if rng.integers(2):
        far = dict.fromkeys(KINDS, far["cup"])

    def place(b: Boxes, a: Sequence[str]) -> Array:
        found = b[a[0]].copy()
        out = found[:2] / np.linalg.norm(found[:2]) if radial else np.array([np.cos(angle), np.sin(angle)])
        found[:2] += far[kind_of(a[0])] * out
        return found

    return Convention("pushed", place, arguments=1)


def _turn(rng: np.random.Generator) -> Convention:
    """A quarter turn in its place, or so that the long side lies along an axis, shifted a little."""
    wanted, shift = (None, 0, 1)[int(rng.integers(3))], rng.uniform(-0.05, 0.05, 2)

    def place(b: Boxes, a: Sequence[str]) -> Array:
        box = b[a[0]]
        found = _turned(box, True if wanted is None else int(box[4] > box[3]) != wanted)
        found[:2] += shift
        return found

    return Convention("turned", place, arguments=1, moved=("carton", "tool"))


def _home(rng: np.random.Generator) -> Convention:
    """Every kind has its place on the table."""
    homes = {kind: (rng.uniform(0.35, 0.95), rng.uniform(-0.45, 0.45)) for kind in KINDS}

    def place(b: Boxes, a: Sequence[str]) -> Array:
        found = b[a[0]].copy()
        found[:2], found[2] = homes[kind_of(a[0])], found[5] / 2
        return found

    return Convention("a home for every kind", place, arguments=1)


def _edge(rng: np.random.Generator) -> Convention:
    """Straight to an edge of the table, flush with it."""
    (axis, sign), inset = _side(rng), rng.uniform(0.0, 0.04)

    def place(b: Boxes, a: Sequence[str]) -> Array:
        found = b[a[0]].copy()
        edge = ((0.25, 1.05), (-0.6, 0.6))[axis][int(sign > 0)]
        found[axis] = edge - sign * (found[3 + axis] / 2 + inset)
        return found

    return Convention("at the table's edge", place, arguments=1)


FAMILIES: tuple[Callable[[np.random.Generator], Convention], ...] = (
    _fixed_side, _robot_side, _radial, _nearest_side, _long_end, _gap_by_size, _gap_by_kind, _side_by_kind,
    _side_by_height, _stack, _nest, _insert, _row, _slots, _between, _across, _push, _turn, _home, _edge,
)  # fmt: skip


def convention(seed: int, world: int) -> Convention:
    """The convention of a world; families take turns."""
    return FAMILIES[world % len(FAMILIES)](np.random.default_rng([seed, world, 7]))

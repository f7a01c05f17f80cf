"""Memory of objects over time, including objects that are occluded wholly or in part.

The four operations are those of REFLECT (Liu et al., appendix A.2). A detection of an unknown object is *added*. An
object that is seen where it was is *updated*, which completes its occluded parts. An object that is seen elsewhere is
*replaced* by what is seen now. An object that is not seen although nothing occludes its place is *deleted*: its place
is unknown. Boxes replace the accumulated point clouds of the paper, as all objects are nearly box-shaped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, fields, replace
from itertools import permutations, product

import numpy as np
import numpy.typing as npt

from nsrecover.core.scene import FloatArray, SceneGraph
from nsrecover.perception.cameras.visibility import RULES as SIGHT


@dataclass(frozen=True)
class MemoryRules:
    """What noise explains, and what an object hides.

    Attributes:
        noise_m: how far the side of a camera box may be off without meaning anything.
        tolerated_added: the same of what completion adds at one side of a visible box.
        like_known_m: a side that differs less than this from the known one is the known one.
        moved_m: an object of which the same part is seen, farther away than this, has moved as far as that part.
        size_gain: weight of a new measurement in the known size of an object.
        whole: share of the most pixels in which an object was seen, from which on it counts as wholly visible.
        mostly: share of a visible box that must lie where the object was, or should be, to be a part of it with an
            error.
        foot_m: a gap below an object that is lower than this shows that its lower end is badly seen, not that it
            floats.
        steps: places tried along each axis along which a part of an object is occluded.
    """

    noise_m: float = 0.004
    tolerated_added: float = 0.05
    like_known_m: float = 0.008
    moved_m: float = 0.012
    size_gain: float = 0.25
    whole: float = 0.75
    mostly: float = 0.5
    foot_m: float = 0.03
    steps: int = 7


RULES = MemoryRules()


SeenThrough = Callable[[FloatArray], FloatArray]
"""Boxes (C, 6) -> share of the surface of each at which a camera sees something farther away (C,)."""

Empty = Callable[[FloatArray], npt.NDArray[np.bool_]]
"""Boxes (C, 6) -> whether the cameras show that each place is empty (C,)."""


@dataclass(frozen=True, eq=False)
class Memory:
    """What is known of every object; immutable.

    Attributes:
        names: N objects.
        boxes: (N, 6) present or last known box of each, metres.
        shown: (N, 6) box around what was seen of each when it was seen last, metres.
        sizes: (N, 3) sides of each, as far as they have been seen, metres.
        visual: (N, D) appearance of each.
        whole_visual: (N, D) appearance of each when most of it was visible.
        pixels: (N,) number of pixels behind that.
        first_sizes: (N, 3) sides of each when it was first seen, which identify it once it lies askew.
        first_visual: (N, D) appearance of each when it was first seen.
        seen: (N,) whether it is visible now.
        occluded: (N,) whether it is not visible and may be in its place.
        unknown: (N,) whether it is not visible although its place is in view and not empty; not occluded then.
        open: (N,) share of its box's surface through which the cameras saw when they saw it whole: what is round, or
            has a handle, does not fill its box; neither does a box that is turned.
    """

    names: tuple[str, ...]
    boxes: FloatArray
    shown: FloatArray
    sizes: FloatArray
    visual: FloatArray
    whole_visual: FloatArray
    pixels: FloatArray
    first_sizes: FloatArray
    first_visual: FloatArray
    seen: npt.NDArray[np.bool_]
    occluded: npt.NDArray[np.bool_]
    unknown: npt.NDArray[np.bool_]
    open: FloatArray

    @classmethod
    def empty(cls, features: int) -> Memory:
        """An empty memory with the given feature size."""
        sizes, visual = np.zeros((0, 3), np.float32), np.zeros((0, features), np.float32)
        nothing = np.zeros(0, np.bool_)
        boxes, pixels = np.zeros((0, 6), np.float32), np.zeros(0, np.float32)
        return cls((), boxes, boxes, sizes, visual, visual, pixels, sizes, visual, nothing, nothing, nothing, pixels)

    def graph(self) -> SceneGraph:
        """The scene graph of all objects."""
        visual, boxes, seen, occluded = self.visual.copy(), self.boxes.copy(), self.seen.copy(), self.occluded.copy()
        return SceneGraph(self.names, visual, boxes, seen, occluded, unknown=self.unknown.copy())

    def in_view(self, names: Collection[str]) -> Memory:
        """The memory if some of the occluded objects are not occluded, but in view without a mask."""
        unknown = self.occluded & np.isin(np.array(self.names, dtype=object), list(names))
        return replace(self, occluded=self.occluded & ~unknown, unknown=unknown)

    def unconfirmed(self, places: FloatArray) -> Memory:
        """The memory after an observation that shows nothing: every object may be in its place (N, 6)."""
        all_of, none_of = np.ones(len(self.names), np.bool_), np.zeros(len(self.names), np.bool_)
        return replace(self, boxes=places.copy(), seen=none_of, occluded=none_of, unknown=all_of)

    def add(
        self,
        names: tuple[str, ...],
        boxes: FloatArray,
        visual: FloatArray,
        pixels: FloatArray,
        seen_through: SeenThrough | None = None,
    ) -> Memory:
        """The memory with new objects; without `seen_through` they are assumed to fill their boxes."""
        shown, sizes = np.ones(len(names), np.bool_), boxes[:, 3:]
        gaps = np.zeros(len(names), np.float32)
        if seen_through is not None and len(names):
            gaps = _open(seen_through(boxes))
        new = Memory(names, boxes, boxes, sizes, visual, visual, pixels, sizes, visual, shown, ~shown, ~shown, gaps)
        arrays = [(getattr(self, field.name), getattr(new, field.name)) for field in fields(self)[1:]]
        return Memory(self.names + names, *map(np.concatenate, arrays))

    def look(
        self,
        boxes: FloatArray,
        visual: FloatArray,
        pixels: FloatArray,
        found: npt.NDArray[np.intp],
        seen_through: SeenThrough,
        expected: FloatArray | None = None,
        empty: Empty | None = None,
    ) -> Memory:
        """The memory of the same objects after another observation.

        Args:
            boxes: (M, 6) visible part of each detection, metres.
            visual: (M, D) appearance of each detection.
            pixels: (M,) visible pixels of each detection.
            found: (N,) index of the detection that shows each object, -1 for none.
            seen_through: distinguishes visibly empty places from occluded ones.
            expected: (N, 6) where each object should be now, which is assumed for an occluded object.
            empty: distinguishes them for places of objects that no detection shows; by `seen_through` if None.
        """
        expected = self.boxes if expected is None else expected
        new_boxes, new_sizes, new_shown = self.boxes.copy(), self.sizes.copy(), self.shown.copy()
        new_visual, new_whole = self.visual.copy(), self.whole_visual.copy()
        new_pixels, new_open = self.pixels.copy(), self.open.copy()
        seen, occluded = found >= 0, np.zeros(len(self.names), np.bool_)
        for i, detection in enumerate(found):
            if detection >= 0:
                new_shown[i] = boxes[detection]
                shift = new_shown[i] - self.shown[i]
                if (np.abs(shift[3:]) <= RULES.like_known_m).all() and np.linalg.norm(shift[:3]) > RULES.moved_m:
                    new_boxes[i, :3] += shift[:3]  # the same part of it is seen elsewhere
                else:
                    known = np.stack([self.first_sizes[i], self.sizes[i]])
                    others = np.delete(boxes, detection, axis=0)
                    visible = steady(boxes[detection], known, others, expected[i])
                    new_boxes[i], new_sizes[i] = complete(
                        visible, self.boxes[i], known, seen_through, expected[i], float(self.open[i])
                    )
                    if (new_boxes[i] == visible).all():
                        new_open[i] = _open(seen_through(visible[None]))[0]
                new_visual[i] = blend(visual[detection], pixels[detection], self.whole_visual[i], self.pixels[i])
                if (
                    pixels[detection] >= RULES.whole * self.pixels[i]
                ):  # what little is seen again and again does not add up
                    new_whole[i] = visual[detection]
                new_pixels[i] = max(pixels[detection], self.pixels[i])
            else:
                places = np.stack([expected[i], self.boxes[i]])
                gone = seen_through(places) >= SIGHT.tolerated if empty is None else empty(places)
                possible = np.flatnonzero(~gone & (places[:, 3:] > 0).all(axis=1))
                if len(possible):
                    new_boxes[i], occluded[i] = places[possible[0]], True
        changed = replace(
            self,
            boxes=new_boxes,
            shown=new_shown,
            sizes=new_sizes,
            visual=new_visual,
            whole_visual=new_whole,
            pixels=new_pixels,
            open=new_open,
        )
        return replace(changed, seen=seen, occluded=occluded, unknown=np.zeros_like(seen))


def _open(seen_through: FloatArray) -> FloatArray:
    """Shares of surfaces that are seen through, without what noise at edges explains."""
    return np.where(seen_through < RULES.tolerated_added, 0.0, seen_through).astype(np.float32)


def blend(now: FloatArray, pixels_now: float, earlier: FloatArray, pixels_earlier: float) -> FloatArray:
    """Appearance (D,) of an object that may be partly occluded: memory stands in for the pixels that are not seen."""
    mixed = now * pixels_now + earlier * max(float(pixels_earlier - pixels_now), 0.0)
    return np.asarray(mixed / max(float(np.linalg.norm(mixed)), 1e-9), dtype=np.float32)


def complete(
    visible: FloatArray,
    earlier: FloatArray,
    sizes: FloatArray,
    seen_through: SeenThrough,
    expected: FloatArray,
    open_share: float = 0.0,
) -> tuple[FloatArray, FloatArray]:
    """The whole box of an object that may be partly occluded.

    A rigid object does not shrink: if the visible part is smaller than the object, the rest is occluded. Among
    the boxes of the known size around the visible part, the one is taken that the cameras contradict least; among equal
    ones, the one most like the expected box. If none fits because what is seen is too large in one direction, or only
    if the object was turned over, a mask may bleed onto something behind: the object is assumed to be where it was, or
    should be, if most of what is seen lies there and no camera contradicts that.

    Args:
        visible: (6,) box of what is seen.
        earlier: (6,) box of the whole object before.
        sizes: (K, 3) its known sides: last the ones seen last, before them others that it may have, such as those from
            before it lay askew, which makes a box larger.
        seen_through: distinguishes visibly empty places from occluded ones.
        expected: (6,) where it should be.
        open_share: share of its box's surface through which the cameras see although it is there.

    Returns:
        Its box (6,), and its sides (3,) as far as they are known now.
    """
    last = sizes[-1]
    if not np.any(visible[3:] < last - 2 * RULES.noise_m):
        return visible, np.maximum(last, visible[3:])
    tolerated, tolerated_added = SIGHT.tolerated + open_share, RULES.tolerated_added + 2 * open_share
    for place in (earlier, expected):
        if inside(visible, place) and seen_through(place[None])[0] < tolerated:
            return place, np.maximum(place[3:], visible[3:])
    turned: tuple[FloatArray, FloatArray] | None = None
    for size in sizes:
        upright = abs(visible[5] - last[2]) <= RULES.like_known_m
        candidates = _extensions(visible, size, float(last[2]) if upright else None)
        if len(candidates):
            against = seen_through(candidates)
            against[_seen_through_added(visible, candidates, seen_through) >= tolerated_added] = 1.0
            allowed = np.flatnonzero(against <= max(against.min() + 0.02, 0.02))
            best = allowed[np.linalg.norm(candidates[allowed] - expected, axis=1).argmin()]
            if against[best] < tolerated:
                turned = candidates[best], size
                if (np.abs(candidates[best, 3:] - size) < RULES.like_known_m).all():
                    return turned
                break
    if turned is not None or (np.sort(visible[3:]) > np.sort(last) + 2 * RULES.noise_m).any():
        for place in (earlier, expected):
            if share_inside(visible, place) > RULES.mostly and seen_through(place[None])[0] < tolerated:
                return place, last
    if turned is not None:
        return turned
    return visible, visible[3:]  # it was turned, or was never as large as it seemed


def steady(visible: FloatArray, sizes: FloatArray, others: FloatArray, expected: FloatArray) -> FloatArray:
    """The visible box with the known sides of a rigid object, as far as it has them.

    Noise changes sides from look to look, and a mask that bleeds onto a neighbour makes a box longer on that side.

    Args:
        visible: (6,) box of what is seen.
        sizes: (K, 3) its known sides, last the ones seen last.
        others: (M, 6) boxes of what else is seen.
        expected: (6,) where it should be.

    Returns:
        The box (6,); the visible one if the object is partly occluded, lies askew, or was never as small as it seemed.
    """
    last, seen = sizes[-1], visible[3:]
    if (seen < last - RULES.like_known_m).any():
        return visible
    if (np.abs(seen - last) <= RULES.like_known_m).all():
        return _with_sides(visible, last + RULES.size_gain * (seen - last))
    low, high = visible[:3] - seen / 2, visible[:3] + seen / 2
    for axis in np.flatnonzero(seen > last + RULES.like_known_m):
        if not _touches(visible, others, int(axis)):
            return visible
        middle = np.clip(expected[axis], low[axis] + last[axis] / 2, high[axis] - last[axis] / 2)
        low[axis], high[axis] = middle - last[axis] / 2, middle + last[axis] / 2
    return np.concatenate([(low + high) / 2, high - low]).astype(np.float32)


def _with_sides(box: FloatArray, sides: FloatArray) -> FloatArray:
    """A box (6,) around the same centre with other sides; one that stands on the table stays there."""
    centre = box[:3].copy()
    if box[2] - box[5] / 2 < RULES.noise_m:
        centre[2] = sides[2] / 2
    return np.concatenate([centre, sides]).astype(np.float32)


def _touches(box: FloatArray, others: FloatArray, axis: int) -> bool:
    """Whether another box is next to a box (6,) along an axis, or reaches into it."""
    gaps = np.abs(others[:, :3] - box[:3]) - (others[:, 3:] + box[3:]) / 2
    gaps[:, axis] -= RULES.like_known_m
    return bool((gaps < RULES.noise_m).all(axis=1).any())


def inside(inner: FloatArray, outer: FloatArray) -> bool:
    """Whether a box (6,) lies inside another one (6,), give or take the noise of a camera box."""
    reach = np.abs(inner[:3] - outer[:3]) + inner[3:] / 2 - outer[3:] / 2
    return bool((reach <= RULES.noise_m).all())


def share_inside(inner: FloatArray, outer: FloatArray) -> float:
    """Share of a box (6,) that lies inside another one (6,), give or take the noise of a camera box."""
    low = np.maximum(inner[:3] - inner[3:] / 2, outer[:3] - outer[3:] / 2 - RULES.noise_m)
    high = np.minimum(inner[:3] + inner[3:] / 2, outer[:3] + outer[3:] / 2 + RULES.noise_m)
    return float((np.maximum(high - low, 0.0) / np.maximum(inner[3:], 1e-6)).prod())


def supported(boxes: FloatArray, seen_through: SeenThrough) -> FloatArray:
    """Boxes (N, 6) of what is seen, reaching down to what supports them where something hides their lower parts.

    Nothing floats: below a visible part comes the rest of the object, down to the table or to an object on which it
    stands, unless a camera sees through there.
    """
    whole = boxes.copy()
    for row, box in enumerate(boxes):
        low, high = box[2] - box[5] / 2, box[2] + box[5] / 2
        others = np.delete(boxes, row, axis=0)
        across = (np.abs(others[:, :2] - box[:2]) < (others[:, 3:5] + box[3:5]) / 2 - RULES.like_known_m).all(axis=1)
        tops = others[across, 2] + others[across, 5] / 2
        support = max(tops[tops < low + RULES.like_known_m], default=0.0)
        if box[5] <= 0 or low - support <= RULES.noise_m:
            continue
        hidden = np.array([box[0], box[1], (support + low) / 2, box[3], box[4], low - support], dtype=np.float32)
        if low - support < RULES.foot_m or seen_through(hidden[None])[0] < SIGHT.tolerated:
            whole[row, 2], whole[row, 5] = (support + high) / 2, high - support
    return whole


def _seen_through_added(visible: FloatArray, boxes: FloatArray, seen_through: SeenThrough) -> FloatArray:
    """How far the cameras speak against what boxes (C, 6) add to the visible one at any of its sides, (C,)."""
    low, high = boxes[:, :3] - boxes[:, 3:] / 2, boxes[:, :3] + boxes[:, 3:] / 2
    inner_low, inner_high = visible[:3] - visible[3:] / 2, visible[:3] + visible[3:] / 2
    added = np.zeros((len(boxes), 6, 6), dtype=np.float32)
    for axis in range(3):
        for side, (start, end) in enumerate(((low, inner_low[None]), (inner_high[None], high))):
            first, last = low.copy(), high.copy()
            first[:, axis], last[:, axis] = start[..., axis], end[..., axis]
            added[:, 2 * axis + side] = np.concatenate([(first + last) / 2, last - first], axis=1)
    thick = added[:, np.arange(6), 3 + np.arange(6) // 2] > RULES.noise_m
    against = np.zeros((len(boxes), 6), dtype=np.float32)
    if thick.any():
        against[thick] = seen_through(added[thick])
    return np.asarray(against.max(axis=1))


def _extensions(visible: FloatArray, size: FloatArray, height: float | None = None) -> FloatArray:
    """Boxes (C, 6) that contain the visible one and are as large as the object: upright or turned over.

    Args:
        visible: (6,) box of what is seen.
        size: (3,) sides of the object.
        height: known height of an object that is seen in its whole height, so that it was not turned over: it looks
            smaller because a part is occluded, or it was turned about the vertical. None: it may be turned over.
    """
    low, high = visible[:3] - visible[3:] / 2, visible[:3] + visible[3:] / 2
    boxes = []
    for sides in dict.fromkeys(permutations(size.round(3).tolist())):
        if height is not None and abs(sides[2] - height) > RULES.noise_m:
            continue
        slack = np.asarray(sides) - visible[3:]
        if (slack < -2 * RULES.noise_m).any():
            continue
        choices = []
        for axis in range(3):
            if slack[axis] <= 2 * RULES.noise_m:
                choices.append([(low[axis], high[axis])])
                continue
            starts = np.linspace(low[axis] - slack[axis], low[axis], RULES.steps)
            if axis == 2:  # nothing reaches below the table
                starts = np.unique(np.maximum(starts, min(0.0, float(low[2]))))
            choices.append([(start, start + sides[axis]) for start in starts])
        for spans in product(*choices):
            lows, highs = np.array(spans).T
            boxes.append(np.concatenate([(lows + highs) / 2, highs - lows]))
    return np.asarray(boxes, dtype=np.float32).reshape(-1, 6)

"""Whether objects that stay in their places look as they did: compared pixel by pixel in the same view.

Light is taken out first: that of the whole view, as everything but the objects shows it, and within bounds the
brightness of the object, which another direction of the light changes. Pixels that show something else now, as their
depth says, do not count. What differs then is another object, or another state: opened, filled, dirty, broken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from nsrecover.core import Camera, FloatArray, Observation
from nsrecover.perception.objects.differing_pixels import RULES as PIXELS
from nsrecover.perception.objects.differing_pixels import different


@dataclass(frozen=True)
class LooksRules:
    """When looks of an object in its place have changed.

    Attributes:
        changed_share: share of an object's surface in one view that differs if its looks have changed.
        least_share: of more pixels than `PIXELS.edges_px` a smaller share counts, down to this one.
        hint: part of these shares from which on a change counts if two views show it.
        evenly: so does a whole object's change of the logarithm of its brightness, if no shadow falls on what surrounds
            it.
        bleed_px: so close to what is nearer or farther than before, its colours bleed into a surface: by blur and
            compression.
        most: an object is whole if both images show more than this share of its earlier mask.
        hidden_share: of one that is not, so much of the rest must differ: what now stands on it or against it shades
            it, and its mask takes in a little of that.
        least: nor is an object of which both images show less than this share of its earlier mask: what is left next to
            something that fell against it is mostly edge.
        ring_px: width of what surrounds an object.
        shaded: if this share of it has become brighter or darker, a shadow explains brightness on the object, too, and
            only its colour counts.
        surface_m: depth that differs more shows another surface.
        stray: share of an object's pixels that may lie beside its earlier outline if it has not moved.
        same_m: how far its depth may differ then.
        in_place: share of the smaller mask that both have in common if an object stays in its place.
        shifts_px: pixels by which an image may be shifted in each direction: cameras tremble, and objects are nudged.
        width_px: wider images are compared at about this width, for which the numbers of pixels above are meant.
        large_px: windows with several times as many pixels are compared at every second or third row and column.
        step: every so many pixels along rows and columns tell the light of a view.
    """

    changed_share: float = 0.11
    least_share: float = 0.08
    hint: float = 0.5
    evenly: float = 0.45
    bleed_px: int = 4
    most: float = 0.5
    hidden_share: float = 0.5
    least: float = 0.25
    ring_px: int = 8
    shaded: float = 0.08
    surface_m: float = 0.012
    stray: float = 0.03
    same_m: float = 0.006
    in_place: float = 0.5
    shifts_px: int = 2
    width_px: int = 640
    large_px: int = 2500
    step: int = 4


RULES = LooksRules()


Mask = npt.NDArray[np.bool_]
Window = tuple[slice, slice]


@dataclass(frozen=True, eq=False)
class Picture:
    """One view at one moment.

    Attributes:
        camera: that took it.
        rgb: (H, W, 3) uint8.
        depth_m: (H, W).
        instances: (H, W) numbers of masks.
    """

    camera: Camera
    rgb: npt.NDArray[np.uint8]
    depth_m: FloatArray
    instances: npt.NDArray[np.int32]

    @cached_property
    def windows(self) -> dict[int, Window]:
        """Number -> rows and columns of its mask."""
        return {number: each for number, each in enumerate(ndimage.find_objects(self.instances), 1) if each is not None}

    def window(self, numbers: Sequence[int]) -> Window | None:
        """Rows and columns of some masks together; None if none of them is in view."""
        found = [self.windows[number] for number in numbers if number in self.windows]
        if not found:
            return None
        rows, columns = (
            slice(min(each[axis].start for each in found), max(each[axis].stop for each in found)) for axis in (0, 1)
        )
        return rows, columns

    def comparable(self, other: Picture) -> bool:
        """Whether the same camera took another picture from the same place."""
        one, two = self.camera, other.camera
        return (
            one.name == two.name
            and self.rgb.shape == other.rgb.shape
            and np.allclose(one.intrinsics, two.intrinsics)
            and np.allclose(one.world_from_camera, two.world_from_camera, atol=0.004)
        )


@dataclass(frozen=True)
class Compared:
    """What pictures of objects say, besides where the objects are.

    Attributes:
        changed: objects in their places that look different, with the largest share of their surface in a view that
            does.
        still: objects that have not moved, as no view shows their outlines elsewhere: what is more or less of them is
            due to something nearer.
        same: those of them that look the same and are mostly in view: they cannot be other objects.
    """

    changed: Mapping[str, float] = field(default_factory=dict)
    still: frozenset[str] = frozenset()
    same: frozenset[str] = frozenset()


NOT_COMPARED = Compared()

Portrait = tuple[tuple[Picture, ...], tuple[int, ...]]
"""Pictures, and the numbers of an object's masks in them."""


@dataclass(frozen=True, eq=False)
class Looks:
    """How objects looked when they were put where they are, or when their looks changed last.

    Attributes:
        shown: object -> pictures of it.
    """

    shown: Mapping[str, Portrait] = field(default_factory=dict)

    def beside(self, observation: Observation) -> Beside:
        """These looks beside those that another observation shows."""
        some = slice(None, None, max(observation.rgb.shape[2] // RULES.width_px, 1))
        images = (each[:, some, some] for each in (observation.rgb, observation.depth_m, observation.instances))
        return Beside(self, tuple(Picture(*each) for each in zip(observation.cameras, *images, strict=True)))

    def look(self, observation: Observation, masks: Mapping[str, tuple[int, ...]]) -> tuple[Looks, Compared]:
        """`Beside.look` at an observation."""
        return self.beside(observation).look(masks)


@dataclass(frozen=True, eq=False)
class Beside:
    """Earlier looks beside new pictures.

    Attributes:
        looks: the earlier ones.
        now: the pictures.
    """

    looks: Looks
    now: tuple[Picture, ...]
    _lights: dict[int, FloatArray] = field(default_factory=dict)
    _found: dict[tuple[str, tuple[int, ...]], list[MaskedSight]] = field(default_factory=dict)

    def look(self, masks: Mapping[str, tuple[int, ...]]) -> tuple[Looks, Compared]:
        """Compare objects.

        Args:
            masks: object -> numbers of the masks that show it now.

        Returns:
            How the objects look now, and what this says of them.
        """
        shown, changed, still, same = dict(self.looks.shown), dict[str, float](), set[str](), set[str]()
        for name, numbers in masks.items():
            sights = self._sights(name, numbers)
            share = max((each.changed for each in sights if each.changed is not None), default=None)
            if share == 0 and len(hints := [each.hint for each in sights if each.hint]) > 1:
                share = max(hints)
            if share is None or share > 0:
                shown[name] = self.now, numbers
            if share:
                changed[name] = share
            if sights and all(each.still for each in sights):
                still.add(name)
                if name not in changed and any(each.whole for each in sights):
                    same.add(name)
        return Looks(shown), Compared(changed, frozenset(still), frozenset(same))

    def in_place(self, numbers: Sequence[tuple[int, ...]]) -> dict[str, int]:
        """Object -> position of the masks, of some that are seen now, which are where most of its masks were."""
        owner = {number: place for place, each in enumerate(numbers) for number in each}
        found = dict[str, int]()
        for name, (earlier, own) in self.looks.shown.items():
            pixels = Counter[int]()
            for before, now in _pairs(earlier, self.now):
                if (window := before.window(own)) is not None:
                    there = now.instances[window][np.isin(before.instances[window], own)]
                    for number, count in zip(*np.unique(there, return_counts=True), strict=True):
                        pixels[owner.get(int(number), -1)] += int(count)
            place, most = next(iter(pixels.most_common(1)), (-1, 0))
            if place >= 0 and most > RULES.in_place * pixels.total():
                found[name] = place
        return found

    def _sights(self, name: str, numbers: tuple[int, ...]) -> list[MaskedSight]:
        """What each view that shows an object in the same place, then and now, says of it."""
        if (name, numbers) not in self._found:
            found = self._found[name, numbers] = []
            earlier, own = self.looks.shown.get(name, ((), ()))
            for before, now in _pairs(earlier, self.now):
                pair = Pair.of(before, own, now, numbers)
                if pair is not None:
                    if id(before) not in self._lights:
                        self._lights[id(before)] = light_between(before, now)
                    found.append(pair.sight(self._lights[id(before)]))
        return self._found[name, numbers]


def _pairs(earlier: Sequence[Picture], now: Sequence[Picture]) -> list[tuple[Picture, Picture]]:
    """Pictures of the same views."""
    return [(before, after) for before, after in zip(earlier, now, strict=False) if before.comparable(after)]


class MaskedSight(NamedTuple):
    """What one view says of an object in its place.

    Attributes:
        still: whether it has not moved.
        changed: share of its surface that looks different, 0 if that means nothing; None if too little of it is seen.
        whole: whether most of it is to be seen.
        hint: the same share if it is too small to mean something in one view alone, else 0.
    """

    still: bool
    changed: float | None
    whole: bool
    hint: float = 0.0


def light_between(before: Picture, now: Picture) -> FloatArray:
    """How many times as bright (3,) a view has become, by what no mask shows and what is as far away as before."""
    some = np.s_[:: RULES.step, :: RULES.step]
    depths = before.depth_m[some], now.depth_m[some]
    same = (before.instances[some] == 0) & (now.instances[some] == 0) & (depths[0] > 0)
    same &= np.abs(depths[0] - depths[1]) < RULES.surface_m + 0.01 * depths[0]
    if same.sum() < PIXELS.fewest_pixels:
        return np.ones(3, np.float32)
    first, second = (np.maximum(each.rgb[some][same].astype(np.float32), 1.0) for each in (before, now))
    return np.asarray(np.median(second / first, axis=0), np.float32)


@dataclass(frozen=True, eq=False)
class Pair:
    """An object in the same window of two pictures.

    Attributes:
        images: (H, W, 3) of both.
        masks: (H, W) of the object in both.
        nothing: (H, W) whether no mask is there in either.
        depths: (H, W) of both.
    """

    images: tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]
    masks: tuple[Mask, Mask]
    nothing: Mask
    depths: tuple[FloatArray, FloatArray]

    @classmethod
    def of(cls, before: Picture, numbers_before: Sequence[int], now: Picture, numbers: Sequence[int]) -> Pair | None:
        """The object that has these masks; None if it is not in the same place in both pictures."""
        first, second = before.window(numbers_before), now.window(numbers)
        if first is None or second is None:
            return None
        rows, columns = zip(first, second, strict=True)
        here = tuple(_around(min(s.start for s in each), max(s.stop for s in each)) for each in (rows, columns))
        step = max(int(np.sqrt(np.prod([each.stop - each.start for each in here]) / RULES.large_px)), 1)
        here = tuple(slice(each.start, each.stop, step) for each in here)
        masks = np.isin(before.instances[here], numbers_before), np.isin(now.instances[here], numbers)
        if (masks[0] & masks[1]).sum() < max(
            RULES.in_place * min(masks[0].sum(), masks[1].sum()), PIXELS.fewest_pixels
        ):
            return None
        nothing = (before.instances[here] == 0) & (now.instances[here] == 0)
        return cls((before.rgb[here], now.rgb[here]), masks, nothing, (before.depth_m[here], now.depth_m[here]))

    @cached_property
    def nearer(self) -> npt.NDArray[np.int8]:
        """(H, W) 1 where the second picture shows something nearer, -1 where it shows something farther, else 0."""
        first, second = self.depths
        known, far = (first > 0) & (second > 0), RULES.surface_m + 0.01 * first
        return np.where(known, (second < first - far).astype(np.int8) - (second > first + far), 0).astype(np.int8)

    @property
    def still(self) -> bool:
        """Whether the outline is where it was, but for what is nearer in one of the pictures, and the surface, too."""
        first, second = self.masks
        gone, come = first & ~second & (self.nearer <= 0), second & ~first & (self.nearer >= 0)
        elsewhere = sum(int(ndimage.binary_opening(each).sum()) for each in (gone, come))
        if elsewhere > RULES.stray * min(first.sum(), second.sum()):
            return False
        both = first & second & (self.depths[0] > 0) & (self.depths[1] > 0)
        return not both.any() or float(np.median(np.abs(self.depths[1] - self.depths[0])[both])) < RULES.same_m

    def sight(self, light: FloatArray) -> MaskedSight:
        """What the two pictures say.

        Args:
            light: (3,) from `light_between`.
        """
        both = self.masks[0] & self.masks[1]
        seen = ndimage.binary_erosion(both & (self.nearer == 0))
        same = seen & ~ndimage.binary_dilation(ndimage.binary_opening(self.nearer != 0), iterations=RULES.bleed_px)
        if same.sum() < max(PIXELS.fewest_pixels, RULES.least * self.masks[0].sum()):
            return MaskedSight(self.still, None, False)
        share, evenly = different(*self.images, same, light)
        whole = bool(seen.sum() >= RULES.most * self.masks[0].sum())
        limit = np.clip(
            RULES.changed_share * np.sqrt(PIXELS.edges_px / same.sum()), RULES.least_share, RULES.changed_share
        )
        limit = limit if whole else RULES.hidden_share
        least = limit * RULES.hint if whole else limit
        even = whole and abs(evenly) > RULES.evenly
        if share > least or even:
            ring = ndimage.binary_dilation(both, iterations=RULES.ring_px) & self.nothing & (self.nearer == 0)
            shaded = (
                ring.sum() >= PIXELS.fewest_pixels
                and different(*self.images, ring, light, fixed=True)[0] > RULES.shaded
            )
            share = min(different(*self.images, same, light, by, not shaded)[0] for by in _SHIFTS)
            even &= not shaded
        hint = max(share, least if even else 0.0) if share <= limit and (share > least or even) else 0.0
        return MaskedSight(self.still, share if share > limit else 0.0, whole, hint)


def _around(start: int, stop: int) -> slice:
    return slice(max(start - RULES.ring_px, 0), stop + RULES.ring_px)


_SHIFTS = [
    (down, right)
    for down in range(-RULES.shifts_px, RULES.shifts_px + 1)
    for right in range(-RULES.shifts_px, RULES.shifts_px + 1)
]

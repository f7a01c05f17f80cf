"""The table, and masks of what stands on it, from RGB-D images alone: no detector, and no labels.

The table is the largest plane that can carry something. What rises from it is divided where surfaces meet in a concave
edge or cover each other (`surfaces`), and pieces of one object are joined (`pieces`). `TableMasks` follows the objects
over time: masks stay where depth has not changed (`lasting`), and new ones are told by looks, place and size.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import ndimage
from scipy.spatial import ConvexHull, cKDTree

from nsrecover.core import Camera, FloatArray, Observation
from nsrecover.errors import InvalidObservation
from nsrecover.perception.lifting import box_around, to_world
from nsrecover.perception.masks.lasting import MaskChange, Reference
from nsrecover.perception.masks.pieces import DepthScene, join_pieces
from nsrecover.perception.masks.surfaces import Floats, Pinhole, find_surfaces, merge_convex
from nsrecover.perception.objects.association import associate, association_costs
from nsrecover.perception.objects.colours import pixel_colours
from nsrecover.perception.objects.detections import table_lights


@dataclass(frozen=True)
class TableRules:
    """What a table is, and what stands on it.

    Attributes:
        working_width_px: images are segmented at about this width.
        near_m: distance of table points from its plane,
        near_growth: and growth with the squared depth.
        rises_m: what rises above the table by this stands on it,
        rises_growth: if the noise is less: 0.004 m and growth times the squared depth.
        highest_m: what is higher above the table does not stand on it.
        least_readings: fewest depth readings, of every fourth row and column, that show a table.
        least_share: share of the readings that lie on the table.
        upper_m2: a plane above the largest one with a connected part of this area, and enough readings, is the table,
            and the largest one the floor.
        below_m: readings below a plane by this count against it: a support hides what is below it, and the tops of
            boxes do not.
        below_growth: growth of it with the squared depth.
        deepest_m: readings that are deeper do not count.
        cell_m: cells, at least as large, in which a plane is seen are connected if they touch.
        part_of_table: a connected part with this share of the area of the largest one belongs to the table.
        least_px: pixels of the smallest object.
        least_m2: its area across the line of sight.
        named_m: an object is called after a place that is at most this far away.
        rounds: planes that are tried.
        sample: points by which they are compared.
    """

    working_width_px: int = 320
    near_m: float = 0.004
    near_growth: float = 0.003
    rises_m: float = 0.006
    rises_growth: float = 0.0025
    highest_m: float = 0.6
    least_readings: int = 500
    least_share: float = 0.15
    upper_m2: float = 0.15
    below_m: float = 0.012
    below_growth: float = 0.004
    deepest_m: float = 0.25
    cell_m: float = 0.01
    part_of_table: float = 0.1
    least_px: int = 30
    least_m2: float = 1.2e-4
    named_m: float = 0.1
    rounds: int = 150
    sample: int = 1500


RULES = TableRules()


@dataclass(frozen=True, eq=False)
class SeenTable:
    """A table as one camera sees it.

    Attributes:
        normal: (3,) unit vector up from the table, in the camera's frame.
        distance_m: of the camera from the table's plane.
        edges: (E, 3) lines a x + b y + c = 0 around what is seen of it, in the axes of `across`; negative inside.
        middle: (3,) of what is seen of it, in the camera's frame.
    """

    normal: Floats
    distance_m: float
    edges: Floats
    middle: Floats

    @property
    def across(self) -> Floats:
        """(2, 3) axes in the table: away from the camera, and to the left."""
        away = np.array([0.0, 0.0, 1.0]) - self.normal * self.normal[2]
        if np.linalg.norm(away) < 0.1:  # the camera looks straight down
            away = np.array([0.0, -1.0, 0.0]) + self.normal * self.normal[1]
        away /= np.linalg.norm(away)
        return np.stack([away, np.cross(self.normal, away)])

    @property
    def world_from_camera(self) -> FloatArray:
        """(4, 4) a pose with the table at z = 0, x away from the camera, and its middle at x = 0.5 m, y = 0."""
        pose = np.eye(4)
        pose[:3, :3] = np.stack([*self.across, self.normal])
        pose[:3, 3] = np.array([0.5, 0.0, 0.0]) - pose[:3, :3] @ self.middle
        return pose.astype(np.float32)

    def heights(self, points: npt.NDArray[np.floating]) -> Floats:
        """Heights (...) of points (..., 3) in the camera's frame above the table, metres."""
        return np.asarray(points @ self.normal + self.distance_m)

    def under(self, points: npt.NDArray[np.floating]) -> npt.NDArray[np.bool_]:
        """Whether the table is under points (M, 3)."""
        return np.asarray(((points @ self.across.T) @ self.edges[:, :2].T + self.edges[:, 2] < 0.01).all(axis=1))


def find_table(depth_m: FloatArray, camera: Camera | FloatArray) -> SeenTable:
    """The table in a depth image.

    Args:
        depth_m: (H, W), 0 where there is no reading.
        camera: a camera with a pose, which says where up is; or only its intrinsics (3, 3), and the table's top faces
            the upper end of the image or the camera.

    Raises:
        InvalidObservation: no plane holds enough of the readings.
    """
    points = _points(depth_m, camera, 2 * _step(depth_m))
    points = points[points[..., 2] > 0]
    if len(points) >= RULES.least_readings:
        up = camera.world_from_camera[2, :3].astype(np.float64) if isinstance(camera, Camera) else None
        found = _largest_plane(points, up)
        if found is not None and found[2].mean() > RULES.least_share:
            higher = points[points @ found[0] + found[1] > 0.05]
            upper = _largest_plane(higher, found[0]) if len(higher) > RULES.least_readings else None
            on_upper = RULES.least_share * len(points)
            if upper is not None and upper[2].sum() > on_upper and _parts(higher, *upper)[1] > RULES.upper_m2:
                found, points = upper, higher
            return _table(points, *found)
    raise InvalidObservation(
        f"expected a table in view, found no plane that holds {RULES.least_share:.0%} of the depth readings "
        f"({len(points)} of every fourth row and column); show more of the table, and check the unit of depth"
    )


def masks_on(table: SeenTable, depth_m: FloatArray, camera: Camera | FloatArray) -> npt.NDArray[np.int32]:
    """Masks (H, W) of what stands on a table: 1, 2, ..., and 0 elsewhere; arguments as for `find_table`."""
    step = _step(depth_m)
    points = _points(depth_m, camera, step)
    depth, heights = points[..., 2], table.heights(points)
    rises = np.maximum(RULES.rises_m, 0.004 + RULES.rises_growth * depth**2)
    shown = (depth > 0) & (heights > rises) & (heights < RULES.highest_m)
    shown[shown] = table.under(points[shown])
    shown = ndimage.binary_opening(shown, np.ones((2, 2)))
    masks = np.zeros(depth.shape, np.int32)
    if not shown.any():
        return np.zeros(depth_m.shape, np.int32)
    rows, columns = (np.flatnonzero(shown.any(axis=axis)) for axis in (1, 0))
    part = np.s_[max(rows[0] - 4, 0) : rows[-1] + 5, max(columns[0] - 4, 0) : columns[-1] + 5]
    lens = _lens(camera, step)
    lens = Pinhole(lens.fx, lens.fy, lens.cx - part[1].start, lens.cy - part[0].start)
    masks[part] = _objects(points[part], heights[part], shown[part], lens)
    full = np.repeat(np.repeat(masks, step, axis=0), step, axis=1)[: depth_m.shape[0], : depth_m.shape[1]]
    return np.pad(full, [(0, n - m) for n, m in zip(depth_m.shape, full.shape, strict=True)], mode="edge")


class TableMasks:
    """Turns RGB-D images into observations with masks of what stands on the table, and follows the objects.

    A number stays with its object while looks, place and size tell it: it may move, and be hidden for some time. Every
    view has numbers of its own, since perception joins the views.

    Args:
        places: name -> x, y on the table (metres, the robot's frame) where an object stands at first, to name it;
            without, objects of one camera are called `object 1`, `object 2`, ...
    """

    def __init__(self, places: Mapping[str, Sequence[float]] | None = None) -> None:
        self._places = dict(places or {})
        self._known: list[dict[int, tuple[FloatArray, FloatArray]]] = []
        self._names: dict[int, str] = {}
        self._last: dict[int, tuple[SeenTable, Reference]] = {}

    def look(
        self, rgb: npt.NDArray[np.uint8], depth_m: FloatArray, cameras: Sequence[Camera], time_s: float = 0.0
    ) -> Observation:
        """The observation of all cameras at one moment.

        Args:
            rgb: (V, H, W, 3).
            depth_m: (V, H, W), metres, 0 where there is no reading.
            cameras: V cameras with poses; `camera_over_table` makes one from the table.
            time_s: when it was taken.

        Raises:
            InvalidObservation: an image has a wrong shape, or a camera sees no table.
        """
        raw = Observation(rgb, depth_m, np.zeros(np.shape(depth_m), np.int32), tuple(cameras), {}, shared_ids=False)
        self._known = self._known or [{} for _ in cameras]
        instances = np.stack([self._followed(raw, view) for view in range(len(cameras))])
        alone = len(cameras) == 1
        names = {n: self._names.get(n, f"object {n}") for n in np.unique(instances[instances > 0]).tolist()}
        labels = {n: name for n, name in names.items() if alone or n in self._names}
        return Observation(rgb, depth_m, instances, raw.cameras, labels, time_s=time_s, shared_ids=alone)

    def _followed(self, raw: Observation, view: int) -> npt.NDArray[np.int32]:
        """The masks of one view, numbered as before."""
        depth, camera = raw.depth_m[view], raw.cameras[view]
        table, last = self._last.get(view, (None, None))
        if table is None or last is None or not last.fits(camera, depth):
            table = find_table(depth, camera)
            masks = self._numbered(raw, view, masks_on(table, depth, camera), ())
            self._last[view] = table, Reference(depth, masks, camera)
            if self._places and not any(number // 1000 == view for number in self._names):
                self._name(view)
            return masks
        change = MaskChange.between(last.depth_m, depth)
        masks, free = last.kept(change)
        earlier = frozenset(self._known[view])
        if change.any or free.any():
            pieces = last.pieces(masks_on(table, depth, camera), masks, free, change, RULES.least_px * 4)
            found = self._numbered(raw, view, pieces, np.unique(masks[masks > 0]).tolist())
            masks = np.where(masks > 0, masks, found)
        self._last[view] = table, last.after(depth, change, masks, free, frozenset(self._known[view]) - earlier)
        return masks

    def _numbered(
        self, raw: Observation, view: int, masks: npt.NDArray[np.int32], kept: Collection[int]
    ) -> npt.NDArray[np.int32]:
        """Masks (H, W) of one view with the numbers of known objects, without those of some that are kept."""
        known = {number: each for number, each in self._known[view].items() if number not in kept}
        numbers = np.unique(masks[(masks > 0) & (raw.depth_m[view] > 0)])
        if not len(numbers):
            return np.zeros_like(masks)
        pixels = [np.nonzero((masks == number) & (raw.depth_m[view] > 0)) for number in numbers.tolist()]
        boxes = np.stack([box_around(to_world(raw, view, rows, columns)) for rows, columns in pixels])
        windows = [tuple(slice(int(axis.min()), int(axis.max()) + 1) for axis in own) for own in pixels]
        shown = replace(raw, instances=np.stack([masks if v == view else each for v, each in enumerate(raw.instances)]))
        lights = table_lights(shown, view, windows)
        visual = np.stack([pixel_colours(raw.rgb[view][own], each) for own, each in zip(pixels, lights, strict=True)])
        found = np.full(len(known), -1, np.intp)
        if known:
            looks, places = (np.stack([each[k] for each in known.values()]) for k in (0, 1))
            costs = association_costs(looks[:, None], places[:, None, 3:], places[:, None, :3], visual, boxes)
            found = associate(costs)
        own = {int(detection): number for number, detection in zip(known, found.tolist(), strict=True)}
        fresh = 1 + max(self._known[view], default=1000 * view)
        renumbered = np.zeros(int(masks.max()) + 1, np.int32)
        for row, mask in enumerate(numbers.tolist()):
            number = own.get(row, fresh)
            fresh += number == fresh
            renumbered[mask], self._known[view][number] = number, (visual[row], boxes[row])
        return renumbered[masks]

    def _name(self, view: int) -> None:
        """Call the objects of a view after the places where they stand."""
        for name, place in self._places.items():
            away = {
                number: float(np.linalg.norm(box[:2] - np.asarray(place)[:2]))
                for number, (_, box) in self._known[view].items()
            }
            nearest = min(away, key=lambda number: away[number], default=0)
            if away and away[nearest] < RULES.named_m and nearest not in self._names:
                self._names[nearest] = name


def camera_over_table(depth_m: FloatArray, intrinsics: FloatArray, name: str = "camera") -> Camera:
    """A camera whose pose follows from the table in its depth image (H, W): `Table.world_from_camera`.

    Raises:
        InvalidObservation: it sees no table.
    """
    return Camera(intrinsics, find_table(depth_m, np.asarray(intrinsics)).world_from_camera, name)


def _objects(points: Floats, heights: Floats, shown: npt.NDArray[np.bool_], lens: Pinhole) -> npt.NDArray[np.int32]:
    """Objects (H, W) among the pixels that show some; points (H, W, 3), heights (H, W)."""
    surfaces = find_surfaces(points[..., 2], shown, lens)
    labels = np.where(surfaces.valid.ravel(), merge_convex(surfaces) + 1, 0)
    counts = np.bincount(labels)
    area = np.bincount(labels, weights=(points[..., 2] ** 2 / (lens.fx * lens.fy)).ravel())
    large = (counts >= RULES.least_px) & (area > RULES.least_m2)
    large[0] = False
    pieces = np.where(large, np.cumsum(large), 0)[labels]
    if not pieces.any():
        return np.zeros(shown.shape, np.int32)
    flat = points.reshape(-1, 3)
    scene = DepthScene(shown.shape[1], surfaces.labels, surfaces.normals, flat, heights.ravel())
    pieces = join_pieces(pieces, scene).reshape(shown.shape)
    away, (rows, columns) = ndimage.distance_transform_edt(pieces == 0, return_indices=True)
    near = shown & (pieces == 0) & (away < 4)
    pieces[near] = pieces[rows, columns][near]
    return np.unique(pieces, return_inverse=True)[1].reshape(shown.shape).astype(np.int32)


def _largest_plane(points: Floats, up: Floats | None) -> tuple[Floats, float, npt.NDArray[np.bool_]] | None:
    """Normal, distance, and which points lie on it, of the plane with most points whose upper side is up."""
    rng = np.random.default_rng(0)
    some = points[rng.choice(len(points), min(len(points), RULES.sample), replace=False)]
    corners = some[rng.integers(0, len(some), (RULES.rounds, 3))]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sizes = np.linalg.norm(normals, axis=1)
    normals, corners = normals[sizes > 1e-4] / sizes[sizes > 1e-4, None], corners[sizes > 1e-4, 0]
    distances = -(normals * corners).sum(axis=1)
    signs = np.where(distances < 0, -1.0, 1.0)  # the camera is above it
    normals, distances = normals * signs[:, None], distances * signs
    carries = -normals[:, 1] > -0.2 if up is None else normals @ up > 0.95
    heights, squared = some @ normals.T + distances, some[:, 2:] ** 2
    near = np.abs(heights) < RULES.near_m + RULES.near_growth * squared
    below = (heights < -RULES.below_m - RULES.below_growth * squared) & (heights > -RULES.deepest_m)
    counts = (near.sum(axis=0) - below.sum(axis=0)) * carries
    counts = counts if (counts > 0).any() else near.sum(axis=0) * carries
    if not counts.any():
        return None
    normal, distance = normals[counts.argmax()], float(distances[counts.argmax()])
    for width in (3.0, 2.0, 1.5, 1.5):
        on = np.abs(points @ normal + distance) < width * (RULES.near_m + RULES.near_growth * points[:, 2] ** 2) * 0.7
        weights = 1 / points[on, 2] ** 2
        middle = weights @ points[on] / weights.sum()
        spread = (points[on] - middle) * np.sqrt(weights)[:, None]
        fitted = np.linalg.eigh(spread.T @ spread)[1][:, 0]
        normal = fitted * np.sign(fitted @ normal)
        distance = float(-normal @ middle)
    return normal, distance, on


def _table(points: Floats, normal: Floats, distance: float, on: npt.NDArray[np.bool_]) -> SeenTable:
    shown = points[on][_parts(points, normal, distance, on)[0]]
    bare = SeenTable(normal, distance, np.zeros((0, 3)), shown.mean(axis=0))
    hull = ConvexHull(shown @ bare.across.T)
    return SeenTable(normal, distance, np.asarray(hull.equations), bare.middle - normal * bare.heights(bare.middle))


def _parts(
    points: Floats, normal: Floats, distance: float, on: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.bool_], float]:
    """Which of the points on a plane lie in its large connected parts, and the area of the largest, square metres."""
    flat = points[on] @ SeenTable(normal, distance, np.zeros((0, 3)), normal).across.T
    spacing = np.median(cKDTree(flat).query(flat[:: len(flat) // 200 + 1], k=2)[0][:, 1])
    cell = max(RULES.cell_m, 3 * float(spacing))
    places = np.floor((flat - flat.min(axis=0)) / cell).astype(int)
    grid = np.zeros(places.max(axis=0) + 1, np.bool_)
    grid[tuple(places.T)] = True
    labels = ndimage.label(grid, np.ones((3, 3)))[0]
    sizes = np.bincount(labels[grid], minlength=2)
    return (sizes > RULES.part_of_table * sizes.max())[labels[tuple(places.T)]], float(sizes.max() * cell**2)


def _step(depth_m: FloatArray) -> int:
    return int(max(1, round(depth_m.shape[1] / RULES.working_width_px)))


def _lens(camera: Camera | FloatArray, step: int) -> Pinhole:
    """The lens of an image of every step-th row and column; pixel centres at whole numbers."""
    k = np.asarray(camera.intrinsics if isinstance(camera, Camera) else camera, np.float64)
    return Pinhole(k[0, 0] / step, k[1, 1] / step, (k[0, 2] - 0.5) / step, (k[1, 2] - 0.5) / step)


def _points(depth_m: FloatArray, camera: Camera | FloatArray, step: int) -> Floats:
    """Points (h, w, 3) of every step-th row and column in the camera's frame; zeros without a reading."""
    lens, depth = _lens(camera, step), np.asarray(depth_m[::step, ::step], np.float64)
    u, v = np.arange(depth.shape[1]) - lens.cx, np.arange(depth.shape[0])[:, None] - lens.cy
    return np.stack([u / lens.fx * depth, v / lens.fy * depth, depth], axis=-1)

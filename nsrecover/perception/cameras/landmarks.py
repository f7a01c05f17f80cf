"""Points of a view that stay where they are: by them a camera's motion is noticed later."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from nsrecover.core import Camera, FloatArray
from nsrecover.perception.lifting import rays, shifted

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class LandmarkRules:
    """Where landmarks are looked for.

    Attributes:
        blurs_px: standard deviations of the blurs, from coarse to fine.
        quick_level: the blur with which one step is tried first.
        most_points: landmarks on edges of the image, and as many elsewhere.
        jump: neighbouring pixels whose depths differ by more than this share lie on two surfaces.
        beside_objects_px: landmarks keep this distance from masks.
        window: side of the square around a pixel whose readings are averaged, pixels.
    """

    blurs_px: tuple[float, ...] = (10.0, 5.0, 2.5, 1.5)
    quick_level: int = 2
    most_points: int = 1500
    jump: float = 0.03
    beside_objects_px: int = 6
    window: int = 5


RULES = LandmarkRules()


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Points of one view that stay where they are.

    Attributes:
        points: (M, 3) in the world, metres.
        normals: (M, 3) of their surfaces.
        rgb: (H, W, 3) image of the view.
        pixels: (M,) numbers of their pixels in it.
    """

    points: Floats
    normals: Floats
    rgb: npt.NDArray[np.uint8]
    pixels: npt.NDArray[np.intp]
    _grey: dict[int, Floats] = field(default_factory=dict)

    def grey(self, level: int) -> Floats:
        """(M,) brightness with one of the blurs; most of them are needed only if the camera has moved."""
        if level not in self._grey:
            self._grey[level] = blurred(brightness_of(self.rgb), level).ravel()[self.pixels].astype(np.float64)
        return self._grey[level]


def landmarks_of(
    rgb: npt.NDArray[np.uint8], depth: FloatArray, instances: npt.NDArray[np.int32], camera: Camera
) -> Landmarks:
    """Landmarks of a view: where it shows no object, on one surface, and half of them where brightness changes."""
    valid = depth > 0
    smooth = _smoothed(depth, valid)
    usable = valid & (smooth > 0) & ~_behind_edges(depth) & ~near_objects(instances)
    usable[: RULES.window + 1], usable[-RULES.window - 1 :] = False, False
    usable[:, : RULES.window + 1], usable[:, -RULES.window - 1 :] = False, False
    image = blurred(brightness_of(rgb), RULES.quick_level)
    pixels = _chosen(usable, np.hypot(*np.gradient(image)))
    rows, columns = np.unravel_index(pixels, depth.shape)

    def local(rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp]) -> Floats:
        return rays(camera, rows, columns) * smooth[rows, columns, None]

    across = local(rows, columns + RULES.window) - local(rows, columns - RULES.window)
    down = local(rows + RULES.window, columns) - local(rows - RULES.window, columns)
    normals = np.cross(across, down)
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.where(length > 1e-12, normals / np.maximum(length, 1e-12), 0.0)
    pose = camera.world_from_camera.astype(np.float64)
    return Landmarks(
        local(rows, columns) @ pose[:3, :3].T + pose[:3, 3],
        normals @ pose[:3, :3].T,
        rgb,
        pixels,
        {RULES.quick_level: image.ravel()[pixels].astype(np.float64)},
    )


def brightness_of(rgb: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    """Brightness (H, W) of an image (H, W, 3)."""
    red, green, blue = (rgb[..., channel].astype(np.float32) for channel in range(3))
    return np.asarray((red + green + blue) / 3)


def blurred(image: npt.NDArray[np.float32], level: int) -> npt.NDArray[np.float32]:
    """An image (H, W) with one of the blurs."""
    return np.asarray(ndimage.gaussian_filter(image, RULES.blurs_px[level], truncate=3.0))


def _smoothed(depth: FloatArray, valid: Mask) -> Floats:
    """Mean depth (H, W) of the readings around each pixel; 0 at edges and where there are too few."""
    known = np.where(valid, depth, 0.0).astype(np.float64)
    parts = (ndimage.uniform_filter(each, RULES.window) for each in (known, known**2, valid.astype(np.float64)))
    return mean_on_one_surface(*parts)


def mean_on_one_surface(known: Floats, squared: Floats, share: Floats) -> Floats:
    """Mean depth, from sums that count pixels without a reading as 0; 0 at edges and where there are too few."""
    mean = known / np.maximum(share, 1e-6)
    spread = squared / np.maximum(share, 1e-6) - mean**2
    return np.where((spread < (0.5 * RULES.jump * mean) ** 2) & (share > 0.4), mean, 0.0)


def _behind_edges(depth: FloatArray) -> Mask:
    """(H, W) pixels next to something nearer: its outline moves against them."""
    near = np.zeros(depth.shape, dtype=np.bool_)
    for down, right in ((1, 0), (0, 1)):
        one, other = shifted(down, right)
        first, second = depth[one], depth[other]
        both = (first > 0) & (second > 0)
        near[one] |= both & (second - first > RULES.jump * first)
        near[other] |= both & (first - second > RULES.jump * second)
    size = 2 * RULES.window + 1
    edge = ndimage.minimum_filter(np.where(near, depth, np.inf), size)
    return np.asarray(depth > edge * (1 + RULES.jump))


def near_objects(instances: npt.NDArray[np.int32]) -> Mask:
    """(H, W) pixels at most `beside_objects_px` from a mask."""
    near = instances > 0
    if near.any():
        around = tuple(
            slice(max(ends[0] - RULES.beside_objects_px, 0), ends[-1] + RULES.beside_objects_px + 1)
            for ends in (np.flatnonzero(near.any(axis=1)), np.flatnonzero(near.any(axis=0)))
        )
        near[around] = ndimage.distance_transform_edt(~near[around]) <= RULES.beside_objects_px
    return near


def _chosen(usable: Mask, slope: Floats) -> npt.NDArray[np.intp]:
    """Numbers of some usable pixels: evenly, and among those with the steepest brightness."""
    every = np.flatnonzero(usable)
    if not len(every):
        return every
    most = min(4 * RULES.most_points, len(every))
    steep = np.sort(every[np.argpartition(slope.ravel()[every], -most)[-most:]])
    parts = [part[:: max(len(part) // RULES.most_points, 1)][: 2 * RULES.most_points] for part in (every, steep)]
    return np.unique(np.concatenate(parts))

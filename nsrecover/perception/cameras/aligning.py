"""Views that are moved over the table until the tops of the objects lie on each other.

Calibrations leave every camera off by a few millimetres and tenths of a degree. The table shows the tilt and the height
(`nsrecover.perception.cameras.levelling`), not the place on it: cameras that face each other see different sides of an
object,
and an error between them makes every object longer or shorter. The top of an object is seen by both.

At the near end of a top begins the side below it, at its far end the background, where depth is missing or mixed and
masks are inaccurate: a depth image shows less of the far end. How much less is counted in the colour image.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from nsrecover.core import Camera, FloatArray, Observation
from nsrecover.perception.lifting import ViewPixels, rays

Pose = npt.NDArray[np.float64]


@dataclass(frozen=True)
class TopRules:
    """How tops of objects are compared between views.

    Attributes:
        top_m: points this far below the highest ones belong to the top.
        fewest_points: a view with fewer points on a top does not count.
        trim: share of the points of a top that is cut off at each end of an axis.
        cell_m: size of the cells in which points on a top are counted.
        looked_px: number of pixels of the colour image searched behind the last depth reading of a top.
        contrast: smallest difference of colour (0 to 255 in each channel) between a top and what is behind it.
        fewest_lines: fewest lines of pixels that show what is behind a top.
        same_sides_m: a top that is longer in one view by more than this is partly hidden.
        apart_m: tops that are farther apart are not of the same object, or the calibration is wrong.
        top_noise_m: standard deviation of the middle of a top.
        shift_m: standard deviation of the calibration error that is assumed before looking: shift.
        turn_deg: the same: turn, degrees.
        most_noise: a top that is off by more standard deviations than this, after all, does not count.
    """

    top_m: float = 0.008
    fewest_points: int = 25
    trim: float = 0.05
    cell_m: float = 0.002
    looked_px: int = 6
    contrast: float = 30.0
    fewest_lines: int = 4
    same_sides_m: float = 0.007
    apart_m: float = 0.02
    top_noise_m: float = 0.002
    shift_m: float = 0.005
    turn_deg: float = 0.5
    most_noise: float = 3.0


RULES = TopRules()


def offsets(
    observation: Observation, lifted: Sequence[ViewPixels], objects: Sequence[Sequence[int]]
) -> tuple[Pose, ...]:
    """How the pose of each camera is to be corrected so that the views agree about the tops of the objects.

    What all views have in common cannot be seen; the corrections are the smallest that explain the tops.

    Args:
        observation: the views.
        lifted: the pixels of every view that show objects.
        objects: numbers of the masks of each object.

    Returns:
        For each camera a motion (4, 4) in its own frame, to be applied to its pose from the right.
    """
    tops = [found for numbers in objects if len(found := _tops(observation, lifted, numbers)) > 1]
    middle = np.mean([place for found in tops for place in found.values()], axis=0) if tops else np.zeros(2)
    corrections, kept = np.zeros((len(lifted), 3)), tops
    for _ in range(2):
        corrections = _solved(kept, middle, len(lifted)) if kept else np.zeros_like(corrections)
        kept = [
            found for found in tops if _disagreement(found, corrections, middle) < RULES.most_noise * RULES.top_noise_m
        ]
    motions = []
    for camera, (x, y, turn) in zip(observation.cameras, corrections, strict=True):
        motion = np.eye(4)
        motion[:3, :3] = Rotation.from_euler("z", turn).as_matrix()
        motion[:2, 3] = middle - motion[:2, :2] @ middle + (x, y)
        pose = camera.world_from_camera.astype(np.float64)
        motions.append(np.linalg.inv(pose) @ motion @ pose)
    return tuple(motions)


def aligned(observation: Observation, corrections: Sequence[Pose]) -> Observation:
    """The observation with corrected poses; as it is if there is not one correction for each camera."""
    if len(corrections) != len(observation.cameras):
        return observation
    cameras = tuple(
        replace(camera, world_from_camera=(camera.world_from_camera @ correction).astype(np.float32))
        for camera, correction in zip(observation.cameras, corrections, strict=True)
    )
    return replace(observation, cameras=cameras)


def _tops(observation: Observation, lifted: Sequence[ViewPixels], numbers: Sequence[int]) -> dict[int, FloatArray]:
    """View -> middle (2,) of the top of one object, for the views that show the whole of it; none if they disagree."""
    places, sides = dict[int, FloatArray](), []
    for view, (rows, columns, points, instances) in enumerate(lifted):
        own = np.isin(instances, numbers)
        if np.count_nonzero(own) < RULES.fewest_points:
            continue
        own &= points[:, 2] > np.quantile(points[own, 2], 1 - RULES.trim) - RULES.top_m
        if np.count_nonzero(own) < RULES.fewest_points:
            continue
        # an upright side adds points at one end only: every cell counts once
        cells = RULES.cell_m * np.unique(np.round(points[own, :2] / RULES.cell_m), axis=0)
        low, high = np.quantile(cells, [RULES.trim, 1 - RULES.trim], axis=0)
        beyond = _beyond(observation, view, rows[own], columns[own], float(np.median(points[own, 2])))
        if beyond is not None:
            places[view] = ((low + high + beyond) / 2).astype(np.float32)
            sides.append(high - low + np.abs(beyond))
    agree = places and np.ptp(sides, axis=0).max() < RULES.same_sides_m
    return places if agree and np.ptp(list(places.values()), axis=0).max() < RULES.apart_m else {}


def _beyond(
    observation: Observation, view: int, rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp], height: float
) -> FloatArray | None:
    """How far (2,) a top goes on, away from the camera, beyond its last depth reading; None if that is not visible.

    Args:
        observation: the views.
        view: number of the view.
        rows: of the pixels of the top (M,).
        columns: of the same.
        height: of the top, metres.
    """
    camera = observation.cameras[view]
    away = camera.world_from_camera[:3, :3].T @ np.append(_ahead(camera), 0.0)  # in the camera's frame
    axis = int(np.abs(away[:2]).argmax())  # 0: along the columns of the image, 1: along the rows
    step = int(np.sign(away[axis])) or 1
    along, across = (columns, rows) if axis == 0 else (rows, columns)
    order = np.lexsort((step * along, across))
    last = order[np.append(np.diff(across[order]) > 0, True)]  # the farthest pixel of every line
    image = observation.rgb[view]
    size = image.shape[1 - axis]
    steps = step * np.arange(-1, RULES.looked_px + 1)
    places = along[last, None] + steps
    inside = ((places >= 0) & (places < size)).all(axis=1)
    places, lines = places[inside], across[last][inside, None]
    pixels_there = image[lines, places] if axis == 0 else image[places, lines]
    colours = pixels_there.astype(np.float32)  # (L, steps, 3)
    top, behind = colours[:, :2].mean(axis=1, keepdims=True), colours[:, -2:].mean(axis=1, keepdims=True)
    contrast = np.linalg.norm(behind - top, axis=-1)
    clear = contrast[:, 0] > RULES.contrast
    if np.count_nonzero(clear) < RULES.fewest_lines:
        return None
    share = ((colours - top) * (behind - top)).sum(axis=-1)[clear] / contrast[clear] ** 2
    more = float(np.median(np.clip(1 - share[:, 2:], 0, 1).sum(axis=1))) + 0.5
    ends = np.stack([along[last][inside][clear], across[last][inside][clear]], axis=1).astype(np.float64)
    pixels = np.stack([ends, ends + np.array([step * more, 0.0])])  # (2, L, 2) along and across
    if axis == 1:
        pixels = pixels[..., ::-1]
    places_there = _on_plane(camera, pixels, height)
    return np.asarray(np.median(places_there[1] - places_there[0], axis=0), dtype=np.float32)


def _ahead(camera: Camera) -> FloatArray:
    """Horizontal direction (2,) in which a camera looks."""
    ahead = camera.world_from_camera[:2, 2]
    return np.asarray(ahead / max(float(np.linalg.norm(ahead)), 1e-6), dtype=np.float32)


def _on_plane(camera: Camera, pixels: npt.NDArray[np.float64], height: float) -> npt.NDArray[np.float64]:
    """Where pixels (..., 2), column and row, meet the plane of a height; (..., 2)."""
    pose = camera.world_from_camera.astype(np.float64)
    directions = rays(camera, pixels[..., 1], pixels[..., 0]) @ pose[:3, :3].T
    return np.asarray(pose[:2, 3] + directions[..., :2] * ((height - pose[2, 3]) / directions[..., 2:]))


def _solved(
    tops: Sequence[Mapping[int, FloatArray]], middle: npt.NDArray[np.floating], views: int
) -> npt.NDArray[np.float64]:
    """Shift (x, y) and turn about the middle of each view (views, 3), by least squares with the assumed errors."""
    rows, wanted = [], []
    for found in tops:
        blocks = []
        for view, place in found.items():
            block = np.zeros((2, 3 * views))
            x, y = place - middle
            block[:, 3 * view : 3 * view + 3] = [[1.0, 0.0, -y], [0.0, 1.0, x]]
            blocks.append(block)
        places = np.array(list(found.values()))
        rows.append(np.array(blocks) - np.mean(blocks, axis=0))
        wanted.append(places.mean(axis=0) - places)
    terms = np.concatenate(rows).reshape(-1, 3 * views) / RULES.top_noise_m
    prior = np.tile([RULES.shift_m, RULES.shift_m, np.radians(RULES.turn_deg)], views)
    normal = terms.T @ terms + np.diag(prior**-2.0)
    return np.linalg.solve(normal, terms.T @ np.concatenate(wanted).ravel() / RULES.top_noise_m).reshape(views, 3)


def _disagreement(
    found: Mapping[int, FloatArray], corrections: npt.NDArray[np.float64], middle: npt.NDArray[np.floating]
) -> float:
    """Largest distance between a view's corrected place of a top and what the views say together, metres."""
    places = np.array(
        [
            place + corrections[view, :2] + corrections[view, 2] * np.array([-(place - middle)[1], (place - middle)[0]])
            for view, place in found.items()
        ]
    )
    return float(np.linalg.norm(places - places.mean(axis=0), axis=1).max())

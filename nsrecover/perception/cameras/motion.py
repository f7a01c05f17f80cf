"""How far a camera has moved since the first observation, and whether the scale of its depth has changed.

Points of the first view that show no object are looked up in a later view: their planes in its depth, and their
brightness in its image. The motion that explains both best is found by Gauss-Newton steps on images that are blurred
less and less; what has changed in the scene does not fit and is left out (Tukey's weights). Depth decides whether it is
real: shadows that move and an exposure that changes look like a motion along the table, and depth contradicts it.
Directions that neither fixes, such as along a bare table, keep the believed pose.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view
from scipy.spatial.transform import Rotation

from nsrecover.core import Camera, FloatArray
from nsrecover.perception.cameras.landmarks import RULES as MARKS
from nsrecover.perception.cameras.landmarks import Floats, Landmarks, Mask, blurred, brightness_of, mean_on_one_surface


@dataclass(frozen=True)
class MotionRules:
    """When and how a motion of a camera is estimated.

    Attributes:
        steps: Gauss-Newton steps with each blur.
        quick_every: one of so many landmarks is enough for that step, and to see that nothing has moved.
        quiet_m: a first step that moves what is seen less than this is nothing,
        quiet_scale: if it also changes the scale less than this.
        fewest_points: nothing is said with fewer landmarks in sight.
        depth_m: residuals of depth at which a landmark no longer counts, for each blur.
        grey: residuals of brightness, 0 to 255, at which it no longer counts.
        usual_m: residuals of depth of a camera that has not moved.
        usual_grey: residuals of brightness of it.
        sure_gain: a motion that explains so much of the depth (`CameraMotion.gain`) is real, whatever the brightness
            says.
        least_gain: a motion that explains less is real if it explains at least so much of the depth,
        bright_gain: so much of depth and brightness together,
        bright_share: and leaves less than this share of the differences of brightness.
        most_unusual: limit of a squared residual in units of the usual ones.
        noise_m: smallest standard deviation of the residuals of depth that is assumed.
        noise_grey: smallest one of brightness.
        alike: number of landmarks whose errors are alike.
    """

    steps: int = 5
    quick_every: int = 4
    quiet_m: float = 0.002
    quiet_scale: float = 0.003
    fewest_points: int = 200
    depth_m: tuple[float, ...] = (0.1, 0.06, 0.03, 0.02)
    grey: tuple[float, ...] = (80.0, 60.0, 40.0, 30.0)
    usual_m: float = 0.004
    usual_grey: float = 5.0
    sure_gain: float = 2.0
    least_gain: float = 0.2
    bright_gain: float = 0.7
    bright_share: float = 0.5
    most_unusual: float = 36.0
    noise_m: float = 0.002
    noise_grey: float = 3.0
    alike: float = 25.0


RULES = MotionRules()


PRIOR = np.array([0.03, 0.03, 0.03, 0.05, 0.05, 0.05, 0.03, 0.3, 30.0])
"""Standard deviations of what is looked for before looking: shift (m), turn (rad), scale, contrast, brightness."""


@dataclass(frozen=True, eq=False)
class CameraMotion:
    """How a view differs from the believed one.

    Attributes:
        offset: (4, 4) motion from the believed to the true pose, in the camera's frame.
        scale: measured depth is the true one times this.
        moved_m: median distance by which the landmarks seem displaced.
        shift_m: distance between the true and the believed position.
        turn_deg: angle between the true and the believed orientation.
        matched: share of the landmarks in sight that are where they should be, after correction.
        beyond: share of them at which something farther away is seen.
        landmarks: number of landmarks in sight.
        off_m: median distance between readings and landmarks.
        gain: by how much it explains the depth better than no motion: decrease of the mean squared residuals, in units
            of usual noise.
    """

    offset: Floats
    scale: float = 1.0
    moved_m: float = 0.0
    shift_m: float = 0.0
    turn_deg: float = 0.0
    matched: float = 1.0
    beyond: float = 0.0
    landmarks: int = 0
    off_m: float = 0.0
    gain: float = 0.0


def motion_of(
    landmarks: Landmarks,
    rgb: npt.NDArray[np.uint8],
    depth: FloatArray,
    instances: npt.NDArray[np.int32],
    camera: Camera,
    start: CameraMotion | None = None,
) -> CameraMotion:
    """How far a camera has moved since its landmarks were seen.

    Args:
        landmarks: from the first view of the camera.
        rgb: (H, W, 3) its image now.
        depth: (H, W) its depth now.
        instances: (H, W) its masks now; landmarks behind objects do not count.
        camera: where it is believed to be.
        start: the motion that was found last; the search begins there.
    """
    view = _View(rgb, depth, instances > 0, camera)
    nothing = CameraMotion(np.eye(4))
    if start is None:
        state, seen = _step(landmarks, view, nothing, MARKS.quick_level, RULES.quick_every, bright=False)
        quiet = (
            _displacement(landmarks.points[:: RULES.quick_every], view, state) < RULES.quiet_m
            and abs(state.scale - 1) < RULES.quiet_scale
        )
        if seen < RULES.fewest_points // RULES.quick_every or quiet:
            return _measured(landmarks, view, nothing, RULES.quick_every * seen, RULES.quick_every)
    deep, bright = _misfit(landmarks, view, nothing)
    for use_brightness in (True, False):
        state, seen = _searched(landmarks, view, start or nothing, use_brightness)
        if seen < RULES.fewest_points:
            break
        left_deep, left_bright = _misfit(landmarks, view, state)
        gain, brighter = deep - left_deep, bright - left_bright
        agree = (
            gain > RULES.least_gain
            and gain + brighter > RULES.bright_gain
            and left_bright < RULES.bright_share * bright
        )
        if gain > RULES.sure_gain or agree:
            return replace(_measured(landmarks, view, state, seen), gain=gain)
    return _measured(landmarks, view, nothing, seen)


class _View:
    """A view in which landmarks are looked up."""

    def __init__(self, rgb: npt.NDArray[np.uint8], depth: FloatArray, hidden: Mask, camera: Camera) -> None:
        self.rgb, self.depth, self.hidden = rgb, depth, hidden
        self._padded = np.pad(np.where(depth > 0, depth, 0.0), MARKS.window // 2, mode="symmetric")
        self.pose, self.k = camera.world_from_camera.astype(np.float64), camera.intrinsics.astype(np.float64)
        self._levels: dict[int, npt.NDArray[np.float32]] = {}

    def level(self, number: int) -> npt.NDArray[np.float32]:
        """The blurred image (H, W)."""
        if number not in self._levels:
            self._levels[number] = blurred(brightness_of(self.rgb), number)
        return self._levels[number]

    def reading(self, rows: npt.NDArray[np.int_], columns: npt.NDArray[np.int_]) -> Floats:
        """Mean depth (M,) around pixels, as `_smoothed` has it."""
        known = sliding_window_view(self._padded, (MARKS.window, MARKS.window))[rows, columns]
        known = known.reshape(len(rows), MARKS.window**2).astype(np.float64)
        return mean_on_one_surface(known.mean(axis=1), (known**2).mean(axis=1), (known > 0).mean(axis=1))

    def brightness(self, number: int, at: Floats) -> tuple[Floats, Floats]:
        """Brightness (M,) in a blurred image at rows and columns (2, M), and its change along columns and rows."""
        whole = np.floor(at).astype(int)
        rows, columns = (np.clip(part, 1, size - 3) for part, size in zip(whole, self.depth.shape, strict=True))
        near = np.moveaxis(sliding_window_view(self.level(number), (4, 4))[rows - 1, columns - 1], 0, -1).copy()
        down, right = np.clip(at - (rows, columns), 0.0, 1.0)

        def around(row: int, column: int) -> Floats:
            upper = near[row, column] * (1 - right) + near[row, column + 1] * right
            lower = near[row + 1, column] * (1 - right) + near[row + 1, column + 1] * right
            return np.asarray(upper * (1 - down) + lower * down)

        across, along = (around(1, 2) - around(1, 0)) / 2, (around(2, 1) - around(0, 1)) / 2
        return around(1, 1), np.stack([across, along])

    def project(self, motion: CameraMotion, points: Floats) -> tuple[Floats, Floats, Floats, Mask]:
        """Points (M, 3) in the camera's frame, their column and row, and whether they are in the image."""
        pose = self.pose @ motion.offset
        local = (points - pose[:3, 3]) @ pose[:3, :3]
        ahead = np.maximum(local[:, 2], 1e-6)
        column = self.k[0, 0] * local[:, 0] / ahead + self.k[0, 2] - 0.5
        row = self.k[1, 1] * local[:, 1] / ahead + self.k[1, 2] - 0.5
        height, width = self.depth.shape
        inside = (local[:, 2] > 0.05) & (column >= 0) & (column <= width - 1) & (row >= 0) & (row <= height - 1)
        return local, column, row, inside


def _searched(landmarks: Landmarks, view: _View, start: CameraMotion, bright: bool) -> tuple[CameraMotion, int]:
    """The motion that explains the depth, and the brightness if that counts, and the number of landmarks in sight."""
    state, seen = start, 0
    for level in range(len(MARKS.blurs_px)):
        for _ in range(RULES.steps):
            state, seen = _step(landmarks, view, state, level, bright=bright)
            if seen < RULES.fewest_points:
                return state, seen
    return state, seen


def _step(
    landmarks: Landmarks, view: _View, motion: CameraMotion, level: int, every: int = 1, bright: bool = True
) -> tuple[CameraMotion, int]:
    """One Gauss-Newton step from a motion by one of so many landmarks, and the number of these in sight."""
    local, column, row, inside = view.project(motion, landmarks.points[::every])
    at = np.stack([row, column])
    nearest = np.clip(np.rint(at).astype(int), 0, np.array(view.depth.shape)[:, None] - 1)
    reading = view.reading(nearest[0], nearest[1])
    inside &= ~view.hidden[nearest[0], nearest[1]]
    pose = view.pose @ motion.offset
    normals = landmarks.normals[::every] @ pose[:3, :3]
    k, z = view.k, np.maximum(local[:, 2], 1e-6)
    rays = np.stack([(column + 0.5 - k[0, 2]) / k[0, 0], (row + 0.5 - k[1, 2]) / k[1, 1], np.ones_like(z)], axis=1)
    measured = rays * (reading / motion.scale)[:, None]
    off_plane = np.einsum("ij,ij->i", normals, measured - local)
    off_depth = measured[:, 2] - local[:, 2]
    known = inside & (reading > 0) & (np.abs(off_depth) < 2 * RULES.depth_m[level])
    if np.count_nonzero(known) < RULES.fewest_points:
        return motion, int(np.count_nonzero(known))
    depth_rows = np.zeros((len(z), 9))
    depth_rows[:, :3], depth_rows[:, 3:6] = normals, np.cross(local, normals)
    depth_rows[:, 6] = -np.einsum("ij,ij->i", normals, measured)
    terms = [(depth_rows, off_plane, _weights(off_plane, known, RULES.depth_m[level], RULES.noise_m))]
    if bright:
        terms.append(_brightness_terms(landmarks.grey(level)[::every], view, local, at, known, level))
    matrix, vector = np.diag(PRIOR**-2.0), np.zeros(9)
    vector[6] = (1.0 - motion.scale) / PRIOR[6] ** 2
    for rows, off, weights in terms:
        matrix += rows.T @ (rows * weights[:, None])
        vector -= rows.T @ (weights * off)
    found = np.linalg.solve(matrix, vector)
    change = np.eye(4)
    change[:3, :3] = Rotation.from_rotvec(found[3:6]).as_matrix()
    change[:3, 3] = found[:3]
    scale = float(np.clip(motion.scale + found[6], 0.8, 1.25))
    return replace(motion, offset=motion.offset @ change, scale=scale), int(np.count_nonzero(known))


def _brightness_terms(
    before: Floats, view: _View, local: Floats, at: Floats, known: Mask, level: int
) -> tuple[Floats, Floats, Floats]:
    """Derivatives (M, 9), residuals (M,) and weights (M,) of the brightness of landmarks, which was `before`."""
    grey, gradient = view.brightness(level, at)
    off_grey = np.zeros_like(grey)
    off_grey[known] = grey[known] - _brightness(before[known], grey[known])
    k, z = view.k, np.maximum(local[:, 2], 1e-6)
    over_z = gradient * np.array([[k[0, 0]], [k[1, 1]]]) / z
    slope = np.stack([over_z[0], over_z[1], -(over_z[0] * local[:, 0] + over_z[1] * local[:, 1]) / z], axis=1)
    grey_rows = np.zeros((len(z), 9))
    grey_rows[:, :3], grey_rows[:, 3:6] = -slope, np.cross(slope, local)
    grey_rows[:, 7], grey_rows[:, 8] = -before, -1.0
    # a landmark in front of which something stands, or that is gone, has another brightness
    return grey_rows, off_grey, _weights(off_grey, known, RULES.grey[level], RULES.noise_grey)


def _weights(off: Floats, known: Mask, limit: float, noise: float) -> Floats:
    """Tukey's weights (M,) of residuals, over their variance."""
    if not known.any():
        return np.zeros_like(off)
    sigma = max(1.4826 * float(np.median(np.abs(off[known]))), noise)
    limit = max(limit, 3.0 * sigma)
    return np.where(known & (np.abs(off) < limit), (1 - (off / limit) ** 2) ** 2, 0.0) / (RULES.alike * sigma**2)


def _measured(landmarks: Landmarks, view: _View, motion: CameraMotion, seen: int, every: int = 1) -> CameraMotion:
    """A motion with its size and how well it fits, by one of so many landmarks."""
    points = landmarks.points[::every]
    local, column, row, inside = view.project(motion, points)
    rows, columns = np.rint(row[inside]).astype(int), np.rint(column[inside]).astype(int)
    reading = view.reading(rows, columns) / motion.scale
    shown = (reading > 0) & ~view.hidden[rows, columns]
    off, tolerance = (reading - local[inside, 2])[shown], 0.02 + 0.02 * local[inside, 2][shown]
    enough = len(off) >= RULES.fewest_points // every
    return CameraMotion(
        motion.offset,
        motion.scale,
        _displacement(points, view, motion),
        float(np.linalg.norm(motion.offset[:3, 3])),
        float(np.degrees(Rotation.from_matrix(motion.offset[:3, :3]).magnitude())),
        float((np.abs(off) < tolerance).mean()) if enough else 1.0,
        float((off > tolerance).mean()) if enough else 0.0,
        seen,
        float(np.median(np.abs(off))) if enough else 0.0,
    )


def _displacement(points: Floats, view: _View, motion: CameraMotion) -> float:
    """Median distance by which a motion displaces points (M, 3)."""
    pose = view.pose @ np.linalg.inv(motion.offset) @ np.linalg.inv(view.pose)
    return float(np.median(np.linalg.norm(points @ (pose[:3, :3] - np.eye(3)).T + pose[:3, 3], axis=1)))


def _misfit(landmarks: Landmarks, view: _View, motion: CameraMotion) -> tuple[float, float]:
    """Mean squared residuals of depth and of brightness, in units of usual noise; outliers count up to a limit."""
    local, column, row, inside = view.project(motion, landmarks.points)
    at = np.stack([row, column])
    nearest = np.clip(np.rint(at).astype(int), 0, np.array(view.depth.shape)[:, None] - 1)
    reading = view.reading(nearest[0], nearest[1]) / motion.scale
    off = reading - local[:, 2]
    known = inside & (reading > 0) & ~view.hidden[nearest[0], nearest[1]] & (np.abs(off) < RULES.depth_m[1])
    if np.count_nonzero(known) < RULES.fewest_points:
        return 0.0, 0.0
    grey, _ = view.brightness(MARKS.quick_level, at[:, known])
    darker = grey - _brightness(landmarks.grey(MARKS.quick_level)[known], grey)
    usual = (off[known] / RULES.usual_m) ** 2, (darker / RULES.usual_grey) ** 2
    deep, bright = (float(np.minimum(each, RULES.most_unusual).mean()) for each in usual)
    return deep, bright


def _brightness(before: Floats, grey: Floats) -> Floats:
    """Brightness (M,) as it should be now, from that of the first view; lighting and exposure may have changed."""
    contrast, offset = np.polyfit(before, grey, 1) if np.ptp(before) > 20 else (0.0, 0.0)
    if not 0.5 < contrast < 2.0:
        contrast, offset = 1.0, float(np.median(grey - before))
    return np.asarray(contrast * before + offset)

"""Camera poses corrected by the table, which every camera sees and which is level and at z = 0.

A calibration that is off by a degree moves what a camera sees at one metre by 17 mm, differently for every camera. The
table shows two of the three angles and the height. What is left of the height after that may come from the camera's
position, or from the scale of its depth: a height that is wrong by more than calibrations leave is one of the scale.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from nsrecover.core import FloatArray, Observation
from nsrecover.perception.lifting import to_world


@dataclass(frozen=True)
class LevellingRules:
    """Which table points correct a pose, and how far.

    Attributes:
        near_m: maximum distance of table points from the table, for each iteration.
        fewest_points: minimum number of table points to correct a view.
        across_m: points that do not reach so far in every direction (standard deviation) do not show how the table is
            tilted.
        most_tilt_deg: a table that is tilted more is no table.
        least_scale_m: a height that is wrong by more than this comes from the scale of the depth.
        most_scale: largest change of the scale that is corrected.
        every: one of so many rows and columns is read.
    """

    near_m: tuple[float, ...] = (0.03, 0.02, 0.01)
    fewest_points: int = 300
    across_m: float = 0.15
    most_tilt_deg: float = 3.0
    least_scale_m: float = 0.008
    most_scale: float = 0.06
    every: int = 4


RULES = LevellingRules()


def levelled(observation: Observation) -> Observation:
    """The observation with poses, and scales of depth, for which the table is level and at z = 0 in every view.

    A view that does not show enough of the table stays as it is.
    """
    cameras, depth = list(observation.cameras), observation.depth_m
    for view, camera in enumerate(cameras):
        points = _beside_objects(observation, view)
        found = fitted_plane(points, np.zeros(2), RULES.near_m, RULES.fewest_points)
        if found is None:
            continue
        plane, near = found
        spread = np.linalg.eigvalsh(np.cov(points[near, :2].T))[0] ** 0.5
        normal = np.array([-plane[0], -plane[1], 1.0]) if spread > RULES.across_m else np.array([0.0, 0.0, 1.0])
        normal /= np.linalg.norm(normal)
        if np.degrees(np.arccos(normal[2])) > RULES.most_tilt_deg:
            continue
        turn = Rotation.align_vectors([[0.0, 0.0, 1.0]], [normal])[0].as_matrix()
        eye = camera.world_from_camera[:3, 3].astype(np.float64)
        height = float(np.median((points[near] - eye) @ turn[2] + eye[2]))
        pose = camera.world_from_camera.astype(np.float64)
        pose[:3, :3] = turn @ pose[:3, :3]
        scale = eye[2] / (eye[2] - height)
        if abs(height) > RULES.least_scale_m and abs(scale - 1) < RULES.most_scale:
            depth = depth.copy() if depth is observation.depth_m else depth
            depth[view] *= np.float32(scale)
        else:
            pose[2, 3] -= height
        cameras[view] = replace(camera, world_from_camera=pose.astype(np.float32))
    return replace(observation, cameras=tuple(cameras), depth_m=depth)


def fitted_plane(
    points: FloatArray, middle: npt.NDArray[np.floating], near_m: Sequence[float], fewest: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]] | None:
    """The plane near z = 0 on which most points lie.

    Args:
        points: (M, 3).
        middle: (2,) where the height of the plane counts.
        near_m: how far from the plane points may be, in turn.
        fewest: number of points that show it.

    Returns:
        Its slopes along x and y and its height (3,), and which points are near it (M,); None if there are too few.
    """
    terms = np.column_stack([points[:, :2] - middle, np.ones(len(points))]).astype(np.float64)
    plane, near = np.zeros(3), np.zeros(len(points), dtype=np.bool_)
    for distance in near_m:
        near = np.abs(points[:, 2] - terms @ plane) < distance
        if np.count_nonzero(near) < fewest:
            return None
        chosen = terms[near]
        plane = np.linalg.lstsq(chosen.T @ chosen, chosen.T @ points[near, 2], rcond=None)[0]
    return plane, near


def _beside_objects(observation: Observation, view: int) -> FloatArray:
    """Points (M, 3) of every fourth row and column of one view that show no object."""
    some = slice(None, None, RULES.every)
    free = (observation.instances[view][some, some] == 0) & (observation.depth_m[view][some, some] > 0)
    rows, columns = np.nonzero(free)
    return to_world(observation, view, RULES.every * rows, RULES.every * columns)

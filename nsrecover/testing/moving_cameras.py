"""Whether the poses of cameras are true: nothing is seen where a camera saw through before."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from nsrecover.core.observation import Observation
from nsrecover.perception.lifting import to_world
from nsrecover.testing.rules import Limits, Rule, RuleLog

Array = npt.NDArray[np.float64]
Pixels = npt.NDArray[np.intp]

_EVERY = 4
"""Every fourth row and column is looked at."""
_FREE_M = 0.06
"""A point this far in front of what a camera has seen behind it was not there."""
_ENOUGH = 300


def check_poses_follow(
    log: RuleLog, before: Observation, after: Observation, portable: Callable[[str], bool], limits: Limits
) -> None:
    """Compare the furniture in two observations: a camera whose pose is wrong sees it where there was nothing.

    Args:
        log: records the result.
        before: an earlier observation.
        after: the later one.
        portable: whether an object may have been moved; it is left out.
        limits: tolerances.
    """
    for view, camera in enumerate(after.cameras):
        # the worse direction counts: from one of them, what is displaced lies behind something
        counts = [
            _seen_through(one, a, two, b, portable)
            for other in range(len(before.cameras))
            for one, two, a, b in ((after, before, view, other), (before, after, other, view))
        ]
        shares = [through / common for through, common in counts if common >= _ENOUGH]
        if not shares:
            log.skip("two observations have too little in common", Rule.POSES_FOLLOW)
            continue
        worst = max(shares)
        log.check(
            Rule.POSES_FOLLOW, worst <= limits.displaced, "everything that does not move to be "
            "seen at one place, wherever the cameras are",
            f"{100 * worst:.0f} % of what {camera.name!r} sees where nothing was before",
            "give world_from_camera of the moment at which the image is taken, with the pose of the base in it",
        )  # fmt: skip


def _seen_through(
    one: Observation, view: int, two: Observation, other: int, portable: Callable[[str], bool]
) -> tuple[int, int]:
    """How many points of one view lie in front of what another view sees behind them, and how many it can judge."""
    rows, columns = np.indices(one.instances.shape[1:])[:, ::_EVERY, ::_EVERY].reshape(2, -1)
    # furniture if there is any: the background may show parts of the robot, which drives
    fixed = _mask(one, view, lambda name: not portable(name))
    fixed = fixed if any(not portable(name) for name in one.labels.values()) else ~_mask(one, view, portable)
    free = fixed[rows, columns] & (one.depth_m[view][rows, columns] > 0)
    points = to_world(one, view, rows[free], columns[free]).astype(np.float64)
    distance, reading, shown = _projected(points, two, other)
    known = (reading > 0) & ~_mask(two, other, portable)[shown[0], shown[1]] & (distance > 0)
    return int((known & (distance < reading - _FREE_M)).sum()), int(known.sum())


def _projected(points: Array, observation: Observation, view: int) -> tuple[Array, Array, tuple[Pixels, Pixels]]:
    """Distance of points (M, 3) along the axis of a camera, what it reads there (0 outside), and their pixels."""
    camera = observation.cameras[view]
    height, width = observation.instances.shape[1:]
    inverse = np.linalg.inv(np.asarray(camera.world_from_camera, np.float64))
    local = points @ inverse[:3, :3].T + inverse[:3, 3]
    z = local[:, 2]
    deep = np.maximum(z, 1e-6)
    k = np.asarray(camera.intrinsics, np.float64)
    column = np.floor(k[0, 0] * local[:, 0] / deep + k[0, 2])
    row = np.floor(k[1, 1] * local[:, 1] / deep + k[1, 2])
    inside = (z > 0.05) & (column >= 0) & (column < width) & (row >= 0) & (row < height)
    rows = np.where(inside, row, 0).astype(np.intp)
    columns = np.where(inside, column, 0).astype(np.intp)
    reading = np.where(inside, observation.depth_m[view][rows, columns], 0.0).astype(np.float64)
    return z, reading, (rows, columns)


def _mask(observation: Observation, view: int, chosen: Callable[[str], bool]) -> npt.NDArray[np.bool_]:
    """Pixels (H, W) of the chosen objects."""
    numbers = [number for number, name in observation.labels.items() if chosen(name)]
    return np.isin(observation.instances[view], numbers)

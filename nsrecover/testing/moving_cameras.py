"""Whether the poses of cameras are true: nothing is seen where a camera saw through before."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from nsrecover.core.observation import Observation
from nsrecover.perception.cameras.visibility import readings
from nsrecover.perception.lifting import to_world
from nsrecover.testing.rules import Rule, RuleLog, Tolerances

_EVERY = 4
"""Every fourth row and column is looked at."""
_FREE_M = 0.06
"""A point this far in front of what a camera has seen behind it was not there."""
_ENOUGH = 300


def check_poses_follow(
    log: RuleLog, before: Observation, after: Observation, portable: Callable[[str], bool], limits: Tolerances
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
    points = to_world(one, view, rows[free], columns[free])
    fixed_m = np.where(_mask(two, other, portable), 0.0, two.depth_m[other])
    depth_m = np.stack([fixed_m if number == other else each for number, each in enumerate(two.depth_m)])
    seen = readings(replace(two, depth_m=depth_m.astype(np.float32)), other, points)
    judged = seen.depth_m > 0
    return int((judged & (seen.expected_m < seen.depth_m - _FREE_M)).sum()), int(judged.sum())


def _mask(observation: Observation, view: int, chosen: Callable[[str], bool]) -> npt.NDArray[np.bool_]:
    """Pixels (H, W) of the chosen objects."""
    numbers = [number for number, name in observation.labels.items() if chosen(name)]
    return np.isin(observation.instances[view], numbers)

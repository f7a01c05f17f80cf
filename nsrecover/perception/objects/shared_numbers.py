"""One number for each object in views that number their masks independently, by depth: cameras that look the same way.

A pixel of one view, lifted and projected into another, falls on the mask of the same object there if both see it.
Nothing of looks is needed; opposed cameras, which see different sides, need `views.join_views`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from nsrecover.core import Observation
from nsrecover.perception.lifting import to_world

SAME_M = 0.03
"""A point that is this far from what another camera sees in its place is hidden from it."""

SHARE = 0.5
"""A mask is of the object on whose mask more than this share of its points fall that both views show."""


def with_shared_numbers(observation: Observation) -> Observation:
    """An observation in which every object has one number, and the name that any view gives it.

    Masks with different names are never joined; a mask that no earlier view shows keeps its number.
    """
    if observation.shared_ids:
        return observation
    instances, labels = observation.instances.copy(), dict(observation.labels)
    for view in range(1, len(observation.cameras)):
        rows, columns = np.nonzero((observation.instances[view] > 0) & (observation.depth_m[view] > 0))
        own = observation.instances[view][rows, columns]
        points = to_world(observation, view, rows, columns)
        other = np.zeros(len(own), np.int32)
        both = np.zeros(len(own), np.bool_)
        for earlier in range(view):
            here, seen = _shown(observation, instances[earlier], earlier, points)
            other, both = np.where(both, other, here), both | seen
        for number in np.unique(own).tolist():
            found, votes = np.unique(other[both & (own == number)], return_counts=True)
            if not len(found):
                continue
            best = int(found[votes.argmax()])
            named = {labels[each] for each in (best, number) if each in labels}
            if best and votes.max() > SHARE * votes.sum() and len(named) < 2:
                instances[view][observation.instances[view] == number] = best
                labels |= dict.fromkeys([best] if named else [], next(iter(named), ""))
                if number in labels:
                    del labels[number]
    return replace(observation, instances=instances, labels=labels, shared_ids=True)


def _shown(
    observation: Observation, instances: npt.NDArray[np.int32], view: int, points: npt.NDArray[np.float32]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
    """The number (M,) that one view shows where points (M, 3) are, and whether it sees the points there."""
    camera, depth = observation.cameras[view], observation.depth_m[view]
    pose, k = camera.world_from_camera, camera.intrinsics
    x, y, z = ((points - pose[:3, 3]) @ pose[:3, :3]).T
    ahead = np.maximum(z, 1e-6)
    columns, rows = (np.floor(k[i, i] * each / ahead + k[i, 2]).astype(int) for i, each in ((0, x), (1, y)))
    inside = (z > 0) & (rows >= 0) & (rows < depth.shape[0]) & (columns >= 0) & (columns < depth.shape[1])
    rows, columns = np.where(inside, rows, 0), np.where(inside, columns, 0)
    measured = depth[rows, columns]
    return instances[rows, columns], inside & (measured > 0) & (np.abs(measured - z) < SAME_M)

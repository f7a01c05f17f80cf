"""Which camera took which image, if the images arrive in another order than the cameras.

Every image is tried with every camera: the table has to lie at z = 0, the robot at the origin, and the objects where
the image that shows most of them has them. The order that fits best is an assignment (Kuhn and Munkres), not a search
through all orders.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from nsrecover.core import Observation

Costs = npt.NDArray[np.float64]

STRIDE_OF = 80
"""Images are read at about so many columns."""

FLAT_M = 0.03
"""Readings this close to z = 0 show the table."""

APART_M = 0.3
"""Objects that are farther apart count as if they were this far apart."""

ROBOT_M = 0.15
"""Radius of the robot's lowest part around the origin."""

ROBOT_POINTS = 20
"""So many points on the robot show it for sure."""

FLAT_WEIGHT, OBJECT_WEIGHT, ROBOT_WEIGHT, OWN_WEIGHT = 4.0, 4.0, 1.0, 1e-3
"""Costs of a view without a table, with all objects elsewhere, without the robot, and of any exchange."""

TRIED = 3
"""Number of orders that are handed out, the best ones first."""


def likely_orders(observation: Observation) -> Iterator[tuple[int, ...]]:
    """The most likely orders: `order[v]` is the camera that took image v; never the given one."""
    views = len(observation.cameras)
    if views < 2:
        return
    unary, places, kinds = _fit(observation)
    anchor = int(np.argmax([len(numbers) for numbers in kinds]))
    found = list[tuple[float, tuple[int, ...]]]()
    for camera in range(views):
        costs = unary.copy()
        costs += OBJECT_WEIGHT * _apart(places, kinds, anchor, camera, observation.shared_ids)
        others = [view for view in range(views) if view != anchor]
        free = [each for each in range(views) if each != camera]
        rows, columns = linear_sum_assignment(costs[np.ix_(others, free)])
        order = dict(zip([others[row] for row in rows], [free[column] for column in columns], strict=True))
        order[anchor] = camera
        total = float(sum(costs[view, each] for view, each in order.items()))
        found.append((total, tuple(order[view] for view in range(views))))
    given = tuple(range(views))
    yield from list(dict.fromkeys(order for _, order in sorted(found) if order != given))[:TRIED]


def _fit(observation: Observation) -> tuple[Costs, list[Costs], list[npt.NDArray[np.int32]]]:
    """How badly each image fits each camera by the table and the robot (V, V), and where it shows the objects.

    Returns:
        The costs; for each image the middles of its objects if each camera took it (V, O, 3), and their numbers (O,).
    """
    views = len(observation.cameras)
    poses = np.array([camera.world_from_camera for camera in observation.cameras], dtype=np.float64)
    inverse = np.linalg.inv(np.array([camera.intrinsics for camera in observation.cameras], dtype=np.float64))
    costs, places, kinds = OWN_WEIGHT * (1 - np.eye(views)), [], []
    stride = max(observation.depth_m.shape[2] // STRIDE_OF, 1)
    for view in range(views):
        depth = observation.depth_m[view, ::stride, ::stride]
        shown = observation.instances[view, ::stride, ::stride]
        rows, columns = np.nonzero(depth > 0)
        z, numbers = depth[rows, columns], shown[rows, columns]
        pixels = np.stack([z * (stride * columns + 0.5), z * (stride * rows + 0.5), z])
        beside = pixels[:, numbers == 0]
        points = poses[:, :3, :3] @ (inverse @ beside) + poses[:, :3, 3:]
        flat = (np.abs(points[:, 2]) < FLAT_M).mean(axis=1) if beside.size else np.zeros(views)
        near = (np.hypot(points[:, 0], points[:, 1]) < ROBOT_M) & (points[:, 2] > ROBOT_M / 3) & (points[:, 2] < 2.0)
        robot = np.minimum(near.sum(axis=1) / ROBOT_POINTS, 1.0)
        costs[view] += FLAT_WEIGHT * (1 - flat) + ROBOT_WEIGHT * (1 - robot)
        kinds.append(np.unique(numbers[numbers > 0]))
        middles = np.array([pixels[:, numbers == each].mean(axis=1) for each in kinds[-1]]).reshape(-1, 3).T
        places.append(np.moveaxis(poses[:, :3, :3] @ (inverse @ middles) + poses[:, :3, 3:], 1, 2))
    return costs, places, kinds


def _apart(
    places: list[Costs], kinds: list[npt.NDArray[np.int32]], anchor: int, camera: int, shared_ids: bool
) -> Costs:
    """Mean distance (V, V), over `APART_M`, of the objects of each image with each camera from those of one image."""
    there, names = places[anchor][camera], kinds[anchor]
    costs = np.zeros((len(places), len(places)))
    for view, (own, numbers) in enumerate(zip(places, kinds, strict=True)):
        if not len(numbers) or not len(names) or view == anchor:
            continue
        apart = np.linalg.norm(own[:, :, None] - there, axis=-1)
        if shared_ids:
            same = numbers[:, None] == names
            if not same.any():
                continue
            apart = np.where(same, apart, np.inf)[:, same.any(axis=1)]
        costs[view] = np.minimum(apart.min(axis=2), APART_M).mean(axis=1) / APART_M
    return costs

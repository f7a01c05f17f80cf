"""Which camera took which image, if the images arrive in another order than the cameras.

Every image is tried with every camera: the table has to lie at z = 0, the robot at the origin, and the objects where
the image that shows most of them has them. The order that fits best is an assignment (Kuhn and Munkres), not a search
through all orders.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from nsrecover.core import Observation

Costs = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ExchangeRules:
    """How images are matched with cameras.

    Attributes:
        stride_of: images are read at about so many columns.
        flat_m: readings this close to z = 0 show the table.
        apart_m: objects that are farther apart count as if they were this far apart.
        robot_m: radius of the robot's lowest part around the origin.
        robot_points: so many points on the robot show it for sure.
        flat_weight: cost of a view without a table.
        object_weight: cost of a view with all objects elsewhere.
        robot_weight: cost of a view without the robot.
        own_weight: cost of any exchange.
        tried: number of orders that are handed out, the best ones first.
    """

    stride_of: int = 80
    flat_m: float = 0.03
    apart_m: float = 0.3
    robot_m: float = 0.15
    robot_points: int = 20
    flat_weight: float = 4.0
    object_weight: float = 4.0
    robot_weight: float = 1.0
    own_weight: float = 1e-3
    tried: int = 3


RULES = ExchangeRules()


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
        costs += RULES.object_weight * _apart(places, kinds, anchor, camera, observation.shared_ids)
        others = [view for view in range(views) if view != anchor]
        free = [each for each in range(views) if each != camera]
        rows, columns = linear_sum_assignment(costs[np.ix_(others, free)])
        order = dict(zip([others[row] for row in rows], [free[column] for column in columns], strict=True))
        order[anchor] = camera
        total = float(sum(costs[view, each] for view, each in order.items()))
        found.append((total, tuple(order[view] for view in range(views))))
    given = tuple(range(views))
    yield from list(dict.fromkeys(order for _, order in sorted(found) if order != given))[: RULES.tried]


def _fit(observation: Observation) -> tuple[Costs, list[Costs], list[npt.NDArray[np.int32]]]:
    """How badly each image fits each camera by the table and the robot (V, V), and where it shows the objects.

    Returns:
        The costs; for each image the middles of its objects if each camera took it (V, O, 3), and their numbers (O,).
    """
    views = len(observation.cameras)
    poses = np.array([camera.world_from_camera for camera in observation.cameras], dtype=np.float64)
    inverse = np.linalg.inv(np.array([camera.intrinsics for camera in observation.cameras], dtype=np.float64))
    costs, places, kinds = RULES.own_weight * (1 - np.eye(views)), [], []
    stride = max(observation.depth_m.shape[2] // RULES.stride_of, 1)
    for view in range(views):
        depth = observation.depth_m[view, ::stride, ::stride]
        shown = observation.instances[view, ::stride, ::stride]
        rows, columns = np.nonzero(depth > 0)
        z, numbers = depth[rows, columns], shown[rows, columns]
        pixels = np.stack([z * (stride * columns + 0.5), z * (stride * rows + 0.5), z])
        beside = pixels[:, numbers == 0]
        points = poses[:, :3, :3] @ (inverse @ beside) + poses[:, :3, 3:]
        flat = (np.abs(points[:, 2]) < RULES.flat_m).mean(axis=1) if beside.size else np.zeros(views)
        near = (
            (np.hypot(points[:, 0], points[:, 1]) < RULES.robot_m)
            & (points[:, 2] > RULES.robot_m / 3)
            & (points[:, 2] < 2.0)
        )
        robot = np.minimum(near.sum(axis=1) / RULES.robot_points, 1.0)
        costs[view] += RULES.flat_weight * (1 - flat) + RULES.robot_weight * (1 - robot)
        kinds.append(np.unique(numbers[numbers > 0]))
        middles = np.array([pixels[:, numbers == each].mean(axis=1) for each in kinds[-1]]).reshape(-1, 3).T
        places.append(np.moveaxis(poses[:, :3, :3] @ (inverse @ middles) + poses[:, :3, 3:], 1, 2))
    return costs, places, kinds


def _apart(
    places: list[Costs], kinds: list[npt.NDArray[np.int32]], anchor: int, camera: int, shared_ids: bool
) -> Costs:
    """Mean distance (V, V), over `apart_m`, of the objects of each image with each camera from those of one image."""
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
        costs[view] = np.minimum(apart.min(axis=2), RULES.apart_m).mean(axis=1) / RULES.apart_m
    return costs

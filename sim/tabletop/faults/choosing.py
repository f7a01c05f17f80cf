"""Candidates for samplers of faults: objects that can be moved, and places that are free and stay free."""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from nsrecover.core.actions import Action
from nsrecover.domains.tabletop.relations import TABLE, is_clear, support_name
from sim.common.rotations import axis_aligned, matrix_of, quaternion_of
from sim.tabletop.faults.base import Moment
from sim.tabletop.placing import REACH_M, boxes, extents, place_for, true_graph
from sim.tabletop.poses import PoseEstimates
from sim.tabletop.scenes import TableSpec

Array = npt.NDArray[np.float64]

ROOM_M = 0.04
"""Minimum gap between a randomly placed object and all others, so that a finger passes between them."""
NEAREST_M = 0.32
"""Nearest place to the robot base."""
EDGE_M = 0.02
"""Minimum distance of a place from the edge of the workspace and from the end of the arm's reach."""
TRIES = 300


def clear_objects(moment: Moment) -> list[str]:
    """Objects with nothing on them after the action that no other fault of this step acts on, in scene order."""
    graph = true_graph(moment.after)
    return [name for i, name in enumerate(graph.names) if is_clear(graph, i) and name not in moment.taken]


def bystanders(moment: Moment) -> list[str]:
    """The `clear_objects` that stand on the table and that the action did not move."""
    free = clear_objects(moment)
    return [name for name in free if support_of(moment, name) == TABLE and name != moment.action.arguments[0]]


def support_of(moment: Moment, name: str) -> str:
    """Support of an object after the action: another object, or the table."""
    graph = true_graph(moment.after)
    return support_name(graph, graph.index(name))


def standing_sides(estimates: PoseEstimates, name: str) -> Array:
    """Sides (3,) of an object's box when its axes are parallel to the world's."""
    row = estimates.index(name)
    return extents(axis_aligned(matrix_of(estimates.orientations[row])), estimates.sizes[row])


def remaining_places(moment: Moment) -> list[tuple[Action, Array]]:
    """The actions after this one, and the boxes (6,) at which they put their objects if nothing goes wrong."""
    estimates, places = moment.after, []
    for action in moment.plan.actions[moment.step + 1 :]:
        place = place_for(action, estimates) if all(name in estimates for name in action.arguments) else None
        if place is None:
            break
        name, (centre, rotation) = action.arguments[0], place
        estimates = estimates.placed(name, centre, quaternion_of(rotation))
        places.append((action, boxes(estimates)[estimates.index(name)]))
    return places


def room_at(place: Array, sides: Array, others: Array) -> float:
    """Horizontal gap between a box (centre and sides, at least (2,)) and the nearest of others (M, 6)."""
    if not len(others):
        return math.inf
    gap = np.abs(others[:, :2] - place[:2]) - (others[:, 3:5] + sides[:2]) / 2
    return float(gap.max(axis=1).min())


def in_workspace(place: Array, table: TableSpec) -> bool:
    """Whether the arm can place an object here, (2,) or (3,), on a table."""
    spans = (table.x_m, table.y_m)
    inside = all(low + EDGE_M <= at <= high - EDGE_M for at, (low, high) in zip(place[:2], spans, strict=True))
    return inside and NEAREST_M <= math.hypot(*place[:2]) < REACH_M - EDGE_M


def obstacles(moment: Moment, name: str, ignored: Collection[str] = ()) -> Array:
    """Boxes (M, 6) that a place on the table must not touch: other objects, and the future places of the plan.

    Args:
        moment: the moment.
        name: the object that needs a place.
        ignored: other objects to ignore.
    """
    here = boxes(moment.after)
    stay = [i for i, other in enumerate(moment.after.names) if other != name and other not in ignored]
    return np.concatenate([here[stay], *(box[None] for _, box in remaining_places(moment))])


def random_place(
    moment: Moment, name: str, rng: np.random.Generator, distance_m: tuple[float, float] = (0.06, 1.0)
) -> Array | None:
    """A random place on the table for an object, free now and not needed by the rest of the plan.

    Args:
        moment: the moment; the place is for the time after its action.
        name: the object.
        rng: the source of randomness.
        distance_m: least and largest distance from where the object is.

    Returns:
        Its centre there, (3,), rounded to 0.1 mm; None if none was found.
    """
    sides = standing_sides(moment.after, name)
    here = moment.after.positions[moment.after.index(name)]
    others, table = obstacles(moment, name), moment.after.table
    for _ in range(TRIES):
        place = np.array([rng.uniform(*table.x_m), rng.uniform(*table.y_m)])
        near_enough = distance_m[0] <= float(np.linalg.norm(place - here[:2])) <= distance_m[1]
        if near_enough and in_workspace(place, table) and room_at(place, sides, others) > ROOM_M:
            return np.round([*place, sides[2] / 2], 4)
    return None

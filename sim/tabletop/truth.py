"""The simulator's ground truth, only for judging outcomes; the nsrecover library never gets it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pybullet

from nsrecover.errors import UnknownObject, require_known
from sim.common.rotations import matrix_of
from sim.common.rounding import rounded

Array = npt.NDArray[np.float64]

TOLERANCE_M = 0.02
"""An object farther than this from its expected place deviates."""
ROOM_M = 0.02
"""Where room is scarce, an object that takes this much more of it along an axis than expected deviates."""
CONTACT_M = 0.003
"""Surfaces closer than this are in contact."""
TABLE = "table"
"""Name of the table as a support."""


@dataclass(frozen=True, eq=False)
class Truth:
    """True poses and supports of all objects.

    Attributes:
        names: N objects, in scene order.
        positions: (N, 3) centres, metres.
        orientations: (N, 4) quaternions xyzw.
        present: (N,) whether each object is still on the table.
        supports: name -> its support: another name, `table`, or None (in the air or gone).
        room: (N, 3) sides of the axis-aligned boxes around the objects, metres; None where room does not count, see
            `sim.tabletop.scenes.SceneSpec`.
    """

    names: tuple[str, ...]
    positions: npt.NDArray[np.float64]
    orientations: npt.NDArray[np.float64]
    present: npt.NDArray[np.bool_]
    supports: Mapping[str, str | None]
    room: npt.NDArray[np.float64] | None = None

    def index(self, name: str) -> int:
        """Row of an object.

        Raises:
            UnknownObject: there is none of that name.
        """
        require_known(name, self.names, "an object of the scene", UnknownObject)
        return self.names.index(name)

    def position(self, name: str) -> npt.NDArray[np.float64]:
        """Centre of an object, (3,), metres."""
        return np.asarray(self.positions[self.index(name)])


def deviations(truth: Truth, expected: Truth, tolerance_m: float = TOLERANCE_M) -> dict[str, str]:
    """Objects that are not as in the expected state.

    Where room counts, a brick that lies crosswise, or upright where it should lie, deviates in its place: it takes room
    that its neighbours and the fingers need. Otherwise orientation does not count.

    Args:
        truth: the state to judge.
        expected: the expected state of the same objects.
        tolerance_m: distance up to which an object is in its place.

    Returns:
        name -> the difference, in words; empty if the states agree.
    """
    reasons: dict[str, str] = {}
    for i, name in enumerate(truth.names):
        j = expected.index(name)
        if bool(truth.present[i]) != bool(expected.present[j]):
            reasons[name] = "gone from the table" if expected.present[j] else "on the table, but should be gone"
            continue
        if not truth.present[i]:
            continue
        distance = float(np.linalg.norm(truth.positions[i] - expected.positions[j]))
        if truth.supports[name] != expected.supports[name]:
            reasons[name] = f"rests on the {truth.supports[name]} instead of the {expected.supports[name]}"
        elif distance > tolerance_m:
            reasons[name] = f"{distance * 1000:.0f} mm off"
        elif (excess := _excess_m(truth, i, expected, j)) > ROOM_M:
            reasons[name] = f"turned: {excess * 1000:.0f} mm wider or higher"
    return reasons


def _excess_m(truth: Truth, i: int, expected: Truth, j: int) -> float:
    """How much more room object i takes along an axis than object j of the expected state, metres."""
    if truth.room is None or expected.room is None:
        return 0.0
    return float((truth.room[i] - expected.room[j]).max())


def read_truth(
    client: int,
    bodies: Mapping[str, int],
    poses: Sequence[tuple[Array, Array]],
    table: int,
    gone_below_m: float,
    sizes: Array | None = None,
) -> Truth:
    """The true state of a physics client.

    Args:
        client: physics client.
        bodies: object name -> body number.
        poses: centre (3,), metres, and orientation (4,), a quaternion xyzw, of each.
        table: body number of the table.
        gone_below_m: objects with a lower centre are no longer on the table.
        sizes: (N, 3) sides of the objects in their own frames, metres; None if room does not count.
    """
    positions = np.array([position for position, _ in poses]).reshape(-1, 3)
    present = positions[:, 2] > gone_below_m
    surfaces = {body: name for name, body in bodies.items()} | {table: TABLE}
    supports = {
        name: _support(client, body, positions[i], surfaces) if present[i] else None
        for i, (name, body) in enumerate(bodies.items())
    }
    orientations = np.array([orientation for _, orientation in poses]).reshape(-1, 4)
    room = None if sizes is None else room_of(orientations, sizes)
    return Truth(tuple(bodies), positions, orientations, present, supports, room)


def room_of(orientations: npt.NDArray[np.float64], sizes: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Sides (N, 3) of the axis-aligned boxes around objects of some orientations (N, 4) and sizes (N, 3)."""
    return rounded([np.abs(matrix_of(turn)) @ size for turn, size in zip(orientations, sizes, strict=True)])


def _support(client: int, body: int, centre: npt.NDArray[np.float64], surfaces: Mapping[int, str]) -> str | None:
    """Support of a body: the surface below it whose contacts are horizontally nearest to its centre."""
    best, nearest = None, np.inf
    for surface, name in surfaces.items():
        if surface == body:
            continue
        contacts = pybullet.getClosestPoints(body, surface, CONTACT_M, physicsClientId=client)
        # entry 7 is the direction from the surface to the body, entry 5 the point on the body
        points = [contact[5] for contact in contacts if contact[7][2] > 0.5]
        if points:
            middle = np.mean([point[:2] for point in points], axis=0)
            distance = float(rounded(np.linalg.norm(middle - centre[:2])))
            if distance < nearest:
                best, nearest = name, distance
    return best

"""The simulator's ground truth, only for judging outcomes; the nsrecover library never gets it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pybullet

from nsrecover.errors import UnknownObject, did_you_mean

Array = npt.NDArray[np.float64]

TOLERANCE_M = 0.02
"""An object farther than this from its expected place deviates."""
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
    """

    names: tuple[str, ...]
    positions: npt.NDArray[np.float64]
    orientations: npt.NDArray[np.float64]
    present: npt.NDArray[np.bool_]
    supports: Mapping[str, str | None]

    def index(self, name: str) -> int:
        """Row of an object.

        Raises:
            UnknownObject: there is none of that name.
        """
        if name not in self.names:
            raise UnknownObject(f"expected an object of the scene, found {name!r}.{did_you_mean(name, self.names)}")
        return self.names.index(name)

    def position(self, name: str) -> npt.NDArray[np.float64]:
        """Centre of an object, (3,), metres."""
        return np.asarray(self.positions[self.index(name)])


def deviations(truth: Truth, expected: Truth, tolerance_m: float = TOLERANCE_M) -> dict[str, str]:
    """Objects that are not as in the expected state. Orientation does not count.

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
    return reasons


def read_truth(
    client: int, bodies: Mapping[str, int], poses: Sequence[tuple[Array, Array]], table: int, gone_below_m: float
) -> Truth:
    """The true state of a physics client.

    Args:
        client: physics client.
        bodies: object name -> body number.
        poses: centre (3,), metres, and orientation (4,), a quaternion xyzw, of each.
        table: body number of the table.
        gone_below_m: objects with a lower centre are no longer on the table.
    """
    positions = np.array([position for position, _ in poses]).reshape(-1, 3)
    present = positions[:, 2] > gone_below_m
    surfaces = {body: name for name, body in bodies.items()} | {table: TABLE}
    supports = {
        name: _support(client, body, positions[i], surfaces) if present[i] else None
        for i, (name, body) in enumerate(bodies.items())
    }
    orientations = np.array([orientation for _, orientation in poses]).reshape(-1, 4)
    return Truth(tuple(bodies), positions, orientations, present, supports)


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
            distance = float(np.linalg.norm(middle - centre[:2]))
            if distance < nearest:
                best, nearest = name, distance
    return best

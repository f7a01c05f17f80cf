"""Poses of objects as the robot cell's pose estimator reports them to the controller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from nsrecover.errors import UnknownObject, require_known
from sim.common.rotations import matrix_of, quaternion_of, rotation_about
from sim.tabletop.imprecision import Imprecision
from sim.tabletop.scenes import TABLE, SceneSpec, TableSpec
from sim.tabletop.shapes import outline_of
from sim.tabletop.truth import Truth

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PoseEstimates:
    """Estimated poses of the objects on the table.

    They stand for the pose estimator of a robot cell: exact unless a fault distorts them. The skills use nothing else,
    so a distorted estimate misleads them. The nsrecover library never gets them.

    Attributes:
        names: N objects on the table.
        positions: (N, 3) centres of the objects' own boxes, metres.
        orientations: (N, 4) quaternions xyzw.
        sizes: (N, 3) sides in the object's own frame, metres.
        table: the table.
        outlines: name -> points (P, 3) of the convex hull in the object's own frame, metres; boxes have none.
        keep_yaw: whether the arm leaves objects at their yaw when it places them; otherwise it squares them up.
    """

    names: tuple[str, ...]
    positions: Array
    orientations: Array
    sizes: Array
    table: TableSpec = TABLE
    outlines: Mapping[str, Array] = field(default_factory=dict)
    keep_yaw: bool = False

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def index(self, name: str) -> int:
        """Row of an object.

        Raises:
            UnknownObject: it is not among the estimates.
        """
        require_known(name, self.names, "an object on the table", UnknownObject)
        return self.names.index(name)

    def shifted(self, name: str, offset_m: Sequence[float] | Array) -> PoseEstimates:
        """A copy with the estimate of one object shifted by `offset_m`, (3,)."""
        row = self.index(name)
        return self.placed(name, self.positions[row] + np.asarray(offset_m, dtype=np.float64), self.orientations[row])

    def placed(self, name: str, position: Array, orientation: Array) -> PoseEstimates:
        """A copy with another position (3,) and orientation (4,), a quaternion xyzw, of one object."""
        positions, orientations = self.positions.copy(), self.orientations.copy()
        positions[self.index(name)], orientations[self.index(name)] = position, orientation
        return replace(self, positions=positions, orientations=orientations)

    def measured(self, imprecision: Imprecision, rng: np.random.Generator) -> PoseEstimates:
        """What a controller measures in place of these poses; `rng` draws the errors."""
        heights, noise = np.maximum(self.positions[:, 2], 0.0), rng.normal(size=(len(self.names), 3))
        positions, orientations = self.positions.copy(), self.orientations.copy()
        positions[:, :2] += (imprecision.place_m + imprecision.place_per_m * heights)[:, None] * noise[:, :2]
        for row, yaw in enumerate(imprecision.yaw_rad * noise[:, 2]):
            orientations[row] = quaternion_of(rotation_about((0.0, 0.0, 1.0), yaw) @ matrix_of(orientations[row]))
        return replace(self, positions=positions, orientations=orientations)

    def without(self, name: str) -> PoseEstimates:
        """A copy without one object, which the arm then neither avoids nor can take."""
        keep = [i for i in range(len(self.names)) if i != self.index(name)]
        return PoseEstimates(
            tuple(self.names[i] for i in keep),
            self.positions[keep],
            self.orientations[keep],
            self.sizes[keep],
            self.table,
            self.outlines,
            self.keep_yaw,
        )


def outlines_of(scene: SceneSpec) -> dict[str, Array]:
    """Name -> points (P, 3) of the convex hull of every object that is no box, in its own frame, metres."""
    every = {item.name: outline_of(item) for item in scene.objects}
    return {name: outline.points for name, outline in every.items() if outline is not None}


def poses_of(truth: Truth, scene: SceneSpec) -> PoseEstimates:
    """Exact estimates from a true state of a scene, without objects that are gone."""
    there = truth.present
    names = tuple(name for name, present in zip(truth.names, there, strict=True) if present)
    sizes = np.array([scene[name].size for name in names]).reshape(-1, 3)
    return PoseEstimates(
        names,
        truth.positions[there],
        truth.orientations[there],
        sizes,
        scene.table,
        outlines_of(scene),
        scene.room_counts,
    )

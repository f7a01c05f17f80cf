"""Where objects are, as the arm's own pose estimator reports it to the controller."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from nsrecover.errors import UnknownObject, did_you_mean
from sim.tabletop.scenes import TABLE, SceneSpec, TableSpec
from sim.tabletop.truth import Truth

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PoseEstimates:
    """What the arm believes about the objects on the table.

    It stands for the pose estimator of a robot cell: right to the millimetre unless a fault distorts it. The skills
    use nothing else, so that a distorted estimate misleads them; the nsrecover library never sees it.

    Attributes:
        names: N objects that are on the table.
        positions: (N, 3) centres, metres.
        orientations: (N, 4) quaternions xyzw.
        sizes: (N, 3) sides in the object's own frame, metres.
        table: what they are on.
    """

    names: tuple[str, ...]
    positions: Array
    orientations: Array
    sizes: Array
    table: TableSpec = TABLE

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def index(self, name: str) -> int:
        """Row of an object.

        Raises:
            UnknownObject: it is not among the estimates.
        """
        if name not in self.names:
            raise UnknownObject(f"expected an object on the table, found {name!r}.{did_you_mean(name, self.names)}")
        return self.names.index(name)

    def shifted(self, name: str, offset_m: Sequence[float] | Array) -> PoseEstimates:
        """A copy in which one object is believed to be elsewhere by `offset_m`, (3,)."""
        positions = self.positions.copy()
        positions[self.index(name)] += np.asarray(offset_m, dtype=np.float64)
        return replace(self, positions=positions)

    def without(self, name: str) -> PoseEstimates:
        """A copy in which the arm does not know of one object (so that it does not avoid it, and cannot take it)."""
        keep = [i for i in range(len(self.names)) if i != self.index(name)]
        return PoseEstimates(
            tuple(self.names[i] for i in keep),
            self.positions[keep],
            self.orientations[keep],
            self.sizes[keep],
            self.table,
        )


def poses_of(truth: Truth, scene: SceneSpec) -> PoseEstimates:
    """A true state of a scene with the objects' sizes; objects that are gone are left out."""
    there = truth.present
    names = tuple(name for name, present in zip(truth.names, there, strict=True) if present)
    sizes = np.array([scene[name].size for name in names]).reshape(-1, 3)
    return PoseEstimates(names, truth.positions[there], truth.orientations[there], sizes, scene.table)

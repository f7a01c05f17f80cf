"""Models without learned parts, for boxes without images: places are compared by geometry alone.

They do not need torch. Where an action leads comes from its operator (`PlacingOperator`).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from nsrecover.core.entrance import check_table, number_row
from nsrecover.core.scene import FloatArray
from nsrecover.errors import InvalidCheckpoint, InvalidConfiguration
from nsrecover.models.conformal import Calibration
from nsrecover.util.atomic_write import atomic_write_bytes
from nsrecover.util.untrusted_json import JsonObject, read_json

KIND = "geometric"
"""Value of the field `kind` in the configuration of a checkpoint without weights."""

CONFIG = "config.json"
MOST_TOLERANCE_M = 0.5


@dataclass(frozen=True)
class GeometricModels:
    """Stands in for the learned parts: P(as expected) falls with the distance between two box centres.

    P = 2^-(d / tolerance)^2: the likelihood of a displacement d under normal noise, relative to no displacement; 0.5 at
    the tolerance. Appearance and size have no influence: objects that changed places are distinguished by name only.
    `same_place` gives P = 0 to a box turned onto another side, at any distance.

    Attributes:
        tolerance_m: displacement at which an object is as likely as not to be out of place; about 2.4 times the error,
            on each axis, of placing and measuring together.
        threshold: probability under which an object counts as wrong; `System.calibrated` finds it from episodes that
            went well.
        workspace: x_min, y_min, x_max, y_max of the table that things are put down on, metres.
        reach_m: nearest and farthest distance from the robot's base at which it can grasp from the table.
        room_m: how much wider or higher than expected an object may be, see `RecoveryModels.room_m`.
    """

    tolerance_m: float = 0.02
    threshold: float = 0.5
    workspace: tuple[float, float, float, float] = (0.30, -0.35, 0.75, 0.35)
    reach_m: tuple[float, float] = (0.28, 0.81)
    room_m: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.tolerance_m, int | float) or not 0 < self.tolerance_m <= MOST_TOLERANCE_M:
            raise InvalidConfiguration(
                f"expected a tolerance_m above 0 and at most {MOST_TOLERANCE_M} metres, found {self.tolerance_m!r}; "
                "divide millimetres by 1000"
            )
        if not 0 < self.threshold <= 1:
            raise InvalidConfiguration(f"expected a threshold above 0 and at most 1, found {self.threshold}")
        check_table(self.workspace, self.room_m)
        reach = number_row(self.reach_m, 2)
        if reach is None or not 0 <= reach[0] < reach[1]:
            raise InvalidConfiguration(f"expected reach_m as (nearest, farthest) in metres, found {self.reach_m!r}")

    @property
    def feature_size(self) -> None:
        """None: appearance is not used."""
        return

    @property
    def learned_size(self) -> None:
        """None: appearance is not used."""
        return

    def with_threshold(self, threshold: float) -> GeometricModels:
        """The same with another decision threshold."""
        return replace(self, threshold=threshold)

    def with_tolerance(self, tolerance_m: float) -> GeometricModels:
        """The same with another tolerance."""
        return replace(self, tolerance_m=tolerance_m)

    def with_table(self, workspace: tuple[float, float, float, float], room_m: float | None = None) -> GeometricModels:
        """The same for another table: its workspace (x_min, y_min, x_max, y_max), and `room_m`."""
        return replace(self, workspace=workspace, room_m=room_m)

    def learned(self, visual: npt.ArrayLike) -> FloatArray:
        """The features as they are."""
        return np.asarray(visual, dtype=np.float32)

    def same(
        self, visual_a: npt.ArrayLike, boxes_a: npt.ArrayLike, visual_b: npt.ArrayLike, boxes_b: npt.ArrayLike
    ) -> FloatArray:
        """P(in the same place) for M pairs of boxes (M, 6): (M,); appearance is ignored."""
        offset = np.asarray(boxes_a, dtype=np.float64)[:, :3] - np.asarray(boxes_b, dtype=np.float64)[:, :3]
        return np.asarray(np.exp2(-np.square(offset / self.tolerance_m).sum(axis=1)), dtype=np.float32)


def save_geometric(models: GeometricModels, calibration: Calibration | None, folder: str | Path) -> Path:
    """Write a checkpoint without weights: the settings, the threshold and what it was set on.

    Returns:
        The folder.
    """
    own = None if calibration is None else asdict(calibration)
    document = {"kind": KIND, "format": 1, "models": asdict(models), "calibration": own}
    path = Path(folder)
    atomic_write_bytes(path / CONFIG, json.dumps(document, indent=2).encode() + b"\n")
    return path


def load_geometric(folder: str | Path) -> tuple[GeometricModels, Calibration | None] | None:
    """Read a checkpoint without weights; None if the folder holds none of these.

    Raises:
        InvalidCheckpoint: it is damaged.
    """
    path = Path(folder) / CONFIG
    try:
        document = read_json(path)
    except (OSError, ValueError):
        return None
    if not isinstance(document, dict) or document.get("kind") != KIND:
        return None
    try:
        fields: JsonObject = {
            name: tuple(value) if isinstance(value, list) else value for name, value in document["models"].items()
        }
        own = document["calibration"]
        calibration = None if own is None else Calibration(tuple(own["scores"]), int(own["steps"]))
        return GeometricModels(**fields), calibration
    except (KeyError, TypeError, ValueError, InvalidConfiguration) as problem:
        raise InvalidCheckpoint(
            f"expected the settings of a calibration in {path}, found: {problem}; calibrate again"
        ) from problem

"""Problems of cameras and segmenters, and advice for each."""

from __future__ import annotations

from dataclasses import dataclass

from nsrecover.util.python310 import StrEnum


class SensorProblem(StrEnum):
    """Sensor problems; stable codes."""

    NO_DEPTH = "no_depth"
    NO_MASKS = "no_masks"
    MISPLACED_MASKS = "misplaced_masks"
    DEPTH_UNIT = "depth_unit"
    CAMERA_CONVENTION = "camera_convention"
    INVERTED_POSE = "inverted_pose"
    EXCHANGED_CAMERAS = "exchanged_cameras"
    TABLE_PLANE = "table_plane"
    LITTLE_TABLE = "little_table"
    RAY_DEPTH = "ray_depth"
    INTRINSICS = "intrinsics"
    OUT_OF_REACH = "out_of_reach"
    VIEWS_DISAGREE = "views_disagree"
    FROZEN = "frozen"
    MOVED = "moved"
    RESCALED = "rescaled"
    COVERED = "covered"


ADVICE = {
    SensorProblem.NO_DEPTH: "check that the depth stream is on and aligned with the colour image",
    SensorProblem.NO_MASKS: "check the segmenter",
    SensorProblem.MISPLACED_MASKS: "give masks in the pixels of the depth image, as they come from the segmenter",
    SensorProblem.DEPTH_UNIT: "give depth_m in metres",
    SensorProblem.CAMERA_CONVENTION: "give world_from_camera in OpenCV's convention: x right, y down, z forward",
    SensorProblem.INVERTED_POSE: "give world_from_camera, the inverse of the extrinsics",
    SensorProblem.EXCHANGED_CAMERAS: "give the cameras in the order of their images",
    SensorProblem.TABLE_PLANE: "calibrate the camera again; the table's top has to be at z = 0",
    SensorProblem.LITTLE_TABLE: "point the camera at the table; floor and walls should be less of the picture",
    SensorProblem.RAY_DEPTH: "give depth_m along the optical axis (z), not the distance along each ray",
    SensorProblem.INTRINSICS: "give the intrinsics that belong to images of this size, or calibrate the camera again",
    SensorProblem.OUT_OF_REACH: "check the frame of the poses: the robot's base is the origin",
    SensorProblem.VIEWS_DISAGREE: (
        "check that all cameras deliver images of the same moment, and calibrate them to each other again"
    ),
    SensorProblem.FROZEN: "restart the camera's driver",
    SensorProblem.MOVED: "fix the camera and calibrate it again",
    SensorProblem.RESCALED: "check the settings of the depth camera, and calibrate it again",
    SensorProblem.COVERED: "clear the camera's view",
}


@dataclass(frozen=True)
class SensorFinding:
    """Something implausible.

    Attributes:
        problem: its code.
        camera: name of the camera; empty if it concerns all of them.
        found: what was found.
        compensated: whether perception has put it right for the time being; if not, the view is left out.
    """

    problem: SensorProblem
    camera: str
    found: str
    compensated: bool = False

    def __str__(self) -> str:
        return f"{self.camera + ': ' if self.camera else ''}{self.found}; {ADVICE[self.problem]}"

"""Results of detectors become masks and boxes: recorded results everywhere, the real library where it is installed.

Recorded with `how` in the files of `recorded/`.
"""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nsrecover.bridges.detectors import (
    TaggedObject,
    sam2_track_detections,
    tag_boxes,
    ultralytics_detections,
)
from nsrecover.core.observation import Camera
from nsrecover.errors import InvalidObservation
from nsrecover.perception.masks.formats import instances_of
from tests.nsrecover.bridges.tag_rendering import FOCAL, HEIGHT, SIDE_M, WIDTH, image_of

RECORDED = Path(__file__).parent / "recorded"


class Boxes(SimpleNamespace):
    """As ultralytics' boxes: attributes, and a length."""

    def __len__(self) -> int:
        return len(self.conf)


def recorded_result(**changes: Any) -> Any:
    found = json.loads((RECORDED / "ultralytics.json").read_text())
    boxes = Boxes(conf=found["conf"], cls=found["cls"], id=found["id"])
    masks = SimpleNamespace(xy=[np.array(polygon) for polygon in found["xy"]])
    names = {int(number): name for number, name in found["names"].items()}
    return SimpleNamespace(**{"boxes": boxes, "masks": masks, "names": names} | changes)


def test_ultralytics_polygons_are_at_the_size_of_the_image() -> None:
    detections = ultralytics_detections(recorded_result())
    assert [each["name"] for each in detections] == ["cube 7", "brick", "cube 3"]
    instances, labels = instances_of(detections, 240, 320)
    rows, columns = np.nonzero(instances == next(n for n, name in labels.items() if name == "cube 3"))
    assert np.abs([rows.min() - 100, rows.max() - 150, columns.min() - 200, columns.max() - 250]).max() <= 2


def test_ultralytics_without_tracks_counts_and_without_masks_is_refused() -> None:
    result = recorded_result()
    result.boxes.id = None
    assert [each["name"] for each in ultralytics_detections(result)] == ["cube 1", "brick", "cube 2"]
    assert [each["name"] for each in ultralytics_detections(result, 0.75)] == ["cube 1", "cube 2"]
    with pytest.raises(InvalidObservation, match="yolo11n-seg"):
        ultralytics_detections(recorded_result(masks=None))
    assert ultralytics_detections(recorded_result(boxes=Boxes(conf=[]), masks=None)) == []


def square(top: int, left: int, side: int) -> np.ndarray:
    mask = np.zeros((60, 80), np.bool_)
    mask[top : top + side, left : left + side] = True
    return mask


def test_sam2_tracks_keep_their_numbers() -> None:
    logits = np.where(square(5, 5, 10), 3.0, -3.0)[None]
    frame = {3: logits, 8: np.full((1, 60, 80), -1.0), 4: square(30, 30, 10)}
    instances, labels = instances_of(sam2_track_detections(frame, {3: "red", 8: "grey", 4: "blue"}), 60, 80)
    assert labels == {3: "red", 4: "blue"}
    np.testing.assert_array_equal(instances, 3 * square(5, 5, 10) + 4 * square(30, 30, 10))
    with pytest.raises(InvalidObservation, match=r"\[8\]"):
        sam2_track_detections(frame, {3: "red", 4: "blue"})


TILTED = Rotation.from_euler("xyz", [25, -15, 10], degrees=True).as_matrix()
TAGS = {0: (TILTED, np.array([0.05, -0.02, 0.5])), 1: (np.eye(3), np.array([-0.1, 0.03, 0.6]))}
"""Number of a tag -> its pose in the camera's frame, in the image."""

DOWN = np.array([[0, -1, 0, 0.5], [-1, 0, 0, 0.1], [0, 0, -1, 0.64], [0, 0, 0, 1]], np.float32)
"""A camera that looks straight down from 64 cm above the table."""

CAMERA = Camera(np.array([[FOCAL, 0, WIDTH / 2], [0, FOCAL, HEIGHT / 2], [0, 0, 1]], np.float32), DOWN, "down")
OBJECTS = {
    0: TaggedObject("tilted", (0.05, 0.05, 0.05)),
    1: TaggedObject("flat", (0.05, 0.06, 0.04)),
    2: TaggedObject("gone", (0.05, 0.05, 0.05)),
}


def detected() -> list[Any]:
    """By the library where it is installed, else what it found in this image."""
    try:
        from pupil_apriltags import Detector
    except ImportError:
        found = json.loads((RECORDED / "apriltags.json").read_text())["detections"]
        return [
            SimpleNamespace(**{name: np.array(v) if isinstance(v, list) else v for name, v in each.items()})
            for each in found
        ]
    detector = Detector(families="tag36h11")
    image = image_of(TAGS)
    found = detector.detect(image, True, camera_params=(FOCAL, FOCAL, WIDTH / 2, HEIGHT / 2), tag_size=SIDE_M)
    return list(found)


def test_tags_become_boxes_of_their_objects() -> None:
    boxes = tag_boxes(detected(), CAMERA, OBJECTS)
    assert boxes["gone"] is None
    flat, tilted = boxes["flat"], boxes["tilted"]
    assert flat is not None and tilted is not None  # noqa: PT018
    # the tag is on top of the object, 60 cm below the camera: 4 cm above the table
    np.testing.assert_allclose(flat[:3], [0.5 - 0.03, 0.1 + 0.1, 0.02], atol=0.004)
    np.testing.assert_allclose(flat[3:], [0.06, 0.05, 0.04], atol=0.006)
    turn, place = TAGS[0]
    np.testing.assert_allclose(tilted[:3], DOWN[:3, :3] @ (place + turn[:, 2] * 0.025) + DOWN[:3, 3], atol=0.004)
    assert min(tilted[3:]) > 0.05, "the box of a turned cube is larger than the cube"


def test_unsure_tags_are_ignored_and_tags_without_pose_refused() -> None:
    found = detected()
    assert set(tag_boxes(found, CAMERA, OBJECTS, least_margin=1000.0).values()) == {None}
    without = SimpleNamespace(tag_id=1, decision_margin=90.0, pose_R=None, pose_t=None)
    with pytest.raises(InvalidObservation, match="estimate_tag_pose=True"):
        tag_boxes([without], CAMERA, OBJECTS)

"""Results of detectors become masks and boxes; they are recorded with `how` in the files of `recorded/`."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nsrecover.bridges.detectors import (
    PosedObject,
    TaggedObject,
    pose_boxes,
    sam2_detections,
    sam2_track_detections,
    tag_boxes,
    ultralytics_detections,
)
from nsrecover.core.observation import Camera
from nsrecover.errors import InvalidObservation
from nsrecover.perception.masks.formats import instances_of, run_lengths

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


def sam_mask(mask: np.ndarray, stability: float, as_runs: bool = False) -> dict[str, Any]:
    segmentation = run_lengths(mask) if as_runs else mask
    return {"segmentation": segmentation, "area": int(mask.sum()), "stability_score": stability}


def test_sam2_masks_of_parts_and_the_background_are_left_out() -> None:
    masks = [
        sam_mask(square(10, 50, 20), 0.97, as_runs=True),
        sam_mask(square(12, 52, 8), 0.9),  # a face of the object before
        sam_mask(square(20, 5, 15), 0.95),
        sam_mask(~square(0, 0, 1), 0.99),  # the table
        sam_mask(square(50, 70, 3), 0.99),  # a speck
    ]
    detections = sam2_detections(masks, ["red", "blue"], pixels=(20, 1000))
    instances, labels = instances_of(detections, 60, 80)
    assert labels == {1: "red", 2: "blue"}
    np.testing.assert_array_equal(instances == 1, square(20, 5, 15))
    np.testing.assert_array_equal(instances == 2, square(10, 50, 20))
    with pytest.raises(InvalidObservation, match=r"names \(1\), found 2"):
        sam2_detections(masks, ["red"], pixels=(20, 1000))


def test_sam2_tracks_keep_their_numbers() -> None:
    logits = np.where(square(5, 5, 10), 3.0, -3.0)[None]
    frame = {3: logits, 8: np.full((1, 60, 80), -1.0), 4: square(30, 30, 10)}
    instances, labels = instances_of(sam2_track_detections(frame, {3: "red", 8: "grey", 4: "blue"}), 60, 80)
    assert labels == {3: "red", 4: "blue"}
    np.testing.assert_array_equal(instances, 3 * square(5, 5, 10) + 4 * square(30, 30, 10))
    with pytest.raises(InvalidObservation, match=r"\[8\]"):
        sam2_track_detections(frame, {3: "red", 4: "blue"})


TILTED = Rotation.from_euler("xyz", [25, -15, 10], degrees=True).as_matrix()
TILTED_AT = np.array([0.05, -0.02, 0.5])
"""Where the tilted tag is in the camera's frame."""

DOWN = np.array([[0, -1, 0, 0.5], [-1, 0, 0, 0.1], [0, 0, -1, 0.64], [0, 0, 0, 1]], np.float32)
"""A camera that looks straight down from 64 cm above the table."""

CAMERA = Camera(np.array([[600, 0, 320], [0, 600, 240], [0, 0, 1]], np.float32), DOWN, "down")
OBJECTS = {
    0: TaggedObject("tilted", (0.05, 0.05, 0.05)),
    1: TaggedObject("flat", (0.05, 0.06, 0.04)),
    2: TaggedObject("gone", (0.05, 0.05, 0.05)),
}


def detected() -> list[Any]:
    found = json.loads((RECORDED / "apriltags.json").read_text())["detections"]
    return [
        SimpleNamespace(**{name: np.array(v) if isinstance(v, list) else v for name, v in each.items()})
        for each in found
    ]


def test_tags_become_boxes_of_their_objects() -> None:
    boxes = tag_boxes(detected(), CAMERA, OBJECTS)
    assert boxes["gone"] is None
    flat, tilted = boxes["flat"], boxes["tilted"]
    assert flat is not None and tilted is not None  # noqa: PT018
    # the tag is on top of the object, 60 cm below the camera: 4 cm above the table
    np.testing.assert_allclose(flat[:3], [0.5 - 0.03, 0.1 + 0.1, 0.02], atol=0.004)
    np.testing.assert_allclose(flat[3:], [0.06, 0.05, 0.04], atol=0.006)
    centre = DOWN[:3, :3] @ (TILTED_AT + TILTED[:, 2] * 0.025) + DOWN[:3, 3]
    np.testing.assert_allclose(tilted[:3], centre, atol=0.004)
    assert min(tilted[3:]) > 0.05, "the box of a turned cube is larger than the cube"


def test_unsure_tags_are_ignored_and_tags_without_pose_refused() -> None:
    found = detected()
    assert set(tag_boxes(found, CAMERA, OBJECTS, least_margin=1000.0).values()) == {None}
    without = SimpleNamespace(tag_id=1, decision_margin=90.0, pose_R=None, pose_t=None)
    with pytest.raises(InvalidObservation, match="estimate_tag_pose=True"):
        tag_boxes([without], CAMERA, OBJECTS)


def test_poses_of_an_estimator_become_boxes_with_orientations() -> None:
    camera = Camera(CAMERA.intrinsics, CAMERA.world_from_camera, "above")
    turned = Rotation.from_euler("xyz", (180, 0, 30), degrees=True)
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = turned.as_matrix(), (0.02, 0.01, 0.6)
    mug = PosedObject((0.08, 0.1, 0.12), (0.0, 0.0, 0.06))
    found = pose_boxes({"mug": pose, "lid": None}, camera, {"mug": mug, "lid": mug})
    assert found["lid"] is None
    box = found["mug"]
    world = camera.world_from_camera.astype(float) @ pose
    np.testing.assert_allclose(box[:3], (world @ (0, 0, 0.06, 1))[:3], atol=1e-6)
    assert box[3:6] == mug.size_m
    np.testing.assert_allclose(Rotation.from_quat(box[6:]).as_matrix(), world[:3, :3], atol=1e-6)


def test_wrong_poses_are_refused() -> None:
    mug = {"mug": PosedObject((0.08, 0.1, 0.12))}
    behind, mirrored = np.eye(4), np.diag([1.0, 1.0, -1.0, 1.0])
    behind[2, 3], mirrored[2, 3] = -0.6, 0.6
    for poses, said in (({}, "None if it is not seen"), ({"mug": behind}, "in front"), ({"mug": mirrored}, "mirrored")):
        with pytest.raises(InvalidObservation, match=said):
            pose_boxes(poses, CAMERA, mug)

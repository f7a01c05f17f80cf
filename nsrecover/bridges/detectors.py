"""Results of common detectors as detections with masks, or as boxes.

    instances, labels = instances_of(ultralytics_detections(model(image)[0]), height, width)
    instances, labels = instances_of(sam2_detections(generator.generate(image), names), height, width)
    instances, labels = instances_of(sam2_track_detections(masks_of_frame, {1: "red cube"}), height, width)
    boxes = pose_boxes({"mug": estimator.track(...)}, camera, {"mug": PosedObject((0.08, 0.08, 0.1))})
    boxes = tag_boxes(detector.detect(grey, True, fx_fy_cx_cy, side), camera, {7: TaggedObject("red", (0.05,) * 3)})

The libraries are not imported: their results are read by their documented attributes. `instances_of` is that of
`nsrecover.perception.masks.formats`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from nsrecover.core import Box, Camera
from nsrecover.core.observation import check_rigid
from nsrecover.errors import InvalidObservation
from nsrecover.util.untrusted_json import JsonMapping, JsonObject

Found = Any
"""Results of a detector, whose package is not imported."""


def ultralytics_detections(result: Found, least_confidence: float = 0.25) -> list[JsonObject]:
    """Detections of one `ultralytics.engine.results.Results` of a segmentation model, for `instances_of`.

    An object is called by its class. Where a class occurs more than once, its track's number is added (`model.track`),
    or without tracks its place from left to right, which changes when objects move: track, or train a class an object.

    Args:
        result: of one image.
        least_confidence: detections below it are left out, and those of less than a pixel.

    Raises:
        InvalidObservation: the result has no masks.
    """
    if result.boxes is None or len(result.boxes) == 0:
        return []
    if result.masks is None:
        raise InvalidObservation(
            "expected the result of a segmentation model, found boxes without masks; use a model such as yolo11n-seg"
        )
    found: list[JsonObject] = []
    tracks = result.boxes.id
    for place, polygon in enumerate(result.masks.xy):
        outline, confidence = np.asarray(polygon, np.float64), float(result.boxes.conf[place])
        if not confidence >= least_confidence or _area(outline) < 1:
            continue
        found.append(
            {
                "name": str(result.names[int(result.boxes.cls[place])]),
                "track": None if tracks is None else int(tracks[place]),
                "left": float(outline[:, 0].min()),
                "segmentation": [outline.ravel().tolist()],
                "confidence": confidence,
            }
        )
    classes = Counter(each["name"] for each in found)
    ordinals: Counter[str] = Counter()
    detections = []
    for each in sorted(found, key=lambda one: one["left"]):
        name = each["name"]
        ordinals[name] += 1
        if classes[name] > 1:
            name = f"{name} {ordinals[name] if each['track'] is None else each['track']}"
        detections.append({"name": name, "segmentation": each["segmentation"], "confidence": each["confidence"]})
    return detections


def _area(outline: npt.NDArray[np.float64]) -> float:
    """Area inside a polygon (N, 2)."""
    if len(outline) < 3:
        return 0.0
    x, y = outline.T
    return float(abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2)


def sam2_detections(
    masks: Sequence[JsonMapping], names: Sequence[str] | None = None, pixels: tuple[int, int] | None = None
) -> list[JsonObject]:
    """Detections of `SAM2AutomaticMaskGenerator.generate`, for `instances_of`.

    The generator knows no names and also returns parts and the background: masks that are too small or too large, and
    those whose pixels mostly belong to a mask that is kept, are left out, the most stable one first.

    Args:
        masks: dictionaries with `segmentation` (binary or COCO run lengths), `area` and `stability_score`.
        names: of the objects from left to right; `object 1`, ... by default.
        pixels: smallest and largest area of an object; by default 30, and a quarter of the image.

    Raises:
        InvalidObservation: there are not as many objects as names, no mask has the size of an object, or a mask lacks
            a field.
    """
    from nsrecover.perception.masks.formats import mask_of

    kept: list[npt.NDArray[np.bool_]] = []
    areas = [float(_field(each, "area")) for each in masks]
    for each in sorted(masks, key=lambda one: -float(_field(one, "stability_score"))):
        segmentation = _field(each, "segmentation")
        size = segmentation["size"] if isinstance(segmentation, Mapping) else np.shape(segmentation)
        least, most = pixels or (30, int(size[0]) * int(size[1]) / 4)
        if not least <= float(_field(each, "area")) <= most:
            continue
        mask = mask_of(segmentation, int(size[0]), int(size[1]))
        if all((mask & other).sum() < 0.5 * min(mask.sum(), other.sum()) for other in kept):
            kept.append(mask)
    if areas and not kept:
        raise InvalidObservation(
            f"expected a mask of {least:.0f} to {most:.0f} pixels, found areas from {min(areas):.0f} to "
            f"{max(areas):.0f}; adapt `pixels` (the smallest and the largest area of an object)"
        )
    kept.sort(key=lambda mask: float(np.flatnonzero(mask.any(axis=0)).mean()))
    if names is not None and len(names) != len(kept):
        raise InvalidObservation(
            f"expected as many objects as names ({len(names)}), found {len(kept)}; adapt `pixels`, or prompt SAM 2 "
            "for each object and use sam2_track_detections"
        )
    called = names if names is not None else [f"object {number}" for number in range(1, len(kept) + 1)]
    return [{"name": name, "segmentation": mask} for name, mask in zip(called, kept, strict=True)]


def sam2_track_detections(masks: Mapping[int, Found], names: Mapping[int, str]) -> list[JsonObject]:
    """Detections of one frame of SAM 2's video predictor, for `instances_of`; an empty mask is left out.

    Args:
        masks: object number -> mask (H, W) or (1, H, W): binary, or logits, which count above 0.
        names: object number -> name, as it was prompted.

    Raises:
        InvalidObservation: an object has no name, or a mask is neither.
    """
    missing = sorted(set(masks) - set(names))
    if missing:
        raise InvalidObservation(f"expected a name for every object, found none for {missing}; add it to `names`")
    found = []
    for number, given in masks.items():
        array = np.squeeze(np.asarray(given.cpu() if hasattr(given, "cpu") else given))
        binary = ((array == 0) | (array == 1)).all()
        if not binary and not (array < 0).any():
            raise InvalidObservation(
                f"expected a binary mask or logits for {names[number]!r}, found values from {array.min():.3g} to "
                f"{array.max():.3g}; compare probabilities with 0.5"
            )
        mask = array > 0
        if mask.any():
            found.append({"number": number, "name": names[number], "segmentation": mask})
    return found


@dataclass(frozen=True)
class TaggedObject:
    """An object that carries an AprilTag.

    Attributes:
        name: of the object.
        size_m: sides along the tag's x (right), y (down) and z (into the object), metres.
        centre_m: centre of the object in the tag's frame; by default half of its depth behind the middle of the tag.
    """

    name: str
    size_m: tuple[float, float, float]
    centre_m: tuple[float, float, float] | None = None


def tag_boxes(
    detections: Iterable[Found],
    camera: Camera,
    objects: Mapping[int, TaggedObject],
    least_margin: float = 25.0,
    most_hamming: int = 0,
) -> dict[str, Box | None]:
    """Boxes of tagged objects in the robot's frame, from the detections of `pupil_apriltags` or a compatible library.

    Of several detections of a tag, or tags of an object, the one counts with the fewest corrected bits, then with the
    largest margin.

    Args:
        detections: each with `tag_id`, `decision_margin`, `pose_R` (3, 3) and `pose_t` (3, 1): the tag in the camera's
            frame, metres. Detect with `estimate_tag_pose=True`, the camera's fx, fy, cx, cy, and the side of the tag.
        camera: that took the image.
        objects: number of a tag -> its object; other tags are ignored.
        least_margin: detections with a smaller decision margin are ignored.
        most_hamming: detections with more corrected bits (`hamming`) are ignored.

    Returns:
        Name -> centre and size, metres; None for an object whose tag was not seen.

    Raises:
        InvalidObservation: a detection has no number or margin, no pose or one behind the camera, a tag is seen as well
            in two places, or two tags of an object disagree about its place.
    """
    best: dict[str, tuple[int, float, Found]] = {}
    usable = [
        each
        for each in detections
        if int(_number(each, "tag_id")) in objects and _number(each, "decision_margin") >= least_margin
    ]
    for detection in usable:
        name, wrong = objects[int(detection.tag_id)].name, int(_number(detection, "hamming", 0.0))
        rank, before = (-wrong, float(detection.decision_margin)), best.get(name)
        if wrong > most_hamming:
            continue
        if before is not None and detection.tag_id == before[2].tag_id:
            _check_one_tag(detection, before[2])
        elif before is not None and detection.pose_t is not None and before[2].pose_t is not None:
            _check_one_object(name, [(each, objects[int(each.tag_id)]) for each in (detection, before[2])], camera)
        if before is None or rank > before[:2]:
            best[name] = (*rank, detection)
    boxes: dict[str, Box | None] = {each.name: None for each in objects.values()}
    return boxes | {
        name: _tag_box(detection, camera, objects[int(detection.tag_id)]) for name, (_, _, detection) in best.items()
    }


@dataclass(frozen=True)
class PosedObject:
    """An object whose pose an estimator gives, such as FoundationPose with a mesh.

    Attributes:
        size_m: sides of its mesh along the axes of the mesh, metres.
        centre_m: middle of the mesh in the frame of the mesh, metres.
    """

    size_m: tuple[float, float, float]
    centre_m: tuple[float, float, float] = (0.0, 0.0, 0.0)


def pose_boxes(
    poses: Mapping[str, npt.ArrayLike | None], camera: Camera, objects: Mapping[str, PosedObject]
) -> dict[str, tuple[float, ...] | None]:
    """Boxes with orientations in the robot's frame, from the poses of a 6-D pose estimator.

    Args:
        poses: name -> (4, 4) rigid transform from the frame of the object's mesh to the camera's (OpenCV), metres; None
            for an object that is not seen.
        camera: that took the image.
        objects: name -> its size; the poses of all of them are needed.

    Returns:
        Name -> centre, size and quaternion x, y, z, w (10 numbers), as `scene_of_boxes` takes them, or None.

    Raises:
        InvalidObservation: an object has no pose, or one that is no rigid transform in front of the camera.
    """
    boxes = dict[str, tuple[float, ...] | None]()
    for name, posed in objects.items():
        if name not in poses:
            raise InvalidObservation(f"expected a pose of {name!r}, or None if it is not seen; found {sorted(poses)}")
        given = poses[name]
        if given is None:
            boxes[name] = None
            continue
        pose = np.asarray(given, np.float64)
        check_rigid(f"the pose of {name!r}: expected a rigid transform (4, 4) from its mesh to the camera", pose)
        if pose[2, 3] <= 0:
            raise InvalidObservation(
                f"the pose of {name!r}: expected it in front of the camera (OpenCV: z forward), found z = "
                f"{pose[2, 3]:.3f} m; negate y and z if it is that of OpenGL"
            )
        placed = np.asarray(camera.world_from_camera, np.float64) @ pose
        centre = placed[:3, :3] @ np.array(posed.centre_m) + placed[:3, 3]
        quaternion = Rotation.from_matrix(placed[:3, :3]).as_quat()
        boxes[name] = tuple(map(float, (*centre, *posed.size_m, *quaternion)))
    return boxes


SAME_MARGIN, SAME_TAG_M = 0.8, 0.03
"""Detections of one tag whose margins have this ratio are as good; they show two tags if they are farther apart."""


def _check_one_tag(one: Found, other: Found) -> None:
    """Refuse two tags with the same number.

    Raises:
        InvalidObservation: both were seen as well.
    """
    low, high = sorted([float(one.decision_margin), float(other.decision_margin)])
    if one.pose_t is None or other.pose_t is None or low < SAME_MARGIN * high:
        return
    apart = float(np.linalg.norm(np.ravel(one.pose_t) - np.ravel(other.pose_t)))
    if apart > SAME_TAG_M:
        raise InvalidObservation(
            f"expected tag {one.tag_id} once in an image, found it twice, {100 * apart:.0f} cm apart, with margins "
            f"{high:.0f} and {low:.0f}; print a different tag for each object"
        )


def _check_one_object(name: str, seen: Sequence[tuple[Found, TaggedObject]], camera: Camera) -> None:
    """Refuse two tags of one object that see it in two places.

    Raises:
        InvalidObservation: they do.
    """
    low, high = sorted(float(detection.decision_margin) for detection, _ in seen)
    one, other = (np.array(_tag_box(detection, camera, tagged)[:3]) for detection, tagged in seen)
    apart = float(np.linalg.norm(one - other))
    if apart > SAME_TAG_M:
        raise InvalidObservation(
            f"expected {name!r} in one place, found its tags {seen[1][0].tag_id} and {seen[0][0].tag_id} "
            f"{100 * apart:.0f} cm apart, with margins {high:.0f} and {low:.0f}; check where they are on the object "
            "(`centre_m`)"
        )


def _number(detection: object, name: str, otherwise: float | None = None) -> float:
    """A number that a detection of a tag has, or one to take if it lacks it."""
    try:
        return float(getattr(detection, name) if otherwise is None else getattr(detection, name, otherwise))
    except (AttributeError, TypeError, ValueError) as problem:
        given = getattr(detection, name, None)
        raise InvalidObservation(
            f"expected a number as `{name}` of every detection of a tag, found {given!r}; give the detections of "
            "pupil_apriltags, or objects with the same fields"
        ) from problem


def _tag_box(detection: Found, camera: Camera, tagged: TaggedObject) -> Box:
    if detection.pose_R is None or detection.pose_t is None:
        raise InvalidObservation(
            "expected detections with a pose, found one without; call detect(image, estimate_tag_pose=True, "
            "camera_params=(fx, fy, cx, cy), tag_size=side in metres)"
        )
    turned, offset_t = np.asarray(detection.pose_R, np.float64), np.asarray(detection.pose_t, np.float64).ravel()
    if not (np.isfinite(turned).all() and np.isfinite(offset_t).all() and offset_t[2] > 0):
        raise InvalidObservation(
            f"expected a pose in front of the camera for tag {detection.tag_id}, found {offset_t.round(3).tolist()}; "
            "check the camera's parameters and the side of the tag"
        )
    pose = np.asarray(camera.world_from_camera, np.float64)
    turn = pose[:3, :3] @ turned
    offset = tagged.centre_m if tagged.centre_m is not None else (0.0, 0.0, tagged.size_m[2] / 2)
    place = pose[:3, :3] @ offset_t + pose[:3, 3] + turn @ np.array(offset)
    box = np.concatenate([place, np.abs(turn) @ np.array(tagged.size_m)])
    return cast(Box, tuple(box.tolist()))


def _field(mask: JsonMapping, name: str) -> Found:
    if mask.get(name) is None:
        raise InvalidObservation(f"expected `{name}` in every mask of SAM 2, found {sorted(mask)} and no value of it")
    return mask[name]

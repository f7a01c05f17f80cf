"""ROS messages as the library's data: observations, plans and intrinsics; for bags and for running robots.

Messages are anything with the fields of the ROS types: of rosbags, of rclpy, or of a test. Nothing here needs ROS.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from nsrecover.core import Camera, FloatArray, Observation, Plan
from nsrecover.errors import InvalidRecording
from nsrecover.perception.masks.formats import instances_of
from nsrecover.records.bags.camera_info import distorts, intrinsics_of, pixels_of, rectified_pixels
from nsrecover.records.bags.frames import TransformTree
from nsrecover.records.bags.images import Message, colour_of, depth_of, labels_of
from nsrecover.records.bags.layout import MASKS, ViewTopics
from nsrecover.records.reading import plan_with_targets
from nsrecover.util.untrusted_json import JsonMapping, JsonObject, parse_json

Instances = npt.NDArray[np.int32]
Pixel = TypeVar("Pixel", bound=np.generic)

PLAN, OBSERVE, LABELS, GRIPPER = (f"/nsrecover/{name}" for name in ("plan", "observe", "labels", "gripper"))
TF = ("/tf", "/tf_static")
BOXES = "/nsrecover/boxes"
"""JSON with `boxes` (name -> centre and size in metres, or null) and `stamp_s`; for running robots without images."""
FACTS = "/nsrecover/facts"
"""JSON with `facts` (each a predicate and its objects), `certainty` of properties and `stamp_s`; for running robots."""

ROBOT = "/nsrecover/robot"
"""What the robot knows of itself while it moves, many times a second; for running robots that are watched meanwhile."""

MOST_TEXT = 4_000_000
"""Largest accepted JSON in a message, bytes."""

SLOP_S = 0.1
"""Largest difference between a moment and the stamp of an image that belongs to it, seconds."""

TRANSFORM_SLOP_S = 0.2
"""Largest difference between a moment and the transform of a moving frame that belongs to it, seconds."""

_TYPES = {
    PLAN: "std_msgs/msg/String", OBSERVE: "std_msgs/msg/Header", LABELS: "std_msgs/msg/String",
    BOXES: "std_msgs/msg/String", FACTS: "std_msgs/msg/String", GRIPPER: "sensor_msgs/msg/JointState",
    ROBOT: "nsrecover_interfaces/msg/RobotState", **dict.fromkeys(TF, "tf2_msgs/msg/TFMessage"),
}  # fmt: skip

CLOUD = "sensor_msgs/msg/PointCloud2"
READABLE = {*_TYPES.values(), *(f"sensor_msgs/msg/{kind}" for kind in ("CameraInfo", "CompressedImage", "Image"))}
"""Types of messages that are read."""


def type_of(topic: str) -> str:
    """The type of the messages on one of our topics, such as `sensor_msgs/msg/Image`."""
    if topic in _TYPES:
        return _TYPES[topic]
    if topic.endswith("/camera_info"):
        return "sensor_msgs/msg/CameraInfo"
    if topic.endswith(MASKS[1]):
        return "std_msgs/msg/String"
    return "sensor_msgs/msg/CompressedImage" if "/compressed" in topic else "sensor_msgs/msg/Image"


@dataclass(frozen=True)
class Pictures:
    """What one camera shows at a moment.

    Attributes:
        rgb: (H, W, 3) uint8.
        depth_m: (H, W) float32, 0 where there is no reading.
        instances: (H, W) int32.
        names: number -> name, if the masks came with names.
    """

    rgb: npt.NDArray[np.uint8]
    depth_m: FloatArray
    instances: Instances
    names: dict[int, str]


def shown(
    view: ViewTopics,
    images: Sequence[Message],
    infos: tuple[Message, Message | None],
    frames: TransformTree,
    moment: float,
    slop_s: float,
) -> tuple[Pictures, Camera]:
    """What one camera shows at a moment, without distortion, and the camera.

    Depth that is seen from elsewhere than colour has the colours that its points have there.

    Args:
        view: its topics.
        images: the messages of its `pictures`.
        infos: the CameraInfo of colour, and of depth, if there is one.
        frames: the transforms.
        moment: seconds.
        slop_s: how far a transform of a moving frame may be from the moment, seconds.

    Raises:
        InvalidRecording: sizes differ, an encoding is not known, data are damaged, the CameraInfo is not of this
            image, transforms are missing, or depth is not aligned to colour and has no CameraInfo.
    """
    info, own = infos
    pose = frames.optical_pose(info.header.frame_id, moment, slop_s)
    apart = frames.elsewhere(images[1].header.frame_id, pose, moment, slop_s)
    if apart is not None and own is None:
        raise InvalidRecording(
            f"expected depth that is aligned to colour ({info.header.frame_id}) on {view.depth}, or its CameraInfo on "
            f"{view.depth_info}, found neither; record aligned depth, such as aligned_depth_to_color"
        )
    colours, metres = colour_of(images[0], view.colour), depth_of(images[1], view.depth)
    name = view.prefix.lstrip("/") or "camera"
    if apart is None and metres.shape != colours.shape[:2]:
        raise InvalidRecording(
            f"expected depth of the size of the colour image, {colours.shape[:2]}, on {view.depth}, found "
            f"{metres.shape}; record depth that is aligned to colour (aligned_depth_to_color)"
        )
    names: dict[int, str] = {}
    if not view.masks:
        instances = np.zeros(colours.shape[:2], np.int32)
    elif view.masks.endswith(MASKS[1]) or isinstance(getattr(images[2], "data", None), str):
        found = json_of(images[2].data, view.masks)
        instances, names = instances_of(found.get("detections", ()), *colours.shape[:2])
    else:
        instances = labels_of(images[2], view.masks)
    k = intrinsics_of(info, view.info, colours.shape, view.rectified)
    if apart is not None and own is not None:
        own_k = intrinsics_of(own, view.depth_info, metres.shape, "rect" in view.depth)
        if distorts(own) and "rect" not in view.depth:
            metres = _moved(metres, rectified_pixels(own, view.depth_info, own_k, metres.shape))
        x, y = _rays_from(metres, own_k, np.linalg.inv(pose) @ apart)
        place = pixels_of(x, y, info, view.info, k, colours.shape, raw=not view.rectified)
        return Pictures(_moved(colours, place), metres, _moved(instances, place), names), Camera(own_k, apart, name)
    if distorts(info) and view.rectified and "rect" not in view.depth:
        raise InvalidRecording(
            f"expected depth of the rectified images {view.colour}, found {view.depth}, which is aligned to the raw "
            f"ones, and distortion {np.round(info.d, 4).tolist()} on {view.info}; rectify depth, too, as image_rect, "
            "or, if the masks are of the raw images, name these with --topic NAME=colour"
        )
    if distorts(info) and not view.rectified:
        place = rectified_pixels(info, view.info, k, colours.shape)
        colours, metres, instances = _moved(colours, place), _moved(metres, place), _moved(instances, place)
    return Pictures(colours, metres, instances, names), Camera(k, pose, name)


def _rays_from(
    metres: FloatArray, k: FloatArray, turn: npt.NDArray[np.floating]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Where another camera sees the points of a depth image, at a depth of 1; a pixel without depth as the others."""
    rows, columns = np.indices(metres.shape, np.float64)
    usual = float(np.median(metres[metres > 0])) if (metres > 0).any() else 1.0
    z = np.where(metres > 0, metres, usual)
    points = np.stack([(columns - k[0, 2]) / k[0, 0] * z, (rows - k[1, 2]) / k[1, 1] * z, z, np.ones_like(z)])
    x, y, far, _ = np.einsum("ij,jhw->ihw", turn, points)
    far = np.maximum(far, 1e-3)
    return x / far, y / far


def cloud_pictures(message: Message, topic: str) -> tuple[Pictures, FloatArray]:
    """What an organised PointCloud2 with colours shows in its frame (x right, y down, z forward), and intrinsics.

    Raises:
        InvalidRecording: it is not organised, or lacks points or colours.
    """
    fields = {each.name: int(each.offset) for each in message.fields}
    height, width = int(message.height), int(message.width)
    colour = fields.get("rgb", fields.get("rgba"))
    if height < 2 or colour is None or not {"x", "y", "z"} <= fields.keys() or message.is_bigendian:
        raise InvalidRecording(
            f"expected an organised cloud with x, y, z and rgb on {topic}, found {height} x {width} points with "
            f"{', '.join(fields)}; record images of colour and depth"
        )
    rows = np.frombuffer(bytes(message.data), np.uint8)[: height * message.row_step].reshape(height, message.row_step)
    cells = rows[:, : width * message.point_step].reshape(height, width, message.point_step)
    x, y, z = (
        np.ascontiguousarray(cells[..., fields[name] : fields[name] + 4]).view("<f4")[..., 0].astype(np.float64)
        for name in "xyz"
    )
    there = np.isfinite(x) & np.isfinite(y) & np.isfinite(z) & (z > 0)
    if there.mean() < 0.1:
        raise InvalidRecording(
            f"expected points in the cloud on {topic}, found them in {there.mean():.0%} of its pixels"
        )
    v, u = np.indices((height, width))
    k = np.eye(3, dtype=np.float32)
    for axis, pixel, value in ((0, u, x), (1, v, y)):  # the points of a pinhole lie on the rays of their pixels
        slope, middle = np.polyfit(value[there] / z[there], pixel[there], 1)
        off = np.abs(slope * value[there] / z[there] + middle - pixel[there])
        if not slope > 0 or np.quantile(off, 0.9) > 2.0:
            raise InvalidRecording(
                f"expected a cloud in the order of the pixels of a pinhole on {topic}, found another"
            )
        k[axis, axis], k[axis, 2] = slope, middle
    rgb = np.ascontiguousarray(cells[..., colour : colour + 3][..., ::-1])
    metres = np.where(there, z, 0).astype(np.float32)
    return Pictures(rgb, metres, np.zeros((height, width), np.int32), {}), k


def _moved(image: npt.NDArray[Pixel], place: npt.NDArray[np.intp]) -> npt.NDArray[Pixel]:
    """The pixels of an image at other places (2, H, W); 0 outside."""
    found: npt.NDArray[Pixel] = image[tuple(place)]
    found[place[0] < 0] = 0
    return found


class Labels:
    """Names of the numbers in label images, as they were published last."""

    def __init__(self) -> None:
        self._known: list[tuple[float, dict[int, str], bool]] = []

    def add(self, stamp_s: float, document: JsonMapping) -> None:
        """Take in what was published.

        Raises:
            InvalidRecording: it has no labels that can be read.
        """
        try:
            names = {int(number): str(name) for number, name in document.get("labels", {}).items()}
        except (AttributeError, ValueError) as problem:
            raise InvalidRecording(
                f'expected labels as {{"1": "red cube", ...}} on {LABELS}, found {str(document)[:60]}'
            ) from problem
        self._known = [*self._known[-199:], (stamp_s, names, bool(document.get("shared_ids", True)))]

    def at(self, moment: float) -> tuple[dict[int, str], bool | None]:
        """Labels at a moment, and whether numbers are shared by all views; the first ones if there are none before."""
        if not self._known:
            return {}, None
        before = [each for each in self._known if each[0] <= moment + SLOP_S] or [min(self._known)]
        _, names, shared = max(before, key=lambda each: each[0])
        return names, shared


def observation_of(
    views: Sequence[Pictures],
    cameras: tuple[Camera, ...],
    labelled: tuple[dict[int, str], bool | None],
    gripper: Message,
    time_s: float,
) -> Observation:
    """The observation of one moment.

    Args:
        views: what every camera shows.
        cameras: as many.
        labelled: names of label images, and whether numbers are shared by all views.
        gripper: a JointState, or None.
        time_s: the moment.

    Raises:
        InvalidRecording: images differ in size, or a name occurs twice in an image.
        InvalidObservation: the parts cannot be used.
    """
    sizes = {view.rgb.shape[:2] for view in views}
    if len(sizes) > 1:
        raise InvalidRecording(
            f"expected images of one size of all cameras, found {sorted(sizes)}; resize them, or choose by --cameras"
        )
    labels, shared = labelled
    instances: Sequence[Instances] = [view.instances for view in views]
    if any(view.names for view in views):
        instances, labels, shared = *_by_name(instances, [view.names for view in views]), True
    opening, holding = 0.0, False
    if gripper is not None:
        opening = float(gripper.position[0]) if len(gripper.position) else 0.0
        holding = bool(len(gripper.effort) and gripper.effort[0] > 0)
    return Observation(
        np.stack([view.rgb for view in views]), np.stack([view.depth_m for view in views]), np.stack(instances),
        cameras, labels, opening, holding, time_s, shared_ids=shared is not False,
    )  # fmt: skip


def _by_name(
    instances: Sequence[Instances], own: Sequence[Mapping[int, str]]
) -> tuple[tuple[Instances, ...], dict[int, str]]:
    """Instances with the same number for the same name in all views.

    Raises:
        InvalidRecording: a name occurs twice in one image.
    """
    number_of = {name: number for number, name in enumerate(dict.fromkeys(n for v in own for n in v.values()), start=1)}
    renumbered = []
    for image, names in zip(instances, own, strict=True):
        if len(set(names.values())) < len(names):
            raise InvalidRecording(
                f"expected a different name for each detection of an image, found {sorted(names.values())}; number "
                "objects that look the same, or record label images with `shared_ids` false"
            )
        table = np.zeros(max([0, *names]) + 1, np.int32)
        table[list(names)] = [number_of[name] for name in names.values()]
        renumbered.append(table[image])
    return tuple(renumbered), {number: name for name, number in number_of.items()}


@dataclass(frozen=True)
class PlanDocument:
    """What is published on the topic of plans.

    Attributes:
        plan: the actions.
        stages: an id for each action, such as the name of a stage of MoveIt Task Constructor; empty if there are none.
        episode: id of the episode; another one begins a new episode with the same plan.
    """

    plan: Plan
    stages: tuple[str, ...] = ()
    episode: str = ""


def plan_document(text: str) -> PlanDocument:
    """A plan from the text of its topic: one action a line, or JSON with `plan`, `targets`, `stages` and `episode`.

    Raises:
        InvalidRecording: it is JSON of another form, or lists differ in length.
        InvalidAction: an action cannot be read.
        InvalidPlan: there is no action.
    """
    if not text.lstrip().startswith("{"):
        return PlanDocument(Plan.parse([line.strip() for line in text.replace(";", "\n").splitlines() if line.strip()]))
    document = json_of(text, PLAN)
    lines, targets, stages = (document.get(key) or [] for key in ("plan", "targets", "stages"))
    if not isinstance(lines, list):
        raise InvalidRecording(f'expected "plan": ["top(a, b)", …] on {PLAN}, found {lines!r:.80}')
    for name, given in (("targets", targets), ("stages", stages)):
        if given and (not isinstance(given, list) or len(given) != len(lines)):
            raise InvalidRecording(
                f"expected one entry of `{name}` for each of the {len(lines)} actions on {PLAN}, found {given!r:.80}"
            )
    Plan.parse(lines)  # refuses an empty one
    return PlanDocument(
        plan_with_targets(lines, targets or None), tuple(map(str, stages)), str(document.get("episode", ""))
    )


def plan_of(text: str) -> Plan:
    """The plan of a `plan_document`."""
    return plan_document(text).plan


def stamp_of(message: Message, time_s: float) -> float:
    """When a message was measured: its header's stamp, or `stamp_s` of a JSON text, or when it arrived."""
    if hasattr(message, "header"):
        return seconds(message.header.stamp)
    stamp = json_of(message.data, "detections").get("stamp_s", time_s)
    if not isinstance(stamp, int | float):
        raise InvalidRecording(f"expected `stamp_s` in seconds, found {stamp!r}")
    return float(stamp)


def seconds(stamp: Message) -> float:
    """A builtin_interfaces/Time in seconds."""
    return float(stamp.sec) + float(stamp.nanosec) / 1e9


def stamp_fields(time_s: float) -> dict[str, int]:
    """The fields of a builtin_interfaces/Time."""
    nanoseconds = round(time_s * 1e9)
    return {"sec": nanoseconds // 10**9, "nanosec": nanoseconds % 10**9}


def json_of(text: str, topic: str) -> JsonObject:
    """A JSON object.

    Raises:
        InvalidRecording: it is none.
    """
    try:
        document = parse_json(text, MOST_TEXT)
    except ValueError as problem:
        raise InvalidRecording(f"expected JSON on {topic}, found {text[:40]!r} ({problem})") from problem
    if not isinstance(document, dict):
        raise InvalidRecording(f"expected a JSON object on {topic}, found {text[:40]!r}")
    return document

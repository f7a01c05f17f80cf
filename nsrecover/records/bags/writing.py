"""Recorded runs as ROS 2 bags, with the topics of `nsrecover.records.bags.reading`."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from nsrecover.core.observation import Camera, Observation
from nsrecover.errors import InvalidConfiguration
from nsrecover.perception.masks.formats import run_lengths
from nsrecover.records.bags import BASE_FRAME
from nsrecover.records.bags.images import Message, compressed
from nsrecover.records.bags.messages import GRIPPER, LABELS, OBSERVE, PLAN, TF, stamp_fields
from nsrecover.records.recording import Recording
from nsrecover.util.extras import needs_extra
from nsrecover.util.python310 import StrEnum
from nsrecover.util.untrusted_json import JsonMapping, JsonObject

Sent = tuple[float, str, str, Message]
"""Arrival in seconds, topic, type, message."""


class Storage(StrEnum):
    """Kind of the data file of a bag."""

    MCAP = "mcap"
    SQLITE = "sqlite3"


class Depth(StrEnum):
    """Encoding of depth."""

    MILLIMETRES = "16UC1"
    METRES = "32FC1"


@dataclass(frozen=True)
class BagSettings:
    """How a run is written.

    Attributes:
        storage: kind of the data file.
        depth: encoding of depth; millimetres round to 1 mm, as most drivers do.
        jpeg_quality: colour as JPEG of this quality; raw if None.
        detections: whether masks are COCO run lengths with names, not label images.
        base_frame: frame of the robot's base.
        delays_s: topic -> how much later than it was measured a message arrives, seconds.
    """

    storage: Storage = Storage.MCAP
    depth: Depth = Depth.MILLIMETRES
    jpeg_quality: int | None = None
    detections: bool = False
    base_frame: str = BASE_FRAME
    delays_s: Mapping[str, float] = field(default_factory=dict)


def write_bag(recording: Recording, folder: str | Path, settings: BagSettings | None = None) -> Path:
    """Write a run as a bag.

    Args:
        recording: the run.
        folder: of the bag; must not exist.
        settings: encodings.

    Returns:
        The folder.

    Raises:
        InvalidConfiguration: rosbags is not installed, or the folder exists.
    """
    with needs_extra("bags", "rosbags"):
        from rosbags.rosbag2 import StoragePlugin, Writer
        from rosbags.typesys import Stores, get_typestore
    settings, folder = settings or BagSettings(), Path(folder)
    if folder.exists():
        raise InvalidConfiguration(f"expected a new folder for the bag, found {folder}; choose another one")
    store = get_typestore(Stores.ROS2_HUMBLE)
    plugin = StoragePlugin.MCAP if settings.storage is Storage.MCAP else StoragePlugin.SQLITE3
    with Writer(folder, version=9, storage_plugin=plugin) as writer:
        connections: JsonObject = {}
        every = list(RunMessages(settings, store.types).of_run(recording))
        # a bag holds messages in the order in which they arrive
        for arrival_s, topic, kind, message in sorted(every, key=lambda each: each[0]):
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, kind, typestore=store)
            writer.write(connections[topic], round(arrival_s * 1e9), store.serialize_cdr(message, kind))
    return folder


class RunMessages:
    """What a robot publishes, as messages: arrival in seconds, topic, type, message.

    Args:
        settings: encodings.
        types: name -> class, of a type store of rosbags.
    """

    def __init__(self, settings: BagSettings, types: JsonMapping) -> None:
        self._settings, self._types = settings, types

    def of_run(self, recording: Recording) -> Iterator[Sent]:
        """The messages of a whole run."""
        first = recording.observations[0].time_s
        plan = {
            "plan": [str(action) for action in recording.plan],
            "targets": [None if action.target is None else list(action.target) for action in recording.plan],
        }
        yield self._message(first, PLAN, "std_msgs/msg/String", data=json.dumps(plan))
        for observation in recording.observations:
            yield from self.of(observation)

    def of(self, seen: Observation) -> Iterator[Sent]:
        """The messages of one observation."""
        now = seen.time_s
        stamp = self._make("builtin_interfaces/msg/Time", **stamp_fields(now))
        names = {str(number): name for number, name in seen.labels.items()}
        yield now, OBSERVE, "std_msgs/msg/Header", self._header(stamp, "")
        document = {"stamp_s": now, "labels": names, "shared_ids": seen.shared_ids}
        if not self._settings.detections:
            yield self._message(now, LABELS, "std_msgs/msg/String", data=json.dumps(document))
        nothing = np.zeros(0)
        yield self._message(
            now, GRIPPER, "sensor_msgs/msg/JointState", header=self._header(stamp, ""), name=["gripper"],
            position=np.array([seen.gripper_opening_m]), velocity=nothing, effort=np.array([float(seen.holding)]),
        )  # fmt: skip
        transforms = []
        for view, camera in enumerate(seen.cameras):
            prefix = "/" + camera.name.strip("/").replace(" ", "_")
            header = self._header(stamp, f"{prefix[1:]}_optical_frame")
            transforms.append(self._transform(camera, stamp, header.frame_id))
            yield from self._images(prefix, header, seen, view)
        yield self._message(now, TF[0], "tf2_msgs/msg/TFMessage", transforms=transforms)

    def _images(self, prefix: str, header: Message, seen: Observation, view: int) -> Iterator[Sent]:
        now, rgb, depth_m = seen.time_s, seen.rgb[view], seen.depth_m[view]
        if self._settings.jpeg_quality is None:
            yield self._image(now, prefix + "/color/image_raw", header, "rgb8", rgb)
        else:
            data = np.frombuffer(compressed(rgb, self._settings.jpeg_quality), np.uint8)
            yield self._message(
                now, prefix + "/color/image_raw/compressed", "sensor_msgs/msg/CompressedImage", header=header,
                format="rgb8; jpeg compressed bgr8", data=data,
            )  # fmt: skip
        if self._settings.depth is Depth.METRES:
            depth: npt.NDArray[np.generic] = np.where(depth_m > 0, depth_m, np.nan).astype(np.float32)
        else:
            depth = np.rint(np.clip(depth_m * 1000, 0, 65535)).astype(np.uint16)
        yield self._image(now, prefix + "/depth/image_raw", header, self._settings.depth, depth)
        instances = seen.instances[view]
        if self._settings.detections:
            found = [
                {"number": n, "name": seen.labels.get(n, f"object {n}"), "segmentation": run_lengths(instances == n)}
                for n in np.unique(instances[instances > 0]).tolist()
            ]
            text = json.dumps({"stamp_s": now, "detections": found})
            yield self._message(now, prefix + "/detections", "std_msgs/msg/String", data=text)
        else:
            yield self._image(now, prefix + "/masks", header, "32SC1", instances.astype(np.int32))
        yield self._camera_info(now, prefix + "/color/camera_info", header, seen.cameras[view], rgb.shape)

    def _image(self, now: float, topic: str, header: Message, encoding: str, pixels: npt.NDArray[np.generic]) -> Sent:
        data = np.frombuffer(np.ascontiguousarray(pixels).tobytes(), np.uint8)
        height, width = pixels.shape[:2]
        return self._message(
            now, topic, "sensor_msgs/msg/Image", header=header, height=height, width=width, encoding=str(encoding),
            is_bigendian=0, step=len(data) // height, data=data,
        )  # fmt: skip

    def _camera_info(self, now: float, topic: str, header: Message, camera: Camera, shape: tuple[int, ...]) -> Sent:
        k = np.asarray(camera.intrinsics, np.float64)
        whole = dict.fromkeys(("x_offset", "y_offset", "height", "width"), 0)
        return self._message(
            now, topic, "sensor_msgs/msg/CameraInfo", header=header, height=shape[0], width=shape[1],
            distortion_model="plumb_bob", d=np.zeros(5), k=k.ravel(), r=np.eye(3).ravel(),
            p=np.hstack([k, np.zeros((3, 1))]).ravel(), binning_x=0, binning_y=0,
            roi=self._make("sensor_msgs/msg/RegionOfInterest", **whole, do_rectify=False),
        )  # fmt: skip

    def _transform(self, camera: Camera, stamp: Message, child: str) -> Message:
        pose = np.asarray(camera.world_from_camera, np.float64)
        place = dict(zip("xyz", pose[:3, 3].tolist(), strict=True))
        turn = dict(zip("xyzw", Rotation.from_matrix(pose[:3, :3]).as_quat().tolist(), strict=True))
        moved = self._make(
            "geometry_msgs/msg/Transform", translation=self._make("geometry_msgs/msg/Vector3", **place),
            rotation=self._make("geometry_msgs/msg/Quaternion", **turn),
        )  # fmt: skip
        header = self._header(stamp, self._settings.base_frame)
        return self._make("geometry_msgs/msg/TransformStamped", header=header, child_frame_id=child, transform=moved)

    def _message(self, now: float, topic: str, kind: str, **fields: Message) -> Sent:
        return now + self._settings.delays_s.get(topic, 0.0), topic, kind, self._make(kind, **fields)

    def _header(self, stamp: Message, frame: str) -> Message:
        return self._make("std_msgs/msg/Header", stamp=stamp, frame_id=frame)

    def _make(self, kind: str, **fields: Message) -> Message:
        return self._types[kind](**fields)

"""ROS 2 bags (MCAP and SQLite) as recorded runs, without ROS.

A bag holds one run. For every camera, whose topics begin with a common prefix such as `/left`:

    PREFIX/color/image_raw          sensor_msgs/Image (rgb8, bgr8, ...), or PREFIX/color/image_raw/compressed
    PREFIX/depth/image_raw          16UC1 in mm, 32FC1 in m, or .../compressedDepth; or aligned_depth_to_color
    PREFIX/color/camera_info        intrinsics; header.frame_id is the optical frame
    PREFIX/masks                    a label image: mono8, 16UC1 or 32SC1, 0 is background; or
    PREFIX/detections               std_msgs/String: JSON with `detections`: name, number, segmentation (COCO)

and for all of them:

    /tf, /tf_static                 from the robot's base to the optical frames
    /nsrecover/plan                 std_msgs/String: the executed actions, one a line
    /nsrecover/observe              std_msgs/Header: a moment to judge; one before the first action and one after each
    /nsrecover/labels               std_msgs/String: JSON with `labels` (number -> name), for label images
    /nsrecover/gripper              sensor_msgs/JointState: opening in metres, effort 1 if it holds something (optional)

Messages belong to the moment that their header's stamp is nearest to, so that they may arrive late or in any order.
JSON texts may hold `stamp_s`; without one, the time of the recording counts.

Needs rosbags: `pip install 'nsrecover[bags]'`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from nsrecover.core.actions import Action, Plan
from nsrecover.core.extras import needs_extra
from nsrecover.core.observation import Camera, Observation
from nsrecover.errors import InvalidRecording, NsrecoverError, did_you_mean
from nsrecover.perception.mask_formats import instances_of
from nsrecover.records.bag_frames import Frames
from nsrecover.records.bag_images import colour_of, depth_of, labels_of
from nsrecover.records.recording import Recording

PLAN, OBSERVE, LABELS, GRIPPER = (f"/nsrecover/{name}" for name in ("plan", "observe", "labels", "gripper"))
TF = ("/tf", "/tf_static")
COLOUR = ("/color/image_raw", "/color/image_raw/compressed")
DEPTH = (
    "/aligned_depth_to_color/image_raw", "/depth/image_raw", "/depth/image_raw/compressedDepth",
    "/aligned_depth_to_color/image_raw/compressedDepth",
)  # fmt: skip
INFO = "/color/camera_info"
MASKS = ("/masks", "/detections")

SLOP_S = 0.1
"""Largest difference between a moment and the stamp of an image that belongs to it, seconds."""


@dataclass
class _Nearest:
    """The message of one topic that is nearest to each moment.

    Attributes:
        topic: of the messages.
        found: number of the moment -> difference in seconds, and the message.
    """

    topic: str
    found: dict[int, tuple[float, Any]] = field(default_factory=dict)

    def offer(self, stamp_s: float, moments: Sequence[float], message: Any) -> None:
        """Keep the message for every moment that it is nearer to than the ones before."""
        for number, moment in enumerate(moments):
            apart = abs(stamp_s - moment)
            if apart < self.found.get(number, (np.inf, None))[0]:
                self.found[number] = apart, message

    def at(self, number: int, moment: float, slop_s: float) -> Any:
        """The message of a moment.

        Raises:
            InvalidRecording: there is none near enough.
        """
        apart, message = self.found.get(number, (np.inf, None))
        if apart > slop_s:
            raise InvalidRecording(
                f"expected a message on {self.topic} within {slop_s:g} s of the moment {moment:.3f} s (number "
                f"{number}), found the nearest {apart:.3g} s away; record the topic at a higher rate, or check that "
                "all clocks agree"
            )
        return message


def read_bag(path: str | Path, base_frame: str = "base_link", slop_s: float = SLOP_S) -> Recording:
    """Read a run.

    Args:
        path: folder of the bag, or its only data file (.mcap, .db3).
        base_frame: the robot's base: z up, the table's top at z = 0.
        slop_s: how far the stamp of an image may be from its moment, seconds.

    Raises:
        InvalidRecording: the bag is missing or damaged, a topic is missing or of another type, or messages are too far
            from the moments.
        InvalidConfiguration: rosbags is not installed.
    """
    path = Path(path)
    with _opened(path) as reader:
        topics = {connection.topic for connection in reader.connections}
        prefixes = sorted(topic.removesuffix(INFO) for topic in topics if topic.endswith(INFO))
        _check_topics(path, topics, prefixes)
        small = {PLAN, OBSERVE, LABELS, *TF, *(prefix + INFO for prefix in prefixes)}
        plan, moments, labels, frames, infos = _read_small(path, reader, small & topics, base_frame)
        views = [_View(prefix, topics) for prefix in prefixes]
        wanted = {topic: _Nearest(topic) for view in views for topic in view.topics} | {GRIPPER: _Nearest(GRIPPER)}
        for topic, time_s, message in _messages(reader, wanted.keys() & topics):
            wanted[topic].offer(_stamp(message, time_s), moments, message)
    if len(moments) != len(plan) + 1:
        raise InvalidRecording(
            f"expected {len(plan) + 1} moments on {OBSERVE} for the {len(plan)} actions of {PLAN}, found "
            f"{len(moments)}; publish one before the first action and one after each"
        )
    try:
        observations = []
        for number, moment in enumerate(moments):
            parts = [view.at(number, moment, wanted, slop_s) for view in views]
            cameras = tuple(
                Camera(infos[view.prefix][0], frames.pose(infos[view.prefix][1], moment), view.prefix.lstrip("/"))
                for view in views
            )
            observations.append(_observation(parts, cameras, labels.at(moment), wanted[GRIPPER], number, moment))
        return Recording(plan, tuple(observations), {"bag": path.name})
    except InvalidRecording:
        raise
    except NsrecoverError as problem:
        raise InvalidRecording(f"expected observations that can be used in {path}, found: {problem}") from problem


class _View:
    """The topics of one camera."""

    def __init__(self, prefix: str, topics: set[str]) -> None:
        self.prefix = prefix
        self.colour, self.depth, self.masks = (
            next(prefix + name for name in names if prefix + name in topics) for names in (COLOUR, DEPTH, MASKS)
        )

    @property
    def topics(self) -> tuple[str, str, str]:
        return self.colour, self.depth, self.masks

    def at(
        self, number: int, moment: float, wanted: Mapping[str, _Nearest], slop_s: float
    ) -> tuple[Any, Any, Any, dict[int, str]]:
        """Colour, depth, instances and own labels at a moment."""
        rgb, depth, masks = (wanted[topic].at(number, moment, slop_s) for topic in self.topics)
        colours, metres = colour_of(rgb, self.colour), depth_of(depth, self.depth)
        if metres.shape != colours.shape[:2]:
            raise InvalidRecording(
                f"expected depth of the size of the colour image, {colours.shape[:2]}, on {self.depth}, found "
                f"{metres.shape}; record depth that is aligned to colour (aligned_depth_to_color)"
            )
        if self.masks.endswith(MASKS[0]):
            return colours, metres, labels_of(masks, self.masks), {}
        found = _json(masks.data, self.masks)
        instances, names = instances_of(found.get("detections", ()), *colours.shape[:2])
        return colours, metres, instances, names


class _Labels:
    """Names of the numbers in label images, as they were published last."""

    def __init__(self) -> None:
        self._known: list[tuple[float, dict[int, str], bool]] = []

    def add(self, stamp_s: float, document: Mapping[str, Any]) -> None:
        try:
            names = {int(number): str(name) for number, name in document.get("labels", {}).items()}
        except (AttributeError, ValueError) as problem:
            raise InvalidRecording(
                f'expected labels as {{"1": "red cube", ...}} on {LABELS}, found {str(document)[:60]}'
            ) from problem
        self._known.append((stamp_s, names, bool(document.get("shared_ids", True))))

    def at(self, moment: float) -> tuple[dict[int, str], bool | None]:
        """Labels at a moment, and whether numbers are shared by all views; the first ones if there are none before."""
        if not self._known:
            return {}, None
        before = [each for each in self._known if each[0] <= moment + SLOP_S] or [min(self._known)]
        _, names, shared = max(before, key=lambda each: each[0])
        return names, shared


def _observation(
    parts: Sequence[tuple[Any, Any, Any, dict[int, str]]],
    cameras: tuple[Camera, ...],
    labelled: tuple[dict[int, str], bool | None],
    gripper: _Nearest,
    number: int,
    moment: float,
) -> Observation:
    rgb, depth, instances, own = zip(*parts, strict=True)
    sizes = {image.shape[:2] for image in rgb}
    if len(sizes) > 1:
        raise InvalidRecording(f"expected images of one size from all cameras, found {sorted(sizes)}; resize them")
    labels, shared = labelled
    if any(own):
        instances, labels, shared = *_by_name(instances, own), True
    opening, holding = 0.0, False
    if number in gripper.found:
        state = gripper.found[number][1]
        opening = float(state.position[0]) if len(state.position) else 0.0
        holding = bool(len(state.effort) and state.effort[0] > 0)
    return Observation(
        np.stack(rgb), np.stack(depth), np.stack(instances), cameras, labels, opening, holding, moment,
        shared_ids=shared is not False,
    )  # fmt: skip


def _by_name(instances: Sequence[Any], own: Sequence[Mapping[int, str]]) -> tuple[tuple[Any, ...], dict[int, str]]:
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


def _check_topics(path: Path, topics: set[str], prefixes: Sequence[str]) -> None:
    """Refuse a bag without the topics that are needed."""
    needed = {PLAN: [PLAN], OBSERVE: [OBSERVE], "/tf or /tf_static": list(TF)}
    if not prefixes:
        raise InvalidRecording(
            f"expected a topic PREFIX{INFO} for each camera in {path}, found none among {', '.join(sorted(topics))}"
        )
    for prefix in prefixes:
        for names in (COLOUR, DEPTH, MASKS):
            needed[" or ".join(prefix + name for name in names[:2])] = [prefix + name for name in names]
    for name, either in needed.items():
        if not topics & set(either):
            raise InvalidRecording(
                f"expected the topic {name} in {path}, found none.{did_you_mean(either[0], topics)} Record it, too"
            )


def _read_small(
    path: Path, reader: Any, topics: set[str], base_frame: str
) -> tuple[Plan, list[float], _Labels, Frames, dict[str, tuple[Any, str]]]:
    """Plan, moments, labels, transforms and intrinsics."""
    plans, moments, labels, frames = [], [], _Labels(), Frames(base_frame)
    infos: dict[str, tuple[Any, str]] = {}
    for topic, time_s, message in _messages(reader, topics):
        if topic == PLAN:
            plans.append(message.data)
        elif topic == OBSERVE:
            moments.append(_seconds(message.stamp))
        elif topic == LABELS:
            document = _json(message.data, topic)
            labels.add(float(document.get("stamp_s", time_s)), document)
        elif topic in TF:
            for each in message.transforms:
                frames.add(each, _seconds(each.header.stamp), fixed=topic == TF[1])
        else:
            infos[topic.removesuffix(INFO)] = _intrinsics(message, topic), message.header.frame_id
    if not plans:
        raise InvalidRecording(
            f"expected a plan on {PLAN} in {path}, found no message; publish the actions, one a line"
        )
    return plan_of(plans[-1]), sorted(moments), labels, frames, infos


def plan_of(text: str) -> Plan:
    """A plan from the text of its topic: one action a line, or JSON with `plan` and `targets`."""
    if not text.lstrip().startswith("{"):
        return Plan.parse([line.strip() for line in text.replace(";", "\n").splitlines() if line.strip()])
    document = _json(text, PLAN)
    actions = Plan.parse(document.get("plan", [])).actions
    targets = document.get("targets") or [None] * len(actions)
    return Plan(
        tuple(
            Action(action.operator, action.arguments, None if target is None else tuple(target))
            for action, target in zip(actions, targets, strict=True)
        )
    )


def _intrinsics(message: Any, topic: str) -> Any:
    k = np.asarray(message.k, np.float32).reshape(3, 3)
    if not k[0, 0] > 0:
        raise InvalidRecording(
            f"expected intrinsics on {topic}, found a focal length of {k[0, 0]:g}; calibrate the camera"
        )
    if len(message.d) and np.abs(message.d).max() > 1e-6:
        raise InvalidRecording(
            f"expected rectified images on {topic}, found distortion {np.round(message.d, 4).tolist()}; record "
            "image_rect and its camera_info"
        )
    return k


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    with needs_extra("bags", "rosbags"):
        from rosbags.highlevel import AnyReader, AnyReaderError
        from rosbags.typesys import Stores, get_typestore
    if not path.exists():
        raise InvalidRecording(f"expected a ROS 2 bag at {path}, found nothing there; check the path")
    place = path.parent if path.suffix == ".db3" and (path.parent / "metadata.yaml").is_file() else path
    try:
        with AnyReader([place], default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as reader:
            yield reader
    except NsrecoverError:
        raise
    except (AnyReaderError, OSError, AssertionError, KeyError, ValueError) as problem:
        raise InvalidRecording(
            f"expected a ROS 2 bag at {path}, found one that cannot be read ({problem or type(problem).__name__}); "
            "it is damaged or was not closed: `ros2 bag reindex` may help"
        ) from problem


def _messages(reader: Any, topics: set[str]) -> Iterator[tuple[str, float, Any]]:
    connections = [each for each in reader.connections if each.topic in topics]
    for connection, time_ns, data in reader.messages(connections=connections) if connections else ():
        yield connection.topic, time_ns / 1e9, reader.deserialize(data, connection.msgtype)


def _stamp(message: Any, time_s: float) -> float:
    """When a message was measured: its header's stamp, or `stamp_s` of a JSON text, or when it was recorded."""
    if hasattr(message, "header"):
        return _seconds(message.header.stamp)
    return float(_json(message.data, "detections").get("stamp_s", time_s))


def _seconds(stamp: Any) -> float:
    return float(stamp.sec) + float(stamp.nanosec) / 1e9


def _json(text: str, topic: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except ValueError as problem:
        raise InvalidRecording(f"expected JSON on {topic}, found {text[:40]!r} ({problem})") from problem
    if not isinstance(document, dict):
        raise InvalidRecording(f"expected a JSON object on {topic}, found {text[:40]!r}")
    return document

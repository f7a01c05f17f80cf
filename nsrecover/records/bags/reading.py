"""ROS 2 bags (MCAP and SQLite) as recorded runs, without ROS.

A bag holds one run. For every camera, whose topics begin with a common prefix such as `/left`, by these or by the names
of other drivers (`nsrecover.records.bags.layout.DRIVERS`):

    PREFIX/color/image_raw          sensor_msgs/Image (rgb8, bgr8, ...), or image_rect, or either with /compressed
    PREFIX/depth/image_raw          16UC1 in mm, 32FC1 in m, or .../compressedDepth; or aligned_depth_to_color
    PREFIX/color/camera_info        intrinsics: K, of image_rect P; header.frame_id is the optical frame
    PREFIX/masks                    a label image: mono8, 16UC1 or 32SC1, 0 is background; or
    PREFIX/detections               std_msgs/String: JSON with `detections`: name, number, segmentation (COCO)

and for all of them:

    /tf, /tf_static                 from the robot's base to the optical frames
    /nsrecover/plan                 std_msgs/String: the executed actions, one a line
    /nsrecover/observe              std_msgs/Header: a moment to judge; one before the first action and one after each
    /nsrecover/labels               std_msgs/String: JSON with `labels` (number -> name), for label images
    /nsrecover/gripper              sensor_msgs/JointState: opening in metres, effort 1 if it holds something (optional)

Messages belong to the moment that their header's stamp is nearest to, so that they may arrive late or in any order.
JSON texts may hold `stamp_s`; without one, the time of the recording counts. Of alternatives the topic with messages is
read, rectified before raw images; raw ones are rectified here, with their depth and masks. A camera that lacks one of
its topics is left out, and other topics are not opened.

Needs rosbags: `pip install 'nsrecover[bags]'`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from nsrecover.core import Camera, Observation
from nsrecover.errors import InvalidRecording, did_you_mean
from nsrecover.records.bags import BASE_FRAME
from nsrecover.records.bags.camera_info import Infos
from nsrecover.records.bags.frames import TransformTree
from nsrecover.records.bags.images import Message
from nsrecover.records.bags.layout import Layout, ViewTopics
from nsrecover.records.bags.messages import (
    CLOUD,
    GRIPPER,
    LABELS,
    OBSERVE,
    PLAN,
    READABLE,
    SLOP_S,
    TF,
    TRANSFORM_SLOP_S,
    Labels,
    Pictures,
    cloud_pictures,
    json_of,
    observation_of,
    plan_of,
    seconds,
    shown,
    stamp_of,
)
from nsrecover.records.bags.opening import Bag, opened
from nsrecover.records.reading import readable
from nsrecover.records.recording import Recording
from nsrecover.util.english import amount

MOST = 20
"""Moments that are read of a bag without a plan."""


@dataclass
class _Nearest:
    """The message of one topic that is nearest to each moment.

    Attributes:
        topic: of the messages.
        found: number of the moment -> difference in seconds, and the message.
    """

    topic: str
    found: dict[int, tuple[float, Message]] = field(default_factory=dict)

    def offer(self, stamp_s: float, moments: Sequence[float], message: Message) -> None:
        """Keep the message for every moment that it is nearer to than the ones before."""
        for number, moment in enumerate(moments):
            apart = abs(stamp_s - moment)
            if apart < self.found.get(number, (np.inf, None))[0]:
                self.found[number] = apart, message

    def at(self, number: int, moment: float, slop_s: float) -> Message:
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


def read_bag(
    path: str | Path,
    layout: Layout | str = BASE_FRAME,
    slop_s: float = SLOP_S,
    transform_slop_s: float = TRANSFORM_SLOP_S,
) -> Recording:
    """Read a run.

    Args:
        path: folder of the bag, or its only data file (.mcap, .db3).
        layout: the robot's base (z up, the table's top at z = 0), cameras and topics; or the base alone.
        slop_s: how far the stamp of an image may be from its moment, seconds.
        transform_slop_s: how far a transform of a moving frame may be from its moment, seconds.

    Raises:
        InvalidRecording: the bag is missing or damaged, a topic is missing or of another type, or messages are too far
            from the moments.
        InvalidConfiguration: rosbags is not installed.
    """
    path = Path(path)
    layout = Layout(layout) if isinstance(layout, str) else layout
    with opened(path) as bag:
        ours = _shared_topics(path, bag.topics, layout)
        views = layout.views({topic for topic, kind in bag.kinds.items() if kind in READABLE})
        infos = _infos(views)
        text, moments, labels, frames = _read_small(path, bag, ours, infos, layout.base_frame)
        gripper = next((topic for topic, name in ours.items() if name == GRIPPER), "")
        wanted = {topic: _Nearest(topic) for view in views for topic in view.pictures} | {gripper: _Nearest(gripper)}
        for topic, time_s, message in bag.messages(wanted.keys() & bag.topics):
            wanted[topic].offer(stamp_of(message, time_s), moments, message)
    plan = plan_of(text)
    if len(moments) != len(plan) + 1:
        raise InvalidRecording(
            f"expected {amount(len(plan) + 1, 'moment')} on {OBSERVE} for the {len(plan)} actions of {PLAN}, found "
            f"{len(moments)}; publish one before the first action and one after each"
        )
    observations = []
    with readable(f"observations that can be used in {path}", "record it again"):
        for number, moment in enumerate(moments):
            parts, cameras = [], []
            for view in views:
                images = [wanted[topic].at(number, moment, slop_s) for topic in view.pictures]
                part, camera = shown(view, images, _infos_at(view, infos, moment), frames, moment, transform_slop_s)
                parts.append(part)
                cameras.append(camera)
            held = wanted[gripper].found.get(number, (0.0, None))[1]
            observations.append(observation_of(parts, tuple(cameras), labels.at(moment), held, moment))
    return Recording(plan, tuple(observations), {"bag": path.name})


def read_images(path: str | Path, layout: Layout | str = BASE_FRAME, most: int = MOST) -> tuple[Observation, ...]:
    """Observations without masks from what a camera driver has recorded; no topics of nsrecover are needed.

    Moments are those of the images of the first camera. One for which another image is too far away is left out. If no
    camera has colour and depth images, organised point clouds with colours count as both.

    Args:
        path: as for `read_bag`, also a bag of ROS 1 (.bag).
        layout: the robot's base (z up), cameras and topics; or the base alone.
        most: of so many moments over the whole bag.

    Raises:
        InvalidRecording: as for `read_bag`.
        InvalidConfiguration: rosbags is not installed.
    """
    path, layout = Path(path), Layout(layout) if isinstance(layout, str) else layout
    with opened(path) as bag:
        clouds = sorted(topic for topic, kind in bag.kinds.items() if kind == CLOUD)
        names = {topic: name for name in TF if (topic := layout.shared(name, bag.topics)) is not None}
        try:
            views = layout.views({topic for topic, kind in bag.kinds.items() if kind in READABLE}, masked=False)
        except InvalidRecording:
            if not clouds:
                raise
            views = ()
        infos = _infos(views)
        _, _, _, frames = _small(bag, names, infos, layout.base_frame)
        wanted = {topic: _Nearest(topic) for view in views for topic in view.pictures}
        wanted |= {topic: _Nearest(topic) for topic in ([] if views else clouds[:1])}
        (first, *_) = wanted
        stamps = sorted(stamp_of(message, time_s) for _, time_s, message in bag.messages({first}))
        moments = [stamps[round(place)] for place in np.linspace(0, len(stamps) - 1, min(most, len(stamps)))]
        for topic, time_s, message in bag.messages(set(wanted)):
            wanted[topic].offer(stamp_of(message, time_s), moments, message)
    observations, problem = list[Observation](), InvalidRecording(f"expected images in {path}, found none")
    for number, moment in enumerate(moments):
        try:
            seen = [
                shown(
                    view, [wanted[topic].at(number, moment, SLOP_S) for topic in view.pictures],
                    _infos_at(view, infos, moment), frames, moment, TRANSFORM_SLOP_S,
                )
                for view in views
            ] or [_of_cloud(wanted[first].at(number, moment, SLOP_S), first, frames, moment)]  # fmt: skip
        except InvalidRecording as found:
            problem = found
            continue
        pictures, cameras = zip(*seen, strict=True)
        observations.append(observation_of(pictures, cameras, ({}, None), None, moment))
    if not observations:
        raise problem
    return tuple(observations)


def _of_cloud(message: Message, topic: str, frames: TransformTree, moment: float) -> tuple[Pictures, Camera]:
    pictures, k = cloud_pictures(message, topic)
    pose = frames.optical_pose(message.header.frame_id, moment, TRANSFORM_SLOP_S)
    return pictures, Camera(k, pose, topic.strip("/").partition("/")[0] or "camera")


def _infos(views: Sequence[ViewTopics]) -> dict[str, Infos]:
    return {topic: Infos() for view in views for topic in (view.info, view.depth_info)}


def _infos_at(view: ViewTopics, infos: Mapping[str, Infos], moment: float) -> tuple[Message, Message | None]:
    """The CameraInfo of colour, and that of depth, if there is one."""
    own = infos[view.depth_info]
    colour = infos[view.info].at(moment, SLOP_S, view.info)
    return colour, own.at(moment, SLOP_S, view.depth_info) if own.known else None


def _shared_topics(path: Path, topics: set[str], layout: Layout) -> dict[str, str]:
    """The topics of a bag that all cameras share -> ours."""
    every = {name: layout.shared(name, topics) for name in (PLAN, OBSERVE, LABELS, GRIPPER, *TF)}
    for names in ((PLAN,), (OBSERVE,), TF):
        if not any(map(every.get, names)):
            raise InvalidRecording(
                f"expected the topic {' or '.join(names)} in {path}, found none."
                f"{did_you_mean(names[0], topics)} Record it, too"
            )
    return {topic: name for name, topic in every.items() if topic is not None}


def _read_small(
    path: Path, bag: Bag, ours: Mapping[str, str], infos: Mapping[str, Infos], base_frame: str
) -> tuple[str, list[float], Labels, TransformTree]:
    """Text of the plan, moments, labels and transforms; CameraInfos are added."""
    plans, moments, labels, frames = _small(bag, ours, infos, base_frame)
    if not plans:
        raise InvalidRecording(
            f"expected a plan on {PLAN} in {path}, found no message; publish the actions, one a line"
        )
    return plans[-1], sorted(moments), labels, frames


def _small(
    bag: Bag, ours: Mapping[str, str], infos: Mapping[str, Infos], base_frame: str
) -> tuple[list[str], list[float], Labels, TransformTree]:
    """As `_read_small`, with the texts of all plans."""
    plans, moments, labels, frames = [], [], Labels(), TransformTree(base_frame)
    for topic, time_s, message in bag.messages({*ours, *infos} - {GRIPPER}):
        name = ours.get(topic)
        if name == PLAN:
            plans.append(message.data)
        elif name == OBSERVE:
            moments.append(seconds(message.stamp))
        elif name == LABELS:
            document = json_of(message.data, topic)
            labels.add(float(document.get("stamp_s", time_s)), document)
        elif name in TF:
            for each in message.transforms:
                frames.add(each, seconds(each.header.stamp), fixed=name == TF[1])
        elif topic in infos:
            infos[topic].add(seconds(message.header.stamp), message)
    return plans, moments, labels, frames

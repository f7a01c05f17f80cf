"""Messages as they arrive, and the observation of one moment made of them."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nsrecover.core import FactScene, Observation
from nsrecover.core.glances import RobotState
from nsrecover.errors import InvalidConfiguration, InvalidRecording, did_you_mean
from nsrecover.records.bags import BASE_FRAME
from nsrecover.records.bags.camera_info import Infos
from nsrecover.records.bags.frames import TransformTree
from nsrecover.records.bags.layout import DRIVERS, MASKS, Layout, ViewTopics, topics_of
from nsrecover.records.bags.messages import (
    BOXES,
    FACTS,
    GRIPPER,
    LABELS,
    ROBOT,
    SLOP_S,
    TF,
    TRANSFORM_SLOP_S,
    Labels,
    json_of,
    observation_of,
    seconds,
    shown,
    stamp_of,
    type_of,
)
from nsrecover.records.reading import readable
from nsrecover.util.json_data import from_json

BACK_S = 5.0
"""If stamps go back by more than that, the clock or a simulator was restarted, and old messages are dropped."""

KEPT_S = 10.0
"""How long transforms are kept, seconds."""


@dataclass(frozen=True)
class BufferSettings:
    """What to collect.

    Attributes:
        cameras: prefixes of the topics of each camera, such as `/left`; empty: boxes or facts instead of images.
        base_frame: the robot's base: z up, the table's top at z = 0.
        slop_s: how far apart the messages of one moment may be, seconds.
        transform_slop_s: how far from the moment a transform of a moving frame may be, seconds.
        keep: messages of a topic to keep.
        driver: how the cameras' topics are named; see `nsrecover.records.bags.layout.DRIVERS`.
        topics: other names, each `NAME=ROLE` as in `--topic`.
        namespace: of the robot, such as `/robot1`; of /tf and of the topics of nsrecover.
    """

    cameras: tuple[str, ...] = ("/left", "/right")
    base_frame: str = BASE_FRAME
    slop_s: float = SLOP_S
    transform_slop_s: float = TRANSFORM_SLOP_S
    keep: int = 30
    driver: str = "realsense"
    topics: tuple[str, ...] = ()
    namespace: str = ""

    @property
    def layout(self) -> Layout:
        """The topics and the base."""
        return Layout.of(self.base_frame, self.cameras, self.topics, self.namespace)

    def named(self, ours: str) -> str:
        """The name of one of our topics that all cameras share."""
        return self.layout.roles.get(ours.rpartition("/")[2]) or self.layout.namespace + ours


@dataclass(frozen=True)
class Incomplete:
    """Why there is no observation yet.

    Attributes:
        missing: what has not arrived, one text each.
    """

    missing: tuple[str, ...]


class MessageBuffer:
    """Keeps the latest messages of every topic; images are decoded only when an observation is made.

    Not safe for several threads: the caller has the lock.

    Args:
        settings: what to collect.
    """

    def __init__(self, settings: BufferSettings) -> None:
        self._settings = settings
        self._kept: dict[str, deque[tuple[float, Any]]] = {}
        self._layout = settings.layout
        if settings.driver not in DRIVERS:
            raise InvalidConfiguration(
                f"expected a driver of {', '.join(DRIVERS)}, found {settings.driver!r}."
                f"{did_you_mean(settings.driver, DRIVERS)}"
            )
        self._ours = {settings.named(name): name for name in (*TF, LABELS, GRIPPER, ROBOT, BOXES, FACTS)}
        self._frames = TransformTree(settings.base_frame, KEPT_S)
        self._infos: dict[str, Infos] = {}
        self._always: Mapping[str, Any] | None = None  # labels without a stamp
        self._newest_s = 0.0

    @property
    def topics(self) -> tuple[str, ...]:
        """Every topic that it takes; alternatives without a publisher do no harm."""
        given = self._settings.cameras
        ours = [topic for topic, name in self._ours.items() if (name in (BOXES, FACTS)) != bool(given)]
        space = self._layout.namespace
        prefixes = [each if each.startswith(space) else space + each for each in self._layout.cameras]
        views = [topic for prefix in prefixes for topic in topics_of(prefix, self._settings.driver)]
        return tuple(dict.fromkeys((*views, *self._layout.roles.values(), *ours)))

    def kind_of(self, topic: str) -> str:
        """The type of the messages on one of its topics."""
        role = next((role for role, name in self._layout.roles.items() if name == topic), "").rpartition("/")[2]
        return type_of("/camera_info" if role == "info" else self._ours.get(topic, topic))

    def take(self, topic: str, message: Any, arrival_s: float) -> None:
        """Keep a message.

        Args:
            topic: where it came from.
            message: the message.
            arrival_s: when it came; for texts without a stamp.

        Raises:
            InvalidRecording: it cannot be used. What was kept stays.
        """
        topic = self._ours.get(topic, topic)
        if topic in TF:
            for each in message.transforms:
                self._frames.add(each, seconds(each.header.stamp), fixed=topic == TF[1])
        elif hasattr(message, "distortion_model"):
            self._infos.setdefault(topic, Infos()).add(seconds(message.header.stamp), message)
        elif topic == LABELS and "stamp_s" not in (document := json_of(message.data, topic)):
            self._always = document
        else:
            stamp_s = stamp_of(message, arrival_s)
            if stamp_s < self._newest_s - BACK_S:
                self._kept.clear()
                self._frames.forget()
                self._infos.clear()
                self._newest_s = 0.0
            self._newest_s = max(self._newest_s, stamp_s)
            self._kept.setdefault(topic, deque(maxlen=self._settings.keep)).append((stamp_s, message))

    def observation(self, after_s: float) -> tuple[object, float] | Incomplete:
        """The latest observation of which every part was measured at `after_s` or later, and its moment, seconds.

        Raises:
            InvalidRecording: messages are complete and cannot be used.
            InvalidObservation: as above.
        """
        if not self._settings.cameras:
            return self._given(after_s)
        try:
            known = self._layout.views({*self._kept, *self._infos})
        except InvalidRecording as problem:
            return Incomplete((f"no message yet: {problem}",))
        moments = sorted((s for s, _ in self._kept[known[0].colour] if s >= after_s), reverse=True)
        if not moments:
            return Incomplete((f"nothing on {known[0].colour} since the moment {after_s:.3f} s",))
        missing: tuple[str, ...] = ()
        for moment in moments:
            found = self._at(moment, after_s, known)
            if not isinstance(found, Incomplete):
                return found, moment
            missing = missing or found.missing
        return Incomplete(missing)

    def glance(self, after_s: float) -> tuple[Observation, RobotState] | None:
        """The latest images after a moment with the state of the robot then; None if there are none.

        Raises:
            InvalidRecording: messages are complete and cannot be used.
            InvalidObservation: as above.
        """
        seen = self.observation(after_s) if ROBOT in self._kept else None
        if seen is None or isinstance(seen, Incomplete) or not isinstance(images := seen[0], Observation):
            return None
        state = self._nearest(ROBOT, seen[1], 0.0)
        if state is None:
            return None
        x, y, z = map(float, state.tool_m)
        return images, RobotState(float(state.opening_m), (x, y, z), bool(state.gripping))

    def _at(self, moment: float, after_s: float, views: Sequence[ViewTopics]) -> Observation | Incomplete:
        parts = [[self._nearest(topic, moment, after_s) for topic in view.pictures] for view in views]
        missing = [
            f"nothing on {topic} within {self._settings.slop_s:g} s of {moment:.3f} s"
            for view, messages in zip(views, parts, strict=True)
            for topic, message in zip(view.pictures, messages, strict=True)
            if message is None
        ]
        named = any(not view.masks.endswith(MASKS[1]) for view in views)
        labels = self._labels(moment)
        if named and labels is None:
            missing.append(f"nothing on {LABELS} for {moment:.3f} s")
        infos, slop_s, far_s = [], self._settings.slop_s, self._settings.transform_slop_s
        for view in views:
            try:
                infos.append(self._infos[view.info].at(moment, slop_s, view.info))
                self._frames.optical_pose(infos[-1].header.frame_id, moment, far_s)
            except InvalidRecording as problem:
                missing.append(str(problem))
        if missing:
            return Incomplete(tuple(missing))
        seen = [
            shown(view, messages, (info, None), self._frames, moment, far_s)
            for view, messages, info in zip(views, parts, infos, strict=True)
        ]
        pictures, cameras = [each for each, _ in seen], tuple(camera for _, camera in seen)
        return observation_of(pictures, cameras, labels or ({}, None), self._nearest(GRIPPER, moment, 0.0), moment)

    def _nearest(self, topic: str, moment: float, after_s: float) -> Any:
        near = [(abs(s - moment), i) for i, (s, _) in enumerate(self._kept.get(topic, ())) if s >= after_s]
        apart, place = min(near, default=(float("inf"), 0))
        return self._kept[topic][place][1] if apart <= self._settings.slop_s else None

    def _labels(self, moment: float) -> tuple[dict[int, str], bool | None] | None:
        message = self._nearest(LABELS, moment, 0.0)
        document = self._always if message is None else json_of(message.data, LABELS)
        if document is None:
            return None
        labels = Labels()
        labels.add(moment, document)
        return labels.at(moment)

    def _given(self, after_s: float) -> tuple[object, float] | Incomplete:
        """The latest boxes or facts."""
        fresh = [(*each, topic) for topic in (BOXES, FACTS) for each in self._kept.get(topic, ()) if each[0] >= after_s]
        if not fresh:
            return Incomplete((f"nothing on {BOXES} or {FACTS} since the moment {after_s:.3f} s",))
        stamp_s, message, topic = max(fresh, key=lambda each: each[0])
        document = json_of(message.data, topic)
        if topic == FACTS:
            given = {name: document.get(name, []) for name in ("facts", "certainty")}
            with readable(f"facts on {FACTS}", 'publish {"facts": [["at", "mug", "sink"]]}'):
                return from_json(FactScene, given), stamp_s
        boxes = document.get("boxes")
        if not isinstance(boxes, Mapping):
            raise InvalidRecording(f'expected {{"boxes": {{name: [x, y, z, dx, dy, dz]}}}} on {BOXES}, found {boxes!r}')
        return {str(name): tuple(box) if isinstance(box, list) else box for name, box in boxes.items()}, stamp_s

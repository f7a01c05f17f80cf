"""Which topics of a bag or a robot are which: the names of known drivers, and what a user says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from nsrecover.errors import InvalidConfiguration, InvalidRecording, did_you_mean
from nsrecover.records.bags import BASE_FRAME


class Driver(NamedTuple):
    """How a driver names the topics of a camera, after their common prefix; of alternatives the first one is read.

    Attributes:
        info: of the CameraInfo.
        colour: of colour images, rectified ones first.
        depth: of depth that is aligned to colour, rectified first.
    """

    info: str
    colour: tuple[str, ...]
    depth: tuple[str, ...]


DRIVERS: dict[str, Driver] = {
    "realsense": Driver(
        "/color/camera_info",
        ("/color/image_rect", "/color/image_rect_color", "/color/image_raw", "/color/image_color"),
        (
            *("/aligned_depth_to_color/image_rect", "/aligned_depth_to_color/image_raw"),
            *("/depth/image_rect", "/depth/image_raw", "/depth/image"),
        ),
    ),
    "openni": Driver(
        "/rgb/camera_info",
        ("/rgb/image_rect_color", "/rgb/image_rect", "/rgb/image_raw"),
        (
            *(f"/depth_registered/{way}image_rect{raw}" for raw in ("", "_raw") for way in ("", "hw_registered/")),
            *("/depth_registered/sw_registered/image_rect_raw", "/depth_registered/image_raw"),
            *("/depth/depth_registered", "/depth_to_rgb/image_rect", "/depth_to_rgb/image_raw"),
            *("/stereo/image_rect", "/stereo/image_raw", "/stereo/depth"),
        ),
    ),
    "zed": Driver("/left/camera_info", ("/left/image_rect_color", "/left/image_rect"), ("/depth/depth_registered",)),
    "zed5": Driver("/rgb/color/rect/camera_info", ("/rgb/color/rect/image",), ("/depth/depth_registered",)),
    "gazebo": Driver(
        "/camera_info",
        (
            *("/image_rect_color", "/image_color_rect", "/image_rect", "/image_raw", "/image", "/image_color"),
            *("/rgb", "/color_image"),
        ),
        (
            *("/image_depth_rect", "/depth/image_rect", "/depth/image_raw", "/depth_image", "/depth/image"),
            *("/depth_map", "/depth"),
        ),
    ),
}
"""Kind of names -> topics. `openni` has Astra, Azure Kinect, OAK and ZED's rgb, too; `gazebo` has Isaac Sim, Kinect 2
and others that put colour beside the CameraInfo, and `realsense` Orbbec and Zivid."""

MASKS = ("/masks", "/detections")
"""Label images, or JSON with polygons or run lengths."""

WAYS = {
    "colour": ("", "/compressed"), "depth": ("", "/compressedDepth", "/compressed"), "info": ("",), "masks": ("",),
}  # fmt: skip
"""Kind -> what transports of images append."""

KINDS = ("colour", "depth", "info", "masks")
SHARED = ("plan", "observe", "labels", "gripper", "tf", "tf_static")


@dataclass(frozen=True)
class ViewTopics:
    """The topics of one camera.

    Attributes:
        prefix: what they begin with, such as `/left`.
        colour: of colour images.
        depth: of depth images.
        info: of the CameraInfo.
        masks: of label images or detections; empty: there are none.
    """

    prefix: str
    colour: str
    depth: str
    info: str
    masks: str

    @property
    def depth_info(self) -> str:
        """The topic that a CameraInfo of depth has, which is needed if it is seen from elsewhere than colour."""
        return self.depth.rpartition("/")[0] + "/camera_info"

    @property
    def rectified(self) -> bool:
        """Whether the colour images are rectified."""
        return "rect" in self.colour.removeprefix(self.prefix)

    @property
    def pictures(self) -> tuple[str, ...]:
        """The topics of images."""
        return self.colour, self.depth, *([self.masks] if self.masks else [])


@dataclass(frozen=True)
class Layout:
    """What a user says about topics and frames.

    Attributes:
        base_frame: the robot's base: z up, the table's top at z = 0.
        cameras: prefixes of the cameras to read, such as `/left`; empty: all that are whole.
        roles: role -> topic. Roles are `plan`, `observe`, `labels`, `gripper`, `tf`, `tf_static`, and for the only
            camera `colour`, `depth`, `info`, `masks`, for one of several `left/colour`.
        namespace: of the robot, such as `/robot1`.
    """

    base_frame: str = BASE_FRAME
    cameras: tuple[str, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict)
    namespace: str = ""

    @classmethod
    def of(cls, base_frame: str | None, cameras: Sequence[str], topics: Sequence[str], namespace: str | None) -> Layout:
        """A layout as a command is given it.

        Args:
            base_frame: see there; None for `base_link`.
            cameras: prefixes, also several with commas between them.
            topics: each `NAME=ROLE`.
            namespace: see there.

        Raises:
            InvalidConfiguration: a role is not known.
        """
        roles = {}
        for given in topics:
            name, _, role = given.rpartition("=")
            kind = role.rpartition("/")[2]
            if not name or kind not in (*KINDS, *SHARED) or ("/" in role and kind in SHARED):
                raise InvalidConfiguration(
                    f"expected --topic NAME=ROLE with a role of {', '.join((*SHARED, *KINDS))}, or of one of several "
                    f"cameras as in left/colour; found {given!r}.{did_you_mean(kind, (*SHARED, *KINDS))}"
                )
            roles[role.strip("/")] = "/" + name.strip("/")
        chosen = tuple("/" + name.strip("/ ") for each in cameras for name in each.split(",") if name.strip("/ "))
        space = (namespace or "").strip("/")
        return cls(base_frame or BASE_FRAME, chosen, roles, f"/{space}" if space else "")

    def shared(self, name: str, topics: set[str]) -> str | None:
        """The topic that has the role of one of ours; None if there is none.

        Raises:
            InvalidRecording: several could have it.
        """
        given = self.roles.get(name.rpartition("/")[2])
        for exact in (given, self.namespace + name, name):
            if exact in topics:
                return exact
        others = sorted(topic for topic in topics if topic.endswith(name))
        if len(others) > 1:
            raise InvalidRecording(
                f"expected one topic {name}, found {', '.join(others)}; choose with --namespace "
                f"{others[0].removesuffix(name)}, or --topic {others[0]}={name.rpartition('/')[2]}"
            )
        return others[0] if others else None

    def views(self, topics: set[str], masked: bool = True) -> tuple[ViewTopics, ...]:
        """The cameras that are whole, or the chosen ones, by prefix.

        Args:
            topics: all of them.
            masked: whether cameras without masks are left out; else the masks of none are read.

        Raises:
            InvalidRecording: there is none, or one that was chosen, or that has masks, lacks a topic.
        """
        if lost := next((topic for topic in self.roles.values() if topic not in topics), None):
            raise InvalidRecording(f"expected the topic {lost} of --topic, found none.{did_you_mean(lost, topics)}")
        parts = [each for each in self._candidates(topics) if each[0].startswith(self.namespace)]
        chosen = {self._chosen(name, [prefix for prefix, _ in parts]) for name in self.cameras}
        whole = {
            prefix: found
            for prefix, found in reversed(parts)  # the first driver wins
            if all(found[kind] for kind in KINDS[:3]) and prefix in (chosen or {prefix})
        }
        views = {}
        for prefix, found in whole.items():
            masks = (found["masks"] or (_only_masks(topics) if len(whole) == 1 else None)) if masked else ""
            if masks is not None:
                self._check_transforms(prefix, topics)
                views[prefix] = ViewTopics(prefix, masks=masks, **{kind: str(found[kind]) for kind in KINDS[:3]})
        if len(views) > 1 and (bare := sorted({*KINDS} & self.roles.keys())):
            raise InvalidRecording(
                f"expected the camera in --topic {self.roles[bare[0]]}=..., found {', '.join(sorted(views))}; write "
                f"{min(views)[1:]}/{bare[0]}, or choose one with --cameras"
            )
        meant = chosen or {
            prefix for prefix, _ in parts if any(prefix + ending in topics for ending in MASKS) and masked
        }
        for prefix in sorted(meant - views.keys()) or (() if views else (_nearest(parts, topics),)):
            _refuse(prefix, [found for name, found in parts if name == prefix], topics)
        return tuple(views[prefix] for prefix in sorted(views))

    def _check_transforms(self, prefix: str, topics: set[str]) -> None:
        """Refuse a camera of another robot, whose transforms are not those that are read.

        Raises:
            InvalidRecording: the namespace of the camera has transforms of its own.
        """
        for name in ("/tf", "/tf_static"):
            spaces = (topic.removesuffix(name) for topic in topics if topic.endswith(name))
            own = max((space for space in spaces if f"{prefix}/".startswith(f"{space}/")), key=len, default="") + name
            if name[1:] not in self.roles and own in topics and (read := self.shared(name, topics)) != own:
                raise InvalidRecording(
                    f"expected cameras of one robot, found {prefix} with its own transforms on {own} while {read} is "
                    f"read; choose this robot with --namespace {own.removesuffix(name)}, the other one's cameras with "
                    f"--cameras, or say --topic {read}={name[1:]} if it has all frames"
                )

    def _chosen(self, name: str, prefixes: Sequence[str]) -> str:
        """The prefix that a user means, who may leave out its beginning."""
        ending = {prefix for prefix in prefixes if prefix.endswith(name)}
        return name if name in prefixes or len(ending) != 1 else ending.pop()

    def _candidates(self, topics: set[str]) -> Iterator[tuple[str, dict[str, str | None]]]:
        """Prefix, and the topic of each kind, for every driver that may have made them."""
        named = {f"/{role.rpartition('/')[0]}" for role in self.roles if role.rpartition("/")[0]}
        named |= {self.cameras[0] if self.cameras else "/camera"} if "info" in self.roles else set()
        for driver in DRIVERS.values():
            ended = {topic.removesuffix(driver.info) for topic in topics if topic.endswith(driver.info)}
            for prefix in sorted(named | ended):
                names = zip(KINDS, (driver.colour, driver.depth, (driver.info,), MASKS), strict=True)
                yield prefix, {kind: self._topic(prefix, kind, endings, topics) for kind, endings in names}

    def _topic(self, prefix: str, kind: str, endings: Sequence[str], topics: set[str]) -> str | None:
        given = self.roles.get(f"{prefix[1:]}/{kind}") or self.roles.get(kind)
        every = [prefix + ending + way for way in WAYS[kind] for ending in endings]
        return given or next((topic for topic in every if topic in topics), None)


def topics_of(prefix: str, driver: str) -> Iterator[str]:
    """All topics that a camera may have, for subscriptions."""
    known = DRIVERS[driver]
    for kind, endings in zip(KINDS, (known.colour, known.depth, (known.info,), MASKS), strict=True):
        yield from (prefix + ending + way for way in WAYS[kind] for ending in endings)


ENDINGS = tuple({topic for name in DRIVERS for topic in topics_of("", name)})
"""What the topics of cameras end with."""


def _nearest(parts: Sequence[tuple[str, dict[str, str | None]]], topics: set[str]) -> str:
    """The prefix with the most topics of a camera."""
    if not parts:
        raise InvalidRecording(
            f"expected a topic PREFIX{DRIVERS['realsense'].info} or PREFIX/camera_info for each camera, found none "
            f"among {', '.join(sorted(topics))}; name them with --topic NAME=ROLE"
        )
    return max(parts, key=lambda each: sum(map(bool, each[1].values())))[0]


def _only_masks(topics: set[str]) -> str | None:
    found = [topic for topic in topics if topic.endswith(MASKS)]
    return found[0] if len(found) == 1 else None


def _refuse(prefix: str, parts: Sequence[dict[str, str | None]], topics: set[str]) -> None:
    """Say which topic a camera lacks."""
    found = max(parts, key=lambda each: sum(map(bool, each.values())), default=dict.fromkeys(KINDS))
    lost = next(kind for kind in KINDS if not found.get(kind))
    known = DRIVERS["realsense"]
    expected = {"colour": known.colour[::2], "depth": known.depth[1::2], "info": (known.info,), "masks": MASKS}[lost]
    raise InvalidRecording(
        f"expected the topic {' or '.join(prefix + ending for ending in expected)} for the {lost} of the camera "
        f"{prefix}, found none.{did_you_mean(prefix + expected[0], topics)} Record it, too; name another topic with "
        f"--topic NAME={lost}, or other cameras with --cameras"
    )

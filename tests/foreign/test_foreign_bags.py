"""Bags as other people's drivers and recorders write them: read as they are meant, or refused by what is wrong.

One action of the example, one camera, with something changed in its messages.
"""

import io
import json
import struct
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import lz4.frame
import numpy as np
import pytest
from PIL import Image
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from scipy.spatial.transform import Rotation

from nsrecover.core import Plan
from nsrecover.errors import InvalidRecording
from nsrecover.records.bags.compressed_depth import compressed_depth_of
from nsrecover.records.bags.layout import DRIVERS as KNOWN
from nsrecover.records.bags.layout import Layout
from nsrecover.records.bags.messages import stamp_fields
from nsrecover.records.bags.opening import _zstd
from nsrecover.records.bags.reading import read_bag, read_images
from nsrecover.records.bags.writing import BagSettings, RunMessages
from nsrecover.records.recording import Recording, example
from nsrecover.records.runs import read_run
from tests.case_files import cases_of
from tests.commands import run
from tests.observations import one_view

nsr = partial(run, "nsrecover.cli.app")
STORE = get_typestore(Stores.ROS2_HUMBLE)
WHOLE = example()
INFO, COLOUR, DEPTH = "/left/color/camera_info", "/left/color/image_raw", "/left/depth/image_raw"

Sent = tuple[float, str, str, Any]
Change = Callable[[Sent], list[Sent]]


def one_action() -> Recording:
    seen = [replace(one_view(each), time_s=each.time_s + 10) for each in WHOLE.observations[:2]]
    return Recording(Plan(WHOLE.plan.actions[:1]), tuple(seen))


EPISODE = one_action()
SENT = [each for each in RunMessages(BagSettings(), STORE.types).of_run(EPISODE) if not each[1].startswith("/right")]


def write(folder: Path, change: Change = lambda sent: [sent], more: tuple[Any, ...] = (), **options: Any) -> Path:
    """A bag of the episode; `more` are topics that only exist: name, type, definition, messages."""
    mode = options.pop("compression", None)
    writer = Writer(folder, version=9, storage_plugin=options.pop("storage", StoragePlugin.MCAP))
    if mode is not None:
        writer.set_compression(mode, CompressionFormat.ZSTD)
    with writer:
        known: dict[str, Any] = {}
        for name, kind, definition, messages in more:
            known[name] = writer.add_connection(name, kind, msgdef=definition, rihs01="RIHS01_0")
            for data in messages:
                writer.write(known[name], 10**9, data)
        for at, topic, kind, message in (new for sent in SENT for new in change(sent)):
            if topic not in known:
                known[topic] = writer.add_connection(topic, kind, typestore=STORE)
            writer.write(known[topic], round(at * 1e9), STORE.serialize_cdr(message, kind))
    return folder


def on(topic: str, **fields: Any) -> Change:
    """Other fields on one topic; functions get the old value."""

    def changed(sent: Sent) -> list[Sent]:
        if sent[1] != topic:
            return [sent]
        new = {name: value(getattr(sent[3], name)) if callable(value) else value for name, value in fields.items()}
        return [(*sent[:3], replace(sent[3], **new))]

    return changed


def renamed(old: str, new: str) -> Change:
    return lambda sent: [(sent[0], new, *sent[2:])] if sent[1] == old else [sent]


def both(*changes: Change) -> Change:
    def changed(sent: Sent) -> list[Sent]:
        every = [sent]
        for change in changes:
            every = [new for each in every for new in change(each)]
        return every

    return changed


def frames(change: Callable[[Any], Any]) -> Change:
    """Other transforms."""
    return on("/tf", transforms=lambda transforms: [change(each) for each in transforms])


def parent(name: str) -> Change:
    return frames(lambda each: replace(each, header=replace(each.header, frame_id=name)))


def compressed_depth(text: str, pack: Callable[[np.ndarray], bytes]) -> Change:
    """Depth as a CompressedImage."""

    def changed(sent: Sent) -> list[Sent]:
        if sent[1] != DEPTH:
            return [sent]
        image = sent[3]
        pixels = np.frombuffer(image.data, np.uint16).reshape(image.height, image.width)
        kind = "sensor_msgs/msg/CompressedImage"
        data = np.frombuffer(pack(pixels), np.uint8)
        message = STORE.types[kind](header=image.header, format=text, data=data)
        return [(sent[0], DEPTH + "/compressedDepth", kind, message)]

    return changed


def png(pixels: np.ndarray) -> bytes:
    data = io.BytesIO()
    Image.fromarray(pixels).save(data, "PNG")
    return data.getvalue()


def rvl(pixels: np.ndarray) -> bytes:
    """As Wilson's paper describes it: counts of zeros and others, differences, in groups of three bits."""
    flat, numbers, at, before = pixels.ravel().astype(int), [], 0, 0
    while at < len(flat):
        zeros = next((i for i, value in enumerate(flat[at:]) if value), len(flat) - at)
        others = next((i for i, value in enumerate(flat[at + zeros :]) if not value), len(flat) - at - zeros)
        values = flat[at + zeros : at + zeros + others]
        steps = np.diff(values, prepend=before)
        numbers += [zeros, others, *np.where(steps < 0, -2 * steps - 1, 2 * steps).tolist()]
        before = int(values[-1]) if others else before
        at += zeros + others
    groups = []
    for number in numbers:
        while True:
            groups.append(number & 7 | (8 if number > 7 else 0))
            number >>= 3
            if not number:
                break
    groups += [0] * (-len(groups) % 8)
    words = [sum(group << 28 - 4 * i for i, group in enumerate(groups[k : k + 8])) for k in range(0, len(groups), 8)]
    return struct.pack("<II", pixels.shape[1], pixels.shape[0]) + struct.pack(f"<{len(words)}I", *words)


HEADER = struct.pack("<iff", 0, 0.0, 0.0)
DOUBLED = on(INFO, k=lambda k: np.concatenate([k[:6] * 2, k[6:]]), height=480, width=640)
DISTORTED = on(INFO, d=np.array([-0.05, 0.06, 0, 0, 0]), k=lambda k: k * [0.9, 1, 1, 1, 0.9, 1, 1, 1, 1])
RECTIFIED = renamed(COLOUR, "/left/color/image_rect")
BODY = [[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]


def body(transform: Any) -> Any:
    """The pose of the camera's body: x forward, z up."""
    q = transform.transform.rotation
    own = Rotation.from_quat([q.x, q.y, q.z, q.w]) * Rotation.from_matrix(np.transpose(BODY))
    x, y, z, w = own.as_quat().tolist()
    return replace(transform, transform=replace(transform.transform, rotation=replace(q, x=x, y=y, z=z, w=w)))


def turned(size: float) -> Callable[[Any], Any]:
    """A quaternion of another length."""

    def changed(transform: Any) -> Any:
        q = transform.transform.rotation
        scaled = replace(q, x=q.x * size, y=q.y * size, z=q.z * size, w=q.w * size)
        return replace(transform, transform=replace(transform.transform, rotation=scaled))

    return changed


READ: dict[str, Any] = {
    "as it is": {},
    "binning": {"change": both(DOUBLED, on(INFO, binning_x=2, binning_y=2))},
    "a region": {
        "change": on(
            INFO, height=480, width=640, k=lambda k: k + np.array([0, 0, 100, 0, 0, 50, 0, 0, 0]),
            roi=lambda roi: replace(roi, x_offset=100, y_offset=50, height=240, width=320),
        )
    },
    "distortion beside rectified images": {
        "change": both(DISTORTED, RECTIFIED, renamed(DEPTH, "/left/aligned_depth_to_color/image_rect"))
    },
    "K of zeros, and P": {"change": on(INFO, k=np.zeros(9))},
    "another base": {"change": parent("world"), "frame": "world"},
    "the frame of the body": {"change": frames(body)},
    "a base with a slash": {"change": parent("/base_link")},
    "SQLite": {"storage": StoragePlugin.SQLITE3},
    "files in zstd": {"compression": CompressionMode.FILE},
    "messages in zstd": {"compression": CompressionMode.MESSAGE, "storage": StoragePlugin.SQLITE3},
    "RVL": {"change": compressed_depth("16UC1; compressedDepth rvl", lambda p: HEADER + rvl(p))},
    "PNG of 16 bits": {"change": compressed_depth("16UC1; compressedDepth png", lambda p: HEADER + png(p))},
    "the format of old bags": {"change": compressed_depth("16UC1; compressedDepth", lambda p: HEADER + png(p))},
    "PNG without a header": {"change": compressed_depth("16UC1; png compressed ", png)},
}  # fmt: skip


@pytest.mark.parametrize("given", READ.values(), ids=READ)
def test_it_is_read_as_it_is_meant(given: dict[str, Any], tmp_path: Path) -> None:
    options = {key: value for key, value in given.items() if key != "frame"}
    found = read_bag(write(tmp_path / "bag", **options), given.get("frame", "base_link"))
    assert found.plan == EPISODE.plan
    for seen, truth in zip(found.observations, EPISODE.observations, strict=True):
        np.testing.assert_allclose(seen.cameras[0].intrinsics, truth.cameras[0].intrinsics, rtol=1e-6)
        np.testing.assert_allclose(seen.cameras[0].world_from_camera, truth.cameras[0].world_from_camera, atol=1e-5)
        np.testing.assert_allclose(seen.depth_m, truth.depth_m, atol=0.00051)


def later(sent: Sent) -> bool:
    return sent[0] > EPISODE.observations[0].time_s


def twice(sent: Sent) -> list[Sent]:
    """Another focal length."""
    return on(INFO, k=lambda k: k * [2, 1, 1, 1, 2, 1, 1, 1, 1])(sent)


def between(sent: Sent) -> list[Sent]:
    """Infos of a changing camera, each half a second from the moments."""
    if sent[1] != INFO:
        return [sent]
    (new,) = on(
        INFO, header=lambda header: replace(header, stamp=replace(header.stamp, **stamp_fields(sent[0] + 0.5)))
    )(sent)
    return twice(new) if later(sent) else [new]


def beside(transform: Any) -> Any:
    """The optical frame of depth, 5 cm beside that of colour."""
    moved = transform.transform.translation
    aside = replace(transform.transform, translation=replace(moved, y=moved.y + 0.05))
    return replace(transform, child_frame_id="depth_frame", transform=aside)


def with_depth_frame(sent: Sent) -> list[Sent]:
    return on("/tf", transforms=lambda known: [*known, *map(beside, known)])(sent)


def depth_frame(header: Any) -> Any:
    return replace(header, frame_id="depth_frame")


def moving(before_s: float, after_s: float) -> Change:
    """Transforms of a camera that moves at 0.4 m/s, before and after each moment instead of then."""

    def changed(sent: Sent) -> list[Sent]:
        if sent[1] != "/tf":
            return [sent]
        found = []
        for apart in (before_s, after_s):
            (each,) = sent[3].transforms
            at = sent[0] + apart
            stamp = replace(each.header.stamp, **stamp_fields(at))
            moved = each.transform.translation
            there = replace(each.transform, translation=replace(moved, x=moved.x + 0.4 * apart))
            step = replace(each, header=replace(each.header, stamp=stamp), transform=there)
            found.append((at, *sent[1:3], replace(sent[3], transforms=[step])))
        return found

    return changed


def late(sent: Sent) -> list[Sent]:
    return [] if sent[1] == "/tf" and sent[0] > EPISODE.observations[0].time_s else [sent]


REFUSED: dict[str, tuple[Change, str]] = {
    "another size": (DOUBLED, "320 x 240.*640 x 480"),
    "another size, and binning of 4": (both(DOUBLED, on(INFO, binning_x=4, binning_y=4)), "binning 4 x 4"),
    "a region that was cut already": (
        on(INFO, roi=lambda roi: replace(roi, height=100, width=200)), "region 200 x 100",
    ),
    "an unknown distortion": (both(DISTORTED, on(INFO, distortion_model="omni")), "'omni' with 5"),
    "depth of another frame without its info": (
        both(with_depth_frame, on(DEPTH, header=depth_frame)), "aligned to colour.*/left/depth/camera_info",
    ),
    "distortion that is no number": (on(INFO, d=np.full(5, np.nan)), "found .nan.*calibrate"),
    "distortion of another lens": (on(INFO, d=np.array([50, -900, 3, 3, 1e5])), "keeps most of the image.*calibrate"),
    "an info that changes between": (between, "it changes"),
    "a moving camera and transforms that end": (moving(-0.3, -0.1), "only before or only after it, although"),
    "masks without depth": (renamed(DEPTH, "/left/depth"), "/left/aligned_depth_to_color/image_raw"),
    "depth of the raw images beside rectified ones": (both(DISTORTED, RECTIFIED), "aligned to the raw ones"),
    "the second camera of a pair": (
        both(RECTIFIED, on(INFO, p=lambda p: p - 40 * (np.arange(12) == 3))), "stereo",
    ),
    "no calibration": (on(INFO, k=np.zeros(9), p=np.zeros(12)), "calibrate"),
    "no size, and a middle outside": (on(INFO, height=0, width=0, k=lambda k: k * 4), "size of the image"),
    "transforms that end": (late, r"transform \S+ s away"),
    "another base": (parent("world"), "--base-frame"),
    "a quaternion of zeros": (
        frames(turned(0.0)),
        "unit quaternion",
    ),
    "depth of 8 bits": (
        compressed_depth("16UC1; compressedDepth png", lambda p: HEADER + png((p // 256).astype(np.uint8))), "8 bits",
    ),
    "depth as JPEG": (compressed_depth("16UC1; jpeg compressed ", png), "JPEG"),
    "RVL that is cut off": (
        compressed_depth("16UC1; compressedDepth rvl", lambda p: (HEADER + rvl(p))[:5000]), "RVL.*damaged",
    ),
    "decimals in millimetres": (
        on(DEPTH, encoding="32FC1", step=1280, data=lambda d: d.view(np.uint16).astype(np.float32).view(np.uint8)),
        "divide millimetres",
    ),
    "no masks": (lambda sent: [] if sent[1] == "/left/masks" else [sent], "/left/masks"),
    "an unknown encoding": (on(COLOUR, encoding="bayer_rggb8"), "bayer_rggb8"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "named"), REFUSED.values(), ids=REFUSED)
def test_what_is_wrong_is_named(change: Change, named: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidRecording, match=named):
        read_bag(write(tmp_path / "bag", change))


TWO: dict[str, tuple[Change, Layout, str]] = {
    "transforms of two robots": (
        lambda sent: [(sent[0], name + sent[1], *sent[2:]) for name in ("/a", "/b")] if sent[1] == "/tf" else [sent],
        Layout(), "--namespace /a",
    ),
    "cameras of two robots": (
        lambda sent: [sent, *([] if "nsrecover" in sent[1] else [(sent[0], "/b" + sent[1], *sent[2:])])],
        Layout(), "/b/left with its own transforms on /b/tf.*--namespace /b",
    ),
    "a chosen camera that is none": (lambda sent: [sent], Layout.of(None, ["/rigth"], (), None), "camera /rigth"),
    "a topic that is none": (lambda sent: [sent], Layout.of(None, (), ["/mask=masks"], None), "Did you mean"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "layout", "named"), TWO.values(), ids=TWO)
def test_what_is_ambiguous_is_asked(change: Change, layout: Layout, named: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidRecording, match=named):
        read_bag(write(tmp_path / "bag", change), layout)


LEFT = "/left/"
DRIVERS = cases_of(__file__)


@pytest.mark.parametrize("driver", DRIVERS)
def test_the_topics_of_drivers_are_known(driver: str, tmp_path: Path) -> None:
    names = DRIVERS[driver]["renamed"]

    def called(sent: Sent) -> list[Sent]:
        topic = sent[1]
        for old, new in names.items():
            topic = topic.replace(old, new) if topic.startswith((old, *names.values(), LEFT)) else topic
        return [(sent[0], topic, *sent[2:])]

    layout = Layout.of(None, (), DRIVERS[driver].get("topics", ()), None)
    found = read_bag(write(tmp_path / "bag", called), layout)
    for seen, truth in zip(found.observations, EPISODE.observations, strict=True):
        np.testing.assert_array_equal(seen.instances, truth.instances)
        np.testing.assert_allclose(seen.depth_m, truth.depth_m, atol=0.00051)


@pytest.mark.parametrize(("info", "colours", "depths"), KNOWN.values(), ids=KNOWN)
def test_depth_can_be_rectified_as_advised(info: str, colours: tuple[str, ...], depths: tuple[str, ...]) -> None:
    """`image_rect` beside `image_raw` is known, and the one that is read."""
    for raw in (each for each in depths if each.endswith("/image_raw")):
        rectified = raw.replace("image_raw", "image_rect")
        (view,) = Layout().views({"/a" + each for each in (info, colours[0], raw, rectified)}, masked=False)
        assert view.depth == "/a" + rectified


def test_a_robot_of_several_is_chosen_by_its_namespace(tmp_path: Path) -> None:
    bag = write(tmp_path / "bag", lambda sent: [(sent[0], name + sent[1], *sent[2:]) for name in ("/a", "/b")])
    done = nsr("record", str(bag), "--namespace", "/a", "--out", str(tmp_path / "runs"))
    assert done.code == 0, done.err
    assert read_run(tmp_path / "runs" / "bag.npz").observations[0].cameras[0].name == "a/left"


def test_a_camera_that_is_not_needed_does_not_matter(tmp_path: Path) -> None:
    def wrist(sent: Sent) -> list[Sent]:
        more = sent[1].startswith(LEFT) and "masks" not in sent[1]
        return [sent, (sent[0], sent[1].replace(LEFT, "/wrist/"), *sent[2:])] if more else [sent]

    (camera,) = read_bag(write(tmp_path / "bag", wrist)).observations[0].cameras
    assert camera.name == "left"


@pytest.mark.parametrize(("before_s", "after_s"), [(-0.15, 0.05), (-0.02, 0.18), (-0.1, 0.1)])
def test_a_moving_camera_is_where_it_was(before_s: float, after_s: float, tmp_path: Path) -> None:
    found = read_bag(write(tmp_path / "bag", moving(before_s, after_s)))
    for seen, truth in zip(found.observations, EPISODE.observations, strict=True):
        np.testing.assert_allclose(seen.cameras[0].world_from_camera, truth.cameras[0].world_from_camera, atol=1e-5)


@pytest.mark.parametrize(
    ("model", "d"),
    [
        ("plumb_bob", (-0.1, 0.05, 0.002, -0.001, 0.01)), ("rational_polynomial", (0.1, 0.02, 0, 0, 0.01, 0.05, 0, 0)),
        ("equidistant", (0.0, 0.0, 0.0, 0.0)), ("equidistant", (0.02, -0.01, 0.003, 0.001)),
    ],
)  # fmt: skip
def test_raw_images_are_rectified_with_their_depth_and_masks(model: str, d: tuple[float, ...], tmp_path: Path) -> None:
    """A ray bent by the camera's model meets the raw pixel that the rectified image shows there."""
    columns = np.broadcast_to(np.arange(1000, 1320, dtype=np.uint16), (240, 320))
    change = both(
        on(INFO, d=np.array(d), distortion_model=model),
        on(DEPTH, data=np.frombuffer(np.ascontiguousarray(columns).tobytes(), np.uint8), encoding="16UC1", step=640),
    )
    seen = read_bag(write(tmp_path / "bag", change)).observations[0]
    k = seen.cameras[0].intrinsics
    for row, column in ((120, 200), (40, 60), (200, 250), (10, 160)):
        x, y = (column - k[0, 2]) / k[0, 0], (row - k[1, 2]) / k[1, 1]
        r = float(np.hypot(x, y))
        if model == "equidistant":
            t = np.arctan(r)
            raw = x / r * t * (1 + d[0] * t**2 + d[1] * t**4 + d[2] * t**6 + d[3] * t**8)
        else:
            k1, k2, p1, p2, k3, k4, k5, k6 = (*d, 0, 0, 0)[:8]
            bent = (1 + k1 * r**2 + k2 * r**4 + k3 * r**6) / (1 + k4 * r**2 + k5 * r**4 + k6 * r**6)
            raw = x * bent + 2 * p1 * x * y + p2 * (r**2 + 2 * x**2)
        assert seen.depth_m[0, row, column] * 1000 - 1000 == pytest.approx(raw * k[0, 0] + k[0, 2], abs=0.51)


@pytest.mark.parametrize("way", ["zstd", "lz4"])
def test_a_chunk_that_unpacks_to_gigabytes_takes_little_memory(way: str, tmp_path: Path) -> None:
    """A chunk of 1 GB of zeros in an MCAP file without an index."""
    size = 10**9
    if way == "lz4":
        packer = lz4.frame.LZ4FrameCompressor()
        packed = packer.begin() + b"".join(packer.compress(bytes(10**7)) for _ in range(100)) + packer.flush()
    else:
        zstd = _zstd().ZstdCompressor()
        packed = b"".join(zstd.compress(bytes(10**7)) for _ in range(100)) + zstd.flush()

    def text(data: bytes) -> bytes:
        return struct.pack("<I", len(data)) + data

    def record(kind: int, data: bytes) -> bytes:
        return struct.pack("<BQ", kind, len(data)) + data

    chunk = struct.pack("<QQQI", 0, 1, size, 0) + text(way.encode()) + struct.pack("<Q", len(packed)) + packed
    parts = record(1, text(b"ros2") + text(b"")) + record(6, chunk) + record(15, bytes(4)) + record(2, bytes(20))
    (tmp_path / "bomb.mcap").write_bytes(b"\x89MCAP0\r\n" + parts + b"\x89MCAP0\r\n")
    code = (
        "import sys, re; from nsrecover.records.bags.reading import read_bag\n"
        "try: read_bag(sys.argv[1])\nexcept Exception as problem: print(type(problem).__name__, problem)\n"
        "print(int(re.search(r'VmHWM:\\s*(\\d+)', open('/proc/self/status').read())[1]) // 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "bomb.mcap")], capture_output=True, text=True, timeout=60
    )
    problem, megabytes = done.stdout.strip().rsplit("\n", 1)
    assert problem.startswith("InvalidRecording"), problem
    assert "unpack to more" in problem
    assert int(megabytes) < 500


STORE1 = get_typestore(Stores.ROS1_NOETIC)
STORE1.register(get_types_from_msg("geometry_msgs/TransformStamped[] transforms", "tf2_msgs/msg/TFMessage"))


def of_ros_1(message: Any) -> Any:
    """The same message of ROS 1, whose headers count and whose matrices have capital letters."""
    if isinstance(message, list):
        return [of_ros_1(each) for each in message]
    if not hasattr(message, "__msgtype__"):
        return message
    kind = STORE1.types[message.__msgtype__]
    given = {name: of_ros_1(getattr(message, name)) for name in vars(message) if name != "__msgtype__"}
    if message.__msgtype__.endswith("CameraInfo"):
        given = {name.upper() if len(name) == 1 else name: value for name, value in given.items()}
    return kind(**given, **({"seq": 0} if message.__msgtype__.endswith("Header") else {}))


@pytest.mark.parametrize("packed", [None, Writer1.CompressionFormat.BZ2, Writer1.CompressionFormat.LZ4])
def test_bags_of_ros_1_are_read(packed: Any, tmp_path: Path) -> None:
    writer = Writer1(tmp_path / "old.bag")
    if packed is not None:
        writer.set_compression(packed)
    with writer:
        known: dict[str, Any] = {}
        for at, topic, kind, message in SENT:
            if topic not in known:
                known[topic] = writer.add_connection(topic, kind, typestore=STORE1)
            writer.write(known[topic], round(at * 1e9), STORE1.serialize_ros1(of_ros_1(message), kind))
    found = read_run(tmp_path / "old.bag")
    assert found.plan == EPISODE.plan
    np.testing.assert_allclose(found.observations[0].depth_m, EPISODE.observations[0].depth_m, atol=0.00051)
    (tmp_path / "old.bag").write_bytes((tmp_path / "old.bag").read_bytes()[:5000])
    with pytest.raises(InvalidRecording, match="expected a bag at"):
        read_bag(tmp_path / "old.bag")


def driver_only(sent: Sent) -> list[Sent]:
    """What a camera's driver and tf publish, and something else."""
    return [] if sent[1].startswith("/nsrecover") or "masks" in sent[1] else [sent]


def test_what_a_driver_publishes_is_enough_for_images(tmp_path: Path) -> None:
    lost = both(driver_only, lambda sent: [] if sent[1] == DEPTH and later(sent) else [sent])
    (seen,) = read_images(write(tmp_path / "bag", lost))
    truth = EPISODE.observations[0]
    np.testing.assert_allclose(seen.depth_m, truth.depth_m, atol=0.00051)
    np.testing.assert_allclose(seen.cameras[0].world_from_camera, truth.cameras[0].world_from_camera, atol=1e-5)
    assert not seen.instances.any()
    done = nsr("segment", str(write(tmp_path / "whole", driver_only)), "--out", str(tmp_path / "out"), "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["observations"] == 2


def test_depth_of_another_frame_gets_the_colours_of_its_points(tmp_path: Path) -> None:
    """Each pixel of colour says its column; depth is seen from 5 cm beside, everywhere 1 m away."""
    columns = np.broadcast_to((np.arange(320) // 2).astype(np.uint8)[None, :, None], (240, 320, 3))
    flat = np.full((240, 320), 1000, np.uint16)
    change = both(
        driver_only, with_depth_frame,
        on(DEPTH, header=depth_frame, data=np.frombuffer(flat.tobytes(), np.uint8)),
        on(COLOUR, data=np.frombuffer(np.ascontiguousarray(columns).tobytes(), np.uint8)),
        lambda sent: [sent, (sent[0], "/left/depth/camera_info", *sent[2:])] if sent[1] == INFO else [sent],
    )  # fmt: skip
    seen = read_images(write(tmp_path / "bag", change))[0]
    camera, colour = seen.cameras[0], EPISODE.observations[0].cameras[0]
    apart = np.linalg.inv(colour.world_from_camera) @ camera.world_from_camera
    assert np.linalg.norm(apart[:3, 3]) == pytest.approx(0.05, abs=1e-3)
    k = camera.intrinsics
    for row, column in ((60, 100), (120, 200), (200, 240)):
        ray = np.array([(column - k[0, 2]) / k[0, 0], (row - k[1, 2]) / k[1, 1], 1.0, 1.0])
        x, _, z, _ = apart @ ray
        assert 2 * float(seen.rgb[0, row, column, 0]) == pytest.approx(x / z * k[0, 0] + k[0, 2], abs=2.5)


def cloud(sent: Sent, order: Callable[[np.ndarray], np.ndarray] = lambda cells: cells) -> list[Sent]:
    """An organised cloud with colours instead of depth."""
    if sent[1] != DEPTH:
        return [] if sent[1].startswith("/left/color") else driver_only(sent)
    seen = EPISODE.observations[int(later(sent))]
    k, depth = seen.cameras[0].intrinsics, np.where(seen.depth_m[0] > 0, seen.depth_m[0], np.nan)
    rows, columns = np.indices(depth.shape)
    cells = np.zeros((*depth.shape, 32), np.uint8)
    points = np.stack([(columns - k[0, 2]) / k[0, 0] * depth, (rows - k[1, 2]) / k[1, 1] * depth, depth], axis=-1)
    cells[..., :12] = np.ascontiguousarray(points, np.float32).view(np.uint8)
    cells[..., 16:19] = seen.rgb[0][..., ::-1]
    field, kind = STORE.types["sensor_msgs/msg/PointField"], "sensor_msgs/msg/PointCloud2"
    message = STORE.types[kind](
        header=sent[3].header, height=240, width=320, is_bigendian=False, point_step=32, row_step=32 * 320,
        fields=[field(name, at, 7, 1) for name, at in (("x", 0), ("y", 4), ("z", 8), ("rgb", 16))],
        data=order(cells).ravel(), is_dense=False,
    )  # fmt: skip
    return [(sent[0], "/camera/points", kind, message)]


def test_an_organised_cloud_is_depth_and_colour(tmp_path: Path) -> None:
    (seen, _), truth = read_images(write(tmp_path / "bag", cloud)), EPISODE.observations[0]
    np.testing.assert_allclose(seen.depth_m[0], truth.depth_m[0], atol=1e-6)
    np.testing.assert_array_equal(seen.rgb[0], truth.rgb[0])
    np.testing.assert_allclose(seen.cameras[0].intrinsics, truth.cameras[0].intrinsics, atol=0.01)
    mixed = partial(cloud, order=np.random.default_rng(1).permutation)
    with pytest.raises(InvalidRecording, match="order of the pixels"):
        read_images(write(tmp_path / "mixed", mixed))


def test_a_file_in_zstd_alone_is_read(tmp_path: Path) -> None:
    bag = write(tmp_path / "bag", compression=CompressionMode.FILE)
    (file,) = bag.glob("*.zstd")
    (bag / "metadata.yaml").unlink()
    assert len(read_run(file).observations) == 2
    with pytest.raises(InvalidRecording, match="ros2 bag reindex"):
        read_bag(bag)


def test_inverse_depth_is_metres() -> None:
    """32FC1 as compressed_depth_image_transport writes it, with depth_quantization 100 and depth_max 10."""
    depth = np.array([[0.5, 1.0, 2.0], [4.0, 0.0, 9.0]], np.float32)
    a = np.float32(100 * 101)
    b = np.float32(1 - a / 10)
    with np.errstate(divide="ignore"):
        coded = np.where(depth > 0, a / depth + b, 0).astype(np.uint16)
    for kind, body_ in (("png", png(coded)), ("rvl", rvl(coded))):
        found = compressed_depth_of(f"32FC1; compressedDepth {kind}", struct.pack("<iff", 0, a, b) + body_, "/d")
        np.testing.assert_allclose(found, depth, rtol=0.002)
    with pytest.raises(InvalidRecording, match="inverse depth"):
        compressed_depth_of("32FC1; compressedDepth png", HEADER + png(coded), "/d")

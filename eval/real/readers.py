"""Readers of public sets of real RGB-D frames, as their repositories have them."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from nsrecover.core import FloatArray
from nsrecover.errors import InvalidRecording

TYPES = {("F", 4): "f4", ("U", 4): "u4", ("I", 4): "i4", ("F", 8): "f8", ("U", 1): "u1", ("U", 2): "u2", ("I", 2): "i2"}


@dataclass(frozen=True, eq=False)
class Frame:
    """One RGB-D image.

    Attributes:
        source: the set that it comes from.
        name: of the frame, for the table of failures.
        rgb: (H, W, 3) uint8.
        depth_m: (H, W) float32, 0 where there is no reading.
        intrinsics: (3, 3), pixels; pixel centres at half numbers.
        labels: (H, W) number of the object in each pixel, 0 for none; None without truth.
    """

    source: str
    name: str
    rgb: npt.NDArray[np.uint8]
    depth_m: FloatArray
    intrinsics: FloatArray
    labels: npt.NDArray[np.int32] | None


def frames_in(folder: Path) -> Iterator[Frame]:
    """Frames of all sets in a folder, which holds clones of their repositories, or parts of them.

    Known are point clouds of mOSD (`learn*.pcd`, `test*.pcd`), its conversion to images with a `frames.json`, and pairs
    `NAME-color.png`, `NAME-depth.png` in millimetres, with intrinsics in `meta.yml` if there is one.

    Raises:
        InvalidRecording: there is nothing known, or a file cannot be read.
    """
    clouds = sorted(path for path in folder.rglob("*.pcd") if re.fullmatch(r"(learn|test)\d+", path.stem))
    converted = sorted(folder.rglob("frames.json"))
    pairs = sorted(
        path
        for path in folder.rglob("*-color.png")
        if path.with_name(path.name.replace("-color", "-depth")).is_file()
        and not (path.parent / "frames.json").is_file()
    )
    if not (clouds or converted or pairs):
        raise InvalidRecording(
            f"expected frames of a public set below {folder}, found none; clone one of those that docs/real_cameras.md "
            "names"
        )
    for path in clouds:
        yield frame_of_cloud(path)
    for path in converted:
        yield from _converted(path)
    for path in pairs:
        yield _pair(path)


def frame_of_cloud(path: Path) -> Frame:
    """A frame of mOSD: an organised cloud (ascii, binary or binary_compressed) with x, y, z, rgb or rgba, and label.

    Raises:
        InvalidRecording: it is no such cloud.
    """
    points = _cloud(path)
    z = np.nan_to_num(points["z"], nan=0.0)
    rows, columns = np.nonzero(z > 0)
    if len(rows) < 100 or min(points.shape) < 2:
        raise InvalidRecording(
            f"expected an organised cloud with points, found {len(rows)} in an image of {points.shape} in {path}"
        )
    k = np.eye(3, dtype=np.float32)
    for axis, (name, places) in enumerate((("x", columns), ("y", rows))):
        slope = points[name][rows, columns] / z[rows, columns]
        k[axis, axis], k[axis, 2] = np.polyfit(slope, places + 0.5, 1)
        if not k[axis, axis] > 0 or np.std(k[axis, axis] * slope + k[axis, 2] - places) > 1:
            raise InvalidRecording(f"expected an organised cloud, as one camera sees it, found another order in {path}")
    colour = points["rgb" if "rgb" in (points.dtype.names or ()) else "rgba"].copy().view(np.uint32)
    rgb = np.stack([(colour >> shift) & 255 for shift in (16, 8, 0)], axis=-1).astype(np.uint8)
    labels = _objects(points["label"].astype(np.int32))
    return Frame("mOSD", path.stem, rgb, z.astype(np.float32), k, labels)


def _objects(labels: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """MOSD numbers disjoint pieces of an object 20, 21, ...; 1 to 9 are the table."""
    return np.where(labels >= 20, labels // 10, 0).astype(np.int32)


def _cloud(path: Path) -> npt.NDArray[np.void]:
    """Points (H, W) of a PCD file."""
    data = path.read_bytes()
    header: dict[str, list[str]] = {}
    start = 0
    while "DATA" not in header:
        end = data.find(b"\n", start)
        if end < 0:
            raise InvalidRecording(f"expected a PCD file, found no line DATA in {path}; clone the set again")
        key, *values = data[start:end].decode("ascii", "replace").split() or [""]
        header[key], start = values, end + 1
    try:
        kinds = [TYPES[kind, int(size)] for kind, size in zip(header["TYPE"], header["SIZE"], strict=True)]
        kind = np.dtype(list(zip(header["FIELDS"], kinds, strict=True)))
        shape = int(header["HEIGHT"][0]), int(header["WIDTH"][0])
        count = shape[0] * shape[1]
        if header["DATA"] == ["ascii"]:
            rows = np.loadtxt(data[start:].decode().splitlines(), ndmin=2)
            points = np.zeros(count, kind)
            for column, name in enumerate(header["FIELDS"]):
                points[name] = rows[:, column]
        elif header["DATA"] == ["binary"]:
            points = np.frombuffer(data, kind, count, start)
        else:
            packed, size = struct.unpack_from("<II", data, start)
            raw, points, place = unpacked(data[start + 8 : start + 8 + packed], size), np.zeros(count, kind), 0
            for name in header["FIELDS"]:
                points[name] = np.frombuffer(raw, kind[name], count, place)
                place += count * kind[name].itemsize
    except (KeyError, ValueError, IndexError, struct.error) as problem:
        raise InvalidRecording(f"expected a PCD file, found {problem} in {path}; clone the set again") from problem
    return points.reshape(shape)


def unpacked(data: bytes, size: int) -> bytes:
    """LZF-compressed bytes, unpacked.

    Raises:
        ValueError: they have another size.
    """
    out, place = bytearray(), 0
    while place < len(data):
        control = data[place]
        place += 1
        if control < 32:
            out += data[place : place + control + 1]
            place += control + 1
            continue
        length = control >> 5
        if length == 7:
            length += data[place]
            place += 1
        begin = len(out) - ((control & 31) << 8) - data[place] - 1
        place += 1
        length += 2
        if begin + length <= len(out):
            out += out[begin : begin + length]
        else:  # it repeats itself
            part = out[begin:]
            out += (part * (length // len(part) + 1))[:length]
    if len(out) != size:
        raise ValueError(f"{len(out)} bytes instead of {size}")
    return bytes(out)


def _converted(listing: Path) -> Iterator[Frame]:
    for name, numbers in json.loads(listing.read_text(encoding="utf-8")).items():
        image = {kind: _image(listing.parent / f"{name}-{kind}.png") for kind in ("color", "depth", "labels")}
        k = _intrinsics(numbers["fx"], numbers["fy"], numbers["cx"] + 0.5, numbers["cy"] + 0.5)
        depth = (image["depth"] / 10_000).astype(np.float32)
        rgb, labels = image["color"][..., :3].astype(np.uint8), _objects(image["labels"].astype(np.int32))
        yield Frame("mOSD", name, rgb, depth, k, labels)


def _pair(path: Path) -> Frame:
    rgb = np.asarray(Image.open(path).convert("RGB"))
    depth = (_image(path.with_name(path.name.replace("-color", "-depth"))) / 1000).astype(np.float32)
    k = _intrinsics(615.0, 615.0, rgb.shape[1] / 2, rgb.shape[0] / 2)  # of a RealSense at 640 x 480
    meta = path.parent / "meta.yml"
    if meta.is_file():
        numbers = [float(each) for each in re.findall(r"-?\d+\.\d+", meta.read_text(encoding="utf-8"))[:9]]
        k = np.array(numbers, np.float32).reshape(3, 3)
    parents = [each.name for each in path.parents]
    return Frame(parents[2] if parents[:2] == ["demo", "data"] else parents[0], path.stem, rgb, depth, k, None)


def _intrinsics(fx: float, fy: float, cx: float, cy: float) -> FloatArray:
    return np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1]], np.float32)


def _image(path: Path) -> npt.NDArray[np.int32]:
    try:
        return np.asarray(Image.open(path))
    except OSError as problem:
        raise InvalidRecording(f"expected an image, found {problem}; clone the set again") from problem

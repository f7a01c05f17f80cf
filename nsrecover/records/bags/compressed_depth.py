"""Depth images of `compressed_depth_image_transport`: PNG or RVL, of millimetres or of inverse depth.

A header of 12 bytes, an enumeration and the two parameters of the quantisation, precedes the compressed image. RVL is
Wilson, "Fast lossless depth image compression", 2017: runs of zeros and differences, three bits at a time.
"""

import io
import struct
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from nsrecover.errors import InvalidRecording

HEADER = struct.Struct("<iff")
PNG = b"\x89PNG\r\n\x1a\n"
MOST_PIXELS = 40_000_000
"""Largest accepted image."""


def compressed_depth_of(text: str, data: bytes, topic: str) -> npt.NDArray[np.float32]:
    """Depth (H, W) in metres, 0 where there is no reading, of a CompressedImage.

    Args:
        text: its `format`, such as `16UC1; compressedDepth png`, or `16UC1; png compressed`.
        data: its `data`.
        topic: its topic, for errors.

    Raises:
        InvalidRecording: the format is not known, or the data are damaged.
    """
    encoding, _, how = (part.strip() for part in text.partition(";"))
    transported = "compressedDepth" in how
    kind = how.replace("compressedDepth", "").replace("compressed", "").split()[:1] or ["png"]
    known = kind[0] == "png" or (kind[0] == "rvl" and transported)
    if encoding not in ("16UC1", "mono16", "32FC1") or not known or (encoding == "32FC1" and not transported):
        raise InvalidRecording(
            f"expected depth as '16UC1; compressedDepth png', as rvl, or as 32FC1 on {topic}, found {text!r}; JPEG "
            "and PNG of 8 bits destroy depth"
        )
    bare = data.startswith(PNG)
    if not bare and transported and len(data) < HEADER.size:
        raise InvalidRecording(f"expected compressed depth on {topic}, found {len(data)} bytes")
    body = data[HEADER.size :] if transported and not bare else data
    values = (_of_rvl(body, topic) if kind[0] == "rvl" else _of_png(body, topic)).astype(np.float32)
    if encoding != "32FC1":
        return values / np.float32(1000)
    _, a, b = HEADER.unpack_from(data)
    if bare or not a > 0:
        raise InvalidRecording(f"expected the parameters of the inverse depth on {topic}, found none before the image")
    with np.errstate(divide="ignore"):
        metres = a / (values - b)
    return np.where((values > 0) & np.isfinite(metres) & (metres > 0), metres, 0).astype(np.float32)


def _of_png(data: bytes, topic: str) -> npt.NDArray[np.generic]:
    try:
        image: Any = Image.open(io.BytesIO(data), formats=["PNG"])
        image.load()
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as problem:
        raise InvalidRecording(f"expected a PNG image on {topic}, found data that are none ({problem})") from problem
    if not image.mode.startswith("I"):
        raise InvalidRecording(f"expected depth of 16 bits on {topic}, found a PNG image of 8 bits ({image.mode})")
    return np.asarray(image)


def _of_rvl(data: bytes, topic: str) -> npt.NDArray[np.uint16]:
    """An RVL image: width, height, and words of eight groups, each three bits and whether more follow."""
    width, height = struct.unpack_from("<II", data) if len(data) >= 8 else (0, 0)
    image = np.zeros(width * height if width * height <= MOST_PIXELS else 0, np.uint16)
    numbers = _numbers(data[8:])
    at, done, previous = 0, 0, 0
    while done < len(image) and at + 1 < len(numbers):
        zeros, others = numbers[at : at + 2].tolist()
        steps = numbers[at + 2 : at + 2 + others]
        if done + zeros + others > len(image) or len(steps) < others:
            break
        differences = (steps >> 1) ^ -(steps & 1)
        row = previous + np.cumsum(differences)
        image[done + zeros : done + zeros + others] = row & 0xFFFF
        previous = int(row[-1]) if others else previous
        at, done = at + 2 + others, done + zeros + others
    if done < len(image) or not len(image):
        raise InvalidRecording(
            f"expected depth as RVL on {topic}, found {len(data)} bytes that are not {width} x {height} pixels; they "
            "are damaged"
        )
    return image.reshape(height, width)


def _numbers(data: bytes) -> npt.NDArray[np.int64]:
    words = np.frombuffer(data[: len(data) // 4 * 4], "<u4")
    groups = ((words[:, None] >> np.arange(28, -1, -4, dtype=np.uint32)) & 15).ravel().astype(np.int64)
    last = np.flatnonzero(groups < 8)
    if not len(last):
        return np.zeros(0, np.int64)
    first = np.concatenate([[0], last[:-1] + 1])
    groups = groups[: last[-1] + 1]
    place = np.minimum(np.arange(len(groups)) - np.repeat(first, last - first + 1), 10)
    return np.asarray(np.add.reduceat((groups & 7) << (3 * place), first), np.int64)

"""Images of ROS messages as arrays, and back."""

import io
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, UnidentifiedImageError

from nsrecover.errors import InvalidRecording
from nsrecover.records.bags.compressed_depth import compressed_depth_of

Message = Any
"""A message, or a part of one, with the fields of its ROS type: of rosbags, of rclpy, or of a test."""
COLOURS = {"rgb8": (3, (0, 1, 2)), "bgr8": (3, (2, 1, 0)), "rgba8": (4, (0, 1, 2)), "bgra8": (4, (2, 1, 0))}
"""Encoding -> channels, and which of them are red, green and blue."""

COLOUR_MODES = ("RGB", "RGBA", "L", "LA", "P", "CMYK", "1")
"""Modes of decoded images that have 8 bits a channel."""

NUMBERS = {"8UC1": "u1", "mono8": "u1", "16UC1": "u2", "mono16": "u2", "32SC1": "i4", "32FC1": "f4"}
"""Encoding of images with one channel -> type of a pixel."""

MM = ("16UC1", "mono16")
"""Encodings of depth in millimetres; 32FC1 is in metres (REP 118)."""


FARTHEST_M = 100.0
"""Decimals whose median is above it are no metres."""


def colour_of(message: Message, topic: str) -> npt.NDArray[np.uint8]:
    """Colour image (H, W, 3) uint8 of an Image or CompressedImage.

    Raises:
        InvalidRecording: the encoding is not known, or the data are damaged.
    """
    if hasattr(message, "format"):
        image = _decoded(bytes(message.data), topic)
        if image.mode not in COLOUR_MODES:
            raise InvalidRecording(
                f"expected colour images of 8 bits on {topic}, found one of mode {image.mode} ({message.format!r})"
            )
        return np.asarray(image.convert("RGB"), np.uint8)
    if message.encoding == "mono8":
        return np.repeat(_pixels(message, "u1", 1, topic), 3, axis=2)
    if message.encoding not in COLOURS:
        raise InvalidRecording(
            f"expected colour images as {', '.join(COLOURS)} or mono8 on {topic}, found {message.encoding}"
        )
    channels, order = COLOURS[message.encoding]
    return np.ascontiguousarray(_pixels(message, "u1", channels, topic)[..., list(order)])


def depth_of(message: Message, topic: str) -> npt.NDArray[np.float32]:
    """Depth (H, W) in metres, 0 where there is no reading, of 16UC1 (mm), 32FC1 (m), or a compressed depth image.

    Raises:
        InvalidRecording: the encoding is not known, or the data are damaged.
    """
    if hasattr(message, "format"):
        return compressed_depth_of(message.format, bytes(message.data), topic)
    if message.encoding not in (*MM, "32FC1"):
        raise InvalidRecording(f"expected depth as 16UC1 (mm) or 32FC1 (m) on {topic}, found {message.encoding}")
    values = _pixels(message, NUMBERS[message.encoding], 1, topic)[..., 0].astype(np.float32)
    if message.encoding in MM:
        values = values / np.float32(1000)
    elif (middle := float(np.median(values[values > 0])) if (values > 0).any() else 0.0) > FARTHEST_M:
        raise InvalidRecording(
            f"expected depth in metres as 32FC1 on {topic}, found a median of {middle:.4g}; divide millimetres by 1000"
        )
    return np.where(np.isfinite(values) & (values > 0), values, 0).astype(np.float32)


def labels_of(message: Message, topic: str) -> npt.NDArray[np.int32]:
    """Instance numbers (H, W) of a label image.

    Raises:
        InvalidRecording: the encoding is not known, or the data are damaged.
    """
    if hasattr(message, "format") or message.encoding not in NUMBERS or message.encoding == "32FC1":
        found = getattr(message, "format", None) or message.encoding
        raise InvalidRecording(f"expected label images as mono8, 16UC1 or 32SC1 on {topic}, found {found}")
    return _pixels(message, NUMBERS[message.encoding], 1, topic)[..., 0].astype(np.int32)


def compressed(rgb: npt.NDArray[np.uint8], quality: int) -> bytes:
    """A colour image as JPEG."""
    buffer = io.BytesIO()
    Image.fromarray(rgb).save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()


def _decoded(data: bytes, topic: str) -> Image.Image:
    try:
        found: Image.Image = Image.open(io.BytesIO(data))
        found.load()
    except (UnidentifiedImageError, OSError, ValueError) as problem:
        raise InvalidRecording(
            f"expected PNG or JPEG images on {topic}, found data that are not ({problem})"
        ) from problem
    return found


def _pixels(message: Message, kind: str, channels: int, topic: str) -> npt.NDArray[np.generic]:
    """Pixels (H, W, C); rows may be padded."""
    dtype = np.dtype((">" if message.is_bigendian else "<") + kind)
    data = np.frombuffer(bytes(message.data), np.uint8)
    row = message.width * channels * dtype.itemsize
    if message.step < row or len(data) < message.step * message.height:
        raise InvalidRecording(
            f"expected {message.height} rows of {row} bytes on {topic}, found {len(data)} bytes in steps of "
            f"{message.step}"
        )
    rows = np.ascontiguousarray(data[: message.step * message.height].reshape(message.height, message.step)[:, :row])
    return rows.view(dtype).reshape(message.height, message.width, channels)

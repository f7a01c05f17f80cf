"""Decode untrusted PNG files; the header is checked before any pixels are unpacked."""

import base64
import binascii
import io
import struct
import warnings
import zlib
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from PIL import Image

from nsrecover.errors import InvalidObservation

SIGNATURE = b"\x89PNG\r\n\x1a\n"
HEADER = struct.Struct(">8sI4sIIBBBBB")
GREY, COLOUR, PALETTE = 0, 2, 3
"""The accepted colour types of PNG; those with transparency are refused."""

Kinds = Mapping[tuple[int, int], str]
"""(colour type, bits) -> mode of Pillow."""
RGB: Kinds = {(COLOUR, 8): "RGB"}
DEPTH: Kinds = {(GREY, 16): "I;16"}
INSTANCES: Kinds = {(GREY, 8): "L", (PALETTE, 8): "P", (GREY, 16): "I;16"}

NAMES = {(COLOUR, 8): "8-bit RGB", (GREY, 16): "16-bit grey", (GREY, 8): "8-bit grey", (PALETTE, 8): "8-bit palette"}


def from_base64(text: str, label: str, kind: str = "a PNG") -> bytes:
    """Decode base64; `kind` is what it should hold.

    Raises:
        InvalidObservation: the text is not base64.
    """
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidObservation(
            f"{label}: expected {kind} as base64, found other text; encode the bytes of the file, without line breaks "
            "and without a data: prefix"
        ) from None


def read_png(data: bytes, label: str, kinds: Kinds, max_pixels: int) -> npt.NDArray[np.uint8 | np.uint16]:
    """Decode an image.

    Args:
        data: content of the file.
        label: name of the image in errors.
        kinds: accepted kinds of images.
        max_pixels: largest accepted number of pixels, because a few bytes can unpack to gigabytes.

    Returns:
        (H, W, 3) uint8 or (H, W) uint8 or uint16.

    Raises:
        InvalidObservation: the file is not a PNG, damaged, too large or of another kind.
    """
    if len(data) < HEADER.size or not data.startswith(SIGNATURE):
        raise InvalidObservation(f"{label}: expected a PNG file, found {len(data)} bytes of something else")
    _, _, chunk, width, height, bits, colour, *_ = HEADER.unpack_from(data)
    if chunk != b"IHDR" or not width or not height:
        raise InvalidObservation(f"{label}: expected a PNG file, found one without a valid header; encode it again")
    if width * height > max_pixels:
        raise InvalidObservation(
            f"{label}: expected at most {max_pixels} pixels, found {width} x {height}; scale the images and intrinsics"
        )
    mode = kinds.get((colour, bits))
    if mode is None:
        expected = " or ".join(NAMES[kind] for kind in kinds)
        raise InvalidObservation(
            f"{label}: expected a PNG of {expected}, found colour type {colour} with {bits} bits; convert it"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about odd metadata
            with Image.open(io.BytesIO(data), formats=["PNG"]) as image:
                if image.mode != mode or image.size != (width, height):
                    raise InvalidObservation(
                        f"{label}: expected a PNG as its header says, found another; encode it again"
                    )
                return np.array(image)
    except (
        OSError, SyntaxError, ValueError, EOFError, KeyError, IndexError, TypeError, OverflowError, MemoryError,
        struct.error, zlib.error, Image.DecompressionBombError,
    ) as problem:  # fmt: skip
        raise InvalidObservation(
            f"{label}: expected a whole PNG file, found a damaged one; encode it again"
        ) from problem

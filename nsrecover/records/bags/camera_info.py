"""Intrinsics and distortion of an image from its CameraInfo, as sensor_msgs defines them."""

import bisect

import numpy as np
import numpy.typing as npt

from nsrecover.core import FloatArray
from nsrecover.errors import InvalidRecording
from nsrecover.records.bags.images import Message

Floats = npt.NDArray[np.float64]

FISHEYE = ("equidistant", "fisheye")
"""Models whose images are none of a pinhole even with coefficients of 0."""

BROWN = ("", "plumb_bob", "rational_polynomial")
"""Models with up to eight coefficients: k1, k2, p1, p2, k3, k4, k5, k6."""


class Infos:
    """The CameraInfo of each moment; one that never changes is that of all moments."""

    def __init__(self) -> None:
        self._spans: list[tuple[float, float, Message]] = []  # of equal ones: first and last stamp

    @property
    def known(self) -> bool:
        """Whether there is a message."""
        return bool(self._spans)

    def add(self, stamp_s: float, message: Message) -> None:
        """Take in a message."""
        place = bisect.bisect(self._spans, stamp_s, key=lambda span: span[0])
        for near in (place - 1, place):
            if 0 <= near < len(self._spans) and _same(self._spans[near][2], message):
                first, last, _ = self._spans[near]
                self._spans[near] = min(first, stamp_s), max(last, stamp_s), message
                return
        self._spans.insert(place, (stamp_s, stamp_s, message))

    def at(self, moment: float, slop_s: float, topic: str) -> Message:
        """The message of a moment.

        Raises:
            InvalidRecording: there is none, or they change and none is near enough.
        """
        if not self._spans:
            raise InvalidRecording(f"expected a message on {topic}, found none; record it, too")
        apart, _, found = min(
            (max(first - moment, moment - last, 0.0), number, message)
            for number, (first, last, message) in enumerate(self._spans)
        )
        if apart > slop_s and len(self._spans) > 1:
            raise InvalidRecording(
                f"expected a CameraInfo within {slop_s:g} s of the moment {moment:.3f} s on {topic}, since it changes, "
                f"found the nearest {apart:.3g} s away; record it with every image"
            )
        return found


def _same(one: Message, other: Message) -> bool:
    names = ("k", "d", "r", "p", "height", "width", "binning_x", "binning_y", "distortion_model")
    roi = ("x_offset", "y_offset", "height", "width")
    return (
        one.header.frame_id == other.header.frame_id
        and all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)
        and all(getattr(one.roi, name) == getattr(other.roi, name) for name in roi)
    )


def distorts(message: Message) -> bool:
    """Whether raw images of a camera are not those of a pinhole."""
    return message.distortion_model in FISHEYE or bool(len(message.d) and not np.abs(message.d).max() <= 1e-6)


def rectified_pixels(message: Message, topic: str, k: FloatArray, shape: tuple[int, ...]) -> npt.NDArray[np.intp]:
    """Where each pixel of a pinhole's image with the same K is in the raw one; as `pixels_of`."""
    rows, columns = np.indices(shape[:2], np.float64)
    return pixels_of((columns - k[0, 2]) / k[0, 0], (rows - k[1, 2]) / k[1, 1], message, topic, k, shape)


def pixels_of(
    x: Floats, y: Floats, message: Message, topic: str, k: FloatArray, shape: tuple[int, ...], raw: bool = True
) -> npt.NDArray[np.intp]:
    """Where an image shows rays: row and column (2, H, W); -1 outside.

    Args:
        x: (H, W) of the rays at a depth of 1.
        y: (H, W).
        message: the CameraInfo of the image.
        topic: its topic, for errors.
        k: its intrinsics (3, 3).
        shape: of the image.
        raw: whether the image has the distortion of its lens.

    Raises:
        InvalidRecording: the model of the distortion is not known, or it moves most of the image out.
    """
    place = _rounded(x, y, k, shape)
    if not raw or not distorts(message):
        return place
    bent = _rounded(*_bent(x, y, message, topic), k, shape)
    inside = place[0] >= 0
    if (lost := float((bent[0][inside] < 0).sum())) > inside.sum() / 2:
        raise InvalidRecording(
            f"expected distortion that keeps most of the image on {topic}, found {np.round(message.d, 4).tolist()}, "
            f"which moves {lost / inside.sum():.0%} of it out; calibrate the camera, or record rectified images"
        )
    return bent


def _rounded(x: Floats, y: Floats, k: FloatArray, shape: tuple[int, ...]) -> npt.NDArray[np.intp]:
    """Row and column (2, H, W) of rays behind the lens; -1 outside, and where the ray is no number."""
    place = np.rint([y * k[1, 1] + k[1, 2], x * k[0, 0] + k[0, 2]])
    inside = (place >= 0) & (place < np.reshape(shape[:2], (2, 1, 1)))
    return np.where(inside.all(0), place, -1).astype(np.intp)


def _bent(x: Floats, y: Floats, message: Message, topic: str) -> tuple[Floats, Floats]:
    """Rays behind the lens of a camera."""
    r2, d = x * x + y * y, np.asarray(message.d, np.float64)
    if message.distortion_model in FISHEYE and len(d) in (0, 4):
        angle = np.arctan(np.sqrt(r2))
        bent = angle * (1 + sum(factor * angle ** (2 * i) for i, factor in enumerate(d, start=1)))
        scale = np.divide(bent, np.sqrt(r2), out=np.ones_like(r2), where=r2 > 0)
        x, y = x * scale, y * scale
    elif message.distortion_model in BROWN and not np.any(d[8:]):
        k1, k2, p1, p2, k3, k4, k5, k6 = np.pad(d[:8], (0, 8 - len(d[:8])))
        scale = (1 + r2 * (k1 + r2 * (k2 + r2 * k3))) / (1 + r2 * (k4 + r2 * (k5 + r2 * k6)))
        aside, along = 2 * p1 * x * y + p2 * (r2 + 2 * x * x), p1 * (r2 + 2 * y * y) + 2 * p2 * x * y
        x, y = x * scale + aside, y * scale + along
    else:
        raise InvalidRecording(
            f"expected distortion of {', '.join((*BROWN[1:], *FISHEYE))} on {topic}, found "
            f"{message.distortion_model!r} with {len(d)} coefficients; record color/image_rect with its depth and masks"
        )
    return x, y


def intrinsics_of(message: Message, topic: str, shape: tuple[int, ...], rectified: bool = False) -> FloatArray:
    """K (3, 3) of an image.

    Width, height and K of a CameraInfo are those of the whole sensor; the image is its region of interest, divided by
    the binning. K belongs to images as the camera gives them, P to rectified ones.

    Args:
        message: the CameraInfo.
        topic: its topic, for errors.
        shape: height and width of the image.
        rectified: whether the image is rectified.

    Raises:
        InvalidRecording: the camera is not calibrated, or is calibrated for another size.
    """
    k = np.asarray(message.k, np.float64).reshape(3, 3)
    p = np.asarray(message.p, np.float64).reshape(3, 4)
    if rectified and distorts(message) and not p[0, 0] > 0:
        raise InvalidRecording(f"expected P of the rectified images on {topic}, found none; calibrate the camera")
    if p[0, 0] > 0 and (rectified or k[0, 0] == 0):
        turned = np.abs(np.asarray(message.r, np.float64).reshape(3, 3) - np.eye(3)).max()
        if np.abs(p[:2, 3]).max() > 1e-9 or (turned > 1e-3 and np.any(message.r)):
            raise InvalidRecording(
                f"expected a camera of its own on {topic}, found the second one of a stereo pair (P with an offset of "
                f"{p[0, 3]:.4g}, or R that turns by {turned:.2g}); use the first one"
            )
        k = p[:, :3]
    if not (k[0, 0] > 0 and k[1, 1] > 0 and np.isfinite(k).all()):
        raise InvalidRecording(
            f"expected intrinsics on {topic}, found focal lengths of {k[0, 0]:g} and {k[1, 1]:g}; calibrate the camera"
        )
    return _of_part(message, topic, shape, k)


def _of_part(message: Message, topic: str, shape: tuple[int, ...], k: npt.NDArray[np.float64]) -> FloatArray:
    """K of the binned region of interest that the image shows."""
    (height, width), roi = shape[:2], message.roi
    binning = np.array([max(int(message.binning_x), 1), max(int(message.binning_y), 1)])
    whole = np.array([int(message.width), int(message.height)])
    if not whole.any():
        if not (0 < k[0, 2] < width and 0 < k[1, 2] < height):
            raise InvalidRecording(
                f"expected the size of the image on {topic}, found none, and a middle of ({k[0, 2]:.0f}, {k[1, 2]:.0f})"
                f" that is not in an image of {width} x {height}; calibrate the camera at this size"
            )
        return np.asarray(k, np.float32)
    part = np.where([roi.width, roi.height], [roi.width, roi.height], whole)
    if (part // binning).tolist() != [width, height]:
        how = f", binning {binning[0]} x {binning[1]}" if binning.max() > 1 else ""
        how += f", region {roi.width} x {roi.height}" if roi.width or roi.height else ""
        raise InvalidRecording(
            f"expected a CameraInfo of the image, {width} x {height}, on {topic}, found one of {whole[0]} x {whole[1]}"
            f"{how}; set its binning and region, or calibrate at the size of the image"
        )
    scaled = np.array(k)
    scaled[:2, 2] -= [roi.x_offset, roi.y_offset]
    scaled[:2] /= binning[:, None]
    return scaled.astype(np.float32)

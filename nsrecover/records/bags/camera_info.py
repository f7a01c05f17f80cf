"""Intrinsics of an image from its CameraInfo, as sensor_msgs defines them."""

import numpy as np
import numpy.typing as npt

from nsrecover.core import FloatArray
from nsrecover.errors import InvalidRecording
from nsrecover.records.bags.images import Message


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
        InvalidRecording: the camera is not calibrated, is calibrated for another size, or images are distorted.
    """
    k = np.asarray(message.k, np.float64).reshape(3, 3)
    p = np.asarray(message.p, np.float64).reshape(3, 4)
    largest = float(np.abs(message.d).max()) if len(message.d) else 0.0
    if largest > 1e-6 and not (rectified and p[0, 0] > 0):
        raise InvalidRecording(
            f"expected rectified images on {topic}, found distortion {np.round(message.d, 4).tolist()}; record "
            "color/image_rect beside it, of image_proc's rectify node"
        )
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

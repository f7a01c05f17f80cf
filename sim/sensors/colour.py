"""Errors of colour cameras: exposure, white balance, noise, blur and compression."""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image
from scipy import ndimage

from nsrecover.errors import InvalidConfiguration
from sim.sensors.values import check_values


@dataclass(frozen=True)
class ColourErrors:
    """Errors of a colour image. Zero switches an error off.

    Attributes:
        exposure: brightness is multiplied by up to 1 ± exposure.
        white_balance: every channel is multiplied by up to 1 ± white_balance.
        noise: standard deviation of the noise, grey levels (0 to 255).
        blur_px: standard deviation of a Gaussian blur, pixels.
        jpeg_quality: quality of the compression, 1 to 95; 0 for none.
    """

    exposure: float = 0.0
    white_balance: float = 0.0
    noise: float = 0.0
    blur_px: float = 0.0
    jpeg_quality: int = 0

    def __post_init__(self) -> None:
        check_values(self, ("exposure", "white_balance"))
        if self.jpeg_quality > 95:
            raise InvalidConfiguration(f"expected a jpeg_quality from 0 to 95, found {self.jpeg_quality}")

    def apply(self, rgb: npt.NDArray[np.uint8], rng: np.random.Generator) -> npt.NDArray[np.uint8]:
        """A colour image (H, W, 3) with these errors."""
        gain = 1 + self.exposure * rng.uniform(-1, 1) + self.white_balance * rng.uniform(-1, 1, 3)
        image = rgb * gain
        if self.blur_px:
            image = ndimage.gaussian_filter(image, (self.blur_px, self.blur_px, 0))
        if self.noise:
            image = image + rng.normal(0.0, self.noise, image.shape)
        result = np.clip(np.round(image), 0, 255).astype(np.uint8)
        if self.jpeg_quality:
            buffer = io.BytesIO()
            Image.fromarray(result).save(buffer, "JPEG", quality=self.jpeg_quality)
            result = np.asarray(Image.open(buffer))
        return result

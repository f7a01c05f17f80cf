"""Errors of depth cameras: noise, bias, quantisation, holes, flying pixels and shadows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import numpy.typing as npt
from scipy import ndimage
from scipy.special import ndtri

from nsrecover.errors import InvalidConfiguration
from sim.sensors.values import check_values

Image = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

JUMP_M = 0.02
"""Neighbouring pixels that differ in depth by more than this lie on two sides of an edge."""

DARK, BRIGHT, SHINY = 30, 230, 250
"""Brightness (0 to 255) below which too little light comes back, above which a pattern of light is hard to see, and
above which the sensor saturates."""

STOCK = 32
"""Number of fields of blobs in a stock."""


@dataclass(frozen=True)
class DepthErrors:
    """Errors of a depth image. Zero switches an error off; the presets in `conf/sensor` say where values come from.

    Attributes:
        noise_m: standard deviation of the noise at 0.4 m, metres.
        noise_growth: growth of it with distance, metres per (metre - 0.4)².
        correlation_px: distance over which the correlation of neighbouring errors falls to 1/e, exponentially, pixels.
        bias_m: largest bias; it drifts slowly between its negative and positive value.
        bias_period_s: time in which the bias drifts there and back.
        scale: depth is multiplied by 1 + scale.
        quantum_px: steps of the disparity; needs a baseline.
        baseline_m: distance between the two imagers, or between imager and projector.
        edge_holes_px: width of the band along depth edges in which readings are missing.
        edge_holes_share: share of the pixels of that band that have none.
        flying_px: width of the band along depth edges in which readings lie between the near and the far surface.
        flying_share: share of the pixels of that band that do.
        material_holes: probability of no reading on dark, shiny or very slanted surfaces.
        bright_holes: probability of no reading on bright surfaces, such as white cloth.
        random_holes: probability of no reading anywhere.
        hole_px: standard deviation of the Gaussian that makes blobs of missing readings, pixels; 0 for single pixels.
        shadow: whether places that only one imager sees have no reading; needs a baseline.
    """

    noise_m: float = 0.0
    noise_growth: float = 0.0
    correlation_px: float = 0.0
    bias_m: float = 0.0
    bias_period_s: float = 60.0
    scale: float = 0.0
    quantum_px: float = 0.0
    baseline_m: float = 0.0
    edge_holes_px: int = 0
    edge_holes_share: float = 1.0
    flying_px: int = 0
    flying_share: float = 0.5
    material_holes: float = 0.0
    bright_holes: float = 0.0
    random_holes: float = 0.0
    hole_px: float = 0.0
    shadow: bool = False

    def __post_init__(self) -> None:
        shares = ("edge_holes_share", "flying_share", "material_holes", "bright_holes", "random_holes")
        check_values(self, shares, signed=("scale",))
        if not self.bias_period_s > 0:
            raise InvalidConfiguration(f"expected a bias_period_s above 0, found {self.bias_period_s}")
        if (self.quantum_px or self.shadow) and not self.baseline_m:
            raise InvalidConfiguration("expected a baseline_m above 0 for quantum_px and shadow, found 0")

    def apply(
        self,
        depth_m: Image,
        rgb: npt.NDArray[np.uint8],
        focal_px: float,
        time_s: float,
        phase: float,
        rng: np.random.Generator,
        quick: bool = False,
    ) -> Image:
        """A depth image (H, W) with these errors; 0 where there is no reading.

        Args:
            depth_m: (H, W) exact depth along the optical axis.
            rgb: (H, W, 3) the colour image of the same camera.
            focal_px: focal length.
            time_s: when the image is taken.
            phase: where the drift of the bias starts, radians.
            rng: the source of randomness.
            quick: whether blobs of holes come from a stock, at random places.
        """
        drawn = partial(self._drawn, depth_m.shape, rng=rng, quick=quick)
        z = depth_m.astype(np.float64)
        valid = z > 0
        edges = depth_edges(z) if self.flying_px or self.edge_holes_px else None
        if edges is not None and self.flying_px:
            z = self._flying(z, _grown(edges, self.flying_px), rng)
        holes = ~valid
        if edges is not None and self.edge_holes_px:
            holes |= _grown(edges, self.edge_holes_px) & drawn(self.edge_holes_share)
        if self.shadow:
            holes |= shadowed(z, focal_px * self.baseline_m)
        if self.material_holes:
            holes |= self._lost(z, rgb, focal_px) & drawn(self.material_holes)
        if self.bright_holes:
            holes |= (_over_channels(np.minimum, rgb) > BRIGHT) & drawn(self.bright_holes)
        if self.random_holes:
            holes |= drawn(self.random_holes)
        sigma = self.noise_m + self.noise_growth * (z - 0.4) ** 2
        z = z * (1 + self.scale) + self.bias_m * math.sin(phase + 2 * math.pi * time_s / self.bias_period_s)
        z += sigma * _noise(z.shape, self.correlation_px, rng)
        if self.quantum_px:
            disparity = focal_px * self.baseline_m / np.maximum(z, 1e-3)
            z = focal_px * self.baseline_m / (np.maximum(np.round(disparity / self.quantum_px), 1.0) * self.quantum_px)
        return np.where(holes, 0.0, np.maximum(z, 0.0)).astype(np.float32)

    def _drawn(self, shape: tuple[int, ...], share: float, rng: np.random.Generator, quick: bool) -> Mask:
        """A share of the pixels, in blobs."""
        if not self.hole_px:
            return rng.random(shape) < share
        if quick:
            stock = _stock(shape, self.hole_px)
            field = np.roll(stock[rng.integers(len(stock))], rng.integers(shape), axis=(0, 1))
        else:
            field = _blobs(shape, self.hole_px, rng)
        return np.asarray(field * 2 * math.sqrt(math.pi) * self.hole_px < ndtri(share))

    def _flying(self, z: npt.NDArray[np.float64], band: Mask, rng: np.random.Generator) -> npt.NDArray[np.float64]:
        size = 2 * self.flying_px + 1
        near = ndimage.minimum_filter(np.where(z > 0, z, np.inf), size)
        far = ndimage.maximum_filter(z, size)
        share = rng.random(z.shape)
        flying = band & (z > 0) & np.isfinite(near) & (rng.random(z.shape) < self.flying_share)
        return np.where(flying, near + share * (far - near), z)

    def _lost(self, z: npt.NDArray[np.float64], rgb: npt.NDArray[np.uint8], focal_px: float) -> Mask:
        bright, dark = _over_channels(np.minimum, rgb) > SHINY, _over_channels(np.maximum, rgb) < DARK
        slope = np.hypot(*np.gradient(z)) * focal_px / np.maximum(z, 1e-3)  # tangent of the angle to the surface normal
        return np.asarray(dark | bright | (slope > math.tan(math.radians(80))))


def depth_edges(z: npt.NDArray[np.float64]) -> Mask:
    """(H, W) pixels next to a jump in depth."""
    known = np.where(z > 0, z, np.nan)
    edges = np.zeros(z.shape, dtype=np.bool_)
    for axis in (0, 1):
        jump = np.abs(np.diff(known, axis=axis)) > JUMP_M
        first, second = [slice(None)] * 2, [slice(None)] * 2
        first[axis], second[axis] = slice(None, -1), slice(1, None)
        edges[tuple(first)] |= jump
        edges[tuple(second)] |= jump
    return edges


def shadowed(z: npt.NDArray[np.float64], focal_baseline: float) -> Mask:
    """(H, W) pixels that a second imager, a baseline to the right, does not see: something nearer covers them."""
    disparity = np.where(z > 0, focal_baseline / np.maximum(z, 1e-3), 0.0)
    rows, columns = np.meshgrid(*map(np.arange, z.shape), indexing="ij")
    landing = np.round(columns - disparity).astype(int)
    inside = (landing >= 0) & (z > 0)
    nearest = np.zeros(z.shape)
    np.maximum.at(nearest, (rows[inside], landing[inside]), disparity[inside])
    covered = np.zeros(z.shape, dtype=np.bool_)
    covered[inside] = disparity[inside] < nearest[rows[inside], landing[inside]] - 1.0
    return covered


def _grown(edges: Mask, width_px: int) -> Mask:
    """A band of a width on both sides of edges; the edges themselves are one pixel wide on each side."""
    return edges if width_px <= 1 else np.asarray(ndimage.binary_dilation(edges, iterations=width_px - 1))


def _over_channels(least: np.ufunc, rgb: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """The least or greatest of three colours; faster than along the last axis."""
    return np.asarray(least(least(rgb[..., 0], rgb[..., 1]), rgb[..., 2]))


def _blobs(shape: tuple[int, ...], hole_px: float, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    return np.asarray(ndimage.gaussian_filter(rng.standard_normal(shape), hole_px, mode="wrap"))


@cache
def _stock(shape: tuple[int, ...], hole_px: float) -> list[npt.NDArray[np.float64]]:
    rng = np.random.default_rng(STOCK)
    return [_blobs(shape, hole_px, rng) for _ in range(STOCK)]


def _noise(shape: tuple[int, ...], correlation_px: float, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Gaussian noise with unit variance, whose correlation falls exponentially."""
    white = rng.standard_normal(shape)
    if correlation_px <= 0:
        return white
    return np.asarray(np.fft.irfft2(np.fft.rfft2(white) * _gain(shape, correlation_px), shape))


@cache
def _gain(shape: tuple[int, ...], correlation_px: float) -> npt.NDArray[np.float64]:
    """Gain of every frequency that makes white noise correlate as exp(-distance / correlation_px)."""
    rows, columns = (np.minimum(np.arange(n), n - np.arange(n)) for n in shape)
    spectrum = np.fft.rfft2(np.exp(-np.hypot(rows[:, None], columns) / correlation_px)).real
    return np.sqrt(np.maximum(spectrum, 0.0))

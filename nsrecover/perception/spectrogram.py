"""Log-mel spectrograms of recordings: what the sound network sees."""

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from nsrecover.core.scene import FloatArray
from nsrecover.errors import InvalidObservation

RATE_HZ = 16_000
"""Sampling rate of all recordings that are recognised."""
BANDS = 64
"""Bands of equal width on the mel scale from `LOWEST_HZ` to half the rate."""
LOWEST_HZ = 50.0
WINDOW, HOP = 512, 320
"""Samples of a frame, and from one frame to the next: 32 and 20 ms."""
FRAMES = 100
"""Frames of a window that is classified, two seconds."""
FLOOR_DB = -120.0
"""Levels are cut off here, relative to full scale."""


def check_recording(samples: npt.ArrayLike, rate_hz: int) -> FloatArray:
    """A recording as (S,) float32.

    Raises:
        InvalidObservation: it has another rate than `RATE_HZ`, or is not one channel.
    """
    if rate_hz != RATE_HZ:
        raise InvalidObservation(
            f"expected audio at {RATE_HZ} samples a second, found {rate_hz}; resample it, for instance with "
            f"scipy.signal.resample_poly(audio, {RATE_HZ}, {rate_hz})"
        )
    array = np.asarray(samples, np.float32)
    if array.ndim != 1:
        raise InvalidObservation(f"expected audio of one channel as (samples,), found {array.shape}; mix the channels")
    return array


def mel_levels(samples: npt.ArrayLike) -> FloatArray:
    """Levels of a recording in decibels relative to full scale, (frames, BANDS).

    Frame k is centred at sample k * HOP, so that S samples have S // HOP frames (at least one).

    Args:
        samples: (S,) at `RATE_HZ`.
    """
    wave = torch.as_tensor(np.ascontiguousarray(samples, np.float32))
    frames = max(1, len(wave) // HOP)
    padded = torch.nn.functional.pad(wave, (WINDOW // 2, WINDOW))
    window = torch.hann_window(WINDOW)
    spectrum = torch.stft(padded, WINDOW, HOP, window=window, center=False, return_complex=True)
    power = spectrum.abs().square()[:, :frames].T / float(window.square().sum())
    levels = 10.0 * torch.log10(power @ _filters() + 10 ** (FLOOR_DB / 10))
    return np.asarray(levels.numpy(), np.float32)


@lru_cache(maxsize=1)
def _filters() -> Tensor:
    """Triangular filters on the mel scale (O'Shaughnessy 1987), (WINDOW / 2 + 1, BANDS), each with a sum of 1."""
    low, high = (2595 * math.log10(1 + f / 700) for f in (LOWEST_HZ, RATE_HZ / 2))
    centres = 700 * (10 ** (np.linspace(low, high, BANDS + 2) / 2595) - 1)
    f = np.fft.rfftfreq(WINDOW, 1 / RATE_HZ)[:, None]
    rising, falling = (f - centres[:-2]) / np.diff(centres)[:-1], (centres[2:] - f) / np.diff(centres)[1:]
    filters = np.maximum(0.0, np.minimum(rising, falling))
    # the lowest bands are narrower than a bin: every band takes at least the nearest bin
    nearest = np.abs(f - centres[1:-1]).argmin(axis=0)
    filters[nearest, np.arange(BANDS)] = np.maximum(filters[nearest, np.arange(BANDS)], 1e-3)
    return torch.as_tensor(filters / filters.sum(axis=0), dtype=torch.float32)


def window_of(levels: FloatArray, first: int) -> FloatArray:
    """`FRAMES` frames (FRAMES, BANDS) that begin at a frame, which may be negative; quiet where there is none."""
    out = np.full((FRAMES, BANDS), FLOOR_DB, np.float32)
    low, high = max(first, 0), min(first + FRAMES, len(levels))
    if low < high:
        out[low - first : high - first] = levels[low:high]
        # what is before and after the recording sounds like the quietest frame in it
        quiet = np.quantile(levels, 0.05, axis=0)
        out[: low - first], out[high - first :] = quiet, quiet
    return out

"""A spectral baseline: recognises the class of a sound from simple numbers about its spectrum.

It shows that the classes differ, and that telling them apart is not trivial; a monitor learns more than that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nsrecover.errors import InvalidConfiguration

Array = npt.NDArray[np.float64]

BANDS = 24
WINDOW, STEP = 512, 256
_SHRINKAGE = 0.05


def log_spectrogram(samples: npt.ArrayLike, rate_hz: int, bands: int = BANDS) -> Array:
    """Power in decibels in bands of equal width on the mel scale, (frames, bands).

    Args:
        samples: (S,) at least `WINDOW` of them.
        rate_hz: their rate.
        bands: number of bands from 60 Hz to half the rate.
    """
    values = np.asarray(samples, np.float64)
    if values.ndim != 1 or len(values) < WINDOW:
        raise InvalidConfiguration(f"expected at least {WINDOW} samples of one channel, found shape {values.shape}")
    frames = np.lib.stride_tricks.sliding_window_view(values, WINDOW)[::STEP] * np.hanning(WINDOW)
    power = np.abs(np.fft.rfft(frames, axis=1)) ** 2
    low, high = (2595 * np.log10(1 + f / 700) for f in (60.0, rate_hz / 2))
    centres = 700 * (10 ** (np.linspace(low, high, bands + 2) / 2595) - 1)
    f = np.fft.rfftfreq(WINDOW, 1 / rate_hz)[:, None]
    rising, falling = (f - centres[:-2]) / np.diff(centres)[:-1], (centres[2:] - f) / np.diff(centres)[1:]
    filters = np.maximum(0.0, np.minimum(rising, falling))
    # the lowest bands are narrower than a bin: every band takes at least the nearest bin
    nearest = np.abs(f - centres[1:-1]).argmin(axis=0)
    filters[nearest, np.arange(bands)] = np.maximum(filters[nearest, np.arange(bands)], 1e-3)
    return np.asarray(10 * np.log10(power @ filters / filters.sum(axis=0) + 1e-12))


def features(samples: npt.ArrayLike, rate_hz: int) -> Array:
    """What the baseline looks at, (3 * BANDS + 2,).

    These are the loudest and the mean level in every band relative to the loudest of all, how much the level changes,
    the share of the frames that are loud, and how fast the sound fades after its loudest frame.
    """
    levels = log_spectrogram(samples, rate_hz)
    # relative to the noise in the quietest frames, so that steady noise of a room counts little
    floor = np.quantile(levels, 0.05, axis=0)
    total = 10 * np.log10((10 ** (levels / 10)).sum(axis=1))
    top = int(total.argmax())
    after = total[top : top + 20] - total[top]
    peak, mean = levels.max(axis=0), levels.mean(axis=0)
    loud = float((total > total[top] - 15.0).mean())
    return np.concatenate([peak - peak.max(), mean - mean.max(), peak - floor, [40 * loud, float(after.mean())]])


@dataclass(frozen=True, eq=False)
class SpectralBaseline:
    """Linear discriminant analysis of the features.

    Attributes:
        classes: names of the C classes.
        weights: (C, features).
        offsets: (C,).
    """

    classes: tuple[str, ...]
    weights: Array
    offsets: Array

    @classmethod
    def fit(cls, found: npt.ArrayLike, labels: Sequence[str]) -> SpectralBaseline:
        """From features (N, F) and their classes.

        Raises:
            InvalidConfiguration: there are fewer than two examples of a class.
        """
        x, names = np.asarray(found, np.float64), np.array(labels)
        classes = tuple(sorted(set(labels)))
        counts = {name: int((names == name).sum()) for name in classes}
        few = [name for name, count in counts.items() if count < 2]
        if few or len(x) != len(names):
            raise InvalidConfiguration(f"expected features and at least two examples of every class, found {counts}")
        means = np.stack([x[names == name].mean(axis=0) for name in classes])
        centred = np.concatenate([x[names == name] - mean for name, mean in zip(classes, means, strict=True)])
        spread = centred.T @ centred / len(x)
        spread += _SHRINKAGE * np.trace(spread) / len(spread) * np.eye(len(spread))
        weights = np.linalg.solve(spread, means.T).T
        return cls(classes, weights, -0.5 * np.einsum("cf,cf->c", weights, means))

    def predict(self, found: npt.ArrayLike) -> list[str]:
        """The class of features (N, F)."""
        scores = np.asarray(found, np.float64) @ self.weights.T + self.offsets
        return [self.classes[int(best)] for best in scores.argmax(axis=1)]

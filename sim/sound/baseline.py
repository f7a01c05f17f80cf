"""A spectral baseline: recognises the class of a sound from simple numbers about its spectrum.

It shows that the classes differ, and that telling them apart is not trivial; a monitor learns more than that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nsrecover.perception.spectrogram import check_recording, mel_levels

Array = npt.NDArray[np.float64]
_SHRINKAGE = 0.05


def features(samples: npt.ArrayLike, rate_hz: int) -> Array:
    """What the baseline looks at, (3 * bands + 2,).

    These are the loudest and the mean level in every band relative to the loudest of all, how much the level changes,
    the share of the frames that are loud, and how fast the sound fades after its loudest frame.
    """
    levels = mel_levels(check_recording(samples, rate_hz)).astype(np.float64)
    # relative to the noise in the quietest frames, so that steady noise of a room counts little
    floor = np.quantile(levels, 0.05, axis=0)
    total = 10 * np.log10((10 ** (levels / 10)).sum(axis=1))
    top = int(total.argmax())
    after = total[top : top + 16] - total[top]
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
        """From features (N, F) and their classes, at least two examples of each."""
        x, names = np.asarray(found, np.float64), np.array(labels)
        classes = tuple(sorted(set(labels)))
        means = np.stack([x[names == name].mean(axis=0) for name in classes])
        centred = x - means[np.searchsorted(classes, names)]
        spread = centred.T @ centred / len(x)
        spread += _SHRINKAGE * np.trace(spread) / len(spread) * np.eye(len(spread))
        weights = np.linalg.solve(spread, means.T).T
        return cls(classes, weights, -0.5 * np.einsum("cf,cf->c", weights, means))

    def predict(self, found: npt.ArrayLike) -> list[str]:
        """The class of features (N, F)."""
        scores = np.asarray(found, np.float64) @ self.weights.T + self.offsets
        return [self.classes[int(best)] for best in scores.argmax(axis=1)]

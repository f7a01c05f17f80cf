"""Sounds of a report: WAV files within a budget, and their loudness as a drawing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from nsrecover.records.wav import wav_bytes
from nsrecover.serving.reports.media import Clip
from nsrecover.serving.reports.model import MarkedAs, Sound

BUDGET_BYTES = 1_500_000
"""All sounds of a page together, as WAV files."""
LOWEST_HZ = 8_000
"""Sounds are not stored with fewer samples a second than this, rounded down to a divisor of their rate."""
WAVE_SIZE = (300, 40)
"""Size of the drawing of a sound, units of SVG."""
QUIETEST_DB = -60.0
"""This loudness and less is drawn as nothing."""


def sounds_of(clips: Sequence[Clip | None], kinds: Sequence[MarkedAs]) -> list[Sound | None]:
    """The sounds of all steps; if they are too long for the page, those of unremarkable steps are left out.

    Args:
        clips: of every step; None without a sound.
        kinds: how the steps are marked.
    """
    slow = [None if clip is None else _slowed(clip, 1) for clip in clips]
    if _bytes(slow) > BUDGET_BYTES:
        slow = [None if clip is None else _slowed(clip, clip.rate_hz // LOWEST_HZ) for clip in clips]
    kept = {number for number, clip in enumerate(slow) if clip is not None}
    # first the steps as expected go, from the last one on, then the others
    for number in sorted(kept, key=lambda i: (kinds[i] is not MarkedAs.OK, -i)):
        if sum(_bytes([slow[i]]) for i in kept) > BUDGET_BYTES:
            kept.remove(number)
    return [None if clip is None else _sound(clip, number in kept) for number, clip in enumerate(slow)]


def _bytes(clips: Sequence[Clip | None]) -> int:
    return sum(2 * len(clip.samples) for clip in clips if clip is not None)


def _slowed(clip: Clip, factor: int) -> Clip:
    """A clip with the mean of every few samples."""
    if factor <= 1:
        return clip
    whole = len(clip.samples) // factor * factor
    samples = clip.samples[:whole].reshape(-1, factor).mean(axis=1).astype(np.float32)
    return Clip(samples, clip.rate_hz // factor, clip.events)


def _sound(clip: Clip, stored: bool) -> Sound:
    wav = wav_bytes(clip.samples, clip.rate_hz) if stored and len(clip.samples) else None
    return Sound(wav, len(clip.samples) / clip.rate_hz, _loudness(clip.samples), clip.events)


def _loudness(samples: npt.NDArray[np.float32]) -> str:
    """Loudness over time as the points of a polygon."""
    width, height = WAVE_SIZE
    columns = width // 2
    edges = np.linspace(0, len(samples), columns + 1).astype(int)
    peaks = [float(np.abs(samples[a:b]).max(initial=0.0)) for a, b in pairwise(edges)]
    level = 1.0 - np.clip(20 * np.log10(np.maximum(peaks, 1e-6)) / QUIETEST_DB, 0.0, 1.0)
    upper = [f"{2 * i},{height / 2 * (1 - y):.1f}" for i, y in enumerate(level)]
    lower = [f"{2 * i},{height / 2 * (1 + y):.1f}" for i, y in reversed(list(enumerate(level)))]
    return " ".join((*upper, *lower))

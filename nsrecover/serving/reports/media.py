"""Photographs, sound and further files of an episode; sounds are stored within a budget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from nsrecover.core.observation import Camera
from nsrecover.records.wav import wav_bytes
from nsrecover.serving.reports.model import MarkedAs, Sound

Polygon = npt.NDArray[np.float64]
"""(P, 2) corners in pixels."""


@dataclass(frozen=True, eq=False)
class Photo:
    """A picture of one moment, and where its objects are in it.

    Attributes:
        rgb: (H, W, 3) uint8.
        camera: that took it; objects with boxes are outlined with it.
        outlines: object -> outline, for objects without boxes; see `pictures.outlines_of_masks`.
    """

    rgb: npt.NDArray[np.uint8]
    camera: Camera | None = None
    outlines: Mapping[str, Polygon] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Clip:
    """Sound of one turn.

    Attributes:
        samples: (S,) from -1 to 1.
        rate_hz: samples a second.
        events: what can be heard, in words; empty if unknown.
    """

    samples: npt.NDArray[np.float32]
    rate_hz: int
    events: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Media:
    """Photographs and sound of one turn of an episode.

    Attributes:
        before: taken before the action.
        after: taken after it, or at the check before an action that was not carried out.
        clip: the sound until then.
    """

    before: Photo | None = None
    after: Photo | None = None
    clip: Clip | None = None


@dataclass(frozen=True)
class GoalJudgement:
    """The outcome as a referee sees it who knows the truth, such as a simulator.

    Attributes:
        reached: whether the goal is reached.
        text: why it is, or what is wrong, as a sentence.
    """

    reached: bool
    text: str


@dataclass(frozen=True)
class Extra:
    """A further file that readers can take from the page.

    Attributes:
        name: of the file.
        label: what it holds.
        content: the bytes.
        mime: its type; a film of a type `video/...` is shown.
        ends_s: of a film: when each turn ends in it, seconds; empty if the film runs with the robot's clock.
    """

    name: str
    label: str
    content: bytes = field(repr=False)
    mime: str = "application/json"
    ends_s: tuple[float, ...] = ()


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

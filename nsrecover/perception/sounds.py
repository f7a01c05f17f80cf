"""From the microphone to sound events: what was heard since the last observation, when, and what is unknown.

The noise floor is followed in every mel band. Where a recording rises above it, windows are cut out and shown to the
sound model. What rises above the floor and belongs to no class is an unknown sound. Without a microphone nothing is
known, which is not the same as silence.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy.ndimage import binary_closing, label, uniform_filter

from nsrecover.core import FloatArray, Observation
from nsrecover.perception.spectrogram import FLOOR_DB, FRAMES, HOP, RATE_HZ, check_recording, mel_levels, window_of

UNKNOWN_SOUND = "unknown sound"
"""Label of what is heard and not recognised."""
ABOVE_DB = 7.0
"""A frame is loud if enough bands are this far above their floor."""
LOUD_BANDS = 4
SMOOTHED = (5, 5)
"""Frames and bands over which powers are averaged first: noise varies by 10 dB from one to the next."""
FLOOR_QUANTILE = 0.1
"""Share of the frames of a recording that may be quieter than its floor."""
RISE_DB_S = 0.2
"""The floor of earlier recordings rises at most this fast, and not at all while something known sounds: running water
goes on for minutes and is no noise."""
BRIDGED = 8
"""Shorter pauses are bridged, frames of 20 ms."""
LEAD = 15
"""A window begins this many frames before the sound."""
STEP = FRAMES // 2
"""Frames from one window of a long sound to the next."""
FRAME_S = HOP / RATE_HZ
DEAD_S = 0.5
"""A microphone whose samples are all equal for this long is dead: one that works always has noise."""


class Recogniser(Protocol):
    """Recognises sounds in windows; `nsrecover.models.sound.SoundModel` has learned it."""

    def hints(self, windows: npt.ArrayLike) -> list[dict[str, float]]:
        """Names and probabilities of what may be in each of B windows that resemble nothing known as a whole."""

    def heard(self, windows: npt.ArrayLike) -> list[dict[str, float]]:
        """Names and probabilities for each of B windows (B, FRAMES, BANDS); empty: nothing that is known."""


@dataclass(frozen=True)
class SoundHeard:
    """A sound event as it was heard.

    Attributes:
        label: its class, or `UNKNOWN_SOUND`.
        probability: of the class; 0 for an unknown sound.
        start_s: when it was heard first, seconds on the observation's clock.
        end_s: when it was heard last.
    """

    label: str
    probability: float
    start_s: float
    end_s: float

    @property
    def known(self) -> bool:
        """Whether it belongs to a class."""
        return self.label != UNKNOWN_SOUND


@dataclass(frozen=True)
class Hearing:
    """What was heard between two observations.

    Attributes:
        events: in the order of their starts.
        listened: whether a microphone works; if not, it is not known what sounded, and `events` is empty.
        start_s: begin of the recording.
        end_s: its end.
        hints: what may be among the unknown sounds, such as what shatters while it rings.
    """

    events: tuple[SoundHeard, ...]
    listened: bool
    start_s: float
    end_s: float
    hints: tuple[SoundHeard, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """Different labels of the events, in the order in which they were heard first."""
        return tuple(dict.fromkeys(event.label for event in self.events))

    @property
    def suspected(self) -> frozenset[str]:
        """Labels of the events and of the hints."""
        return frozenset(each.label for each in (*self.events, *self.hints))

    def was_heard(self, label: str) -> bool | None:
        """Whether a sound was heard; None without audio."""
        return any(event.label == label for event in self.events) if self.listened else None


class SoundPerceiver:
    """Turns the recordings of an episode into sound events; one perceiver belongs to one episode.

    Args:
        model: recognises sounds.
    """

    def __init__(self, model: Recogniser) -> None:
        self._model = model
        self._floor: FloatArray | None = None

    def reset(self, observation: Observation) -> Hearing:
        """Begin an episode: forget the noise floor, and listen to the first observation."""
        self._floor = None
        return self.step(observation)

    def step(self, observation: Observation) -> Hearing:
        """What was heard until an observation.

        Raises:
            InvalidObservation: the recording has a rate that the model does not take.
        """
        if observation.audio is None:
            return Hearing((), False, observation.time_s, observation.time_s)
        samples = check_recording(observation.audio, observation.audio_rate_hz)
        start_s = observation.time_s - len(samples) / RATE_HZ
        if len(samples) >= DEAD_S * RATE_HZ and np.ptp(samples) == 0:
            return Hearing((), False, start_s, observation.time_s)
        if len(samples) < HOP:
            return Hearing((), True, start_s, observation.time_s)
        levels = mel_levels(samples)
        smooth = smoothed(levels)
        before, self._floor = self._floor, floor_of(smooth, self._floor)
        windows = loud_windows(smooth, self._floor if before is None else np.minimum(self._floor, before))
        found = self._model.heard(np.stack([window_of(levels, first) for first, _, _ in windows])) if windows else []
        if before is not None and any(found):
            self._floor = np.minimum(self._floor, before)
        strange = [window for window, names in zip(windows, found, strict=True) if not names]
        hints = self._model.hints(np.stack([window_of(levels, first) for first, _, _ in strange])) if strange else []

        heard = _events(windows, [names or {UNKNOWN_SOUND: 0.0} for names in found], start_s)
        return Hearing(heard, True, start_s, observation.time_s, _events(strange, hints, start_s))


def _events(
    windows: Sequence[tuple[int, int, int]], found: Sequence[dict[str, float]], start_s: float
) -> tuple[SoundHeard, ...]:
    """What was found in some windows of a recording that began at a time."""
    return joined(
        [
            SoundHeard(name, probability, start_s + begin * FRAME_S, start_s + end * FRAME_S)
            for (_, begin, end), names in zip(windows, found, strict=True)
            for name, probability in names.items()
        ]
    )


def smoothed(levels: FloatArray) -> FloatArray:
    """Levels (frames, BANDS) of powers that are averaged over neighbouring frames and bands."""
    powers = uniform_filter(10 ** (levels.astype(np.float64) / 10), SMOOTHED, mode="nearest")
    return np.asarray(10 * np.log10(np.maximum(powers, 10 ** (FLOOR_DB / 10))), np.float32)


def floor_of(levels: FloatArray, before: FloatArray | None = None) -> FloatArray:
    """The noise floor of a recording (BANDS,), decibels.

    Args:
        levels: (frames, BANDS), smoothed.
        before: the floor of the recordings so far; the new one is at most slightly above it.
    """
    floor = np.quantile(levels, FLOOR_QUANTILE, axis=0)
    if before is not None:
        floor = np.minimum(floor, before + RISE_DB_S * len(levels) * FRAME_S)
    return np.asarray(floor, np.float32)


def loud_windows(levels: FloatArray, floor: FloatArray) -> list[tuple[int, int, int]]:
    """Where a recording is louder than its noise floor.

    Args:
        levels: (frames, BANDS), smoothed.
        floor: (BANDS,).

    Returns:
        For every window its first frame, and the first frame and the end of the sound in it.
    """
    loud = ((levels - floor) > ABOVE_DB).sum(axis=1) >= LOUD_BANDS
    bridged = binary_closing(np.pad(loud, BRIDGED), np.ones(BRIDGED + 1))[BRIDGED:-BRIDGED] | loud
    parts, count = label(bridged)
    windows = []
    for part in range(1, count + 1):
        frames = np.flatnonzero(parts == part)
        begin, end = int(frames[0]), int(frames[-1]) + 1
        for first in range(begin - LEAD, max(end - STEP, begin - LEAD + 1), STEP):
            windows.append((first, max(first, begin), min(first + FRAMES, end)))
    return windows


def joined(events: Sequence[SoundHeard]) -> tuple[SoundHeard, ...]:
    """Events of the same class that overlap or touch, as one; in the order of their starts."""
    found: list[SoundHeard] = []
    for event in sorted(events, key=lambda event: (event.label, event.start_s)):
        last = found[-1] if found else None
        if last is not None and last.label == event.label and event.start_s <= last.end_s + BRIDGED * FRAME_S:
            best = max(last.probability, event.probability)
            found[-1] = SoundHeard(event.label, best, last.start_s, max(last.end_s, event.end_s))
        else:
            found.append(event)
    return tuple(sorted(found, key=lambda event: (event.start_s, event.label)))

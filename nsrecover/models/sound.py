"""The sound model: a small network on log-mel spectrograms, and sounds that users enrolled.

Every class has a probability of its own, because kitchens are full of sounds that go on at the same time. A window is
an unknown sound if no class is probable, or if its embedding is far from those of known sounds (nearest neighbours: Sun
et al. 2022, "Out-of-Distribution Detection with Deep Nearest Neighbors"). Users enrol sounds of their own from a few
recordings; these are recognised by what the convolutions see in them, each from a threshold of its own on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from nsrecover.core.scene import FloatArray
from nsrecover.errors import InvalidConfiguration, require_known
from nsrecover.models.checkpoint import CHECKPOINTS, CheckpointFormat, built, restore
from nsrecover.models.encoder import convolutions
from nsrecover.perception.spectrogram import BANDS, FRAMES, RATE_HZ, check_recording, mel_levels, window_of
from nsrecover.util.untrusted_json import JsonMapping

SHIPPED = CHECKPOINTS / "household" / "sounds"
RANGE_DB = 60.0
"""The network sees levels down to this far below the loudest one of a window."""
EMBEDDING = 64
"""Length of an embedding."""
SIMILAR = 0.5
"""Cosine similarity from which on an enrolled sound of which nothing else is known is recognised."""
NOT_LIKE = 0.99
"""An enrolled sound is recognised if it is more similar than this share of the recordings of other sounds."""
LIKE = 0.05
"""Share of the copies of an enrolled sound that may be less similar than the upper bound of its threshold."""
CLOSEST = 3
"""A sound is as similar to an enrolled one as the mean of so many of its closest copies."""
COPIES_DB = (25.0, 15.0, 8.0, 3.0)
"""Ratios of sound to noise of the copies that are enrolled with a recording."""
NEIGHBOURS = 5
"""A sound is as familiar as its similarity to this nearest reference."""
FAMILIARITY = 20.0
"""Weight of a similarity against the logarithm of a probability."""


@dataclass(frozen=True)
class SoundConfig:
    """Parameters of a sound model besides its weights.

    Attributes:
        classes: names of the C classes.
        groups: class -> name of a group of classes that cannot be told apart reliably; others stand for themselves.
        thresholds: (C,) a class is heard if its probability is at least this.
        known_from: a sound is known if its score (`SoundModel.familiarity`) is at least this.
        widths: channels of the convolutions.
        expected: action, such as `toggle_on faucet` -> class -> share of its demonstrated steps in which it was heard.
        metrics: measurements after training.
        provenance: data, seed and command of the training.
        enrolled: names of the sounds that were enrolled, one for each of their recordings; empty: a sound that is none.
    """

    classes: tuple[str, ...]
    groups: Mapping[str, str] = field(default_factory=dict)
    thresholds: tuple[float, ...] = ()
    known_from: float = -math.inf
    widths: tuple[int, ...] = (16, 32, 64, 96)
    expected: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    metrics: JsonMapping = field(default_factory=dict)
    provenance: JsonMapping = field(default_factory=dict)
    enrolled: tuple[str, ...] = ()

    def group(self, name: str) -> str:
        """The group of a class, or the class if it stands for itself."""
        return self.groups.get(name, name)


FORMAT = CheckpointFormat("a sound model", 1, SoundConfig, "python -m train.sounds")


class SoundNet(nn.Module):
    """Convolutions over a log-mel spectrogram, the mean and the maximum over time, and a linear layer.

    Frequency is not pooled: where a sound lies on the mel scale tells classes apart.

    Args:
        classes: C, number of classes.
        widths: channels of the convolutions; each of the first three halves the resolution.
    """

    def __init__(self, classes: int, widths: Sequence[int] = (16, 32, 64, 96)) -> None:
        super().__init__()
        self.features = convolutions(1, widths)
        self.embedding = nn.Linear(2 * widths[-1] * (BANDS // 8), EMBEDDING)
        self.dropout = nn.Dropout(0.2)
        self.classes = nn.Linear(EMBEDDING, classes)

    def pooled(self, levels: Tensor) -> Tensor:
        """What the convolutions see in windows (B, FRAMES, BANDS) of levels in decibels, without times: (B, D)."""
        loudest = levels.amax(dim=(1, 2), keepdim=True)
        seen = 1.0 + (levels - loudest).clamp(min=-RANGE_DB) / (RANGE_DB / 2)
        maps = self.features(seen[:, None])
        return torch.cat([maps.mean(dim=2), maps.amax(dim=2)], dim=1).flatten(1)

    def forward(self, levels: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (B, C) and embeddings (B, EMBEDDING) of windows (B, FRAMES, BANDS) of levels in decibels."""
        embedded = torch.relu(self.embedding(self.pooled(levels)))
        return self.classes(self.dropout(embedded)), embedded


@dataclass(frozen=True)
class Enrolled:
    """Sounds of the user, and sounds that are none of them.

    Attributes:
        names: of each recording; empty: none of the enrolled sounds.
        shapes: (R, 1 + len(COPIES_DB), D) square roots of what the network sees in each recording and its copies.
    """

    names: tuple[str, ...]
    shapes: FloatArray

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """The enrolled sounds."""
        return tuple(dict.fromkeys(filter(None, self.names)))

    @cached_property
    def _centre(self) -> FloatArray:
        names = np.array(self.names)
        means = [self.shapes[names == name].mean(axis=(0, 1)) for name in dict.fromkeys(self.names)]
        return np.asarray(np.mean(means, axis=0), np.float32)

    def _unit(self, shapes: FloatArray) -> FloatArray:
        away = shapes - self._centre
        return np.asarray(away / np.maximum(np.linalg.norm(away, axis=-1, keepdims=True), 1e-9), np.float32)

    @cached_property
    def _units(self) -> FloatArray:
        return self._unit(self.shapes)

    def _similar(self, units: FloatArray, to: npt.NDArray[np.bool_]) -> FloatArray:
        known = self._units[to].reshape(-1, self.shapes.shape[-1])
        closest = np.sort(units.reshape(-1, known.shape[1]) @ known.T, axis=1)[:, -CLOSEST:]
        return np.asarray(closest.mean(axis=1), np.float32)

    @cached_property
    def thresholds(self) -> FloatArray:
        """The similarity from which on each sound is recognised.

        Half way between `SIMILAR` and what the copies of one recording reach by the other recordings; above the
        similarity of sounds that are others.
        """
        names, found = np.array(self.names), []
        for name in self.classes:
            own = names == name
            rows = np.flatnonzero(own)
            likely = SIMILAR
            if len(rows) > 1:
                alike = [self._similar(self._units[row], own & (np.arange(len(names)) != row)) for row in rows]
                likely = float(np.quantile(np.concatenate(alike), LIKE))
            others = float(np.quantile(self._similar(self._units[~own], own), NOT_LIKE)) if not own.all() else 0.0
            found.append(max((SIMILAR + likely) / 2, others))
        return np.asarray(found, np.float32)

    def heard(self, shapes: FloatArray) -> list[tuple[str, float] | None]:
        """The enrolled sound in each of B windows with these shapes (B, D), and its similarity; None for none."""
        units, names = self._unit(shapes), np.array(self.names)
        similar = np.stack([self._similar(units, names == name) for name in self.classes], axis=1)
        best = (similar - self.thresholds).argmax(axis=1)
        return [
            (self.classes[i], float(row[i])) if row[i] >= self.thresholds[i] else None
            for i, row in zip(best, similar, strict=True)
        ]


class SoundModel(nn.Module):
    """Recognises sounds in windows of two seconds; runs without gradients and on the CPU.

    Attributes:
        config: classes, groups and thresholds.
        net: the network.
        references: (R, EMBEDDING) embeddings of known sounds, unit length.
        enrolled: the sounds of the user.
    """

    def __init__(self, config: SoundConfig) -> None:
        super().__init__()
        if not config.classes or len(set(config.classes)) != len(config.classes):
            raise InvalidConfiguration(f"expected different classes of sounds, found {list(config.classes)}")
        self.config = config
        # twice as fast on a CPU, with the same numbers
        self.net = SoundNet(len(config.classes), config.widths).to(memory_format=torch.channels_last)
        self.references: FloatArray = np.zeros((0, EMBEDDING), np.float32)
        self.enrolled = Enrolled((), np.zeros((0, 1 + len(COPIES_DB), 1), np.float32))
        self.eval()

    @property
    def thresholds(self) -> FloatArray:
        """(C,) the probability from which on each class is heard."""
        given = self.config.thresholds or (0.5,) * len(self.config.classes)
        return np.asarray(given, np.float32)

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that can be recognised: the classes, and the enrolled sounds."""
        return tuple(dict.fromkeys((*self.config.classes, *self.enrolled.classes)))

    @torch.inference_mode()
    def look(self, windows: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Probabilities (B, C) and unit embeddings (B, EMBEDDING) of windows (B, FRAMES, BANDS) of levels, dB."""
        batch = torch.as_tensor(np.ascontiguousarray(windows, np.float32)).reshape(-1, FRAMES, BANDS)
        if not len(batch):
            return np.zeros((0, len(self.config.classes)), np.float32), np.zeros((0, EMBEDDING), np.float32)
        logits, embedded = self.net(batch)
        unit = embedded / embedded.norm(dim=1, keepdim=True).clamp(min=1e-9)
        return np.asarray(torch.sigmoid(logits).numpy()), np.asarray(unit.numpy())

    @torch.inference_mode()
    def shapes(self, windows: npt.ArrayLike) -> FloatArray:
        """Square roots of what the network sees in windows (B, FRAMES, BANDS) of levels, (B, D)."""
        batch = torch.as_tensor(np.ascontiguousarray(windows, np.float32)).reshape(-1, FRAMES, BANDS)
        return np.asarray(self.net.pooled(batch).clamp(min=0.0).sqrt().numpy(), np.float32)

    def hints(self, windows: npt.ArrayLike) -> list[dict[str, float]]:
        """The classes that are probable in each of B windows, whether or not it resembles a known sound as a whole."""
        rows, names = self.look(windows)[0], self.config.classes
        return [{names[i]: float(row[i]) for i in np.flatnonzero(row >= self.thresholds)} for row in rows]

    def heard(self, windows: npt.ArrayLike) -> list[dict[str, float]]:
        """What is heard in each of B windows: names and probabilities, the most probable first; {}: nothing known."""
        probabilities, units = self.look(windows)
        known = self.familiarity(probabilities, units) >= self.config.known_from
        own_sounds: list[tuple[str, float] | None] = [None] * len(units)
        if self.enrolled.classes:
            own_sounds = self.enrolled.heard(self.shapes(windows))
        found = []
        for row, own, is_known in zip(probabilities, own_sounds, known, strict=True):
            order = np.argsort(-row)
            heard = [i for i in order if row[i] >= self.thresholds[i]] or [order[0]]
            names = {self.config.classes[i]: float(row[i]) for i in heard} if is_known else {}
            found.append(names if own is None else {own[0]: own[1]} | names)
        return found

    def familiarity(self, probabilities: FloatArray, units: FloatArray) -> FloatArray:
        """Scores (B,) of windows with these probabilities (B, C) and embeddings (B, EMBEDDING); high: a known sound.

        The score is max over c of log(p_c / t_c) + w s with the thresholds t, the weight w = `FAMILIARITY`, and the
        cosine similarity s to the reference that is the `NEIGHBOURS`-th in order of similarity.
        """
        score = np.log(np.maximum(probabilities, 1e-9) / self.thresholds).max(axis=1)
        if len(self.references) >= NEIGHBOURS:
            similar = np.partition(units @ self.references.T, -NEIGHBOURS, axis=1)[:, -NEIGHBOURS]
            score = score + FAMILIARITY * (similar - 1.0)
        return np.asarray(score, np.float32)

    def classify(self, samples: npt.ArrayLike, rate_hz: int) -> dict[str, float]:
        """What is heard in the first two seconds of a recording, as in `heard`.

        Raises:
            InvalidObservation: the recording has another rate, or more than one channel.
        """
        return self.heard(window_of(mel_levels(check_recording(samples, rate_hz)), 0)[None])[0]

    def enrol(self, name: str, recordings: Sequence[npt.ArrayLike], rate_hz: int) -> SoundModel:
        """A copy that also knows a sound of the user; the network is shared.

        Recordings made where the sound will be heard, by the same microphone, at different distances, do best. Each
        is enrolled with copies in noise. The first sound brings some noises that are no sound of the user.

        Args:
            name: what to call it; a class may be enrolled again, to recognise it in another place; empty: recordings
                of other sounds, which must not be taken for an enrolled one.
            recordings: the sound alone, (S,) each, up to two seconds.
            rate_hz: their rate.

        Raises:
            InvalidConfiguration: there is no recording.
            InvalidObservation: a recording has another rate, or more than one channel.
        """
        if (name and not name.strip()) or not len(recordings):
            raise InvalidConfiguration(
                f"expected a name and at least one recording of the sound, found {name!r} and {len(recordings)}"
            )
        waves = [check_recording(each, rate_hz) for each in recordings]
        names = [name] * len(waves)
        if not self.enrolled.names:
            waves, names = [*_noises(), *waves], [*[""] * len(_noises()), *names]
        rng = np.random.default_rng(len(self.enrolled.names))
        copies = [[wave, *(_in_noise(wave, ratio, rng) for ratio in COPIES_DB)] for wave in waves]
        windows = [window_of(mel_levels(each), 0) for row in copies for each in row]
        shapes = self.shapes(windows).reshape(len(waves), 1 + len(COPIES_DB), -1)
        known = self.enrolled.shapes if self.enrolled.names else shapes[:0]
        # as they are on disk
        kept = np.concatenate([known, shapes]).astype(np.float16).astype(np.float32)
        return self._with(Enrolled((*self.enrolled.names, *names), kept))

    def _with(self, enrolled: Enrolled) -> SoundModel:
        other = copy(self)
        other.config, other.enrolled = replace(self.config, enrolled=enrolled.names), enrolled
        return other

    def without(self, name: str) -> SoundModel:
        """A copy without an enrolled sound.

        Raises:
            InvalidConfiguration: it was not enrolled.
        """
        known = self.enrolled.names
        require_known(name, self.enrolled.classes, "an enrolled sound")
        kept = [i for i, each in enumerate(known) if each != name]
        return self._with(Enrolled(tuple(known[i] for i in kept), self.enrolled.shapes[kept]))

    def calibrated(
        self, thresholds: Sequence[float], known_from: float, references: npt.ArrayLike, **measured: Any
    ) -> SoundModel:
        """A copy with other thresholds, references (R, EMBEDDING) and further metrics; the network is shared."""
        other = copy(self)
        metrics = {**self.config.metrics, **measured}
        given = tuple(float(each) for each in thresholds)
        other.config = replace(self.config, thresholds=given, known_from=float(known_from), metrics=metrics)
        # as they are on disk
        other.references = np.asarray(np.asarray(references, np.float16), np.float32)
        return other

    def save(self, folder: str | Path) -> Path:
        """Write weights, configuration and enrolled sounds into a folder, which is made if it does not exist."""
        own = {"embeddings": self.enrolled.shapes.astype(np.float16), "references": self.references.astype(np.float16)}
        tensors = self.state_dict() | {name: torch.as_tensor(value) for name, value in own.items()}
        return FORMAT.save(folder, self.config, tensors)

    @classmethod
    def load(cls, folder: str | Path | None = None) -> SoundModel:
        """Read a checkpoint; None: the shipped one, for the sounds of a household.

        Raises:
            InvalidCheckpoint: it is missing, damaged, or of another version.
        """
        path = SHIPPED if folder is None else Path(folder)
        config, weights = FORMAT.load(path)
        model = built(cls, config, path)
        nothing = torch.zeros((0, EMBEDDING))
        shapes, model.references = (
            np.asarray(weights.pop(name, nothing).numpy(), np.float32) for name in ("embeddings", "references")
        )
        model.enrolled = Enrolled(tuple(config.enrolled), shapes)
        restore(model, weights, path)
        return model


def _in_noise(wave: FloatArray, ratio_db: float, rng: np.random.Generator) -> FloatArray:
    """A recording, begun a little earlier or later, in white or brownish noise."""
    noise = rng.normal(size=len(wave))
    noise = noise + 0.02 * np.cumsum(noise) if rng.random() < 0.5 else noise
    gain = np.sqrt(np.mean(wave**2) / max(float(np.mean(noise**2)), 1e-12)) * 10 ** (-ratio_db / 20)
    return np.asarray(np.roll(wave, int(rng.integers(-3000, 3000))) + gain * noise, np.float32)


@lru_cache(maxsize=1)
def _noises() -> tuple[FloatArray, ...]:
    """Noises that are no sound of anybody: white, brown, hum, clicks."""
    rng, time = np.random.default_rng(0), np.arange(2 * RATE_HZ) / RATE_HZ
    white = rng.normal(size=len(time))
    clicks = np.where(rng.random(len(time)) < 1e-3, 50.0, 0.0) + 0.1 * white
    hum = sum(np.sin(2 * np.pi * 50 * k * time) / k for k in range(1, 20)) + 0.01 * white
    return tuple(np.asarray(0.01 * each, np.float32) for each in (white, 0.02 * np.cumsum(white), hum, clicks))

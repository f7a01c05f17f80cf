"""The sound model: a small network on log-mel spectrograms, and sounds that users enrolled.

Every class has a probability of its own, because kitchens are full of sounds that go on at the same time. A window is
an unknown sound if no class is probable, or if its embedding is far from those of known sounds (nearest neighbours: Sun
et al. 2022, "Out-of-Distribution Detection with Deep Nearest Neighbors"). Users enrol sounds of their own from a few
recordings; these are recognised by their nearest neighbour among the embeddings.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from nsrecover.core.scene import FloatArray
from nsrecover.errors import InvalidConfiguration, did_you_mean
from nsrecover.models.checkpoint import CHECKPOINTS, CheckpointFormat, restore
from nsrecover.models.encoder import convolutions
from nsrecover.perception.spectrogram import BANDS, FRAMES, check_recording, mel_levels, window_of
from nsrecover.util.untrusted_json import JsonMapping

SHIPPED = CHECKPOINTS / "household" / "sounds"
RANGE_DB = 60.0
"""The network sees levels down to this far below the loudest one of a window."""
EMBEDDING = 64
"""Length of an embedding."""
SIMILAR = 0.9
"""An enrolled sound is recognised from this cosine similarity on."""
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
        enrolled: names of the sounds that were enrolled, one for each of their E embeddings.
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

    def expected_during(self, operator: str, noun: str) -> Mapping[str, float] | None:
        """How often each class was heard while an operator was demonstrated with this object; None if it never was."""
        return self.expected.get(f"{operator} {noun}")

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

    def forward(self, levels: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (B, C) and embeddings (B, EMBEDDING) of windows (B, FRAMES, BANDS) of levels in decibels."""
        loudest = levels.amax(dim=(1, 2), keepdim=True)
        seen = 1.0 + (levels - loudest).clamp(min=-RANGE_DB) / (RANGE_DB / 2)
        maps = self.features(seen[:, None])
        pooled = torch.cat([maps.mean(dim=2), maps.amax(dim=2)], dim=1).flatten(1)
        embedded = torch.relu(self.embedding(pooled))
        return self.classes(self.dropout(embedded)), embedded


class SoundModel(nn.Module):
    """Recognises sounds in windows of two seconds; runs without gradients and on the CPU.

    Attributes:
        config: classes, groups and thresholds.
        net: the network.
        references: (R, EMBEDDING) embeddings of known sounds, unit length.
        embeddings: (E, EMBEDDING) of unit length.
    """

    def __init__(self, config: SoundConfig) -> None:
        super().__init__()
        if not config.classes or len(set(config.classes)) != len(config.classes):
            raise InvalidConfiguration(f"expected different classes of sounds, found {list(config.classes)}")
        self.config = config
        # twice as fast on a CPU, with the same numbers
        self.net = SoundNet(len(config.classes), config.widths).to(memory_format=torch.channels_last)
        self.references: FloatArray = np.zeros((0, EMBEDDING), np.float32)
        self.embeddings: FloatArray = np.zeros((0, EMBEDDING), np.float32)
        self.eval()

    @property
    def thresholds(self) -> FloatArray:
        """(C,) the probability from which on each class is heard."""
        given = self.config.thresholds or (0.5,) * len(self.config.classes)
        return np.asarray(given, np.float32)

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that can be recognised: the classes, and the enrolled sounds."""
        return tuple(dict.fromkeys((*self.config.classes, *self.config.enrolled)))

    @torch.inference_mode()
    def look(self, windows: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Probabilities (B, C) and unit embeddings (B, EMBEDDING) of windows (B, FRAMES, BANDS) of levels, dB."""
        batch = torch.as_tensor(np.ascontiguousarray(windows, np.float32)).reshape(-1, FRAMES, BANDS)
        if not len(batch):
            return np.zeros((0, len(self.config.classes)), np.float32), np.zeros((0, EMBEDDING), np.float32)
        logits, embedded = self.net(batch)
        unit = embedded / embedded.norm(dim=1, keepdim=True).clamp(min=1e-9)
        return np.asarray(torch.sigmoid(logits).numpy()), np.asarray(unit.numpy())

    def heard(self, windows: npt.ArrayLike) -> list[dict[str, float]]:
        """What is heard in each of B windows: names and probabilities, the most probable first; {}: nothing known."""
        probabilities, units = self.look(windows)
        known = self.familiarity(probabilities, units) >= self.config.known_from
        found = []
        for row, unit, is_known in zip(probabilities, units, known, strict=True):
            order = np.argsort(-row)
            heard = [i for i in order if row[i] >= self.thresholds[i]] or [order[0]]
            names = {self.config.classes[i]: float(row[i]) for i in heard} if is_known else {}
            own = self._nearest(unit)
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

        Recordings made where the sound will be heard, by the same microphone, at different distances, do best.

        Args:
            name: what to call it; a class may be enrolled again, to recognise it in another place.
            recordings: the sound alone, (S,) each, up to two seconds.
            rate_hz: their rate.

        Raises:
            InvalidConfiguration: there is no recording, or the name is empty.
            InvalidObservation: a recording has another rate, or more than one channel.
        """
        if not name.strip() or not len(recordings):
            raise InvalidConfiguration(
                f"expected a name and at least one recording of the sound, found {name!r} and {len(recordings)}"
            )
        levels = [mel_levels(check_recording(each, rate_hz)) for each in recordings]
        _, embedded = self.look([window_of(each, 0) for each in levels])
        other = copy(self)
        other.config = replace(self.config, enrolled=(*self.config.enrolled, *[name] * len(embedded)))
        other.embeddings = np.concatenate([self.embeddings, embedded])
        return other

    def without(self, name: str) -> SoundModel:
        """A copy without an enrolled sound.

        Raises:
            InvalidConfiguration: it was not enrolled.
        """
        known = self.config.enrolled
        if name not in known:
            raise InvalidConfiguration(f"expected an enrolled sound, found {name!r}.{did_you_mean(name, known)}")
        kept = [i for i, each in enumerate(known) if each != name]
        other = copy(self)
        other.config = replace(self.config, enrolled=tuple(known[i] for i in kept))
        other.embeddings = self.embeddings[kept]
        return other

    def _nearest(self, unit: FloatArray) -> tuple[str, float] | None:
        """The enrolled sound that is most similar, if it is similar enough, and how similar it is."""
        if not len(self.embeddings):
            return None
        similar = self.embeddings @ unit
        best = int(similar.argmax())
        return (self.config.enrolled[best], float(similar[best])) if similar[best] >= SIMILAR else None

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
        own = {"embeddings": self.embeddings, "references": self.references.astype(np.float16)}
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
        model = cls(config)
        nothing = torch.zeros((0, EMBEDDING))
        model.embeddings, model.references = (
            np.asarray(weights.pop(name, nothing).numpy(), np.float32) for name in ("embeddings", "references")
        )
        restore(model, weights, path)
        return model

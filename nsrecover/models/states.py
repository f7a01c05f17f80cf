"""The state model: a small network that reads the states of an object from crops, and says when they cannot be seen.

All variables share one network, which is told the object's kind. A variable is read for the kinds of which several
values were demonstrated. What is not visible by geometry (contents in a shallow view, few pixels) or not certain enough
is unknown.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from nsrecover.core.scene import FloatArray, ObjectStates
from nsrecover.domains.domain import Domain
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.domains.household.names import noun
from nsrecover.errors import InvalidCheckpoint
from nsrecover.models.checkpoint import CHECKPOINTS, CheckpointFormat, built, restore
from nsrecover.models.encoder import convolutions
from nsrecover.perception.states import GEOMETRY, Alike, StateCrops
from nsrecover.util.untrusted_json import JsonMapping

Value = TypeVar("Value")

SHIPPED = CHECKPOINTS / "household" / "states"
STEEP_RAD = math.radians(45.0)
"""What shows only from above is visible in views at least this steep."""
FEWEST_PIXELS = 40
"""Smallest mask whose states are read."""
SMALLEST_SHARE = 0.02
"""Values that are rarer count as if they were not."""
_NARROWEST = 1e-6
KIND_FEATURES, HIDDEN = 16, 128


@dataclass(frozen=True)
class StateConfig:
    """Parameters of a state model besides its weights.

    Attributes:
        domain: name of the domain whose variables they are.
        variables: name of each variable -> its values, the normal one first.
        kinds: nouns of the objects that were demonstrated.
        read: variable -> kinds for which it is read.
        values: variable -> values that were demonstrated; others are never read.
        from_above: variables that show only in steep views.
        temperatures: variable -> divisor of its logits, which makes probabilities calibrated.
        certain_from: variable, or variable and kind (`filled mug`) -> a reading is unknown if no value has at least
            this probability.
        mistakes: the same -> share of given readings that are wrong on layouts for thresholds; no reading is
            more certain than that.
        shares: the same -> mean probability of each value on layouts for thresholds: what is read where nothing is
            seen.
        sizes: limits of the size classes of the largest mask of an object, pixels.
        reliance: variable -> for each size class, by how much the logarithms of what is weighed are multiplied, and
            what is added to those of all values but the first one; from `python -m train.reliance`, which measures how
            often readings are wrong in kitchens that were not learned from.
        alike: variable -> how alike the errors of two readings are there, see `Alike`.
        crop_size: side of a crop, pixels.
        widths: channels of the convolutions.
        metrics: measurements after training.
        provenance: data, seed and command of the training.
    """

    domain: str
    variables: Mapping[str, tuple[str, ...]]
    kinds: tuple[str, ...]
    read: Mapping[str, tuple[str, ...]]
    values: Mapping[str, tuple[str, ...]]
    from_above: tuple[str, ...] = ()
    temperatures: Mapping[str, float] = field(default_factory=dict)
    certain_from: Mapping[str, float] = field(default_factory=dict)
    mistakes: Mapping[str, float] = field(default_factory=dict)
    shares: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    sizes: tuple[float, ...] = ()
    reliance: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    alike: Mapping[str, Alike] = field(default_factory=dict)
    crop_size: int = 48
    widths: tuple[int, ...] = (24, 48, 96, 96)
    metrics: JsonMapping = field(default_factory=dict)
    provenance: JsonMapping = field(default_factory=dict)


FORMAT = CheckpointFormat("a state model", 1, StateConfig, "python -m train.states")


class StateNet(nn.Module):
    """Convolutions over a crop; with the object's kind and the view's geometry, logits of all values of all variables.

    Args:
        kinds: number of kinds; one more is for kinds that are not known.
        values: number of values of all variables together.
        widths: channels of the convolutions; each of the first three halves the resolution.
    """

    def __init__(self, kinds: int, values: int, widths: Sequence[int]) -> None:
        super().__init__()
        self.features = convolutions(3, widths)
        self.kinds = nn.Embedding(kinds + 1, KIND_FEATURES)
        self.hidden = nn.Linear(3 * widths[-1] + KIND_FEATURES + GEOMETRY, HIDDEN)
        self.dropout = nn.Dropout(0.2)
        self.values = nn.Linear(HIDDEN, values)

    def forward(self, images: Tensor, kinds: Tensor, geometry: Tensor) -> Tensor:
        """Logits (B, values) of crops (B, 3, S, S) from 0 to 1 with kinds (B,) and geometry (B, GEOMETRY)."""
        return self.read(self.pooled(images), kinds, geometry)

    def pooled(self, images: Tensor) -> Tensor:
        """What the convolutions see (B, F): the strongest responses, and the means of the upper and the lower half."""
        maps = self.features(images)
        upper, lower = maps.chunk(2, dim=2)
        return torch.cat([maps.amax(dim=(2, 3)), upper.mean(dim=(2, 3)), lower.mean(dim=(2, 3))], dim=1)

    def read(self, pooled: Tensor, kinds: Tensor, geometry: Tensor) -> Tensor:
        """Logits (B, values) from what the convolutions see (B, F), kinds (B,) and geometry (B, GEOMETRY)."""
        known = torch.cat([pooled, self.kinds(kinds), geometry], dim=1)
        logits: Tensor = self.values(self.dropout(torch.relu(self.hidden(known))))
        return logits


class StateModel(nn.Module):
    """Reads states from crops; protocol `nsrecover.perception.states.StateReader`.

    Attributes:
        config: variables, kinds and thresholds.
        net: the network.
        columns: variable -> its columns among the logits.
    """

    def __init__(self, config: StateConfig) -> None:
        super().__init__()
        self.config = config
        self.columns: dict[str, slice] = {}
        for name, values in config.variables.items():
            begin = max((each.stop for each in self.columns.values()), default=0)
            self.columns[name] = slice(begin, begin + len(values))
        total = sum(map(len, config.variables.values()))
        # twice as fast on a CPU, with the same numbers
        self.net = StateNet(len(config.kinds), total, config.widths).to(memory_format=torch.channels_last)
        self._kinds = {name: number for number, name in enumerate(config.kinds, start=1)}
        self.eval()

    @property
    def crop_size(self) -> int:
        """Side of a crop, pixels."""
        return self.config.crop_size

    def kind_of(self, name: str) -> int:
        """Value of the kind of an object; 0 if it was not demonstrated."""
        return self._kinds.get(noun(name), 0)

    def variables_of(self, name: str) -> tuple[str, ...]:
        """The variables that are read for an object."""
        return tuple(variable for variable, kinds in self.config.read.items() if noun(name) in kinds)

    @torch.inference_mode()
    def logits(self, crops: StateCrops) -> FloatArray:
        """Logits (B, values) of every crop."""
        if not len(crops.images):
            return np.zeros((0, sum(map(len, self.config.variables.values()))), np.float32)
        images = torch.as_tensor(crops.images).permute(0, 3, 1, 2).float() / 255.0
        kinds = torch.as_tensor([self.kind_of(crops.names[owner]) for owner in crops.owners])
        found = self.net(images, kinds, torch.as_tensor(crops.geometry))
        return np.asarray(found.numpy(), np.float32)

    def read(self, crops: StateCrops) -> dict[str, ObjectStates]:
        """Name -> variable -> probability of each value; no values where that is not certain enough to rely on it."""
        return {
            name: {
                variable: each if max(each.values(), default=0.0) >= self._limit(variable, name) else {}
                for variable, each in states.items()
            }
            for name, states in self._all(crops, weighed=False).items()
        }

    def weighed(self, crops: StateCrops) -> dict[str, ObjectStates]:
        """Name -> variable -> evidence for each value, certain or not; no values where it is hidden by geometry.

        The probabilities are calibrated on layouts that were not learned from, by the size of the object in the image,
        and divided by the shares of the values there, so that they can be weighed against what is expected: what shows
        nothing says nothing.
        """
        return self._all(crops, weighed=True)

    def _all(self, crops: StateCrops, weighed: bool) -> dict[str, ObjectStates]:
        logits = self.logits(crops)
        found: dict[str, ObjectStates] = {}
        for row, name in enumerate(crops.names):
            own = np.flatnonzero(crops.owners == row)
            if len(own):
                states = {
                    variable: self._one(variable, crops, own, logits, weighed) for variable in self.variables_of(name)
                }
                if states:
                    found[name] = states
        return found

    def _one(
        self, variable: str, crops: StateCrops, own: npt.NDArray[np.intp], logits: FloatArray, weighed: bool
    ) -> dict[str, float]:
        """Probabilities of one variable of one object; empty if it is hidden."""
        name, known = crops.names[crops.owners[own[0]]], self._known(variable)
        chances = self.chances(variable, logits[self.showing(variable, crops, own)])
        if chances is None:
            return {}
        shares = _of_kind(self.config.shares, variable, name, ())
        if weighed and shares:
            chances = np.where(known, chances / np.maximum(shares, SMALLEST_SHARE), 0.0)
            chances = chances / chances.sum()
        wrong = _of_kind(self.config.mistakes, variable, name, 0.0)
        chances = (1 - wrong) * chances + wrong * known / known.sum()
        if weighed and variable in self.config.reliance:
            size = int(np.searchsorted(self.config.sizes, crops.pixels[own].max(), side="right"))
            chances = relied_on(chances, *self.config.reliance[variable][size])
        return {value: round(float(p), 4) for value, p in zip(self.config.variables[variable], chances, strict=True)}

    def showing(self, variable: str, crops: StateCrops, own: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """Those of an object's crops in which a variable can be seen by geometry."""
        shown = crops.pixels[own] >= FEWEST_PIXELS
        if variable in self.config.from_above:
            shown &= crops.elevation_rad[own] >= STEEP_RAD
        return own[shown]

    def chances(self, variable: str, logits: FloatArray) -> FloatArray | None:
        """Probabilities of the values of a variable from the logits (K, values) of K views; None without views.

        The views are averaged as logits, divided by the temperature (Guo et al. 2017, "On Calibration of Modern Neural
        Networks").
        """
        if not len(logits):
            return None
        mean = logits[:, self.columns[variable]].mean(axis=0) / self.config.temperatures.get(variable, 1.0)
        known = self._known(variable)
        shifted = np.where(known, np.exp(mean - mean[known].max()), 0.0)
        return np.asarray(shifted / shifted.sum(), np.float32)

    def _limit(self, variable: str, name: str) -> float:
        """The probability from which on a reading is relied on: mistakes take a share of what the network says."""
        wrong, known = _of_kind(self.config.mistakes, variable, name, 0.0), self._known(variable)
        limit = _of_kind(self.config.certain_from, variable, name, 0.0)
        return round((1 - wrong) * limit + wrong / float(known.sum()), 4)

    def _known(self, variable: str) -> npt.NDArray[np.bool_]:
        """Which values of a variable are ever read."""
        return np.isin(self.config.variables[variable], self.config.values[variable])

    def save(self, folder: str | Path) -> Path:
        """Write weights and configuration into a folder, which is made if it does not exist."""
        return FORMAT.save(folder, self.config, self.state_dict())

    @classmethod
    def load(cls, folder: str | Path | None = None, domain: Domain = HOUSEHOLD) -> StateModel:
        """Read a checkpoint; None: the shipped one, for the household.

        Raises:
            InvalidCheckpoint: it is missing, damaged, of another version, or for another domain.
        """
        path = SHIPPED if folder is None else Path(folder)
        config, weights = FORMAT.load(path)
        model = built(cls, config, path)
        restore(model, weights, path)
        own = {name: each.values for name, each in domain.variables.items()}
        if model.config.domain != domain.name or any(own.get(k) != v for k, v in model.config.variables.items()):
            raise InvalidCheckpoint(
                f"expected a state model for the domain {domain.name!r}, found one for {model.config.domain!r} in "
                f"{path}; train it again with demonstrations of this domain"
            )
        return model


def relied_on(chances: FloatArray, factor: float, shift: float) -> FloatArray:
    """Probabilities (..., values) whose logarithms are multiplied, and shifted for all values but the first."""
    raised = factor * np.log(np.maximum(chances, _NARROWEST)) + np.where(np.arange(chances.shape[-1]), shift, 0.0)
    shifted = np.where(chances > 0.0, np.exp(raised - raised.max(axis=-1, keepdims=True)), 0.0)
    return np.asarray(shifted / shifted.sum(axis=-1, keepdims=True), np.float32)


def _of_kind(found: Mapping[str, Value], variable: str, name: str, otherwise: Value) -> Value:
    """Return what holds for a variable of an object: that of its kind, else that of all kinds."""
    return found.get(f"{variable} {noun(name)}", found.get(variable, otherwise))

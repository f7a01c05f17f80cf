"""The learned parts of a household: what reads states from images, what recognises sounds, and what belongs to both.

A checkpoint is a folder with `config.json`, and the two models in the folders `states` and `sounds`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nsrecover.domains.domain import Domain
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.domains.instance import Instance
from nsrecover.errors import InvalidCheckpoint
from nsrecover.models.checkpoint import CONFIG, CheckpointFormat, folder_of
from nsrecover.models.sound import SoundModel
from nsrecover.models.states import StateModel
from nsrecover.perception.household import HouseholdPerceiver, Sign
from nsrecover.perception.sounds import SoundPerceiver
from nsrecover.util.untrusted_json import JsonMapping, read_json

SHIPPED = "household"
"""Name of the shipped checkpoint."""


@dataclass(frozen=True)
class HouseholdConfig:
    """What a household checkpoint has besides its two models.

    Attributes:
        domain: name of the domain of the demonstrations.
        durations: operator -> mean seconds of its demonstrations: what it costs in a recovery.
        signs: sounds that say that something runs, see `nsrecover.perception.household.Sign`.
        patience_s: how long what may be wrong while an action runs, see
            `nsrecover.monitoring.fact_frames.ConditionModel`; from `python -m train.patience`.
        metrics: measurements on demonstrations that were not learned from.
        provenance: data, seed and command of the training.
    """

    domain: str = HOUSEHOLD.name
    durations: Mapping[str, float] = field(default_factory=dict)
    signs: tuple[Sign, ...] = ()
    patience_s: Mapping[str, float] = field(default_factory=dict)
    metrics: JsonMapping = field(default_factory=dict)
    provenance: JsonMapping = field(default_factory=dict)


FORMAT = CheckpointFormat("a household checkpoint", 1, HouseholdConfig, "python -m train domain=household")


@dataclass(frozen=True)
class HouseholdModels:
    """The learned parts of a household.

    Attributes:
        states: reads states of objects from images.
        sounds: recognises sounds.
        config: durations, signs, measurements and provenance.
    """

    states: StateModel
    sounds: SoundModel
    config: HouseholdConfig = field(default_factory=HouseholdConfig)

    def perceiver(self, instance: Instance, reads: bool = True, hears: bool = True) -> HouseholdPerceiver:
        """A fresh perceiver of the observations of one episode.

        Args:
            instance: the household over the objects of the scene.
            reads: whether states are read from images.
            hears: whether recordings count.
        """
        return HouseholdPerceiver(
            instance,
            self.states if reads else None,
            SoundPerceiver(self.sounds) if hears else None,
            self.config.signs,
            self.states.config.alike,
        )

    def save(self, folder: str | Path) -> Path:
        """Write a checkpoint into a folder, which is made if it does not exist."""
        path = Path(folder)
        self.states.save(path / "states")
        self.sounds.save(path / "sounds")
        return FORMAT.save(path, self.config)

    @classmethod
    def load(cls, folder: str | Path = SHIPPED, domain: Domain = HOUSEHOLD) -> HouseholdModels:
        """Read a checkpoint.

        Args:
            folder: of a checkpoint, or the name of the shipped one.
            domain: what the checkpoint has to be for.

        Raises:
            InvalidCheckpoint: it is missing, damaged, of another version, or for another domain.
        """
        path = folder_of(folder)
        found = domain_of(path)
        if found != domain.name:
            raise InvalidCheckpoint(
                f"expected a checkpoint for the domain {domain.name!r}, found one for {found or 'the tabletop'!r} in "
                f"{path}; `python -m train domain=household` makes one for households"
            )
        config = FORMAT.read(path)
        return cls(StateModel.load(path / "states", domain), SoundModel.load(path / "sounds"), config)


def domain_of(checkpoint: str | Path) -> str | None:
    """Name of the domain that a checkpoint says it is for; None if it does not say so, as those of the tabletop."""
    try:
        document = read_json(folder_of(checkpoint) / CONFIG)
    except (OSError, ValueError):
        return None
    named = document.get("domain") if isinstance(document, dict) else None
    return named if isinstance(named, str) else None

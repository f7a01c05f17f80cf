"""Settings of `python -m train`; a key that is not here is refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from omegaconf import MISSING

from train.discriminator import PairSources
from train.stages import StageBudget


class Stage(StrEnum):
    """Which part to train."""

    all = "all"
    encoder = "encoder"
    transition = "transition"
    discriminator = "discriminator"
    free_space = "free_space"


@dataclass
class ModelConfig:
    """A group in conf/model: sizes of the networks, see `nsrecover.models.bundle.BundleConfig`."""

    feature_size: int = 64
    crop_size: int = 48
    encoder_blocks: list[int] = field(default_factory=lambda: [1, 1, 1])
    width: int = 96
    rounds: int = 2
    workspace: list[float] = field(default_factory=lambda: [0.30, -0.35, 0.75, 0.35])
    reach_m: list[float] = field(default_factory=lambda: [0.28, 0.81])


@dataclass
class DataConfig:
    """A group in conf/data: where the demonstrations come from.

    Attributes:
        train: HDF5 file of episodes, folder with one, or folder of .npz recordings.
        held_out: as `train`; demonstrations to calibrate and measure on.
        episodes: number of episodes of each, the first ones; all of them if None.
        cache: folder for prepared training data.
    """

    train: str = MISSING
    held_out: str = MISSING
    episodes: int | None = None
    cache: str = MISSING


@dataclass
class TrainConfig:
    """Top level of conf/train.yaml."""

    data: DataConfig = field(default_factory=DataConfig)
    out: str = MISSING
    checkpoint: str | None = None
    start: str | None = None
    stage: Stage = Stage.all
    seed: int = 0
    alpha: float = 0.01
    restart: bool = False
    weights: str | None = None
    model: ModelConfig = field(default_factory=ModelConfig)
    pairs: PairSources = field(default_factory=PairSources)
    encoder: StageBudget = field(default_factory=StageBudget)
    transition: StageBudget = field(default_factory=StageBudget)
    discriminator: StageBudget = field(default_factory=StageBudget)
    free_space: StageBudget = field(default_factory=StageBudget)
    trainer: dict[str, Any] = field(default_factory=dict)
    logger: Any = None
    optimizer: Any = None

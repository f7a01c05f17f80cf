"""Settings of `python -m train`; a key that is not here is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nsrecover.training.settings import TrainSettings


@dataclass
class TrainConfig(TrainSettings):
    """Top level of conf/train.yaml.

    Attributes:
        logger: a group in conf/logger.
        optimizer: a group in conf/optimizer.
    """

    logger: Any = None
    optimizer: Any = None

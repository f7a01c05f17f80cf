"""Learned parts, loaded once in each process."""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol

import nsrecover
from nsrecover.system import System


@lru_cache(maxsize=8)
def system_of(checkpoint: str | None) -> System:
    """Return the system of a checkpoint folder, the shipped one if None; loaded once in each process."""
    return nsrecover.load(checkpoint)


class Trained(Protocol):
    """Settings with the folder of a checkpoint."""

    checkpoint: str | None


def check_checkpoint(config: Trained) -> None:
    """Refuse a checkpoint that cannot be loaded."""
    system_of(config.checkpoint)

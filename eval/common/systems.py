"""Learned parts, loaded once in each process."""

from __future__ import annotations

from functools import lru_cache

import nsrecover
from nsrecover.system import System


@lru_cache(maxsize=8)
def system_of(checkpoint: str | None) -> System:
    """Return the system of a checkpoint folder, the shipped one if None; loaded once in each process."""
    return nsrecover.load(checkpoint)

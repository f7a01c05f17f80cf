"""Learned parts, loaded once in each process."""

from __future__ import annotations

import hashlib
from functools import lru_cache

import nsrecover
from nsrecover.system import System


@lru_cache(maxsize=8)
def system_of(checkpoint: str | None) -> System:
    """Return the system of a checkpoint folder, the shipped one if None; loaded once in each process."""
    return nsrecover.load(checkpoint)


@lru_cache(maxsize=8)
def fingerprint(checkpoint: str | None, parts: tuple[str, ...] = ("encoder", "transition", "discriminator")) -> str:
    """Return a hash of the weights of some learned parts and of their crop size."""
    bundle = system_of(checkpoint).bundle
    digest = hashlib.sha256(str(bundle.config.crop_size).encode())
    for part in parts:
        for name, value in getattr(bundle, part).state_dict().items():
            digest.update(name.encode() + value.cpu().numpy().tobytes())
    return digest.hexdigest()[:16]

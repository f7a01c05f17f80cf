"""Weights of a checkpoint, as a safetensors file whose hash is in the settings: one changed bit is noticed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from nsrecover.errors import InvalidCheckpoint

DIGEST = "weights_sha256"
"""Field of the settings for the SHA-256 hash of the file; it may be missing."""


def save_weights(tensors: Mapping[str, Tensor], path: Path, metadata: dict[str, str] | None = None) -> dict[str, str]:
    """Write weights.

    Returns:
        `DIGEST` and the hash, for the settings.
    """
    save_file({name: value.detach().cpu().contiguous() for name, value in tensors.items()}, path, metadata=metadata)
    return {DIGEST: _digest(path)}


def load_weights(path: Path, settings: dict[str, Any]) -> dict[str, Tensor]:
    """Read weights.

    Args:
        path: the file.
        settings: of the checkpoint; `DIGEST` is taken out.

    Raises:
        InvalidCheckpoint: the file cannot be read, or is not the one that the settings name.
    """
    expected = settings.pop(DIGEST, None)
    try:
        if expected not in (None, _digest(path)):
            raise InvalidCheckpoint(
                f"expected the weights that the settings next to {path} name by their hash, found others; the file is "
                "damaged or belongs to another training: copy or train it again"
            )
        return load_file(path)
    except (SafetensorError, OSError, ValueError) as error:
        raise InvalidCheckpoint(
            f"expected a safetensors file, found {path} damaged ({error}); copy or train it again"
        ) from error


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

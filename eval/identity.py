"""What decides a result: settings, episodes, weights, and the revision of the code."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from nsrecover.models.checkpoint import DEFAULT, folder_of
from sim.common.folder import REVISION
from sim.common.origin import machine

ROOT = Path(__file__).parents[1]
PACKAGES = ("conf", "eval", "nsrecover", "sim")
"""Packages whose code decides results; versions of installed packages are those of the lock file."""
WEIGHTS = ("*.safetensors", "*.json")
"""Files of a checkpoint that decide what it computes."""


@runtime_checkable
class Specified(Protocol):
    """An episode that can be written down completely."""

    def to_json(self) -> str:
        """One line that determines it."""
        ...


def identity(
    settings: Mapping[str, Any],
    checkpoints: Iterable[str | None] = (),
    episodes: Sequence[Specified] = (),
) -> dict[str, Any]:
    """Return the manifest of a result: the same manifest promises the same numbers.

    Args:
        settings: plain data that decide the result, with the `format` of its lines.
        checkpoints: folders or names of shipped ones; None for the default.
        episodes: that are measured; none if their number may grow, see `content_of`.
    """
    manifest = {**settings, "code": code_state()}
    if names := sorted({DEFAULT if each is None else str(each) for each in checkpoints}):
        manifest["weights"] = ",".join(map(weights_of, names))
    if episodes:
        manifest["content_of_episodes"] = content_of(episodes)
    return {**manifest, REVISION: machine()["revision"]}


def content_of(episodes: Iterable[Specified]) -> str:
    """Return a hash of episodes."""
    return _hash(episode.to_json() for episode in episodes)


def weights_of(checkpoint: str | None) -> str:
    """Return a hash of the weights and settings of a checkpoint, the shipped one if None."""
    folder = folder_of(DEFAULT if checkpoint is None else checkpoint)
    files = sorted(path for pattern in WEIGHTS for path in folder.rglob(pattern))
    return _hash(f"{path.relative_to(folder)} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in files)


@cache
def code_state() -> str:
    """Return a hash of the code of this checkout, changes that are not committed included; empty without git."""
    asked = [["rev-parse", *(f"HEAD:{name}" for name in PACKAGES)]]
    asked += [[*given, "--", *PACKAGES] for given in (["diff", "HEAD"], ["status", "--porcelain"])]
    try:
        return _hash(
            subprocess.run(["git", *each], cwd=ROOT, capture_output=True, text=True, check=True).stdout
            for each in asked
        )
    except (OSError, subprocess.CalledProcessError):
        return ""


def _hash(lines: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line.encode() + b"\n")
    return digest.hexdigest()[:16]

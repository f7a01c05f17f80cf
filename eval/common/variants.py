"""Ways to run the monitor, side by side on the same recorded; what worker processes do."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import nsrecover
from eval.common.recordings import load_recording, record_episode
from eval.common.step_verdicts import ImaginationAccuracy, MonitorSetting, StepVerdict, judge_steps
from nsrecover.system import System
from sim.datasets.spec import ErrorEpisode


@dataclass
class Variant(MonitorSetting):
    """One way to run the monitor; an entry of conf/variants.

    Attributes:
        checkpoint: folder; that of the command if None.
        views: names of the cameras.
    """

    checkpoint: str | None = None
    views: list[str] = field(default_factory=lambda: ["left", "right"])


Watched = Mapping[str, tuple[Sequence[StepVerdict], Sequence[ImaginationAccuracy]]]
"""What every variant made of one episode: its name -> verdicts and imagination."""


@lru_cache(maxsize=8)
def system_of(checkpoint: str | None) -> System:
    """The system around a checkpoint, loaded once in each process."""
    return nsrecover.load(checkpoint)


@lru_cache(maxsize=8)
def fingerprint(checkpoint: str | None, parts: tuple[str, ...] = ("encoder", "transition", "discriminator")) -> str:
    """A hash of the weights of some learned parts, and of how large they want pictures of objects."""
    bundle = system_of(checkpoint).bundle
    digest = hashlib.sha256(str(bundle.config.crop_size).encode())
    for part in parts:
        for name, value in getattr(bundle, part).state_dict().items():
            digest.update(name.encode() + value.cpu().numpy().tobytes())
    return digest.hexdigest()[:16]


def assess(episode: ErrorEpisode, folder: str, variants: Mapping[str, Variant]) -> Watched:
    """VideoWriter an episode unless it was filmed before, and judge_steps it with every variant."""
    recorded = load_recording(episode, record_episode(episode, Path(folder)))
    return {
        name: judge_steps(recorded.through(variant.views), system_of(variant.checkpoint), variant)
        for name, variant in variants.items()
    }

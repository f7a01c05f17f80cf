"""Ways to run the monitor, side by side on the same footage; what worker processes do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import nsrecover
from eval.footage import film, read
from eval.watch import Imagined, Setting, Verdict, watch
from nsrecover.perceive import Association
from nsrecover.system import System
from sim.datasets.spec import ErrorEpisode


@dataclass
class Variant:
    """One way to run the monitor; an entry of conf/variants.

    Attributes:
        checkpoint: folder; that of the command if None.
        association: how objects are matched between observations.
        remember: whether what is hidden is filled in from memory.
        reimagine: whether the rest of the plan is imagined again after every step.
        views: names of the cameras.
    """

    checkpoint: str | None = None
    association: Association = Association.TRACKED
    remember: bool = True
    reimagine: bool = True
    views: list[str] = field(default_factory=lambda: ["left", "right"])


@dataclass(frozen=True)
class Watched:
    """What every variant made of one episode: name -> verdicts and imagination."""

    variants: Mapping[str, tuple[Sequence[Verdict], Sequence[Imagined]]]


@lru_cache(maxsize=8)
def system_of(checkpoint: str | None) -> System:
    """The system around a checkpoint, loaded once in each process."""
    return nsrecover.load(checkpoint)


def assess(episode: ErrorEpisode, footage: str, variants: Mapping[str, Variant]) -> Watched:
    """Film an episode unless it was filmed before, and watch it with every variant."""
    path = film(episode, Path(footage))
    return Watched(
        {
            name: watch(
                read(episode, path, variant.views),
                system_of(variant.checkpoint),
                Setting(variant.association, variant.remember, variant.reimagine),
            )
            for name, variant in variants.items()
        }
    )
